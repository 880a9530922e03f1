#include "multinomial.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "parallel.h"

namespace genus {

namespace {

constexpr double one = static_cast<double>(std::int64_t{1} << fraction_bits);
constexpr double limit = 0x1p63;
constexpr std::int64_t grain = 4096;  // rows or words of cheap work per task

[[noreturn]] void throw_overflow() {
  throw std::overflow_error("counts exceed what 64-bit fixed point holds (2**" +
                            std::to_string(63 - fraction_bits) + "); scale the weights down");
}

std::int64_t round_to_fixed(double scaled) {
  if (!(scaled >= 0)) throw std::invalid_argument("counts and weights must be finite and not negative");
  if (scaled >= limit) {
    if (std::isinf(scaled)) throw std::invalid_argument("counts and weights must be finite and not negative");
    throw_overflow();
  }
  return static_cast<std::int64_t>(scaled + 0.5);
}

std::int64_t checked_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) throw_overflow();
  return sum;
}

// Running sums of row lengths held at indptr[w + 1]: turns them into row bounds.
void lengths_to_bounds(std::vector<std::int64_t>& indptr) {
  std::partial_sum(indptr.begin(), indptr.end(), indptr.begin());
}

struct Cell {
  std::int32_t word, class_id;
  std::int64_t count;
};

// Adds up documents order[begin, end), which come in class order, and appends one cell per (class, word).
template <class Value>
std::vector<Cell> count_chunk(const Csr<Value>& documents, std::span<const double> scales,
                              std::span<const std::int32_t> codes, std::span<const std::int64_t> order,
                              std::int64_t n_words) {
  std::vector<Cell> cells;
  std::vector<std::int64_t> sums(static_cast<std::size_t>(n_words), 0);
  std::vector<std::int32_t> touched;
  constexpr std::size_t ahead = 12;  // documents of one class lie apart: ask for them before they are needed
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i + 2 * ahead < order.size()) __builtin_prefetch(&documents.indptr[order[i + 2 * ahead]]);
    if (i + ahead < order.size()) {
      const auto k = documents.indptr[order[i + ahead]];
      __builtin_prefetch(documents.indices.data() + k);
      __builtin_prefetch(documents.values.data() + k);
      __builtin_prefetch(documents.values.data() + k + 8);
    }
    const auto d = order[i];
    for (auto k = documents.indptr[d]; k < documents.indptr[d + 1]; ++k) {
      const auto w = documents.indices[k];
      const auto count = round_to_fixed(static_cast<double>(documents.values[k]) * scales[d]);
      if (static_cast<std::uint64_t>(w) >= static_cast<std::uint64_t>(n_words))
        throw std::invalid_argument("sparse rows: column " + std::to_string(w) + " is outside the matrix");
      if (count == 0) continue;
      if (sums[w] == 0) touched.push_back(w);
      sums[w] = checked_sum(sums[w], count);
    }
    const auto c = codes[d];
    if (i + 1 < order.size() && codes[order[i + 1]] == c) continue;
    for (const auto w : touched) cells.push_back({w, c, std::exchange(sums[w], 0)});
    touched.clear();
  }
  return cells;
}

// Adds neighbouring cells of one class together: a class may have been counted in two chunks.
void add_up_neighbours(WordTable<std::int64_t>& table) {
  std::int64_t to = 0;
  std::int64_t begin = 0;
  for (std::size_t w = 0; w + 1 < table.indptr.size(); ++w) {
    const auto row = to;
    const auto end = table.indptr[w + 1];
    for (auto k = begin; k < end; ++k) {
      if (to > row && table.classes[to - 1] == table.classes[k]) {
        table.values[to - 1] = checked_sum(table.values[to - 1], table.values[k]);
      } else {
        table.classes[to] = table.classes[k];
        table.values[to++] = table.values[k];
      }
    }
    begin = end;
    table.indptr[w + 1] = to;
  }
  table.classes.resize(static_cast<std::size_t>(to));
  table.values.resize(static_cast<std::size_t>(to));
}

