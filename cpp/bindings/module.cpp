// The extension module: each part of the core registers its own functions.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "base/simd.h"

namespace genus::bindings {
void add_text(nanobind::module_& m);
void add_multinomial(nanobind::module_& m);
void add_weighting(nanobind::module_& m);
void add_inverted_index(nanobind::module_& m);
void add_online(nanobind::module_& m);
void add_mixture_em(nanobind::module_& m);
void add_gibbs(nanobind::module_& m);
void add_tree(nanobind::module_& m);
void add_selection(nanobind::module_& m);
void add_refinement(nanobind::module_& m);
void add_plsa(nanobind::module_& m);
}  // namespace genus::bindings

NB_MODULE(_core, m) {
  m.doc() = "Native kernels of genus. Private: the public interface is the Python package.";
  // Objects that live until the interpreter ends, in a notebook for instance, are no leak worth telling users
  // of.
  nanobind::set_leak_warnings(false);
  m.def("simd_levels", genus::usable_simd_levels,
        "The instruction sets that kernels were compiled for and this machine has, the widest last.");
  genus::bindings::add_text(m);
  genus::bindings::add_multinomial(m);
  genus::bindings::add_weighting(m);
  genus::bindings::add_inverted_index(m);
  genus::bindings::add_online(m);
  genus::bindings::add_mixture_em(m);
  genus::bindings::add_gibbs(m);
  genus::bindings::add_tree(m);
  genus::bindings::add_selection(m);
  genus::bindings::add_refinement(m);
  genus::bindings::add_plsa(m);
}
