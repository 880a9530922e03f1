// A query that is scored block by block over an inverted index: Algorithm 1 of Puurula and Myaeng 2013, in
// logarithms. Shared by the kernels of document_mixture.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "base/buffer.h"
#include "base/csr.h"
#include "base/parallel.h"
#include "base/vector_loops.h"
#include "documents/inverted_index.h"

namespace genus {

inline constexpr double largest_product = 600.0;  // log of what products may grow to
inline constexpr double lowest = -std::numeric_limits<double>::infinity();

// A part of a block that belongs to one class.
struct Segment {
  std::int32_t class_id;
  std::int32_t begin, end;  // counted from the block's first slot
  double weight;
};

// The segments of all blocks, block after block.
struct Segments {
  std::vector<std::int64_t> starts{0};
  std::vector<Segment> segments;

  explicit Segments(const IndexView& index) {
    std::int32_t l = 0;
    for (std::int64_t b = 0; b < index.n_blocks(); ++b) {
      const auto first = index.block_starts[b];
      const auto last = index.block_starts[b + 1];
      for (auto s = first; s < last;) {
        while (index.class_starts[l + 1] <= s) ++l;
        const auto end = std::min(last, index.class_starts[l + 1]);
        const auto i = segments.size();
        if (i >= index.segment_weights.size())
          throw std::invalid_argument("index: every segment needs a weight");
        segments.push_back({l, static_cast<std::int32_t>(s - first), static_cast<std::int32_t>(end - first),
                            index.segment_weights[i]});
        s = end;
      }
      starts.push_back(std::ssize(segments));
    }
  }
  std::span<const Segment> of(std::int64_t b) const {
    return std::span(segments).subspan(starts[b], starts[b + 1] - starts[b]);
  }
};

// A sum of exponentials: sum * exp(scale).
struct LogSum {
  double scale = lowest;
  double sum = 0;

  void raise(double to) {
    if (to <= scale) return;
    if (sum > 0) sum *= std::exp(scale - to);
    scale = to;
  }
  double log() const { return sum > 0 ? scale + std::log(sum) : lowest; }
};

// A word of a query: its runs that are still to come.
struct QueryWord {
  std::int64_t run, end;
  double x;
  std::int64_t n_postings = 0;  // of all its runs
};

inline constexpr std::int64_t most_shared = 32;  // words of a query that is made by products

// A query while blocks are scored.
struct Query {
  std::span<QueryWord> entries;
  bool is_product = false;  // whether it is short, and every likelihood is a number: see product_stack.h
};

// Rows first ... last - 1 of a matrix as queries. `largest` has the largest value of each run, or is empty
// where products are not wanted.
class Queries {
 public:
  template <class Value>
  Queries(const IndexView& index, const Csr<Value>& rows, std::int64_t first, std::int64_t last,
          std::span<const double> largest, int n_threads)
      : queries_(static_cast<std::size_t>(last - first)),
        entries_(static_cast<std::size_t>(rows.indptr[last] - rows.indptr[first])) {
    parallel_ranges(last - first, 64, n_threads, [&](std::int64_t begin, std::int64_t end) {
      for (auto i = begin; i < end; ++i) {
        const auto from = rows.indptr[first + i];
        const auto room = std::span(entries_).subspan(from - rows.indptr[first]);
        queries_[i].entries = room.first(read(index, rows, from, rows.indptr[first + i + 1], room));
        if (!largest.empty()) order(queries_[i], largest);
      }
    });
  }

  std::span<Query> all() { return queries_; }

 private:
  // Of row entries k ... last - 1, those of words that some document has; returns how many.
  template <class Value>
  static std::size_t read(const IndexView& index, const Csr<Value>& rows, std::int64_t k, std::int64_t last,
                          std::span<QueryWord> entries) {
    std::size_t n = 0;
    for (; k < last; ++k) {
      const std::int64_t w = rows.indices[k];
      const auto x = static_cast<double>(rows.values[k]);
      if (static_cast<std::uint64_t>(w) >= static_cast<std::uint64_t>(index.n_words()) || x == 0) continue;
      const auto [begin, end] = index.runs(w);
      if (begin < end) entries[n++] = {begin, end, x, index.run(end - 1).end - index.run(begin).begin};
    }
    return n;
  }

  // The commonest word first, in every query alike: those are shared.
  static void order(Query& query, std::span<const double> largest) {
    query.is_product = std::ssize(query.entries) <= most_shared && in_range(query.entries, largest);
    if (query.is_product)
      std::sort(query.entries.begin(), query.entries.end(), [](const QueryWord& a, const QueryWord& b) {
        return a.n_postings != b.n_postings ? a.n_postings > b.n_postings : a.run < b.run;
      });
  }

  static bool in_range(std::span<const QueryWord> entries, std::span<const double> largest) {
    double bound = 0;
    for (const auto& e : entries) {
      double most = 0;
      for (auto r = e.run; r < e.end; ++r) most = std::max(most, largest[r]);
      bound += e.x * most;
    }
    return bound < largest_product;
  }

  std::vector<Query> queries_;
  Buffer<QueryWord> entries_;
};

// The run of a word in block b, or -1.
inline std::int64_t find_run(const IndexView& index, const QueryWord& e, std::int64_t b) {
  if (e.end - e.run == index.n_blocks() && index.run_blocks[e.run + b] == b) return e.run + b;
  const auto* const first = index.run_blocks.data();
  const auto* const at = std::lower_bound(first + e.run, first + e.end, static_cast<std::int32_t>(b));
  return at != first + e.end && *at == b ? at - first : -1;
}

// The logarithms of the likelihoods of a block's documents under one query.
struct MixtureScorer {
  const IndexView& index;
  std::span<const double> values;
  const VectorLoops& kernels = vector_loops();
  std::vector<double> sums = std::vector<double>(block_size);

  // Fills `sums` with inst_m (Algorithm 1, line 12) for block b, relative to what is above the documents. The
  // query's entries move on to runs behind the block.
  void visit(Query& query, std::int64_t b) {
    const auto n = index.block_starts[b + 1] - index.block_starts[b];
    std::fill_n(sums.begin(), n, 0.0);
    for (auto& e : query.entries) {
      const auto [begin, end] = index.next_run(e.run, e.end, b);
      if (begin == end) continue;
      const auto* const from = values.data() + begin;
      end - begin == n ? kernels.add_full(from, n, e.x, sums.data())
                       : kernels.add(index.slots.data() + begin, from, end - begin, e.x, sums.data());
    }
  }

  // Adds the documents of a segment to their class: the sum over m of eq. 1. Documents without any word of
  // the query have inst_m = 0, so that they need no correction of their own (lines 14 to 18).
  void collect(const Segment& segment, const double* weights, LogSum& total) const {
    const auto n = segment.end - segment.begin;
    const double* const from = sums.data() + segment.begin;
    total.raise(kernels.largest(from, n));
    total.sum += kernels.sum_exp(from, weights + segment.begin, n, total.scale);
  }
};

}  // namespace genus
