// Word vectors: a text to the sum of the vectors of its words, scaled to length one.
//
// A token with an entry has that vector. Another one is split greedily, the longest entry first: one that
// begins the word, then entries "##..." that go on with it; where a piece is missing it adds nothing. Two
// tokens a, b in a row for which there is an entry "a b" add that vector as well.
//
// Per token: its look-up (a cache line where the word is frequent, three where it is not), the vector
// (n_dimensions bytes or floats, anywhere in the table; asked for ahead, while other tokens are looked up)
// and n_dimensions multiplications and additions. A pair is looked up only where marks say that its first
// word begins one and its second ends one. A token that is split costs a look-up per character.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "base/simd.h"
#include "text/token_source.h"
#include "text/vocabulary.h"

namespace genus {

// What finds the entries of a table, made from their names when it is opened.
struct WordLookup {
  Buffer<std::uint64_t> table;      // of a Vocabulary of all entries
  std::vector<std::uint8_t> marks;  // of each entry: does it begin pairs, does it end pairs
  std::int64_t duplicate = -1;      // the first entry that is there a second time
};
WordLookup make_word_lookup(StringsView words);

// The entries of a table and what finds them, in memory owned elsewhere. The numbers are not trusted.
struct WordTable {
  Vocabulary vocabulary;
  std::span<const std::uint8_t> marks;
  bool splits;  // whether words without an entry are split into pieces
};

// Vectors of the entries: bytes with a scale for each row, or floats.
struct VectorRows {
  std::span<const std::int8_t> bytes;
  std::span<const float> scales, floats;
  std::size_t n_dimensions;

  bool in_bytes() const { return !scales.empty(); }  // floats of no dimensions are as empty as bytes
};

struct EncodedTexts {
  Buffer<float> vectors;                                  // n x n_dimensions
  std::vector<std::int32_t> n_words, n_whole, n_unknown;  // tokens; those with an entry; those without vector
};

// Documents are independent of each other: equal for any number of threads.
EncodedTexts encode(const TokenSource& source, const WordTable& words, const VectorRows& vectors,
                    int n_threads, SimdLevel level = simd_level());

// The tokens of all documents in a row, and the entries whose vectors each adds.
struct TokenEntries {
  OwnedStrings tokens;
  std::vector<std::int64_t> ends{0};  // token t has entries[ends[t]] ... entries[ends[t + 1] - 1]
  std::vector<std::int32_t> entries;
  std::vector<std::int32_t> pairs;  // the entry of token t with the next token of its document, or -1
};
TokenEntries token_entries(const TokenSource& source, const WordTable& words);

}  // namespace genus
