#include "tables/quantized_scores.h"

#include <algorithm>
#include <tuple>

#include "bindings/word_tables.h"
#include "tables/quantized_kernels.h"

namespace genus::bindings {

namespace {

using Numbers = nb::ndarray<double, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A table in fewer bytes, as make_quantized gives it.
using Quantized = std::tuple<In<std::int32_t>, In<float>, In<std::int16_t>, In<std::uint64_t>, double, double,
                             double, double>;

QuantizedTableView quantized_view(const Quantized& quantized) {
  const auto& [places, in_order, steps, cells, step, greatest, largest, left_out] = quantized;
  return {view(places), view(in_order), view(steps), view(cells), step, greatest, largest, left_out};
}

// Of a table in single or double precision.
template <class Real, class Value>
void add_scores(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "best_classes_by_quantized",
      [](const Quantized& quantized, const In<std::int64_t>& indptr, const In<std::int32_t>& classes,
         const In<Real>& values, const In<std::int64_t>& rows, const In<std::int32_t>& columns,
         const In<Value>& counts, const In<double>& bias, const In<double>& log_uniform,
         const In<std::int32_t>& parents, std::int64_t n_classes, int n_threads) {
        const auto scores = word_table<Real>(indptr, classes, values);
        const auto documents = csr<Value>(rows, columns, counts);
        const auto steps = quantized_view(quantized);
        const ColumnTree tree{view(parents), n_classes};
        require(bias.size() == log_uniform.size() && tree.is_sound() &&
                    static_cast<std::int64_t>(bias.size()) == tree.size() &&
                    fits(steps, scores.words(), n_classes),
                "best classes: arrays do not belong together");
        require((std::is_same_v<Real, double> || parents.size() == 0),
                "best classes: the table of a tree is in double precision");
        std::vector<std::int32_t> best;
        {
          const nb::gil_scoped_release released;
          best = best_classes_by_quantized(steps, scores, documents, view(bias), view(log_uniform), tree,
                                           n_threads);
        }
        return give(std::move(best));
      },
      "quantized"_a.noconvert(), "indptr"_a.noconvert(), "classes"_a.noconvert(), "values"_a.noconvert(),
      "rows"_a.noconvert(), "columns"_a.noconvert(), "counts"_a.noconvert(), "bias"_a.noconvert(),
      "log_uniform"_a.noconvert(), "parents"_a.noconvert(), "n_classes"_a, "n_threads"_a);
  m.def(
      "add_quantized_scores",
      [](const Quantized& quantized, const In<std::int64_t>& indptr, const In<std::int32_t>& classes,
         const In<Real>& values, const In<std::int64_t>& rows, const In<std::int32_t>& columns,
         const In<Value>& counts, const In<double>& bias, const In<double>& log_uniform,
         const In<double>& factors, const Matrix& total, const Numbers& distances, int n_threads) {
        const auto scores = word_table<Real>(indptr, classes, values);
        const auto documents = csr<Value>(rows, columns, counts);
        const auto steps = quantized_view(quantized);
        const auto n = static_cast<std::size_t>(documents.rows());
        require(bias.size() > 0 && bias.size() == log_uniform.size() && total.shape(1) == bias.size() &&
                    total.shape(0) == n && factors.size() == n && distances.size() == n &&
                    fits(steps, scores.words(), static_cast<std::int64_t>(bias.size())),
                "quantized scores: arrays do not belong together");
        const nb::gil_scoped_release released;
        add_quantized_scores<Real>(steps, documents, view(bias), view(log_uniform), view(factors),
                                   view(total), {distances.data(), n}, n_threads);
      },
      "quantized"_a.noconvert(), "indptr"_a.noconvert(), "classes"_a.noconvert(), "values"_a.noconvert(),
      "rows"_a.noconvert(), "columns"_a.noconvert(), "counts"_a.noconvert(), "bias"_a.noconvert(),
      "log_uniform"_a.noconvert(), "factors"_a.noconvert(), "total"_a.noconvert(), "distances"_a.noconvert(),
      "n_threads"_a);
}

template <class Real>
void add_for(nb::module_& m) {
  using namespace nb::literals;
  add_scores<Real, double>(m);
  add_scores<Real, float>(m);
  add_scores<Real, std::int64_t>(m);
  m.def(
      "make_quantized",
      [](const In<std::int64_t>& indptr, const In<std::int32_t>& classes, const In<Real>& values,
         const In<std::int32_t>& parents, std::int64_t n_classes, int n_threads) {
        const auto scores = word_table<Real>(indptr, classes, values);
        const ColumnTree tree{view(parents), n_classes};
        require(n_classes > 0 && tree.is_sound(), "quantized table: no tree of classes");
        QuantizedTable quantized;
        {
          const nb::gil_scoped_release released;
          quantized = make_quantized(scores, tree, n_threads);
        }
        return std::make_tuple(give(std::move(quantized.places)), give(std::move(quantized.rows)),
                               give(std::move(quantized.steps)), give(std::move(quantized.cells)),
                               quantized.step, quantized.greatest, quantized.largest, quantized.left_out);
      },
      "indptr"_a.noconvert(), "classes"_a.noconvert(), "values"_a.noconvert(), "parents"_a.noconvert(),
      "n_classes"_a, "n_threads"_a);
}

}  // namespace

void bind_quantized_scores(nb::module_& m) {
  using namespace nb::literals;
  add_for<double>(m);
  add_for<float>(m);
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
        return give(std::move(sums));
      },
      "rows"_a.noconvert(), "x"_a.noconvert(), "steps"_a.noconvert(), "width"_a, "level"_a,
      "Weighted sums of rows as the kernels of a SIMD level compute them: for tests.");
}

}  // namespace genus::bindings
