#include "online_kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "fastmath.h"

namespace genus {
namespace {

using UnsignedLongs = std::uint64_t __attribute__((vector_size(32), aligned(8)));

constexpr std::size_t run = 8;  // factors of up to 2^60 that are multiplied before exponents are taken off

// Models side by side are `parts` vectors of lanes.
template <class Lanes, int parts>
inline __attribute__((always_inline)) const Lanes* row_at(const double* rows, std::size_t number) {
  return reinterpret_cast<const Lanes*>(rows + number * 2 * parts * (sizeof(Lanes) / sizeof(double)));
}

template <class Lanes, class Bits, int parts>
inline __attribute__((always_inline)) void odds(const double* rows, const RowList& list,
                                                const EvidenceScales& scales, double* mantissa,
                                                std::int64_t* exponent) {
  const auto* const documents = row_at<Lanes, parts>(rows, all_documents);
  const auto* const words = row_at<Lanes, parts>(rows, all_words);
  Lanes product[parts], per_word[parts];
  Bits taken[parts] = {};
  for (int p = 0; p < parts; ++p) {
    product[p] =
        (1.0 + scales.all_documents * documents[p]) / (1.0 + scales.all_documents * documents[parts + p]);
    per_word[p] = (1.0 + scales.all_words * words[parts + p]) / (1.0 + scales.all_words * words[p]);
  }
  for (std::size_t begin = 0; begin < list.size; begin += run) {
    const auto end = std::min(begin + run, list.size);
    // A run's own products do not wait for those before it.
    Lanes in[parts], out[parts];
    for (int p = 0; p < parts; ++p) in[p] = out[p] = Lanes{} + 1.0;
    for (auto k = begin; k < end; ++k) {
      const auto* const row = row_at<Lanes, parts>(rows, list.numbers[k]);
      for (int p = 0; p < parts; ++p) {
        in[p] *= per_word[p] * (1.0 + scales.word * row[p]);
        out[p] *= 1.0 + scales.word * row[parts + p];
      }
    }
    for (int p = 0; p < parts; ++p) {
      product[p] *= in[p] / out[p];
      auto bits = std::bit_cast<Bits>(product[p]);
      const Bits power = (bits >> 52) - 1023;
      taken[p] += power;
      bits -= power << 52;
      product[p] = std::bit_cast<Lanes>(bits);
    }
  }
  std::memcpy(mantissa, product, sizeof product);
  std::memcpy(exponent, taken, sizeof taken);
}

inline __attribute__((always_inline)) void log_odds_eight(const double* rows, const RowList& list,
                                                          const EvidenceScales& scales, double* out) {
  for (std::size_t half = 0; half < 2; ++half) {
    const auto ratio = [&](std::size_t number, double scale) __attribute__((always_inline)) {
      const auto* const row = row_at<Doubles, 2>(rows, number) + half;
      return fast_log1p(scale * row[0]) - fast_log1p(scale * row[2]);
    };
    Doubles sum =
        ratio(all_documents, scales.all_documents) - list.length * ratio(all_words, scales.all_words);
    for (std::size_t k = 0; k < list.size; ++k) sum += list.values[k] * ratio(list.numbers[k], scales.word);
    std::memcpy(out + 4 * half, &sum, sizeof sum);
  }
}

template <class Lanes, int parts>
inline __attribute__((always_inline)) void add(double* rows, const RowList& list, int own, double in,
                                               const double* out) {
  constexpr std::size_t width = parts * sizeof(Lanes) / sizeof(double);
  Lanes losses[parts];
  std::memcpy(losses, out, sizeof losses);
  const auto add_row = [&](std::size_t number, double value) __attribute__((always_inline)) {
    double* const row = rows + number * 2 * width;
    for (int p = 0; p < parts; ++p) reinterpret_cast<Lanes*>(row + width)[p] += value * losses[p];
    if (own >= 0) row[own] += value * in;
  };
  for (std::size_t k = 0; k < list.size; ++k) add_row(list.numbers[k], list.values ? list.values[k] : 1.0);
  add_row(all_words, list.length);
  add_row(all_documents, 1.0);
}

void odds_one(const double* rows, const RowList& list, const EvidenceScales& scales, double* mantissa,
              std::int64_t* exponent) {
  odds<double, std::uint64_t, 1>(rows, list, scales, mantissa, exponent);
}
void log_odds_one(const double* rows, const RowList& list, const EvidenceScales& scales, double* out) {
  const auto ratio = [rows](std::size_t number, double scale) {
    return std::log1p(scale * rows[2 * number]) - std::log1p(scale * rows[2 * number + 1]);
  };
  *out = ratio(all_documents, scales.all_documents) - list.length * ratio(all_words, scales.all_words);
  for (std::size_t k = 0; k < list.size; ++k) *out += list.values[k] * ratio(list.numbers[k], scales.word);
}
void add_one(double* rows, const RowList& list, int own, double in, const double* out) {
  add<double, 1>(rows, list, own, in, out);
}
constexpr OnlineKernels one{odds_one, log_odds_one, add_one};

void odds_portable(const double* rows, const RowList& list, const EvidenceScales& scales, double* mantissa,
                   std::int64_t* exponent) {
  odds<Doubles, UnsignedLongs, 2>(rows, list, scales, mantissa, exponent);
}
void log_odds_portable(const double* rows, const RowList& list, const EvidenceScales& scales, double* out) {
  log_odds_eight(rows, list, scales, out);
}
void add_portable(double* rows, const RowList& list, int own, double in, const double* out) {
  add<Doubles, 2>(rows, list, own, in, out);
}
constexpr OnlineKernels portable{odds_portable, log_odds_portable, add_portable};

#if defined(__x86_64__)
__attribute__((target("avx2"))) void odds_avx2(const double* rows, const RowList& list,
                                               const EvidenceScales& scales, double* mantissa,
                                               std::int64_t* exponent) {
  odds<Doubles, UnsignedLongs, 2>(rows, list, scales, mantissa, exponent);
}
__attribute__((target("avx2"))) void log_odds_avx2(const double* rows, const RowList& list,
                                                   const EvidenceScales& scales, double* out) {
  log_odds_eight(rows, list, scales, out);
}
__attribute__((target("avx2"))) void add_avx2(double* rows, const RowList& list, int own, double in,
                                              const double* out) {
  add<Doubles, 2>(rows, list, own, in, out);
}
constexpr OnlineKernels avx2{odds_avx2, log_odds_avx2, add_avx2};
#endif

}  // namespace

template <>
const OnlineKernels& online_kernels<1>() {
  return one;
}

template <>
const OnlineKernels& online_kernels<8>() {
#if defined(__x86_64__)
  static const bool wide = __builtin_cpu_supports("avx2");
  if (wide) return avx2;
#endif
  return portable;
}

}  // namespace genus
