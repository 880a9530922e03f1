// Loops over one block of documents, in the widest vectors that the running machine has.
#pragma once

#include <cstdint>

#include "base/simd.h"

namespace genus {

// Documents of a block at most: one number for each stays in the second cache.
inline constexpr std::int64_t block_size = 8192;

// Slots lie below block_size: others, from a damaged file, are cut to it. No fused multiply-add and fixed
// chains of additions: every machine gives the same bits.
struct VectorLoops {
  void (*add)(const std::uint16_t* slots, const double* values, std::int64_t n, double x, double* sums);
  void (*add_full)(const double* values, std::int64_t n, double x, double* sums);
  // Multiplies products, keeps the old ones, and gives what they gain in all. put() puts the old ones back.
  double (*raise)(const std::uint16_t* slots, const double* factors, std::int64_t n, double* products,
                  double* old);
  // The same, each gain added to sums[part_of[slot]].
  void (*raise_parts)(const std::uint16_t* slots, const double* factors, std::int64_t n,
                      const std::uint16_t* part_of, double* products, double* old, double* sums);
  void (*put)(const std::uint16_t* slots, const double* old, std::int64_t n, double* products);
  void (*multiply_full)(const double* products, const double* factors, std::int64_t n, double* out);
  // sums += x * log1p(gain * frequency)
  void (*add_log1p)(const std::uint16_t* slots, const double* frequencies, std::int64_t n, double gain,
                    double x, double* sums);
  double (*sum)(const double* values, std::int64_t n);
  double (*largest)(const double* values, std::int64_t n);
  double (*sum_exp)(const double* values, const double* weights, std::int64_t n, double scale);
  void (*exp)(double* values, std::int64_t n);
  void (*scaled_exp)(const double* values, std::int64_t n, double x, double* out);
  void (*log)(double* values, std::int64_t n);
  void (*log1p)(double* values, std::int64_t n);
};

const VectorLoops& vector_loops(Baseline);
const VectorLoops& vector_loops(V3);
const VectorLoops& vector_loops(V4);
inline const VectorLoops& vector_loops(SimdLevel level = simd_level()) {
  return at_simd_level(level, [](auto tag) -> const VectorLoops& { return vector_loops(tag); });
}

}  // namespace genus
