#include "text/vector_sums.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace genus {
namespace {

// Numbers of one register, and as many registers as hold the sums of a block of dimensions.
constexpr std::size_t lanes = std::is_same_v<GENUS_SIMD_LEVEL, V4>   ? 16
                              : std::is_same_v<GENUS_SIMD_LEVEL, V3> ? 8
                                                                     : 4;
constexpr std::size_t registers = 8;
constexpr std::size_t rows_at_once = 64;  // they stay in the core's own cache while blocks go over them

using Floats __attribute__((vector_size(lanes * 4), aligned(4))) = float;
using Integers __attribute__((vector_size(lanes * 4), aligned(4))) = std::int32_t;
using Bytes __attribute__((vector_size(lanes), aligned(1))) = std::int8_t;
static_assert(alignof(Floats) == 4 && alignof(Bytes) == 1);

struct ByteRows {
  using Value = std::int8_t;
  const std::int8_t* vectors;
  const float* scales;

  float scale(std::size_t row) const { return scales[row]; }
  static Floats load(const std::int8_t* from, float scale) {
    const Bytes bytes = *reinterpret_cast<const Bytes*>(from);
    return scale * __builtin_convertvector(__builtin_convertvector(bytes, Integers), Floats);
  }
  static float load_one(const std::int8_t* from, float scale) { return scale * static_cast<float>(*from); }
};

struct FloatRows {
  using Value = float;
  const float* vectors;

  static float scale(std::size_t) { return 1; }
  static Floats load(const float* from, float) { return *reinterpret_cast<const Floats*>(from); }
  static float load_one(const float* from, float) { return *from; }
};

// The dimensions of n_registers registers, from `first` on.
template <std::size_t n_registers, class Rows>
void add_block(const Rows& table, std::size_t n_dimensions, std::size_t first, const std::int32_t* rows,
               std::size_t n, float* sums) {
  Floats block[n_registers];
  for (std::size_t i = 0; i < n_registers; ++i)
    block[i] = *reinterpret_cast<const Floats*>(sums + first + i * lanes);
  for (std::size_t k = 0; k < n; ++k) {
    const auto row = static_cast<std::size_t>(rows[k]);
    const auto* const from = table.vectors + row * n_dimensions + first;
    const float scale = table.scale(row);
    for (std::size_t i = 0; i < n_registers; ++i) block[i] += Rows::load(from + i * lanes, scale);
  }
  for (std::size_t i = 0; i < n_registers; ++i)
    *reinterpret_cast<Floats*>(sums + first + i * lanes) = block[i];
}

template <class Rows>
void add(const Rows& table, std::size_t n_dimensions, const std::int32_t* rows, std::size_t n, float* sums) {
  for (std::size_t begin = 0; begin < n; begin += rows_at_once) {
    const auto count = std::min(rows_at_once, n - begin);
    const auto* const some = rows + begin;
    std::size_t j = 0;
    for (; j + registers * lanes <= n_dimensions; j += registers * lanes)
      add_block<registers>(table, n_dimensions, j, some, count, sums);
    for (; j + lanes <= n_dimensions; j += lanes) add_block<1>(table, n_dimensions, j, some, count, sums);
    for (; j < n_dimensions; ++j)
      for (std::size_t k = 0; k < count; ++k) {
        const auto row = static_cast<std::size_t>(some[k]);
        sums[j] += Rows::load_one(table.vectors + row * n_dimensions + j, table.scale(row));
      }
  }
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
  const double length = std::sqrt(total);
  for (j = 0; j < n_dimensions; ++j) vector[j] = static_cast<float>(vector[j] / length);
}

constexpr VectorSums all{add_bytes, add_floats, to_unit};

}  // namespace

const VectorSums& vector_sums(GENUS_SIMD_LEVEL) {
  return all;
}

}  // namespace genus
