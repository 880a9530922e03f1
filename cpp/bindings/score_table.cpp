#include "tables/score_table.h"

#include "bindings/word_tables.h"

namespace genus::bindings {

namespace {

// By a table in single or double precision.
template <class Real, class Value>
void add_scores(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "score",
      [](const In<std::int64_t>& indptr, const In<std::int32_t>& classes, const In<Real>& values,
         const In<std::int64_t>& rows, const In<std::int32_t>& columns, const In<Value>& counts,
         const In<double>& bias, const In<double>& log_uniform, const Matrix& out, int n_threads) {
        const auto scores = word_table<Real>(indptr, classes, values);
        const auto documents = csr<Value>(rows, columns, counts);
        require(bias.size() == log_uniform.size() && bias.size() == out.shape(1) &&
                    documents.rows() == static_cast<std::int64_t>(out.shape(0)),
                "score: arrays do not belong together");
        const nb::gil_scoped_release released;
        score(scores, documents, view(bias), view(log_uniform), view(out), n_threads);
      },
      "indptr"_a.noconvert(), "classes"_a.noconvert(), "values"_a.noconvert(), "rows"_a.noconvert(),
      "columns"_a.noconvert(), "counts"_a.noconvert(), "bias"_a.noconvert(), "log_uniform"_a.noconvert(),
      "out"_a.noconvert(), "n_threads"_a);
  m.def(
      "best_classes",
      [](const In<std::int64_t>& indptr, const In<std::int32_t>& classes, const In<Real>& values,
         const In<std::int64_t>& rows, const In<std::int32_t>& columns, const In<Value>& counts,
         const In<double>& bias, const In<double>& log_uniform, int n_threads) {
        const auto scores = word_table<Real>(indptr, classes, values);
        const auto documents = csr<Value>(rows, columns, counts);
        require(bias.size() == log_uniform.size(), "best classes: arrays do not belong together");
        std::vector<std::int32_t> best;
        {
          const nb::gil_scoped_release released;
          best = best_classes(scores, documents, view(bias), view(log_uniform), n_threads);
        }
        return give(std::move(best));
      },
      "indptr"_a.noconvert(), "classes"_a.noconvert(), "values"_a.noconvert(), "rows"_a.noconvert(),
      "columns"_a.noconvert(), "counts"_a.noconvert(), "bias"_a.noconvert(), "log_uniform"_a.noconvert(),
      "n_threads"_a);
}

template <class Value>
void add_for(nb::module_& m) {
  using namespace nb::literals;
  add_scores<double, Value>(m);
  add_scores<float, Value>(m);
  m.def(
      "score_without_self",
      [](const In<std::int64_t>& indptr, const In<std::int32_t>& classes, const In<std::int64_t>& sums,
         const In<std::int64_t>& rows, const In<std::int32_t>& columns, const In<Value>& counts,
         const In<double>& scales, const In<std::int32_t>& codes, const In<double>& ratio, int n_threads) {
        const auto statistics = word_table<std::int64_t>(indptr, classes, sums);
        const auto documents = csr<Value>(rows, columns, counts);
        require(scales.size() == codes.size() && codes.size() + 1 == rows.size() &&
                    ratio.size() + 1 == rows.size(),
                "leave one out: arrays do not belong together");
        std::vector<double> own;
        {
          const nb::gil_scoped_release released;
          own = score_without_self(statistics, documents, view(scales), view(codes), view(ratio), n_threads);
        }
        return give(std::move(own));
      },
      "indptr"_a.noconvert(), "classes"_a.noconvert(), "sums"_a.noconvert(), "rows"_a.noconvert(),
      "columns"_a.noconvert(), "counts"_a.noconvert(), "scales"_a.noconvert(), "codes"_a.noconvert(),
      "ratio"_a.noconvert(), "n_threads"_a);
}

}  // namespace

void bind_score_table(nb::module_& m) {
  using namespace nb::literals;
  add_for<double>(m);
  add_for<float>(m);
  add_for<std::int64_t>(m);
  m.def(
      "build_table",
      [](const In<std::int64_t>& indptr, const In<std::int32_t>& classes, const In<std::int64_t>& counts,
         const In<double>& ratio, int n_threads) {
        const auto statistics = word_table<std::int64_t>(indptr, classes, counts);
        WordTable<double> result;
        {
          const nb::gil_scoped_release released;
          result = build_table(statistics, view(ratio), n_threads);
        }
        return give(std::move(result));
      },
      "indptr"_a.noconvert(), "classes"_a.noconvert(), "counts"_a.noconvert(), "ratio"_a.noconvert(),
      "n_threads"_a);
}

}  // namespace genus::bindings
