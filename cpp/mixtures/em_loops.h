// The inner loops of repeated EM (repeated_em.h), in the widest vectors that the running machine has.
//
// Columns are nodes x repetitions: what is added, compared and exponentiated for one repetition is so for all
// of them at once. The number of repetitions is filled up to a multiple of 4, the lanes of a vector.
#pragma once

#include <cstdint>
#include <span>

#include "base/simd.h"

namespace genus {

inline constexpr std::int64_t max_em_repetitions = 16;  // of one task

// Rows of a table, and how often each counts: the features of a document, or the documents that have a
// feature.
struct EmEntries {
  const std::int32_t* rows;
  const double* x;
  std::int64_t size;
};

// Tables have rows of `stride` numbers. No fused multiply-add and fixed chains of additions: every machine
// gives the same bits.
struct EmLoops {
  // sums[j] += sum over entries of x * table[row, j], for j < n.
  void (*gather)(EmEntries entries, const double* table, std::int64_t stride, std::int64_t n, double* sums);
  // table[row, j] += x * shares[j], for j < n and all entries.
  void (*scatter)(EmEntries entries, const double* shares, std::int64_t stride, std::int64_t n,
                  double* table);
  // Log joint probabilities of nodes x repetitions become shares that add up to one over the nodes, and
  // log_sums the logarithm of their sum. With `hard` the first of the most probable nodes gets all.
  void (*normalize)(double* scores, std::int64_t n_nodes, std::int64_t n_repetitions, bool hard,
                    double* log_sums);
  // values = log1p(ratio * counts) for n cells, a multiple of 4; sums += values.
  void (*log1p)(const double* counts, const double* ratio, std::int64_t n, double* values, double* sums);
};

// (AVX-512 was measured to gain nothing: what takes the time is rows on their way from the outer caches.)
const EmLoops& em_loops(Baseline);
const EmLoops& em_loops(V3);
const EmLoops& em_loops(V4);
inline const EmLoops& em_loops(SimdLevel level = simd_level()) {
  return at_simd_level(level, [](auto tag) -> const EmLoops& { return em_loops(tag); });
}

}  // namespace genus
