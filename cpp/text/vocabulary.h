// Words and n-grams to column numbers.
//
// Lexicon grows while a corpus is read; Vocabulary is what remains: flat arrays that can be mapped from a
// file and searched at once. Both probe a table linearly. An n-gram is found by a name, the numbers of its
// first words and of its last, and a word of up to 7 bytes by those bytes, which costs one cache line; a
// longer word by its text, which costs three.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "base/hashing.h"
#include "text/tokenizer.h"

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

// A finished vocabulary: its words, and a table of where they are.
class Vocabulary {
 public:
  // A cache line of the table: keys and their columns, in the order they came, 0 where there is room.
  //
  // The key of a brief word is the word itself; that of a longer one its hash, and it is compared by its
  // text. So is an n-gram of which a part is no feature by itself; every other n-gram has for a key its name,
  // the columns of its first words and of its last. Bits 63 and 31 tell the three apart.
  struct Bucket {
    static constexpr std::size_t most = 5;
    std::array<std::uint64_t, most> keys;
    std::array<std::int32_t, most> columns;
    std::uint32_t unused;

    bool has_room() const { return keys[most - 1] == 0; }
    // A bit for each place of a key. All are compared: a branch would be mispredicted.
    std::uint32_t places(std::uint64_t key) const {
      std::uint32_t found = 0;
      for (std::uint32_t k = 0; k < most; ++k) found |= static_cast<std::uint32_t>(keys[k] == key) << k;
      return found;
    }
  };
  static_assert(sizeof(Bucket) == 64);

  static std::uint64_t brief(const Token& word) { return brief_key(word.data, word.length) | bit63; }
  static std::uint64_t text(std::uint64_t hash) { return (hash & ~bit63 & ~bit31) | 1; }
  static std::uint64_t name(std::int32_t prefix, std::int32_t last) {
    return static_cast<std::uint64_t>(prefix) << 32 | static_cast<std::uint32_t>(last) | bit31;
  }

  // `table` is what make_table gives, or nothing. It is not trusted; one of another layout finds nothing.
  Vocabulary(StringsView words, std::span<const std::uint64_t> table);
  static bool is_table(std::span<const std::uint64_t> table);

  static constexpr std::int32_t unknown = -1;

  std::size_t size() const { return words_.size(); }
  bool has_named() const { return n_named_ > 0; }
  bool has_spelled() const { return n_spelled_ > 0; }  // n-grams, that is

  // Whether nearly all words are brief, as n-grams of characters are, and the table lies in a core's own
  // cache: nothing is found sooner elsewhere.
  bool is_near() const {
    return n_brief_ > size() - size() / 8 && n_buckets_ * sizeof(Bucket) <= std::size_t{1} << 20;
  }

  // The column of a word.
  std::int32_t find_word(const Token& word) const {
    return word.length <= longest_brief ? find_key(brief(word), word.hash) : find_text(&word, 1, word.hash);
  }

  // The column of the n-gram made of these tokens, if it is there by its text; `hash` is their joint hash.
  std::int32_t find_text(const Token* tokens, std::size_t n, std::uint64_t hash) const {
    std::size_t i = place(hash);
    for (std::size_t probes = 0; probes < n_buckets_; ++probes, i = next(i)) {
      const Bucket& bucket = buckets_[i];
      for (auto places = bucket.places(text(hash)); places != 0; places &= places - 1) {
        const auto column = bucket.columns[static_cast<std::size_t>(std::countr_zero(places))];
        if (in_range(column) && spells(words_[static_cast<std::size_t>(column)], tokens, n)) return column;
      }
      if (bucket.has_room()) break;
    }
    return unknown;
  }

  // The column of the n-gram made of these two, if it is there by name.
  std::int32_t find_name(std::uint64_t name, std::uint64_t hash) const { return find_key(name, hash); }
  static std::uint64_t hash_name(std::uint64_t name) {
    return fold_multiply(name ^ 0xa0761d6478bd642fULL, 0xe7037ed1a0b428dbULL);
  }

  // The bucket where the search for a hash begins.
  static std::size_t place(std::uint64_t hash, std::size_t n_buckets) {
    return (hash >> 32) * n_buckets >> 32;
  }

  // The column of the n-gram made of these tokens.
  std::int32_t find(std::span<const Token> tokens) const;

  // A look-up by text waits for three cache lines, each found through the one before: bucket, offsets, text.
  // These ask for one of them ahead of time; call them in this order, some look-ups apart.
  void prefetch_bucket(std::uint64_t hash) const {
    const auto* const bytes = reinterpret_cast<const char*>(buckets_ + place(hash));
    __builtin_prefetch(bytes);
    __builtin_prefetch(bytes + sizeof(Bucket) - 1);  // in another line where the table is not aligned
  }
  void prefetch_offsets(std::uint64_t hash) const {
    if (const auto column = candidate(hash); in_range(column)) __builtin_prefetch(&words_.offsets[column]);
  }
  void prefetch_text(std::uint64_t hash) const {
    if (const auto column = candidate(hash); in_range(column))
      __builtin_prefetch(words_[static_cast<std::size_t>(column)].data());
  }

 private:
  std::size_t place(std::uint64_t hash) const { return place(hash, n_buckets_); }
  std::size_t next(std::size_t i) const { return i + 1 == n_buckets_ ? 0 : i + 1; }
  bool in_range(std::int32_t column) const { return static_cast<std::uint32_t>(column) < size(); }

