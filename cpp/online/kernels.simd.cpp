#include "online/kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>

#include "base/fastmath.h"

namespace genus {
namespace {

// Pointers to these must not be declared with `auto`: GCC then takes them to be aligned.
using Pair __attribute__((vector_size(16), aligned(8))) = double;
using PairBits __attribute__((vector_size(16), aligned(8))) = std::uint64_t;
using Bits __attribute__((vector_size(32), aligned(8))) = std::uint64_t;
static_assert(alignof(Pair) == alignof(double) && alignof(PairBits) == alignof(Bits));

constexpr std::size_t run = 8;  // factors of up to 2^120 that are multiplied before exponents are taken off

// The vectors of a row: one of both sides of a single model, or two for each line of four models.
template <int width>
struct Vectors {
  using Lanes = Doubles;
  using LaneBits = Bits;
};
template <>
struct Vectors<1> {
  using Lanes = Pair;
  using LaneBits = PairBits;
};

template <int width, int live>
struct Row : Vectors<width> {
  using typename Vectors<width>::Lanes;
  static constexpr int parts = width == 1 ? 1 : 2 * live / line;  // those of the models that live
  static constexpr std::size_t size = 2 * width;

  static const Lanes* at(const double* rows, std::size_t number) {
    return reinterpret_cast<const Lanes*>(rows + number * size);
  }
  static Lanes* at(double* rows, std::size_t number) {
    return reinterpret_cast<Lanes*>(rows + number * size);
  }
};

// Odds as a quotient of two numbers from 1 to below 2, times a power of two.
template <int live>
struct Quotients {
  double in[live], out[live];
  std::int64_t exponent[live];
};

// For words that count 1 each: the products of both sides need no logarithm. The first run is the odd one.
template <int width, int live>
inline __attribute__((always_inline)) void multiply(const double* rows, const RowList& list,
                                                    const EvidencePriors& priors,
                                                    Quotients<live>& quotients) {
  using R = Row<width, live>;
  using Lanes = typename R::Lanes;
  constexpr int parts = R::parts;
  Lanes product[parts], per_word[parts], per_run[parts];
  typename R::LaneBits exponents[parts] = {};
  for (int p = 0; p < parts; ++p) {
    product[p] = priors.all_documents + R::at(rows, all_documents)[p];
    per_word[p] = priors.all_words / (priors.all_words + R::at(rows, all_words)[p]);
    const Lanes two = per_word[p] * per_word[p], four = two * two;
    per_run[p] = four * four;
  }
  const auto take_exponents = [&]() __attribute__((always_inline)) {
    for (int p = 0; p < parts; ++p) {
      const auto bits = std::bit_cast<typename R::LaneBits>(product[p]);
      const auto power = (bits >> 52) - 1023;
      exponents[p] += power;
      product[p] = std::bit_cast<Lanes>(bits - (power << 52));
    }
  };
  take_exponents();
  const double* const of_words = rows + list.first * R::size;
  std::size_t k = 0;
  for (; k < list.size % run; ++k) {
    const Lanes* const row = R::at(of_words, list.numbers[k]);
    for (int p = 0; p < parts; ++p) product[p] *= per_word[p] * (priors.word + row[p]);  // eq. 1 and 2
  }
  take_exponents();
  while (k < list.size) {
    Lanes factor[parts];  // of one run, which does not wait for those before it
    for (int p = 0; p < parts; ++p) factor[p] = per_run[p];
    for (const auto end = k + run; k < end; ++k) {
      const Lanes* const row = R::at(of_words, list.numbers[k]);
      for (int p = 0; p < parts; ++p) factor[p] *= priors.word + row[p];
    }
    for (int p = 0; p < parts; ++p) product[p] *= factor[p];
    take_exponents();
  }
  double mantissas[R::size];
  std::int64_t powers[R::size];
  std::memcpy(mantissas, product, sizeof product);
  std::memcpy(powers, exponents, sizeof exponents);
  for (int c = 0; c < live; ++c) {
    const auto in = place_in(width, c), out = place_out(width, c);
    quotients.in[c] = mantissas[in];
    quotients.out[c] = mantissas[out];
    quotients.exponent[c] = powers[in] - powers[out];
  }
}

// The logarithm of (prior + in) / (prior + out), of four models or words.
inline __attribute__((always_inline)) Doubles log_ratio(Doubles in, Doubles out, double prior) {
  return fast_log((prior + in) / (prior + out));
}

// For words that count by their values.
template <int width, int live>
inline __attribute__((always_inline)) void add_logs_wide(const double* rows, const RowList& list,
                                                         const EvidencePriors& priors, double* out) {
  using R = Row<width, live>;
  for (int p = 0; p < R::parts; p += 2) {
    const auto ratio = [&](std::size_t number, double prior) __attribute__((always_inline)) {
      const typename R::Lanes* const row = R::at(rows, number) + p;
      return log_ratio(row[0], row[1], prior);
    };
    Doubles sum =
        ratio(all_documents, priors.all_documents) - list.length * ratio(all_words, priors.all_words);
    for (std::size_t k = 0; k < list.size; ++k)
      sum += list.values[k] * ratio(list.first + list.numbers[k], priors.word);  // eq. 1 and 2
    std::memcpy(out + p / 2 * line, &sum, sizeof sum);
  }
}

// As above for a single model: four words at a time.
inline __attribute__((always_inline)) void add_logs_single(const double* rows, const RowList& list,
                                                           const EvidencePriors& priors, double* out) {
  const auto in = [rows](std::size_t number) { return rows[2 * number]; };
  const auto against = [rows](std::size_t number) { return rows[2 * number + 1]; };
  const Doubles all = fast_log((Doubles{priors.all_documents, priors.all_words, 1, 1} +
                                Doubles{in(all_documents), in(all_words), 0, 0}) /
                               (Doubles{priors.all_documents, priors.all_words, 1, 1} +
                                Doubles{against(all_documents), against(all_words), 0, 0}));
  Doubles sum{all[0] - list.length * all[1], 0, 0, 0};
  for (std::size_t k = 0; k < list.size; k += line) {
    std::size_t n[line] = {};
    Doubles values{};
    for (std::size_t i = 0; i < std::min<std::size_t>(line, list.size - k); ++i) {
      n[i] = list.first + list.numbers[k + i];
      values[i] = list.values[k + i];
    }
    sum +=
        values * log_ratio(Doubles{in(n[0]), in(n[1]), in(n[2]), in(n[3])},
                           Doubles{against(n[0]), against(n[1]), against(n[2]), against(n[3])}, priors.word);
  }
  *out = (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

template <int width, int live>
void add_logs(const double* rows, const RowList& list, const EvidencePriors& priors, double* out) {
  if constexpr (width == 1)
    add_logs_single(rows, list, priors, out);
  else
    add_logs_wide<width, live>(rows, list, priors, out);
}

template <int width, int live>
void odds(const double* rows, const RowList& list, const EvidencePriors& priors, double* out) {
  if (list.values) {
    add_logs<width, live>(rows, list, priors, out);
    for (int c = 0; c < live; ++c) out[c] = std::exp(std::clamp(out[c], -690.0, 690.0));
    return;
  }
  Quotients<live> quotients;
  multiply<width, live>(rows, list, priors, quotients);
  for (int c = 0; c < live; ++c) {
    const auto power = std::clamp<std::int64_t>(quotients.exponent[c], -1000, 1000);
    out[c] = quotients.in[c] / quotients.out[c] * std::bit_cast<double>((power + 1023) << 52);
  }
}

template <int width, int live>
void log_odds(const double* rows, const RowList& list, const EvidencePriors& priors, double* out) {
  if (list.values) return add_logs<width, live>(rows, list, priors, out);
  Quotients<live> quotients;
  multiply<width, live>(rows, list, priors, quotients);
  for (int c = 0; c < live; ++c)
    out[c] = std::log(quotients.in[c] / quotients.out[c]) +
             static_cast<double>(quotients.exponent[c]) * std::numbers::ln2;
}

// Algorithm 1: f_ic += L(d) for the words of the document.
template <int width, int live>
void add(double* rows, const RowList& list, const Losses<live>& losses) {
  using R = Row<width, live>;
  double amounts[R::size] = {};
  for (int c = 0; c < live; ++c) amounts[place_out(width, c)] = losses.out[c];
  if (losses.own >= 0) amounts[place_in(width, losses.own)] = losses.in;
  typename R::Lanes added[R::parts];
  std::memcpy(added, amounts, sizeof added);
  // Only one of the in sides learns: the others' vectors are left alone.
  const int in_part = losses.own < 0 ? -1 : losses.own / line * 2;
  const auto add_row = [&](std::size_t number, double value) __attribute__((always_inline)) {
    typename R::Lanes* const row = R::at(rows, number);
    if constexpr (width == 1) {
      row[0] += value * added[0];
    } else {
      for (int p = 1; p < R::parts; p += 2) row[p] += value * added[p];
      if (in_part >= 0) row[in_part] += value * added[in_part];
    }
  };
  if (list.values)
    for (std::size_t k = 0; k < list.size; ++k) add_row(list.first + list.numbers[k], list.values[k]);
  else
    for (std::size_t k = 0; k < list.size; ++k) add_row(list.first + list.numbers[k], 1.0);
  add_row(all_words, list.length);
  add_row(all_documents, 1.0);
}

template <int width, int live>
constexpr OnlineKernels<width, live> of{odds<width, live>, log_odds<width, live>, add<width, live>};

constexpr AllOnlineKernels all{of<1, 1>, of<8, 4>, of<8, 8>};

}  // namespace

const AllOnlineKernels& online_kernels(GENUS_SIMD_LEVEL) {
  return all;
}

}  // namespace genus
