#include "mixtures/tree_em.h"

#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bindings/arrays.h"

namespace genus::bindings {

namespace {

using Bounds = In<std::int64_t>;
using Ids = In<std::int32_t>;

}  // namespace

void bind_tree_em(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "fit_tree",
      [](const Bounds& indptr, const Ids& classes, const In<std::int64_t>& sums, const Bounds& rows,
         const Ids& words, const In<double>& values, const Ids& codes, const In<double>& scales,
         const In<double>& left_out, const Bounds& path_indptr, const Ids& path_nodes, std::int32_t n_nodes,
         const Ids& groups, const Bounds& group_indptr, int n_iterations, int n_weight_steps,
         double tempering, int n_threads) {
        require(rises(view(indptr), sums.size()) && classes.size() == sums.size(), "tree: not a table");
        const WordTableView<std::int64_t> counts{view(indptr), view(classes), view(sums)};
        const TreeDocuments documents{csr<double>(rows, words, values), view(codes), view(scales),
                                      view(left_out)};
        require(rises(view(path_indptr), path_nodes.size()) && within(view(path_nodes), n_nodes) &&
                    group_indptr.size() > 0 &&
                    rises(view(group_indptr), group_indptr.data()[group_indptr.size() - 1]),
                "tree: paths and groups of weights are not sound");
        const TreePaths paths{view(path_indptr), view(path_nodes), n_nodes};
        const TreeWeights shared{view(groups), view(group_indptr)};
        const auto n_classes = paths.classes();
        require(within(view(classes), n_classes) && within(view(codes), n_classes) &&
                    within(view(words), counts.words()) && within(view(groups), shared.n_groups()) &&
                    static_cast<std::int64_t>(groups.size()) == n_classes &&
                    codes.size() + 1 == rows.size() && scales.size() == codes.size() &&
                    static_cast<std::int64_t>(left_out.size()) == documents.rows.rows() * paths.longest(),
                "tree: arrays do not belong together");
        for (std::int64_t c = 0; c < n_classes; ++c)
          require(
              shared.indptr[shared.groups[c] + 1] - shared.indptr[shared.groups[c]] == paths.length(c) + 1,
              "tree: a group of weights is not as long as a path");
        TreeModel model;
        {
          const nb::gil_scoped_release released;
          model = fit_tree(counts, documents, paths, shared, {n_iterations, n_weight_steps, tempering},
                           n_threads);
        }
        return std::tuple(give(std::move(model.weights)), give(std::move(model.counts.indptr)),
                          give(std::move(model.counts.words)), give(std::move(model.counts.counts)));
      },
      "indptr"_a.noconvert(), "classes"_a.noconvert(), "sums"_a.noconvert(), "rows"_a.noconvert(),
      "words"_a.noconvert(), "values"_a.noconvert(), "codes"_a.noconvert(), "scales"_a.noconvert(),
      "left_out"_a.noconvert(), "path_indptr"_a.noconvert(), "path_nodes"_a.noconvert(), "n_nodes"_a,
      "groups"_a.noconvert(), "group_indptr"_a.noconvert(), "n_iterations"_a, "n_weight_steps"_a,
      "tempering"_a, "n_threads"_a);
}

}  // namespace genus::bindings
