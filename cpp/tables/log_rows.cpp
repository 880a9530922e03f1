#include "tables/log_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/parallel.h"

namespace genus {
namespace {

// log of the sum of exp(row), as the sum of two parts: taken off one after the other, they keep more digits.
struct LogSum {
  double largest, log_rest;
};

LogSum log_sum_exp(std::span<const double> row) {
  const auto largest = *std::max_element(row.begin(), row.end());
  if (!std::isfinite(largest)) return {largest, 0};
  double sum = 0;
  for (const auto value : row) sum += std::exp(value - largest);
  return {largest, std::log(sum)};
}

}  // namespace

std::int64_t rows_per_task(std::int64_t n_columns) {
  return std::clamp<std::int64_t>((std::int64_t{1} << 14) / std::max<std::int64_t>(n_columns, 1), 1, 64);
}

std::int32_t first_largest(std::span<const double> row) {
  std::array<double, 8> largest;  // side by side, so that the comparisons do not wait for one another
  largest.fill(-std::numeric_limits<double>::infinity());
  std::size_t c = 0;
  for (; c + 8 <= row.size(); c += 8)
    for (std::size_t i = 0; i < 8; ++i) largest[i] = largest[i] < row[c + i] ? row[c + i] : largest[i];
  for (; c < row.size(); ++c) largest[0] = std::max(largest[0], row[c]);
  const auto at = std::find(row.begin(), row.end(), *std::max_element(largest.begin(), largest.end()));
  return at == row.end() ? 0 : static_cast<std::int32_t>(at - row.begin());  // none where nothing is a number
}

void normalize_log_rows(std::span<double> scores, std::int64_t n_columns, int n_threads) {
  const auto n = n_columns > 0 ? std::ssize(scores) / n_columns : 0;
  parallel_ranges(n, rows_per_task(n_columns), n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto d = begin; d < end; ++d) {
      const auto row = scores.subspan(d * n_columns, n_columns);
      const auto [largest, log_rest] = log_sum_exp(row);
      if (std::isinf(largest)) continue;
      for (auto& value : row) value = (value - largest) - log_rest;
    }
  });
}

void add_scaled_rows(std::span<const double> scores, std::span<const double> factors, std::span<double> total,
                     int n_threads) {
  const auto n = std::ssize(factors);
  const auto n_columns = n > 0 ? std::ssize(scores) / n : 0;
  parallel_ranges(n, rows_per_task(n_columns), n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto d = begin; d < end; ++d)
      for (auto k = d * n_columns; k < (d + 1) * n_columns; ++k) total[k] += factors[d] * scores[k];
  });
}

std::vector<std::int32_t> best_or_ambiguous(std::span<const double> scores, std::int64_t n_columns,
                                            std::span<const double> distances, int n_threads) {
  std::vector<std::int32_t> best(distances.size());
  parallel_ranges(std::ssize(distances), 64, n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto d = begin; d < end; ++d) {
      const auto row = scores.subspan(d * n_columns, n_columns);
      const auto at = first_largest(row);
      const auto near = row[at] - distances[d] - 0x1p-48 * std::abs(row[at]);  // sums are rounded
      const auto n = distances[d] > 0
                         ? std::count_if(row.begin(), row.end(), [near](double x) { return !(x < near); })
                         : 1;
      best[d] = n == 1 ? at : -1;
    }
  });
  return best;
}

Top top_of_rows(std::span<const double> scores, std::int64_t n_columns, std::int64_t k, int n_threads) {
  const auto n = std::ssize(scores) / n_columns;
  Top top{std::vector<std::int32_t>(n * k), std::vector<double>(n * k)};
  parallel_ranges(n, rows_per_task(n_columns), n_threads, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::int32_t> order(static_cast<std::size_t>(n_columns));
    for (auto d = begin; d < end; ++d) {
      const auto row = scores.subspan(d * n_columns, n_columns);
      std::iota(order.begin(), order.end(), 0);
      std::partial_sort(order.begin(), order.begin() + k, order.end(), [row](std::int32_t a, std::int32_t b) {
        return row[a] > row[b] || (row[a] == row[b] && a < b);
      });
      const auto [largest, log_rest] = log_sum_exp(row);
      for (std::int64_t i = 0; i < k; ++i) {
        top.columns[d * k + i] = order[i];
        top.probabilities[d * k + i] = std::exp((row[order[i]] - largest) - log_rest);
      }
    }
  });
  return top;
}

}  // namespace genus
