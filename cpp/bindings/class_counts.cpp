#include "tables/class_counts.h"

#include <nanobind/stl/pair.h>

#include "base/fixed_point.h"
#include "bindings/word_tables.h"

namespace genus::bindings {

namespace {

// Row bounds of sparse rows with so many entries, checked.
std::span<const std::int64_t> csr_shape(const In<std::int64_t>& indptr, std::size_t entries) {
  const auto bounds = view(indptr);
  require(rises(bounds, static_cast<std::int64_t>(entries)),
          "sparse rows: indptr must rise from 0 to the number of entries");
  return bounds;
}

template <class Value>
void add_for(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "fixed_lengths",
      [](const In<std::int64_t>& indptr, const In<Value>& values, int n_threads) {
        // The columns play no part; an empty span stands for them.
        const Csr<Value> documents{csr_shape(indptr, values.size()), {}, view(values)};
        std::vector<std::int64_t> lengths;
        {
          const nb::gil_scoped_release released;
          lengths = fixed_lengths(documents, n_threads);
        }
        return give(std::move(lengths));
      },
      "indptr"_a.noconvert(), "values"_a.noconvert(), "n_threads"_a);
  m.def(
      "count_by_class",
      [](const In<std::int64_t>& rows, const In<std::int32_t>& columns, const In<Value>& counts,
         const In<double>& scales, const In<std::int32_t>& codes, std::int64_t n_words,
         std::int32_t n_classes, int n_threads) {
        const auto documents = csr<Value>(rows, columns, counts);
        require(codes.size() + 1 == rows.size() && scales.size() == codes.size() && n_words >= 0 &&
                    n_classes >= 0,
                "count: one class and one scale for each document are needed");
        WordTable<std::int64_t> result;
        {
          const nb::gil_scoped_release released;
          result = count_by_class(documents, view(scales), view(codes), n_words, n_classes, n_threads);
        }
        return give(std::move(result));
      },
      "rows"_a.noconvert(), "columns"_a.noconvert(), "counts"_a.noconvert(), "scales"_a.noconvert(),
      "codes"_a.noconvert(), "n_words"_a, "n_classes"_a, "n_threads"_a);
}

}  // namespace

void bind_class_counts(nb::module_& m) {
  using namespace nb::literals;
  m.attr("FRACTION_BITS") = fraction_bits;
  add_for<double>(m);
  add_for<float>(m);
  add_for<std::int64_t>(m);  // as scikit-learn counts
  m.def(
      "group_equal",
      [](const In<std::uint8_t>& items, std::int64_t width) {
        require(width > 0 && items.size() % static_cast<std::size_t>(width) == 0,
                "items must be of one width");
        Groups groups;
        {
          const nb::gil_scoped_release released;
          groups = group_equal(view(items), width);
        }
        return std::pair(give(std::move(groups.codes)), give(std::move(groups.first_places)));
      },
      "items"_a.noconvert(), "width"_a);
  m.def(
      "has_duplicates",
      [](const In<std::int64_t>& indptr, const In<std::int32_t>& indices, std::int64_t n_words) {
        const auto documents = csr_shape(indptr, indices.size());
        require(n_words >= 0, "the number of words must not be negative");
        const nb::gil_scoped_release released;
        return has_duplicates(documents, view(indices), n_words);
      },
      "indptr"_a.noconvert(), "indices"_a.noconvert(), "n_words"_a);
  m.def(
      "combine",
      [](const In<std::int64_t>& a_indptr, const In<std::int32_t>& a_classes,
         const In<std::int64_t>& a_counts, const In<std::int32_t>& a_ids, const In<std::int64_t>& b_indptr,
         const In<std::int32_t>& b_classes, const In<std::int64_t>& b_counts, const In<std::int32_t>& b_ids,
         bool subtract, int n_threads) {
        const auto a = word_table<std::int64_t>(a_indptr, a_classes, a_counts);
        const auto b = word_table<std::int64_t>(b_indptr, b_classes, b_counts);
        WordTable<std::int64_t> result;
        {
          const nb::gil_scoped_release released;
          result = combine(a, view(a_ids), b, view(b_ids), subtract, n_threads);
        }
        return give(std::move(result));
      },
      "a_indptr"_a.noconvert(), "a_classes"_a.noconvert(), "a_counts"_a.noconvert(), "a_ids"_a.noconvert(),
      "b_indptr"_a.noconvert(), "b_classes"_a.noconvert(), "b_counts"_a.noconvert(), "b_ids"_a.noconvert(),
      "subtract"_a, "n_threads"_a);
  m.def(
      "class_totals",
      [](const In<std::int64_t>& indptr, const In<std::int32_t>& classes, const In<std::int64_t>& counts,
         std::int32_t n_classes) {
        const auto statistics = word_table<std::int64_t>(indptr, classes, counts);
        std::vector<double> totals;
        {
          const nb::gil_scoped_release released;
          totals = class_totals(statistics, n_classes);
        }
        return give(std::move(totals));
      },
      "indptr"_a.noconvert(), "classes"_a.noconvert(), "counts"_a.noconvert(), "n_classes"_a);
}

}  // namespace genus::bindings
