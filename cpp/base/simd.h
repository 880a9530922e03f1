// Vector code for the machine that runs it.
//
// A file NAME.simd.cpp is compiled once for each level, with the flags of that level and GENUS_SIMD_LEVEL
// naming its tag (CMakeLists.txt). It defines one function, `const Kernels& name(GENUS_SIMD_LEVEL)`, whose
// declarations for all levels stand in NAME.h beside a function `name(level)` that picks one of them. The
// level is detected once. Everything else in such a file has internal linkage: an inline function that two
// levels share would be linked once, perhaps with instructions that the machine lacks (`make portable` looks
// for such).
#pragma once

#include <string_view>
#include <vector>

namespace genus {

// x86-64 as it began (SSE2), with AVX2 and FMA (x86-64-v3), with AVX-512 (x86-64-v4). Other architectures
// have the first alone, which is NEON on arm64.
enum class SimdLevel { baseline, v3, v4 };

struct Baseline {};
struct V3 {};
struct V4 {};

// The highest level of this machine. The environment variable GENUS_SIMD may name a lower one: for tests.
SimdLevel simd_level();

// The names of all levels of this machine ("baseline", "v3", "v4"), from the lowest up, and the level that
// has such a name.
std::vector<std::string_view> usable_simd_levels();
SimdLevel usable_simd_level(std::string_view name);

// choose(tag) of a level.
template <class Choose>
decltype(auto) at_simd_level([[maybe_unused]] SimdLevel level, Choose choose) {
#if defined(__x86_64__)
  if (level == SimdLevel::v4) return choose(V4{});
  if (level == SimdLevel::v3) return choose(V3{});
#endif
  return choose(Baseline{});
}

}  // namespace genus
