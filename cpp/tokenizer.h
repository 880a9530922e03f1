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

#include "hashing.h"

namespace genus {

// A text in memory that somebody else keeps: Python's own representations, or UTF-8 from an Arrow array.
struct Text {
  enum class Encoding : std::uint8_t { ascii, latin1, ucs2, ucs4, utf8 };
  const void* data;
  std::size_t length;  // in code units
  Encoding encoding;
};

// A token: UTF-8 bytes in the tokenizer's buffer (readable token_padding bytes past the end), and their hash.
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

class Tokenizer {
 public:
  explicit Tokenizer(const TokenizerOptions& options) : options_(options) {}  // cheap: made for every call

  // Replaces the contents of `tokens`. The tokens are valid until the next call.
  void operator()(const Text& text, std::vector<Token>& tokens);

 private:
  using Codes = std::vector<std::uint32_t>;

  void scan_ascii(const char* text, std::size_t length);
  void ascii_words(std::size_t length, std::vector<Token>& tokens) const;
  void latin1_words(const std::uint8_t* text, std::size_t length, std::vector<Token>& tokens);
  void decode(const Text& text);
  void normalise();
  void words(std::vector<Token>& tokens);
  void chars(std::vector<Token>& tokens);
  void chars_in_words(std::vector<Token>& tokens);
  char* reserve(std::size_t bytes);

  TokenizerOptions options_;
  std::vector<char> bytes_;            // the text in lower case, UTF-8, padded
  std::vector<std::uint64_t> mask_;    // a bit per byte of ASCII text: part of a word?
  std::vector<std::uint32_t> starts_;  // byte offsets of characters
  Codes codes_, spare_;                // code points of the text
};

}  // namespace genus
