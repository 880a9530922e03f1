#include "tables/information_gain.h"

#include <cmath>

#include "base/parallel.h"

namespace genus {
namespace {

double n_log_n(std::int64_t n) {
  return n > 0 ? static_cast<double>(n) * std::log(static_cast<double>(n)) : 0.0;
}

}  // namespace

std::vector<double> information_gain(const WordTableView<std::int64_t>& present,
                                     std::span<const std::int64_t> totals, int n_threads) {
  std::int64_t all = 0;
  double whole = 0;  // sum over classes of n log n: all * H(c) = all log all - whole
  for (const auto n : totals) {
    all += n;
    whole += n_log_n(n);
  }
  std::vector<double> gain(static_cast<std::size_t>(present.words()), 0.0);
  if (all == 0) return gain;
  parallel_ranges(present.words(), 1024, n_threads, [&](std::int64_t first, std::int64_t last) {
    for (auto w = first; w < last; ++w) {
      // Classes without the word have the same part in the sum without it as in the whole.
      double with = 0, without = whole;
      std::int64_t n_with = 0;
      const auto [begin, end] = present.row(w);
      for (auto k = begin; k < end; ++k) {
        const auto n = present.values[k];
        const auto total = totals[present.classes[k]];
        n_with += n;
        with += n_log_n(n);
        without += n_log_n(total - n) - n_log_n(total);
      }
      const double left = n_log_n(all) - whole;
      const double rest = (n_log_n(n_with) - with) + (n_log_n(all - n_with) - without);
      // eq. 10
      gain[w] = (left - rest) / static_cast<double>(all);
    }
  });
  return gain;
}

}  // namespace genus
