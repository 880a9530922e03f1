#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <tuple>

#include "bindings/arrays.h"
#include "mixtures/tree_em.h"
#include "tables/path_scores.h"

namespace genus::bindings {

namespace {

using Matrix = nb::ndarray<double, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Bounds = In<std::int64_t>;
using Ids = In<std::int32_t>;

void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

bool within(std::span<const std::int32_t> ids, std::int64_t n) {
  return std::all_of(ids.begin(), ids.end(), [n](std::int32_t id) { return id >= 0 && id < n; });
}

bool rises(std::span<const std::int64_t> bounds, std::size_t n) {
  return !bounds.empty() && bounds.front() == 0 && bounds.back() == static_cast<std::int64_t>(n) &&
         std::is_sorted(bounds.begin(), bounds.end());
}

template <class Value>
void add_scores(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "score_paths",
      [](const Bounds& indptr, const Ids& columns, const In<double>& values, const Bounds& rows,
         const Ids& words, const In<Value>& counts, const In<double>& bias, const In<double>& log_uniform,
         const Ids& parents, const Matrix& out, int n_threads) {
        require(indptr.size() > 0 && columns.size() == values.size(), "score: not a table");
        const WordTableView<double> table{view(indptr), view(columns), view(values)};
        const auto documents = csr<Value>(rows, words, counts);
        const ColumnTree tree{view(parents), static_cast<std::int64_t>(out.shape(1))};
        require(bias.size() == log_uniform.size() && bias.size() == parents.size() && tree.is_sound() &&
                    documents.rows() == static_cast<std::int64_t>(out.shape(0)),
                "score: arrays do not belong together");
        const nb::gil_scoped_release released;
        score_paths(table, documents, view(bias), view(log_uniform), tree,
                    std::span<double>(out.data(), out.size()), n_threads);
      },
      "indptr"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "rows"_a.noconvert(),
      "words"_a.noconvert(), "counts"_a.noconvert(), "bias"_a.noconvert(), "log_uniform"_a.noconvert(),
      "parents"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a);
  m.def(
      "best_classes_of_paths",
      [](const Bounds& indptr, const Ids& columns, const In<double>& values, const Bounds& rows,
         const Ids& words, const In<Value>& counts, const In<double>& bias, const In<double>& log_uniform,
         const Ids& parents, std::int64_t n_classes, int n_threads) {
        require(indptr.size() > 0 && columns.size() == values.size(), "best classes: not a table");
        const WordTableView<double> table{view(indptr), view(columns), view(values)};
        const auto documents = csr<Value>(rows, words, counts);
        const ColumnTree tree{view(parents), n_classes};
        require(bias.size() == log_uniform.size() && bias.size() == parents.size() && tree.is_sound(),
                "best classes: arrays do not belong together");
        std::vector<std::int32_t> best;
        {
          const nb::gil_scoped_release released;
          best = best_classes_of_paths(table, documents, view(bias), view(log_uniform), tree, n_threads);
        }
        return give(std::move(best));
      },
      "indptr"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "rows"_a.noconvert(),
      "words"_a.noconvert(), "counts"_a.noconvert(), "bias"_a.noconvert(), "log_uniform"_a.noconvert(),
      "parents"_a.noconvert(), "n_classes"_a, "n_threads"_a);
}

}  // namespace

void add_tree(nb::module_& m) {
  using namespace nb::literals;
  add_scores<float>(m);
  add_scores<double>(m);
  add_scores<std::int64_t>(m);
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
  m.def(
      "build_path_table",
      [](const Bounds& indptr, const Ids& words, const In<double>& counts, std::int64_t n_words,
         const Ids& nodes, const Ids& parents, const In<double>& weights, const In<double>& uniform,
         std::int64_t n_classes, int n_threads) {
        require(rises(view(indptr), words.size()) && counts.size() == words.size() &&
                    within(view(words), n_words) &&
                    within(view(nodes), static_cast<std::int64_t>(indptr.size()) - 1) &&
                    parents.size() == nodes.size() && weights.size() == nodes.size() &&
                    uniform.size() == nodes.size() && ColumnTree{view(parents), n_classes}.is_sound(),
                "path table: arrays do not belong together");
        WordTable<double> table;
        {
          const nb::gil_scoped_release released;
          table = build_path_table({view(indptr), view(words), view(counts)}, n_words,
                                   {view(nodes), view(parents), view(weights), view(uniform)}, n_threads);
        }
        return std::tuple(give(std::move(table.indptr)), give(std::move(table.classes)),
                          give(std::move(table.values)));
      },
      "indptr"_a.noconvert(), "words"_a.noconvert(), "counts"_a.noconvert(), "n_words"_a,
      "nodes"_a.noconvert(), "parents"_a.noconvert(), "weights"_a.noconvert(), "uniform"_a.noconvert(),
      "n_classes"_a, "n_threads"_a);
}

}  // namespace genus::bindings
