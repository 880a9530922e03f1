#include "text/tokenizer.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <array>

#include "text/unicode.h"

namespace genus {
namespace {

using Encoding = Text::Encoding;
using Analyzer = TokenizerOptions::Analyzer;

char* append_utf8(std::uint32_t c, char* out) {
  const auto put = [&](std::uint32_t byte) { *out++ = static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0 | c >> 6), put(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {  // lone surrogates included, as Python's "surrogatepass" does
    put(0xe0 | c >> 12), put(0x80 | (c >> 6 & 0x3f)), put(0x80 | (c & 0x3f));
  } else {
    put(0xf0 | c >> 18), put(0x80 | (c >> 12 & 0x3f)), put(0x80 | (c >> 6 & 0x3f)), put(0x80 | (c & 0x3f));
  }
  return out;
}

// Decodes UTF-8, with U+FFFD for each byte that cannot be part of it. Never reads past the end.
void decode_utf8(const unsigned char* p, std::size_t n, std::vector<std::uint32_t>& out) {
  for (std::size_t i = 0; i < n;) {
    const std::uint32_t lead = p[i];
    const std::size_t more = lead < 0x80   ? 0
                             : lead < 0xc2 ? 4
                             : lead < 0xe0 ? 1
                             : lead < 0xf0 ? 2
                             : lead < 0xf5 ? 3
                                           : 4;
    std::uint32_t code = more == 0 ? lead : lead & (0x3f >> more);
    bool good = more < 4 && more < n - i;
    for (std::size_t k = 1; good && k <= more; ++k) {
      good = (p[i + k] & 0xc0) == 0x80;
      code = code << 6 | (p[i + k] & 0x3f);
    }
    out.push_back(good ? code : 0xfffd);
    i += good ? more + 1 : 1;
  }
}

bool is_ascii(const Text& text) {
  if (text.encoding == Encoding::ascii) return true;
  if (text.encoding != Encoding::utf8) return false;
  const auto* p = static_cast<const unsigned char*>(text.data);
  unsigned char any = 0;
  for (std::size_t i = 0; i < text.length; ++i) any |= p[i];
  return any < 0x80;
}

// UTF-8 of the first 256 characters, written with a byte for each; false where there are others, or damaged
// bytes.
bool to_latin1(const Text& text, std::vector<std::uint8_t>& out) {
  const auto* p = static_cast<const std::uint8_t*>(text.data);
  out.resize(text.length);
  std::size_t n = 0;
  for (std::size_t i = 0; i < text.length; ++i) {
    const std::uint8_t byte = p[i];
    if (byte < 0x80) {
      out[n++] = byte;
      continue;
    }
    if ((byte != 0xc2 && byte != 0xc3) || i + 1 == text.length || (p[i + 1] & 0xc0) != 0x80) return false;
    out[n++] = static_cast<std::uint8_t>(byte << 6 | (p[++i] & 0x3f));
  }
  out.resize(n);
  return true;
}

// The first 256 characters as a table: none of them grows or looks at its neighbours when lowered.
struct Latin1 {
  std::array<std::uint8_t, 256> lower;
  std::array<bool, 256> word, nonspace;

  Latin1() {
    for (std::uint32_t code = 0; code < 256; ++code) {
      const Character& c = character(code);
      lower[code] = static_cast<std::uint8_t>(static_cast<std::int32_t>(code) + c.lower_delta);
      word[code] = c.is(Character::word);
      nonspace[code] = !c.is(Character::space);
    }
  }
};

Token make_token(const char* data, std::size_t length) {
  return {data, hash_token(data, length), static_cast<std::uint32_t>(length)};
}

// Lower-cases 64 ASCII bytes and tells, a bit each, which are \w (or not \s).
#if defined(__SSE2__)
template <bool lowercase, bool nonspace>
std::uint64_t scan_block(const char* in, char* out) {
  const auto between = [](__m128i x, char low, char high) {
    return _mm_and_si128(_mm_cmpgt_epi8(x, _mm_set1_epi8(static_cast<char>(low - 1))),
                         _mm_cmplt_epi8(x, _mm_set1_epi8(static_cast<char>(high + 1))));
  };
  std::uint64_t mask = 0;
  for (int k = 0; k < 4; ++k) {
    __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + 16 * k));
    const __m128i small = _mm_or_si128(x, _mm_set1_epi8(0x20));
    const __m128i letter = between(small, 'a', 'z');
    __m128i part;
    if constexpr (nonspace) {
      const __m128i space = _mm_or_si128(between(x, 9, 13), between(x, 28, 32));
      part = _mm_andnot_si128(space, _mm_set1_epi8(-1));
    } else {
      part = _mm_or_si128(_mm_or_si128(letter, between(x, '0', '9')), _mm_cmpeq_epi8(x, _mm_set1_epi8('_')));
    }
    if constexpr (lowercase) x = _mm_or_si128(x, _mm_and_si128(letter, _mm_set1_epi8(0x20)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 16 * k), x);
    mask |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(part))) << (16 * k);
  }
  return mask;
}
#else
template <bool lowercase, bool nonspace>
std::uint64_t scan_block(const char* in, char* out) {
  std::uint64_t mask = 0;
  for (int k = 0; k < 64; ++k) {
    const auto x = static_cast<unsigned char>(in[k]);
    const bool letter = static_cast<unsigned char>((x | 0x20) - 'a') < 26;
    const bool part = nonspace ? !((x >= 9 && x <= 13) || (x >= 28 && x <= 32))
                               : letter || static_cast<unsigned char>(x - '0') < 10 || x == '_';
    out[k] = static_cast<char>(lowercase && letter ? x | 0x20 : x);
    mask |= static_cast<std::uint64_t>(part) << k;
  }
  return mask;
}
#endif

