#include "text/token_source.h"

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace genus {
namespace {

// Bytes of text in a range.
constexpr std::size_t least_weight = 1 << 14, most_weight = 1 << 18;
constexpr std::size_t usual_ranges = 32;  // unless they would be too small, or too large

constexpr std::size_t ahead = 4;  // short texts lie anywhere: ask for them before they are read

class TextReader : public TokenSource::Reader {
 public:
  TextReader(std::span<const Text> texts, const TokenizerOptions& options, Vocabulary stop_words)
      : texts_(texts), tokenizer_(options), stop_words_(stop_words) {}

  std::int64_t operator()(std::int64_t first, std::int64_t last, Batch& batch) override {
    batch.clear();
    tokenizer_.clear();
    std::int64_t d = first;
    for (std::size_t weight = 0; d < last && weight < Batch::weight && batch.tokens.size() < Batch::enough;
         ++d) {
      const auto row = static_cast<std::size_t>(d);
      if (row + ahead < texts_.size()) __builtin_prefetch(texts_[row + ahead].data);
      const auto begin = static_cast<std::ptrdiff_t>(batch.tokens.size());
      tokenizer_(texts_[row], batch.tokens);
      if (stop_words_.size() > 0)
        batch.tokens.erase(std::remove_if(batch.tokens.begin() + begin, batch.tokens.end(),
                                          [&](const Token& t) { return is_stop_word(t); }),
                           batch.tokens.end());
      batch.ends.push_back(batch.tokens.size());
      weight += texts_[row].length + 1;
    }
    return d;
  }

 private:
  bool is_stop_word(const Token& t) const { return stop_words_.find_word(t) != Vocabulary::unknown; }

  std::span<const Text> texts_;
  Tokenizer tokenizer_;
  Vocabulary stop_words_;
};

class SequenceReader : public TokenSource::Reader {
 public:
  SequenceReader(std::span<const std::int64_t> indptr, std::span<const std::int32_t> numbers,
                 std::span<const Token> words)
      : indptr_(indptr), numbers_(numbers), words_(words) {}

  std::int64_t operator()(std::int64_t first, std::int64_t last, Batch& batch) override {
    batch.clear();
    std::int64_t d = first;
    for (; d < last && 8 * batch.tokens.size() + batch.size() < Batch::weight; ++d) {
      const auto row = static_cast<std::size_t>(d);
      for (auto k = indptr_[row]; k < indptr_[row + 1]; ++k)
        batch.tokens.push_back(words_[static_cast<std::size_t>(numbers_[static_cast<std::size_t>(k)])]);
      batch.ends.push_back(batch.tokens.size());
    }
    return d;
  }

 private:
  std::span<const std::int64_t> indptr_;
  std::span<const std::int32_t> numbers_;
  std::span<const Token> words_;
};

// A token that is in no text.
class Mark {
 public:
  explicit Mark(std::string_view text) : bytes_(text), length_(text.size()) {
    bytes_.append(token_padding, '\0');
  }
  Token token() const {
    return {bytes_.data(), hash_token(bytes_.data(), length_), static_cast<std::uint32_t>(length_)};
  }

 private:
  std::string bytes_;
  std::size_t length_;
};

class EdgedReader : public TokenSource::Reader {
 public:
  explicit EdgedReader(std::unique_ptr<TokenSource::Reader> inner) : inner_(std::move(inner)) {}

  std::int64_t operator()(std::int64_t first, std::int64_t last, Batch& batch) override {
    const std::int64_t next = (*inner_)(first, last, plain_);
    batch.clear();
    for (std::size_t i = 0; i < plain_.size(); ++i) {
      const auto tokens = plain_.document(i);
      if (!tokens.empty()) {
        batch.tokens.push_back(start_.token());
        batch.tokens.insert(batch.tokens.end(), tokens.begin(), tokens.end());
        batch.tokens.push_back(end_.token());
      }
      batch.ends.push_back(batch.tokens.size());
    }
    return next;
  }

 private:
  std::unique_ptr<TokenSource::Reader> inner_;
  Batch plain_;
  Mark start_{"(start)"}, end_{"(end)"};
};

}  // namespace

std::size_t work_of(const TokenSource& source, std::int64_t first, std::int64_t last) {
  std::size_t total = 0;
  for (std::int64_t d = first; d < last; ++d) total += source.weight(d) + 16;
  return total;
}

std::vector<std::pair<std::int64_t, std::int64_t>> ranges_of_equal_work(const TokenSource& source) {
  const auto enough = std::clamp(work_of(source, 0, source.size()) / usual_ranges, least_weight, most_weight);
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  std::int64_t first = 0;
  std::size_t weight = 0;
  for (std::int64_t d = 0; d < source.size(); ++d) {
    weight += work_of(source, d, d + 1);
    if (weight >= enough) {
      ranges.emplace_back(first, d + 1);
      first = d + 1;
      weight = 0;
    }
  }
  if (first < source.size()) ranges.emplace_back(first, source.size());
  return ranges;
}

std::unique_ptr<TokenSource::Reader> between_marks(std::unique_ptr<TokenSource::Reader> reader) {
  return std::make_unique<EdgedReader>(std::move(reader));
}

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
