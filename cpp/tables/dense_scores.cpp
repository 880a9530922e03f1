#include "tables/dense_scores.h"

#include <algorithm>
#include <atomic>
#include <tuple>

#include "base/buffer.h"
#include "base/thread_memory.h"

namespace genus {
namespace {

constexpr std::int64_t rows_at_once = 16;

// Centered rows begin at different cache sets, whatever their number of columns.
std::int64_t stride_of(std::int64_t n_columns) {
  return (n_columns + panel_width - 1) / panel_width * panel_width + panel_width;
}

}  // namespace

template <class Value>
bool dense_scores(std::span<const Value> rows, const DenseTable& table, std::span<double> out, int n_threads,
                  SimdLevel level) {
  const auto n_columns = table.n_columns(), n_classes = table.n_classes(), stride = stride_of(n_columns);
  const auto n = n_classes > 0 ? std::ssize(out) / n_classes : 0;
  const auto& kernels = dense_kernels(level);
  const auto center = std::get<CenterRow<Value>>(kernels.center);
  std::atomic<bool> in_range{true};
  parallel_with_memory((n + rows_at_once - 1) / rows_at_once, n_threads,
                       [&] { return Buffer<double>(static_cast<std::size_t>(rows_at_once * stride)); },
                       [&](std::int64_t block, Buffer<double>& centered) {
                         const auto begin = block * rows_at_once, n_rows = std::min(rows_at_once, n - begin);
                         bool filled[rows_at_once];
                         for (std::int64_t r = 0; r < n_rows; ++r) {
                           const auto state =
                               center(rows.data() + (begin + r) * n_columns, table.center.data(), n_columns,
                                      centered.data() + r * stride);
                           filled[r] = state.filled;
                           if (!state.in_range) in_range.store(false, std::memory_order_relaxed);
                         }
                         double* const scores = out.data() + begin * n_classes;
                         for (std::int64_t c = 0; c < n_classes; c += panel_width)
                           kernels.score_panel({centered.data(), stride, n_rows, n_columns},
                                               table.panels.data() + c * n_columns, table.bias.data() + c,
                                               {scores + c, n_classes, std::min(panel_width, n_classes - c)});
                         for (std::int64_t r = 0; r < n_rows; ++r)
                           if (!filled[r]) std::ranges::copy(table.scaled_prior, scores + r * n_classes);
                       });
  return in_range;
}

template bool dense_scores(std::span<const float>, const DenseTable&, std::span<double>, int, SimdLevel);
template bool dense_scores(std::span<const double>, const DenseTable&, std::span<double>, int, SimdLevel);

}  // namespace genus
