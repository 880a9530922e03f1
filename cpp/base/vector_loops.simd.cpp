#include "base/vector_loops.h"

#include <algorithm>
#include <limits>

#include "base/fastmath.h"

namespace genus {
namespace {

constexpr std::uint16_t slot_mask = block_size - 1;
constexpr int lanes = 4;

Doubles load(const double* from) {
  return *reinterpret_cast<const Doubles*>(from);
}
// The last few of n values, the rest being `other`.
Doubles load_part(const double* from, std::int64_t n, double other) {
  Doubles x = Doubles{} + other;
  for (std::int64_t i = 0; i < n; ++i) x[i] = from[i];
  return x;
}
void store(double* to, Doubles x) {
  *reinterpret_cast<Doubles*>(to) = x;
}

void add(const std::uint16_t* slots, const double* values, std::int64_t n, double x, double* sums) {
  std::int64_t k = 0;
  for (; k + 4 <= n; k += 4)
    for (int i = 0; i < 4; ++i) sums[slots[k + i] & slot_mask] += x * values[k + i];
  for (; k < n; ++k) sums[slots[k] & slot_mask] += x * values[k];
}

void add_full(const double* values, std::int64_t n, double x, double* sums) {
  std::int64_t k = 0;
  for (; k + lanes <= n; k += lanes) store(sums + k, load(sums + k) + x * load(values + k));
  for (; k < n; ++k) sums[k] += x * values[k];
}

// Two at a time: slots of a run are distinct.
double raise(const std::uint16_t* slots, const double* factors, std::int64_t n, double* products,
             double* old) {
  double even = 0, odd = 0;
  std::int64_t k = 0;
  for (; k + 2 <= n; k += 2) {
    double& a = products[slots[k] & slot_mask];
    double& b = products[slots[k + 1] & slot_mask];
    const double before_a = old[k] = a, before_b = old[k + 1] = b;
    const double after_a = before_a * factors[k], after_b = before_b * factors[k + 1];
    a = after_a;
    b = after_b;
    even += after_a - before_a;
    odd += after_b - before_b;
  }
  if (k < n) {
    double& a = products[slots[k] & slot_mask];
    const double before = old[k] = a;
    a = before * factors[k];
    even += before * factors[k] - before;
  }
  return even + odd;
}

void raise_parts(const std::uint16_t* slots, const double* factors, std::int64_t n,
                 const std::uint16_t* part_of, double* products, double* old, double* sums) {
  for (std::int64_t k = 0; k < n; ++k) {
    const auto slot = slots[k] & slot_mask;
    const double before = old[k] = products[slot];
    const double after = before * factors[k];
    products[slot] = after;
    sums[part_of[slot]] += after - before;
  }
}

void put(const std::uint16_t* slots, const double* old, std::int64_t n, double* products) {
  for (std::int64_t k = 0; k < n; ++k) products[slots[k] & slot_mask] = old[k];
}

void multiply_full(const double* products, const double* factors, std::int64_t n, double* out) {
  std::int64_t k = 0;
  for (; k + lanes <= n; k += lanes) store(out + k, load(products + k) * load(factors + k));
  for (; k < n; ++k) out[k] = products[k] * factors[k];
}

void add_log1p(const std::uint16_t* slots, const double* frequencies, std::int64_t n, double gain, double x,
               double* sums) {
  std::int64_t k = 0;
  for (; k < n; k += lanes) {
    const auto left = std::min<std::int64_t>(lanes, n - k);
    const Doubles f = left == lanes ? load(frequencies + k) : load_part(frequencies + k, left, 0);
    const Doubles v = x * fast_log1p(gain * f);
    for (std::int64_t i = 0; i < left; ++i) sums[slots[k + i] & slot_mask] += v[i];
  }
}

double total(Doubles a, Doubles b) {
  const Doubles sum = a + b;
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

double sum(const double* values, std::int64_t n) {
  Doubles parts[4] = {};
  std::int64_t k = 0;
  for (; k + 4 * lanes <= n; k += 4 * lanes)
    for (int i = 0; i < 4; ++i) parts[i] += load(values + k + i * lanes);
  for (; k + lanes <= n; k += lanes) parts[0] += load(values + k);
  if (k < n) parts[0] += load_part(values + k, n - k, 0);
  return total(parts[0] + parts[1], parts[2] + parts[3]);
}

double largest(const double* values, std::int64_t n) {
  Doubles most = Doubles{} - std::numeric_limits<double>::infinity();
  std::int64_t k = 0;
  for (; k + lanes <= n; k += lanes) most = load(values + k) > most ? load(values + k) : most;
  double result = std::max(std::max(most[0], most[1]), std::max(most[2], most[3]));
  for (; k < n; ++k) result = std::max(result, values[k]);
  return result;
}

double sum_exp(const double* values, const double* weights, std::int64_t n, double scale) {
  Doubles even{}, odd{};
  std::int64_t k = 0;
  for (; k + 2 * lanes <= n; k += 2 * lanes) {
    even += load(weights + k) * fast_exp(load(values + k) - scale);
    odd += load(weights + k + lanes) * fast_exp(load(values + k + lanes) - scale);
  }
  for (; k < n; k += lanes) {
    const auto left = std::min<std::int64_t>(lanes, n - k);
    even += load_part(weights + k, left, 0) * fast_exp(load_part(values + k, left, scale) - scale);
  }
  return total(even, odd);
}

// out = f(values), vectors at a time; the last one is filled up with ones.
template <class Function>
inline __attribute__((always_inline)) void each(const double* values, std::int64_t n, double* out,
                                                Function f) {
  std::int64_t k = 0;
  for (; k + lanes <= n; k += lanes) store(out + k, f(load(values + k)));
  if (k == n) return;
  const Doubles y = f(load_part(values + k, n - k, 1));
  for (std::int64_t i = 0; i < n - k; ++i) out[k + i] = y[i];
}

void scaled_exp(const double* values, std::int64_t n, double x, double* out) {
  each(values, n, out, [x](Doubles v) __attribute__((always_inline)) { return fast_exp(x * v); });
}

void exp(double* values, std::int64_t n) {
  each(values, n, values, [](Doubles v) __attribute__((always_inline)) { return fast_exp(v); });
}

void log(double* values, std::int64_t n) {
  each(values, n, values, [](Doubles v) __attribute__((always_inline)) {
    return v > 0.0 ? fast_log(v) : Doubles{} - std::numeric_limits<double>::infinity();
  });
}

void log1p(double* values, std::int64_t n) {
  each(values, n, values, [](Doubles v) __attribute__((always_inline)) { return fast_log1p(v); });
}

constexpr VectorLoops all{add, add_full, raise,   raise_parts, put,        multiply_full, add_log1p,
                          sum, largest,  sum_exp, exp,         scaled_exp, log,           log1p};

}  // namespace

const VectorLoops& vector_loops(GENUS_SIMD_LEVEL) {
  return all;
}

}  // namespace genus
