#include "tables/path_scores.h"

#include "bindings/word_tables.h"

namespace genus::bindings {

namespace {

using Bounds = In<std::int64_t>;
using Ids = In<std::int32_t>;

template <class Value>
void add_scores(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "score_paths",
      [](const Bounds& indptr, const Ids& columns, const In<double>& values, const Bounds& rows,
         const Ids& words, const In<Value>& counts, const In<double>& bias, const In<double>& log_uniform,
         const Ids& parents, const Matrix& out, int n_threads) {
        const auto table = word_table<double>(indptr, columns, values);
        const auto documents = csr<Value>(rows, words, counts);
        const ColumnTree tree{view(parents), static_cast<std::int64_t>(out.shape(1))};
        require(bias.size() == log_uniform.size() && bias.size() == parents.size() && tree.is_sound() &&
                    documents.rows() == static_cast<std::int64_t>(out.shape(0)),
                "score: arrays do not belong together");
        const nb::gil_scoped_release released;
        score_paths(table, documents, view(bias), view(log_uniform), tree, view(out), n_threads);
      },
      "indptr"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "rows"_a.noconvert(),
      "words"_a.noconvert(), "counts"_a.noconvert(), "bias"_a.noconvert(), "log_uniform"_a.noconvert(),
      "parents"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a);
  m.def(
      "best_classes_of_paths",
      [](const Bounds& indptr, const Ids& columns, const In<double>& values, const Bounds& rows,
         const Ids& words, const In<Value>& counts, const In<double>& bias, const In<double>& log_uniform,
         const Ids& parents, std::int64_t n_classes, int n_threads) {
        const auto table = word_table<double>(indptr, columns, values);
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

void bind_path_scores(nb::module_& m) {
  using namespace nb::literals;
  add_scores<float>(m);
  add_scores<double>(m);
  add_scores<std::int64_t>(m);
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
        return give(std::move(table));
      },
      "indptr"_a.noconvert(), "words"_a.noconvert(), "counts"_a.noconvert(), "n_words"_a,
      "nodes"_a.noconvert(), "parents"_a.noconvert(), "weights"_a.noconvert(), "uniform"_a.noconvert(),
      "n_classes"_a, "n_threads"_a);
}

}  // namespace genus::bindings
