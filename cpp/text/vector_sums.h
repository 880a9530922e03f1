// Sums of the rows of a table of vectors, and their lengths.
//
// Per row and 64 dimensions of bytes: one cache line read, 64 conversions, multiplications and additions.
// Sums are read and written once for every four rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/simd.h"

namespace genus {

// Rows are added in the order they come, no multiplication and addition is fused, and squares are summed in
// fixed chains: every machine gives the same bits.
struct VectorSums {
  // sums[j] += scales[r] * vectors[r * n_dimensions + j] for all j and each of n rows r.
  void (*add_bytes)(const std::int8_t* vectors, const float* scales, std::size_t n_dimensions,
                    const std::int32_t* rows, std::size_t n, float* sums);
  void (*add_floats)(const float* vectors, std::size_t n_dimensions, const std::int32_t* rows, std::size_t n,
                     float* sums);
  // Scales a vector to length one; zeros stay zeros.
  void (*to_unit)(float* vector, std::size_t n_dimensions);
};

const VectorSums& vector_sums(Baseline);
const VectorSums& vector_sums(V3);
const VectorSums& vector_sums(V4);
inline const VectorSums& vector_sums(SimdLevel level = simd_level()) {
  return at_simd_level(level, [](auto tag) -> const VectorSums& { return vector_sums(tag); });
}

}  // namespace genus
