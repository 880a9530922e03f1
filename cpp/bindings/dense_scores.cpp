#include "tables/dense_scores.h"

#include <nanobind/stl/string.h>

#include <string>

#include "bindings/arrays.h"

namespace genus::bindings {
namespace {

using namespace nb::literals;

using Panels =
    nb::ndarray<const double, nb::numpy, nb::shape<-1, -1, panel_width>, nb::c_contig, nb::device::cpu>;

template <class Value>
void bind(nb::module_& m) {
  using Rows = nb::ndarray<const Value, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
  m.def(
      "dense_scores",
      [](const Rows& rows, const In<double>& center, const Panels& panels, const In<double>& bias,
         const In<double>& scaled_prior, const Matrix& out, int n_threads, const std::string& level) {
        const auto n_columns = center.size(), n_panels = panels.shape(0), n_classes = scaled_prior.size();
        require(rows.shape(1) == n_columns && panels.shape(1) == n_columns,
                "dense scores: rows, center and panels need the same columns");
        require(
            n_panels == (n_classes + panel_width - 1) / panel_width && bias.size() == n_panels * panel_width,
            "dense scores: panels and their biases must hold all classes");
        require(out.shape(0) == rows.shape(0) && out.shape(1) == n_classes,
                "dense scores: a score for each row and class");
        const DenseTable table{{panels.data(), panels.size()}, view(center), view(bias), view(scaled_prior)};
        const SimdLevel simd = level.empty() ? simd_level() : usable_simd_level(level);
        const nb::gil_scoped_release released;
        return dense_scores(std::span<const Value>(rows.data(), rows.size()), table, view(out), n_threads,
                            simd);
      },
      "rows"_a.noconvert(), "center"_a.noconvert(), "panels"_a.noconvert(), "bias"_a.noconvert(),
      "scaled_prior"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a, "level"_a = "",
      "Fill out; whether all components are in range.");
}

}  // namespace

void bind_dense_scores(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
}

}  // namespace genus::bindings
