#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <tuple>

#include "base/fixed_point.h"
#include "bindings/arrays.h"
#include "tables/class_counts.h"
#include "tables/log_rows.h"
#include "tables/quantized_kernels.h"
#include "tables/quantized_scores.h"
#include "tables/score_table.h"

namespace genus::bindings {

namespace {

using Matrix = nb::ndarray<double, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using InMatrix = nb::ndarray<const double, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<double, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Words = In<std::int64_t>;
using Classes = In<std::int32_t>;
template <class Value>
using OutTable = std::tuple<Out<std::int64_t>, Out<std::int32_t>, Out<Value>>;

void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

template <class Value>
WordTableView<Value> table(const Words& indptr, const Classes& classes, const In<Value>& values) {
  require(indptr.size() > 0 && classes.size() == values.size(), "word table: arrays do not belong together");
  return {view(indptr), view(classes), view(values)};
}

template <class Value>
OutTable<Value> give(WordTable<Value>&& t) {
  return {bindings::give(std::move(t.indptr)), bindings::give(std::move(t.classes)),
          bindings::give(std::move(t.values))};
}

// Row bounds of sparse rows with so many entries, checked.
std::span<const std::int64_t> csr_shape(const Words& indptr, std::size_t entries) {
  const auto bounds = bindings::view(indptr);
  require(!bounds.empty() && bounds.front() == 0 && bounds.back() == static_cast<std::int64_t>(entries) &&
              std::is_sorted(bounds.begin(), bounds.end()),
          "sparse rows: indptr must rise from 0 to the number of entries");
  return bounds;
}

std::span<double> view(const Matrix& m) {
  return {m.data(), m.size()};
}
std::span<const double> view(const InMatrix& m) {
  return {m.data(), m.size()};
}

// A table in fewer bytes, as make_quantized gives it.
using Quantized =
    std::tuple<Classes, In<float>, In<std::int16_t>, In<std::uint64_t>, double, double, double, double>;

QuantizedTableView quantized_view(const Quantized& quantized) {
  const auto& [places, in_order, steps, cells, step, greatest, largest, left_out] = quantized;
  return {bindings::view(places),
          bindings::view(in_order),
          bindings::view(steps),
          bindings::view(cells),
          step,
          greatest,
          largest,
          left_out};
}

// Scores by a table in single or double precision.
template <class Real, class Value>
void add_scores(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "score",
      [](const Words& indptr, const Classes& classes, const In<Real>& values, const Words& rows,
         const In<std::int32_t>& columns, const In<Value>& counts, const In<double>& bias,
         const In<double>& log_uniform, const Matrix& out, int n_threads) {
        const auto scores = table<Real>(indptr, classes, values);
        const auto documents = csr<Value>(rows, columns, counts);
        require(bias.size() == log_uniform.size() && bias.size() == out.shape(1) &&
                    documents.rows() == static_cast<std::int64_t>(out.shape(0)),
                "score: arrays do not belong together");
        const nb::gil_scoped_release released;
        score(scores, documents, bindings::view(bias), bindings::view(log_uniform), view(out), n_threads);
      },
      "indptr"_a.noconvert(), "classes"_a.noconvert(), "values"_a.noconvert(), "rows"_a.noconvert(),
      "columns"_a.noconvert(), "counts"_a.noconvert(), "bias"_a.noconvert(), "log_uniform"_a.noconvert(),
      "out"_a.noconvert(), "n_threads"_a);
  m.def(
      "best_classes",
      [](const Words& indptr, const Classes& classes, const In<Real>& values, const Words& rows,
         const In<std::int32_t>& columns, const In<Value>& counts, const In<double>& bias,
         const In<double>& log_uniform, int n_threads) {
        const auto scores = table<Real>(indptr, classes, values);
        const auto documents = csr<Value>(rows, columns, counts);
        require(bias.size() == log_uniform.size(), "best classes: arrays do not belong together");
        std::vector<std::int32_t> best;
        {
          const nb::gil_scoped_release released;
          best =
              best_classes(scores, documents, bindings::view(bias), bindings::view(log_uniform), n_threads);
        }
        return bindings::give(std::move(best));
      },
      "indptr"_a.noconvert(), "classes"_a.noconvert(), "values"_a.noconvert(), "rows"_a.noconvert(),
      "columns"_a.noconvert(), "counts"_a.noconvert(), "bias"_a.noconvert(), "log_uniform"_a.noconvert(),
      "n_threads"_a);
  m.def(
      "best_classes_by_quantized",
      [](const Quantized& quantized, const Words& indptr, const Classes& classes, const In<Real>& values,
         const Words& rows, const In<std::int32_t>& columns, const In<Value>& counts, const In<double>& bias,
         const In<double>& log_uniform, const Classes& parents, std::int64_t n_classes, int n_threads) {
        const auto scores = table<Real>(indptr, classes, values);
        const auto documents = csr<Value>(rows, columns, counts);
        const auto steps = quantized_view(quantized);
        const ColumnTree tree{bindings::view(parents), n_classes};
        require(bias.size() == log_uniform.size() && tree.is_sound() &&
                    static_cast<std::int64_t>(bias.size()) == tree.size() &&
                    fits(steps, scores.words(), n_classes),
                "best classes: arrays do not belong together");
        require((std::is_same_v<Real, double> || parents.size() == 0),
                "best classes: the table of a tree is in double precision");
        std::vector<std::int32_t> best;
        {
          const nb::gil_scoped_release released;
          best = best_classes_by_quantized(steps, scores, documents, bindings::view(bias),
                                           bindings::view(log_uniform), tree, n_threads);
        }
        return bindings::give(std::move(best));
      },
      "quantized"_a.noconvert(), "indptr"_a.noconvert(), "classes"_a.noconvert(), "values"_a.noconvert(),
      "rows"_a.noconvert(), "columns"_a.noconvert(), "counts"_a.noconvert(), "bias"_a.noconvert(),
      "log_uniform"_a.noconvert(), "parents"_a.noconvert(), "n_classes"_a, "n_threads"_a);
  m.def(
      "add_quantized_scores",
      [](const Quantized& quantized, const Words& indptr, const Classes& classes, const In<Real>& values,
         const Words& rows, const In<std::int32_t>& columns, const In<Value>& counts, const In<double>& bias,
         const In<double>& log_uniform, const In<double>& factors, const Matrix& total,
         const Numbers& distances, int n_threads) {
        const auto scores = table<Real>(indptr, classes, values);
        const auto documents = csr<Value>(rows, columns, counts);
        const auto steps = quantized_view(quantized);
        const auto n = static_cast<std::size_t>(documents.rows());
        require(bias.size() > 0 && bias.size() == log_uniform.size() && total.shape(1) == bias.size() &&
                    total.shape(0) == n && factors.size() == n && distances.size() == n &&
                    fits(steps, scores.words(), static_cast<std::int64_t>(bias.size())),
                "quantized scores: arrays do not belong together");
        const nb::gil_scoped_release released;
        add_quantized_scores<Real>(steps, documents, bindings::view(bias), bindings::view(log_uniform),
                                   bindings::view(factors), view(total), {distances.data(), n}, n_threads);
      },
      "quantized"_a.noconvert(), "indptr"_a.noconvert(), "classes"_a.noconvert(), "values"_a.noconvert(),
      "rows"_a.noconvert(), "columns"_a.noconvert(), "counts"_a.noconvert(), "bias"_a.noconvert(),
      "log_uniform"_a.noconvert(), "factors"_a.noconvert(), "total"_a.noconvert(), "distances"_a.noconvert(),
      "n_threads"_a);
}

// What is made of a table in single or double precision, whatever documents hold.
template <class Real>
void add_quantized(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "make_quantized",
      [](const Words& indptr, const Classes& classes, const In<Real>& values, const Classes& parents,
         std::int64_t n_classes, int n_threads) {
        const auto scores = table<Real>(indptr, classes, values);
        const ColumnTree tree{bindings::view(parents), n_classes};
        require(n_classes > 0 && tree.is_sound(), "quantized table: no tree of classes");
        QuantizedTable quantized;
        {
          const nb::gil_scoped_release released;
          quantized = make_quantized(scores, tree, n_threads);
        }
        return std::make_tuple(
            bindings::give(std::move(quantized.places)), bindings::give(std::move(quantized.rows)),
            bindings::give(std::move(quantized.steps)), bindings::give(std::move(quantized.cells)),
            quantized.step, quantized.greatest, quantized.largest, quantized.left_out);
      },
      "indptr"_a.noconvert(), "classes"_a.noconvert(), "values"_a.noconvert(), "parents"_a.noconvert(),
      "n_classes"_a, "n_threads"_a);
}

