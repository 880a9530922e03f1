// Documents as sequences of tokens, whatever they are made of.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tokenizer.h"
#include "vocabulary.h"

namespace genus {

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
    virtual void operator()(std::int64_t d, std::vector<Token>& tokens) = 0;
  };
  virtual std::unique_ptr<Reader> reader() const = 0;
};

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
