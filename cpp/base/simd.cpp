#include "base/simd.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace genus {
namespace {

constexpr std::array<std::string_view, 3> names{"baseline", "v3", "v4"};  // in the order of SimdLevel

#if defined(__x86_64__)

// The registers that the operating system saves when it switches between processes.
std::uint64_t saved_registers() {
  std::uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32 | low;
}

// Asked of the processor itself: not every compiler's run-time library can tell.
SimdLevel level_of_machine() {
  const auto has = [](std::uint32_t bits, std::uint32_t all) { return (bits & all) == all; };
  std::uint32_t a, b, c, d;
  constexpr std::uint32_t fma = 1U << 12, movbe = 1U << 22, xsave = 1U << 27, avx = 1U << 28, f16c = 1U << 29;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !has(c, fma | movbe | xsave | avx | f16c))
    return SimdLevel::baseline;
  const auto saved = saved_registers();
  constexpr std::uint64_t avx_state = 0x06, avx512_state = 0xe6;
  constexpr std::uint32_t lzcnt = 1U << 5;
  if ((saved & avx_state) != avx_state) return SimdLevel::baseline;
  if (!__get_cpuid(0x80000001, &a, &b, &c, &d) || !has(c, lzcnt)) return SimdLevel::baseline;
  constexpr std::uint32_t bmi1 = 1U << 3, avx2 = 1U << 5, bmi2 = 1U << 8;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !has(b, bmi1 | avx2 | bmi2)) return SimdLevel::baseline;
  constexpr std::uint32_t foundation = 1U << 16, dq = 1U << 17, cd = 1U << 28, bw = 1U << 30, vl = 1U << 31;
  const bool wide = (saved & avx512_state) == avx512_state && has(b, foundation | dq | cd | bw | vl);
  return wide ? SimdLevel::v4 : SimdLevel::v3;
}

#else

SimdLevel level_of_machine() {
  return SimdLevel::baseline;
}

#endif

}  // namespace

std::vector<std::string_view> usable_simd_levels() {
  return {names.begin(), names.begin() + static_cast<int>(level_of_machine()) + 1};
}

SimdLevel usable_simd_level(std::string_view name) {
  const auto usable = usable_simd_levels();
  const auto at = std::find(usable.begin(), usable.end(), name);
  if (at == usable.end())
    throw std::invalid_argument("this machine has no SIMD level '" + std::string(name) + "'");
  return static_cast<SimdLevel>(at - usable.begin());
}

SimdLevel simd_level() {
  static const auto level = [] {
    const char* const wanted = std::getenv("GENUS_SIMD");
    return wanted ? usable_simd_level(wanted) : level_of_machine();
  }();
  return level;
}

}  // namespace genus
