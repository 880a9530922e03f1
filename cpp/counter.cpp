#include "counter.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "parallel.h"

namespace genus {
namespace {

constexpr std::size_t block_weight = 1 << 18;  // bytes of text in a block: many blocks per thread, few in all

// Ranges of consecutive documents of about equal work.
std::vector<std::pair<std::int64_t, std::int64_t>> split(const TokenSource& source) {
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  std::int64_t first = 0;
  std::size_t weight = 0;
  for (std::int64_t d = 0; d < source.size(); ++d) {
    weight += source.weight(d) + 16;
    if (weight >= block_weight) {
      ranges.emplace_back(first, d + 1);
      first = d + 1;
      weight = 0;
    }
  }
  if (first < source.size()) ranges.emplace_back(first, source.size());
  return ranges;
}

// Sorts the keys of one row by their bits from `shift` on. Short rows by insertion; longer ones digit by
// digit, least significant first, in as few passes as their largest key asks for: about 5 ns per key, a third
// of std::sort here.
template <class Key>
void sort_row(std::vector<Key>& keys, std::vector<Key>& spare, int shift) {
  if (keys.size() <= 24) {
    for (std::size_t i = 1; i < keys.size(); ++i) {
      const Key key = keys[i];
      std::size_t k = i;
      for (; k > 0 && keys[k - 1] > key; --k) keys[k] = keys[k - 1];
      keys[k] = key;
    }
    return;
  }
  Key all = 0;
  for (const Key key : keys) all |= key;
  const int bits = std::bit_width(static_cast<std::uint64_t>(all >> shift));
  const int widest = keys.size() < 512 ? 9 : 11;  // a pass costs time for its keys and for its digits
  const int passes = std::max(1, (bits + widest - 1) / widest);
  const int digit_bits = (bits + passes - 1) / passes;
  const Key mask = (Key{1} << digit_bits) - 1;
  spare.resize(keys.size());
  std::array<std::uint32_t, 1 << 11> begin;
  for (int pass = 0; pass < passes; ++pass, shift += digit_bits) {
    std::fill_n(begin.begin(), mask + 1, 0);
    for (const Key key : keys) ++begin[(key >> shift) & mask];
    std::uint32_t sum = 0;
    for (std::size_t digit = 0; digit <= mask; ++digit) sum += std::exchange(begin[digit], sum);
    for (const Key key : keys) spare[begin[(key >> shift) & mask]++] = key;
    keys.swap(spare);
  }
}

// What one thread keeps from document to document.
struct Worker {
  std::uint32_t id;
  std::unique_ptr<TokenSource::Reader> read;
  std::vector<Token> tokens;
  std::vector<std::uint32_t> words, nodes;
  std::vector<std::uint64_t> hashes;
};

// Calls work(worker, range number) for all ranges, with one worker per thread.
template <class Work>
void for_each_range(const TokenSource& source, std::size_t n_ranges, int n_threads, Work&& work) {
  const auto n_workers = static_cast<std::int64_t>(
      std::min<std::size_t>(n_ranges, static_cast<std::size_t>(std::max(n_threads, 1))));
  std::atomic<std::size_t> next{0};
  parallel_for(n_workers, n_threads, [&](std::int64_t id) {
    Worker worker{static_cast<std::uint32_t>(id), source.reader(), {}, {}, {}, {}};
    for (std::size_t r; (r = next.fetch_add(1, std::memory_order_relaxed)) < n_ranges;) work(worker, r);
  });
}

// Calls found(node) for every n-gram of the worker's tokens, through a lexicon that learns them.
template <class Found>
void learn_n_grams(Worker& w, NGramRange range, Lexicon& lexicon, Found&& found) {
  const std::size_t n_tokens = w.tokens.size();
  const auto slot = [&](std::uint64_t hash) { lexicon.prefetch_slot(hash); };
  const auto node = [&](std::uint64_t hash) { lexicon.prefetch_node(hash); };
  w.words.resize(n_tokens);
  in_stages(
      n_tokens, [&](std::size_t i) { return w.tokens[i].hash; },
      [&](std::size_t i) {
        w.words[i] = lexicon.word(w.tokens[i]);
        if (range.min == 1) found(w.words[i]);
      },
      slot, node);
  if (range.max == 1) return;
  w.nodes = w.words;  // the (n - 1)-gram that starts at i
  for (std::size_t n = 2; n <= range.max && n <= n_tokens; ++n) {
    const std::size_t count = n_tokens - n + 1;
    w.hashes.resize(count);
    for (std::size_t i = 0; i < count; ++i)
      w.hashes[i] = Lexicon::hash_n_gram(w.nodes[i], w.words[i + n - 1]);
    in_stages(
        count, [&](std::size_t i) { return w.hashes[i]; },
        [&](std::size_t i) {
          w.nodes[i] = lexicon.n_gram(w.nodes[i], w.words[i + n - 1], w.hashes[i]);
          if (n >= range.min) found(w.nodes[i]);
        },
        slot, node);
  }
}

// Calls each(n) for n from range.min to range.max, with hashes[i] the hash of the n-gram that starts at token
// i.
template <class Each>
void hash_n_grams(std::span<const Token> tokens, NGramRange range, std::vector<std::uint64_t>& hashes,
                  Each&& each) {
  hashes.resize(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) hashes[i] = tokens[i].hash;
  for (std::size_t n = 1; n <= range.max && n <= tokens.size(); ++n) {
    hashes.resize(tokens.size() - n + 1);
    if (n > 1)
      for (std::size_t i = 0; i < hashes.size(); ++i)
        hashes[i] = hash_join(hashes[i], tokens[i + n - 1].hash);
    if (n >= range.min) each(n);
  }
}

}  // namespace

CountedCorpus::CountedCorpus(const TokenSource& source, NGramRange range, int n_threads)
    : n_documents_(source.size()) {
  if (n_documents_ >= 0xffffffff) throw std::length_error("more than 2^32 documents in one call");
  const auto ranges = split(source);
  blocks_.resize(ranges.size());
  std::vector<Lexicon> lexicons(static_cast<std::size_t>(std::max(n_threads, 1)));
  for_each_range(source, ranges.size(), n_threads, [&](Worker& worker, std::size_t r) {
    Lexicon& lexicon = lexicons[worker.id];
    Block& block = blocks_[r];
    std::tie(block.first, block.last) = ranges[r];
    block.worker = worker.id;
    for (std::int64_t d = block.first; d < block.last; ++d) {
      (*worker.read)(d, worker.tokens);
      const std::size_t row = block.cells.size();
      const auto stamp = static_cast<std::uint32_t>(d + 1);
      learn_n_grams(worker, range, lexicon, [&](std::uint32_t number) {
        Lexicon::Node& node = lexicon[number];
        if (node.stamp == stamp) {
          ++block.cells[row + node.position].count;
        } else {
          node.stamp = stamp;
          node.position = static_cast<std::uint32_t>(block.cells.size() - row);
          ++node.frequency;
          block.cells.push_back({number, 1});
        }
      });
      block.sizes.push_back(static_cast<std::uint32_t>(block.cells.size() - row));
    }
  });
  lexicon_ = std::move(lexicons[0]);
  number_of_.resize(lexicons.size());
  for (std::size_t w = 1; w < lexicons.size(); ++w)
    if (lexicons[w].size() > 0) {
      number_of_[w] = lexicon_.absorb(lexicons[w]);
      lexicons[w] = Lexicon();
    }
  order_ = lexicon_.sorted();
  if (range.min > 1)  // prefixes that are too short to be features
    std::erase_if(order_, [&](std::uint32_t node) { return lexicon_[node].frequency == 0; });
}

std::vector<std::int64_t> CountedCorpus::document_frequency() const {
  std::vector<std::int64_t> result(order_.size());
  std::transform(order_.begin(), order_.end(), result.begin(),
                 [&](std::uint32_t node) { return static_cast<std::int64_t>(lexicon_[node].frequency); });
  return result;
}

std::vector<std::int64_t> CountedCorpus::term_frequency() const {
  std::vector<std::int64_t> by_node(lexicon_.size(), 0);
  for (const Block& block : blocks_) {
    const auto& number = number_of_[block.worker];
    for (const Cell& cell : block.cells)
      by_node[number.empty() ? cell.node : number[cell.node]] += cell.count;
  }
  std::vector<std::int64_t> result(order_.size());
  std::transform(order_.begin(), order_.end(), result.begin(),
                 [&](std::uint32_t node) { return by_node[node]; });
  return result;
}

std::vector<std::uint32_t> CountedCorpus::kept_nodes(std::span<const std::uint8_t> keep) const {
  if (keep.empty()) return order_;
  if (keep.size() != order_.size()) throw std::invalid_argument("keep: one mark per feature");
  std::vector<std::uint32_t> kept;
  for (std::size_t i = 0; i < order_.size(); ++i)
    if (keep[i]) kept.push_back(order_[i]);
  return kept;
}

template <class Value>
CountedRows<Value> CountedCorpus::rows(std::span<const std::uint8_t> keep, bool binary, int n_threads) const {
  const auto kept = kept_nodes(keep);
  std::vector<std::int32_t> by_node(lexicon_.size(), -1);
  for (std::size_t column = 0; column < kept.size(); ++column)
    by_node[kept[column]] = static_cast<std::int32_t>(column);
  std::vector<std::vector<std::int32_t>> column(number_of_.size());  // per worker, by its local node
  for (std::size_t w = 0; w < number_of_.size(); ++w)
    for (const std::uint32_t node : number_of_[w]) column[w].push_back(by_node[node]);
  const auto column_of = [&](const Block& block) -> const std::vector<std::int32_t>& {
    return column[block.worker].empty() ? by_node : column[block.worker];
  };

  CountedRows<Value> result;
  result.indptr.assign(static_cast<std::size_t>(n_documents_) + 1, 0);
  const auto n_blocks = static_cast<std::int64_t>(blocks_.size());
  parallel_for(n_blocks, n_threads, [&](std::int64_t b) {
    const Block& block = blocks_[static_cast<std::size_t>(b)];
    const auto& number = column_of(block);
    const Cell* cell = block.cells.data();
    for (std::size_t i = 0; i < block.sizes.size(); ++i) {
      std::int64_t kept = block.sizes[i];
      if (!keep.empty())
        kept = std::count_if(cell, cell + block.sizes[i], [&](const Cell& c) { return number[c.node] >= 0; });
      cell += block.sizes[i];
      result.indptr[static_cast<std::size_t>(block.first) + i + 1] = kept;
    }
  });
  std::partial_sum(result.indptr.begin(), result.indptr.end(), result.indptr.begin());
  const auto n_entries = static_cast<std::size_t>(result.indptr.back());
  result.indices.resize(n_entries);
  result.values.resize(n_entries);
  parallel_for(n_blocks, n_threads, [&](std::int64_t b) {
    std::vector<std::uint64_t> keys, spare;
    const Block& block = blocks_[static_cast<std::size_t>(b)];
    const auto& number = column_of(block);
    const Cell* cell = block.cells.data();
    auto out = static_cast<std::size_t>(result.indptr[static_cast<std::size_t>(block.first)]);
    for (const std::uint32_t size : block.sizes) {
      keys.clear();
      for (const Cell* end = cell + size; cell != end; ++cell)
        if (const std::int32_t c = number[cell->node]; c >= 0)
          keys.push_back(static_cast<std::uint64_t>(c) << 32 | cell->count);
      sort_row(keys, spare, 32);
      for (const std::uint64_t key : keys) {
        result.indices[out] = static_cast<std::int32_t>(key >> 32);
        result.values[out++] = binary ? Value{1} : static_cast<Value>(static_cast<std::uint32_t>(key));
      }
    }
  });
  return result;
}

OwnedStrings CountedCorpus::words(std::span<const std::uint8_t> keep, int n_threads) const {
  constexpr std::int64_t grain = 1 << 14;
  const auto kept = kept_nodes(keep);
  const auto n = static_cast<std::int64_t>(kept.size());
  OwnedStrings result{{}, Buffer<std::int64_t>(kept.size() + 1, 0)};
  std::int64_t* const offsets = result.offsets.data();
  const auto for_each_kept = [&](auto&& use) {
    parallel_ranges(n, grain, n_threads, [&](std::int64_t begin, std::int64_t end) {
      for (auto i = begin; i < end; ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (at + 2 * ahead < kept.size()) lexicon_.prefetch(kept[at + 2 * ahead]);
        if (at + ahead < kept.size()) lexicon_.prefetch_last(kept[at + ahead]);
        use(at, kept[at]);
      }
    });
  };
  for_each_kept([&](std::size_t i, std::uint32_t node) {
    offsets[i + 1] = static_cast<std::int64_t>(lexicon_.text_length(node));
  });
  std::partial_sum(result.offsets.begin(), result.offsets.end(), result.offsets.begin());
  result.blob.resize(static_cast<std::size_t>(result.offsets.back()));
  char* const bytes = reinterpret_cast<char*>(result.blob.data());
  for_each_kept([&](std::size_t i, std::uint32_t node) { lexicon_.write_text(node, bytes + offsets[i]); });
  return result;
}

Buffer<std::uint64_t> CountedCorpus::table(std::span<const std::uint8_t> keep) const {
  const auto kept = kept_nodes(keep);
  std::vector<std::int32_t> column_of(lexicon_.size(), Vocabulary::unknown);
  for (std::size_t i = 0; i < kept.size(); ++i) column_of[kept[i]] = static_cast<std::int32_t>(i);
  std::vector<std::uint64_t> text_hashes;  // of n-grams too: only where one has a part that is not kept
  TableBuilder builder(kept.size());
  const auto lengths = lexicon_.lengths();
  const auto longest = lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
  for (std::uint32_t n = 1; n <= longest; ++n)
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (lengths[kept[i]] != n) continue;
      const Lexicon::Node& node = lexicon_[kept[i]];
      const auto column = static_cast<std::int32_t>(i);
      if (n == 1) {
        builder.enter_text(lexicon_.hash(node), column, false);
        continue;
      }
      const auto prefix = column_of[Lexicon::prefix(node)], last = column_of[Lexicon::last(node)];
      if (prefix != Vocabulary::unknown && last != Vocabulary::unknown) {
        builder.enter_name(Vocabulary::name(prefix, last), column);
      } else {
        if (text_hashes.empty()) text_hashes = lexicon_.text_hashes();
        builder.enter_text(text_hashes[kept[i]], column, true);
      }
    }
  return builder.take();
}

