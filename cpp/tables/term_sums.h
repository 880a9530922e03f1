// Sums of rows of a table, each multiplied by a number: the inner loop of score_table.h.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>

#include "base/simd.h"

namespace genus {

// A row of a table, to be added x times.
template <class Real>
struct Term {
  const Real* values;
  Real x;
};

// sums[c] += sum over terms of x * values[c], for c below n. Cost: a multiply-add and the bytes of each cell;
// rows to come are asked for ahead of time. Every machine gives the same bits: multiplications and
// additions are never fused.
//
// Single precision takes half the bytes and half the operations. It is used for some terms at a time, whose
// sums are added up in double precision: long documents lose no more digits than short ones.
template <class Real>
using AddTerms = void (*)(std::span<const Term<Real>> terms, std::int64_t n, double* sums);

using TermSums = std::tuple<AddTerms<float>, AddTerms<double>>;

const TermSums& term_sums(Baseline);
const TermSums& term_sums(V3);
const TermSums& term_sums(V4);
inline const TermSums& term_sums(SimdLevel level = simd_level()) {
  return at_simd_level(level, [](auto tag) -> const TermSums& { return term_sums(tag); });
}

}  // namespace genus
