// Binomial random numbers, exact for any number of trials and equal on every machine.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "base/random.h"

namespace genus {

// log(k!) - log(sqrt(2 pi k) (k/e)^k), by Stirling's series: better than 1e-16 for k >= 16.
inline double stirling_error(double k) {
  const double s = 1 / (k * k);
  return (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s * (1.0 / 1680 - s / 1188)))) / k;
}

// log of P(X = k) for 16 <= k <= n - 16, without the loss of digits that large factorials would bring: each
// term is small where k is near n*p (C. Loader, Fast and Accurate Computation of Binomial Probabilities,
// 2000).
inline double log_binomial(double k, double n, double p) {
  const auto deviance = [](double x, double mean) { return x * std::log(x / mean) + mean - x; };
  return stirling_error(n) - stirling_error(k) - stirling_error(n - k) - deviance(k, n * p) -
         deviance(n - k, n * (1 - p)) + 0.5 * std::log(n / (2 * std::numbers::pi * k * (n - k)));
}

// How many of n trials succeed, each with probability p: inversion of one uniform number, outward from the
// most probable value, or upward from 0 where few successes are expected. Cost: about sqrt(n p (1-p)) steps.
inline std::int64_t draw_binomial(RandomStream& random, std::int64_t n, double p) {
  if (p > 0.5) return n - draw_binomial(random, n, 1 - p);
  if (n == 0 || p <= 0) return 0;
  const double odds = p / (1 - p);
  const auto trials = static_cast<double>(n);
  const auto mode = trials * p < 24 ? std::int64_t{0} : static_cast<std::int64_t>((trials + 1) * p);
  const double at_mode = mode == 0 ? std::exp(trials * std::log1p(-p))
                                   : std::exp(log_binomial(static_cast<double>(mode), trials, p));
  double left = random.uniform() - at_mode;
  if (left < 0) return mode;
  double above = at_mode, below = at_mode;
  for (std::int64_t step = 1; above > 0 || below > 0; ++step) {
    const auto high = mode + step, low = mode - step;
    above = high > n ? 0 : above * odds * static_cast<double>(n - high + 1) / static_cast<double>(high);
    if ((left -= above) < 0) return high;
    below = low < 0 ? 0 : below / odds * static_cast<double>(low + 1) / static_cast<double>(n - low);
    if ((left -= below) < 0) return low;
  }
  return mode;  // the probabilities' sum fell short of 1 by rounding
}

}  // namespace genus
