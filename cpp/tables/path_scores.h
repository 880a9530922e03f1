// Scores of classes in a tree, for HierarchicalMixture and HierarchicalShrinkage (Toutanova, Chen, Popat and
// Hofmann, CIKM 2001): what the nodes of a path add to one another is kept once for all classes below.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/csr.h"
#include "mixtures/tree_em.h"
#include "tables/class_counts.h"
#include "tables/column_tree.h"

namespace genus {

// Columns of a table of scores whose sums along a path are log P(w|c) - log P(w|uniform). Column k adds node
// nodes[k] with weight weights[k] to what the columns above it say; parents[k] is the column above, -1 at the
// top, where `uniform[k]` is the probability of a word from the uniform distribution.
struct PathColumns {
  std::span<const std::int32_t> nodes;
  std::span<const std::int32_t> parents;
  std::span<const double> weights;
  std::span<const double> uniform;
};

// v_wk = log1p(weight_k * P(w|node_k) / p), p being what the columns above give to w. Cost: one scattered
// read of 8 bytes per node above for each cell, and the cells sorted by word. Rows are filled up as
// `build_table` does.
WordTable<double> build_path_table(const NodeTableView& counts, std::int64_t n_words,
                                   const PathColumns& columns, int n_threads);

// The scores of classes, the first columns, from the scores of columns: each takes in its parent's, columns
// of inner nodes rising from the top. `out` has a row of bias.size() - inner columns for each document.
template <class Value>
void score_paths(const WordTableView<double>& table, const Csr<Value>& documents,
                 std::span<const double> bias, std::span<const double> log_uniform, const ColumnTree& columns,
                 std::span<double> out, int n_threads);

// The class of the highest score of each document, the first of equal ones.
template <class Value>
std::vector<std::int32_t> best_classes_of_paths(const WordTableView<double>& table,
                                                const Csr<Value>& documents, std::span<const double> bias,
                                                std::span<const double> log_uniform,
                                                const ColumnTree& columns, int n_threads);

}  // namespace genus
