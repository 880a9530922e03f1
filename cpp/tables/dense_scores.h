// Scores of dense rows that are linear in them: DenseGaussian.
#pragma once

#include <cstdint>
#include <span>

#include "base/simd.h"
#include "tables/dense_kernels.h"

namespace genus {

// Coefficients of 8 classes at a time: a_cj of class c = 8 p + i is panels[(p * n_columns + j) * 8 + i]. The
// last panel and its biases are filled up with anything.
struct DenseTable {
  std::span<const double> panels, center, bias;  // bias of whole panels
  std::span<const double> scaled_prior;          // of classes

  std::int64_t n_columns() const { return std::ssize(center); }
  std::int64_t n_classes() const { return std::ssize(scaled_prior); }
};

// out[d, c] = bias_c + sum over j of (x_dj - center_j) * a_cj, with x rounded to multiples of 2^-30, half to
// even; scaled_prior_c where all of x is then zero. Added up in the order of j: equal bits for any number of
// threads, any split of the rows and every machine. Returns whether all of x lies within -2^20 and 2^20;
// otherwise out is of no use.
//
// Cost: a multiplication and an addition per row, column and class, in vectors of classes, which is the limit
// from about 8 classes on; below, reading and rounding the rows. Sixteen rows are centered at a time (128 KB
// of doubles at 1,000 columns), and the panels are read once for them: 8 bytes per column and class, from the
// second cache where they fit there.
template <class Value>
bool dense_scores(std::span<const Value> rows, const DenseTable& table, std::span<double> out, int n_threads,
                  SimdLevel level = simd_level());

}  // namespace genus
