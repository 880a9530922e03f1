// Words and n-grams to column numbers.
//
// Lexicon grows while a corpus is read; Vocabulary is what remains: three flat arrays that can be mapped from
// a file and searched at once. Both probe linearly a power-of-two table of 8-byte slots (a 32-bit tag of the
// hash beside the number), so that a look-up touches one cache line of slots and one of the word itself.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "buffer.h"
#include "hashing.h"
#include "tokenizer.h"

namespace genus {

// Strings back to back with n + 1 offsets, in memory owned elsewhere and not trusted.
struct StringsView {
  std::span<const std::uint8_t> blob;
  std::span<const std::int64_t> offsets;

  std::size_t size() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  std::string_view operator[](std::size_t i) const {
    const auto begin = offsets[i], end = offsets[i + 1];
    if (begin < 0 || begin > end || end > static_cast<std::int64_t>(blob.size())) return {};
    return {reinterpret_cast<const char*>(blob.data()) + begin, static_cast<std::size_t>(end - begin)};
  }
};

struct OwnedStrings {
  Buffer<std::uint8_t> blob;
  Buffer<std::int64_t> offsets{0};

  void append(std::string_view s) {
    blob.insert(blob.end(), s.begin(), s.end());
    offsets.push_back(static_cast<std::int64_t>(blob.size()));
  }
};

// The number that a look-up will most likely end at, from the slots of about one cache line. For asking
// ahead.
inline std::uint32_t candidate(std::span<const std::uint64_t> slots, std::uint64_t hash) {
  const std::size_t mask = slots.size() - 1;
  std::size_t i = hash & mask;
  for (int probes = 0; probes < 8 && slots[i] != 0; ++probes, i = (i + 1) & mask)
    if (slots[i] >> 32 == hash >> 32) return static_cast<std::uint32_t>(slots[i]) - 1;
  return ~std::uint32_t{0};
}

// A finished vocabulary. slots[i] is 0 (empty) or tag << 32 | number + 1.
class Vocabulary {
 public:
  Vocabulary(StringsView words, std::span<const std::uint64_t> slots) : words_(words), slots_(slots) {}

  static constexpr std::int32_t unknown = -1;

  std::size_t size() const { return words_.size(); }
  bool has_slots() const { return !slots_.empty(); }

  // The number of the n-gram made of these tokens, whose joint hash is `hash`.
  std::int32_t find(const Token* tokens, std::size_t n, std::uint64_t hash) const {
    if (slots_.empty()) return unknown;
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = hash & mask;
    for (std::size_t probes = 0; probes <= mask && slots_[i] != 0; ++probes, i = (i + 1) & mask) {
      if (slots_[i] >> 32 != hash >> 32) continue;
      const auto number = static_cast<std::uint32_t>(slots_[i]) - 1;
      if (number < size() && spells(words_[number], tokens, n)) return static_cast<std::int32_t>(number);
    }
    return unknown;
  }

  // A look-up waits for three cache lines, each found through the one before: slot, offsets, text. These ask
  // for one of them ahead of time; call them in this order, some look-ups apart. All need slots.
  void prefetch_slot(std::uint64_t hash) const { __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]); }
  void prefetch_offsets(std::uint64_t hash) const {
    if (const auto number = candidate(slots_, hash); number < size())
      __builtin_prefetch(&words_.offsets[number]);
  }
  void prefetch_text(std::uint64_t hash) const {
    if (const auto number = candidate(slots_, hash); number < size())
      __builtin_prefetch(words_[number].data());
  }

 private:
  bool spells(std::string_view word, const Token* tokens, std::size_t n) const;

  StringsView words_;
  std::span<const std::uint64_t> slots_;
};

// Remembers where frequent short words were found. A word costs one cache line here, three in the vocabulary.
class WordCache {
 public:
  // With few words to come it is not worth its memory, and stays empty.
  explicit WordCache(std::size_t n_documents) : entries_(n_documents < 64 ? 0 : size) {}

  // vocabulary.find for a single word.
  std::int32_t find(const Vocabulary& vocabulary, const Token& token) {
    if (entries_.empty() || token.length > 16) return vocabulary.find(&token, 1, token.hash);
    Entry& entry = entries_[(token.hash >> 32) % size];
    const Head head = head_of(token.data, token.length);
    if (entry.length != token.length || entry.head != head)
      entry = {head, token.length, vocabulary.find(&token, 1, token.hash)};
    return entry.column;
  }