template <class Value>
void add_for(nb::module_& m) {
  add_scores<double, Value>(m);
  add_scores<float, Value>(m);
  using namespace nb::literals;
  m.def(
      "fixed_lengths",
      [](const Words& indptr, const In<Value>& values, int n_threads) {
        // The columns play no part; an empty span stands for them.
        const Csr<Value> documents{csr_shape(indptr, values.size()), {}, bindings::view(values)};
        std::vector<std::int64_t> lengths;
        {
          const nb::gil_scoped_release released;
          lengths = fixed_lengths(documents, n_threads);
        }
        return bindings::give(std::move(lengths));
      },
      "indptr"_a.noconvert(), "values"_a.noconvert(), "n_threads"_a);
  m.def(
      "count_by_class",
      [](const Words& rows, const In<std::int32_t>& columns, const In<Value>& counts,
         const In<double>& scales, const Classes& codes, std::int64_t n_words, std::int32_t n_classes,
         int n_threads) {
        const auto documents = csr<Value>(rows, columns, counts);
        require(codes.size() + 1 == rows.size() && scales.size() == codes.size() && n_words >= 0 &&
                    n_classes >= 0,
                "count: one class and one scale for each document are needed");
        WordTable<std::int64_t> result;
        {
          const nb::gil_scoped_release released;
          result = count_by_class(documents, bindings::view(scales), bindings::view(codes), n_words,
                                  n_classes, n_threads);
        }
        return give(std::move(result));
      },
      "rows"_a.noconvert(), "columns"_a.noconvert(), "counts"_a.noconvert(), "scales"_a.noconvert(),
      "codes"_a.noconvert(), "n_words"_a, "n_classes"_a, "n_threads"_a);
  m.def(
      "score_without_self",
      [](const Words& indptr, const Classes& classes, const In<std::int64_t>& sums, const Words& rows,
         const In<std::int32_t>& columns, const In<Value>& counts, const In<double>& scales,
         const Classes& codes, const In<double>& ratio, int n_threads) {
        const auto statistics = table<std::int64_t>(indptr, classes, sums);
        const auto documents = csr<Value>(rows, columns, counts);
        require(scales.size() == codes.size() && codes.size() + 1 == rows.size() &&
                    ratio.size() + 1 == rows.size(),
                "leave one out: arrays do not belong together");
        std::vector<double> own;
        {
          const nb::gil_scoped_release released;
          own = score_without_self(statistics, documents, bindings::view(scales), bindings::view(codes),
                                   bindings::view(ratio), n_threads);
        }
        return bindings::give(std::move(own));
      },
      "indptr"_a.noconvert(), "classes"_a.noconvert(), "sums"_a.noconvert(), "rows"_a.noconvert(),
      "columns"_a.noconvert(), "counts"_a.noconvert(), "scales"_a.noconvert(), "codes"_a.noconvert(),
      "ratio"_a.noconvert(), "n_threads"_a);
}

}  // namespace

