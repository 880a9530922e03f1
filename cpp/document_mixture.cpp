#include "document_mixture.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "block_kernels.h"
#include "mixture_scorer.h"
#include "parallel.h"

namespace genus {
namespace {

constexpr std::int64_t batch = 256;  // queries that go through the blocks together, at most

// What is known of one query's sums by segment, and which blocks are still to be completed.
struct Plan {
  std::vector<double> sums;            // of c_m * exp(inst_m), by segment: so far by the query's rare words
  std::vector<double> rises;           // by block: the largest share by which its sums may still grow
  std::vector<std::uint8_t> complete;  // by block: whether it must be completed
};

// Decides which blocks of a query can be left incomplete.
//
// The query's rare words are multiplied up exactly, at the cost of their few postings. Its common words,
// which have most of the postings and say little, can then only raise a block's part by exp(sum of its runs'
// largest values). Blocks are completed, those in most doubt first, until what all others may still gain, D,
// is at most 2 * tolerance of what is certain, Z. These get half of it. A class's share (s + d)/(Z + sum of
// all d) then lies within D/2Z of the truth: its own d moves it by at most (1 - p) d/Z, the others' by p d/Z.
class Planner {
 public:
  Planner(const IndexView& index, const Segments& segments, std::span<const double> factors,
          std::span<const double> largest)
      : index_(index),
        segments_(segments),
        factors_(factors),
        largest_(largest),
        doubts_(static_cast<std::size_t>(index.n_blocks())),
        order_(doubts_.size()) {}

  // scores hold what is above the documents, for each class.
  void operator()(const Query& query, double tolerance, std::span<const double> scores, Plan& plan) {
    split(query);
    plan.sums.resize(segments_.segments.size());
    plan.complete.assign(doubts_.size(), 0);
    bound_rises(plan.rises);
    relative_.resize(scores.size());
    const auto best = *std::max_element(scores.begin(), scores.end());
    for (std::size_t l = 0; l < scores.size(); ++l) relative_[l] = std::exp(scores[l] - best);

    double known = 0;
    for (std::int64_t b = 0; b < index_.n_blocks(); ++b) {
      add_rare(b, plan.sums.data() + segments_.starts[b]);
      const auto mass = mass_of(b, plan.sums);
      known += mass;
      doubts_[b] = mass * plan.rises[b];
    }
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [&](std::int64_t a, std::int64_t b) {
      return doubts_[a] != doubts_[b] ? doubts_[a] < doubts_[b] : a < b;
    });
    double doubt = 0;
    for (const auto b : order_) {
      doubt += doubts_[b];
      plan.complete[b] = doubt > 2 * tolerance * known;
    }
  }

 private:
  // The rare words have a small part of all postings. A query's entries come by falling size.
  void split(const Query& query) {
    std::int64_t all = 0, taken = 0;
    for (const auto& e : query.entries) all += postings(index_, e);
    rare_.clear();
    common_.clear();
    for (auto e = query.entries.rbegin(); e != query.entries.rend(); ++e) {
      taken += postings(index_, *e);
      (rare_share * taken <= all ? rare_ : common_).push_back(*e);
    }
  }

  void bound_rises(std::vector<double>& rises) const {
    rises.assign(doubts_.size(), 0.0);
    for (const auto& e : common_)
      for (auto r = e.run; r < e.end; ++r)
        if (const auto b = index_.run_blocks[r]; b >= 0 && b < index_.n_blocks())
          rises[b] += e.x * largest_[r];
    for (double& rise : rises) rise = std::expm1(rise);
  }

  // The sums of block b's segments by the rare words alone.
  void add_rare(std::int64_t b, double* sums) {
    const auto segments = segments_.of(b);
    for (std::size_t i = 0; i < segments.size(); ++i) sums[i] = segments[i].weight;
    std::size_t n_touched = 0;
    for (auto& e : rare_) {
      while (e.run < e.end && index_.run_blocks[e.run] < b) ++e.run;
      if (e.run == e.end || index_.run_blocks[e.run] != b) continue;
      const auto [begin, end] = index_.run(e.run++);
      for (auto k = begin; k < end; ++k) {
        const std::uint16_t slot = index_.slots[k] & (block_size - 1);
        double factor = factors_[k];
        for (int i = 1; i < static_cast<int>(e.x); ++i) factor *= factors_[k];
        // Written in any case and kept where the slot is new: a branch could not be predicted.
        touched_[n_touched] = slot;
        n_touched += static_cast<std::size_t>((products_[slot] == 1.0) & (factor != 1.0));
        n_touched = std::min<std::size_t>(n_touched, block_size);  // damaged values may fall back to 1
        products_[slot] *= factor;
      }
    }
    const double* const weights = index_.weights.data() + index_.block_starts[b];
    const auto n = index_.block_starts[b + 1] - index_.block_starts[b];
    const auto by_slot = [](std::int32_t slot, const Segment& segment) { return slot < segment.end; };
    for (std::size_t t = 0; t < n_touched; ++t) {
      const auto slot = touched_[t];
      const auto gain = std::exchange(products_[slot], 1.0) - 1.0;
      if (slot >= n) continue;
      const auto i = segments.size() == 1
                         ? 0
                         : std::upper_bound(segments.begin(), segments.end(), std::int32_t{slot}, by_slot) -
                               segments.begin();
      sums[i] += index_.unit_weights ? gain : weights[slot] * gain;
    }
  }

