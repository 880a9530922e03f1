#include "text/vocabulary.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>

namespace genus {
namespace {

std::uint64_t slot_value(std::uint64_t hash, std::size_t number) {
  return (hash >> 32 << 32) | (number + 1);
}

// How many tokens a text from outside has.
std::size_t count_tokens(std::string_view text, bool n_grams) {
  return n_grams ? static_cast<std::size_t>(std::count(text.begin(), text.end(), ' ')) + 1 : 1;
}

// A text from outside as tokens, in memory of its own that may be read past their ends.
class Cut {
 public:
  std::span<const Token> operator()(std::string_view text, bool n_grams) {
    copy_.assign(text).append(token_padding, '\0');
    tokens_.resize(count_tokens(text, n_grams));
    const char* data = copy_.data();
    for (Token& token : tokens_) {
      const std::size_t rest = copy_.data() + text.size() - data;
      const auto length = n_grams ? std::min(std::string_view(data, rest).find(' '), rest) : rest;
      token = {data, hash_token(data, length), static_cast<std::uint32_t>(length)};
      data += length + 1;
    }
    return tokens_;
  }

 private:
  std::string copy_;
  std::vector<Token> tokens_;
};

// What a table begins with: its layout, and how many n-grams are there by name, n-grams by text, and brief
// words. The rest of the cache line is left free.
enum Header : std::size_t { layout, n_named, n_spelled, n_brief };
constexpr std::size_t bucket_size = sizeof(Vocabulary::Bucket) / sizeof(std::uint64_t);
constexpr std::size_t header_size = bucket_size;
constexpr std::uint64_t this_layout = 0x32656c6261746e67ULL;  // "gntable2"

std::size_t buckets_of(std::span<const std::uint64_t> table) {
  return Vocabulary::is_table(table) ? (table.size() - header_size) / bucket_size : 0;
}

}  // namespace

std::uint64_t hash_tokens(std::span<const Token> tokens) {
  std::uint64_t hash = tokens[0].hash;
  for (const Token& token : tokens.subspan(1)) hash = hash_join(hash, token.hash);
  return hash;
}

Vocabulary::Vocabulary(StringsView words, std::span<const std::uint64_t> table)
    : words_(words), n_buckets_(buckets_of(table)) {
  if (n_buckets_ == 0) return;
  n_named_ = table[n_named];
  n_spelled_ = table[n_spelled];
  n_brief_ = table[n_brief];
  buckets_ = reinterpret_cast<const Bucket*>(table.data() + header_size);
}

bool Vocabulary::is_table(std::span<const std::uint64_t> table) {
  return table.size() >= header_size && table[layout] == this_layout;
}

std::int32_t Vocabulary::find(std::span<const Token> tokens) const {
  std::uint64_t hash = tokens[0].hash;
  std::int32_t column = find_word(tokens[0]);
  for (std::size_t n = 2; n <= tokens.size(); ++n) {
    const Token& last = tokens[n - 1];
    hash = hash_join(hash, last.hash);
    const auto last_column = find_word(last);
    if (column == unknown || last_column == unknown) {
      column = find_text(tokens.data(), n, hash);
    } else {
      const auto both = name(column, last_column);
      column = find_name(both, hash_name(both));
    }
  }
  return column;
}

bool Vocabulary::spells(std::string_view word, const Token* tokens, std::size_t n) const {
  std::size_t total = n - 1;
  for (std::size_t k = 0; k < n; ++k) total += tokens[k].length;
  if (word.size() != total) return false;
  // Most words are short: two loads instead of a call. They may read past the word, not past the bytes.
  const char* const end = reinterpret_cast<const char*>(words_.blob.data() + words_.blob.size());
  const char* p = word.data();
  for (std::size_t k = 0; k < n; ++k) {
    if (k > 0 && *p++ != ' ') return false;
    const Token& token = tokens[k];
    const bool same = token.length <= 16 && end - p >= 16
                          ? head_of(p, token.length) == head_of(token.data, token.length)
                          : std::memcmp(p, token.data, token.length) == 0;
    if (!same) return false;
    p += token.length;
  }
  return true;
}

TableBuilder::TableBuilder(std::size_t n_features)
    : owned_(
          n_features == 0 ? 0 : header_size + bucket_size * (2 * n_features / Vocabulary::Bucket::most + 1),
          0),
      table_(owned_) {
  if (n_features > 0) table_[layout] = this_layout;
}

void TableBuilder::enter(std::uint64_t hash, std::uint64_t key, std::int32_t column) {
  auto* const buckets = reinterpret_cast<Vocabulary::Bucket*>(table_.data() + header_size);
  const std::size_t n_buckets = buckets_of(table_);
  std::size_t i = Vocabulary::place(hash, n_buckets);
  while (!buckets[i].has_room()) i = i + 1 == n_buckets ? 0 : i + 1;
  const auto free = static_cast<std::size_t>(std::countr_zero(buckets[i].places(0)));
  buckets[i].columns[free] = column;
  // Last: another thread may be looking for words.
  std::atomic_ref(buckets[i].keys[free]).store(key, std::memory_order_release);
}

void TableBuilder::enter_word(const Token& word, std::int32_t column) {
  if (word.length > longest_brief) return enter(word.hash, Vocabulary::text(word.hash), column);
  ++table_[n_brief];
  enter(word.hash, Vocabulary::brief(word), column);
}

void TableBuilder::enter_text(std::uint64_t hash, std::int32_t column) {
  ++table_[n_spelled];
  enter(hash, Vocabulary::text(hash), column);
}

void TableBuilder::enter_name(std::uint64_t name, std::int32_t column) {
  ++table_[n_named];
  enter(Vocabulary::hash_name(name), name, column);
}

namespace {

// Enters words first ... size - 1, shorter n-grams before longer ones.
void enter_words(TableBuilder& builder, StringsView words, std::size_t first, bool n_grams) {
  std::map<std::size_t, std::vector<std::size_t>> by_length;
  for (std::size_t i = first; i < words.size(); ++i) by_length[count_tokens(words[i], n_grams)].push_back(i);
  const Vocabulary vocabulary(words, builder.table());
  Cut cut;
  for (const auto& [n, numbers] : by_length)
    for (const std::size_t i : numbers) {
      const auto column = static_cast<std::int32_t>(i);
      const auto tokens = cut(words[i], n_grams);
      if (n == 1) {
        builder.enter_word(tokens[0], column);
        continue;
      }
      const auto prefix = vocabulary.find(tokens.first(n - 1)), last = vocabulary.find_word(tokens.back());
      if (prefix == Vocabulary::unknown || last == Vocabulary::unknown) {
        builder.enter_text(hash_tokens(tokens), column);
      } else {
        builder.enter_name(Vocabulary::name(prefix, last), column);
      }
    }
}

}  // namespace

Buffer<std::uint64_t> make_table(StringsView words, bool n_grams) {
  TableBuilder builder(words.size());
  enter_words(builder, words, 0, n_grams);
  return builder.take();
}

bool extend_table(std::span<std::uint64_t> table, StringsView words, std::size_t first, bool n_grams) {
  // An n-gram that is there by its text may have to move: its parts may be among the new words.
  if (3 * words.size() > 2 * Vocabulary::Bucket::most * buckets_of(table) ||
      Vocabulary(words, table).has_spelled())
    return false;
  TableBuilder builder(table);
  enter_words(builder, words, first, n_grams);
  return true;
}

std::vector<std::int32_t> find_words(StringsView features, bool n_grams, const Vocabulary& vocabulary,
                                     std::uint32_t n_hash) {
  std::vector<std::int32_t> columns(features.size());
  Cut cut;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto tokens = cut(features[i], n_grams);
    columns[i] = n_hash > 0 ? hashed_column(hash_tokens(tokens), n_hash) : vocabulary.find(tokens);
  }
  return columns;
}

