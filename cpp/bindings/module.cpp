// The extension module: each file of this folder binds the folder or the file of the core that it is named
// after.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "base/simd.h"

namespace genus::bindings {
void bind_text(nanobind::module_& m);
void bind_weighting(nanobind::module_& m);
void bind_word_vectors(nanobind::module_& m);
void bind_class_counts(nanobind::module_& m);
void bind_score_table(nanobind::module_& m);
void bind_quantized_scores(nanobind::module_& m);
void bind_log_rows(nanobind::module_& m);
void bind_dense_scores(nanobind::module_& m);
void bind_path_scores(nanobind::module_& m);
void bind_information_gain(nanobind::module_& m);
void bind_documents(nanobind::module_& m);
void bind_online(nanobind::module_& m);
void bind_topics(nanobind::module_& m);
void bind_repeated_em(nanobind::module_& m);
void bind_tree_em(nanobind::module_& m);
void bind_plsa(nanobind::module_& m);
void bind_hinge_solver(nanobind::module_& m);
void bind_checksum(nanobind::module_& m);
}  // namespace genus::bindings

NB_MODULE(_core, m) {
  m.doc() = "Native kernels of genus. Private: the public interface is the Python package.";
  // Objects that live until the interpreter ends, in a notebook for instance, are no leak worth telling users
  // of.
  nanobind::set_leak_warnings(false);
  m.def("simd_levels", genus::usable_simd_levels,
        "The instruction sets that kernels were compiled for and this machine has, the widest last.");
  genus::bindings::bind_text(m);
  genus::bindings::bind_weighting(m);
  genus::bindings::bind_word_vectors(m);
  genus::bindings::bind_class_counts(m);
  genus::bindings::bind_score_table(m);
  genus::bindings::bind_quantized_scores(m);
  genus::bindings::bind_log_rows(m);
  genus::bindings::bind_dense_scores(m);
  genus::bindings::bind_path_scores(m);
  genus::bindings::bind_information_gain(m);
  genus::bindings::bind_documents(m);
  genus::bindings::bind_online(m);
  genus::bindings::bind_topics(m);
  genus::bindings::bind_repeated_em(m);
  genus::bindings::bind_tree_em(m);
  genus::bindings::bind_plsa(m);
  genus::bindings::bind_hinge_solver(m);
  genus::bindings::bind_checksum(m);
}
