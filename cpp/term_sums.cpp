#include "term_sums.h"

#include <algorithm>
#include <limits>

namespace genus {
namespace {

// Several classes side by side; need not be aligned in memory.
template <class Real, int n>
using Lanes __attribute__((vector_size(n * sizeof(Real)), aligned(sizeof(Real)))) = Real;

constexpr int widest = 32;           // bytes of a vector
constexpr int vectors_at_once = 12;  // held in registers
constexpr std::size_t ahead = 8;     // terms between asking for a row and reading it

template <class Real>
constexpr std::size_t terms_at_once = sizeof(Real) == 4 ? 16 : std::numeric_limits<std::size_t>::max();

template <class Real>
inline void prefetch_row(const Term<Real>& term, std::int64_t n) {
  constexpr std::int64_t line = 64 / sizeof(Real), most = 1024 / sizeof(Real);  // beyond, the machine sees it
  for (std::int64_t c = 0; c < std::min(n, most); c += line) __builtin_prefetch(term.values + c);
}

// Terms to come, whose rows of n values are asked for.
template <class Real>
struct Rows {
  std::span<const Term<Real>> terms;
  std::int64_t n = 0;
};

// sums += sum over terms of x * values, for `count` vectors of classes from c on, without the first `skip`.
// A chain of additions waits for each result: with few vectors, even and odd terms are added apart to have
// chains enough.
template <class Real, int width, int count>
inline __attribute__((always_inline)) void add_lanes(std::span<const Term<Real>> terms, std::int64_t c,
                                                     double* sums, const Rows<Real>& coming = {},
                                                     int skip = 0) {
  using Vector = Lanes<Real, width>;
  constexpr std::size_t chains = count < 4 ? 2 : 1;
  Vector totals[chains][count] = {};
  std::size_t t = 0;
  for (; t + chains <= terms.size(); t += chains)
    for (std::size_t j = 0; j < chains; ++j) {
      if (t + j < coming.terms.size()) prefetch_row(coming.terms[t + j], coming.n);
      const auto* const values = reinterpret_cast<const Vector*>(terms[t + j].values + c);
      for (int i = 0; i < count; ++i) totals[j][i] += terms[t + j].x * values[i];
    }
  for (int i = 0; t < terms.size() && i < count; ++i)
    totals[0][i] += terms[t].x * reinterpret_cast<const Vector*>(terms[t].values + c)[i];
  using Sums = Lanes<double, width>;
  for (std::size_t j = 0; j < chains; ++j)
    for (int i = 0; i < count; ++i) {
      const auto total = __builtin_convertvector(totals[j][i], Sums);
      if (skip == 0) reinterpret_cast<Sums*>(sums + c)[i] += total;
      for (int lane = skip; skip > 0 && lane < width; ++lane) sums[c + width * i + lane] += total[lane];
    }
}

// The same for up to so many vectors, in one pass: another would read all terms again.
template <class Real, int width, int most>
inline __attribute__((always_inline)) void add_vectors(std::int64_t count, std::span<const Term<Real>> terms,
                                                       std::int64_t c, double* sums) {
  if constexpr (most > 0) {
    if (count == most) return add_lanes<Real, width, most>(terms, c, sums);
    add_vectors<Real, width, most - 1>(count, terms, c, sums);
  }
}

template <class Real>
inline __attribute__((always_inline)) void add_some(std::span<const Term<Real>> terms,
                                                    std::span<const Term<Real>> coming, std::int64_t n,
                                                    double* sums) {
  constexpr int width = widest / sizeof(Real);
  std::int64_t c = 0;
  for (; c + vectors_at_once * width <= n; c += vectors_at_once * width)
    add_lanes<Real, width, vectors_at_once>(terms, c, sums, c == 0 ? Rows<Real>{coming, n} : Rows<Real>{});
  const auto vectors = (n - c) / width;
  add_vectors<Real, width, vectors_at_once - 1>(vectors, terms, c, sums);
  c += width * vectors;
  if (c == n) return;
  if (n >= width) {  // the last vector's first classes have their sums already
    add_lanes<Real, width, 1>(terms, n - width, sums, {}, static_cast<int>(c - (n - width)));
    return;
  }
  if constexpr (width > 4)
    if (c + 4 <= n) add_lanes<Real, 4, 1>(terms, c, sums), c += 4;
  if (c + 2 <= n) add_lanes<Real, 2, 1>(terms, c, sums), c += 2;
  if (c < n) add_lanes<Real, 1, 1>(terms, c, sums);
}

template <class Real>
inline __attribute__((always_inline)) void add_all(std::span<const Term<Real>> terms, std::int64_t n,
                                                   double* sums) {
  while (!terms.empty()) {
    const auto some = std::min(terms_at_once<Real>, terms.size());
    add_some(terms.first(some), terms.subspan(std::min(ahead, terms.size())), n, sums);
    terms = terms.subspan(some);
  }
}

// The widest vectors that the running machine has, without fused multiply-add, which others lack.
template <class Real>
using AddTerms = void (*)(std::span<const Term<Real>>, std::int64_t, double*);
#if defined(__x86_64__)
template <class Real>
__attribute__((target("avx2"))) void add_terms_avx2(std::span<const Term<Real>> terms, std::int64_t n,
                                                    double* sums) {
  add_all(terms, n, sums);
}
#endif
template <class Real>
void add_terms_portable(std::span<const Term<Real>> terms, std::int64_t n, double* sums) {
  add_all(terms, n, sums);
}
template <class Real>
AddTerms<Real> fastest_add_terms() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return add_terms_avx2<Real>;
#endif
  return add_terms_portable<Real>;
}

}  // namespace

template <class Real>
void add_terms(std::span<const Term<Real>> terms, std::int64_t n, double* sums) {
  static const auto fastest = fastest_add_terms<Real>();
  fastest(terms, n, sums);
}

template void add_terms(std::span<const Term<float>>, std::int64_t, double*);
template void add_terms(std::span<const Term<double>>, std::int64_t, double*);

}  // namespace genus
