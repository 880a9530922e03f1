#include "text/word_vectors.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/thread_memory.h"
#include "text/ngram_lookup.h"
#include "text/vector_sums.h"

namespace genus {
namespace {

constexpr std::uint8_t begins_pair = 1, ends_pair = 2;
constexpr std::size_t longest_split = 100;  // characters of a word that is still split into pieces
constexpr std::int32_t unknown = Vocabulary::unknown;

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

// Words as the longest entries that they are made of. Belongs to one thread.
class Splitter {
 public:
  // Appends the entries of a word's pieces, or nothing where one is missing.
  void operator()(const Vocabulary& vocabulary, const Token& word, std::vector<std::int32_t>& entries) {
    if (word.length > 4 * longest_split || n_characters(word) > longest_split) return;
    bytes_.assign(prefix.size() + word.length + token_padding, '\0');
    char* const text = bytes_.data() + prefix.size();
    std::copy_n(word.data, word.length, text);
    const auto first = entries.size();
    for (std::size_t begin = 0; begin < word.length;) {
      // The mark of a continuation is written over what is done with.
      char* const piece = begin == 0 ? text : text + begin - prefix.size();
      if (begin > 0) std::copy(prefix.begin(), prefix.end(), piece);
      const std::size_t mark = begin == 0 ? 0 : prefix.size();
      std::size_t length = word.length - begin;
      std::int32_t entry = unknown;
      for (; length > 0; --length) {
        if (begin + length < word.length && continues_character(text[begin + length])) continue;
        const Token token{piece, hash_token(piece, mark + length), static_cast<std::uint32_t>(mark + length)};
        if ((entry = vocabulary.find_word(token)) != unknown) break;
      }
      if (entry == unknown) return entries.resize(first);
      entries.push_back(entry);
      begin += length;
    }
  }

 private:
  static constexpr std::string_view prefix = "##";

  static std::size_t n_characters(const Token& word) {
    return word.length -
           static_cast<std::size_t>(std::count_if(word.data, word.data + word.length, continues_character));
  }

  std::vector<char> bytes_;
};

// The entries of the words and pairs of one batch after another. Belongs to one thread.
class EntryLookup {
 public:
  EntryLookup(const WordTable& words, std::size_t n_documents)
      : words_(words), lookup_(words.vocabulary, {}, n_documents) {}

  void look_up(const Batch& batch) {
    entries_ = lookup_.words(batch);
    pairs_.assign(batch.tokens.size(), unknown);
    places_.clear();
    for (std::size_t i = 0; i < batch.size(); ++i)
      for (std::size_t place = batch.begin(i); place + 1 < batch.ends[i]; ++place)
        if (may_be_pair(entries_[place], entries_[place + 1])) places_.push_back(place);
    in_stages(
        places_.size(), [&](std::size_t k) { return pair_hash(batch, places_[k]); },
        [&](std::size_t k) { pairs_[places_[k]] = find_pair(batch, places_[k]); },
        [&](std::uint64_t hash) { words_.vocabulary.prefetch_bucket(hash); });
  }

  // Of the batch that was looked up last: the entry of a token, and of the pair that it begins, or `unknown`.
  std::int32_t entry(std::size_t place) const { return entries_[place]; }
  std::int32_t pair(std::size_t place) const { return pairs_[place]; }

  // Appends the entries whose vectors a token adds by itself.
  void append(const Batch& batch, std::size_t place, std::vector<std::int32_t>& entries) {
    if (entries_[place] != unknown) {
      entries.push_back(entries_[place]);
    } else if (words_.splits) {
      split_(words_.vocabulary, batch.tokens[place], entries);
    }
  }

 private:
  bool may_be_pair(std::int32_t first, std::int32_t second) const {
    if (first == unknown || second == unknown) {
      // By its text, which is rare.
      return words_.vocabulary.has_spelled() && (first == unknown || has(first, begins_pair)) &&
             (second == unknown || has(second, ends_pair));
    }
    return has(first, begins_pair) && has(second, ends_pair);
  }
  bool has(std::int32_t entry, std::uint8_t mark) const {
    return (words_.marks[static_cast<std::size_t>(entry)] & mark) != 0;
  }
  bool is_named(std::size_t place) const {
    return entries_[place] != unknown && entries_[place + 1] != unknown;
  }
  std::uint64_t name(std::size_t place) const {
    return Vocabulary::name(entries_[place], entries_[place + 1]);
  }
  std::uint64_t pair_hash(const Batch& batch, std::size_t place) const {
    return is_named(place) ? Vocabulary::hash_name(name(place))
                           : hash_join(batch.tokens[place].hash, batch.tokens[place + 1].hash);
  }
  std::int32_t find_pair(const Batch& batch, std::size_t place) const {
    const auto hash = pair_hash(batch, place);
    return is_named(place) ? words_.vocabulary.find_name(name(place), hash)
                           : words_.vocabulary.find_text(&batch.tokens[place], 2, hash);
  }

