// The inner loops of dense_scores.h, in the widest vectors that the running machine has.
#pragma once

#include <cstdint>
#include <tuple>

#include "base/simd.h"

namespace genus {

// Classes of a panel: a cache line of doubles for each column.
inline constexpr std::int64_t panel_width = 8;

struct RowState {
  bool in_range;  // all components are numbers from -2^20 to 2^20
  bool filled;    // some component on the grid is not zero
};

// out[j] = x_j on the grid - center_j, for n columns; out has room for n rounded up to a multiple of 8.
template <class Value>
using CenterRow = RowState (*)(const Value* x, const double* center, std::int64_t n, double* out);

// A matrix of centered rows, each `stride` numbers after the one before.
struct CenteredRows {
  const double* values;
  std::int64_t stride, n_rows, n_columns;
};

// Where the scores of a panel's classes go: the first n_classes of them, in rows `stride` numbers apart.
struct ScoreColumns {
  double* scores;
  std::int64_t stride, n_classes;
};

// Multiplications and additions are never fused, and each score is one chain of additions, column after
// column: every machine and every way to split the rows gives the same bits.
struct DenseKernels {
  std::tuple<CenterRow<float>, CenterRow<double>> center;
  // out[r, c] = (0 + x_r0 * panel[0, c] + x_r1 * panel[1, c] + ...) + bias_c
  void (*score_panel)(const CenteredRows& rows, const double* panel, const double* bias,
                      const ScoreColumns& out);
};

const DenseKernels& dense_kernels(Baseline);
const DenseKernels& dense_kernels(V3);
const DenseKernels& dense_kernels(V4);
inline const DenseKernels& dense_kernels(SimdLevel level = simd_level()) {
  return at_simd_level(level, [](auto tag) -> const DenseKernels& { return dense_kernels(tag); });
}

}  // namespace genus
