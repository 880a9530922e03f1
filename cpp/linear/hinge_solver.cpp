#include "linear/hinge_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "base/buffer.h"
#include "base/parallel.h"
#include "base/random.h"

namespace genus {
namespace {

constexpr std::int32_t lanes_per_block = 8;
constexpr double unreachable = -1e30;  // the offset of lanes without a model: they never learn

// The models of a block side by side; need not be aligned in memory.
using Floats = float __attribute__((vector_size(32), aligned(4)));
using Doubles = double __attribute__((vector_size(64), aligned(8)));
template <class Number, int n_lanes>
using LanesOf =
    std::conditional_t<n_lanes == 1, Number, std::conditional_t<sizeof(Number) == 4, Floats, Doubles>>;

// The models from `first` on, as many as there are lanes, solved side by side.
template <class Number, int n_lanes>
class Block {
 public:
  using Lanes = LanesOf<Number, n_lanes>;

  Block(const Lessons& lessons, std::int32_t first, const Effort& effort)
      : lessons_(lessons),
        effort_(effort),
        first_(first),
        // One row for the bias, and one that stays zero for words that do not exist.
        weights_(static_cast<std::size_t>(lessons.n_words + 2) * n_lanes),
        counts_(static_cast<std::size_t>(lessons.documents.rows()) * n_lanes),
        squares_(static_cast<std::size_t>(lessons.documents.rows())) {
    const auto& documents = lessons.documents;
    for (std::int64_t d = 0; d < documents.rows(); ++d) {
      Number square = 1;  // of the bias word
      for (auto k = documents.indptr[d]; k < documents.indptr[d + 1]; ++k)
        square += static_cast<Number>(documents.values[k]) * documents.values[k];
      squares_[d] = square;
      if (lessons.weights[d] > 0) order_.push_back(d);
    }
  }

  // The weights that are best at this cost, from those of the last one.
  void solve(double cost) {
    auto active = order_.size();
    Number threshold = std::numeric_limits<Number>::infinity();
    for (int pass = 0; pass < effort_.max_passes; ++pass) {
      RandomStream random(effort_.seed, ++n_passes_);
      for (auto i = active; i > 1; --i) std::swap(order_[i - 1], order_[random() % i]);
      const Number violation = fastest_pass()(*this, static_cast<Number>(cost), active, threshold);
      if (violation > effort_.tolerance) {
        threshold = violation;
        continue;
      }
      if (active == order_.size()) return;
      active = order_.size();  // those set aside have the last word
      threshold = std::numeric_limits<Number>::infinity();
    }
  }

  // What words, and the bias, add to the scores.
  const Number* weights(std::int64_t w) const { return weights_.data() + w * n_lanes; }

  // The scores of a document, offsets not included.
  void score(const Csr<float>& documents, std::int64_t d, Number* out) const {
    *reinterpret_cast<Lanes*>(out) = score_inline(documents, d);
  }

 private:
  using Pass = Number (*)(Block&, Number, std::size_t&, Number);

  // Several chains of additions, since each waits for the one before.
  inline __attribute__((always_inline)) Lanes score_inline(const Csr<float>& documents,
                                                           std::int64_t d) const {
    constexpr int chains = 4;
    const auto* const weights = reinterpret_cast<const Lanes*>(weights_.data());
    const auto nowhere = static_cast<std::uint64_t>(lessons_.n_words) + 1;
    Lanes sums[chains] = {};
    const auto add = [&](std::int64_t k, int chain) __attribute__((always_inline)) {
      const auto w = std::min<std::uint64_t>(static_cast<std::uint32_t>(documents.indices[k]), nowhere);
      sums[chain] += static_cast<Number>(documents.values[k]) * weights[w];
    };
    auto k = documents.indptr[d];
    const auto last = documents.indptr[d + 1];
    for (; k + chains <= last; k += chains)
      for (int chain = 0; chain < chains; ++chain) add(k + chain, chain);
    for (; k < last; ++k) add(k, 0);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]) + weights[lessons_.n_words];
  }

  // One pass over the first `active` documents of order_. Those that are safely right move behind them. The
  // result is the largest amount by which a margin is away from where it should be.
  inline __attribute__((always_inline)) Number pass_inline(Number cost, std::size_t& active,
                                                           Number threshold) {
    auto* const weights = reinterpret_cast<Lanes*>(weights_.data());
    auto* const counts = reinterpret_cast<Lanes*>(counts_.data());
    const auto& documents = lessons_.documents;
    Lanes violations = {};
    for (std::size_t i = 0; i < active;) {
      const auto d = order_[i];
      const Lanes sign = signs(d);
      const Number softness = 1 / (2 * cost * static_cast<Number>(lessons_.weights[d]));
      const Lanes count = counts[d];
      const Lanes gradient = sign * (offset(d) + score_inline(documents, d)) - 1 + count * softness;
      const Lanes step = count - gradient / (squares_[d] + softness);
      const Lanes now = step > 0 ? step : Lanes{};
      // A count of zero whose gradient is positive is where it should be.
      const Lanes wrong =
          count > 0 && gradient > 0 ? gradient : (count > 0 || gradient < 0 ? -gradient : Lanes{});
      violations = wrong > violations ? wrong : violations;
      const Lanes change = now - count;
      if (largest(change) > 0 || largest(-change) > 0) {
        counts[d] = now;
        const Lanes added = sign * change;
        for (auto k = documents.indptr[d]; k < documents.indptr[d + 1]; ++k)
          weights[documents.indices[k]] += static_cast<Number>(documents.values[k]) * added;
        weights[lessons_.n_words] += added;
      } else if (largest(now) == 0 && -largest(-gradient) > threshold) {
        std::swap(order_[i], order_[--active]);
        continue;
      }
      ++i;
    }
    return largest(violations);
  }

