#include "documents/document_mixture.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/parallel.h"
#include "base/vector_loops.h"
#include "documents/mixture_scorer.h"
#include "documents/product_stack.h"

namespace genus {
namespace {

constexpr std::int64_t batch = 4096;  // queries that go through the blocks together, at most

// Cuts the blocks into about n ranges, and only where a class ends: the sums of a class are then made in one
// order, however many ranges there are.
std::vector<std::int64_t> cut_at_classes(const Segments& segments, std::int64_t n_blocks, std::int64_t n) {
  std::vector<std::int64_t> starts{0};
  std::int32_t last_class = -1;  // before block b
  for (std::int64_t b = 0; b < n_blocks; ++b) {
    const auto parts = segments.of(b);
    if (parts.empty()) continue;
    if ((b - starts.back()) * n >= n_blocks && parts.front().class_id != last_class) starts.push_back(b);
    last_class = parts.back().class_id;
  }
  starts.push_back(n_blocks);
  return starts;
}

// Asks for the scores of a query, which lie anywhere.
void prefetch(std::span<const double> row) {
  constexpr std::size_t line = 8, most = 1024;  // numbers; what follows, the machine sees coming
  for (std::size_t l = 0; l < std::min(row.size(), most); l += line) __builtin_prefetch(row.data() + l, 1);
}

// out[members[i], l] += log(totals[l, i]), for classes that have documents.
template <class Out>
void add_logs_of(std::span<double> totals, std::span<const SharedQueries::Member> members,
                 const IndexView& index, const Out& out, int n_threads) {
  constexpr std::int64_t line = 8;  // numbers that lie in one
  const auto n = std::ssize(members);
  parallel_ranges(index.n_classes(), 16, n_threads, [&](std::int64_t begin, std::int64_t end) {
    vector_loops().log(totals.data() + begin * n, (end - begin) * n);
  });
  parallel_ranges(n, 8 * line, n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto first = begin; first < end; first += line)
      for (std::int64_t l = 0; l < index.n_classes(); ++l)
        if (index.class_starts[l + 1] > index.class_starts[l])
          for (auto i = first; i < std::min(end, first + line); ++i)
            out(members[i].query)[l] += totals[l * n + i];  // eq. 1
  });
}

// out[i, l] += acc_l for those of the queries that have these numbers, by products. Threads go through ranges
// of blocks.
template <class Out>
void add_products(const IndexView& index, const Segments& segments, std::span<const double> values,
                  std::span<const double> factors, std::span<const Query> queries,
                  std::span<const std::int64_t> numbers, std::span<const std::int64_t> ranges, const Out& out,
                  int n_threads) {
  if (numbers.empty()) return;
  const SharedQueries shared(queries, numbers);
  const auto members = shared.members();
  // use(member, segments, sums) for all blocks of a range
  const auto visit = [&](std::int64_t r, auto&& use) {
    ProductStack products(index, segments, values, factors);
    WordsInBlock words(index, shared, ranges[r]);
    for (auto b = ranges[r]; b < ranges[r + 1]; ++b) products.visit(members, words, b, use);
  };
  if (index.n_blocks() == 1) {  // no class has more than one sum
    std::vector<double> logs(static_cast<std::size_t>(index.n_classes()));
    return visit(0, [&](std::size_t i, std::span<const Segment> parts, const double* sums) {
      if (i + 1 < members.size()) prefetch(out(members[i + 1].query));
      std::copy_n(sums, parts.size(), logs.data());
      vector_loops().log(logs.data(), std::ssize(parts));
      const auto row = out(members[i].query);
      for (std::size_t j = 0; j < parts.size(); ++j) row[parts[j].class_id] += logs[j];  // eq. 1
    });
  }
  const auto n = std::ssize(members);
  std::vector<double> totals(static_cast<std::size_t>(n * index.n_classes()));  // by class, then by member
  parallel_for(std::ssize(ranges) - 1, n_threads, [&](std::int64_t r) {
    visit(r, [&](std::size_t i, std::span<const Segment> parts, const double* sums) {
      for (std::size_t j = 0; j < parts.size(); ++j) totals[parts[j].class_id * n + i] += sums[j];
    });
  });
  add_logs_of(totals, members, index, out, n_threads);
}

// The same for any queries, by logarithms.
template <class Out>
void add_logs(const IndexView& index, const Segments& segments, std::span<const double> values,
              std::span<Query> queries, std::span<const std::int64_t> numbers, const Out& out) {
  MixtureScorer scorer{index, values};
  const auto n_classes = index.n_classes();
  std::vector<LogSum> totals(numbers.size() * static_cast<std::size_t>(n_classes));
  for (std::int64_t b = 0; b < index.n_blocks(); ++b) {
    const double* const weights = index.weights.data() + index.block_starts[b];
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      scorer.visit(queries[numbers[i]], b);
      for (const auto& s : segments.of(b)) scorer.collect(s, weights, totals[i * n_classes + s.class_id]);
    }
  }
  for (std::size_t i = 0; i < numbers.size(); ++i)
    for (std::int64_t l = 0; l < n_classes; ++l)
      if (index.class_starts[l + 1] > index.class_starts[l])
        out(numbers[i])[l] += totals[i * n_classes + l].log();  // eq. 1
}

}  // namespace