  // Block b's part in the sum of all classes.
  double mass_of(std::int64_t b, std::span<const double> sums) const {
    double mass = 0;
    for (auto i = segments_.starts[b]; i < segments_.starts[b + 1]; ++i)
      mass += sums[i] * relative_[segments_.segments[i].class_id];
    return mass;
  }

  static constexpr std::int64_t rare_share = 16;
  const IndexView& index_;
  const Segments& segments_;
  std::span<const double> factors_, largest_;
  std::vector<Entry> rare_, common_;
  std::vector<double> doubts_, relative_;
  std::vector<std::int64_t> order_;
  std::vector<double> products_ = std::vector<double>(block_size, 1.0);
  std::vector<std::uint16_t> touched_ = std::vector<std::uint16_t>(block_size + 1);
};

}  // namespace

template <class Value>
void add_mixtures(const IndexView& index, std::span<const double> values, std::span<const double> factors,
                  std::span<const double> largest, const Csr<Value>& queries, double tolerance,
                  std::span<double> out, int n_threads) {
  const Segments segments(index);
  const auto n_classes = index.n_classes();
  const auto most = std::clamp<std::int64_t>((1 << 18) / std::max<std::int64_t>(n_classes, 1), 1, batch);
  const auto grain = even_grain(queries.rows(), most, n_threads);
  parallel_ranges(queries.rows(), grain, n_threads, [&](std::int64_t first, std::int64_t last) {
    Scorer scorer{index, values, factors};
    Planner plan(index, segments, factors, largest);
    std::vector<Query> group(static_cast<std::size_t>(last - first));
    std::vector<Plan> plans(group.size());  // empty where a query is scored exactly
    std::vector<LogSum> totals(group.size() * static_cast<std::size_t>(n_classes));
    for (std::int64_t i = 0; i < last - first; ++i) {
      group[i].read(index, queries, first + i);
      group[i].choose_mode(largest);
      if (tolerance > 0 && group[i].product)
        plan(group[i], tolerance, out.subspan((first + i) * n_classes, n_classes), plans[i]);
    }
    for (std::int64_t b = 0; b < index.n_blocks(); ++b) {
      const double* const weights = index.weights.data() + index.block_starts[b];
      for (std::int64_t i = 0; i < last - first; ++i) {
        LogSum* const total = totals.data() + i * n_classes;
        const auto& known = plans[i];
        if (!known.sums.empty() && !known.complete[b]) {  // halfway between both bounds
          for (auto j = segments.starts[b]; j < segments.starts[b + 1]; ++j)
            total[segments.segments[j].class_id].add(0, known.sums[j] * (1 + known.rises[b] / 2));
          continue;
        }
        const bool touched = known.sums.empty() ? scorer.visit(group[i], b) : scorer.jump(group[i], b);
        if (touched) scorer.exponentiate(group[i], b);
        for (const auto& s : segments.of(b)) scorer.collect(group[i], s, weights, touched, total[s.class_id]);
      }
    }
    for (std::int64_t i = 0; i < last - first; ++i)
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
  std::vector<double> result(static_cast<std::size_t>(queries.rows()), lowest);
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
          total.sum +=
              kernels.sum_exp(sums.data() + from - base, index.weights.data() + from, to - from, total.scale);
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
  const auto grain = even_grain(queries.rows(), batch, n_threads);
  parallel_ranges(queries.rows(), grain, n_threads, [&](std::int64_t first, std::int64_t last) {
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
template std::vector<double> mixture_without_self(const IndexView&, std::span<const double>,
                                                  const Csr<float>&, std::span<const double>,
                                                  std::span<const std::int32_t>,
                                                  std::span<const std::int64_t>, int);
template TopSlots top_slots(const IndexView&, std::span<const double>, const Csr<float>&,
                            std::span<const double>, std::span<const double>, std::span<const std::int64_t>,
                            std::int64_t, int);
template void add_mixtures(const IndexView&, std::span<const double>, std::span<const double>,
                           std::span<const double>, const Csr<double>&, double, std::span<double>, int);
template std::vector<double> mixture_without_self(const IndexView&, std::span<const double>,
                                                  const Csr<double>&, std::span<const double>,
                                                  std::span<const std::int32_t>,
                                                  std::span<const std::int64_t>, int);
template TopSlots top_slots(const IndexView&, std::span<const double>, const Csr<double>&,
                            std::span<const double>, std::span<const double>, std::span<const std::int64_t>,
                            std::int64_t, int);
template void add_mixtures(const IndexView&, std::span<const double>, std::span<const double>,
                           std::span<const double>, const Csr<std::int64_t>&, double, std::span<double>, int);
template std::vector<double> mixture_without_self(const IndexView&, std::span<const double>,
                                                  const Csr<std::int64_t>&, std::span<const double>,
                                                  std::span<const std::int32_t>,
                                                  std::span<const std::int64_t>, int);
template TopSlots top_slots(const IndexView&, std::span<const double>, const Csr<std::int64_t>&,
                            std::span<const double>, std::span<const double>, std::span<const std::int64_t>,
                            std::int64_t, int);

}  // namespace genus
