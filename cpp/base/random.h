// Counter-based random numbers: the k-th number of a stream is a function of (seed, stream, k) alone,
// so results do not depend on which thread drew them.
#pragma once

#include <cstdint>

namespace genus {

// SplitMix64's finaliser: a bijection of 64-bit words whose output bits each depend on all input bits.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

class RandomStream {
 public:
  using result_type = std::uint64_t;

  // One independent stream for each (seed, a, b), for instance (seed, sweep, document).
  constexpr RandomStream(std::uint64_t seed, std::uint64_t a, std::uint64_t b = 0)
      : key_(mix64((mix64(mix64(seed + gamma) ^ a) + gamma) ^ b)) {}

  constexpr std::uint64_t operator()() { return mix64(key_ + gamma * ++counter_); }
  constexpr double uniform() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }  // in [0, 1)

  static constexpr std::uint64_t min() { return 0; }
  static constexpr std::uint64_t max() { return ~std::uint64_t{0}; }

 private:
  static constexpr std::uint64_t gamma = 0x9e3779b97f4a7c15ULL;
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

}  // namespace genus