// Walks the union of word w's classes in both tables: visit(class, count of a, count of b).
template <class Visit>
void visit_pairs(const WordTableView<std::int64_t>& a, std::span<const std::int32_t> a_ids,
                 const WordTableView<std::int64_t>& b, std::span<const std::int32_t> b_ids, std::int64_t w,
                 Visit&& visit) {
  auto [i, i_end] = w < a.words() ? a.row(w) : Row{0, 0};
  auto [j, j_end] = w < b.words() ? b.row(w) : Row{0, 0};
  while (i < i_end || j < j_end) {
    const auto from_a = i < i_end ? a_ids[a.classes[i]] : std::numeric_limits<std::int32_t>::max();
    const auto from_b = j < j_end ? b_ids[b.classes[j]] : std::numeric_limits<std::int32_t>::max();
    const auto c = std::min(from_a, from_b);
    visit(c, from_a == c ? a.values[i++] : 0, from_b == c ? b.values[j++] : 0);
  }
}

// log of the sum of exp(row), as the sum of two parts: taken off one after the other, they keep more digits.
struct LogSum {
  double largest, log_rest;
};

LogSum log_sum_exp(std::span<const double> row) {
  const auto largest = *std::max_element(row.begin(), row.end());
  if (!std::isfinite(largest)) return {largest, 0};
  double sum = 0;
  for (const auto value : row) sum += std::exp(value - largest);
  return {largest, std::log(sum)};
}

// A full row of a table, to be added x times.
struct Term {
  const double* values;
  double x;
};

// Any other row.
struct PartTerm {
  Row row;
  double x;
};

// Several classes side by side; need not be aligned in memory.
using Four = double __attribute__((vector_size(32), aligned(8)));
using Two = double __attribute__((vector_size(16), aligned(8)));

// sums += sum over terms of x * values, for `count` vectors of classes from c on, held in registers. A chain
// of additions waits for each result: with few vectors, even and odd terms are added apart to have chains
// enough.
template <class Lanes, int count>
inline __attribute__((always_inline)) void add_lanes(std::span<const Term> terms, std::int64_t c,
                                                     double* sums) {
  constexpr std::size_t chains = count < 4 ? 2 : 1;
  Lanes totals[chains][count] = {};
  std::size_t t = 0;
  for (; t + chains <= terms.size(); t += chains)
    for (std::size_t j = 0; j < chains; ++j) {
      const auto* const values = reinterpret_cast<const Lanes*>(terms[t + j].values + c);
      for (int i = 0; i < count; ++i) totals[j][i] += terms[t + j].x * values[i];
    }
  for (int i = 0; t < terms.size() && i < count; ++i)
    totals[0][i] += terms[t].x * reinterpret_cast<const Lanes*>(terms[t].values + c)[i];
  for (std::size_t j = 0; j < chains; ++j)
    for (int i = 0; i < count; ++i) reinterpret_cast<Lanes*>(sums + c)[i] += totals[j][i];
}

inline __attribute__((always_inline)) void add_terms_inline(std::span<const Term> terms, std::int64_t n,
                                                            double* sums) {
  std::int64_t c = 0;
  for (; c + 32 <= n; c += 32) add_lanes<Four, 8>(terms, c, sums);
  if (c + 24 <= n)
    add_lanes<Four, 6>(terms, std::exchange(c, c + 24), sums);
  else if (c + 16 <= n)
    add_lanes<Four, 4>(terms, std::exchange(c, c + 16), sums);
  else if (c + 8 <= n)
    add_lanes<Four, 2>(terms, std::exchange(c, c + 8), sums);
  if (c + 4 <= n) add_lanes<Four, 1>(terms, std::exchange(c, c + 4), sums);
  if (c + 2 <= n) add_lanes<Two, 1>(terms, std::exchange(c, c + 2), sums);
  if (c < n) add_lanes<double, 1>(terms, c, sums);
}