void add_multinomial(nb::module_& m) {
  using namespace nb::literals;
  m.attr("FRACTION_BITS") = fraction_bits;
  add_for<double>(m);
  add_for<float>(m);
  add_for<std::int64_t>(m);  // as scikit-learn counts
  add_quantized<float>(m);
  add_quantized<double>(m);
  m.def(
      "group_equal",
      [](const In<std::uint8_t>& items, std::int64_t width) {
        require(width > 0 && items.size() % static_cast<std::size_t>(width) == 0,
                "items must be of one width");
        Groups groups;
        {
          const nb::gil_scoped_release released;
          groups = group_equal(bindings::view(items), width);
        }
        return std::pair(bindings::give(std::move(groups.codes)),
                         bindings::give(std::move(groups.first_places)));
      },
      "items"_a.noconvert(), "width"_a);
  m.def(
      "has_duplicates",
      [](const Words& indptr, const In<std::int32_t>& indices, std::int64_t n_words) {
        const auto documents = csr_shape(indptr, indices.size());
        require(n_words >= 0, "the number of words must not be negative");
        const nb::gil_scoped_release released;
        return has_duplicates(documents, bindings::view(indices), n_words);
      },
      "indptr"_a.noconvert(), "indices"_a.noconvert(), "n_words"_a);
  m.def(
      "combine",
      [](const Words& a_indptr, const Classes& a_classes, const In<std::int64_t>& a_counts,
         const Classes& a_ids, const Words& b_indptr, const Classes& b_classes,
         const In<std::int64_t>& b_counts, const Classes& b_ids, bool subtract, int n_threads) {
        const auto a = table<std::int64_t>(a_indptr, a_classes, a_counts);
        const auto b = table<std::int64_t>(b_indptr, b_classes, b_counts);
        WordTable<std::int64_t> result;
        {
          const nb::gil_scoped_release released;
          result = combine(a, bindings::view(a_ids), b, bindings::view(b_ids), subtract, n_threads);
        }
        return give(std::move(result));
      },
      "a_indptr"_a.noconvert(), "a_classes"_a.noconvert(), "a_counts"_a.noconvert(), "a_ids"_a.noconvert(),
      "b_indptr"_a.noconvert(), "b_classes"_a.noconvert(), "b_counts"_a.noconvert(), "b_ids"_a.noconvert(),
      "subtract"_a, "n_threads"_a);
  m.def(
      "class_totals",
      [](const Words& indptr, const Classes& classes, const In<std::int64_t>& counts,
         std::int32_t n_classes) {
        const auto statistics = table<std::int64_t>(indptr, classes, counts);
        std::vector<double> totals;
        {
          const nb::gil_scoped_release released;
          totals = class_totals(statistics, n_classes);
        }
        return bindings::give(std::move(totals));
      },
      "indptr"_a.noconvert(), "classes"_a.noconvert(), "counts"_a.noconvert(), "n_classes"_a);
  m.def(
      "build_table",
      [](const Words& indptr, const Classes& classes, const In<std::int64_t>& counts, const In<double>& ratio,
         int n_threads) {
        const auto statistics = table<std::int64_t>(indptr, classes, counts);
        WordTable<double> result;
        {
          const nb::gil_scoped_release released;
          result = build_table(statistics, bindings::view(ratio), n_threads);
        }
        return give(std::move(result));
      },
      "indptr"_a.noconvert(), "classes"_a.noconvert(), "counts"_a.noconvert(), "ratio"_a.noconvert(),
      "n_threads"_a);
  m.def(
      "quantized_sums",
      [](const In<std::int32_t>& rows, const In<float>& x, const In<std::int16_t>& steps, std::int64_t width,
         const char* level) {
        std::vector<RowTerm> terms;
        for (std::size_t k = 0; k < std::min(rows.size(), x.size()); ++k) {
          require(
              rows.data()[k] >= 0 && (rows.data()[k] + 1) * width <= static_cast<std::int64_t>(steps.size()),
              "quantized sums: no such row");
          terms.push_back({rows.data()[k], x.data()[k]});
        }
        require(width > 0 && width % block_of_classes == 0, "quantized sums: rows must be whole blocks");
        std::vector<float> sums(static_cast<std::size_t>(width));
        quantized_kernels(usable_simd_level(level)).add_terms(terms, steps.data(), width, sums.data());
        return bindings::give(std::move(sums));
      },
      "rows"_a.noconvert(), "x"_a.noconvert(), "steps"_a.noconvert(), "width"_a, "level"_a,
      "Weighted sums of rows as the kernels of a SIMD level compute them: for tests.");
  m.def(
      "normalize_log_rows",
      [](const Matrix& scores, int n_threads) {
        const nb::gil_scoped_release released;
        normalize_log_rows(view(scores), static_cast<std::int64_t>(scores.shape(1)), n_threads);
      },
      "scores"_a.noconvert(), "n_threads"_a);
  m.def(
      "add_scaled_rows",
      [](const InMatrix& scores, const In<double>& factors, const Matrix& total, int n_threads) {
        require(factors.size() == scores.shape(0) && total.shape(0) == scores.shape(0) &&
                    total.shape(1) == scores.shape(1),
                "add: one factor for each row, and as many sums as scores, are needed");
        const nb::gil_scoped_release released;
        add_scaled_rows(view(scores), bindings::view(factors), view(total), n_threads);
      },
      "scores"_a.noconvert(), "factors"_a.noconvert(), "total"_a.noconvert(), "n_threads"_a);
  m.def(
      "best_or_ambiguous",
      [](const InMatrix& scores, const In<double>& distances, int n_threads) {
        const auto n_columns = static_cast<std::int64_t>(scores.shape(1));
        require(n_columns > 0 && distances.size() == scores.shape(0), "best: one distance for each row");
        std::vector<std::int32_t> best;
        {
          const nb::gil_scoped_release released;
          best = best_or_ambiguous(view(scores), n_columns, bindings::view(distances), n_threads);
        }
        return bindings::give(std::move(best));
      },
      "scores"_a.noconvert(), "distances"_a.noconvert(), "n_threads"_a);
  m.def(
      "top_of_rows",
      [](const InMatrix& scores, std::int64_t k, int n_threads) {
        const auto n_columns = static_cast<std::int64_t>(scores.shape(1));
        require(k >= 1 && k <= n_columns, "top: k must lie between 1 and the number of columns");
        Top top;
        {
          const nb::gil_scoped_release released;
          top = top_of_rows(view(scores), n_columns, k, n_threads);
        }
        const auto width = static_cast<std::size_t>(k);
        return std::pair(bindings::give(std::move(top.columns), scores.shape(0), width),
                         bindings::give(std::move(top.probabilities), scores.shape(0), width));
      },
      "scores"_a.noconvert(), "k"_a, "n_threads"_a);
}

}  // namespace genus::bindings