template <bool lowercase, bool nonspace>
void scan_all(const char* text, std::size_t length, char* out, std::uint64_t* mask) {
  std::size_t i = 0;
  for (; i + 64 <= length; i += 64) *mask++ = scan_block<lowercase, nonspace>(text + i, out + i);
  char rest[64] = {};
  if (i < length) std::memcpy(rest, text + i, length - i);
  const std::uint64_t inside = (std::uint64_t{1} << (length - i)) - 1;  // fewer than 64 bytes are left
  *mask = scan_block<lowercase, nonspace>(rest, out + i) & inside;
}

}  // namespace

void Tokenizer::operator()(const Text& text, std::vector<Token>& tokens) {
  const bool in_words = options_.analyzer == Analyzer::word || options_.analyzer == Analyzer::nonspace;
  if ((in_words || options_.analyzer == Analyzer::chars) && is_ascii(text)) {
    char* const bytes = bytes_.reserve(text.length);
    scan_ascii(static_cast<const char*>(text.data), text.length, bytes);
    if (in_words) {
      ascii_words(bytes, text.length, tokens);
    } else {
      ascii_chars(bytes, text.length, tokens);
    }
    return bytes_.keep(text.length);
  }
  if (in_words && options_.accents == TokenizerOptions::Accents::keep) {
    if (text.encoding == Encoding::latin1)
      return latin1_words(static_cast<const std::uint8_t*>(text.data), text.length, tokens);
    if (text.encoding == Encoding::utf8 && to_latin1(text, latin1_))
      return latin1_words(latin1_.data(), latin1_.size(), tokens);
  }
  decode(text);
  normalise();
  if (in_words) {
    words(tokens);
  } else if (options_.analyzer == Analyzer::chars) {
    chars(tokens);
  } else {
    chars_in_words(tokens);
  }
}

char* Arena::reserve(std::size_t n) {
  n += 64 + token_padding;  // texts are written 64 bytes at a time
  while (block_ < blocks_.size() && blocks_[block_].size() - used_ < n) {
    ++block_;
    used_ = 0;
  }
  if (block_ == blocks_.size()) blocks_.emplace_back(std::max<std::size_t>(2 * n, 1 << 13));
  return blocks_[block_].data() + used_;
}

void Tokenizer::scan_ascii(const char* text, std::size_t length, char* out) {
  if (mask_.size() < length / 64 + 1) mask_.resize(2 * (length / 64 + 1));
  const bool nonspace = options_.analyzer == Analyzer::nonspace;
  const auto scan = options_.lowercase ? (nonspace ? scan_all<true, true> : scan_all<true, false>)
                                       : (nonspace ? scan_all<false, true> : scan_all<false, false>);
  scan(text, length, out, mask_.data());
}

