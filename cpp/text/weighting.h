// TermWeighting: what a word in a document counts for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "base/csr.h"

namespace genus {

// How a count c > 0 in document d becomes a weight, before idf. A count of zero weighs nothing.
enum class Tf {
  raw,        // c
  binary,     // 1
  log,        // 1 + ln c
  log1p,      // ln(1 + c)
  sqrt,       // √c
  log_share,  // ln(1 + c/n·idf), n the number of distinct words of d: idf acts inside the logarithm
  bm25,       // c·(k1 + 1) / (c + k1·(1 - b + b·|d|/mean length))
};
enum class Norm { none, l1, l2 };

struct Weighting {
  Tf tf;
  std::span<const double> idf;  // by column; empty where there is none
  double unseen_idf;            // of columns beyond those
  double k1, b, mean_length;    // of BM25
  Norm norm;
  double scale;
};

// In how many rows each column is not zero, and each row's sum.
struct DocumentStatistics {
  std::vector<std::int64_t> frequencies;
  std::vector<double> lengths;
};

// One pass. A column must not occur twice in a row. Throws where one lies outside [0, n_columns).
template <class Value>
DocumentStatistics document_statistics(const Csr<Value>& documents, std::int64_t n_columns, int n_threads);

// The weights of all entries, in their order: scale · tf·idf / norm of the row. Rows of norm zero stay zero.
// Computed in double precision, one pass over a row and one more for its norm; rows are independent.
template <class Out, class Value>
Buffer<Out> weigh(const Csr<Value>& documents, const Weighting& weighting, int n_threads);

}  // namespace genus
