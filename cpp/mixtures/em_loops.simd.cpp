#include "mixtures/em_loops.h"

#include "base/fastmath.h"

namespace genus {
namespace {

constexpr int lanes = 4;  // of one vector

Doubles load(const double* from) {
  return *reinterpret_cast<const Doubles*>(from);
}
void store(double* to, Doubles x) {
  *reinterpret_cast<Doubles*>(to) = x;
}

// `count` vectors of columns in registers. A chain of additions waits for each result: with few vectors, even
// and odd entries are added apart to have chains enough.
template <int count>
void gather_columns(EmEntries entries, const double* table, std::int64_t stride, double* sums) {
  constexpr std::int64_t chains = count < 8 ? 2 : 1;
  Doubles totals[chains][count] = {};
  const auto add = [&](std::int64_t k, Doubles* into) {
    const double* const row = table + entries.rows[k] * stride;
    for (int i = 0; i < count; ++i) into[i] += entries.x[k] * load(row + i * lanes);
  };
  std::int64_t k = 0;
  for (; k + chains <= entries.size; k += chains)
    for (std::int64_t j = 0; j < chains; ++j) add(k + j, totals[j]);
  if (k < entries.size) add(k, totals[0]);
  for (std::int64_t j = 0; j < chains; ++j)
    for (int i = 0; i < count; ++i) store(sums + i * lanes, load(sums + i * lanes) + totals[j][i]);
}

void gather(EmEntries entries, const double* table, std::int64_t stride, std::int64_t n, double* sums) {
  std::int64_t j = 0;
  for (; j + 8 * lanes <= n; j += 8 * lanes) gather_columns<8>(entries, table + j, stride, sums + j);
  if (j + 6 * lanes <= n) gather_columns<6>(entries, table + j, stride, sums + j), j += 6 * lanes;
  if (j + 4 * lanes <= n) gather_columns<4>(entries, table + j, stride, sums + j), j += 4 * lanes;
  if (j + 2 * lanes <= n) gather_columns<2>(entries, table + j, stride, sums + j), j += 2 * lanes;
  if (j + lanes <= n) gather_columns<1>(entries, table + j, stride, sums + j), j += lanes;
  for (; j < n; ++j)
    for (std::int64_t k = 0; k < entries.size; ++k)
      sums[j] += entries.x[k] * table[entries.rows[k] * stride + j];
}

void scatter(EmEntries entries, const double* shares, std::int64_t stride, std::int64_t n, double* table) {
  for (std::int64_t k = 0; k < entries.size; ++k) {
    double* const row = table + entries.rows[k] * stride;
    const double x = entries.x[k];
    std::int64_t j = 0;
    for (; j + lanes <= n; j += lanes) store(row + j, load(row + j) + x * load(shares + j));
    for (; j < n; ++j) row[j] += x * shares[j];
  }
}

void normalize(double* scores, std::int64_t n_nodes, std::int64_t n_repetitions, bool hard,
               double* log_sums) {
  for (std::int64_t v = 0; v < n_repetitions; v += lanes) {
    Doubles most = load(scores + v);
    for (std::int64_t h = 1; h < n_nodes; ++h) {
      const Doubles score = load(scores + h * n_repetitions + v);
      most = score > most ? score : most;
    }
    Doubles sum{};
    for (std::int64_t h = 0; h < n_nodes; ++h) {
      double* const at = scores + h * n_repetitions + v;
      const Doubles below = load(at) - most;
      // exp(-700) is as good as nothing, and sums of nothing stay clear of subnormal numbers.
      const Doubles zero{}, one = zero + 1.0;
      const Doubles share =
          hard ? (((below == 0.0) & (sum == 0.0)) ? one : zero) : (below < -700.0 ? zero : fast_exp(below));
      store(at, share);
      sum += share;
    }
    for (std::int64_t h = 0; h < n_nodes; ++h) {
      double* const at = scores + h * n_repetitions + v;
      store(at, load(at) / sum);
    }
    store(log_sums + v, most + fast_log1p(sum - 1.0));
  }
}

void log1p(const double* counts, const double* ratio, std::int64_t n, double* values, double* sums) {
  for (std::int64_t j = 0; j < n; j += lanes) {
    const Doubles value = fast_log1p(load(counts + j) * load(ratio + j));
    store(values + j, value);
    store(sums + j, load(sums + j) + value);
  }
}

constexpr EmLoops all{gather, scatter, normalize, log1p};

}  // namespace

const EmLoops& em_loops(GENUS_SIMD_LEVEL) {
  return all;
}

}  // namespace genus
