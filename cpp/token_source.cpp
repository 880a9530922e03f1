#include "token_source.h"

#include <stdexcept>

namespace genus {
namespace {

constexpr std::size_t ahead = 4;  // short texts lie anywhere: ask for them before they are read

class TextReader : public TokenSource::Reader {
 public:
  TextReader(std::span<const Text> texts, const TokenizerOptions& options, Vocabulary stop_words)
      : texts_(texts), tokenizer_(options), stop_words_(stop_words) {}

  void operator()(std::int64_t d, std::vector<Token>& tokens) override {
    const auto row = static_cast<std::size_t>(d);
    if (row + ahead < texts_.size()) __builtin_prefetch(texts_[row + ahead].data);
    tokenizer_(texts_[row], tokens);
    if (stop_words_.size() > 0)
      std::erase_if(tokens, [&](const Token& t) {
        return stop_words_.find_text(&t, 1, t.hash) != Vocabulary::unknown;
      });
  }

 private:
  std::span<const Text> texts_;
  Tokenizer tokenizer_;
  Vocabulary stop_words_;
};

class SequenceReader : public TokenSource::Reader {
 public:
  SequenceReader(std::span<const std::int64_t> indptr, std::span<const std::int32_t> numbers,
                 std::span<const Token> words)
      : indptr_(indptr), numbers_(numbers), words_(words) {}

  void operator()(std::int64_t d, std::vector<Token>& tokens) override {
    tokens.clear();
    const auto row = static_cast<std::size_t>(d);
    for (auto k = indptr_[row]; k < indptr_[row + 1]; ++k)
      tokens.push_back(words_[static_cast<std::size_t>(numbers_[static_cast<std::size_t>(k)])]);
  }

 private:
  std::span<const std::int64_t> indptr_;
  std::span<const std::int32_t> numbers_;
  std::span<const Token> words_;
};

}  // namespace

std::unique_ptr<TokenSource::Reader> TextSource::reader() const {
  return std::make_unique<TextReader>(texts_, options_, stop_words_);
}

SequenceSource::SequenceSource(std::span<const std::int64_t> indptr, std::span<const std::int32_t> numbers,
                               StringsView words)
    : indptr_(indptr), numbers_(numbers) {
  bytes_.assign(words.blob.begin(), words.blob.end());
  bytes_.insert(bytes_.end(), token_padding, '\0');
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const char* data = bytes_.data() + words.offsets[i];
    tokens_.push_back({data, hash_token(data, word.size()), static_cast<std::uint32_t>(word.size())});
  }
  for (const std::int32_t number : numbers)
    if (number < 0 || static_cast<std::size_t>(number) >= tokens_.size())
      throw std::invalid_argument("sequences: a word number is out of range");
}

std::unique_ptr<TokenSource::Reader> SequenceSource::reader() const {
  return std::make_unique<SequenceReader>(indptr_, numbers_, tokens_);
}

}  // namespace genus
