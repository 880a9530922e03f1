#include "inverted_index.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "block_kernels.h"
#include "parallel.h"

namespace genus {
namespace {

constexpr std::int64_t fill_up = 4;        // a run with more than 1/fill_up of its block is filled up
constexpr std::int64_t batch = 32;         // queries that go through the blocks together
constexpr double largest_product = 600.0;  // log of what products may grow to
constexpr double lowest = -std::numeric_limits<double>::infinity();

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
        const auto weight =
            std::accumulate(index.weights.begin() + s, index.weights.begin() + end, 0.0);
        segments.push_back({l, static_cast<std::int32_t>(s - first), static_cast<std::int32_t>(end - first),
                            weight});
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

// A query on its way through the blocks.
struct Query {
  std::vector<Entry> entries;
  bool product = false;

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
  }

  // Whether every document's likelihood can be had as a product of whole powers.
  void choose_mode(std::span<const double> largest) {
    double bound = 0;
    product = true;
    for (const auto& e : entries) {
      product = product && e.x == std::floor(e.x) && e.x > 0 && e.x <= 8;
      double most = 0;
      for (auto r = e.run; r < e.end; ++r) most = std::max(most, largest[r]);
      bound += e.x * most;
    }
    product = product && bound < largest_product;
  }
};

// The run of a word in block b, or -1.
std::int64_t find_run(const IndexView& index, const Entry& e, std::int64_t b) {
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

  // Adds a run to the block's sums, or multiplies it in.
  void take(const Query& query, std::int64_t r, double x, std::int64_t n) {
    const auto [begin, end] = index.run(r);
    const auto* const from = (query.product ? factors : values).data() + begin;
    const auto* const slots = index.slots.data() + begin;
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
      if (!touched) std::fill_n(sums.begin(), n, query.product ? 1.0 : 0.0);
      touched = true;
      take(query, e.run++, e.x, n);
    }
    return touched;
  }

  // As visit(), for blocks in any order.
  bool jump(const Query& query, std::int64_t b) {
    const auto n = index.block_starts[b + 1] - index.block_starts[b];
    bool touched = false;
    for (const auto& e : query.entries)
      if (const auto r = find_run(index, e, b); r >= 0) {
        if (!touched) std::fill_n(sums.begin(), n, query.product ? 1.0 : 0.0);
        touched = true;
        take(query, r, e.x, n);
      }
    return touched;
  }

  // Adds the documents of a segment to their class.
  void collect(const Query& query, const Segment& segment, const double* weights, bool touched, LogSum& total) {
    const auto n = segment.end - segment.begin;
    const double* const from = sums.data() + segment.begin;
    if (!touched) {
      total.raise(0);
      total.sum += segment.weight * std::exp(-total.scale);
    } else if (query.product) {
      total.raise(0);
      total.sum += kernels.dot(from, weights + segment.begin, n);
    } else {
      total.raise(kernels.largest(from, n));
      total.sum += kernels.sum_exp(from, weights + segment.begin, n, total.scale);
    }
  }
};

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

Row IndexView::runs(std::int64_t w) const {
  const auto begin = std::clamp<std::int64_t>(words[w], 0, n_runs());
  return {begin, std::clamp(words[w + 1], begin, n_runs())};
}

Row IndexView::run(std::int64_t r) const {
  const auto n = std::ssize(slots);
  const auto begin = std::clamp<std::int64_t>(run_starts[r], 0, n);
  return {begin, std::min(std::clamp(run_starts[r + 1], begin, n), begin + block_size)};
}

std::vector<std::int64_t> cut_blocks(std::span<const std::int64_t> class_starts) {
  std::vector<std::int64_t> starts{0};
  for (std::size_t l = 0; l + 1 < class_starts.size(); ++l) {
    if (class_starts[l] - starts.back() >= block_size / 8) starts.push_back(class_starts[l]);
    while (class_starts[l + 1] - starts.back() > block_size) starts.push_back(starts.back() + block_size);
  }
  if (class_starts.back() > starts.back()) starts.push_back(class_starts.back());
  return starts;
}