  // The column of what its key alone tells from all others.
  std::int32_t find_key(std::uint64_t key, std::uint64_t hash) const {
    std::size_t i = place(hash);
    for (std::size_t probes = 0; probes < n_buckets_; ++probes, i = next(i)) {
      const Bucket& bucket = buckets_[i];
      const auto places = bucket.places(key);
      if ((places | static_cast<std::uint32_t>(bucket.has_room())) == 0) continue;
      const auto at = std::countr_zero(places | 1U << (Bucket::most - 1));
      const auto column = bucket.columns[static_cast<std::size_t>(at)];
      const bool found = (places != 0) & in_range(column);
      return column | (static_cast<std::int32_t>(found) - 1);  // no branch: `unknown` has all bits set
    }
    return unknown;
  }
  bool spells(std::string_view word, const Token* tokens, std::size_t n) const;

  // Where a look-up by text will most likely end.
  std::int32_t candidate(std::uint64_t hash) const {
    if (n_buckets_ == 0) return unknown;
    const Bucket& bucket = buckets_[place(hash)];
    const auto places = bucket.places(text(hash));
    return places == 0 ? unknown : bucket.columns[static_cast<std::size_t>(std::countr_zero(places))];
  }

  static constexpr std::uint64_t bit63 = std::uint64_t{1} << 63, bit31 = std::uint64_t{1} << 31;
  StringsView words_;
  std::uint64_t n_named_ = 0, n_spelled_ = 0, n_brief_ = 0;
  std::size_t n_buckets_ = 0;
  const Bucket* buckets_ = nullptr;
};

// Remembers the columns of frequent short words. A word costs one cache line here, three in the vocabulary.
class WordCache {
 public:
  // It grows with the work to come, up to what a core has for itself; for a few documents it stays empty.
  explicit WordCache(std::size_t n_documents)
      : entries_(n_documents < 64 ? 0 : std::min<std::size_t>(std::bit_ceil(8 * n_documents), 1 << 16)) {}

  static constexpr std::int32_t absent = -2;

  void prefetch(const Token& token) const {
    if (!entries_.empty()) __builtin_prefetch(&entries_[place(token)]);
  }
  std::int32_t find(const Token& token) const {
    if (entries_.empty() || token.length > 16) return absent;
    const Entry& entry = entries_[place(token)];
    const Head head = head_of(token.data, token.length);
    const auto differs =
        (entry.head.low ^ head.low) | (entry.head.high ^ head.high) | (entry.length ^ token.length);
    return differs == 0 ? entry.column : absent;
  }
  void enter(const Token& token, std::int32_t column) {
    if (entries_.empty() || token.length > 16) return;
    entries_[place(token)] = {head_of(token.data, token.length), token.length, column};
  }

 private:
  struct Entry {
    Head head{0, 0};
    std::uint32_t length = 0;  // no token is empty
    std::int32_t column = 0;
  };
  std::size_t place(const Token& token) const { return (token.hash >> 32) & (entries_.size() - 1); }
  std::vector<Entry> entries_;
};

// Fills the table of a vocabulary: words first, then n-grams, shorter ones first, each by its column, so that
// the same vocabulary has the same table however it came about.
class TableBuilder {
 public:
  explicit TableBuilder(std::size_t n_features);                            // a new table for so many
  explicit TableBuilder(std::span<std::uint64_t> table) : table_(table) {}  // goes on with one

  void enter_word(const Token& word, std::int32_t column);
  void enter_text(std::uint64_t hash, std::int32_t column);  // of an n-gram
  void enter_name(std::uint64_t name, std::int32_t column);

  std::span<std::uint64_t> table() const { return table_; }
  Buffer<std::uint64_t> take() { return std::move(owned_); }

 private:
  void enter(std::uint64_t hash, std::uint64_t key, std::int32_t column);

  Buffer<std::uint64_t> owned_;
  std::span<std::uint64_t> table_;
};

// The table of a vocabulary. With `n_grams`, words are split at single spaces. A string that is there twice
// is found under its first number.
Buffer<std::uint64_t> make_table(StringsView words, bool n_grams);

// Enters words first ... size - 1 into the table of the others, in place; false where that cannot be done.
bool extend_table(std::span<std::uint64_t> table, StringsView words, std::size_t first, bool n_grams);

// The joint hash of tokens.
std::uint64_t hash_tokens(std::span<const Token> tokens);

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

  // First ask for the slot, later for the node it leads to.
  void prefetch_slot(std::uint64_t hash) const { __builtin_prefetch(&slots_[hash & mask()]); }
  void prefetch_node(std::uint64_t hash) const {
    if (const auto number = candidate(hash); number < size()) __builtin_prefetch(&nodes_[number]);
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

  // How many words each node has.
  std::vector<std::uint32_t> lengths() const;

  // The hash of a word, and of the text of each node, as a Vocabulary has them.
  std::uint64_t hash(const Node& node) const;
  std::vector<std::uint64_t> text_hashes() const;

 private:
  std::size_t mask() const { return slots_.size() - 1; }
  std::uint32_t candidate(std::uint64_t hash) const {
    std::size_t i = hash & mask();
    for (int probes = 0; probes < 8 && slots_[i] != 0; ++probes, i = (i + 1) & mask())
      if (slots_[i] >> 32 == hash >> 32) return static_cast<std::uint32_t>(slots_[i]) - 1;
    return none;
  }
  std::uint32_t add(const Node& node, std::uint64_t hash, std::size_t slot);
  void grow();

  Buffer<std::uint64_t> slots_;  // 0, or the upper half of the hash beside number + 1; a power of two
  Buffer<Node> nodes_;
  std::vector<char> arena_;  // words of more than 16 bytes
};

}  // namespace genus