  WordTable words_;
  NGramLookup lookup_;
  Splitter split_;
  std::span<const std::int32_t> entries_;
  std::vector<std::int32_t> pairs_;  // by place in the batch
  std::vector<std::size_t> places_;  // where a pair may begin
};

void prefetch_rows(const VectorRows& vectors, std::span<const std::int32_t> entries) {
  constexpr std::size_t line = 64;
  const std::size_t item = vectors.in_bytes() ? 1 : sizeof(float);
  const auto* const base = vectors.in_bytes() ? reinterpret_cast<const char*>(vectors.bytes.data())
                                              : reinterpret_cast<const char*>(vectors.floats.data());
  const std::size_t width = vectors.n_dimensions * item;
  for (const std::int32_t entry : entries)
    for (std::size_t at = 0; at < width; at += line)
      __builtin_prefetch(base + static_cast<std::size_t>(entry) * width + at);
}

// What one thread keeps from document to document.
struct Worker {
  std::unique_ptr<TokenSource::Reader> read;
  EntryLookup lookup;
  Batch batch{};
  std::vector<std::int32_t> entries{};  // of the documents of the batch
  std::vector<std::size_t> ends{};      // of each document's entries
};

// Notes the entries of every document of the worker's batch, the first of which is document d.
void note_entries(Worker& w, const VectorRows& vectors, std::size_t d, EncodedTexts& result) {
  w.lookup.look_up(w.batch);
  w.entries.clear();
  w.ends.clear();
  for (std::size_t i = 0; i < w.batch.size(); ++i, ++d) {
    std::int32_t n_whole = 0, n_unknown = 0;
    for (std::size_t place = w.batch.begin(i); place < w.batch.ends[i]; ++place) {
      const std::size_t before = w.entries.size();
      w.lookup.append(w.batch, place, w.entries);
      n_whole += w.lookup.entry(place) != unknown;
      n_unknown += w.entries.size() == before;
      if (const auto pair = w.lookup.pair(place); pair != unknown) w.entries.push_back(pair);
      prefetch_rows(vectors, std::span(w.entries).subspan(before));
    }
    w.ends.push_back(w.entries.size());
    result.n_words[d] = static_cast<std::int32_t>(w.batch.document(i).size());
    result.n_whole[d] = n_whole;
    result.n_unknown[d] = n_unknown;
  }
}

}  // namespace

WordLookup make_word_lookup(StringsView words) {
  WordLookup result{make_table(words, true), std::vector<std::uint8_t>(words.size(), 0)};
  const Vocabulary vocabulary(words, result.table);
  const auto found = find_words(words, true, vocabulary, 0);
  for (std::size_t i = 0; i < found.size() && result.duplicate < 0; ++i)
    if (found[i] != static_cast<std::int32_t>(i)) result.duplicate = static_cast<std::int64_t>(i);
  OwnedStrings first, second;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto word = words[i];
    const auto space = word.find(' ');
    if (space == word.npos || word.find(' ', space + 1) != word.npos) continue;
    first.append(word.substr(0, space));
    second.append(word.substr(space + 1));
  }
  const auto mark = [&](const OwnedStrings& parts, std::uint8_t as) {
    for (const auto entry : find_words({parts.blob, parts.offsets}, false, vocabulary, 0))
      if (entry != unknown) result.marks[static_cast<std::size_t>(entry)] |= as;
  };
  mark(first, begins_pair);
  mark(second, ends_pair);
  return result;
}

EncodedTexts encode(const TokenSource& source, const WordTable& words, const VectorRows& vectors,
                    int n_threads, SimdLevel level) {
  const auto n = static_cast<std::size_t>(source.size());
  const std::size_t width = vectors.n_dimensions;
  const VectorSums& sums = vector_sums(level);
  EncodedTexts result;
  result.vectors.resize(n * width);
  for (auto* counts : {&result.n_words, &result.n_whole, &result.n_unknown}) counts->resize(n);
  const auto ranges = ranges_of_equal_work(source);
  parallel_with_memory(
      static_cast<std::int64_t>(ranges.size()), n_threads,
      [&] { return Worker{source.reader(), EntryLookup(words, n)}; },
      [&](std::int64_t r, Worker& w) {
        const auto [begin, end] = ranges[static_cast<std::size_t>(r)];
        for (std::int64_t d = begin; d < end;) {
          const std::int64_t next = (*w.read)(d, end, w.batch);
          note_entries(w, vectors, static_cast<std::size_t>(d), result);
          for (std::size_t i = 0, at = 0; i < w.ends.size(); at = w.ends[i++]) {
            float* const out = result.vectors.data() + (static_cast<std::size_t>(d) + i) * width;
            const auto* const rows = w.entries.data() + at;
            std::fill_n(out, width, 0.0F);
            if (vectors.in_bytes()) {
              sums.add_bytes(vectors.bytes.data(), vectors.scales.data(), width, rows, w.ends[i] - at, out);
            } else {
              sums.add_floats(vectors.floats.data(), width, rows, w.ends[i] - at, out);
            }
            sums.to_unit(out, width);
          }
          d = next;
        }
      });
  return result;
}

TokenEntries token_entries(const TokenSource& source, const WordTable& words) {
  TokenEntries result;
  Batch batch;
  EntryLookup lookup(words, static_cast<std::size_t>(source.size()));
  const auto read = source.reader();
  for (std::int64_t d = 0; d < source.size();) {
    d = (*read)(d, source.size(), batch);
    lookup.look_up(batch);
    for (std::size_t place = 0; place < batch.tokens.size(); ++place) {
      result.tokens.append({batch.tokens[place].data, batch.tokens[place].length});
      lookup.append(batch, place, result.entries);
      result.ends.push_back(static_cast<std::int64_t>(result.entries.size()));
      result.pairs.push_back(lookup.pair(place));
    }
  }
  return result;
}

}  // namespace genus