Index build_index(const Csr<double>& documents, std::span<const double> scales,
                  std::span<const std::int64_t> order, std::span<const std::int64_t> block_starts,
                  std::int64_t n_words) {
  // visit(word, entry, block, slot in block) for every entry, in slot order.
  const auto each_entry = [&](auto&& visit) {
    for (std::int64_t b = 0; b + 1 < std::ssize(block_starts); ++b)
      for (auto s = block_starts[b]; s < block_starts[b + 1]; ++s) {
        const auto d = order[s];
        for (auto k = documents.indptr[d]; k < documents.indptr[d + 1]; ++k) {
          if (static_cast<std::uint64_t>(documents.indices[k]) >= static_cast<std::uint64_t>(n_words))
            throw std::invalid_argument("sparse rows: a column is outside the matrix");
          visit(documents.indices[k], k, b, s - block_starts[b]);
        }
      }
  };
  Index index;
  index.words.assign(static_cast<std::size_t>(n_words) + 1, 0);
  std::vector<std::int64_t> last_block(static_cast<std::size_t>(n_words), -1);
  each_entry([&](std::int32_t w, std::int64_t, std::int64_t b, std::int64_t) {
    index.words[w + 1] += last_block[w] != b;
    last_block[w] = b;
  });
  std::partial_sum(index.words.begin(), index.words.end(), index.words.begin());
  const auto n_runs = static_cast<std::size_t>(index.words.back());
  index.run_blocks.assign(n_runs, -1);
  index.run_starts.assign(n_runs + 1, 0);
  std::vector<std::int64_t> next(index.words.begin(), index.words.end() - 1);  // the run after the word's last
  each_entry([&](std::int32_t w, std::int64_t, std::int64_t b, std::int64_t) {
    if (next[w] == index.words[w] || index.run_blocks[next[w] - 1] != b) index.run_blocks[next[w]++] = b;
    ++index.run_starts[next[w]];
  });
  const auto block_length = [&](std::int64_t r) {
    const auto b = index.run_blocks[r];
    return block_starts[b + 1] - block_starts[b];
  };
  for (std::size_t r = 0; r < n_runs; ++r) {
    const auto n = block_length(static_cast<std::int64_t>(r));
    const auto length = index.run_starts[r + 1];
    index.run_starts[r + 1] = index.run_starts[r] + (length * fill_up > n ? n : length);
  }
  const auto n_postings = static_cast<std::size_t>(index.run_starts.back());
  index.slots.resize(n_postings);
  index.frequencies.resize(n_postings);
  // From here on next[w] is the run at hand, and places[w] the next free posting in it.
  std::copy(index.words.begin(), index.words.end() - 1, next.begin());
  std::vector<std::int64_t> places(static_cast<std::size_t>(n_words), -1);
  each_entry([&](std::int32_t w, std::int64_t k, std::int64_t b, std::int64_t slot) {
    if (places[w] >= 0 && index.run_blocks[next[w]] != b) {
      ++next[w];
      places[w] = -1;
    }
    const auto r = next[w];
    const auto begin = index.run_starts[r];
    const auto n = block_length(r);
    const bool full = index.run_starts[r + 1] - begin == n;
    if (places[w] < 0) {
      places[w] = begin;
      if (full)
        for (std::int64_t i = 0; i < n; ++i) {
          index.slots[begin + i] = static_cast<std::uint16_t>(i);
          index.frequencies[begin + i] = 0;
        }
    }
    const auto place = full ? begin + slot : places[w]++;
    index.slots[place] = static_cast<std::uint16_t>(slot);
    index.frequencies[place] = documents.values[k] * scales[order[block_starts[b] + slot]];
  });
  return index;
}

