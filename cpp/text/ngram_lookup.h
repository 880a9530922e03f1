// The columns of a document's n-grams, looked up in a vocabulary: for Vectorizer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "text/token_source.h"
#include "text/vocabulary.h"

namespace genus {

struct NGramRange {
  std::uint32_t min = 1, max = 1;  // words in an n-gram
  bool edges = false;              // documents lie between two marks, which are no features by themselves

  // How many tokens at each end of a document begin no feature of n words because of that.
  std::size_t marks(std::size_t n) const { return edges && n == 1; }
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

// Replaces the contents of `places` with the places of a batch where an n-gram starts.
inline void places_of_n_grams(const Batch& batch, std::size_t n, std::vector<std::size_t>& places) {
  places.clear();
  for (std::size_t i = 0; i < batch.size(); ++i)
    for (std::size_t place = batch.begin(i); place + n <= batch.ends[i]; ++place) places.push_back(place);
}

// The columns of the n-grams of one batch after another, through a vocabulary. Belongs to one thread, and
// remembers frequent words.
class NGramLookup {
 public:
  NGramLookup(const Vocabulary& vocabulary, NGramRange range, std::size_t n_documents)
      : vocabulary_(vocabulary), range_(range), cache_(is_near() ? 0 : n_documents), columns_(1) {}

  void look_up(const Batch& batch) {
    if (is_near()) return;  // columns() will
    find_words(batch.tokens);
    const std::size_t longest = std::min<std::size_t>(range_.max, batch.longest());
    if (columns_.size() < longest) columns_.resize(longest);
    for (std::size_t n = 2; n <= longest; ++n) find_n_grams(batch, n);
  }

  // The columns of the words of a batch by their places, Vocabulary::unknown included. Valid until the next
  // batch.
  std::span<const std::int32_t> words(const Batch& batch) {
    find_words(batch.tokens);
    return columns_[0];
  }

  // Appends the columns of document i of the batch to `found`; returns how many of its shortest n-grams have
  // none.
  std::int32_t columns(const Batch& batch, std::size_t i, std::vector<std::uint32_t>& found) const {
    if (is_near()) return near_columns(batch, i, found);
    std::size_t unknown = 0;
    const std::size_t begin = batch.begin(i), end = batch.ends[i];
    for (std::size_t n = range_.min; n <= range_.max && begin + n <= end; ++n) {
      const std::size_t first = begin + range_.marks(n);
      const std::size_t last = std::max(first + n + range_.marks(n), end + 1) - n - range_.marks(n);
      // Each column is written and stays if it is known: a branch would be mispredicted.
      std::size_t size = found.size();
      found.resize(size + (last - first));
      for (std::size_t place = first; place < last; ++place) {
        const std::int32_t column = columns_[n - 1][place];
        found[size] = static_cast<std::uint32_t>(column);
        size += column != Vocabulary::unknown;
      }
      if (n == range_.min) unknown = found.size() - size;
      found.resize(size);
    }
    return static_cast<std::int32_t>(unknown);
  }

 private:
  bool is_near() const { return range_.max == 1 && vocabulary_.is_near(); }

  void find_words(std::span<const Token> tokens) {
    auto& columns = columns_[0];
    columns.resize(tokens.size());
    missing_.clear();
    if (range_.min > 1 && !vocabulary_.has_named()) {
      std::fill(columns.begin(), columns.end(), Vocabulary::unknown);
      return;
    }
    // Each place is written to the list and stays if its word is absent: a branch would be mispredicted.
    missing_.resize(tokens.size());
    std::size_t n_missing = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (i + 2 * ahead < tokens.size()) cache_.prefetch(tokens[i + 2 * ahead]);
      columns[i] = cache_.find(tokens[i]);
      missing_[n_missing] = i;
      n_missing += columns[i] == WordCache::absent;
    }
    missing_.resize(n_missing);
    find_missing(tokens, 1);
    for (const std::size_t i : missing_) cache_.enter(tokens[i], columns[i]);
  }

  // As columns(), of words that are found at once, without a look at what is remembered.
  std::int32_t near_columns(const Batch& batch, std::size_t i, std::vector<std::uint32_t>& found) const {
    const Vocabulary vocabulary = vocabulary_;
    const std::span<const Token> tokens = batch.tokens;
    const std::size_t first = found.size();
    found.resize(first + batch.document(i).size());
    std::uint32_t* out = found.data() + first;
    for (std::size_t place = batch.begin(i); place < batch.ends[i]; ++place) {
      if (place + ahead < tokens.size()) vocabulary.prefetch_bucket(tokens[place + ahead].hash);
      const std::int32_t column = vocabulary.find_word(tokens[place]);
      *out = static_cast<std::uint32_t>(column);
      out += column != Vocabulary::unknown;
    }
    const auto unknown = found.data() + found.size() - out;
    found.resize(static_cast<std::size_t>(out - found.data()));
    return static_cast<std::int32_t>(unknown);
  }

  // Each by the columns of its first n - 1 words and of its last.
  void find_n_grams(const Batch& batch, std::size_t n) {
    const std::int32_t* const last = columns_[0].data() + n - 1;
    const auto& prefix = columns_[n - 2];
    auto& columns = columns_[n - 1];
    columns.resize(batch.tokens.size());
    places_of_n_grams(batch, n, places_);
    missing_.clear();
    const auto name = [&](std::size_t i) { return Vocabulary::name(prefix[i], last[i]); };
    in_stages(
        places_.size(), [&](std::size_t k) { return Vocabulary::hash_name(name(places_[k])); },
        [&](std::size_t k) {
          const std::size_t i = places_[k];
          if (prefix[i] != Vocabulary::unknown && last[i] != Vocabulary::unknown) {
            columns[i] = vocabulary_.find_name(name(i), Vocabulary::hash_name(name(i)));
          } else {
            columns[i] = Vocabulary::unknown;
            missing_.push_back(i);
          }
        },
        [&](std::uint64_t hash) { vocabulary_.prefetch_bucket(hash); });
    if (vocabulary_.has_spelled()) find_missing(batch.tokens, n);
  }

  // Finds the missing n-grams by their text.
  void find_missing(std::span<const Token> tokens, std::size_t n) {
    hashes_.clear();
    for (const std::size_t i : missing_) hashes_.push_back(hash_tokens(tokens.subspan(i, n)));
    in_stages(
        missing_.size(), [&](std::size_t k) { return hashes_[k]; },
        [&](std::size_t k) {
          columns_[n - 1][missing_[k]] = n == 1 ? vocabulary_.find_word(tokens[missing_[k]])
                                                : vocabulary_.find_text(&tokens[missing_[k]], n, hashes_[k]);
        },
        [&](std::uint64_t hash) { vocabulary_.prefetch_bucket(hash); },
        [&](std::uint64_t hash) { vocabulary_.prefetch_offsets(hash); },
        [&](std::uint64_t hash) { vocabulary_.prefetch_text(hash); });
  }

  Vocabulary vocabulary_;
  NGramRange range_;
  WordCache cache_;
  std::vector<std::vector<std::int32_t>> columns_;  // by n - 1 and place in the batch
  std::vector<std::size_t> places_, missing_;
  std::vector<std::uint64_t> hashes_;  // of the missing
};

}  // namespace genus
