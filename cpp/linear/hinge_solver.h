// RefinedNB: linear models that minimise the squared hinge loss, added to naive Bayes scores. Each document
// counts for and against classes by its loss.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/csr.h"
#include "linear/hinge_kernels.h"
#include "tables/class_counts.h"

namespace genus {

// How far to go: passes stop when no dual variable could move its document's margin by more than `tolerance`.
struct Effort {
  double tolerance;
  int max_passes;
  std::uint64_t seed;
};

// For each model m on its own, with y = +1 for its documents and -1 for the others, the minimum over the
// weights u (a constant bias word included) of
//
//     1/2 |u|^2 + cost * sum over d of weights_d * loss_d^2,   loss_d = max(0, 1 - y_d * (offset_dm + u .
//     x_d))
//
// At the minimum u = sum over d of a_d y_d x_d with a_d = 2 * cost * weights_d * loss_d: two-sided counts, in
// which each document counts by its mistake. Found by coordinate descent on the a_d, eight models side by
// side in vectors, so that a document's words are read once for all eight. Cost: per pass, block of models
// and entry 8 bytes of the document and a random access to 32 bytes of weights, twice where something is
// learned.
//
// The result is a table of words x models, without words that add `least` or less to a margin; row n_words is
// the bias. Cost: 16 bytes for each cell of the table while it is gathered.
WordTable<double> solve_hinge(const HingeProblem& problem, double cost, const Effort& effort, double least,
                              int n_threads);

// The scores (offsets not included) of other documents by what is learned at each of several costs, in
// `out[cost, document, model]`. Each cost starts from the solution of the one before.
void hinge_scores(const HingeProblem& problem, std::span<const double> costs, const Csr<float>& others,
                  const Effort& effort, std::span<float> out, int n_threads);

}  // namespace genus
