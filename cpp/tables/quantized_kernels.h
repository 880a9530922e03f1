// The vector loops of rough scores, in the widest vectors that the running machine has.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace genus {

// Rows and scores are filled up to whole blocks of so many classes.
constexpr std::int64_t block_of_classes = 16;

// x times a row of steps.
struct RowTerm {
  std::int32_t row;
  float x;
};

// The largest of the scores whose classes are i, i + block_of_classes, ...
using LargestByLane = std::array<double, block_of_classes>;

// Multiplications and additions may be fused: bits differ between machines, never by more than rounding.
struct RoughKernels {
  // sums = sum over terms of x * row, for all classes of `width`, whole blocks. Cost: 2 bytes, one conversion
  // and one multiply-add per term and class.
  void (*add_terms)(std::span<const RowTerm> terms, const std::int16_t* rows, std::int64_t width,
                    float* sums);
  // scores = bias + (length * uniform + step * sums)
  LargestByLane (*finish)(const float* sums, double step, const double* bias, const double* uniform,
                          double length, std::int64_t width, double* scores);
};

// Those that the running machine can use, the fastest first.
std::span<const RoughKernels* const> usable_rough_kernels();

inline const RoughKernels& rough_kernels() {
  return *usable_rough_kernels().front();
}

}  // namespace genus
