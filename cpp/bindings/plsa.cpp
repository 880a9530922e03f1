#include "mixtures/plsa.h"

#include "bindings/arrays.h"

namespace genus::bindings {

namespace {

template <class Value>
void add_fold_in(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "fold_in",
      [](const InMatrix& tempered, const In<std::int64_t>& rows, const In<std::int32_t>& words,
         const In<Value>& counts, double beta, int n_steps, const Matrix& mixtures, int n_threads) {
        const auto documents = csr<Value>(rows, words, counts);
        require(mixtures.shape(1) == tempered.shape(1) && mixtures.shape(0) + 1 == rows.size(),
                "folding-in: arrays do not belong together");
        const nb::gil_scoped_release released;
        fold_in(view(tempered), static_cast<std::int64_t>(tempered.shape(0)), documents,
                static_cast<std::int64_t>(tempered.shape(1)), beta, n_steps, view(mixtures), n_threads);
      },
      "tempered"_a.noconvert(), "rows"_a.noconvert(), "words"_a.noconvert(), "counts"_a.noconvert(), "beta"_a,
      "n_steps"_a, "mixtures"_a.noconvert(), "n_threads"_a);
}

}  // namespace

void bind_plsa(nb::module_& m) {
  using namespace nb::literals;
  add_fold_in<float>(m);
  add_fold_in<double>(m);
  add_fold_in<std::int64_t>(m);
  m.def(
      "plsa_step",
      [](const InMatrix& tempered, const In<std::int64_t>& rows, const In<std::int32_t>& words,
         const In<double>& counts, const In<double>& weights, double beta, const Matrix& mixtures,
         const Matrix& sums, int n_threads) {
        const auto documents = csr<double>(rows, words, counts);
        const auto n_words = static_cast<std::int64_t>(tempered.shape(0));
        require(mixtures.shape(1) == tempered.shape(1) && mixtures.shape(0) + 1 == rows.size() &&
                    weights.size() == mixtures.shape(0) && sums.shape(0) == tempered.shape(0) &&
                    sums.shape(1) == tempered.shape(1) && within(view(words), n_words),
                "plsa: arrays do not belong together");
        const nb::gil_scoped_release released;
        plsa_step(view(tempered), documents, view(weights), static_cast<std::int64_t>(tempered.shape(1)),
                  beta, view(mixtures), view(sums), n_threads);
      },
      "tempered"_a.noconvert(), "rows"_a.noconvert(), "words"_a.noconvert(), "counts"_a.noconvert(),
      "weights"_a.noconvert(), "beta"_a, "mixtures"_a.noconvert(), "sums"_a.noconvert(), "n_threads"_a);
}

}  // namespace genus::bindings
