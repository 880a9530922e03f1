#include "rough_table.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "multinomial.h"
#include "parallel.h"
#include "scores.h"

namespace genus {
namespace {

constexpr std::int64_t ahead = 24;  // entries between the call for a word's place and its use
constexpr std::int64_t lanes = 8;
using Lanes __attribute__((vector_size(lanes * sizeof(float)))) = float;

std::int64_t row_width(std::int64_t n_classes) {
  return (n_classes + lanes - 1) / lanes * lanes;
}

struct Term {
  const float* row;
  float x;
};

// A cell of a row that is not full, in 64 bits.
struct Cell {
  std::uint32_t c;  // the class; the highest bit marks the last of a row
  float value;
};
constexpr std::uint32_t last_mark = 1u << 31;

struct CellTerm {
  const std::uint64_t* cells;
  float x;
};

// sums += x * the cells of a row.
void add_cells(CellTerm term, std::vector<float>& sums) {
  for (const std::uint64_t* at = term.cells;; ++at) {
    const auto cell = std::bit_cast<Cell>(*at);
    sums[cell.c & ~last_mark] += term.x * cell.value;
    if (cell.c & last_mark) return;
  }
}

// sums = sum over terms of x * row, for `count` vectors held in registers. Each addition waits for the one
// before: with few vectors, even and odd terms are added apart.
template <int count>
inline __attribute__((always_inline)) void add_vectors(std::span<const Term> terms, std::int64_t c,
                                                       float* sums) {
  constexpr std::size_t chains = count < 4 ? 2 : 1;
  Lanes totals[chains][count] = {};
  const auto add = [&](const Term& term, std::size_t chain) __attribute__((always_inline)) {
    for (int i = 0; i < count; ++i) {
      Lanes values;
      std::memcpy(&values, term.row + c + i * lanes, sizeof values);
      totals[chain][i] += term.x * values;
    }
  };
  std::size_t t = 0;
  for (; t + chains <= terms.size(); t += chains)
    for (std::size_t chain = 0; chain < chains; ++chain) add(terms[t + chain], chain);
  if (t < terms.size()) add(terms[t], 0);
  for (int i = 0; i < count; ++i) {
    Lanes sum = totals[0][i];
    if constexpr (chains == 2) sum += totals[1][i];
    std::memcpy(sums + c + i * lanes, &sum, sizeof sum);
  }
}

inline __attribute__((always_inline)) void add_terms_inline(std::span<const Term> terms, std::int64_t width,
                                                            float* sums) {
  std::int64_t c = 0;
  for (; width - c >= 8 * lanes; c += 8 * lanes) add_vectors<8>(terms, c, sums);
  switch ((width - c) / lanes) {  // what is left in one pass: another would read all terms again
    case 7:
      return add_vectors<7>(terms, c, sums);
    case 6:
      return add_vectors<6>(terms, c, sums);
    case 5:
      return add_vectors<5>(terms, c, sums);
    case 4:
      return add_vectors<4>(terms, c, sums);
    case 3:
      return add_vectors<3>(terms, c, sums);
    case 2:
      return add_vectors<2>(terms, c, sums);
    case 1:
      return add_vectors<1>(terms, c, sums);
  }
}

using AddTerms = void (*)(std::span<const Term>, std::int64_t, float*);
#if defined(__x86_64__)
__attribute__((target("avx2"))) void add_terms_avx2(std::span<const Term> terms, std::int64_t width,
                                                    float* sums) {
  add_terms_inline(terms, width, sums);
}
#endif
void add_terms_portable(std::span<const Term> terms, std::int64_t width, float* sums) {
  add_terms_inline(terms, width, sums);
}
AddTerms fastest_add_terms() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return add_terms_avx2;
#endif
  return add_terms_portable;
}

// The first of the largest scores, or -1 where another comes as near to it as `distance`.
std::int32_t clear_best(std::span<const double> scores, double distance) {
  double best = -std::numeric_limits<double>::infinity(), second = best;
  std::int32_t at = -1;
  for (std::size_t c = 0; c < scores.size(); ++c) {
    if (scores[c] > best) {
      second = best;
      best = scores[c];
      at = static_cast<std::int32_t>(c);
    } else {
      second = std::max(second, scores[c]);
    }
  }
  return best - second > distance && std::isfinite(best) ? at : -1;
}

// The rows of some documents.
template <class Value>
struct Selection {
  std::vector<std::int64_t> indptr{0};
  std::vector<std::int32_t> indices;
  std::vector<Value> values;

  void add(const Csr<Value>& documents, std::int64_t d) {
    const auto begin = documents.indptr[d], end = documents.indptr[d + 1];
    indices.insert(indices.end(), documents.indices.begin() + begin, documents.indices.begin() + end);
    values.insert(values.end(), documents.values.begin() + begin, documents.values.begin() + end);
    indptr.push_back(static_cast<std::int64_t>(indices.size()));
  }
};

}  // namespace

