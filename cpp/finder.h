// From a document's tokens to columns, through a vocabulary.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "vocabulary.h"

namespace genus {

struct NGramRange {
  std::uint32_t min = 1, max = 1;  // words in an n-gram
};

inline constexpr std::size_t ahead = 8;  // look-ups between one prefetch and the next

// Looks up n things whose cache lines are found one through the other. Each stage asks for the next line of
// things to come, so that many are under way at once; the last step, use(i), finds them all there.
template <class Hash, class Use, class... Stages>
void in_stages(std::size_t n, Hash&& hash, Use&& use, Stages&&... stages) {
  std::size_t left = sizeof...(Stages);
  const auto start = [&](auto& stage) {
    for (std::size_t i = 0; i < std::min(n, left * ahead); ++i) stage(hash(i));
    --left;
  };
  (start(stages), ...);
  for (std::size_t i = 0; i < n; ++i) {
    left = sizeof...(Stages);
    const auto go_on = [&](auto& stage) {
      if (const std::size_t next = i + left-- * ahead; next < n) stage(hash(next));
    };
    (go_on(stages), ...);
    use(i);
  }
}

// The columns of the n-grams of one document after another, through a vocabulary. Belongs to one thread, and
// remembers frequent words.
class Finder {
 public:
  Finder(const Vocabulary& vocabulary, NGramRange range, std::size_t n_documents)
      : vocabulary_(vocabulary), range_(range), cache_(n_documents) {}

  // Appends the columns of the n-grams that have one to `found`; returns how many of the shortest have none.
  std::int32_t operator()(std::span<const Token> tokens, std::vector<std::uint32_t>& found) {
    std::int32_t unknown = 0;
    find_words(tokens);
    for (std::size_t n = 1; n <= range_.max && n <= tokens.size(); ++n) {
      if (n > 1) find_n_grams(tokens, n);
      if (n < range_.min) continue;
      for (const std::int32_t column : columns_) {
        if (column != Vocabulary::unknown) {
          found.push_back(static_cast<std::uint32_t>(column));
        } else {
          unknown += n == range_.min;
        }
      }
    }
    return unknown;
  }

 private:
  void find_words(std::span<const Token> tokens) {
    columns_.assign(tokens.size(), Vocabulary::unknown);
    if (range_.min == 1 || vocabulary_.has_named()) {
      missing_.clear();
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        columns_[i] = cache_.find(tokens[i]);
        if (columns_[i] == WordCache::absent) missing_.push_back(static_cast<std::uint32_t>(i));
      }
      find_missing(tokens, 1);
      for (const std::uint32_t i : missing_) cache_.enter(tokens[i], columns_[i]);
    }
    if (range_.max > 1) words_ = columns_;
  }

  // columns_, so far those of the (n - 1)-grams, become those of the n-grams.
  void find_n_grams(std::span<const Token> tokens, std::size_t n) {
    columns_.resize(tokens.size() - n + 1);
    missing_.clear();
    const std::int32_t* const last = words_.data() + n - 1;
    const auto name = [&](std::size_t i) { return Vocabulary::name(columns_[i], last[i]); };
    in_stages(
        columns_.size(), [&](std::size_t i) { return Vocabulary::hash_name(name(i)); },
        [&](std::size_t i) {
          if (columns_[i] != Vocabulary::unknown && last[i] != Vocabulary::unknown) {
            columns_[i] = vocabulary_.find_name(name(i), Vocabulary::hash_name(name(i)));
          } else {
            columns_[i] = Vocabulary::unknown;
            missing_.push_back(static_cast<std::uint32_t>(i));
          }
        },
        [&](std::uint64_t hash) { vocabulary_.prefetch_slot(hash); });
    if (vocabulary_.has_spelled()) find_missing(tokens, n);
  }

  // Finds the missing n-grams by their text.
  void find_missing(std::span<const Token> tokens, std::size_t n) {
    hashes_.clear();
    for (const std::uint32_t i : missing_) hashes_.push_back(hash_tokens(tokens.subspan(i, n)));
    in_stages(
        missing_.size(), [&](std::size_t i) { return hashes_[i]; },
        [&](std::size_t i) {
          columns_[missing_[i]] = vocabulary_.find_text(&tokens[missing_[i]], n, hashes_[i]);
        },
        [&](std::uint64_t hash) { vocabulary_.prefetch_slot(hash); },
        [&](std::uint64_t hash) { vocabulary_.prefetch_offsets(hash); },
        [&](std::uint64_t hash) { vocabulary_.prefetch_text(hash); });
  }

  Vocabulary vocabulary_;
  NGramRange range_;
  WordCache cache_;
  std::vector<std::int32_t> columns_, words_;
  std::vector<std::uint32_t> missing_;
  std::vector<std::uint64_t> hashes_;  // of the missing
};

}  // namespace genus
