#include "tables/dense_kernels.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace genus {
namespace {

// What a vector register holds.
constexpr int lanes = std::is_same_v<GENUS_SIMD_LEVEL, V4> ? 8 : std::is_same_v<GENUS_SIMD_LEVEL, V3> ? 4 : 2;
using Lanes __attribute__((vector_size(lanes * sizeof(double)))) = double;
using Truth __attribute__((vector_size(lanes * sizeof(double)))) = std::int64_t;

constexpr double largest = 1 << 20;
// A double of this size has no digits below 2^-30: adding it rounds to the grid, half to even, and taking it
// off again is exact.
constexpr double rounder = 1.5 * (1 << 22);

template <class Value>
inline __attribute__((always_inline)) void center_lanes(const Value* from, const double* middle, double* out,
                                                        Truth& in_range, Truth& filled) {
  using Values __attribute__((vector_size(lanes * sizeof(Value)))) = Value;
  Values values;
  Lanes center;
  std::memcpy(&values, from, sizeof values);
  std::memcpy(&center, middle, sizeof center);
  const Lanes x = __builtin_convertvector(values, Lanes);
  in_range &= (x >= -largest) & (x <= largest);
  const Lanes on_grid = (x + rounder) - rounder;
  filled |= on_grid != 0.0;
  const Lanes centered = on_grid - center;
  std::memcpy(out, &centered, sizeof centered);
}

template <class Value>
RowState center_row(const Value* x, const double* center, std::int64_t n, double* out) {
  Truth in_range = Truth{} - 1, filled{};
  std::int64_t j = 0;
  for (; j + lanes <= n; j += lanes) center_lanes(x + j, center + j, out + j, in_range, filled);
  if (j < n) {
    Value last[lanes] = {};
    double middle[lanes] = {};
    std::copy(x + j, x + n, last);
    std::copy(center + j, center + n, middle);
    center_lanes(last, middle, out + j, in_range, filled);
  }
  RowState state{true, false};
  for (int i = 0; i < lanes; ++i) {
    state.in_range &= in_range[i] != 0;
    state.filled |= filled[i] != 0;
  }
  return state;
}

// Sums held in registers. An addition waits for the one before in its chain: so many keep the machine busy.
constexpr int chains = 8;

// The scores of n_rows rows from row r on, `count` vectors of classes.
template <int count, int n_rows>
void score_rows(const CenteredRows& rows, std::int64_t r, const double* panel, const double* bias,
                const ScoreColumns& out) {
  const double* const x = rows.values + r * rows.stride;
  Lanes sums[n_rows][count] = {};
  for (std::int64_t j = 0; j < rows.n_columns; ++j)
    for (int i = 0; i < count; ++i) {
      Lanes column;
      std::memcpy(&column, panel + j * panel_width + i * lanes, sizeof column);
      for (int k = 0; k < n_rows; ++k) sums[k][i] += x[k * rows.stride + j] * column;
    }
  for (int k = 0; k < n_rows; ++k) {
    for (int i = 0; i < count; ++i) {
      Lanes constant;
      std::memcpy(&constant, bias + i * lanes, sizeof constant);
      sums[k][i] += constant;
    }
    double* const to = out.scores + (r + k) * out.stride;
    if (out.n_classes == count * lanes)
      std::memcpy(to, sums[k], sizeof sums[k]);
    else
      std::memcpy(to, sums[k], out.n_classes * sizeof(double));
  }
}

// The last rows, n_rows at most, together.
template <int count, int n_rows>
void score_last_rows(const CenteredRows& rows, std::int64_t r, const double* panel, const double* bias,
                     const ScoreColumns& out) {
  if constexpr (n_rows > 0) {
    if (rows.n_rows - r == n_rows) return score_rows<count, n_rows>(rows, r, panel, bias, out);
    score_last_rows<count, n_rows - 1>(rows, r, panel, bias, out);
  }
}

template <int count>
void score_all_rows(const CenteredRows& rows, const double* panel, const double* bias,
                    const ScoreColumns& out) {
  constexpr int together = chains / count;
  std::int64_t r = 0;
  for (; r + together <= rows.n_rows; r += together) score_rows<count, together>(rows, r, panel, bias, out);
  score_last_rows<count, together - 1>(rows, r, panel, bias, out);
}

// As few vectors of classes as hold those that the panel has, `count` at most.
template <int count>
void score_vectors(const CenteredRows& rows, const double* panel, const double* bias,
                   const ScoreColumns& out) {
  if constexpr (count > 1)
    if (out.n_classes <= (count - 1) * lanes) return score_vectors<count - 1>(rows, panel, bias, out);
  score_all_rows<count>(rows, panel, bias, out);
}

void score_panel(const CenteredRows& rows, const double* panel, const double* bias, const ScoreColumns& out) {
  score_vectors<panel_width / lanes>(rows, panel, bias, out);
}

constexpr DenseKernels all{{center_row<float>, center_row<double>}, score_panel};

}  // namespace

const DenseKernels& dense_kernels(GENUS_SIMD_LEVEL) {
  return all;
}

}  // namespace genus