RoughTable make_rough(const WordTableView<double>& table, std::int64_t n_classes) {
  RoughTable rough;
  const auto width = row_width(n_classes);
  rough.places.resize(static_cast<std::size_t>(table.words()));
  for (std::int64_t w = 0; w < table.words(); ++w) {
    const auto [begin, end] = table.row(w);
    if (end - begin == n_classes) {
      rough.places[w] = static_cast<std::int32_t>(std::ssize(rough.rows) / width);
      for (auto k = begin; k < end; ++k) rough.rows.push_back(static_cast<float>(table.values[k]));
      rough.rows.insert(rough.rows.end(), static_cast<std::size_t>(width - n_classes), 0);
      continue;
    }
    rough.places[w] = -1 - static_cast<std::int32_t>(rough.cells.size());
    Cell last{0, 0};  // what a row of nothing consists of
    for (auto k = begin; k < end; ++k) {
      const auto c = static_cast<std::uint32_t>(table.classes[k]);
      if (c >= static_cast<std::uint64_t>(n_classes)) continue;  // from a damaged file
      if (k > begin) rough.cells.push_back(std::bit_cast<std::uint64_t>(last));
      last = {c, static_cast<float>(table.values[k])};
    }
    last.c |= last_mark;
    rough.cells.push_back(std::bit_cast<std::uint64_t>(last));
  }
  for (const double value : table.values) rough.largest = std::max(rough.largest, std::abs(value));
  return rough;
}

template <class Value>
std::vector<std::int32_t> best_classes_by(const RoughView& rough, const WordTableView<double>& table,
                                          const Csr<Value>& documents, std::span<const double> bias,
                                          std::span<const double> log_uniform, int n_threads) {
  static const auto add_terms = fastest_add_terms();
  const auto n_classes = std::ssize(bias);
  const auto width = row_width(n_classes);
  std::vector<std::int32_t> best(static_cast<std::size_t>(documents.rows()));
  const auto score_range = [&](std::int64_t begin, std::int64_t end) {
    const auto view = rough;  // copies that no write below can change, so that they stay in registers
    const auto n_words = static_cast<std::uint64_t>(view.places.size());
    const auto n_entries = documents.entries();
    // Both lists are as long as the longest document. Each entry is written to both and stays in one: which
    // one cannot be predicted, and a wrong guess would cost more than a write.
    std::vector<Term> terms;
    std::vector<CellTerm> cell_terms;
    std::vector<float> sums(static_cast<std::size_t>(width));
    std::vector<double> scores(bias.size());
    for (auto d = begin; d < end; ++d) {
      const auto first = documents.indptr[d], last = documents.indptr[d + 1];
      if (std::ssize(terms) < last - first) {
        terms.resize(static_cast<std::size_t>(last - first));
        cell_terms.resize(terms.size());
      }
      auto* next = terms.data();
      auto* next_cells = cell_terms.data();
      double length = 0, size = 0;
      for (auto k = first; k < last; ++k) {
        const auto later = static_cast<std::uint64_t>(documents.indices[std::min(k + ahead, n_entries - 1)]);
        __builtin_prefetch(view.places.data() + (later < n_words ? later : 0));
        const auto w = static_cast<std::uint64_t>(documents.indices[k]);
        if (w >= n_words) continue;
        const auto x = static_cast<double>(documents.values[k]);
        length += x;
        size += std::abs(x);
        const std::int64_t place = view.places[w];
        const bool is_full = place >= 0;
        const float* const row = view.rows.data() + (is_full ? place * width : 0);
        const std::uint64_t* const cells = view.cells.data() + (is_full ? 0 : -1 - place);
        *next = {row, static_cast<float>(x)};
        *next_cells = {cells, static_cast<float>(x)};
        next += is_full;
        next_cells += !is_full;
        __builtin_prefetch(is_full ? static_cast<const void*>(row) : cells);
        for (std::int64_t c = 16; c < std::min<std::int64_t>(width, 64); c += 16) __builtin_prefetch(row + c);
      }
      add_terms({terms.data(), next}, width, sums.data());
      for (const auto* term = cell_terms.data(); term != next_cells; ++term) add_cells(*term, sums);
      for (std::size_t c = 0; c < scores.size(); ++c)
        scores[c] = bias[c] + (length * log_uniform[c] + static_cast<double>(sums[c]));
      // n terms and n additions, each rounded by a share of 2^-24 of what has been summed: e^u - 1, or more.
      const double u = std::ldexp(static_cast<double>(last - first) + 4, -24);
      best[d] = clear_best(scores, 2 * (u + u * u) * view.largest * size);
    }
  };
  parallel_ranges(documents.rows(), rows_per_task(n_classes), n_threads, score_range);

  Selection<Value> unclear;
  for (std::int64_t d = 0; d < documents.rows(); ++d)
    if (best[d] < 0) unclear.add(documents, d);
  const auto exact = best_classes(table, Csr<Value>{unclear.indptr, unclear.indices, unclear.values}, bias,
                                  log_uniform, n_threads);
  auto next = exact.begin();
  for (std::int32_t& c : best)
    if (c < 0) c = *next++;
  return best;
}

template std::vector<std::int32_t> best_classes_by(const RoughView&, const WordTableView<double>&,
                                                   const Csr<float>&, std::span<const double>,
                                                   std::span<const double>, int);
template std::vector<std::int32_t> best_classes_by(const RoughView&, const WordTableView<double>&,
                                                   const Csr<double>&, std::span<const double>,
                                                   std::span<const double>, int);
template std::vector<std::int32_t> best_classes_by(const RoughView&, const WordTableView<double>&,
                                                   const Csr<std::int64_t>&, std::span<const double>,
                                                   std::span<const double>, int);

}  // namespace genus
