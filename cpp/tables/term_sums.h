// Sums of rows of a table, each multiplied by a number: what scoring a document comes down to.
#pragma once

#include <cstdint>
#include <span>

namespace genus {

// A row of a table, to be added x times.
template <class Real>
struct Term {
  const Real* values;
  Real x;
};

// sums[c] += sum over terms of x * values[c], for c below n. Cost: a multiply-add and the bytes of each cell;
// rows to come are asked for ahead of time. Every x86-64 gives the same bits.
//
// Single precision takes half the bytes and half the operations. It is used for some terms at a time, whose
// sums are added up in double precision: long documents lose no more digits than short ones.
template <class Real>
using AddTerms = void (*)(std::span<const Term<Real>> terms, std::int64_t n, double* sums);

// With the widest vectors that the running machine has.
template <class Real>
AddTerms<Real> fastest_add_terms();

}  // namespace genus
