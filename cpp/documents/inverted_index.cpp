#include "documents/inverted_index.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "base/parallel.h"
#include "base/vector_loops.h"

namespace genus {
namespace {

constexpr std::int64_t fill_up = 4;  // a run with more than 1/fill_up of its block is filled up

// Every value of a run's slots by the class that they belong to: at(local slot).
class AboveWord {
 public:
  AboveWord(const IndexView& index, const WordTableView<double>& table, std::int64_t w)
      : index_(index), table_(table), row_(table.has(w) ? table.row(w) : Row{0, 0}) {
    full_ = row_.end - row_.begin == index.n_classes();
    next_ = row_.begin;
  }
  // exp(-v_wl), slots rising.
  double at(std::int64_t slot) {
    if (slot >= class_end_ && l_ + 1 < index_.n_classes()) {
      // A word's slots rise: go on from where the last one was found.
      const auto* const first = index_.class_starts.data();
      l_ = std::upper_bound(first + l_ + 1, first + index_.n_classes(), slot) - first - 1;
      class_end_ = index_.class_starts[l_ + 1];
      double v = 0;
      if (full_) {
        v = table_.values[row_.begin + l_];
      } else {
        while (next_ < row_.end && table_.classes[next_] < l_) ++next_;
        if (next_ < row_.end && table_.classes[next_] == l_) v = table_.values[next_];
      }
      below_ = std::exp(-v);
    }
    return below_;
  }

