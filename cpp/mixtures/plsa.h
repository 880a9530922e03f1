// PLSAClassifier: probabilistic latent semantic analysis with classes as topics (Hofmann 1999; as a
// classifier in Toutanova, Chen, Popat and Hofmann, CIKM 2001), by tempered EM:
//
//   P(w|d)   = sum over c of P(w|c) * P(c|d)                                                        (eq. 14)
//   P(c|d,w) = (P(w|c) * P(c|d))^beta, normalised over c                                            (E-step)
//   P(c|d)   = sum over w of n_dw * P(c|d,w), normalised; P(w|c) likewise over documents            (M-step)
//
// Tables of words x classes hold P(w|c)^beta, row by row, so that the E-step is a product.
#pragma once

#include <cstdint>
#include <span>

#include "base/csr.h"

namespace genus {

// Folding-in: n_steps of EM for P(c|d) with P(w|c) fixed, from equal shares. mixtures has a row of n_classes
// for each document; those without a known word keep equal shares. Cost: 2 multiply-adds per entry, class and
// step.
template <class Value>
void fold_in(std::span<const double> tempered, std::int64_t n_words, const Csr<Value>& documents,
             std::int64_t n_classes, double beta, int n_steps, std::span<double> mixtures, int n_threads);

// One EM step over training documents: reads and replaces their P(c|d), and adds to sums (words x classes)
// weights[d] * n_dw * P(c|d,w). Cost: 4 multiply-adds per entry and class; 8 bytes per entry beside the
// tables. A first pass over documents finds the normalisers, a second over classes adds: no sum depends on
// threads.
void plsa_step(std::span<const double> tempered, const Csr<double>& documents,
               std::span<const double> weights, std::int64_t n_classes, double beta,
               std::span<double> mixtures, std::span<double> sums, int n_threads);

}  // namespace genus
