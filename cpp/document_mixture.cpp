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

constexpr std::int64_t batch = 32;  // queries that go through the blocks together

// Scores one query at a time, leaving out what cannot matter.
//
// The query's rare words are multiplied up exactly, at the cost of their few postings. Its common words,
// which have most of the postings and say little, can then only raise a block's part by exp(sum of its runs'
// largest values). Blocks are completed, those in most doubt first, until what all others may still gain, D,
// is at most 2 * tolerance of what is certain, Z. These get half of it. A class's share (s + d)/(Z + sum of
// all d) then lies within D/2Z of the truth: its own d moves it by at most (1 - p) d/Z, the others' by p d/Z.
class BoundedScorer {
 public:
  BoundedScorer(const IndexView& index, const Segments& segments, std::span<const double> factors,
                std::span<const double> largest)
      : index_(index),
        segments_(segments),
        largest_(largest),
        scorer_{index, factors, factors},
        sums_(segments.segments.size()),
        bounds_(static_cast<std::size_t>(index.n_blocks())),
        order_(bounds_.size()),
        mass_(bounds_.size()),
        rises_(bounds_.size()) {}

  // Sums of c_m * exp(inst_m) by class; scores hold the rest of each class's score.
  void score(const Query& query, double tolerance, std::span<const double> scores, std::span<LogSum> totals) {
    split(query);
    std::fill(bounds_.begin(), bounds_.end(), 0.0);
    for (const auto& e : common_.entries)
      for (auto r = e.run; r < e.end; ++r)
        if (const auto b = index_.run_blocks[r]; b >= 0 && b < index_.n_blocks())
          bounds_[b] += e.x * largest_[r];
    relative_.resize(scores.size());
    const auto best = *std::max_element(scores.begin(), scores.end());
    for (std::size_t l = 0; l < scores.size(); ++l) relative_[l] = std::exp(scores[l] - best);

    double known = 0;
    for (std::int64_t b = 0; b < index_.n_blocks(); ++b) {
      add_rare(b);
      mass_[b] = mass(b);
      known += mass_[b];
      rises_[b] = bounds_[b] > 0 ? std::expm1(bounds_[b]) : 0.0;
      bounds_[b] = mass_[b] * rises_[b];
    }
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [&](std::int64_t a, std::int64_t b) {
      return bounds_[a] != bounds_[b] ? bounds_[a] > bounds_[b] : a < b;
    });
    // What blocks from each place on may still gain, added up from the smallest so that nothing is lost.
    double doubt = 0;
    for (auto j = index_.n_blocks(); j-- > 0;) doubt = bounds_[order_[j]] += doubt;
    bool near = false;
    for (const auto b : order_) {
      near = near || bounds_[b] <= 2 * tolerance * known;
      if (near) {  // halfway between both bounds
        for (auto i = segments_.starts[b]; i < segments_.starts[b + 1]; ++i) sums_[i] *= 1 + rises_[b] / 2;
        continue;
      }
      complete(query, b);
      const auto before = std::exchange(mass_[b], mass(b));
      known += mass_[b] - before;
    }
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      auto& total = totals[segments_.segments[i].class_id];
      total.raise(0);
      total.sum += sums_[i];
    }
  }

 private:
  // The rare words have a small part of all postings. A query's entries come by falling size.
  void split(const Query& query) {
    std::int64_t all = 0, taken = 0;
    for (const auto& e : query.entries) all += postings(index_, e);
    rare_.entries.clear();
    common_.entries.clear();
    for (auto e = query.entries.rbegin(); e != query.entries.rend(); ++e) {
      taken += postings(index_, *e);
      (rare_share * taken <= all ? rare_ : common_).entries.push_back(*e);
    }
  }

  // The sums of block b's segments by the rare words alone.
  void add_rare(std::int64_t b) {
    const auto segments = segments_.of(b);
    auto* const sums = sums_.data() + segments_.starts[b];
    for (std::size_t i = 0; i < segments.size(); ++i) sums[i] = segments[i].weight;
    std::size_t n_touched = 0;
    for (auto& e : rare_.entries) {
      while (e.run < e.end && index_.run_blocks[e.run] < b) ++e.run;
      if (e.run == e.end || index_.run_blocks[e.run] != b) continue;
      const auto [begin, end] = index_.run(e.run++);
      for (auto k = begin; k < end; ++k) {
        const std::uint16_t slot = index_.slots[k] & (block_size - 1);
        double factor = scorer_.factors[k];
        for (int i = 1; i < static_cast<int>(e.x); ++i) factor *= scorer_.factors[k];
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

  // The sums of block b's segments by all words.
  void complete(const Query& query, std::int64_t b) {
    if (!scorer_.jump(query, b)) return;
    const double* const weights = index_.weights.data() + index_.block_starts[b];
    for (auto i = segments_.starts[b]; i < segments_.starts[b + 1]; ++i) {
      const auto& s = segments_.segments[i];
      sums_[i] = scorer_.add_up(scorer_.sums.data() + s.begin, weights + s.begin, s.end - s.begin);
    }
  }

  // Block b's part in the sum of all classes.
  double mass(std::int64_t b) const {
    double sum = 0;
    for (auto i = segments_.starts[b]; i < segments_.starts[b + 1]; ++i)
      sum += sums_[i] * relative_[segments_.segments[i].class_id];
    return sum;
  }

  static constexpr std::int64_t rare_share = 16;
  const IndexView& index_;
  const Segments& segments_;
  std::span<const double> largest_;
  Scorer scorer_;
  std::vector<double> sums_, bounds_;
  std::vector<std::int64_t> order_;
  std::vector<double> mass_, rises_, relative_;
  std::vector<double> products_ = std::vector<double>(block_size, 1.0);
  std::vector<std::uint16_t> touched_ = std::vector<std::uint16_t>(block_size + 1);
  Query rare_, common_;
};

}  // namespace

template <class Value>
void add_mixtures(const IndexView& index, std::span<const double> values, std::span<const double> factors,
                  std::span<const double> largest, const Csr<Value>& queries, double tolerance,
                  std::span<double> out, int n_threads) {
  const Segments segments(index);
  const auto n_classes = index.n_classes();
  const auto grain = std::clamp<std::int64_t>((1 << 18) / std::max<std::int64_t>(n_classes, 1), 1, batch);
  parallel_ranges(queries.rows(), grain, n_threads, [&](std::int64_t first, std::int64_t last) {
    Scorer scorer{index, values, factors};
    BoundedScorer bounded(index, segments, factors, largest);
    std::vector<Query> group(static_cast<std::size_t>(last - first));
    std::vector<LogSum> totals(group.size() * static_cast<std::size_t>(n_classes));
    std::vector<std::int64_t> exact;  // places in the group
    for (std::int64_t i = 0; i < last - first; ++i) {
      auto& query = group[i];
      query.read(index, queries, first + i);
      query.choose_mode(largest);
      if (tolerance > 0 && query.product)
        bounded.score(query, tolerance, out.subspan((first + i) * n_classes, n_classes),
                      std::span(totals).subspan(i * n_classes, n_classes));
      else
        exact.push_back(i);
    }
    for (std::int64_t b = 0; b < (exact.empty() ? 0 : index.n_blocks()); ++b)
      for (const auto i : exact) {
        const bool touched = scorer.visit(group[i], b);
        const double* const weights = index.weights.data() + index.block_starts[b];
        for (const auto& s : segments.of(b))
          scorer.collect(group[i], s, weights, touched, totals[i * n_classes + s.class_id]);
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