 private:
  const IndexView& index_;
  const WordTableView<double>& table_;
  Row row_;
  bool full_;
  std::int64_t next_, l_ = -1, class_end_ = 0;
  double below_ = 1;
};

}  // namespace

std::vector<std::int64_t> cut_blocks(std::span<const std::int64_t> class_starts) {
  std::vector<std::int64_t> starts{0};
  for (std::size_t l = 0; l + 1 < class_starts.size(); ++l) {
    const auto too_long = [&] { return class_starts[l + 1] - starts.back() > block_size; };
    if (too_long() && class_starts[l] - starts.back() >= block_size / 2) starts.push_back(class_starts[l]);
    while (too_long()) starts.push_back(starts.back() + block_size);
  }
  if (class_starts.back() > starts.back()) starts.push_back(class_starts.back());
  return starts;
}

Index build_index(const Csr<double>& documents, std::span<const double> scales,
                  std::span<const std::int64_t> order, std::span<const std::int64_t> block_starts,
                  std::int64_t n_words) {
  // A counting sort by word: slots rise within a word, since documents are taken in slot order.
  struct Posting {
    double frequency;
    std::int32_t slot;
  };
  std::vector<std::int64_t> bounds(static_cast<std::size_t>(n_words) + 1, 0);
  std::vector<std::uint8_t> inside(static_cast<std::size_t>(documents.rows()), 0);
  for (const auto d : order) inside[d] = 1;
  for (std::int64_t d = 0; d < documents.rows(); ++d)
    for (auto k = documents.indptr[d]; inside[d] && k < documents.indptr[d + 1]; ++k) {
      if (static_cast<std::uint64_t>(documents.indices[k]) >= static_cast<std::uint64_t>(n_words))
        throw std::invalid_argument("sparse rows: a column is outside the matrix");
      ++bounds[documents.indices[k] + 1];
    }
  std::partial_sum(bounds.begin(), bounds.end(), bounds.begin());
  Buffer<Posting> postings(static_cast<std::size_t>(bounds.back()));
  std::vector<std::int64_t> next(bounds.begin(), bounds.end() - 1);
  constexpr std::int64_t ahead = 8;  // documents of one class lie apart: ask for them before they are needed
  for (std::int64_t s = 0; s < std::ssize(order); ++s) {
    if (s + 2 * ahead < std::ssize(order)) __builtin_prefetch(&documents.indptr[order[s + 2 * ahead]]);
    if (s + ahead < std::ssize(order)) {
      const auto k = documents.indptr[order[s + ahead]];
      __builtin_prefetch(documents.indices.data() + k);
      __builtin_prefetch(documents.values.data() + k);
      __builtin_prefetch(documents.values.data() + k + 8);
    }
    const auto d = order[s];
    for (auto k = documents.indptr[d]; k < documents.indptr[d + 1]; ++k)
      postings[next[documents.indices[k]]++] = {documents.values[k] * scales[d],
                                                static_cast<std::int32_t>(s)};
  }

  // Cut every word's postings at the blocks' ends.
  std::vector<std::int32_t> block_of(order.size());
  for (std::int64_t b = 0; b + 1 < std::ssize(block_starts); ++b)
    std::fill(block_of.begin() + block_starts[b], block_of.begin() + block_starts[b + 1],
              static_cast<std::int32_t>(b));
  Index index;
  index.words.assign(bounds.size(), 0);
  index.run_starts.assign(1, 0);
  std::vector<std::int64_t> sources;  // where each run's postings begin
  for (std::int64_t w = 0; w < n_words; ++w) {
    for (auto k = bounds[w]; k < bounds[w + 1];) {
      const auto b = block_of[postings[k].slot];
      sources.push_back(k);
      while (k < bounds[w + 1] && postings[k].slot < block_starts[b + 1]) ++k;
      const auto n = block_starts[b + 1] - block_starts[b];
      const auto length = k - sources.back();
      index.run_blocks.push_back(b);
      index.run_starts.push_back(index.run_starts.back() + (length * fill_up > n ? n : length));
    }
    index.words[w + 1] = std::ssize(index.run_blocks);
  }
  sources.push_back(bounds.back());
  const auto n_postings = static_cast<std::size_t>(index.run_starts.back());
  index.slots.resize(n_postings);
  index.frequencies.resize(n_postings);
  for (std::size_t r = 0; r + 1 < sources.size(); ++r) {
    const auto first = block_starts[index.run_blocks[r]];
    const auto begin = index.run_starts[r];
    const auto n = index.run_starts[r + 1] - begin;
    const bool full = n == block_starts[index.run_blocks[r] + 1] - first;
    if (full) {
      std::iota(index.slots.begin() + begin, index.slots.begin() + begin + n, std::uint16_t{0});
      std::fill_n(index.frequencies.begin() + begin, n, 0.0);
    }
    for (auto k = sources[r], to = begin; k < sources[r + 1]; ++k, ++to) {
      const auto slot = postings[k].slot - first;
      const auto at = full ? begin + slot : to;
      index.slots[at] = static_cast<std::uint16_t>(slot);
      index.frequencies[at] = postings[k].frequency;
    }
  }
  return index;
}

Values index_values(const IndexView& index, std::span<const double> frequencies,
                    const WordTableView<double>& above, double gain, int n_threads) {
  Values result;
  result.values.resize(index.slots.size());
  result.largest.resize(static_cast<std::size_t>(index.n_runs()));
  std::fill(result.values.begin(), result.values.end(), 0.0);
  std::fill(result.largest.begin(), result.largest.end(), 0.0);
  const auto& kernels = vector_loops();
  parallel_ranges(index.n_words(), 256, n_threads, [&](std::int64_t first, std::int64_t last) {
    for (auto w = first; w < last; ++w) {
      AboveWord word(index, above, w);
      const auto [run, run_end] = index.runs(w);
      for (auto r = run; r < run_end; ++r) {
        const auto [begin, end] = index.run(r);
        const auto b = std::clamp<std::int64_t>(index.run_blocks[r], 0, index.n_blocks() - 1);
        const auto base = index.block_starts[b];
        for (auto k = begin; k < end; ++k)  // eq. 2, divided by what the class and the uniform node give
          if (frequencies[k] != 0) result.values[k] = gain * frequencies[k] * word.at(base + index.slots[k]);
        kernels.log1p(result.values.data() + begin, end - begin);
        for (auto k = begin; k < end; ++k) result.largest[r] = std::max(result.largest[r], result.values[k]);
      }
    }
  });
  return result;
}

std::vector<double> segment_weights(const IndexView& index) {
  std::vector<double> sums;
  std::size_t b = 1, l = 1;
  for (std::int64_t s = 0; s < std::ssize(index.weights);) {
    while (index.block_starts[b] <= s) ++b;
    while (index.class_starts[l] <= s) ++l;
    const auto end = std::min(index.block_starts[b], index.class_starts[l]);
    sums.push_back(std::accumulate(index.weights.begin() + s, index.weights.begin() + end, 0.0));
    s = end;
  }
  return sums;
}

Buffer<double> exponentials(std::span<const double> values, int n_threads) {
  Buffer<double> result(values.size());
  const auto& kernels = vector_loops();
  parallel_ranges(std::ssize(values), 1 << 16, n_threads, [&](std::int64_t begin, std::int64_t end) {
    std::copy(values.begin() + begin, values.begin() + end, result.begin() + begin);
    kernels.exp(result.data() + begin, end - begin);
  });
  return result;
}

}  // namespace genus
