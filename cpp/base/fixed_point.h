// Exact sums of fractional numbers, as 64-bit fixed-point integers.
//
// Sums of integers do not depend on their order: merging, unlearning and any number of threads give the same
// bits, even for fractional weights.
#pragma once

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace genus {

inline constexpr int fraction_bits = 36;  // after the binary point
inline constexpr double one = static_cast<double>(std::int64_t{1} << fraction_bits);

[[noreturn]] inline void throw_overflow() {
  throw std::overflow_error("counts exceed what 64-bit fixed point holds (2**" +
                            std::to_string(63 - fraction_bits) + "); scale the weights down");
}

inline std::int64_t round_to_fixed(double scaled) {
  if (!(scaled >= 0)) throw std::invalid_argument("counts and weights must be finite and not negative");
  if (scaled >= 0x1p63) {
    if (std::isinf(scaled)) throw std::invalid_argument("counts and weights must be finite and not negative");
    throw_overflow();
  }
  return static_cast<std::int64_t>(scaled + 0.5);
}

inline std::int64_t checked_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) throw_overflow();
  return sum;
}

}  // namespace genus