template <class Value>
CountedRows<Value> count_known(const TokenSource& source, const Vocabulary& vocabulary, NGramRange range,
                               std::uint32_t n_hash, bool binary, int n_threads) {
  struct Part {
    Buffer<std::int32_t> indices;
    Buffer<Value> values;
  };
  const auto ranges = split(source);
  const auto n_documents = static_cast<std::size_t>(source.size());
  std::vector<Part> parts(ranges.size());
  CountedRows<Value> result;
  result.indptr.assign(n_documents + 1, 0);
  result.unknown.assign(n_documents, 0);
  std::vector<Finder> finders(static_cast<std::size_t>(std::max(n_threads, 1)),
                              Finder(vocabulary, range, n_documents));
  for_each_range(source, ranges.size(), n_threads, [&](Worker& worker, std::size_t r) {
    std::vector<std::uint32_t> keys, spare;
    Part& part = parts[r];
    for (std::int64_t d = ranges[r].first; d < ranges[r].second; ++d) {
      (*worker.read)(d, worker.tokens);
      keys.clear();
      const auto row = static_cast<std::size_t>(d);
      if (n_hash > 0) {
        hash_n_grams(worker.tokens, range, worker.hashes, [&](std::size_t) {
          for (const std::uint64_t hash : worker.hashes)
            keys.push_back(static_cast<std::uint32_t>(hashed_column(hash, n_hash)));
        });
      } else {
        result.unknown[row] = finders[worker.id](worker.tokens, keys);
      }
      sort_row(keys, spare, 0);
      const std::size_t begin = part.indices.size();
      for (std::size_t i = 0; i < keys.size();) {
        std::size_t end = i + 1;
        while (end < keys.size() && keys[end] == keys[i]) ++end;
        part.indices.push_back(static_cast<std::int32_t>(keys[i]));
        part.values.push_back(binary ? Value{1} : static_cast<Value>(end - i));
        i = end;
      }
      result.indptr[row + 1] = static_cast<std::int64_t>(part.indices.size() - begin);
    }
  });
  if (parts.size() == 1) {  // one block, as for a single document: nothing to join
    result.indices = std::move(parts[0].indices);
    result.values = std::move(parts[0].values);
    std::partial_sum(result.indptr.begin(), result.indptr.end(), result.indptr.begin());
    return result;
  }
  std::partial_sum(result.indptr.begin(), result.indptr.end(), result.indptr.begin());
  const auto n_entries = static_cast<std::size_t>(result.indptr.back());
  result.indices.resize(n_entries);
  result.values.resize(n_entries);
  parallel_for(static_cast<std::int64_t>(parts.size()), n_threads, [&](std::int64_t r) {
    Part part = std::move(parts[static_cast<std::size_t>(r)]);
    const auto at = result.indptr[static_cast<std::size_t>(ranges[static_cast<std::size_t>(r)].first)];
    std::copy(part.indices.begin(), part.indices.end(), result.indices.begin() + at);
    std::copy(part.values.begin(), part.values.end(), result.values.begin() + at);
  });
  return result;
}

