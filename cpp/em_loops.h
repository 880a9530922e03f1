// The inner loops of repeated EM, in the widest vectors that the running machine has.
//
// Columns are nodes x lanes, the lanes being repetitions side by side: what is added, compared and
// exponentiated for one repetition is so for all of them at once.
#pragma once

#include <cstdint>
#include <span>

namespace genus {

inline constexpr std::int64_t em_lanes = 4;

// One feature of a document: where its row of a table begins, and its value.
struct EmTerm {
  std::int64_t row;
  double x;
};

// No fused multiply-add and fixed chains of additions: every x86-64 gives the same bits.
struct EmLoops {
  // sums[j] += sum over terms of x * table[row + j], for j < n.
  void (*gather)(std::span<const EmTerm> terms, const double* table, std::int64_t n, double* sums);
  // table[row + j] += x * shares[j], for j < n and all terms.
  void (*scatter)(std::span<const EmTerm> terms, const double* shares, std::int64_t n, double* table);
  // Log joint probabilities of nodes x lanes become shares that add up to one over the nodes, and log_sums
  // the logarithm of their sum. With `hard` the first of the most probable nodes gets all.
  void (*normalize)(double* scores, std::int64_t n_nodes, bool hard, double* log_sums);
  // values = log1p(ratio * counts) for n_rows x n cells; sums[j] += values of column j. The counts are set to
  // zero.
  void (*log1p)(double* counts, double* values, std::int64_t n_rows, std::int64_t n, const double* ratio,
                double* sums);
};

const EmLoops& em_loops();

// As em_loops(), for machines without wide vectors: for tests.
const EmLoops& portable_em_loops();

}  // namespace genus
