// Text to tokens: lower case, accents, words or character n-grams, exactly as Python and scikit-learn cut
// them.
//
// Cost per byte of ASCII text: one pass of 16-byte vector operations (lower case, a bit per word character),
// then a few operations per word. Western European text takes a table look-up per character; other text is
// decoded to code points first, about five times as costly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/hashing.h"

namespace genus {

// A text in memory owned elsewhere: Python's own representations, or UTF-8 from an Arrow array.
struct Text {
  enum class Encoding : std::uint8_t { ascii, latin1, ucs2, ucs4, utf8 };
  const void* data;
  std::size_t length;  // in code units
  Encoding encoding;
};

// A token: UTF-8 bytes that the tokenizer keeps (readable token_padding bytes past the end), and their hash.
struct Token {
  const char* data;
  std::uint64_t hash;
  std::uint32_t length;
};

struct TokenizerOptions {
  enum class Analyzer : std::uint8_t { word, nonspace, chars, chars_in_words };
  enum class Accents : std::uint8_t { keep, strip, ascii };
  Analyzer analyzer = Analyzer::word;
  Accents accents = Accents::keep;
  bool lowercase = true;
  bool split_unspaced = false;         // bigrams of characters for Han, kana, Thai...
  std::uint32_t min_length = 2;        // characters in a word
  std::uint32_t min_n = 1, max_n = 1;  // characters in an n-gram, for the chars analyzers
};

// Bytes that stay where they are until all are given up.
class Arena {
 public:
  // Room for so many bytes and what may be read or written past them; keep(n) keeps the first n of them.
  char* reserve(std::size_t n);
  void keep(std::size_t n) { used_ += n; }
  void clear() { block_ = used_ = 0; }

 private:
  std::vector<std::vector<char>> blocks_;
  std::size_t block_ = 0, used_ = 0;  // the block in use, and how much of it
};

class Tokenizer {
 public:
  explicit Tokenizer(const TokenizerOptions& options) : options_(options) {}  // cheap: made for every call

  // Appends to `tokens`. They are valid until clear().
  void operator()(const Text& text, std::vector<Token>& tokens);
  void clear() { bytes_.clear(); }

 private:
  using Codes = std::vector<std::uint32_t>;

  void scan_ascii(const char* text, std::size_t length, char* out);
  void ascii_words(const char* bytes, std::size_t length, std::vector<Token>& tokens) const;
  void ascii_chars(char* bytes, std::size_t length, std::vector<Token>& tokens) const;
  void latin1_words(const std::uint8_t* text, std::size_t length, std::vector<Token>& tokens);
  void decode(const Text& text);
  void normalise();
  void words(std::vector<Token>& tokens);
  void chars(std::vector<Token>& tokens);
  void chars_in_words(std::vector<Token>& tokens);

  TokenizerOptions options_;
  Arena bytes_;                        // the texts in lower case, UTF-8
  std::vector<std::uint64_t> mask_;    // a bit per byte of ASCII text: part of a word?
  std::vector<std::uint32_t> starts_;  // byte offsets of characters
  std::vector<std::uint8_t> latin1_;   // a text of the first 256 characters
  Codes codes_, spare_;                // code points of the text
};

}  // namespace genus