// The widest vectors that the running machine has. No fused multiply-add: every x86-64 gives the same bits.
using AddTerms = void (*)(std::span<const Term>, std::int64_t, double*);
#if defined(__x86_64__)
__attribute__((target("avx2"))) void add_terms_avx2(std::span<const Term> terms, std::int64_t n,
                                                    double* sums) {
  add_terms_inline(terms, n, sums);
}
#endif
void add_terms_portable(std::span<const Term> terms, std::int64_t n, double* sums) {
  add_terms_inline(terms, n, sums);
}
AddTerms fastest_add_terms() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return add_terms_avx2;
#endif
  return add_terms_portable;
}

inline void scatter_row(double x, const WordTableView<double>& table, Row row, std::vector<double>& sums) {
  const auto junk = sums.size() - 1;
  for (auto k = row.begin; k < row.end; ++k)
    sums[std::min<std::size_t>(static_cast<std::uint32_t>(table.classes[k]), junk)] += x * table.values[k];
}

std::int64_t rows_per_task(std::int64_t n_columns) {
  return std::clamp<std::int64_t>((std::int64_t{1} << 14) / std::max<std::int64_t>(n_columns, 1), 1, 64);
}

}  // namespace

Groups group_equal(std::span<const std::uint8_t> items, std::int64_t width) {
  const std::string_view bytes(reinterpret_cast<const char*>(items.data()), items.size());
  const auto n = width > 0 ? std::ssize(items) / width : 0;
  std::unordered_map<std::string_view, std::int32_t> numbers;
  Groups groups;
  groups.codes.resize(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    const auto [entry, is_new] = numbers.try_emplace(bytes.substr(i * width, width), std::ssize(numbers));
    if (is_new) groups.first_places.push_back(i);
    groups.codes[i] = entry->second;
  }
  return groups;
}

bool has_duplicates(std::span<const std::int64_t> indptr, std::span<const std::int32_t> indices,
                    std::int64_t n_words) {
  std::vector<std::int64_t> last_seen(static_cast<std::size_t>(n_words), -1);
  for (std::int64_t d = 0; d + 1 < std::ssize(indptr); ++d)
    for (auto k = indptr[d]; k < indptr[d + 1]; ++k) {
      const std::int64_t w = indices[k];
      if (static_cast<std::uint64_t>(w) < static_cast<std::uint64_t>(n_words) &&
          std::exchange(last_seen[w], d) == d)
        return true;
    }
  return false;
}

template <class Value>
std::vector<std::int64_t> fixed_lengths(const Csr<Value>& documents, int n_threads) {
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(documents.rows()), 0);
  parallel_ranges(documents.rows(), grain, n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto d = begin; d < end; ++d)
      for (auto k = documents.indptr[d]; k < documents.indptr[d + 1]; ++k)
        lengths[d] = checked_sum(lengths[d], round_to_fixed(one * static_cast<double>(documents.values[k])));
  });
  return lengths;
}