Values index_values(const IndexView& index, std::span<const double> frequencies,
                    const WordTableView<double>& above, double gain, int n_threads) {
  Values result;
  result.values.resize(index.slots.size());
  result.largest.resize(static_cast<std::size_t>(index.n_runs()));
  std::fill(result.values.begin(), result.values.end(), 0.0);
  std::fill(result.largest.begin(), result.largest.end(), 0.0);
  const auto& kernels = block_kernels();
  parallel_ranges(index.n_words(), 256, n_threads, [&](std::int64_t first, std::int64_t last) {
    for (auto w = first; w < last; ++w) {
      AboveWord word(index, above, w);
      const auto [run, run_end] = index.runs(w);
      for (auto r = run; r < run_end; ++r) {
        const auto [begin, end] = index.run(r);
        const auto b = std::clamp<std::int64_t>(index.run_blocks[r], 0, index.n_blocks() - 1);
        const auto base = index.block_starts[b];
        for (auto k = begin; k < end; ++k)
          if (frequencies[k] != 0)
            result.values[k] = gain * frequencies[k] * word.at(base + index.slots[k]);
        kernels.log1p(result.values.data() + begin, end - begin);
        for (auto k = begin; k < end; ++k) result.largest[r] = std::max(result.largest[r], result.values[k]);
      }
    }
  });
  return result;
}

Buffer<double> exponentials(std::span<const double> values, int n_threads) {
  Buffer<double> result(values.size());
  const auto& kernels = block_kernels();
  parallel_ranges(std::ssize(values), 1 << 16, n_threads, [&](std::int64_t begin, std::int64_t end) {
    std::copy(values.begin() + begin, values.begin() + end, result.begin() + begin);
    kernels.exp(result.data() + begin, end - begin);
  });
  return result;
}

template <class Value>
void add_mixtures(const IndexView& index, std::span<const double> values, std::span<const double> factors,
                  std::span<const double> largest, const Csr<Value>& queries, double tolerance,
                  std::span<double> out, int n_threads) {
  const Segments segments(index);
  const auto n_classes = index.n_classes();
  const auto n_blocks = index.n_blocks();
  const auto grain = std::clamp<std::int64_t>((1 << 18) / std::max<std::int64_t>(n_classes, 1), 1, batch);
  parallel_ranges(queries.rows(), grain, n_threads, [&](std::int64_t first, std::int64_t last) {
    Scorer scorer{index, values, factors};
    std::vector<Query> group(static_cast<std::size_t>(last - first));
    std::vector<LogSum> totals(group.size() * static_cast<std::size_t>(n_classes));
    for (auto d = first; d < last; ++d) {
      group[d - first].read(index, queries, d);
      group[d - first].choose_mode(largest);
    }
    const auto collect = [&](std::int64_t i, std::int64_t b, bool touched) {
      const double* const weights = index.weights.data() + index.block_starts[b];
      for (const auto& s : segments.of(b))
        scorer.collect(group[i], s, weights, touched, totals[i * n_classes + s.class_id]);
    };
    if (tolerance <= 0) {
      for (std::int64_t b = 0; b < n_blocks; ++b)
        for (std::int64_t i = 0; i < std::ssize(group); ++i) collect(i, b, scorer.visit(group[i], b));
    } else {
      std::vector<double> lower(static_cast<std::size_t>(n_blocks)), upper(lower.size()), doubt(lower.size());
      std::vector<std::int64_t> order(lower.size());
      for (std::int64_t i = 0; i < std::ssize(group); ++i) {
        auto& query = group[i];
        const double* const scores = out.data() + (first + i) * n_classes;
        // Logarithms of what each block adds to the sum of all classes, at least and at most.
        for (std::int64_t b = 0; b < n_blocks; ++b) {
          LogSum mass;
          for (const auto& s : segments.of(b)) mass.add(scores[s.class_id], s.weight);
          upper[b] = lower[b] = mass.log();
        }
        for (const auto& e : query.entries)
          for (auto r = e.run; r < e.end; ++r)
            if (const auto b = index.run_blocks[r]; b >= 0 && b < n_blocks) upper[b] += e.x * largest[r];
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
          return upper[a] != upper[b] ? upper[a] > upper[b] : a < b;
        });
        // What the blocks from order[j] on may add beyond their lower bounds, and what is certain.
        LogSum rest, known;
        for (auto j = n_blocks; j-- > 0;) {
          const auto b = order[j];
          known.add(lower[b], 1);
          if (upper[b] > lower[b]) rest.add(upper[b], -std::expm1(lower[b] - upper[b]));
          doubt[j] = rest.sum > 0 ? rest.log() : lowest;
        }
        const auto log_tolerance = std::log(tolerance);
        for (std::int64_t j = 0; j < n_blocks; ++j) {
          const auto b = order[j];
          if (doubt[j] == lowest || doubt[j] <= log_tolerance + known.log()) {
            collect(i, b, false);
            continue;
          }
          const bool touched = scorer.jump(query, b);
          const double* const weights = index.weights.data() + index.block_starts[b];
          for (const auto& s : segments.of(b)) {
            LogSum found;
            scorer.collect(query, s, weights, touched, found);
            totals[i * n_classes + s.class_id].add(found.scale, found.sum);
            // The lower bound of this block stays in `known`: it is at most as large.
            known.add(scores[s.class_id] + found.scale, found.sum - s.weight * std::exp(-found.scale));
          }
        }
      }
    }
    for (std::int64_t i = 0; i < std::ssize(group); ++i)
      for (std::int64_t l = 0; l < n_classes; ++l)
        if (index.class_starts[l + 1] > index.class_starts[l])
          out[(first + i) * n_classes + l] += totals[i * n_classes + l].log();
  });
}

