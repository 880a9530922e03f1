// The best class of many documents at half the bytes: scores in single precision, with a bound on their
// error.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "buffer.h"
#include "class_counts.h"
#include "column_tree.h"
#include "csr.h"

namespace genus {

// A score table in single precision, laid out so that a word costs one random access beside its place. Word w
// with places[w] >= 0 has that row of `rows`: what it adds to all classes, whole paths summed, filled up with
// zeros to whole vectors. Any other has the cells of its columns from -1 - places[w] on, up to one that is
// marked as the last. A table of few classes that is small even with every row filled up has them all in the
// order of the words, and no places.
struct RoughTable {
  std::vector<std::int32_t> places;
  Buffer<float> rows;
  Buffer<std::uint64_t> cells;
  double largest = 0;  // sum of sizes along a path
};
RoughTable make_rough(const WordTableView<double>& table, const ColumnTree& columns);

struct RoughView {
  std::span<const std::int32_t> places;
  std::span<const float> rows;
  std::span<const std::uint64_t> cells;
  double largest;
};
bool fits(const RoughView& rough, std::int64_t n_words, std::int64_t n_classes);  // a table of this size?

// As best_classes (multinomial.h) or best_classes_of_paths (tree_scores.h), and with the same answer. Where
// the best class by the rough scores leads by more than rounding can explain, it is the best; the other
// documents, about one in a thousand, are scored again. Cost: 4 bytes and one multiply-add per word and
// class.
template <class Value>
std::vector<std::int32_t> best_classes_by(const RoughView& rough, const WordTableView<double>& table,
                                          const Csr<Value>& documents, std::span<const double> bias,
                                          std::span<const double> log_uniform, const ColumnTree& columns,
                                          int n_threads);

}  // namespace genus
