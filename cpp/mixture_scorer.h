// A query on its way through the blocks of an inverted index. Shared by the kernels of document_mixture.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "block_kernels.h"
#include "csr.h"
#include "inverted_index.h"

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
  void add(double log_value, double times) {
    if (log_value == lowest) return;
    raise(log_value);
    sum += times * std::exp(log_value - scale);
  }
  double log() const { return sum > 0 ? scale + std::log(sum) : lowest; }
};

// A word of a query: its runs that are still to come.
struct Entry {
  std::int64_t run, end;
  double x;
};

inline std::int64_t postings(const IndexView& index, const Entry& e) {
  return index.run(e.end - 1).end - index.run(e.run).begin;
}

// A query on its way through the blocks.
struct Query {
  std::vector<Entry> entries;
  bool in_range = false;  // whether every document's likelihood is a number, not only its logarithm,
  bool product = false;   // and a product of whole powers

  template <class Value>
  void read(const IndexView& index, const Csr<Value>& queries, std::int64_t d) {
    entries.clear();
    for (auto k = queries.indptr[d]; k < queries.indptr[d + 1]; ++k) {
      const std::int64_t w = queries.indices[k];
      const auto x = static_cast<double>(queries.values[k]);
      if (static_cast<std::uint64_t>(w) >= static_cast<std::uint64_t>(index.n_words()) || x == 0) continue;
      const auto [begin, end] = index.runs(w);
      if (begin < end) entries.push_back({begin, end, x});
    }
    // The word of most blocks first: its full runs are then copied, not multiplied in.
    std::stable_sort(entries.begin(), entries.end(),
                     [&](const Entry& a, const Entry& b) { return postings(index, a) > postings(index, b); });
  }

  void choose_mode(std::span<const double> largest) {
    double bound = 0;
    product = true;
    for (const auto& e : entries) {
      product = product && e.x == std::floor(e.x) && e.x > 0 && e.x <= 8;
      double most = 0;
      for (auto r = e.run; r < e.end; ++r) most = std::max(most, largest[r]);
      bound += e.x * most;
    }
    in_range = bound < largest_product;
    product = product && in_range;
  }
};

// The run of a word in block b, or -1.
inline std::int64_t find_run(const IndexView& index, const Entry& e, std::int64_t b) {
  if (e.end - e.run == index.n_blocks() && index.run_blocks[e.run + b] == b) return e.run + b;
  const auto* const first = index.run_blocks.data();
  const auto* const at = std::lower_bound(first + e.run, first + e.end, static_cast<std::int32_t>(b));
  return at != first + e.end && *at == b ? at - first : -1;
}

struct Scorer {
  const IndexView& index;
  std::span<const double> values, factors;
  const BlockKernels& kernels = block_kernels();
  std::vector<double> sums = std::vector<double>(block_size);

  // Adds a run to the block's sums, or multiplies it in; the first one finds them unset.
  void take(const Query& query, std::int64_t r, double x, std::int64_t n, bool first) {
    const auto [begin, end] = index.run(r);
    const auto* const from = (query.product ? factors : values).data() + begin;
    const auto* const slots = index.slots.data() + begin;
    if (first && end - begin == n && query.product && x == 1) {
      std::copy_n(from, n, sums.begin());
      return;
    }
    if (first) std::fill_n(sums.begin(), n, query.product ? 1.0 : 0.0);
    if (query.product)
      end - begin == n ? kernels.multiply_full(from, n, static_cast<int>(x), sums.data())
                       : kernels.multiply(slots, from, end - begin, static_cast<int>(x), sums.data());
    else
      end - begin == n ? kernels.add_full(from, n, x, sums.data())
                       : kernels.add(slots, from, end - begin, x, sums.data());
  }

  // The likelihoods of block b's documents in `sums`, relative to what is above them; false where no word of
  // the query occurs in it. The query's entries move on to runs behind the block.
  bool visit(Query& query, std::int64_t b) {
    const auto n = index.block_starts[b + 1] - index.block_starts[b];
    bool touched = false;
    for (auto& e : query.entries) {
      while (e.run < e.end && index.run_blocks[e.run] < b) ++e.run;
      if (e.run == e.end || index.run_blocks[e.run] != b) continue;
      take(query, e.run++, e.x, n, !std::exchange(touched, true));
    }
    return touched;
  }

  // As visit(), for blocks in any order.
  bool jump(const Query& query, std::int64_t b) {
    const auto n = index.block_starts[b + 1] - index.block_starts[b];
    bool touched = false;
    for (const auto& e : query.entries)
      if (const auto r = find_run(index, e, b); r >= 0) take(query, r, e.x, n, !std::exchange(touched, true));
    return touched;
  }

  double add_up(const double* from, const double* weights, std::int64_t n) const {
    return index.unit_weights ? kernels.sum(from, n) : kernels.dot(from, weights, n);
  }

  // Logarithms of block b's likelihoods become likelihoods, where they can: all at once, since segments may
  // be short.
  void exponentiate(const Query& query, std::int64_t b) {
    if (query.in_range && !query.product)
      kernels.exp(sums.data(), index.block_starts[b + 1] - index.block_starts[b]);
  }

  // Adds the documents of a segment to their class.
  void collect(const Query& query, const Segment& segment, const double* weights, bool touched,
               LogSum& total) {
    const auto n = segment.end - segment.begin;
    const double* const from = sums.data() + segment.begin;
    if (!touched) {
      total.raise(0);
      total.sum += segment.weight * std::exp(-total.scale);
    } else if (query.in_range) {
      total.raise(0);
      total.sum += add_up(from, weights + segment.begin, n);
    } else {
      total.raise(kernels.largest(from, n));
      total.sum += kernels.sum_exp(from, weights + segment.begin, n, total.scale);
    }
  }
};

}  // namespace genus
