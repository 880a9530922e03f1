// The inner loops of OnlineLearner (DiscriminativeNB): the odds of one document under the models of one
// block, and the evidence that it adds to them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "base/simd.h"

namespace genus {

// A block of models side by side keeps rows of evidence. Row 0 is of words without evidence (all zero), rows
// 1 and 2 are of all words and of documents.
enum EvidenceRow : std::uint32_t { no_word, all_words, all_documents, first_word };

// A row of a single model has its in side and its out side. One of several models is lines of 64 bytes: the
// in sides of four models, then their out sides.
inline constexpr int line = 4;
constexpr std::size_t place_in(int width, int model) {
  return width == 1 ? 0 : static_cast<std::size_t>(model / line * 2 * line + model % line);
}
constexpr std::size_t place_out(int width, int model) {
  return place_in(width, model) + (width == 1 ? 1 : line);
}

// What is added to evidence of words, of all words and of documents: W = word + E, and so on.
struct EvidencePriors {
  double word, all_words, all_documents;

  EvidencePriors operator*(double fading) const {
    return {word * fading, all_words * fading, all_documents * fading};
  }
};

// The words of a document: the numbers of their rows, less `first`, and what each counts (1 where there are
// no values).
struct RowList {
  std::size_t first;
  const std::uint32_t* numbers;
  const double* values;
  std::size_t size;
  double length;  // what all of them count
};

// What a document adds: to the out sides, and to the in side of the model `own` if there is one (own >= 0).
template <int width>
struct Losses {
  int own = -1;
  double in = 0;
  double out[width] = {};
};

// For the first `live` models of rows of `width`. Arrays have `live` elements.
template <int width, int live>
struct OnlineKernels {
  // The odds, held between about 2^-1000 and 2^1000.
  void (*odds)(const double* rows, const RowList& list, const EvidencePriors& priors, double* out);
  // Their logarithms, not bounded.
  void (*log_odds)(const double* rows, const RowList& list, const EvidencePriors& priors, double* out);
  void (*add)(double* rows, const RowList& list, const Losses<live>& losses);
};

using AllOnlineKernels = std::tuple<OnlineKernels<1, 1>, OnlineKernels<8, 4>, OnlineKernels<8, 8>>;

const AllOnlineKernels& online_kernels(Baseline);
const AllOnlineKernels& online_kernels(V3);
const AllOnlineKernels& online_kernels(V4);

// Every machine gives the same bits. AVX-512 is left alone: measured on 60,000 titles, it took 12 % longer.
template <int width, int live>
const OnlineKernels<width, live>& online_kernels(SimdLevel level = std::min(simd_level(), SimdLevel::v3)) {
  const auto& all = at_simd_level(level, [](auto tag) -> const auto& { return online_kernels(tag); });
  return std::get<OnlineKernels<width, live>>(all);
}

}  // namespace genus
