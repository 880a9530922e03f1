#include "linear/hinge_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/buffer.h"
#include "base/parallel.h"
#include "base/random.h"

namespace genus {
namespace {

// The models from `first` on, as many as there are lanes, solved side by side.
template <class Number, int n_lanes>
class Block {
 public:
  Block(const HingeProblem& problem, std::int32_t first, const Effort& effort)
      : problem_(problem),
        effort_(effort),
        first_(first),
        weights_(static_cast<std::size_t>(problem.n_words + 2) * n_lanes),
        counts_(static_cast<std::size_t>(problem.documents.rows()) * n_lanes),
        squares_(static_cast<std::size_t>(problem.documents.rows())) {
    const auto& documents = problem.documents;
    for (std::int64_t d = 0; d < documents.rows(); ++d) {
      Number square = 1;  // of the bias word
      for (auto k = documents.indptr[d]; k < documents.indptr[d + 1]; ++k)
        square += static_cast<Number>(documents.values[k]) * documents.values[k];
      squares_[d] = square;
      if (problem.weights[d] > 0) order_.push_back(d);
    }
  }

  // The weights that are best at this cost, from those of the last one.
  void solve(double cost) {
    const HingeBlock<Number> block{problem_,       first_,          weights_.data(),
                                   counts_.data(), squares_.data(), order_.data()};
    auto active = order_.size();
    Number threshold = std::numeric_limits<Number>::infinity();
    for (int pass = 0; pass < effort_.max_passes; ++pass) {
      RandomStream random(effort_.seed, ++n_passes_);
      for (auto i = active; i > 1; --i) std::swap(order_[i - 1], order_[random() % i]);
      const Number violation = kernels_.pass(block, static_cast<Number>(cost), active, threshold);
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
    kernels_.score(weights_.data(), problem_.n_words, documents, d, out);
  }

 private:
  const HingeProblem& problem_;
  const Effort& effort_;
  const HingeKernels<Number, n_lanes>& kernels_ = hinge_kernels<Number, n_lanes>();
  std::int32_t first_;
  Table<Number> weights_;
  Table<Number> counts_;
  std::vector<Number> squares_;
  std::vector<std::int64_t> order_;
  std::uint64_t n_passes_ = 0;
};

// Calls task(block, first model, number of models) for each block of models.
template <class Number, class Task>
void for_each_block(const HingeProblem& problem, const Effort& effort, int n_threads, Task&& task) {
  if (problem.n_models == 1) {
    Block<Number, 1> block(problem, 0, effort);
    task(block, 0, 1);
    return;
  }
  parallel_for((problem.n_models + hinge_lanes - 1) / hinge_lanes, n_threads, [&](std::int64_t b) {
    const auto first = static_cast<std::int32_t>(b * hinge_lanes);
    Block<Number, hinge_lanes> block(problem, first, effort);
    task(block, first, std::min<std::int32_t>(hinge_lanes, problem.n_models - first));
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

WordTable<double> solve_hinge(const HingeProblem& problem, double cost, const Effort& effort, double least,
                              int n_threads) {
  const auto n_rows = problem.n_words + 1;
  const auto n_blocks = (problem.n_models + hinge_lanes - 1) / hinge_lanes;
  std::vector<std::vector<Cell>> blocks(static_cast<std::size_t>(n_blocks));
  for_each_block<double>(problem, effort, n_threads, [&](auto& block, std::int32_t first, std::int32_t n) {
    block.solve(cost);
    for (std::int64_t w = 0; w < n_rows; ++w)
      for (std::int32_t i = 0; i < n; ++i)
        if (std::abs(block.weights(w)[i]) > (w < problem.n_words ? least : 0))
          blocks[first / hinge_lanes].push_back(
              {static_cast<std::int32_t>(w), first + i, block.weights(w)[i]});
  });
  return gather(blocks, n_rows);
}

void hinge_scores(const HingeProblem& problem, std::span<const double> costs, const Csr<float>& others,
                  const Effort& effort, std::span<float> out, int n_threads) {
  for_each_block<float>(problem, effort, n_threads, [&](auto& block, std::int32_t first, std::int32_t n) {
    float scores[hinge_lanes];
    for (std::size_t c = 0; c < costs.size(); ++c) {
      block.solve(costs[c]);
      auto* row = out.data() + static_cast<std::int64_t>(c) * others.rows() * problem.n_models + first;
      for (std::int64_t d = 0; d < others.rows(); ++d, row += problem.n_models) {
        block.score(others, d, scores);
        std::copy_n(scores, n, row);
      }
    }
  });
}

}  // namespace genus