template <class Value>
std::vector<double> mixture_without_self(const IndexView& index, std::span<const double> frequencies,
                                         const Csr<Value>& queries, std::span<const double> gains,
                                         std::span<const std::int32_t> own,
                                         std::span<const std::int64_t> left_out, int n_threads) {
  const auto& kernels = block_kernels();
  std::vector<double> result(static_cast<std::size_t>(queries.rows()),
                             lowest);
  parallel_ranges(queries.rows(), 16, n_threads, [&](std::int64_t first, std::int64_t last) {
    std::vector<double> sums(block_size);
    for (auto d = first; d < last; ++d) {
      if (own[d] < 0 || own[d] >= index.n_classes()) continue;
      const auto begin = index.class_starts[own[d]];
      const auto end = index.class_starts[own[d] + 1];
      LogSum total;
      auto b = std::upper_bound(index.block_starts.begin(), index.block_starts.end(), begin) -
               index.block_starts.begin() - 1;
      for (; begin < end && b < index.n_blocks() && index.block_starts[b] < end; ++b) {
        const auto base = index.block_starts[b];
        const auto n = index.block_starts[b + 1] - base;
        std::fill_n(sums.begin(), n, 0.0);
        for (auto k = queries.indptr[d]; k < queries.indptr[d + 1]; ++k) {
          const std::int64_t w = queries.indices[k];
          if (static_cast<std::uint64_t>(w) >= static_cast<std::uint64_t>(index.n_words())) continue;
          const auto [run, run_end] = index.runs(w);
          const auto r = find_run(index, {run, run_end, 0}, b);
          if (r < 0) continue;
          const auto [from, to] = index.run(r);
          kernels.add_log1p(index.slots.data() + from, frequencies.data() + from, to - from, gains[k],
                            static_cast<double>(queries.values[k]), sums.data());
        }
        const auto add = [&](std::int64_t from, std::int64_t to) {
          if (from >= to) return;
          total.raise(kernels.largest(sums.data() + from - base, to - from));
          total.sum += kernels.sum_exp(sums.data() + from - base, index.weights.data() + from, to - from,
                                       total.scale);
        };
        const auto low = std::max(begin, base);
        const auto high = std::min(end, base + n);
        const auto gap = left_out[d] >= low && left_out[d] < high ? left_out[d] : high;
        add(low, gap);
        add(gap + 1, high);
      }
      result[d] = total.log();
    }
  });
  return result;
}