Lexicon::Lexicon() : slots_(1 << 12, 0) {}

std::uint32_t Lexicon::word(const Token& token) {
  const Head head = head_of(token.data, token.length);
  std::size_t i = token.hash & mask();
  for (; slots_[i] != 0; i = (i + 1) & mask()) {
    if (slots_[i] >> 32 != token.hash >> 32) continue;
    const auto number = static_cast<std::uint32_t>(slots_[i]) - 1;
    const Node& node = nodes_[number];
    if (node.length != token.length) continue;
    if (token.length <= 16 ? Head{node.low, node.high} == head
                           : std::memcmp(arena_.data() + node.low, token.data, token.length) == 0)
      return number;
  }
  Node node{.low = head.low, .high = head.high, .length = token.length};
  if (token.length > 16) {
    node.low = arena_.size();
    node.high = token.hash;
    arena_.insert(arena_.end(), token.data, token.data + token.length);
  }
  return add(node, token.hash, i);
}

std::uint32_t Lexicon::n_gram(std::uint32_t prefix, std::uint32_t last, std::uint64_t hash) {
  const std::uint64_t key = static_cast<std::uint64_t>(prefix) << 32 | last;
  std::size_t i = hash & mask();
  for (; slots_[i] != 0; i = (i + 1) & mask()) {
    if (slots_[i] >> 32 != hash >> 32) continue;
    const auto number = static_cast<std::uint32_t>(slots_[i]) - 1;
    if (!is_word(nodes_[number]) && nodes_[number].low == key) return number;
  }
  return add(Node{.low = key, .length = none}, hash, i);
}

