// Labelled documents in the order of their classes, and each class's own numbering of its words: what the
// sampler of RelevanceTopicModel reads (gibbs.h).
#pragma once

#include <cstdint>
#include <span>

#include "base/buffer.h"
#include "base/csr.h"

namespace genus {

// Documents in the order of their classes; one with several labels comes once for each. Document i is row
// order[i]; its entries have the numbers [entry_starts[i], entry_starts[i + 1]) in arrays over entries.
template <class Value>
struct LabelledRows {
  Csr<Value> rows;
  std::span<const std::int64_t> order;
  std::span<const std::int64_t> entry_starts;
  std::span<const std::int64_t>
      class_starts;  // class c: the documents [class_starts[c], class_starts[c + 1])

  std::int64_t documents() const { return std::ssize(order); }
  std::int64_t classes() const { return std::ssize(class_starts) - 1; }
  std::int64_t entries() const { return entry_starts.back(); }
  std::int64_t row_start(std::int64_t i) const { return rows.indptr[order[i]]; }
  std::span<const Value> values(std::int64_t i) const {
    return rows.values.subspan(row_start(i), entry_starts[i + 1] - entry_starts[i]);
  }
};

// The words of each class, numbered in the order in which they come: class c has [starts[c], starts[c + 1]).
// Tables over them are as small as the class, and its frequent words lie together.
struct ClassWords {
  Buffer<std::int64_t> starts;
  Buffer<std::int32_t> words;   // columns
  Buffer<std::int64_t> counts;  // the class's tokens, in fixed point
  Buffer<std::int32_t> places;  // of each entry: its word's number within the class
};

struct ClassWordsView {
  std::span<const std::int64_t> starts;
  std::span<const std::int32_t> words;
  std::span<const std::int64_t> counts;  // may be absent after the first sweep
  std::span<const std::int32_t> places;

  std::int64_t size() const { return std::ssize(words); }

  std::span<const std::int32_t> words_of(std::int64_t c) const {
    return words.subspan(starts[c], size_of(c));
  }
  std::span<const std::int64_t> counts_of(std::int64_t c) const {
    return counts.subspan(starts[c], size_of(c));
  }
  std::size_t size_of(std::int64_t c) const { return static_cast<std::size_t>(starts[c + 1] - starts[c]); }
};

// Two random accesses per entry; 8 bytes per column and thread beside the result. Throws
// std::invalid_argument for columns beyond n_words and for values that are no numbers of tokens.
template <class Value>
ClassWords number_class_words(const LabelledRows<Value>& documents, std::int64_t n_words, int n_threads);

}  // namespace genus
