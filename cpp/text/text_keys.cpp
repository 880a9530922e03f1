#include "text/text_keys.h"

#include <cstring>
#include <string>

#include "base/parallel.h"

namespace genus {
namespace {

std::uint64_t hash_bytes(const char* p, std::size_t length) {
  constexpr std::uint64_t k0 = 0x2d358dccaa6c78a5ULL, k1 = 0x8bb84b93962eacc9ULL, k2 = 0x4b33a62ed433d4a3ULL;
  std::uint64_t h = k2;
  std::size_t i = 0;
  for (; i + 16 <= length; i += 16) h = fold_multiply(load64(p + i) ^ k0 ^ h, load64(p + i + 8) ^ k1 ^ h);
  char tail[16] = {};
  std::memcpy(tail, p + i, length - i);
  h = fold_multiply(load64(tail) ^ k0 ^ h, load64(tail + 8) ^ k1 ^ h);
  return fold_multiply(h ^ k1, length ^ k2);
}

void append_utf8(std::uint32_t c, std::string& out) {
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  const auto follow = [&](int shift) { put(0x80 | (c >> shift & 0x3f)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0 | c >> 6);
    follow(0);
  } else if (c < 0x10000) {
    put(0xe0 | c >> 12);
    follow(6);
    follow(0);
  } else {
    put(0xf0 | c >> 18);
    follow(12);
    follow(6);
    follow(0);
  }
}

template <class Unit>
std::uint64_t hash_encoded(const Text& text, std::string& buffer) {
  const auto* units = static_cast<const Unit*>(text.data);
  buffer.clear();
  for (std::size_t i = 0; i < text.length; ++i) append_utf8(units[i], buffer);
  return hash_bytes(buffer.data(), buffer.size());
}

std::uint64_t hash_of(const Text& text, std::string& buffer) {
  switch (text.encoding) {
    case Text::Encoding::latin1:
      return hash_encoded<std::uint8_t>(text, buffer);
    case Text::Encoding::ucs2:
      return hash_encoded<std::uint16_t>(text, buffer);
    case Text::Encoding::ucs4:
      return hash_encoded<std::uint32_t>(text, buffer);
    default:
      return text.length ? hash_bytes(static_cast<const char*>(text.data), text.length) : hash_bytes("", 0);
  }
}

}  // namespace

std::vector<std::uint64_t> text_keys(std::span<const Text> texts, int n_threads) {
  const auto n = static_cast<std::int64_t>(texts.size());
  std::vector<std::uint64_t> keys(texts.size());
  constexpr std::int64_t most = 4096;
  parallel_ranges(n, even_grain(n, most, n_threads), n_threads, [&](std::int64_t begin, std::int64_t end) {
    std::string buffer;
    for (auto i = begin; i < end; ++i) {
      const auto at = static_cast<std::size_t>(i);
      keys[at] = hash_of(texts[at], buffer);
    }
  });
  return keys;
}

}  // namespace genus
