#include "tables/score_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "base/fixed_point.h"
#include "base/parallel.h"
#include "base/vector_loops.h"
#include "tables/log_rows.h"
#include "tables/term_sums.h"

namespace genus {
namespace {

constexpr std::int64_t grain = 4096;  // words of cheap work per task

// A row that is not full, to be added x times.
struct PartTerm {
  Row row;
  double x;
};

template <class Real>
inline void scatter_row(double x, const WordTableView<Real>& table, Row row, std::vector<double>& sums) {
  const auto junk = sums.size() - 1;
  for (auto k = row.begin; k < row.end; ++k)
    sums[std::min<std::size_t>(static_cast<std::uint32_t>(table.classes[k]), junk)] += x * table.values[k];
}

}  // namespace

WordTable<double> build_table(const WordTableView<std::int64_t>& counts, std::span<const double> ratio,
                              int n_threads) {
  const auto n_words = counts.words();
  const auto n_classes = std::ssize(ratio);
  WordTable<double> table;
  table.indptr.assign(static_cast<std::size_t>(n_words) + 1, 0);
  const bool full = 2 * counts.cells() >= n_words * n_classes;
  for (std::int64_t w = 0; w < n_words; ++w) {
    const auto [begin, end] = counts.row(w);
    table.indptr[w + 1] =
        table.indptr[w] + (full || 4 * (end - begin) >= n_classes ? n_classes : end - begin);
  }
  table.classes.resize(static_cast<std::size_t>(table.indptr.back()));
  table.values.resize(table.classes.size());
  const auto& kernels = vector_loops();
  parallel_ranges(n_words, grain / 8, n_threads, [&](std::int64_t first, std::int64_t last) {
    for (auto w = first; w < last; ++w) {
      const auto [begin, end] = counts.row(w);
      const auto to = table.indptr[w];
      const auto dense = table.indptr[w + 1] - to == n_classes;
      if (dense) std::iota(table.classes.begin() + to, table.classes.begin() + to + n_classes, 0);
      for (auto k = begin; k < end; ++k) {
        const auto c = counts.classes[k];
        const auto at = dense ? to + c : to + k - begin;
        table.classes[at] = c;
        table.values[at] = ratio[c] * (static_cast<double>(counts.values[k]) / one);
      }
    }
    kernels.log1p(table.values.data() + table.indptr[first], table.indptr[last] - table.indptr[first]);
  });
  return table;
}

namespace {

// Two classes and a full table, the common case of yes and no: a row is one vector, and the sums stay in
// registers. Documents' entries go round four of them, since each addition waits for the one before.
template <class Real, class Value>
inline __attribute__((always_inline)) std::array<double, 2> score_two(const WordTableView<Real>& table,
                                                                      const Csr<Value>& documents,
                                                                      std::int64_t d, double& length) {
  using Pair __attribute__((vector_size(2 * sizeof(Real)))) = Real;
  using Two __attribute__((vector_size(16))) = double;
  constexpr int chains = 4;
  Two sums[chains] = {};
  double lengths[chains] = {};
  const auto add = [&](std::int64_t k, int chain) {
    const std::int64_t w = documents.indices[k];
    if (!table.has(w)) return;
    const auto x = static_cast<double>(documents.values[k]);
    Pair values;
    std::memcpy(&values, table.values.data() + 2 * w, sizeof values);
    sums[chain] += x * __builtin_convertvector(values, Two);
    lengths[chain] += x;
  };
  auto k = documents.indptr[d];
  const auto last = documents.indptr[d + 1];
  for (; k + chains <= last; k += chains)
    for (int chain = 0; chain < chains; ++chain) add(k + chain, chain);
  for (; k < last; ++k) add(k, 0);
  const Two sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  length = (lengths[0] + lengths[1]) + (lengths[2] + lengths[3]);
  return {sum[0], sum[1]};
}

// Scores documents one by one: take(d, scores of d) while they are in the cache.
template <class Real, class Value, class Take>
void score_each(const WordTableView<Real>& table, const Csr<Value>& documents, std::span<const double> bias,
                std::span<const double> log_uniform, int n_threads, Take&& take) {
  static const auto add_terms = std::get<AddTerms<Real>>(term_sums());
  const auto score_range = [&](std::int64_t begin, std::int64_t end) {
    const auto scores = table;  // copies that no write below can change, so that they stay in registers
    const auto n_classes = std::ssize(bias);
    constexpr std::int64_t line = 64 / sizeof(Real);  // values that come together
    const bool full = scores.cells() == scores.words() * n_classes;
    // One slot more than there are classes takes what a damaged table says of classes that do not exist.
    std::vector<double> sums(static_cast<std::size_t>(n_classes) + 1);
    // Both lists are as long as the longest document. Each entry is written to both and stays in one: which
    // one cannot be predicted, and a wrong guess would cost more than a write.
    std::vector<Term<Real>> full_rows;
    std::vector<PartTerm> part_rows;
    for (auto d = begin; d < end; ++d) {
      if (full && n_classes == 2) {
        double length = 0;
        const auto pair = score_two(scores, documents, d, length);
        for (std::size_t c = 0; c < 2; ++c) sums[c] = bias[c] + (length * log_uniform[c] + pair[c]);
        take(d, std::span<const double>(sums).first(2));
        continue;
      }
      std::fill(sums.begin(), sums.end(), 0.0);
      const auto first = documents.indptr[d];
      const auto last = documents.indptr[d + 1];
      if (std::ssize(full_rows) < last - first) {
        full_rows.resize(static_cast<std::size_t>(last - first));
        part_rows.resize(full_rows.size());
      }
      auto* next_full = full_rows.data();
      auto* next_part = part_rows.data();
      double length = 0;
      for (auto k = first; k < last; ++k) {
        const std::int64_t w = documents.indices[k];
        if (!scores.has(w)) continue;
        const auto x = static_cast<double>(documents.values[k]);
        length += x;
        if (full) {
          *next_full++ = {scores.values.data() + w * n_classes, static_cast<Real>(x)};
          continue;
        }
        const auto row = scores.row(w);
        const Real* const values = scores.values.data() + row.begin;
        for (std::int64_t c = 0; c < std::min<std::int64_t>(row.end - row.begin, 4 * line); c += line)
          __builtin_prefetch(values + c);
        *next_full = {values, static_cast<Real>(x)};
        *next_part = {row, x};
        const bool is_full = row.end - row.begin == n_classes;
        next_full += is_full;
        next_part += !is_full;
      }
      for (const auto* part = part_rows.data(); part != next_part; ++part)
        scatter_row(part->x, scores, part->row, sums);
      add_terms({full_rows.data(), next_full}, n_classes, sums.data());
      // Puurula and Myaeng 2013, Algorithm 1, lines 8, 10 and 23
      for (std::int64_t c = 0; c < n_classes; ++c) sums[c] = bias[c] + (length * log_uniform[c] + sums[c]);
      take(d, std::span<const double>(sums).first(n_classes));
    }
  };
  parallel_ranges(documents.rows(), rows_per_task(std::ssize(bias)), n_threads, score_range);
}

// The count of word w in class c, 0 where it has none.
std::int64_t count_of(const WordTableView<std::int64_t>& counts, std::int64_t w, std::int32_t c) {
  if (static_cast<std::uint64_t>(w) >= static_cast<std::uint64_t>(counts.words())) return 0;
  const auto [from, to] = counts.row(w);
  // Where all classes have the word, this is the place.
  if (c >= 0 && c < to - from && counts.classes[from + c] == c) return counts.values[from + c];
  const auto* const last = counts.classes.data() + to;
  const auto* const at = std::lower_bound(counts.classes.data() + from, last, c);
  return at != last && *at == c ? counts.values[at - counts.classes.data()] : 0;
}

}  // namespace

template <class Real, class Value>
void score(const WordTableView<Real>& table, const Csr<Value>& documents, std::span<const double> bias,
           std::span<const double> log_uniform, std::span<double> out, int n_threads) {
  score_each(table, documents, bias, log_uniform, n_threads,
             [&](std::int64_t d, std::span<const double> scores) {
               std::copy(scores.begin(), scores.end(), out.begin() + d * std::ssize(scores));
             });
}

template <class Real, class Value>
std::vector<std::int32_t> best_classes(const WordTableView<Real>& table, const Csr<Value>& documents,
                                       std::span<const double> bias, std::span<const double> log_uniform,
                                       int n_threads) {
  std::vector<std::int32_t> best(static_cast<std::size_t>(documents.rows()));
  score_each(table, documents, bias, log_uniform, n_threads,
             [&](std::int64_t d, std::span<const double> scores) { best[d] = first_largest(scores); });
  return best;
}

template <class Value>
std::vector<double> score_without_self(const WordTableView<std::int64_t>& counts, const Csr<Value>& documents,
                                       std::span<const double> scales, std::span<const std::int32_t> codes,
                                       std::span<const double> ratio, int n_threads) {
  std::vector<double> own(static_cast<std::size_t>(documents.rows()));
  const auto& kernels = vector_loops();
  parallel_ranges(documents.rows(), 64, n_threads, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> logs;
    for (auto d = begin; d < end; ++d) {
      const auto first = documents.indptr[d];
      logs.resize(static_cast<std::size_t>(documents.indptr[d + 1] - first));
      for (std::size_t i = 0; i < logs.size(); ++i) {
        const auto count = count_of(counts, documents.indices[first + i], codes[d]);
        const auto part = round_to_fixed(static_cast<double>(documents.values[first + i]) * scales[d]);
        if (count < part)
          throw std::invalid_argument("document " + std::to_string(d) + " was not learned in this class");
        logs[i] = ratio[d] * (static_cast<double>(count - part) / one);
      }
      kernels.log1p(logs.data(), std::ssize(logs));
      for (std::size_t i = 0; i < logs.size(); ++i)
        own[d] += static_cast<double>(documents.values[first + i]) * logs[i];
    }
  });
  return own;
}

