#include "tables/quantized_kernels.h"

#if defined(__x86_64__) && !defined(__clang__)
#include <immintrin.h>
#endif

#include <cstring>
#include <limits>
#include <vector>

namespace genus {
namespace {

template <std::int64_t lanes>
using Vector __attribute__((vector_size(lanes * sizeof(float)))) = float;

// The same loops for any machine, and for those with wider vectors. Compilers convert 16 bits by detours,
// where a machine has an instruction for it. (Clang does not know the pragmas.)
namespace portable {
constexpr std::int64_t lanes = 4;
constexpr int most_vectors = 12;
using Floats = Vector<lanes>;
inline Floats load(const std::int16_t* steps) {
  using Steps __attribute__((vector_size(lanes * sizeof(std::int16_t)))) = std::int16_t;
  using Wholes __attribute__((vector_size(lanes * sizeof(std::int32_t)))) = std::int32_t;
  Steps loaded;
  std::memcpy(&loaded, steps, sizeof loaded);
  return __builtin_convertvector(__builtin_convertvector(loaded, Wholes), Floats);
}
#include "tables/quantized_loops.inc"
}  // namespace portable

#if defined(__x86_64__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC target("avx2,fma")
namespace avx2 {
constexpr std::int64_t lanes = 8;
constexpr int most_vectors = 12;
using Floats = Vector<lanes>;
inline Floats load(const std::int16_t* steps) {
  return _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(steps))));
}
#include "tables/quantized_loops.inc"
}  // namespace avx2
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl")
namespace avx512 {
constexpr std::int64_t lanes = 16;
constexpr int most_vectors = 16;
using Floats = Vector<lanes>;
inline Floats load(const std::int16_t* steps) {
  return _mm512_cvtepi32_ps(
      _mm512_cvtepi16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(steps))));
}
#include "tables/quantized_loops.inc"
}  // namespace avx512
#pragma GCC pop_options
#endif

}  // namespace

std::span<const RoughKernels* const> usable_rough_kernels() {
  static const auto usable = [] {
    std::vector<const RoughKernels*> found;
#if defined(__x86_64__) && !defined(__clang__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
      found.push_back(&avx512::all);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) found.push_back(&avx2::all);
#endif
    found.push_back(&portable::all);
    return found;
  }();
  return usable;
}

}  // namespace genus
