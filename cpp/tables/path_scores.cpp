#include "tables/path_scores.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "base/parallel.h"
#include "tables/log_rows.h"
#include "tables/path_counts.h"
#include "tables/score_table.h"

namespace genus {
namespace {

// The columns above k, the top first.
std::vector<std::int32_t> columns_above(const PathColumns& columns, std::int64_t k) {
  std::vector<std::int32_t> above;
  for (auto up = columns.parents[k]; up >= 0; up = columns.parents[up]) above.push_back(up);
  std::reverse(above.begin(), above.end());
  return above;
}

// Where each column's cells begin: those of its node, none without weight.
std::vector<std::int64_t> column_starts(const NodeTableView& counts, const PathColumns& columns) {
  std::vector<std::int64_t> starts(columns.nodes.size() + 1, 0);
  for (std::size_t k = 0; k < columns.nodes.size(); ++k) {
    const auto [begin, end] = counts.row(columns.nodes[k]);
    starts[k + 1] = starts[k] + (columns.weights[k] > 0 ? end - begin : 0);
  }
  return starts;
}

Buffer<double> column_values(const NodeTableView& counts, std::int64_t n_words, const PathColumns& columns,
                             const std::vector<std::int64_t>& starts, int n_threads) {
  const auto n = std::ssize(columns.nodes);
  const auto totals = counts.totals();
  std::int64_t levels = 1;
  for (std::int64_t k = 0; k < n; ++k)
    levels = std::max<std::int64_t>(levels, std::ssize(columns_above(columns, k)));
  Buffer<double> values(static_cast<std::size_t>(starts.back()));
  std::atomic<std::int64_t> next{0};
  parallel_for(std::min<std::int64_t>(n, std::max(n_threads, 1)), n_threads, [&](std::int64_t) {
    PathCounts path_counts(counts, n_words, levels);
    for (std::int64_t k; (k = next.fetch_add(1, std::memory_order_relaxed)) < n;) {
      if (starts[k] == starts[k + 1]) continue;
      const auto above = columns_above(columns, k);
      std::vector<std::int32_t> nodes(above.size());
      std::vector<double> factors(above.size());
      for (std::size_t j = 0; j < above.size(); ++j) {
        nodes[j] = columns.nodes[above[j]];
        factors[j] = totals[nodes[j]] > 0 ? columns.weights[above[j]] / totals[nodes[j]] : 0.0;
      }
      path_counts.load(nodes);
      const auto uniform = columns.uniform[above.empty() ? k : above.front()];
      const auto begin = counts.row(columns.nodes[k]).begin;
      const auto factor = columns.weights[k] / totals[columns.nodes[k]];
      for (auto i = starts[k]; i < starts[k + 1]; ++i) {
        const auto cell = begin + i - starts[k];
        const double* const seen = path_counts.of_word(counts.words[cell]);
        double p = uniform;
        for (std::size_t j = 0; j < factors.size(); ++j) p += factors[j] * seen[j];  // eq. 9, the nodes above
        values[i] = std::log1p(factor * counts.counts[cell] / p);
      }
    }
  });
  return values;
}

}  // namespace

WordTable<double> build_path_table(const NodeTableView& counts, std::int64_t n_words,
                                   const PathColumns& columns, int n_threads) {
  const auto n_columns = std::ssize(columns.nodes);
  const auto starts = column_starts(counts, columns);
  const auto values = column_values(counts, n_words, columns, starts, n_threads);
  const auto words = [&](std::int64_t k) {
    return counts.words.subspan(counts.row(columns.nodes[k]).begin, starts[k + 1] - starts[k]);
  };

  WordTable<double> table;
  table.indptr.assign(static_cast<std::size_t>(n_words) + 1, 0);
  for (std::int64_t k = 0; k < n_columns; ++k)
    for (const auto w : words(k)) ++table.indptr[w + 1];
  const bool full = 2 * starts.back() >= n_words * n_columns;
  for (std::int64_t w = 0; w < n_words; ++w) {
    auto& length = table.indptr[w + 1];
    length = table.indptr[w] + (full || 4 * length >= n_columns ? n_columns : length);
  }
  table.classes.resize(static_cast<std::size_t>(table.indptr.back()));
  table.values.resize(table.classes.size());

  // Each thread fills the rows of its words, column by column.
  const auto grain = n_words / (4 * std::max(n_threads, 1)) + 1;
  parallel_ranges(n_words, grain, n_threads, [&](std::int64_t first, std::int64_t last) {
    std::vector<std::int64_t> next(table.indptr.begin() + first, table.indptr.begin() + last);
    const auto is_full = [&](std::int64_t w) { return table.indptr[w + 1] - table.indptr[w] == n_columns; };
    for (auto w = first; w < last; ++w)
      if (is_full(w))
        std::iota(table.classes.begin() + table.indptr[w], table.classes.begin() + table.indptr[w + 1], 0);
    for (std::int64_t k = 0; k < n_columns; ++k) {
      const auto all = words(k);
      auto at = std::lower_bound(all.begin(), all.end(), first);
      for (; at != all.end() && *at < last; ++at) {
        const auto to = is_full(*at) ? table.indptr[*at] + k : next[*at - first]++;
        table.classes[to] = static_cast<std::int32_t>(k);
        table.values[to] = values[starts[k] + (at - all.begin())];
      }
    }
  });
  return table;
}

namespace {

constexpr std::int64_t scores_at_once = 1 << 13;  // 64 KB: they stay in the cache, and need no fresh pages

// Scores documents in blocks: take(d, scores of d's classes).
template <class Value, class Take>
void score_each_path(const WordTableView<double>& table, const Csr<Value>& documents,
                     std::span<const double> bias, std::span<const double> log_uniform,
                     const ColumnTree& columns, int n_threads, Take&& take) {
  const auto n_columns = columns.size();
  parallel_ranges(documents.rows(), scores_at_once / n_columns + 1, n_threads,
                  [&](std::int64_t begin, std::int64_t end) {
                    std::vector<double> scores(static_cast<std::size_t>((end - begin) * n_columns));
                    const Csr<Value> block{documents.indptr.subspan(begin, end - begin + 1),
                                           documents.indices, documents.values};
                    score(table, block, bias, log_uniform, std::span(scores), 1);
                    for (auto d = begin; d < end; ++d) {
                      double* const row = scores.data() + (d - begin) * n_columns;
                      columns.add_up(row);
                      take(d, std::span<const double>(row, static_cast<std::size_t>(columns.n_classes)));
                    }
                  });
}

}  // namespace

template <class Value>
void score_paths(const WordTableView<double>& table, const Csr<Value>& documents,
                 std::span<const double> bias, std::span<const double> log_uniform, const ColumnTree& columns,
                 std::span<double> out, int n_threads) {
  score_each_path(table, documents, bias, log_uniform, columns, n_threads,
                  [&](std::int64_t d, std::span<const double> scores) {
                    std::copy(scores.begin(), scores.end(), out.begin() + d * columns.n_classes);
                  });
}

template <class Value>
std::vector<std::int32_t> best_classes_of_paths(const WordTableView<double>& table,
                                                const Csr<Value>& documents, std::span<const double> bias,
                                                std::span<const double> log_uniform,
                                                const ColumnTree& columns, int n_threads) {
  std::vector<std::int32_t> best(static_cast<std::size_t>(documents.rows()));
  score_each_path(table, documents, bias, log_uniform, columns, n_threads,
                  [&](std::int64_t d, std::span<const double> scores) { best[d] = first_largest(scores); });
  return best;
}

template void score_paths(const WordTableView<double>&, const Csr<float>&, std::span<const double>,
                          std::span<const double>, const ColumnTree&, std::span<double>, int);
template std::vector<std::int32_t> best_classes_of_paths(const WordTableView<double>&, const Csr<float>&,
                                                         std::span<const double>, std::span<const double>,
                                                         const ColumnTree&, int);
template void score_paths(const WordTableView<double>&, const Csr<double>&, std::span<const double>,
                          std::span<const double>, const ColumnTree&, std::span<double>, int);
template std::vector<std::int32_t> best_classes_of_paths(const WordTableView<double>&, const Csr<double>&,
                                                         std::span<const double>, std::span<const double>,
                                                         const ColumnTree&, int);
template void score_paths(const WordTableView<double>&, const Csr<std::int64_t>&, std::span<const double>,
                          std::span<const double>, const ColumnTree&, std::span<double>, int);
template std::vector<std::int32_t> best_classes_of_paths(const WordTableView<double>&,
                                                         const Csr<std::int64_t>&, std::span<const double>,
                                                         std::span<const double>, const ColumnTree&, int);

}  // namespace genus