template <class Value>
WordTable<std::int64_t> count_by_class(const Csr<Value>& documents, std::span<const double> scales,
                                       std::span<const std::int32_t> codes, std::int64_t n_words,
                                       std::int32_t n_classes, int n_threads) {
  const auto n = documents.rows();
  std::vector<std::int64_t> next(static_cast<std::size_t>(n_classes) + 1, 0);
  for (const auto c : codes) {
    if (static_cast<std::uint32_t>(c) >= static_cast<std::uint32_t>(n_classes))
      throw std::invalid_argument("class numbers do not fit the number of classes");
    ++next[c + 1];
  }
  lengths_to_bounds(next);
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  for (std::int64_t d = 0; d < n; ++d) order[next[codes[d]]++] = d;

  // Chunks of about equal numbers of entries. How they fall does not change the sums.
  const auto n_chunks = std::clamp<std::int64_t>(documents.entries() / (1 << 16), 1, std::max(n_threads, 1));
  std::vector<std::int64_t> bounds{0};
  std::int64_t entries = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    entries += documents.indptr[order[i] + 1] - documents.indptr[order[i]];
    if (entries * n_chunks >= static_cast<std::int64_t>(bounds.size()) * documents.entries() && i + 1 < n &&
        static_cast<std::int64_t>(bounds.size()) < n_chunks)
      bounds.push_back(i + 1);
  }
  bounds.push_back(n);
  std::vector<std::vector<Cell>> chunks(bounds.size() - 1);
  std::vector<std::vector<std::int64_t>> positions(chunks.size());
  parallel_for(std::ssize(chunks), n_threads, [&](std::int64_t i) {
    chunks[i] = count_chunk(documents, scales, codes,
                            std::span(order).subspan(bounds[i], bounds[i + 1] - bounds[i]), n_words);
    positions[i].assign(static_cast<std::size_t>(n_words), 0);
    for (const auto& cell : chunks[i]) ++positions[i][cell.word];
  });

  // Each chunk's cells of a word follow those of the chunk before, which keeps classes in order.
  WordTable<std::int64_t> table;
  table.indptr.assign(static_cast<std::size_t>(n_words) + 1, 0);
  std::int64_t n_cells = 0;
  for (std::int64_t w = 0; w < n_words; ++w) {
    for (auto& position : positions) n_cells += std::exchange(position[w], n_cells);
    table.indptr[w + 1] = n_cells;
  }
  table.classes.resize(static_cast<std::size_t>(n_cells));
  table.values.resize(static_cast<std::size_t>(n_cells));
  parallel_for(std::ssize(chunks), n_threads, [&](std::int64_t i) {
    for (const auto& cell : chunks[i]) {
      const auto k = positions[i][cell.word]++;
      table.classes[k] = cell.class_id;
      table.values[k] = cell.count;
    }
  });
  if (chunks.size() > 1) add_up_neighbours(table);
  return table;
}

WordTable<std::int64_t> combine(const WordTableView<std::int64_t>& a, std::span<const std::int32_t> a_ids,
                                const WordTableView<std::int64_t>& b, std::span<const std::int32_t> b_ids,
                                bool subtract, int n_threads) {
  const auto n_words = std::max(a.words(), b.words());
  const auto result = [subtract](std::int64_t x, std::int64_t y) {
    if (!subtract) return checked_sum(x, y);
    if (y > x) throw std::invalid_argument("counts would fall below zero");
    return x - y;
  };
  WordTable<std::int64_t> table;
  table.indptr.assign(static_cast<std::size_t>(n_words) + 1, 0);
  parallel_ranges(n_words, grain, n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto w = begin; w < end; ++w)
      visit_pairs(a, a_ids, b, b_ids, w, [&](std::int32_t, std::int64_t x, std::int64_t y) {
        table.indptr[w + 1] += result(x, y) != 0;
      });
  });
  lengths_to_bounds(table.indptr);
  table.classes.resize(static_cast<std::size_t>(table.indptr.back()));
  table.values.resize(table.classes.size());
  parallel_ranges(n_words, grain, n_threads, [&](std::int64_t begin, std::int64_t end) {
    auto to = table.indptr[begin];
    for (auto w = begin; w < end; ++w)
      visit_pairs(a, a_ids, b, b_ids, w, [&](std::int32_t c, std::int64_t x, std::int64_t y) {
        if (const auto count = result(x, y); count != 0) {
          table.classes[to] = c;
          table.values[to++] = count;
        }
      });
  });
  return table;
}

