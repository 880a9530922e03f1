#include "linear/hinge_kernels.h"

#include <algorithm>
#include <utility>

namespace genus {
namespace {

constexpr double unreachable = -1e30;  // the offset of lanes without a model: they never learn

// The models of a block side by side; need not be aligned in memory. GCC forgets that where a pointer to them
// is declared with `auto`.
template <class Number, int n_lanes>
struct LanesOf {
  using Lanes = Number;
};
template <>
struct LanesOf<float, hinge_lanes> {
  using Lanes __attribute__((vector_size(hinge_lanes * sizeof(float)), aligned(alignof(float)))) = float;
  static_assert(alignof(Lanes) == alignof(float));
};
template <>
struct LanesOf<double, hinge_lanes> {
  using Lanes __attribute__((vector_size(hinge_lanes * sizeof(double)), aligned(alignof(double)))) = double;
  static_assert(alignof(Lanes) == alignof(double));
};

template <class Number, int n_lanes>
struct Loops {
  using Lanes = typename LanesOf<Number, n_lanes>::Lanes;

  // Several chains of additions, since each waits for the one before.
  static Lanes score(const Lanes* weights, std::int64_t n_words, const Csr<float>& documents,
                     std::int64_t d) {
    constexpr int chains = 4;
    const auto nowhere = static_cast<std::uint64_t>(n_words) + 1;
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
    return (sums[0] + sums[1]) + (sums[2] + sums[3]) + weights[n_words];
  }

  static void put_score(const Number* weights, std::int64_t n_words, const Csr<float>& documents,
                        std::int64_t d, Number* out) {
    *reinterpret_cast<Lanes*>(out) = score(reinterpret_cast<const Lanes*>(weights), n_words, documents, d);
  }

  static Number largest(const Lanes& value) {
    const auto* const numbers = reinterpret_cast<const Number*>(&value);
    return *std::max_element(numbers, numbers + n_lanes);
  }

  static Lanes signs(const HingeBlock<Number>& block, std::int64_t d) {
    const auto& problem = block.problem;
    Number sign[n_lanes];
    std::fill_n(sign, n_lanes, Number{-1});
    for (auto k = problem.indptr[d]; k < problem.indptr[d + 1]; ++k) {
      const auto m = problem.models[k] - block.first;
      if (m >= 0 && m < n_lanes) sign[m] = 1;
    }
    return *reinterpret_cast<const Lanes*>(sign);
  }

  static Lanes offset(const HingeBlock<Number>& block, std::int64_t d) {
    const auto& problem = block.problem;
    const auto n = std::min(problem.n_models - block.first, n_lanes);
    Number offset[n_lanes];
    std::fill_n(offset, n, Number{0});
    std::fill_n(offset + n, n_lanes - n, static_cast<Number>(unreachable));
    if (problem.has_offsets())
      std::copy_n(problem.offsets.data() + d * problem.n_models + block.first, n, offset);
    return *reinterpret_cast<const Lanes*>(offset);
  }

  static Number pass(const HingeBlock<Number>& block, Number cost, std::size_t& active, Number threshold) {
    const auto& problem = block.problem;
    const auto& documents = problem.documents;
    Lanes* const weights = reinterpret_cast<Lanes*>(block.weights);
    Lanes* const counts = reinterpret_cast<Lanes*>(block.counts);
    Lanes violations = {};
    for (std::size_t i = 0; i < active;) {
      const auto d = block.order[i];
      const Lanes sign = signs(block, d);
      const Number softness = 1 / (2 * cost * static_cast<Number>(problem.weights[d]));
      const Lanes count = counts[d];
      const Lanes score_now = offset(block, d) + score(weights, problem.n_words, documents, d);
      const Lanes gradient = sign * score_now - 1 + count * softness;
      const Lanes step = count - gradient / (block.squares[d] + softness);
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
        weights[problem.n_words] += added;
      } else if (largest(now) == 0 && -largest(-gradient) > threshold) {
        std::swap(block.order[i], block.order[--active]);
        continue;
      }
      ++i;
    }
    return largest(violations);
  }

  static constexpr HingeKernels<Number, n_lanes> kernels{pass, put_score};
};

constexpr AllHingeKernels all{Loops<float, 1>::kernels, Loops<float, hinge_lanes>::kernels,
                              Loops<double, 1>::kernels, Loops<double, hinge_lanes>::kernels};

}  // namespace

const AllHingeKernels& hinge_kernels(GENUS_SIMD_LEVEL) {
  return all;
}

}  // namespace genus
