// The vector loops of quantized scores, in the widest vectors that the running machine has.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <tuple>

#include "base/csr.h"
#include "base/simd.h"
#include "tables/quantized_table.h"

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

// The weights of a document's words, with their signs and without.
struct RowSums {
  double length = 0, size = 0;
};

// sums = sum over entries first ... last - 1 of their weights times rows in order (quantized_table.h).
// Element i is for rows of i + 1 vectors.
template <class Value>
using AddRows = std::array<void (*)(std::span<const float> rows, const Csr<Value>& documents,
                                    std::int64_t first, std::int64_t last, float* sums, RowSums& weights),
                           most_in_order>;

// How many terms are added apart depends on the width of vectors: bits differ between levels, never by more
// than rounding.
struct QuantizedKernels {
  // sums = sum over terms of x * row, for all classes of `width`, whole blocks. Cost: 2 bytes, one conversion
  // and one multiply-add per term and class.
  void (*add_terms)(std::span<const RowTerm> terms, const std::int16_t* rows, std::int64_t width,
                    float* sums);
  // scores = bias + (length * uniform + step * sums)
  LargestByLane (*finish)(const float* sums, double step, const double* bias, const double* uniform,
                          double length, std::int64_t width, double* scores);
  std::tuple<AddRows<float>, AddRows<double>, AddRows<std::int64_t>> add_rows;
};

const QuantizedKernels& quantized_kernels(Baseline);
const QuantizedKernels& quantized_kernels(V3);
const QuantizedKernels& quantized_kernels(V4);
inline const QuantizedKernels& quantized_kernels(SimdLevel level = simd_level()) {
  return at_simd_level(level, [](auto tag) -> const QuantizedKernels& { return quantized_kernels(tag); });
}

}  // namespace genus