  static Number pass_portable(Block& block, Number cost, std::size_t& active, Number threshold) {
    return block.pass_inline(cost, active, threshold);
  }
#if defined(__x86_64__)
  __attribute__((target("avx2"))) static Number pass_avx2(Block& block, Number cost, std::size_t& active,
                                                          Number threshold) {
    return block.pass_inline(cost, active, threshold);
  }
#endif
  static Pass fastest_pass() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return pass_avx2;
#endif
    return pass_portable;
  }

  static inline __attribute__((always_inline)) Number largest(const Lanes& value) {
    const auto* const numbers = reinterpret_cast<const Number*>(&value);
    return *std::max_element(numbers, numbers + n_lanes);
  }

  inline __attribute__((always_inline)) Lanes signs(std::int64_t d) const {
    Number sign[n_lanes];
    std::fill_n(sign, n_lanes, Number{-1});
    for (auto k = lessons_.indptr[d]; k < lessons_.indptr[d + 1]; ++k) {
      const auto m = lessons_.models[k] - first_;
      if (m >= 0 && m < n_lanes) sign[m] = 1;
    }
    return *reinterpret_cast<const Lanes*>(sign);
  }

  inline __attribute__((always_inline)) Lanes offset(std::int64_t d) const {
    const auto n = std::min<std::int64_t>(lessons_.n_models - first_, n_lanes);
    Number offset[n_lanes];
    std::fill_n(offset, n, Number{0});
    std::fill_n(offset + n, n_lanes - n, static_cast<Number>(unreachable));
    if (lessons_.has_offsets())
      std::copy_n(lessons_.offsets.data() + d * lessons_.n_models + first_, n, offset);
    return *reinterpret_cast<const Lanes*>(offset);
  }

  const Lessons& lessons_;
  const Effort& effort_;
  std::int32_t first_;
  Table<Number> weights_;
  Table<Number> counts_;  // a_d of each document and model
  std::vector<Number> squares_;
  std::vector<std::int64_t> order_;
  std::uint64_t n_passes_ = 0;
};

// Calls task(block, first model, number of models) for each block of models.
template <class Number, class Task>
void for_each_block(const Lessons& lessons, const Effort& effort, int n_threads, Task&& task) {
  if (lessons.n_models == 1) {
    Block<Number, 1> block(lessons, 0, effort);
    task(block, 0, 1);
    return;
  }
  parallel_for((lessons.n_models + lanes_per_block - 1) / lanes_per_block, n_threads, [&](std::int64_t b) {
    const auto first = static_cast<std::int32_t>(b * lanes_per_block);
    Block<Number, lanes_per_block> block(lessons, first, effort);
    task(block, first, std::min(lanes_per_block, lessons.n_models - first));
  });
}

struct Cell {
  std::int32_t word, model;
  double value;
};

// Cells by word, then by model; blocks come in the order of their models.
WordTable<double> gather(const std::vector<std::vector<Cell>>& blocks, std::int64_t n_rows) {
  WordTable<double> table;
  table.indptr.assign(static_cast<std::size_t>(n_rows) + 1, 0);
  for (const auto& block : blocks)
    for (const auto& cell : block) ++table.indptr[cell.word + 1];
  std::partial_sum(table.indptr.begin(), table.indptr.end(), table.indptr.begin());
  table.classes.resize(static_cast<std::size_t>(table.indptr.back()));
  table.values.resize(table.classes.size());
  std::vector<std::int64_t> next(table.indptr.begin(), table.indptr.end() - 1);
  for (const auto& block : blocks)
    for (const auto& cell : block) {
      const auto at = next[cell.word]++;
      table.classes[at] = cell.model;
      table.values[at] = cell.value;
    }
  return table;
}

}  // namespace

WordTable<double> refine(const Lessons& lessons, double cost, const Effort& effort, double least,
                         int n_threads) {
  const auto n_rows = lessons.n_words + 1;
  const auto n_blocks = (lessons.n_models + lanes_per_block - 1) / lanes_per_block;
  std::vector<std::vector<Cell>> blocks(static_cast<std::size_t>(n_blocks));
  for_each_block<double>(lessons, effort, n_threads, [&](auto& block, std::int32_t first, std::int32_t n) {
    block.solve(cost);
    for (std::int64_t w = 0; w < n_rows; ++w)
      for (std::int32_t i = 0; i < n; ++i)
        if (std::abs(block.weights(w)[i]) > (w < lessons.n_words ? least : 0))
          blocks[first / lanes_per_block].push_back(
              {static_cast<std::int32_t>(w), first + i, block.weights(w)[i]});
  });
  return gather(blocks, n_rows);
}

void refined_scores(const Lessons& lessons, std::span<const double> costs, const Csr<float>& others,
                    const Effort& effort, std::span<float> out, int n_threads) {
  for_each_block<float>(lessons, effort, n_threads, [&](auto& block, std::int32_t first, std::int32_t n) {
    float scores[lanes_per_block];
    for (std::size_t c = 0; c < costs.size(); ++c) {
      block.solve(costs[c]);
      auto* row = out.data() + static_cast<std::int64_t>(c) * others.rows() * lessons.n_models + first;
      for (std::int64_t d = 0; d < others.rows(); ++d, row += lessons.n_models) {
        block.score(others, d, scores);
        std::copy_n(scores, n, row);
      }
    }
  });
}

}  // namespace genus
