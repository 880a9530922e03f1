// Scores of TiedDocumentMixture and its relatives by mixtures over training documents: eq. 1 and Algorithm 1
// of Puurula and Myaeng 2013. See inverted_index.h for the mathematics and the cost.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/csr.h"
#include "documents/inverted_index.h"

namespace genus {

// out[d, l] += acc_l. `factors` are exponentials(values), `largest` the runs' largest values.
template <class Value>
void add_mixtures(const IndexView& index, std::span<const double> values, std::span<const double> factors,
                  std::span<const double> largest, const Csr<Value>& queries, std::span<double> out,
                  int n_threads);

// Class own[d]'s acc without slot left_out[d] (-1 for none), each query entry having a gain of its own, which
// already accounts for the nodes above: log1p(gains[k] * frequency).
template <class Value>
std::vector<double> mixture_without_self(const IndexView& index, std::span<const double> frequencies,
                                         const Csr<Value>& queries, std::span<const double> gains,
                                         std::span<const std::int32_t> own,
                                         std::span<const std::int64_t> left_out, int n_threads);

// The k slots of each query with the largest bias_l + offset_m + inst_m, largest first; equal ones by `rank`.
// bias has one row for each query, or one row for all.
struct TopSlots {
  std::vector<std::int64_t> slots;
  std::vector<double> scores;
};
template <class Value>
TopSlots top_slots(const IndexView& index, std::span<const double> values, const Csr<Value>& queries,
                   std::span<const double> bias, std::span<const double> offsets,
                   std::span<const std::int64_t> rank, std::int64_t k, int n_threads);

}  // namespace genus
