// GaussianNonlinearBayes: classes as mixtures of diagonal Gaussians (hidden nodes), fitted by repeated EM;
// the posterior is that of eq. 34 with Gaussians for P(f | h, c).
//
//   log P(x | h) = sum over features j of  x_j m_jh / v_jh - x_j^2 / (2 v_jh)  + what does not depend on x
//
// With x_j and x_j^2 as its two features this is the sum of products that repeated_em.h computes, and the
// M-step's sums are those that means m and variances v are made of. Values should be about the size of one
// and centred, or digits are lost in v = E[x^2] - m^2. Variances stay above a floor, which is the exact
// maximum under that constraint: the likelihood never falls.
#pragma once

#include <cstdint>
#include <span>

#include "mixtures/repeated_em.h"

namespace genus {

// documents: rows of n_features values; floor: the least variances, classes x features.
EmResult fit_gaussian_nodes(std::span<const double> documents, std::int64_t n_features, const EmPlan& plan,
                            std::span<const double> floor, int n_threads);

}  // namespace genus
