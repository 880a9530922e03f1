// The hash of words and n-grams. Model files depend on it: changing it needs a new format version.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace genus {

static_assert(std::endian::native == std::endian::little, "genus stores words and arrays little-endian");

// How many bytes past its end a token may be read. Buffers that hold tokens are padded by this much.
constexpr std::size_t token_padding = 16;

// The first 16 bytes of a token, zero beyond its length.
struct Head {
  std::uint64_t low, high;
  bool operator==(const Head&) const = default;
};

inline std::uint64_t load64(const char* p) {
  std::uint64_t x;
  std::memcpy(&x, p, sizeof x);
  return x;
}

inline std::uint64_t low_bytes(std::uint64_t x, std::size_t n) {  // keeps n < 8 bytes
  return x & ((std::uint64_t{1} << (8 * n)) - 1);
}

inline Head head_of(const char* p, std::size_t length) {
  if (length >= 16) return {load64(p), load64(p + 8)};
  if (length >= 8) return {load64(p), low_bytes(load64(p + 8), length - 8)};
  return {low_bytes(load64(p), length), 0};
}

// A text this short fits into one number: its bytes, and its length above them.
constexpr std::size_t longest_brief = 7;
inline std::uint64_t brief_key(const char* p, std::size_t length) {
  return low_bytes(load64(p), length) | static_cast<std::uint64_t>(length) << 56;
}

// 64 x 64 -> 128 bit multiplication, folded: the fast strong mixer of the wyhash family.
__extension__ using Wide = unsigned __int128;
inline std::uint64_t fold_multiply(std::uint64_t a, std::uint64_t b) {
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline std::uint64_t hash_token(const char* p, std::size_t length) {
  constexpr std::uint64_t k0 = 0xa0761d6478bd642fULL, k1 = 0xe7037ed1a0b428dbULL, k2 = 0x8ebc6af09c88c6e3ULL;
  Head head = head_of(p, length);
  std::uint64_t h = fold_multiply(head.low ^ k0, head.high ^ k1);
  for (std::size_t i = 16; i < length; i += 16) {
    head = head_of(p + i, length - i);
    h = fold_multiply(head.low ^ k0 ^ h, head.high ^ k1);
  }
  return fold_multiply(h ^ k1, length ^ k2);
}

// The hash of an n-gram from that of its first n - 1 words and of its last word.
inline std::uint64_t hash_join(std::uint64_t prefix, std::uint64_t last) {
  constexpr std::uint64_t k3 = 0x589965cc75374cc3ULL, k4 = 0x1d8e4e27c47d124fULL;
  return fold_multiply(prefix ^ k3, last ^ k4);
}

}  // namespace genus
