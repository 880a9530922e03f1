#include "text/weighting.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>

#include "bindings/arrays.h"

namespace genus::bindings {

namespace {

constexpr std::array tf_names = {"raw", "binary", "log", "log1p", "sqrt", "log_share", "bm25"};  // as in Tf
constexpr std::array norm_names = {"none", "l1", "l2"};                                          // as in Norm

using Weights = nb::ndarray<nb::numpy, nb::ndim<1>>;  // of the precision of the counts

template <class Enum>
Enum parse(const auto& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw std::invalid_argument("unknown name: " + name);
  return static_cast<Enum>(found - names.begin());
}

template <class Value>
void add_for(nb::module_& m) {
  using namespace nb::literals;
  using Weight = std::conditional_t<std::is_same_v<Value, float>, float, double>;
  m.def(
      "document_statistics",
      [](const In<std::int64_t>& indptr, const In<std::int32_t>& indices, const In<Value>& values,
         std::int64_t n_columns, int n_threads) {
        const auto documents = csr<Value>(indptr, indices, values);
        if (n_columns < 0) throw std::invalid_argument("the number of columns must not be negative");
        DocumentStatistics statistics;
        {
          const nb::gil_scoped_release released;
          statistics = document_statistics(documents, n_columns, n_threads);
        }
        return std::pair(give(std::move(statistics.frequencies)), give(std::move(statistics.lengths)));
      },
      "indptr"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert(), "n_columns"_a, "n_threads"_a);
  m.def(
      "weigh",
      [](const In<std::int64_t>& indptr, const In<std::int32_t>& indices, const In<Value>& values,
         const std::string& tf, const In<double>& idf, double unseen_idf, double k1, double b,
         double mean_length, const std::string& norm, double scale, int n_threads) {
        const auto documents = csr<Value>(indptr, indices, values);
        const Weighting weighting{parse<Tf>(tf_names, tf),       view(idf), unseen_idf, k1, b, mean_length,
                                  parse<Norm>(norm_names, norm), scale};
        Buffer<Weight> weights;
        {
          const nb::gil_scoped_release released;
          weights = weigh<Weight>(documents, weighting, n_threads);
        }
        return Weights(give(std::move(weights)));
      },
      "indptr"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert(), "tf"_a, "idf"_a.noconvert(),
      "unseen_idf"_a, "k1"_a, "b"_a, "mean_length"_a, "norm"_a, "scale"_a, "n_threads"_a);
}

}  // namespace

void bind_weighting(nb::module_& m) {
  add_for<double>(m);
  add_for<float>(m);
  add_for<std::int64_t>(m);
}

}  // namespace genus::bindings