template <class Value>
TopSlots top_slots(const IndexView& index, std::span<const double> values, const Csr<Value>& queries,
                   std::span<const double> bias, std::span<const double> offsets,
                   std::span<const std::int64_t> rank, std::int64_t k, int n_threads) {
  struct Candidate {
    double score;
    std::int64_t slot;
  };
  const Segments segments(index);
  const auto n_classes = index.n_classes();
  TopSlots top;
  top.slots.assign(static_cast<std::size_t>(queries.rows() * k), -1);
  top.scores.assign(top.slots.size(), lowest);
  const auto better = [&](const Candidate& a, const Candidate& b) {
    return a.score != b.score ? a.score > b.score : rank[a.slot] < rank[b.slot];
  };
  parallel_ranges(queries.rows(), batch, n_threads, [&](std::int64_t first, std::int64_t last) {
    Scorer scorer{index, values, values};
    std::vector<Query> group(static_cast<std::size_t>(last - first));
    std::vector<std::vector<Candidate>> found(group.size());
    std::vector<double> least(group.size(), lowest);
    for (auto d = first; d < last; ++d) group[d - first].read(index, queries, d);
    const auto cut = [&](std::int64_t i) {
      auto& candidates = found[i];
      if (std::ssize(candidates) <= k) return;
      std::nth_element(candidates.begin(), candidates.begin() + k - 1, candidates.end(), better);
      candidates.resize(static_cast<std::size_t>(k));
      least[i] = candidates.back().score;
    };
    for (std::int64_t b = 0; b < index.n_blocks(); ++b)
      for (std::int64_t i = 0; i < std::ssize(group); ++i) {
        const auto n = index.block_starts[b + 1] - index.block_starts[b];
        if (!scorer.visit(group[i], b)) std::fill_n(scorer.sums.begin(), n, 0.0);
        const double* const biases =
            bias.data() + (std::ssize(bias) == n_classes ? 0 : (first + i) * n_classes);
        for (const auto& s : segments.of(b))
          for (auto j = s.begin; j < s.end; ++j)
            if (const auto score = biases[s.class_id] + (offsets[index.block_starts[b] + j] + scorer.sums[j]);
                score >= least[i]) {
              found[i].push_back({score, index.block_starts[b] + j});
              if (std::ssize(found[i]) >= 2 * k + 256) cut(i);
            }
      }
    for (std::int64_t i = 0; i < std::ssize(group); ++i) {
      cut(i);
      std::sort(found[i].begin(), found[i].end(), better);
      for (std::size_t j = 0; j < found[i].size(); ++j) {
        top.slots[(first + i) * k + j] = found[i][j].slot;
        top.scores[(first + i) * k + j] = found[i][j].score;
      }
    }
  });
  return top;
}

template void add_mixtures(const IndexView&, std::span<const double>, std::span<const double>,
                           std::span<const double>, const Csr<float>&, double, std::span<double>, int);
template std::vector<double> mixture_without_self(const IndexView&, std::span<const double>, const Csr<float>&,
                                                  std::span<const double>, std::span<const std::int32_t>,
                                                  std::span<const std::int64_t>, int);
template TopSlots top_slots(const IndexView&, std::span<const double>, const Csr<float>&,
                            std::span<const double>, std::span<const double>,
                            std::span<const std::int64_t>, std::int64_t, int);
template void add_mixtures(const IndexView&, std::span<const double>, std::span<const double>,
                           std::span<const double>, const Csr<double>&, double, std::span<double>, int);
template std::vector<double> mixture_without_self(const IndexView&, std::span<const double>, const Csr<double>&,
                                                  std::span<const double>, std::span<const std::int32_t>,
                                                  std::span<const std::int64_t>, int);
template TopSlots top_slots(const IndexView&, std::span<const double>, const Csr<double>&,
                            std::span<const double>, std::span<const double>,
                            std::span<const std::int64_t>, std::int64_t, int);
template void add_mixtures(const IndexView&, std::span<const double>, std::span<const double>,
                           std::span<const double>, const Csr<std::int64_t>&, double, std::span<double>, int);
template std::vector<double> mixture_without_self(const IndexView&, std::span<const double>, const Csr<std::int64_t>&,
                                                  std::span<const double>, std::span<const std::int32_t>,
                                                  std::span<const std::int64_t>, int);
template TopSlots top_slots(const IndexView&, std::span<const double>, const Csr<std::int64_t>&,
                            std::span<const double>, std::span<const double>,
                            std::span<const std::int64_t>, std::int64_t, int);

}  // namespace genus