// Words begin and end where the mask changes from one bit to the next.
void Tokenizer::ascii_words(const char* bytes, std::size_t length, std::vector<Token>& tokens) const {
  const std::size_t n_blocks = length / 64 + 1;
  std::uint64_t carry = 0;
  std::size_t start = 0;
  bool inside = false;
  const auto change = [&](std::size_t at) {
    if (!inside) {
      start = at;
    } else if (at - start >= options_.min_length) {
      tokens.push_back(make_token(bytes + start, at - start));
    }
    inside = !inside;
  };
  for (std::size_t block = 0; block < n_blocks; ++block) {
    const std::uint64_t mask = mask_[block];
    for (std::uint64_t edges = mask ^ (mask << 1 | carry); edges != 0; edges &= edges - 1)
      change(64 * block + static_cast<std::size_t>(std::countr_zero(edges)));
    carry = mask >> 63;
  }
  if (inside) change(length);
}

// As chars(), where a character is a byte.
void Tokenizer::ascii_chars(char* bytes, std::size_t length, std::vector<Token>& tokens) const {
  const auto is_space = [&](std::size_t i) {
    const auto x = static_cast<unsigned char>(bytes[i]);
    return (x >= 9 && x <= 13) || (x >= 28 && x <= 32);
  };
  std::size_t n_chars = 0;
  for (std::size_t i = 0; i < length; ++i) {
    char byte = bytes[i];
    if (is_space(i) && i + 1 < length && is_space(i + 1)) {
      while (i + 1 < length && is_space(i + 1)) ++i;
      byte = ' ';
    }
    bytes[n_chars++] = byte;
  }
  for (std::size_t n = options_.min_n; n <= std::min<std::size_t>(options_.max_n, n_chars); ++n)
    for (std::size_t i = 0; i + n <= n_chars; ++i) tokens.push_back(make_token(bytes + i, n));
}

void Tokenizer::latin1_words(const std::uint8_t* text, std::size_t length, std::vector<Token>& tokens) {
  static const Latin1 table;
  const auto& part = options_.analyzer == Analyzer::nonspace ? table.nonspace : table.word;
  char* const bytes = bytes_.reserve(2 * length);
  char* out = bytes;
  for (std::size_t i = 0; i < length;) {
    if (!part[text[i]]) {
      ++i;
      continue;
    }
    const char* const start = out;
    const std::size_t first = i;
    for (; i < length && part[text[i]]; ++i) {
      const std::uint32_t code = options_.lowercase ? table.lower[text[i]] : text[i];
      if (code < 0x80) {
        *out++ = static_cast<char>(code);
      } else {
        *out++ = static_cast<char>(0xc0 | code >> 6);
        *out++ = static_cast<char>(0x80 | (code & 0x3f));
      }
    }
    if (i - first >= options_.min_length)
      tokens.push_back(make_token(start, static_cast<std::size_t>(out - start)));
  }
  bytes_.keep(static_cast<std::size_t>(out - bytes));
}

void Tokenizer::decode(const Text& text) {
  codes_.clear();
  codes_.reserve(text.length);
  const auto widen = [&](const auto* p) { codes_.assign(p, p + text.length); };
  switch (text.encoding) {
    case Encoding::ascii:
    case Encoding::latin1:
      return widen(static_cast<const std::uint8_t*>(text.data));
    case Encoding::ucs2:
      return widen(static_cast<const std::uint16_t*>(text.data));
    case Encoding::ucs4:
      return widen(static_cast<const std::uint32_t*>(text.data));
    case Encoding::utf8:
      return decode_utf8(static_cast<const unsigned char*>(text.data), text.length, codes_);
  }
}

void Tokenizer::normalise() {
  if (options_.lowercase) {
    spare_.clear();
    append_lower(codes_, spare_);
    codes_.swap(spare_);
  }
  if (options_.accents != TokenizerOptions::Accents::keep) {
    spare_.clear();
    append_without_accents(codes_, options_.accents == TokenizerOptions::Accents::ascii, spare_);
    codes_.swap(spare_);
  }
}