template void score(const WordTableView<float>&, const Csr<float>&, std::span<const double>,
                    std::span<const double>, std::span<double>, int);
template void score(const WordTableView<float>&, const Csr<double>&, std::span<const double>,
                    std::span<const double>, std::span<double>, int);
template void score(const WordTableView<float>&, const Csr<std::int64_t>&, std::span<const double>,
                    std::span<const double>, std::span<double>, int);
template void score(const WordTableView<double>&, const Csr<float>&, std::span<const double>,
                    std::span<const double>, std::span<double>, int);
template void score(const WordTableView<double>&, const Csr<double>&, std::span<const double>,
                    std::span<const double>, std::span<double>, int);
template void score(const WordTableView<double>&, const Csr<std::int64_t>&, std::span<const double>,
                    std::span<const double>, std::span<double>, int);
template std::vector<std::int32_t> best_classes(const WordTableView<float>&, const Csr<float>&,
                                                std::span<const double>, std::span<const double>, int);
template std::vector<std::int32_t> best_classes(const WordTableView<float>&, const Csr<double>&,
                                                std::span<const double>, std::span<const double>, int);
template std::vector<std::int32_t> best_classes(const WordTableView<float>&, const Csr<std::int64_t>&,
                                                std::span<const double>, std::span<const double>, int);
template std::vector<std::int32_t> best_classes(const WordTableView<double>&, const Csr<float>&,
                                                std::span<const double>, std::span<const double>, int);
template std::vector<std::int32_t> best_classes(const WordTableView<double>&, const Csr<double>&,
                                                std::span<const double>, std::span<const double>, int);
template std::vector<std::int32_t> best_classes(const WordTableView<double>&, const Csr<std::int64_t>&,
                                                std::span<const double>, std::span<const double>, int);
template std::vector<double> score_without_self(const WordTableView<std::int64_t>&, const Csr<float>&,
                                                std::span<const double>, std::span<const std::int32_t>,
                                                std::span<const double>, int);
template std::vector<double> score_without_self(const WordTableView<std::int64_t>&, const Csr<double>&,
                                                std::span<const double>, std::span<const std::int32_t>,
                                                std::span<const double>, int);
template std::vector<double> score_without_self(const WordTableView<std::int64_t>&, const Csr<std::int64_t>&,
                                                std::span<const double>, std::span<const std::int32_t>,
                                                std::span<const double>, int);

}  // namespace genus