std::vector<double> class_totals(const WordTableView<std::int64_t>& counts, std::int32_t n_classes) {
  // Two halves of 32 bits: neither sum can overflow, whatever a table in memory holds.
  const auto n = static_cast<std::size_t>(n_classes);
  std::vector<std::int64_t> high(n, 0), low(n, 0);
  for (std::size_t k = 0; k < counts.values.size(); ++k) {
    high[counts.classes[k]] += counts.values[k] >> 32;
    low[counts.classes[k]] += counts.values[k] & 0xffffffff;
  }
  std::vector<double> totals(n);
  for (std::size_t c = 0; c < n; ++c) {
    const auto carry = low[c] >> 32;
    totals[c] = std::ldexp(static_cast<double>(high[c] + carry), 32 - fraction_bits) +
                std::ldexp(static_cast<double>(low[c] & 0xffffffff), -fraction_bits);
  }
  return totals;
}

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
        table.indptr[w] + (full || 2 * (end - begin) >= n_classes ? n_classes : end - begin);
  }
  table.classes.resize(static_cast<std::size_t>(table.indptr.back()));
  table.values.resize(table.classes.size());
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
        table.values[at] = std::log1p(ratio[c] * (static_cast<double>(counts.values[k]) / one));
      }
    }
  });
  return table;
}

namespace {

// Scores documents one by one: take(d, scores of d) while they are in the cache.
template <class Value, class Take>
void score_each(const WordTableView<double>& table, const Csr<Value>& documents, std::span<const double> bias,
                std::span<const double> log_uniform, int n_threads, Take&& take) {
  static const auto add_terms = fastest_add_terms();
  const auto score_range = [&](std::int64_t begin, std::int64_t end) {
    const auto scores = table;  // copies that no write below can change, so that they stay in registers
    const auto n_classes = std::ssize(bias);
    const bool full = scores.cells() == scores.words() * n_classes;
    // One slot more than there are classes takes what a damaged table says of classes that do not exist.
    std::vector<double> sums(static_cast<std::size_t>(n_classes) + 1);
    // Both lists are as long as the longest document. Each entry is written to both and stays in one: which
    // one cannot be predicted, and a wrong guess would cost more than a write.
    std::vector<Term> full_rows;
    std::vector<PartTerm> part_rows;
    for (auto d = begin; d < end; ++d) {
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
          *next_full++ = {scores.values.data() + w * n_classes, x};
          continue;
        }
        const auto row = scores.row(w);
        const double* const values = scores.values.data() + row.begin;
        __builtin_prefetch(values);
        __builtin_prefetch(values + 8);
        *next_full = {values, x};
        *next_part = {row, x};
        const bool is_full = row.end - row.begin == n_classes;
        next_full += is_full;
        next_part += !is_full;
      }
      for (const auto* part = part_rows.data(); part != next_part; ++part)
        scatter_row(part->x, scores, part->row, sums);
      add_terms({full_rows.data(), next_full}, n_classes, sums.data());
      for (std::int64_t c = 0; c < n_classes; ++c) sums[c] = bias[c] + (length * log_uniform[c] + sums[c]);
      take(d, std::span<const double>(sums).first(n_classes));
    }
  };
  parallel_ranges(documents.rows(), rows_per_task(std::ssize(bias)), n_threads, score_range);
}

// The place of the first of the largest values.
std::int32_t first_largest(std::span<const double> row) {
  std::array<double, 8> largest;  // side by side, so that the comparisons do not wait for one another
  largest.fill(-std::numeric_limits<double>::infinity());
  std::size_t c = 0;
  for (; c + 8 <= row.size(); c += 8)
    for (std::size_t i = 0; i < 8; ++i) largest[i] = largest[i] < row[c + i] ? row[c + i] : largest[i];
  for (; c < row.size(); ++c) largest[0] = std::max(largest[0], row[c]);
  const auto at = std::find(row.begin(), row.end(), *std::max_element(largest.begin(), largest.end()));
  return at == row.end() ? 0 : static_cast<std::int32_t>(at - row.begin());  // none where nothing is a number
}

}  // namespace

template <class Value>
void score(const WordTableView<double>& table, const Csr<Value>& documents, std::span<const double> bias,
           std::span<const double> log_uniform, std::span<double> out, int n_threads) {
  score_each(table, documents, bias, log_uniform, n_threads,
             [&](std::int64_t d, std::span<const double> scores) {
               std::copy(scores.begin(), scores.end(), out.begin() + d * std::ssize(scores));
             });
}