std::uint32_t Lexicon::add(const Node& node, std::uint64_t hash, std::size_t slot) {
  const auto number = nodes_.size();
  if (number >= 0x7fffffff) throw std::length_error("more than 2^31 distinct words and n-grams");
  slots_[slot] = slot_value(hash, number);
  nodes_.push_back(node);
  if (nodes_.size() * 2 > slots_.size()) grow();
  return static_cast<std::uint32_t>(number);
}

std::string_view Lexicon::spelling(const Node& word) const {
  if (word.length > 16) return {arena_.data() + word.low, word.length};
  return {reinterpret_cast<const char*>(&word.low), word.length};
}

std::uint64_t Lexicon::hash(const Node& node) const {
  if (!is_word(node)) return hash_n_gram(prefix(node), last(node));
  if (node.length > 16) return node.high;
  char padded[16 + token_padding] = {};
  std::memcpy(padded, &node.low, 16);
  return hash_token(padded, node.length);
}

void Lexicon::grow() {
  slots_.assign(2 * slots_.size(), 0);
  for (std::size_t number = 0; number < nodes_.size(); ++number) {
    const std::uint64_t h = hash(nodes_[number]);
    std::size_t i = h & mask();
    while (slots_[i] != 0) i = (i + 1) & mask();
    slots_[i] = slot_value(h, number);
  }
}

std::vector<std::uint32_t> Lexicon::absorb(const Lexicon& other) {
  constexpr std::size_t ahead = 16;
  std::vector<std::uint32_t> here(other.size(), 0);
  std::string padded;
  for (std::size_t number = 0; number < other.size(); ++number) {  // parents come before their children
    if (number + ahead < other.size() && !is_word(other.nodes_[number + ahead])) {
      const Node& next = other.nodes_[number + ahead];
      prefetch_slot(hash_n_gram(here[prefix(next)], here[last(next)]));
    }
    const Node& node = other.nodes_[number];
    if (is_word(node)) {
      const std::string_view text = other.spelling(node);
      padded.assign(text).append(token_padding, '\0');
      here[number] = word({padded.data(), other.hash(node), node.length});
    } else {
      const std::uint32_t first = here[prefix(node)], second = here[last(node)];
      here[number] = n_gram(first, second, hash_n_gram(first, second));
    }
    nodes_[here[number]].frequency += node.frequency;
  }
  return here;
}

