// exp, log and log1p for several numbers at once.
//
// Plain vector code that the compiler turns into the instructions of the function it is inlined into: SSE2
// in a portable function, AVX2 in one marked so. Only additions, multiplications and divisions in one order,
// never fused: every machine gives the same bits. Errors stay below 4e-16 relative (exp, for |x| < 708) and
// 4e-16 relative (log of normal numbers, log1p for x >= 0); tested against the C library.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace genus {

// Read from anywhere in memory. The attributes stand behind the name: Clang ignores `aligned` behind a type.
using Doubles __attribute__((vector_size(32), aligned(8))) = double;
using Longs __attribute__((vector_size(32), aligned(8))) = std::int64_t;
static_assert(alignof(Doubles) == alignof(double) && alignof(Longs) == alignof(std::int64_t));

inline __attribute__((always_inline)) Doubles as_doubles(Longs x) {
  return std::bit_cast<Doubles>(x);
}
inline __attribute__((always_inline)) Longs as_longs(Doubles x) {
  return std::bit_cast<Longs>(x);
}

// exp(x) = 2^k * exp(r), r = x - k log 2, |r| <= log(2)/2, by a Taylor polynomial of degree 13. Arguments
// below -708 give 0 or a tiny number, above 709 a huge one: callers keep x <= 0 or know a bound.
inline __attribute__((always_inline)) Doubles fast_exp(Doubles x) {
  constexpr double shift = 0x1.8p52;  // adding it rounds to an integer, held in the low bits
  x = x < -708.0 ? Doubles{} - 708.0 : x;
  x = x > 709.0 ? Doubles{} + 709.0 : x;
  const Doubles shifted = x * 0x1.71547652b82fep0 + shift;
  const Doubles k = shifted - shift;
  const Doubles r = (x - k * 0x1.62e42fee00000p-1) - k * 0x1.a39ef35793c76p-33;
  Doubles p = Doubles{} + 1.0 / 6227020800.0;
  constexpr double inverse_factorials[] = {
      1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
      1.0 / 120,       1.0 / 24,       1.0 / 6,       0.5,          1.0,         1.0};
  for (const double c : inverse_factorials) p = p * r + c;
  return p * as_doubles((as_longs(shifted) << 52) + (std::int64_t{1023} << 52));
}

// log(u) + lost, for u > 0. log(u) = e log 2 + 2 atanh(s) with s = (m - 1)/(m + 1) and the mantissa m between
// sqrt(1/2) and sqrt(2).
inline __attribute__((always_inline)) Doubles fast_log(Doubles u, Doubles lost = Doubles{}) {
  constexpr std::int64_t half_sqrt = 0x3fe6a09e667f3bcd;  // bits of sqrt(1/2)
  const Longs offset = as_longs(u) - half_sqrt;
  const Longs exponent = offset >> 52;
  const Doubles m = as_doubles(as_longs(u) - (exponent << 52));
  // From integer to double without a conversion instruction, which AVX2 lacks.
  const Doubles e = as_doubles((exponent + 0x4338000000000000)) - 0x1.8p52;
  const Doubles f = m - 1.0;
  const Doubles s = f / (m + 1.0);
  const Doubles z = s * s;
  Doubles p = Doubles{} + 2.0 / 23;
  constexpr double odd[] = {2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13,
                            2.0 / 11, 2.0 / 9,  2.0 / 7,  2.0 / 5,  2.0 / 3};
  for (const double c : odd) p = p * z + c;
  // 2s = f - s f: the large part is exact.
  const Doubles log_m = f - s * (f - z * p);
  return e * 0x1.62e42fee00000p-1 + (log_m + (e * 0x1.a39ef35793c76p-33 + lost));
}

// log1p(x) for x >= 0: log of u = 1 + x, plus what rounding u took away.
inline __attribute__((always_inline)) Doubles fast_log1p(Doubles x) {
  const Doubles u = 1.0 + x;
  return fast_log(u, (x - (u - 1.0)) / u);
}

}  // namespace genus
