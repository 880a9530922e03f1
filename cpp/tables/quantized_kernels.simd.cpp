#include "tables/quantized_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace genus {
namespace {

// What a vector register holds, and how many of them a loop may keep its sums in.
constexpr bool has_avx2 = !std::is_same_v<GENUS_SIMD_LEVEL, Baseline>;
constexpr bool has_avx512 = std::is_same_v<GENUS_SIMD_LEVEL, V4>;
constexpr std::int64_t lanes = has_avx512 ? 16 : has_avx2 ? 8 : 4;
constexpr int most_vectors = has_avx512 ? 16 : 12;

using Floats __attribute__((vector_size(lanes * sizeof(float)))) = float;

// Compilers convert 16 bits by detours where a machine has an instruction for it.
#if defined(__AVX512BW__)
Floats load(const std::int16_t* steps) {
  return _mm512_cvtepi32_ps(
      _mm512_cvtepi16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(steps))));
}
#elif defined(__AVX2__)
Floats load(const std::int16_t* steps) {
  return _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(steps))));
}
#else
Floats load(const std::int16_t* steps) {
  using Steps __attribute__((vector_size(lanes * sizeof(std::int16_t)))) = std::int16_t;
  using Wholes __attribute__((vector_size(lanes * sizeof(std::int32_t)))) = std::int32_t;
  Steps loaded;
  std::memcpy(&loaded, steps, sizeof loaded);
  return __builtin_convertvector(__builtin_convertvector(loaded, Wholes), Floats);
}
#endif

// For `count` vectors from class c on. Each addition waits for the one before: with few vectors, even and odd
// terms are added apart.
template <int count>
void add_vectors(std::span<const RowTerm> terms, const std::int16_t* rows, std::int64_t width, std::int64_t c,
                 float* sums) {
  constexpr std::size_t chains = count < 4 ? 2 : 1;
  Floats totals[chains][count] = {};
  const auto add = [&](const RowTerm& term, std::size_t chain) __attribute__((always_inline)) {
    const std::int16_t* const row = rows + term.row * width + c;
    for (int i = 0; i < count; ++i) totals[chain][i] += term.x * load(row + i * lanes);
  };
  std::size_t t = 0;
  for (; t + chains <= terms.size(); t += chains)
    for (std::size_t chain = 0; chain < chains; ++chain) add(terms[t + chain], chain);
  if (t < terms.size()) add(terms[t], 0);
  for (int i = 0; i < count; ++i) {
    Floats sum = totals[0][i];
    if constexpr (chains == 2) sum += totals[1][i];
    std::memcpy(sums + c + i * lanes, &sum, sizeof sum);
  }
}

// The last vectors in one pass, `count` at most: another pass would read all terms again.
template <int count>
void add_last(std::span<const RowTerm> terms, const std::int16_t* rows, std::int64_t width, std::int64_t c,
              float* sums) {
  if constexpr (count > 0) {
    if (width - c == count * lanes) return add_vectors<count>(terms, rows, width, c, sums);
    add_last<count - 1>(terms, rows, width, c, sums);
  }
}

void add_terms(std::span<const RowTerm> terms, const std::int16_t* rows, std::int64_t width, float* sums) {
  std::int64_t c = 0;
  for (; width - c > most_vectors * lanes; c += most_vectors * lanes)
    add_vectors<most_vectors>(terms, rows, width, c, sums);
  add_last<most_vectors>(terms, rows, width, c, sums);
}

LargestByLane finish(const float* sums, double step, const double* bias, const double* uniform, double length,
                     std::int64_t width, double* scores) {
  constexpr std::int64_t half = lanes / 2, count = block_of_classes / half;  // a double has twice the bytes
  using Doubles __attribute__((vector_size(half * sizeof(double)))) = double;
  using HalfFloats __attribute__((vector_size(half * sizeof(float)))) = float;
  Doubles largest[count];
  for (Doubles& numbers : largest) numbers = Doubles{} - std::numeric_limits<double>::infinity();
  for (std::int64_t block = 0; block < width; block += block_of_classes) {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto c = block + i * half;
      Doubles b, u;
      HalfFloats s;
      std::memcpy(&b, bias + c, sizeof b);
      std::memcpy(&u, uniform + c, sizeof u);
      std::memcpy(&s, sums + c, sizeof s);
      const Doubles score = b + (length * u + step * __builtin_convertvector(s, Doubles));
      std::memcpy(scores + c, &score, sizeof score);
      largest[i] = largest[i] < score ? score : largest[i];
    }
  }
  LargestByLane out;
  std::memcpy(out.data(), largest, sizeof largest);
  return out;
}

// Word w has row w of `count` vectors.
template <int count, class Value>
void add_rows(std::span<const float> rows, const Csr<Value>& documents, std::int64_t first, std::int64_t last,
              float* sums, RowSums& weights) {
  using Row __attribute__((vector_size(lanes_in_order * sizeof(float)))) = float;
  constexpr std::int64_t width = count * lanes_in_order, ahead = 16;
  const float* const start = rows.data();
  const auto n_words = static_cast<std::uint64_t>(rows.size()) / width;
  const auto last_entry = documents.entries() - 1;
  double length = 0, size = 0;
  Row totals[count] = {};
  for (auto k = first; k < last; ++k) {
    const auto later = static_cast<std::uint64_t>(documents.indices[std::min(k + ahead, last_entry)]);
    const float* const later_row = start + (later < n_words ? later : 0) * width;
    __builtin_prefetch(later_row);
    __builtin_prefetch(later_row + width - 1);
    const auto w = static_cast<std::uint64_t>(documents.indices[k]);
    if (w >= n_words) continue;
    const auto x = static_cast<double>(documents.values[k]);
    length += x;
    size += std::abs(x);
    for (int i = 0; i < count; ++i) {
      Row values;
      std::memcpy(&values, start + w * width + i * lanes_in_order, sizeof values);
      totals[i] += static_cast<float>(x) * values;
    }
  }
  std::memcpy(sums, totals, sizeof totals);
  weights = {length, size};
}

template <class Value, int... counts>
constexpr AddRows<Value> add_rows_by_count(std::integer_sequence<int, counts...>) {
  return {{add_rows<counts + 1, Value>...}};
}
template <class Value>
constexpr auto all_add_rows = add_rows_by_count<Value>(std::make_integer_sequence<int, most_in_order>());

constexpr QuantizedKernels all{
    add_terms, finish, {all_add_rows<float>, all_add_rows<double>, all_add_rows<std::int64_t>}};

}  // namespace

const QuantizedKernels& quantized_kernels(GENUS_SIMD_LEVEL) {
  return all;
}

}  // namespace genus