void Tokenizer::words(std::vector<Token>& tokens) {
  enum class Kind : std::uint8_t { none, word, unspaced };
  const auto kind_of = [&](std::uint32_t code) {
    if (code - 'a' < 26 || code - '0' < 10) return Kind::word;  // most characters of most texts
    const Character& c = character(code);
    if (options_.split_unspaced && c.is(Character::unspaced)) return Kind::unspaced;
    const bool part =
        options_.analyzer == Analyzer::nonspace ? !c.is(Character::space) : c.is(Character::word);
    return part ? Kind::word : Kind::none;
  };
  char* const bytes = bytes_.reserve(4 * codes_.size());
  char* out = bytes;
  Kind run = Kind::none;
  starts_.clear();  // of the characters of the current run

  const auto finish = [&](Kind next) {
    const std::size_t n = starts_.size();
    const char* const end = out;
    if (run == Kind::word && n >= options_.min_length) {
      tokens.push_back(make_token(bytes + starts_[0], static_cast<std::size_t>(end - bytes) - starts_[0]));
    } else if (run == Kind::unspaced) {
      starts_.push_back(static_cast<std::uint32_t>(end - bytes));
      for (std::size_t i = 0; i == 0 || i + 1 < n; ++i) {
        const std::size_t stop = starts_[std::min(i + 2, n)];
        tokens.push_back(make_token(bytes + starts_[i], stop - starts_[i]));
      }
    }
    starts_.clear();
    run = next;
  };
  for (const std::uint32_t code : codes_) {
    const Kind kind = kind_of(code);
    if (kind != run) finish(kind);
    if (kind == Kind::none) continue;
    starts_.push_back(static_cast<std::uint32_t>(out - bytes));
    out = append_utf8(code, out);
  }
  finish(Kind::none);
  bytes_.keep(static_cast<std::size_t>(out - bytes));
}

// Every substring of min_n to max_n characters, runs of white space counting as one space.
void Tokenizer::chars(std::vector<Token>& tokens) {
  char* const bytes = bytes_.reserve(4 * codes_.size());
  char* out = bytes;
  starts_.clear();
  const auto is_space = [&](std::size_t i) {
    return i < codes_.size() && character(codes_[i]).is(Character::space);
  };
  for (std::size_t i = 0; i < codes_.size(); ++i) {
    std::uint32_t code = codes_[i];
    if (is_space(i) && is_space(i + 1)) {
      while (is_space(i + 1)) ++i;
      code = ' ';
    }
    starts_.push_back(static_cast<std::uint32_t>(out - bytes));
    out = append_utf8(code, out);
  }
  const std::size_t n_chars = starts_.size();
  starts_.push_back(static_cast<std::uint32_t>(out - bytes));
  for (std::size_t n = options_.min_n; n <= std::min<std::size_t>(options_.max_n, n_chars); ++n)
    for (std::size_t i = 0; i + n <= n_chars; ++i)
      tokens.push_back(make_token(bytes + starts_[i], starts_[i + n] - starts_[i]));
  bytes_.keep(static_cast<std::size_t>(out - bytes));
}

// The same within each word, padded by a space on both sides; a word shorter than n gives itself, once.
void Tokenizer::chars_in_words(std::vector<Token>& tokens) {
  char* const bytes = bytes_.reserve(6 * codes_.size() + 2);
  char* out = bytes;
  const auto put = [&](std::uint32_t code) {
    starts_.push_back(static_cast<std::uint32_t>(out - bytes));
    out = append_utf8(code, out);
  };
  for (std::size_t i = 0; i < codes_.size();) {
    if (character(codes_[i]).is(Character::space)) {
      ++i;
      continue;
    }
    starts_.clear();
    put(' ');
    for (; i < codes_.size() && !character(codes_[i]).is(Character::space); ++i) put(codes_[i]);
    put(' ');
    const std::size_t n_chars = starts_.size();
    starts_.push_back(static_cast<std::uint32_t>(out - bytes));
    for (std::size_t n = options_.min_n; n <= options_.max_n; ++n) {
      for (std::size_t k = 0; k == 0 || k + n <= n_chars; ++k)
        tokens.push_back(make_token(bytes + starts_[k], starts_[std::min(k + n, n_chars)] - starts_[k]));
      if (n >= n_chars) break;
    }
  }
  bytes_.keep(static_cast<std::size_t>(out - bytes));
}

}  // namespace genus
