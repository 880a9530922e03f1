#include "text/counter.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "base/parallel.h"
#include "text/row_sort.h"

namespace genus {
namespace {

// What one thread keeps from document to document.
struct Worker {
  std::uint32_t id;
  std::unique_ptr<TokenSource::Reader> read;
  Batch batch{};
  std::vector<std::vector<std::uint32_t>> nodes{1};  // of n-grams, by n - 1 and place in the batch
  std::vector<std::size_t> places{};
  std::vector<std::uint64_t> hashes{};
};

// Calls work(worker, range number) for all ranges, with one worker per thread. With `edges` it reads
// documents between marks.
template <class Work>
void for_each_range(const TokenSource& source, bool edges, std::size_t n_ranges, int n_threads, Work&& work) {
  const auto n_workers = static_cast<std::int64_t>(
      std::min<std::size_t>(n_ranges, static_cast<std::size_t>(std::max(n_threads, 1))));
  std::atomic<std::size_t> next{0};
  parallel_for(n_workers, n_threads, [&](std::int64_t id) {
    Worker worker{static_cast<std::uint32_t>(id), edges ? between_marks(source.reader()) : source.reader()};
    for (std::size_t r; (r = next.fetch_add(1, std::memory_order_relaxed)) < n_ranges;) work(worker, r);
  });
}

// Calls use(d, i) for all documents d of a range, with d the i-th of the worker's batch, and prepare() for
// each batch before.
template <class Prepare, class Use>
void for_each_document(Worker& w, std::pair<std::int64_t, std::int64_t> range, Prepare&& prepare, Use&& use) {
  for (std::int64_t d = range.first; d < range.second;) {
    const std::int64_t next = (*w.read)(d, range.second, w.batch);
    prepare();
    for (std::size_t i = 0; d < next; ++d, ++i) use(d, i);
  }
}

// Enters the n-grams of the worker's batch, of up to so many words, into a lexicon that learns them.
void learn_n_grams(Worker& w, std::size_t most, Lexicon& lexicon) {
  const auto slot = [&](std::uint64_t hash) { lexicon.prefetch_slot(hash); };
  const auto node = [&](std::uint64_t hash) { lexicon.prefetch_node(hash); };
  const auto& tokens = w.batch.tokens;
  most = std::min(most, w.batch.longest());
  if (w.nodes.size() < most) w.nodes.resize(most);
  auto& words = w.nodes[0];
  words.resize(tokens.size());
  in_stages(
      tokens.size(), [&](std::size_t i) { return tokens[i].hash; },
      [&](std::size_t i) { words[i] = lexicon.word(tokens[i]); }, slot, node);
  for (std::size_t n = 2; n <= most; ++n) {
    const auto& prefix = w.nodes[n - 2];
    auto& nodes = w.nodes[n - 1];
    nodes.resize(tokens.size());
    places_of_n_grams(w.batch, n, w.places);
    w.hashes.clear();
    for (const std::size_t i : w.places)
      w.hashes.push_back(Lexicon::hash_n_gram(prefix[i], words[i + n - 1]));
    in_stages(
        w.places.size(), [&](std::size_t k) { return w.hashes[k]; },
        [&](std::size_t k) {
          const std::size_t i = w.places[k];
          nodes[i] = lexicon.n_gram(prefix[i], words[i + n - 1], w.hashes[k]);
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
  const auto ranges = ranges_of_equal_work(source);
  blocks_.resize(ranges.size());
  std::vector<Lexicon> lexicons(static_cast<std::size_t>(std::max(n_threads, 1)));
  for_each_range(source, range.edges, ranges.size(), n_threads, [&](Worker& worker, std::size_t r) {
    Lexicon& lexicon = lexicons[worker.id];
    Block& block = blocks_[r];
    std::tie(block.first, block.last) = ranges[r];
    block.worker = worker.id;
    const auto learn = [&] { learn_n_grams(worker, range.max, lexicon); };
    for_each_document(worker, ranges[r], learn, [&](std::int64_t d, std::size_t i) {
      const std::size_t row = block.cells.size();
      const auto stamp = static_cast<std::uint32_t>(d + 1);
      const std::size_t begin = worker.batch.begin(i), end = worker.batch.ends[i];
      for (std::size_t n = range.min; n <= range.max && begin + n <= end; ++n)
        for (std::size_t place = begin + range.marks(n); place + n + range.marks(n) <= end; ++place) {
          const std::uint32_t number = worker.nodes[n - 1][place];
          Lexicon::Node& node = lexicon[number];
          if (node.stamp == stamp) {
            ++block.cells[row + node.position].count;
          } else {
            node.stamp = stamp;
            node.position = static_cast<std::uint32_t>(block.cells.size() - row);
            ++node.frequency;
            block.cells.push_back({number, 1});
          }
        }
      block.sizes.push_back(static_cast<std::uint32_t>(block.cells.size() - row));
    });
  });
  lexicon_ = std::move(lexicons[0]);
  number_of_.resize(lexicons.size());
  for (std::size_t w = 1; w < lexicons.size(); ++w)
    if (lexicons[w].size() > 0) {
      number_of_[w] = lexicon_.absorb(lexicons[w]);
      lexicons[w] = Lexicon();
    }
  order_ = lexicon_.sorted();
  if (range.min > 1 || range.edges)  // prefixes that are too short to be features, and marks
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
        const std::string_view text = lexicon_.spelling(node);
        builder.enter_word({text.data(), lexicon_.hash(node), node.length}, column);
        continue;
      }
      const auto prefix = column_of[Lexicon::prefix(node)], last = column_of[Lexicon::last(node)];
      if (prefix != Vocabulary::unknown && last != Vocabulary::unknown) {
        builder.enter_name(Vocabulary::name(prefix, last), column);
      } else {
        if (text_hashes.empty()) text_hashes = lexicon_.text_hashes();
        builder.enter_text(text_hashes[kept[i]], column);
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
  const auto ranges = ranges_of_equal_work(source);
  const auto n_documents = static_cast<std::size_t>(source.size());
  CountedRows<Value> result;
  result.indptr.assign(n_documents + 1, 0);
  result.unknown.assign(n_documents, 0);
  const auto n_lookups =
      std::min<std::size_t>(ranges.size(), static_cast<std::size_t>(std::max(n_threads, 1)));
  std::vector<Part> parts(n_lookups > 1 ? ranges.size() : n_lookups);  // one thread appends to one
  std::vector<NGramLookup> lookups;
  lookups.reserve(n_lookups);
  while (lookups.size() < n_lookups) lookups.emplace_back(vocabulary, range, n_documents);
  std::vector<KeyCounter> counters(n_lookups);
  for_each_range(source, range.edges, ranges.size(), n_threads, [&](Worker& worker, std::size_t r) {
    std::vector<std::uint32_t> keys;
    KeyCounter& count_keys = counters[worker.id];
    NGramLookup& lookup = lookups[worker.id];
    const Batch& batch = worker.batch;
    Part& part = parts[std::min(r, parts.size() - 1)];
    const auto look_up = [&] {
      if (n_hash == 0) lookup.look_up(batch);
    };
    for_each_document(worker, ranges[r], look_up, [&](std::int64_t d, std::size_t i) {
      keys.clear();
      const auto row = static_cast<std::size_t>(d);
      if (n_hash > 0) {
        hash_n_grams(batch.document(i), range, worker.hashes, [&](std::size_t n) {
          for (std::size_t k = range.marks(n); k + range.marks(n) < worker.hashes.size(); ++k)
            keys.push_back(static_cast<std::uint32_t>(hashed_column(worker.hashes[k], n_hash)));
        });
      } else {
        result.unknown[row] = lookup.columns(batch, i, keys);
      }
      const std::size_t begin = part.indices.size();
      part.indices.resize(begin + keys.size());
      part.values.resize(begin + keys.size());
      std::size_t at = begin;
      count_keys(keys, [&](std::uint32_t key, std::uint32_t count) {
        part.indices[at] = static_cast<std::int32_t>(key);
        part.values[at++] = binary ? Value{1} : static_cast<Value>(count);
      });
      part.indices.resize(at);
      part.values.resize(at);
      result.indptr[row + 1] = static_cast<std::int64_t>(at - begin);
    });
    if (r == 0 && parts.size() < ranges.size()) {  // what follows will be about as dense
      const auto done = static_cast<double>(work_of(source, 0, ranges[0].second));
      const auto share = 1.1 * static_cast<double>(work_of(source, 0, source.size())) / done;
      const auto enough = static_cast<std::size_t>(share * static_cast<double>(part.indices.size()));
      part.indices.reserve(enough);
      part.values.reserve(enough);
    }
  });
  if (parts.size() == 1) {  // nothing to join
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
  Batch batch;
  const auto read = source.reader();
  for (std::int64_t d = 0; d < source.size();) {
    d = (*read)(d, source.size(), batch);
    for (const Token& t : batch.tokens)
      if (vocabulary.find({&t, 1}) == Vocabulary::unknown) found.emplace_back(t.data, t.length);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  OwnedStrings words;
  for (const auto& word : found) words.append(word);
  return words;
}

Sequences number_tokens(const TokenSource& source, int n_threads) {
  const auto ranges = ranges_of_equal_work(source);
  std::vector<std::vector<std::int32_t>> parts(ranges.size());
  std::vector<std::uint32_t> worker_of(ranges.size());
  std::vector<Lexicon> lexicons(static_cast<std::size_t>(std::max(n_threads, 1)));
  Sequences result;
  result.indptr.assign(static_cast<std::size_t>(source.size()) + 1, 0);
  for_each_range(source, false, ranges.size(), n_threads, [&](Worker& worker, std::size_t r) {
    worker_of[r] = worker.id;
    const auto learn = [&] {
      learn_n_grams(worker, 1, lexicons[worker.id]);
      parts[r].insert(parts[r].end(), worker.nodes[0].begin(), worker.nodes[0].end());
    };
    for_each_document(worker, ranges[r], learn, [&](std::int64_t d, std::size_t i) {
      result.indptr[static_cast<std::size_t>(d) + 1] =
          static_cast<std::int64_t>(worker.batch.ends[i] - worker.batch.begin(i));
    });
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