std::vector<std::uint32_t> Lexicon::sorted() const {
  // Words by their first 16 bytes as big-endian numbers, then by the rest.
  struct Key {
    std::uint64_t first, second;
    std::uint32_t node;
  };
  std::vector<Key> words;
  for (std::uint32_t number = 0; number < nodes_.size(); ++number) {
    const Node& node = nodes_[number];
    if (!is_word(node)) continue;
    Head head{node.low, node.high};
    if (node.length > 16) head = head_of(arena_.data() + node.low, 16);
    words.push_back({__builtin_bswap64(head.low), __builtin_bswap64(head.high), number});
  }
  std::sort(words.begin(), words.end(), [this](const Key& a, const Key& b) {
    if (a.first != b.first) return a.first < b.first;
    if (a.second != b.second) return a.second < b.second;
    return spelling(nodes_[a.node]) < spelling(nodes_[b.node]);
  });
  std::vector<std::uint32_t> order;
  order.reserve(nodes_.size());
  if (words.size() == nodes_.size()) {
    for (const Key& key : words) order.push_back(key.node);
    return order;
  }

  // N-grams follow their prefix, ordered by their last word: a space sorts before every character of a word,
  // so the order of the joined texts is that of a walk through the trie. Children are chained per parent,
  // last word in descending order, so that each list comes out ascending.
  const std::size_t n = nodes_.size();
  std::vector<std::uint32_t> first_with(n + 1, 0);  // counting sort of the n-grams by their last word
  for (const Node& node : nodes_)
    if (!is_word(node)) ++first_with[last(node) + 1];
  for (std::size_t i = 0; i < n; ++i) first_with[i + 1] += first_with[i];
  std::vector<std::uint32_t> by_last(first_with[n]);
  for (std::uint32_t number = 0; number < n; ++number)
    if (!is_word(nodes_[number])) by_last[first_with[last(nodes_[number])]++] = number;
  // first_with[w] is now the end of w's list, which starts where the list of w - 1 ends.
  std::vector<std::uint32_t> child(n, none), sibling(n, none);
  for (auto key = words.rbegin(); key != words.rend(); ++key) {
    const std::uint32_t begin = key->node == 0 ? 0 : first_with[key->node - 1];
    for (std::uint32_t i = begin; i < first_with[key->node]; ++i) {
      const std::uint32_t node = by_last[i], parent = prefix(nodes_[node]);
      sibling[node] = child[parent];
      child[parent] = node;
    }
  }
  std::vector<std::uint32_t> path;
  for (const Key& key : words) {
    path.assign(1, key.node);
    while (!path.empty()) {
      const std::uint32_t node = path.back();
      path.pop_back();
      order.push_back(node);
      if (sibling[node] != none) path.push_back(sibling[node]);
      if (child[node] != none) path.push_back(child[node]);
    }
  }
  return order;
}

std::size_t Lexicon::text_length(std::uint32_t number) const {
  const Node& node = nodes_[number];
  if (is_word(node)) return node.length;
  return text_length(prefix(node)) + 1 + nodes_[last(node)].length;
}

char* Lexicon::write_text(std::uint32_t number, char* out) const {
  const Node& node = nodes_[number];
  if (!is_word(node)) {
    out = write_text(prefix(node), out);
    *out++ = ' ';
    return write_text(last(node), out);
  }
  const std::string_view text = spelling(node);
  return std::copy(text.begin(), text.end(), out);
}

std::vector<std::uint32_t> Lexicon::lengths() const {
  std::vector<std::uint32_t> lengths(nodes_.size(), 1);
  for (std::size_t number = 0; number < nodes_.size(); ++number)  // parents come before their children
    if (const Node& node = nodes_[number]; !is_word(node)) lengths[number] = lengths[prefix(node)] + 1;
  return lengths;
}

std::vector<std::uint64_t> Lexicon::text_hashes() const {
  std::vector<std::uint64_t> hashes(nodes_.size());
  for (std::size_t number = 0; number < nodes_.size(); ++number) {  // parents come before their children
    const Node& node = nodes_[number];
    hashes[number] = is_word(node) ? hash(node) : hash_join(hashes[prefix(node)], hashes[last(node)]);
  }
  return hashes;
}

}  // namespace genus