 private:
  struct Entry {
    Head head{0, 0};
    std::uint32_t length = 0;  // no token is empty
    std::int32_t column = 0;
  };
  static constexpr std::size_t size = 1 << 12;
  std::vector<Entry> entries_;
};

// The slots of a vocabulary. With `n_grams`, words are split at single spaces and hashed as n-grams.
// A string that is there twice is found under its first number.
Buffer<std::uint64_t> make_slots(StringsView words, bool n_grams);

// Enters words first ... size - 1 into slots that hold the others, in place. There must be room.
void extend_slots(std::span<std::uint64_t> slots, StringsView words, std::size_t first, bool n_grams);

std::size_t slots_needed(std::size_t n_words);

// The slots of a vocabulary whose words have these hashes.
Buffer<std::uint64_t> make_slots(std::span<const std::uint64_t> hashes);

// The column that a hash falls into when columns are hashed.
inline std::int32_t hashed_column(std::uint64_t hash, std::uint32_t n_hash) {
  return static_cast<std::int32_t>((hash >> 32) * n_hash >> 32);
}

// The column of each feature: its number in the vocabulary, or its hashed column where n_hash > 0.
std::vector<std::int32_t> find_words(StringsView features, bool n_grams, const Vocabulary& vocabulary,
                                     std::uint32_t n_hash);

// A growing set of words and, over them, of n-grams: a trie whose nodes are numbered in order of appearance.
class Lexicon {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  // 32 bytes, two to a cache line. A word of up to 16 bytes is kept in place; a longer one in the arena, with
  // its offset in `low` and hash in `high`; an n-gram keeps its two parents.
  struct Node {
    std::uint64_t low = 0, high = 0;
    std::uint32_t length = 0;     // of a word in bytes; `none` for an n-gram
    std::uint32_t stamp = 0;      // the last document that had it, plus one
    std::uint32_t position = 0;   // where in that document's row
    std::uint32_t frequency = 0;  // documents that have it
  };

  Lexicon();

  std::uint32_t word(const Token& token);
  std::uint32_t n_gram(std::uint32_t prefix, std::uint32_t last, std::uint64_t hash);
  static std::uint64_t hash_n_gram(std::uint32_t prefix, std::uint32_t last) {
    return hash_join(prefix * 0x9e3779b97f4a7c15ULL, last * 0xbf58476d1ce4e5b9ULL);
  }

  // As in Vocabulary: first the slot, later the node it leads to.
  void prefetch_slot(std::uint64_t hash) const { __builtin_prefetch(&slots_[hash & mask()]); }
  void prefetch_node(std::uint64_t hash) const {
    if (const auto number = candidate(slots_, hash); number < size()) __builtin_prefetch(&nodes_[number]);
  }

  std::size_t size() const { return nodes_.size(); }
  Node& operator[](std::uint32_t node) { return nodes_[node]; }
  const Node& operator[](std::uint32_t node) const { return nodes_[node]; }

  static bool is_word(const Node& node) { return node.length != none; }
  static std::uint32_t prefix(const Node& node) { return static_cast<std::uint32_t>(node.low >> 32); }
  static std::uint32_t last(const Node& node) { return static_cast<std::uint32_t>(node.low); }
  std::string_view spelling(const Node& word) const;

  // Enters all nodes of another lexicon, adds their frequencies, and returns their numbers here.
  std::vector<std::uint32_t> absorb(const Lexicon& other);

  // All nodes in the order of their text, an n-gram being its words joined by spaces.
  std::vector<std::uint32_t> sorted() const;

  // The text of a node: its length in bytes, and the text written to `out`, whose end is returned.
  // Texts are read in sorted order, which is scattered over the nodes: ask for node, then its last word,
  // ahead.
  void prefetch(std::uint32_t node) const { __builtin_prefetch(&nodes_[node]); }
  void prefetch_last(std::uint32_t node) const {
    if (!is_word(nodes_[node])) __builtin_prefetch(&nodes_[last(nodes_[node])]);
  }
  std::size_t text_length(std::uint32_t node) const;
  char* write_text(std::uint32_t node, char* out) const;

  // The hash of each node's text, as a Vocabulary has it.
  std::vector<std::uint64_t> text_hashes() const;

 private:
  std::size_t mask() const { return slots_.size() - 1; }
  std::uint32_t add(const Node& node, std::uint64_t hash, std::size_t slot);
  std::uint64_t hash(const Node& node) const;
  void grow();

  Buffer<std::uint64_t> slots_;  // as in Vocabulary
  Buffer<Node> nodes_;
  std::vector<char> arena_;  // words of more than 16 bytes
};

}  // namespace genus
