#include "text/unicode.h"

#include <algorithm>
#include <iterator>

namespace genus {
namespace {

struct CompiledVersion {
  std::string_view version;
  std::span<const std::uint16_t> page_of;
};

#include "unicode_tables.inc"

constexpr std::uint32_t page_size = 128;
constexpr std::uint32_t capital_sigma = 0x3a3, small_sigma = 0x3c3, final_sigma = 0x3c2;

constexpr CharacterTable compiled(const CompiledVersion& version) {
  return {records,
          version.page_of,
          pages,
          {lower_keys, lower_offsets, lower_targets},
          {nfkd_keys, nfkd_offsets, nfkd_targets}};
}

// The state of the whole process, as the interpreter's own tables are.
constinit CharacterTable table = compiled(*std::rbegin(compiled_versions));

std::span<const std::uint32_t> expansion(std::uint32_t code, const Expansions& all) {
  const auto at =
      static_cast<std::size_t>(std::lower_bound(all.keys.begin(), all.keys.end(), code) - all.keys.begin());
  return all.targets.subspan(all.offsets[at], all.offsets[at + 1] - all.offsets[at]);
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
  return table.records[table.pages[table.page_of[code / page_size] * page_size + code % page_size]];
}

bool use_unicode(std::string_view version) {
  const auto found = std::ranges::find(compiled_versions, version, &CompiledVersion::version);
  if (found == std::end(compiled_versions)) return false;
  table = compiled(*found);
  return true;
}

void use_characters(const CharacterTable& other) {
  table = other;
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
      const auto more = expansion(code, table.lower);
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
      const auto parts = expansion(code, table.nfkd);
      out.insert(out.end(), parts.begin(), parts.end());
    }
  }
  if (ascii_only) {
    const auto begin = out.begin() + static_cast<std::ptrdiff_t>(first);
    out.erase(std::remove_if(begin, out.end(), [](std::uint32_t c) { return c >= 128; }), out.end());
  }
}

}  // namespace genus
