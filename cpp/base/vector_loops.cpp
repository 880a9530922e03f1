#include "base/vector_loops.h"

#include <algorithm>
#include <limits>

#include "base/fastmath.h"
#include "documents/inverted_index.h"

namespace genus {
namespace {

// The same loops twice: for any machine, and for one with AVX2.
namespace portable {
#include "base/vector_loops.inc"
}

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2")
namespace avx2 {
#include "base/vector_loops.inc"
}
#pragma GCC pop_options
#endif

}  // namespace

const BlockKernels& block_kernels() {
#if defined(__x86_64__)
  static const bool wide = __builtin_cpu_supports("avx2");
  if (wide) return avx2::all;
#endif
  return portable::all;
}

const BlockKernels& portable_block_kernels() {
  return portable::all;
}

}  // namespace genus
