#include "linear/hinge_solver.h"

#include "bindings/word_tables.h"

namespace genus::bindings {

namespace {

using Offsets = nb::ndarray<const float, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Cube = nb::ndarray<float, nb::numpy, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// Learning writes at every word's place: all that is read is checked here.
HingeProblem problem(const In<std::int64_t>& rows, const In<std::int32_t>& columns, const In<float>& values,
                     const In<std::int64_t>& indptr, const In<std::int32_t>& models,
                     const In<double>& weights, const Offsets& offsets, std::int64_t n_words,
                     std::int32_t n_models) {
  const HingeProblem given{csr<float>(rows, columns, values), view(indptr), view(models), view(weights),
                           {offsets.data(), offsets.size()},  n_words,      n_models};
  const auto n = static_cast<std::size_t>(given.documents.rows());
  require(n_words >= 0 && n_models >= 1 && weights.size() == n,
          "hinge solver: a weight for each document is needed");
  require(indptr.size() == n + 1 && rises(given.indptr, static_cast<std::int64_t>(models.size())),
          "hinge solver: the documents' models do not belong together");
  require(within(given.models, n_models) && within(given.documents.indices, n_words),
          "hinge solver: a model or a word that does not exist");
  require(given.offsets.empty() ||
              (offsets.shape(0) == n && offsets.shape(1) == static_cast<std::size_t>(n_models)),
          "hinge solver: an offset for each document and model is needed");
  return given;
}

}  // namespace

void bind_hinge_solver(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "solve_hinge",
      [](const In<std::int64_t>& rows, const In<std::int32_t>& columns, const In<float>& values,
         const In<std::int64_t>& indptr, const In<std::int32_t>& models, const In<double>& weights,
         const Offsets& offsets, std::int64_t n_words, std::int32_t n_models, double cost, double tolerance,
         int max_passes, std::uint64_t seed, double least, int n_threads) {
        const auto given =
            problem(rows, columns, values, indptr, models, weights, offsets, n_words, n_models);
        WordTable<double> table;
        {
          const nb::gil_scoped_release released;
          table = solve_hinge(given, cost, {tolerance, max_passes, seed}, least, n_threads);
        }
        return give(std::move(table));
      },
      "rows"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "indptr"_a.noconvert(),
      "models"_a.noconvert(), "weights"_a.noconvert(), "offsets"_a.noconvert(), "n_words"_a, "n_models"_a,
      "cost"_a, "tolerance"_a, "max_passes"_a, "seed"_a, "least"_a, "n_threads"_a);
  m.def(
      "hinge_scores",
      [](const In<std::int64_t>& rows, const In<std::int32_t>& columns, const In<float>& values,
         const In<std::int64_t>& indptr, const In<std::int32_t>& models, const In<double>& weights,
         const Offsets& offsets, std::int64_t n_words, std::int32_t n_models, const In<double>& costs,
         const In<std::int64_t>& other_rows, const In<std::int32_t>& other_columns,
         const In<float>& other_values, double tolerance, int max_passes, std::uint64_t seed, const Cube& out,
         int n_threads) {
        const auto given =
            problem(rows, columns, values, indptr, models, weights, offsets, n_words, n_models);
        const auto others = csr<float>(other_rows, other_columns, other_values);
        require(out.shape(0) == costs.size() && out.shape(1) == static_cast<std::size_t>(others.rows()) &&
                    out.shape(2) == static_cast<std::size_t>(n_models),
                "hinge scores: the result has another shape");
        const nb::gil_scoped_release released;
        hinge_scores(given, view(costs), others, {tolerance, max_passes, seed}, {out.data(), out.size()},
                     n_threads);
      },
      "rows"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "indptr"_a.noconvert(),
      "models"_a.noconvert(), "weights"_a.noconvert(), "offsets"_a.noconvert(), "n_words"_a, "n_models"_a,
      "costs"_a.noconvert(), "other_rows"_a.noconvert(), "other_columns"_a.noconvert(),
      "other_values"_a.noconvert(), "tolerance"_a, "max_passes"_a, "seed"_a, "out"_a.noconvert(),
      "n_threads"_a);
}

}  // namespace genus::bindings
