// Vectorizer: documents to sparse rows of counts, in threads.
//
// Learning a vocabulary: blocks of documents are handed to threads, each with its own lexicon; a block keeps
// its rows as (node, count) pairs until the lexicons are merged, sorted and numbered. Peak memory is 8 bytes
// per entry of the result plus the result itself. Applying one: look up, sort, count; nothing is shared.
//
// Per token: hash (about 3 ns), one or two cache lines of look-up, one of counting.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "text/ngram_lookup.h"
#include "text/token_source.h"
#include "text/vocabulary.h"

namespace genus {

template <class Value>
struct CountedRows {
  std::vector<std::int64_t> indptr;
  Buffer<std::int32_t> indices;
  Buffer<Value> values;
  std::vector<std::int32_t> unknown;  // tokens per row that have no column; only when a vocabulary was given
};

// A corpus whose words are counted but not yet cut down to the columns that are kept.
class CountedCorpus {
 public:
  CountedCorpus(const TokenSource& source, NGramRange range, int n_threads);

  std::int64_t n_documents() const { return n_documents_; }

  // In the order of the columns. Term frequency takes one more pass.
  std::size_t n_features() const { return order_.size(); }
  std::vector<std::int64_t> document_frequency() const;
  std::vector<std::int64_t> term_frequency() const;

  // The rows over the columns marked in `keep` (all if it is empty), renumbered, and their words.
  template <class Value>
  CountedRows<Value> rows(std::span<const std::uint8_t> keep, bool binary, int n_threads) const;
  OwnedStrings words(std::span<const std::uint8_t> keep, int n_threads) const;
  Buffer<std::uint64_t> table(std::span<const std::uint8_t> keep) const;  // of a Vocabulary of these words

 private:
  struct Cell {
    std::uint32_t node, count;
  };
  struct Block {  // consecutive documents
    std::int64_t first = 0, last = 0;
    std::uint32_t worker = 0;
    std::vector<std::uint32_t> sizes;
    std::vector<Cell> cells;
  };

  std::vector<std::uint32_t> kept_nodes(std::span<const std::uint8_t> keep) const;

  std::int64_t n_documents_ = 0;
  Lexicon lexicon_;
  std::vector<Block> blocks_;
  std::vector<std::vector<std::uint32_t>> number_of_;  // per worker: local node -> node; empty where equal
  std::vector<std::uint32_t> order_;                   // nodes that are features, sorted
};

// Rows over a given vocabulary, or with n_hash > 0 over hashed columns (and no vocabulary).
template <class Value>
CountedRows<Value> count_known(const TokenSource& source, const Vocabulary& vocabulary, NGramRange range,
                               std::uint32_t n_hash, bool binary, int n_threads);

// The distinct words of a few documents that a vocabulary does not have, sorted. One look-up per token.
OwnedStrings unknown_words(const TokenSource& source, const Vocabulary& vocabulary);

// Every document as a sequence of numbers of distinct tokens, and those tokens.
struct Sequences {
  std::vector<std::int64_t> indptr;
  std::vector<std::int32_t> numbers;
  OwnedStrings words;
};
Sequences number_tokens(const TokenSource& source, int n_threads);

}  // namespace genus
