// The inner loops of the hinge solver of RefinedNB: one pass of coordinate descent over documents, for models
// side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>

#include "base/csr.h"
#include "base/simd.h"

namespace genus {

// What the solver learns from. Document d belongs to models[k] for k in [indptr[d], indptr[d + 1]) and to no
// other; it counts weights[d] times; offsets[d, m], if there are any, is what its score for model m has
// before anything is learned.
struct HingeProblem {
  Csr<float> documents;
  std::span<const std::int64_t> indptr;
  std::span<const std::int32_t> models;
  std::span<const double> weights;
  std::span<const float> offsets;
  std::int64_t n_words;
  std::int32_t n_models;

  bool has_offsets() const { return !offsets.empty(); }
};

// The models from `first` on, as many as there are lanes, side by side.
template <class Number>
struct HingeBlock {
  const HingeProblem& problem;
  std::int32_t first;
  Number* weights;        // of words; then of the bias, and a row that stays zero for words that do not exist
  Number* counts;         // a_d of each document and model
  const Number* squares;  // of documents' lengths, the bias included
  std::int64_t* order;    // the documents, in the order of the pass
};

// For blocks of n_lanes models.
template <class Number, int n_lanes>
struct HingeKernels {
  // One pass over the first `active` documents. Those that are safely right move behind them. The result is
  // the largest amount by which a margin is away from where it should be.
  Number (*pass)(const HingeBlock<Number>& block, Number cost, std::size_t& active, Number threshold);
  // The scores of a document, offsets not included.
  void (*score)(const Number* weights, std::int64_t n_words, const Csr<float>& documents, std::int64_t d,
                Number* out);
};

inline constexpr int hinge_lanes = 8;  // of a block of several models

using AllHingeKernels = std::tuple<HingeKernels<float, 1>, HingeKernels<float, hinge_lanes>,
                                   HingeKernels<double, 1>, HingeKernels<double, hinge_lanes>>;

const AllHingeKernels& hinge_kernels(Baseline);
const AllHingeKernels& hinge_kernels(V3);
const AllHingeKernels& hinge_kernels(V4);

// Every machine gives the same bits.
template <class Number, int n_lanes>
const HingeKernels<Number, n_lanes>& hinge_kernels(SimdLevel level = simd_level()) {
  const auto& all = at_simd_level(level, [](auto tag) -> const auto& { return hinge_kernels(tag); });
  return std::get<HingeKernels<Number, n_lanes>>(all);
}

}  // namespace genus
