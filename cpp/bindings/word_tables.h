// Tables of words x classes across the border, as three arrays each.
#pragma once

#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <tuple>
#include <utility>

#include "bindings/arrays.h"
#include "tables/class_counts.h"

namespace genus::bindings {

template <class Value>
using OutTable = std::tuple<Out<std::int64_t>, Out<std::int32_t>, Out<Value>>;

template <class Value>
WordTableView<Value> word_table(const In<std::int64_t>& indptr, const In<std::int32_t>& classes,
                                const In<Value>& values) {
  require(indptr.size() > 0 && classes.size() == values.size(), "word table: arrays do not belong together");
  return {view(indptr), view(classes), view(values)};
}

template <class Value>
OutTable<Value> give(WordTable<Value>&& table) {
  return {give(std::move(table.indptr)), give(std::move(table.classes)), give(std::move(table.values))};
}

}  // namespace genus::bindings
