#include "tables/log_rows.h"

#include <nanobind/stl/pair.h>

#include "bindings/arrays.h"

namespace genus::bindings {

void bind_log_rows(nb::module_& m) {
  using namespace nb::literals;
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
        add_scaled_rows(view(scores), view(factors), view(total), n_threads);
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
          best = best_or_ambiguous(view(scores), n_columns, view(distances), n_threads);
        }
        return give(std::move(best));
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
        return std::pair(give(std::move(top.columns), scores.shape(0), width),
                         give(std::move(top.probabilities), scores.shape(0), width));
      },
      "scores"_a.noconvert(), "k"_a, "n_threads"_a);
}

}  // namespace genus::bindings