template <class Value>
std::vector<std::int32_t> best_classes(const WordTableView<double>& table, const Csr<Value>& documents,
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
  parallel_ranges(documents.rows(), 64, n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto d = begin; d < end; ++d) {
      double sum = 0;
      for (auto k = documents.indptr[d]; k < documents.indptr[d + 1]; ++k) {
        const std::int64_t w = documents.indices[k];
        std::int64_t count = 0;
        if (static_cast<std::uint64_t>(w) < static_cast<std::uint64_t>(counts.words())) {
          const auto [from, to] = counts.row(w);
          const auto* const last = counts.classes.data() + to;
          const auto* const at = std::lower_bound(counts.classes.data() + from, last, codes[d]);
          if (at != last && *at == codes[d]) count = counts.values[at - counts.classes.data()];
        }
        const auto x = static_cast<double>(documents.values[k]);
        const auto part = round_to_fixed(x * scales[d]);
        if (count < part)
          throw std::invalid_argument("document " + std::to_string(d) + " was not learned in this class");
        sum += x * std::log1p(ratio[d] * (static_cast<double>(count - part) / one));
      }
      own[d] = sum;
    }
  });
  return own;
}

void normalize_log_rows(std::span<double> scores, std::int64_t n_columns, int n_threads) {
  const auto n = n_columns > 0 ? std::ssize(scores) / n_columns : 0;
  parallel_ranges(n, rows_per_task(n_columns), n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto d = begin; d < end; ++d) {
      const auto row = scores.subspan(d * n_columns, n_columns);
      const auto [largest, log_rest] = log_sum_exp(row);
      if (std::isinf(largest)) continue;
      for (auto& value : row) value = (value - largest) - log_rest;
    }
  });
}

Top top_of_rows(std::span<const double> scores, std::int64_t n_columns, std::int64_t k, int n_threads) {
  const auto n = std::ssize(scores) / n_columns;
  Top top{std::vector<std::int32_t>(n * k), std::vector<double>(n * k)};
  parallel_ranges(n, rows_per_task(n_columns), n_threads, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::int32_t> order(static_cast<std::size_t>(n_columns));
    for (auto d = begin; d < end; ++d) {
      const auto row = scores.subspan(d * n_columns, n_columns);
      std::iota(order.begin(), order.end(), 0);
      std::partial_sort(order.begin(), order.begin() + k, order.end(), [row](std::int32_t a, std::int32_t b) {
        return row[a] > row[b] || (row[a] == row[b] && a < b);
      });
      const auto [largest, log_rest] = log_sum_exp(row);
      for (std::int64_t i = 0; i < k; ++i) {
        top.columns[d * k + i] = order[i];
        top.probabilities[d * k + i] = std::exp((row[order[i]] - largest) - log_rest);
      }
    }
  });
  return top;
}

template std::vector<std::int64_t> fixed_lengths(const Csr<float>&, int);
template std::vector<std::int64_t> fixed_lengths(const Csr<double>&, int);
template std::vector<std::int64_t> fixed_lengths(const Csr<std::int64_t>&, int);
template WordTable<std::int64_t> count_by_class(const Csr<float>&, std::span<const double>,
                                                std::span<const std::int32_t>, std::int64_t, std::int32_t,
                                                int);
template WordTable<std::int64_t> count_by_class(const Csr<double>&, std::span<const double>,
                                                std::span<const std::int32_t>, std::int64_t, std::int32_t,
                                                int);
template WordTable<std::int64_t> count_by_class(const Csr<std::int64_t>&, std::span<const double>,
                                                std::span<const std::int32_t>, std::int64_t, std::int32_t,
                                                int);
template void score(const WordTableView<double>&, const Csr<float>&, std::span<const double>,
                    std::span<const double>, std::span<double>, int);
template void score(const WordTableView<double>&, const Csr<double>&, std::span<const double>,
                    std::span<const double>, std::span<double>, int);
template void score(const WordTableView<double>&, const Csr<std::int64_t>&, std::span<const double>,
                    std::span<const double>, std::span<double>, int);
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
