// Documents as sequences of tokens, from texts or from words already numbered: what Vectorizer counts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace genus {

// The tokens of some consecutive documents: enough of them that look-ups can be under way side by side, few
// enough to stay near the core.
struct Batch {
  std::vector<Token> tokens;
  std::vector<std::size_t> ends;  // of each document's tokens

  static constexpr std::size_t weight = 1 << 12;  // bytes of text
  static constexpr std::size_t enough = 1 << 10;  // tokens, of which characters give more than words

  std::size_t size() const { return ends.size(); }
  std::size_t begin(std::size_t i) const { return i == 0 ? 0 : ends[i - 1]; }
  std::span<const Token> document(std::size_t i) const {
    return {tokens.data() + begin(i), ends[i] - begin(i)};
  }
  std::size_t longest() const {  // document, in tokens
    std::size_t most = 0;
    for (std::size_t i = 0; i < size(); ++i) most = std::max(most, ends[i] - begin(i));
    return most;
  }
  void clear() {
    tokens.clear();
    ends.clear();
  }
};

// Where the tokens of document d come from: a text to be cut, or words already numbered.
class TokenSource {
 public:
  virtual ~TokenSource() = default;
  virtual std::int64_t size() const = 0;
  virtual std::size_t weight(std::int64_t d) const = 0;  // about how much work d is

  // A reader belongs to one thread. Tokens are valid until its next call.
  class Reader {
   public:
    virtual ~Reader() = default;
    // Reads the first of these documents, at least one; returns the number of the next.
    virtual std::int64_t operator()(std::int64_t first, std::int64_t last, Batch& batch) = 0;
  };
  virtual std::unique_ptr<Reader> reader() const = 0;
};

// About how much work documents first ... last - 1 are.
std::size_t work_of(const TokenSource& source, std::int64_t first, std::int64_t last);

// Ranges [begin, end) of consecutive documents of about equal work: many for each thread, so that all end
// together, but few in all.
std::vector<std::pair<std::int64_t, std::int64_t>> ranges_of_equal_work(const TokenSource& source);

// Texts cut by the tokenizer, without stop words.
class TextSource : public TokenSource {
 public:
  TextSource(std::span<const Text> texts, const TokenizerOptions& options, Vocabulary stop_words)
      : texts_(texts), options_(options), stop_words_(stop_words) {}
  std::int64_t size() const override { return static_cast<std::int64_t>(texts_.size()); }
  std::size_t weight(std::int64_t d) const override { return texts_[static_cast<std::size_t>(d)].length; }
  std::unique_ptr<Reader> reader() const override;

 private:
  std::span<const Text> texts_;
  TokenizerOptions options_;
  Vocabulary stop_words_;
};

// A reader of the same documents between two tokens, "(start)" and "(end)". Documents without tokens stay
// without.
std::unique_ptr<TokenSource::Reader> between_marks(std::unique_ptr<TokenSource::Reader> reader);

// Documents as sequences of word numbers: after stemming, or after a tokenizer written in Python.
class SequenceSource : public TokenSource {
 public:
  SequenceSource(std::span<const std::int64_t> indptr, std::span<const std::int32_t> numbers,
                 StringsView words);
  std::int64_t size() const override { return static_cast<std::int64_t>(indptr_.size()) - 1; }
  std::size_t weight(std::int64_t d) const override {
    return static_cast<std::size_t>(indptr_[static_cast<std::size_t>(d) + 1] -
                                    indptr_[static_cast<std::size_t>(d)]);
  }
  std::unique_ptr<Reader> reader() const override;

 private:
  std::span<const std::int64_t> indptr_;
  std::span<const std::int32_t> numbers_;
  std::vector<char> bytes_;    // the words, padded
  std::vector<Token> tokens_;  // one per word
};

}  // namespace genus
