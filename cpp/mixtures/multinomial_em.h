// NonlinearBayes: classes as mixtures of multinomials (hidden nodes), fitted by repeated EM.
//
//   P(w | h) = (count_wh + a_h) / (T_h + a_h N)                                            (eq. 28, smoothed)
//
// with count_wh the sum over documents of r_dh x_dw, and T_h the sum of count_wh over words.
// a_h is alpha for every node, or alpha T_h / T_c with `proportional`. With one alpha, and nodes weighed by
// documents, the M-step maximises likelihood times the density prod P(w | h)^alpha, so that this objective
// never falls.
#pragma once

#include <cstdint>
#include <span>

#include "base/csr.h"
#include "mixtures/repeated_em.h"
#include "tables/class_counts.h"

namespace genus {

struct MultinomialSmoothing {
  double alpha;
  bool proportional;  // to the node's part of its class's words
  bool by_words;      // P(h | c) counted in words (eq. 27), not documents
  std::int64_t n_words;
};

template <class Value>
EmResult fit_multinomial_nodes(const Csr<Value>& documents, const EmPlan& plan,
                               const MultinomialSmoothing& smoothing, int n_threads);

// count_wk = sum over documents of weight_d * share_dk * x_dw, for k = node * n_repetitions + repetition, as
// a table of words x k that holds all nodes of the classes in which the word occurs. Shares are as in
// EmResult.
template <class Value>
WordTable<double> expected_counts(const Csr<Value>& documents, const EmPlan& plan,
                                  std::span<const double> shares, std::int64_t n_words, int n_threads);

// Scores of components k = node * n_repetitions + repetition, log P(h, d | c), become log joint probabilities
// of classes (eq. 34), by the mean over repetitions of their posteriors:
//   P(c, d) = P(d) * mean over r of P_r(c | d),   P(d) = mean over r of P_r(d)
// log_prior holds log P(c) of classes x repetitions.
void average_posteriors(std::span<const double> scores, std::span<const std::int64_t> node_starts,
                        std::span<const double> log_prior, std::int64_t n_repetitions, std::span<double> out,
                        int n_threads);

}  // namespace genus
