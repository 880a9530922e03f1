#include "text/unicode.h"

#include <algorithm>
#include <iterator>

namespace genus {
namespace {

#include "unicode_tables.inc"

constexpr std::uint32_t page_size = 128;
constexpr std::uint32_t capital_sigma = 0x3a3, small_sigma = 0x3c3, final_sigma = 0x3c2;

std::span<const std::uint32_t> expansion(std::uint32_t code, std::span<const std::uint32_t> keys,
                                         std::span<const std::uint32_t> offsets,
                                         const std::uint32_t* targets) {
  const auto at = std::lower_bound(keys.begin(), keys.end(), code) - keys.begin();
  return {targets + offsets[at], targets + offsets[at + 1]};
}

// A sigma ends a word when a cased letter comes before it and none after it, not counting ignorable ones.
bool ends_word(std::span<const std::uint32_t> text, std::size_t i) {
  const auto cased_beyond = [&](auto begin, auto end) {
    const auto found =
        std::find_if(begin, end, [](std::uint32_t c) { return !character(c).is(Character::case_ignorable); });
    return found != end && character(*found).is(Character::cased);
  };
  const auto before = std::make_reverse_iterator(text.begin() + static_cast<std::ptrdiff_t>(i));
  return cased_beyond(before, text.rend()) &&
         !cased_beyond(text.begin() + static_cast<std::ptrdiff_t>(i) + 1, text.end());
}

void append_hangul(std::uint32_t code, std::vector<std::uint32_t>& out) {
  const std::uint32_t index = code - 0xac00;
  out.push_back(0x1100 + index / (21 * 28));
  out.push_back(0x1161 + index % (21 * 28) / 28);
  if (index % 28 != 0) out.push_back(0x11a7 + index % 28);
}

}  // namespace

const Character& character(std::uint32_t code) {
  if (code >= 0x110000) code = 0xfffd;  // only damaged UTF-8 can lead here
  return records[pages[page_of[code / page_size] * page_size + code % page_size]];
}

void append_lower(std::span<const std::uint32_t> text, std::vector<std::uint32_t>& out) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::uint32_t code = text[i];
    if (code < 0x80) {
      out.push_back(code - 'A' < 26 ? code | 0x20 : code);
      continue;
    }
    const Character& c = character(code);
    if (code == capital_sigma) {
      out.push_back(ends_word(text, i) ? final_sigma : small_sigma);
    } else if (c.is(Character::lower_expands)) {
      const auto more = expansion(code, lower_keys, lower_offsets, lower_targets);
      out.insert(out.end(), more.begin(), more.end());
    } else {
      out.push_back(code + static_cast<std::uint32_t>(c.lower_delta));
    }
  }
}

void append_without_accents(std::span<const std::uint32_t> text, bool ascii_only,
                            std::vector<std::uint32_t>& out) {
  const std::size_t first = out.size();
  for (const std::uint32_t code : text) {
    const Character& c = character(code);
    if (!c.is(Character::decomposes)) {
      if (!c.is(Character::combining)) out.push_back(code);
    } else if (0xac00 <= code && code <= 0xd7a3) {
      append_hangul(code, out);
    } else {
      const auto parts = expansion(code, decompose_keys, decompose_offsets, decompose_targets);
      out.insert(out.end(), parts.begin(), parts.end());
    }
  }
  if (ascii_only) {
    const auto begin = out.begin() + static_cast<std::ptrdiff_t>(first);
    out.erase(std::remove_if(begin, out.end(), [](std::uint32_t c) { return c >= 128; }), out.end());
  }
}

}  // namespace genus
