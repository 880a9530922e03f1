#include "tables/term_sums.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace genus {
namespace {

// Several classes side by side. In memory they are not aligned: they are copied from there, and back.
template <class Real, int n>
using Lanes __attribute__((vector_size(n * sizeof(Real)))) = Real;

template <class Real>
constexpr int widest = 32 / sizeof(Real);  // what a vector holds

constexpr int vectors_at_once = 12;  // held in registers
constexpr std::size_t ahead = 8;     // terms between asking for a row and reading it

template <class Real>
constexpr std::size_t terms_at_once = sizeof(Real) == 4 ? 16 : std::numeric_limits<std::size_t>::max();

template <class Real>
void prefetch_row(const Term<Real>& term, std::int64_t n) {
  constexpr std::int64_t line = 64 / sizeof(Real), most = 1024 / sizeof(Real);  // beyond, the machine sees it
  for (std::int64_t c = 0; c < std::min(n, most); c += line) __builtin_prefetch(term.values + c);
}

// Terms to come, whose rows of n values are asked for.
template <class Real>
struct Rows {
  std::span<const Term<Real>> terms;
  std::int64_t n = 0;
};

// sums += sum over terms of x * values, for `count` vectors of classes from c on. The last one is at `last`:
// where classes do not fill it, it begins among those of the one before, whose sums are theirs already. A
// chain of additions waits for each result: with few vectors, even and odd terms are added apart to have
// chains enough.
template <class Real, int width, int count>
void add_lanes(std::span<const Term<Real>> terms, std::int64_t c, std::int64_t last, double* sums,
               const Rows<Real>& coming = {}) {
  using Vector = Lanes<Real, width>;
  constexpr std::size_t chains = count < 4 ? 2 : 1;
  Vector totals[chains][count] = {};
  const auto place = [&](int i) { return i + 1 < count ? c + width * i : last; };
  const auto add = [&](const Term<Real>& term, std::size_t chain) __attribute__((always_inline)) {
    for (int i = 0; i < count; ++i) {
      Vector values;
      std::memcpy(&values, term.values + place(i), sizeof values);
      totals[chain][i] += term.x * values;
    }
  };
  std::size_t t = 0;
  for (; t + chains <= terms.size(); t += chains)
    for (std::size_t j = 0; j < chains; ++j) {
      if (t + j < coming.terms.size()) prefetch_row(coming.terms[t + j], coming.n);
      add(terms[t + j], j);
    }
  if (t < terms.size()) add(terms[t], 0);
  for (std::size_t j = 0; j < chains; ++j) {
    for (int i = 0; i + 1 < count; ++i) {
      Lanes<double, width> sum;
      std::memcpy(&sum, sums + place(i), sizeof sum);
      sum += __builtin_convertvector(totals[j][i], Lanes<double, width>);
      std::memcpy(sums + place(i), &sum, sizeof sum);
    }
    const auto total = __builtin_convertvector(totals[j][count - 1], Lanes<double, width>);
    for (int lane = static_cast<int>(c + width * (count - 1) - last); lane < width; ++lane)
      sums[last + lane] += total[lane];
  }
}

// The same for up to so many vectors, in one pass: another would read all terms again.
template <class Real, int width, int most>
void add_vectors(std::int64_t count, std::span<const Term<Real>> terms, std::int64_t c, std::int64_t last,
                 double* sums) {
  if constexpr (most > 0) {
    if (count == most) return add_lanes<Real, width, most>(terms, c, last, sums);
    add_vectors<Real, width, most - 1>(count, terms, c, last, sums);
  }
}

// For at least `width` classes.
template <class Real, int width>
void add_some(std::span<const Term<Real>> terms, std::span<const Term<Real>> coming, std::int64_t n,
              double* sums) {
  constexpr int whole = vectors_at_once * width;
  std::int64_t c = 0;
  for (; c + whole <= n; c += whole)
    add_lanes<Real, width, vectors_at_once>(terms, c, c + whole - width, sums,
                                            c == 0 ? Rows<Real>{coming, n} : Rows<Real>{});
  add_vectors<Real, width, vectors_at_once>((n - c + width - 1) / width, terms, c, n - width, sums);
}

template <class Real, int width>
void add_all(std::span<const Term<Real>> terms, std::int64_t n, double* sums) {
  if constexpr (width > 1)
    if (n < width) return add_all<Real, width / 2>(terms, n, sums);
  while (n > 0 && !terms.empty()) {
    const auto some = std::min(terms_at_once<Real>, terms.size());
    add_some<Real, width>(terms.first(some), terms.subspan(std::min(ahead, terms.size())), n, sums);
    terms = terms.subspan(some);
  }
}

template <class Real>
void add_terms(std::span<const Term<Real>> terms, std::int64_t n, double* sums) {
  add_all<Real, widest<Real>>(terms, n, sums);
}

constexpr TermSums all{add_terms<float>, add_terms<double>};

}  // namespace

const TermSums& term_sums(GENUS_SIMD_LEVEL) {
  return all;
}

}  // namespace genus