template <class Value>
void add_mixtures(const IndexView& index, std::span<const double> values, std::span<const double> factors,
                  std::span<const double> largest, const Csr<Value>& queries, std::span<double> out,
                  int n_threads) {
  const Segments segments(index);
  const auto n_classes = index.n_classes();
  const auto most = std::clamp<std::int64_t>((1 << 19) / std::max<std::int64_t>(n_classes, 1), 1, batch);
  const auto ranges = cut_at_classes(segments, index.n_blocks(), n_threads);
  const std::vector<std::int64_t> whole{0, index.n_blocks()};
  // The queries from `first` to `last`, by so many threads.
  const auto add = [&](std::int64_t first, std::int64_t last, std::span<const std::int64_t> blocks, int n) {
    Queries read(index, queries, first, last, largest, n);
    const auto group = read.all();
    std::vector<std::int64_t> products, others;
    for (std::int64_t i = 0; i < last - first; ++i) (group[i].is_product ? products : others).push_back(i);
    const auto row = [&](std::int64_t i) { return out.subspan((first + i) * n_classes, n_classes); };
    add_products(index, segments, values, factors, group, products, blocks, row, n);
    const auto grain = even_grain(std::ssize(others), most, n);
    parallel_ranges(std::ssize(others), grain, n, [&](std::int64_t begin, std::int64_t end) {
      add_logs(index, segments, values, group, std::span(others).subspan(begin, end - begin), row);
    });
  };
  if (std::ssize(ranges) <= n_threads) {  // threads divide the queries
    const auto grain = even_grain(queries.rows(), most, n_threads);
    parallel_ranges(queries.rows(), grain, n_threads,
                    [&](std::int64_t first, std::int64_t last) { add(first, last, whole, 1); });
  } else {  // or the blocks
    parallel_ranges(queries.rows(), most * n_threads, 1,
                    [&](std::int64_t first, std::int64_t last) { add(first, last, ranges, n_threads); });
  }
}

template <class Value>
std::vector<double> mixture_without_self(const IndexView& index, std::span<const double> frequencies,
                                         const Csr<Value>& queries, std::span<const double> gains,
                                         std::span<const std::int32_t> own,
                                         std::span<const std::int64_t> left_out, int n_threads) {
  const auto& kernels = vector_loops();
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
    MixtureScorer scorer{index, values};
    Queries read(index, queries, first, last, {}, 1);
    const auto group = read.all();
    std::vector<std::vector<Candidate>> found(group.size());
    std::vector<double> least(group.size(), lowest);
    const auto cut = [&](std::int64_t i) {
      auto& candidates = found[i];
      if (std::ssize(candidates) <= k) return;
      std::nth_element(candidates.begin(), candidates.begin() + k - 1, candidates.end(), better);
      candidates.resize(static_cast<std::size_t>(k));
      least[i] = candidates.back().score;
    };
    for (std::int64_t b = 0; b < index.n_blocks(); ++b)
      for (std::int64_t i = 0; i < std::ssize(group); ++i) {
        scorer.visit(group[i], b);
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
                           std::span<const double>, const Csr<float>&, std::span<double>, int);
template std::vector<double> mixture_without_self(const IndexView&, std::span<const double>,
                                                  const Csr<float>&, std::span<const double>,
                                                  std::span<const std::int32_t>,
                                                  std::span<const std::int64_t>, int);
template TopSlots top_slots(const IndexView&, std::span<const double>, const Csr<float>&,
                            std::span<const double>, std::span<const double>, std::span<const std::int64_t>,
                            std::int64_t, int);
template void add_mixtures(const IndexView&, std::span<const double>, std::span<const double>,
                           std::span<const double>, const Csr<double>&, std::span<double>, int);
template std::vector<double> mixture_without_self(const IndexView&, std::span<const double>,
                                                  const Csr<double>&, std::span<const double>,
                                                  std::span<const std::int32_t>,
                                                  std::span<const std::int64_t>, int);
template TopSlots top_slots(const IndexView&, std::span<const double>, const Csr<double>&,
                            std::span<const double>, std::span<const double>, std::span<const std::int64_t>,
                            std::int64_t, int);
template void add_mixtures(const IndexView&, std::span<const double>, std::span<const double>,
                           std::span<const double>, const Csr<std::int64_t>&, std::span<double>, int);
template std::vector<double> mixture_without_self(const IndexView&, std::span<const double>,
                                                  const Csr<std::int64_t>&, std::span<const double>,
                                                  std::span<const std::int32_t>,
                                                  std::span<const std::int64_t>, int);
template TopSlots top_slots(const IndexView&, std::span<const double>, const Csr<std::int64_t>&,
                            std::span<const double>, std::span<const double>, std::span<const std::int64_t>,
                            std::int64_t, int);

}  // namespace genus
