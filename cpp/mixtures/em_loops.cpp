#include "mixtures/em_loops.h"

#include "base/fastmath.h"

namespace genus {
namespace {

// The same loops twice: for any machine, and for one with AVX2. (AVX-512 was measured to gain nothing: what
// takes the time is rows on their way from the outer caches.)
namespace portable {
#include "mixtures/em_loops.inc"
}

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2")
namespace avx2 {
#include "mixtures/em_loops.inc"
}
#pragma GCC pop_options
#endif

}  // namespace

const EmLoops& em_loops() {
#if defined(__x86_64__)
  static const bool wide = __builtin_cpu_supports("avx2");
  if (wide) return avx2::all;
#endif
  return portable::all;
}

const EmLoops& portable_em_loops() {
  return portable::all;
}

}  // namespace genus
