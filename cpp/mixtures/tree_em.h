// HierarchicalMixture and HierarchicalShrinkage: EM over a tree of classes (Toutanova, Chen, Popat and
// Hofmann, Text classification in a hierarchical mixture model for small training sets, CIKM 2001).
//
// A word of a document of class c comes from a node v on the path from the root to c, or from the uniform
// distribution over the N words that were seen:
//
//   P(w|c) = sum over v on the path of P(v|c) * P(w|v),   P(w|v) = M_vw / M_v                         (eq. 1)
//
// Node counts M_vw start as the pooled counts of the classes below. The weights P(v|c) are found by EM on
// estimates that leave out the document itself; the mixture then moves words between nodes
// by eq. 5 and 6, and finds the weights again (eq. 7).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "base/csr.h"
#include "tables/class_counts.h"

namespace genus {

// The nodes on the way to each class: class c has nodes[indptr[c] .. indptr[c + 1]), the root first and its
// own leaf, which is node c, last. Inner nodes are numbered from the number of classes on.
struct TreePaths {
  std::span<const std::int64_t> indptr;
  std::span<const std::int32_t> nodes;
  std::int32_t n_nodes;

  std::int64_t classes() const { return std::ssize(indptr) - 1; }
  std::int64_t length(std::int64_t c) const { return indptr[c + 1] - indptr[c]; }
  std::span<const std::int32_t> path(std::int64_t c) const { return nodes.subspan(indptr[c], length(c)); }
  std::int64_t longest() const {
    std::int64_t most = 0;
    for (std::int64_t c = 0; c < classes(); ++c) most = std::max(most, length(c));
    return most;
  }
};

// Classes of one group share their weights; their paths are equally long. The weights of group g lie from
// indptr[g] to indptr[g + 1]: the uniform distribution's, the root's, ..., the leaf's.
struct TreeWeights {
  std::span<const std::int32_t> groups;  // of each class
  std::span<const std::int64_t> indptr;

  std::int64_t n_groups() const { return std::ssize(indptr) - 1; }
};

// Nodes x words: node v holds (words[k], counts[k]) for k in [indptr[v], indptr[v + 1]), words rising.
struct NodeTable {
  Table<std::int64_t> indptr;
  Table<std::int32_t> words;
  Table<double> counts;
};

struct NodeTableView {
  std::span<const std::int64_t> indptr;
  std::span<const std::int32_t> words;
  std::span<const double> counts;

  Row row(std::int64_t v) const { return {indptr[v], indptr[v + 1]}; }
  std::int64_t nodes() const { return std::ssize(indptr) - 1; }
  std::vector<double> totals() const;  // M_v
};

// Labelled documents. A value x of document d counts as x * scales[d], in fixed point, rounded as the class
// counts have it. `left_out` is a matrix of documents x levels: how many times its own counts go with a
// document that is left out of the nodes of its path, the root first; more than once where it is learned
// under several classes below the node.
struct TreeDocuments {
  Csr<double> rows;
  std::span<const std::int32_t> classes;
  std::span<const double> scales;
  std::span<const double> left_out;
};

struct TreeSettings {
  int n_iterations;    // how often words are moved between nodes; 0 for shrinkage
  int n_weight_steps;  // EM steps for the weights, before the first and after each
  double tempering;    // exponent of the likelihood where words are moved
};

struct TreeModel {
  std::vector<double> weights;  // as `TreeWeights` says
  NodeTable counts;             // M_vw
};

// Fits weights and node counts. Class counts are words x classes; they hold the documents.
//
// With nnz entries of documents, `cells` (word, class) pairs and paths of L nodes, a step for the weights
// reads 4*L + 8 bytes and does one division per entry; the estimates before it cost one scattered read of 8*L
// bytes per entry. Moving words costs the same per cell. Memory: 4*L + 8 bytes per entry, 4*L per cell, 12
// per node and word, 12*L per word and thread.
TreeModel fit_tree(const WordTableView<std::int64_t>& counts, const TreeDocuments& documents,
                   const TreePaths& paths, const TreeWeights& groups, const TreeSettings& settings,
                   int n_threads);

}  // namespace genus