OwnedStrings unknown_words(const TokenSource& source, const Vocabulary& vocabulary) {
  std::vector<std::string> found;
  std::vector<Token> tokens;
  const auto read = source.reader();
  for (std::int64_t d = 0; d < source.size(); ++d) {
    (*read)(d, tokens);
    for (const Token& t : tokens)
      if (vocabulary.find({&t, 1}) == Vocabulary::unknown) found.emplace_back(t.data, t.length);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  OwnedStrings words;
  for (const auto& word : found) words.append(word);
  return words;
}

Sequences number_tokens(const TokenSource& source, int n_threads) {
  const auto ranges = split(source);
  std::vector<std::vector<std::int32_t>> parts(ranges.size());
  std::vector<std::uint32_t> worker_of(ranges.size());
  std::vector<Lexicon> lexicons(static_cast<std::size_t>(std::max(n_threads, 1)));
  Sequences result;
  result.indptr.assign(static_cast<std::size_t>(source.size()) + 1, 0);
  for_each_range(source, ranges.size(), n_threads, [&](Worker& worker, std::size_t r) {
    worker_of[r] = worker.id;
    for (std::int64_t d = ranges[r].first; d < ranges[r].second; ++d) {
      (*worker.read)(d, worker.tokens);
      learn_n_grams(worker, {1, 1}, lexicons[worker.id],
                    [&](std::uint32_t word) { parts[r].push_back(static_cast<std::int32_t>(word)); });
      result.indptr[static_cast<std::size_t>(d) + 1] = static_cast<std::int64_t>(worker.tokens.size());
    }
  });
  std::partial_sum(result.indptr.begin(), result.indptr.end(), result.indptr.begin());
  std::vector<std::vector<std::uint32_t>> number_of(lexicons.size());
  for (std::size_t w = 1; w < lexicons.size(); ++w) number_of[w] = lexicons[0].absorb(lexicons[w]);
  result.numbers.reserve(static_cast<std::size_t>(result.indptr.back()));
  for (std::size_t r = 0; r < ranges.size(); ++r) {
    const auto& number = number_of[worker_of[r]];
    for (const std::int32_t n : parts[r])
      result.numbers.push_back(
          number.empty() ? n : static_cast<std::int32_t>(number[static_cast<std::size_t>(n)]));
  }
  for (std::uint32_t node = 0; node < lexicons[0].size(); ++node)
    result.words.append(lexicons[0].spelling(lexicons[0][node]));
  return result;
}

template CountedRows<float> CountedCorpus::rows(std::span<const std::uint8_t>, bool, int) const;
template CountedRows<double> CountedCorpus::rows(std::span<const std::uint8_t>, bool, int) const;
template CountedRows<float> count_known(const TokenSource&, const Vocabulary&, NGramRange, std::uint32_t,
                                        bool, int);
template CountedRows<double> count_known(const TokenSource&, const Vocabulary&, NGramRange, std::uint32_t,
                                         bool, int);

}  // namespace genus
