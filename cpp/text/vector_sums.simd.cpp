#include "text/vector_sums.h"

#include <cmath>
#include <type_traits>

namespace genus {
namespace {

struct ByteRows {
  const std::int8_t* vectors;
  const float* scales;

  float scale(std::size_t row) const { return scales[row]; }
};

struct FloatRows {
  const float* vectors;

  static float scale(std::size_t) { return 1; }
};

// Adds n rows at once, one after the other to each sum, so that sums are read and written once for all.
template <std::size_t n, class Rows>
void add_together(const Rows& table, std::size_t n_dimensions, const std::int32_t* rows,
                  float* __restrict sums) {
  const std::remove_pointer_t<decltype(table.vectors)>* from[n];
  float scales[n];
  for (std::size_t k = 0; k < n; ++k) {
    const auto row = static_cast<std::size_t>(rows[k]);
    from[k] = table.vectors + row * n_dimensions;
    scales[k] = table.scale(row);
  }
  for (std::size_t j = 0; j < n_dimensions; ++j) {
    float sum = sums[j];
    for (std::size_t k = 0; k < n; ++k) sum += scales[k] * static_cast<float>(from[k][j]);
    sums[j] = sum;
  }
}

template <class Rows>
void add(const Rows& table, std::size_t n_dimensions, const std::int32_t* rows, std::size_t n, float* sums) {
  constexpr std::size_t together = 4;
  std::size_t k = 0;
  for (; k + together <= n; k += together) add_together<together>(table, n_dimensions, rows + k, sums);
  for (; k < n; ++k) add_together<1>(table, n_dimensions, rows + k, sums);
}

void add_bytes(const std::int8_t* vectors, const float* scales, std::size_t n_dimensions,
               const std::int32_t* rows, std::size_t n, float* sums) {
  add(ByteRows{vectors, scales}, n_dimensions, rows, n, sums);
}

void add_floats(const float* vectors, std::size_t n_dimensions, const std::int32_t* rows, std::size_t n,
                float* sums) {
  add(FloatRows{vectors}, n_dimensions, rows, n, sums);
}

void to_unit(float* vector, std::size_t n_dimensions) {
  constexpr std::size_t chains = 8;
  double squares[chains] = {};
  std::size_t j = 0;
  for (; j + chains <= n_dimensions; j += chains)
    for (std::size_t i = 0; i < chains; ++i) {
      const double x = vector[j + i];
      squares[i] += x * x;
    }
  for (std::size_t i = 0; j < n_dimensions; ++i, ++j) {
    const double x = vector[j];
    squares[i] += x * x;
  }
  const double total = ((squares[0] + squares[1]) + (squares[2] + squares[3])) +
                       ((squares[4] + squares[5]) + (squares[6] + squares[7]));
  if (!(total > 0)) return;
  const double factor = 1 / std::sqrt(total);
  for (j = 0; j < n_dimensions; ++j) vector[j] = static_cast<float>(vector[j] * factor);
}

constexpr VectorSums all{add_bytes, add_floats, to_unit};

}  // namespace

const VectorSums& vector_sums(GENUS_SIMD_LEVEL) {
  return all;
}

}  // namespace genus
