#include "rough_table.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

#include "multinomial.h"
#include "parallel.h"
#include "scores.h"
#include "tree_scores.h"

namespace genus {
namespace {

constexpr std::int64_t ahead = 24;  // entries between the call for a word's place and its use
constexpr std::int64_t lanes = 8;
using Lanes __attribute__((vector_size(lanes * sizeof(float)))) = float;

std::int64_t row_width(std::int64_t n_classes) {
  return (n_classes + lanes - 1) / lanes * lanes;
}

// Rows of so many vectors, in so many bytes, are kept for all words, in their order: in one of the larger
// caches an entry of nothing costs less than finding out that it is not there.
constexpr int most_in_order = 4;
constexpr std::int64_t bytes_in_order = std::int64_t{1} << 24;
bool are_in_order(std::int64_t n_words, std::int64_t width) {
  return width <= most_in_order * lanes &&
         n_words * width <= bytes_in_order / static_cast<std::int64_t>(sizeof(float));
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

// What a document adds up to.
struct Sums {
  std::vector<float> scores;  // by class
  double length = 0;          // of the words' weights
  double size = 0;            // the same without their signs
};

// The sums of entries first ... last - 1, where word w has row w of `count` vectors.
template <int count, class Value>
inline __attribute__((always_inline)) void add_rows_inline(std::span<const float> rows,
                                                           const Csr<Value>& documents, std::int64_t first,
                                                           std::int64_t last, Sums& sums) {
  constexpr std::int64_t width = count * lanes, ahead = 16;
  const float* const start = rows.data();
  const auto n_words = static_cast<std::uint64_t>(std::ssize(rows) / width);
  const auto last_entry = documents.entries() - 1;
  double length = 0, size = 0;
  Lanes totals[count] = {};
  for (auto k = first; k < last; ++k) {
    const auto later = static_cast<std::uint64_t>(documents.indices[std::min(k + ahead, last_entry)]);
    const float* const later_row = start + (later < n_words ? later : 0) * width;
    __builtin_prefetch(later_row);
    __builtin_prefetch(later_row + width - 1);
    const auto w = static_cast<std::uint64_t>(documents.indices[k]);
    if (w >= n_words) continue;
    const auto x = static_cast<double>(documents.values[k]);
    length += x;
    size += std::abs(x);
    for (int i = 0; i < count; ++i) {
      Lanes values;
      std::memcpy(&values, start + w * width + i * lanes, sizeof values);
      totals[i] += static_cast<float>(x) * values;
    }
  }
  std::memcpy(sums.scores.data(), totals, sizeof totals);
  sums.length = length;
  sums.size = size;
}

template <class Value>
using AddRows = void (*)(std::span<const float>, const Csr<Value>&, std::int64_t, std::int64_t, Sums&);
#if defined(__x86_64__)
template <int count, class Value>
__attribute__((target("avx2"))) void add_rows_avx2(std::span<const float> rows, const Csr<Value>& documents,
                                                   std::int64_t first, std::int64_t last, Sums& sums) {
  add_rows_inline<count>(rows, documents, first, last, sums);
}
#endif
template <int count, class Value>
void add_rows_portable(std::span<const float> rows, const Csr<Value>& documents, std::int64_t first,
                       std::int64_t last, Sums& sums) {
  add_rows_inline<count>(rows, documents, first, last, sums);
}
template <int count, class Value>
AddRows<Value> fastest_add_rows(std::int64_t width) {
  if (width > count * lanes)
    if constexpr (count < most_in_order) return fastest_add_rows<count + 1, Value>(width);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return add_rows_avx2<count, Value>;
#endif
  return add_rows_portable<count, Value>;
}

// The sums of documents whose words have places. Belongs to one thread.
template <class Value>
class Gatherer {
 public:
  Gatherer(const RoughView& rough, const Csr<Value>& documents, std::int64_t width)
      : rough_(rough), documents_(documents), width_(width) {}

  void operator()(std::int64_t first, std::int64_t last, Sums& sums) {
    static const auto add_terms = fastest_add_terms();
    // Both lists are as long as the longest document. Each entry is written to both and stays in one: which
    // one cannot be predicted, and a wrong guess would cost more than a write.
    if (std::ssize(terms_) < last - first) {
      terms_.resize(static_cast<std::size_t>(last - first));
      cell_terms_.resize(terms_.size());
    }
    const auto view = rough_;  // copies that no write below can change, so that they stay in registers
    const auto width = width_;
    const auto asked = std::min<std::int64_t>(width * static_cast<std::int64_t>(sizeof(float)), 256);
    const auto n_words = static_cast<std::uint64_t>(view.places.size());
    const auto n_entries = documents_.entries();
    auto* next = terms_.data();
    auto* next_cells = cell_terms_.data();
    double length = 0, size = 0;
    for (auto k = first; k < last; ++k) {
      const auto later = static_cast<std::uint64_t>(documents_.indices[std::min(k + ahead, n_entries - 1)]);
      __builtin_prefetch(view.places.data() + (later < n_words ? later : 0));
      const auto w = static_cast<std::uint64_t>(documents_.indices[k]);
      if (w >= n_words) continue;
      const auto x = static_cast<double>(documents_.values[k]);
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
      const auto* const lines =
          is_full ? reinterpret_cast<const char*>(row) : reinterpret_cast<const char*>(cells);
      for (std::int64_t at = 0; at < asked; at += 64) __builtin_prefetch(lines + at);
    }
    add_terms({terms_.data(), next}, width, sums.scores.data());
    std::fill(sums.scores.begin() + width, sums.scores.end(), 0.0F);
    for (const auto* term = cell_terms_.data(); term != next_cells; ++term) add_cells(*term, sums.scores);
    sums.length = length;
    sums.size = size;
  }

 private:
  const RoughView rough_;
  const Csr<Value> documents_;
  const std::int64_t width_;
  std::vector<Term> terms_;
  std::vector<CellTerm> cell_terms_;
};

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

// What the inner columns of a tree add to the classes below them.
class InnerSums {
 public:
  explicit InnerSums(const ColumnTree& columns) {
    if (columns.parents.empty()) return;
    sums_.resize(
        static_cast<std::size_t>(columns.size() - columns.n_classes + 1));  // the first for no parent
    for (const auto parent : columns.parents)
      above_.push_back(parent < 0 ? 0 : parent - static_cast<std::int32_t>(columns.n_classes) + 1);
  }

  void add(std::span<const float> sums, std::span<double> scores) {
    if (sums_.empty()) return;
    const auto n = scores.size();
    for (std::size_t i = 1; i < sums_.size(); ++i)
      sums_[i] = sums_[above_[n + i - 1]] + static_cast<double>(sums[n + i - 1]);
    for (std::size_t c = 0; c < n; ++c) scores[c] += sums_[above_[c]];
  }

 private:
  std::vector<std::int32_t> above_;  // where the parent's sum lies
  std::vector<double> sums_;
};

// A number for each column, summed along the paths of classes.
std::vector<double> of_classes(std::span<const double> numbers, const ColumnTree& columns) {
  std::vector<double> sums(numbers.begin(), numbers.end());
  columns.add_up(sums.data());
  sums.resize(static_cast<std::size_t>(columns.n_classes));
  return sums;
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

// Writes a table word by word.
class RoughWriter {
 public:
  RoughWriter(const ColumnTree& columns, bool in_order)
      : columns_(columns), in_order_(in_order), row_(static_cast<std::size_t>(columns.size()), 0.0) {}

  // The next word's scores, by column. Columns from a damaged file may be none.
  void add(std::span<const std::int32_t> ids, std::span<const double> values) {
    const auto each = [&](auto&& take) {
      for (std::size_t k = 0; k < ids.size(); ++k)
        if (static_cast<std::uint32_t>(ids[k]) < row_.size()) take(ids[k], values[k]);
    };
    each([&](std::int32_t column, double value) { row_[column] = value; });
    each([&](std::int32_t column, double) {
      table_.largest = std::max(table_.largest, columns_.size_up(row_.data(), column));
    });
    if (in_order_ || std::ssize(ids) == columns_.size()) {
      add_row();
      std::fill(row_.begin(), row_.end(), 0.0);
    } else {
      table_.places.push_back(-1 - static_cast<std::int32_t>(table_.cells.size()));
      Cell last{0, 0};  // what a row of nothing consists of
      bool is_first = true;
      each([&](std::int32_t column, double value) {
        if (!std::exchange(is_first, false)) table_.cells.push_back(std::bit_cast<std::uint64_t>(last));
        last = {static_cast<std::uint32_t>(column), static_cast<float>(value)};
      });
      last.c |= last_mark;
      table_.cells.push_back(std::bit_cast<std::uint64_t>(last));
      each([&](std::int32_t column, double) { row_[column] = 0; });
    }
  }

  RoughTable take() { return std::move(table_); }

 private:
  void add_row() {
    const auto width = row_width(columns_.n_classes);
    if (!in_order_) table_.places.push_back(static_cast<std::int32_t>(std::ssize(table_.rows) / width));
    columns_.add_up(row_.data());
    const auto end = row_.begin() + columns_.n_classes;
    std::transform(row_.begin(), end, std::back_inserter(table_.rows),
                   [](double value) { return static_cast<float>(value); });
    table_.rows.insert(table_.rows.end(), static_cast<std::size_t>(width - columns_.n_classes), 0);
  }

  ColumnTree columns_;
  bool in_order_;
  std::vector<double> row_;  // of a word, zeros in between
  RoughTable table_;
};

}  // namespace

RoughTable make_rough(const WordTableView<double>& table, const ColumnTree& columns) {
  RoughWriter writer(columns, are_in_order(table.words(), row_width(columns.n_classes)));
  for (std::int64_t w = 0; w < table.words(); ++w) {
    const auto [begin, end] = table.row(w);
    writer.add(table.classes.subspan(begin, end - begin), table.values.subspan(begin, end - begin));
  }
  return writer.take();
}

bool fits(const RoughView& rough, std::int64_t n_words, std::int64_t n_classes) {
  const auto width = row_width(n_classes);
  return are_in_order(n_words, width) ? rough.places.empty() && std::ssize(rough.rows) == n_words * width
                                      : std::ssize(rough.places) == n_words;
}

template <class Value>
std::vector<std::int32_t> best_classes_by(const RoughView& rough, const WordTableView<double>& table,
                                          const Csr<Value>& documents, std::span<const double> bias,
                                          std::span<const double> log_uniform, const ColumnTree& columns,
                                          int n_threads) {
  const auto width = row_width(columns.n_classes);
  const auto class_bias = of_classes(bias, columns), class_uniform = of_classes(log_uniform, columns);
  const auto add_rows = fastest_add_rows<1, Value>(width);
  std::vector<std::int32_t> best(static_cast<std::size_t>(documents.rows()));
  const auto score_range = [&](std::int64_t begin, std::int64_t end) {
    Gatherer<Value> gather(rough, documents, width);
    Sums sums{std::vector<float>(static_cast<std::size_t>(std::max(width, columns.size())))};
    std::vector<double> scores(class_bias.size());
    InnerSums inner(columns);
    for (auto d = begin; d < end; ++d) {
      const auto first = documents.indptr[d], last = documents.indptr[d + 1];
      const bool in_order = rough.places.empty();
      in_order ? add_rows(rough.rows, documents, first, last, sums) : gather(first, last, sums);
      for (std::size_t c = 0; c < scores.size(); ++c)
        scores[c] = class_bias[c] + (sums.length * class_uniform[c] + static_cast<double>(sums.scores[c]));
      if (!in_order) inner.add(sums.scores, scores);
      // n terms and n additions, each rounded by a share of 2^-24 of what has been summed: e^u - 1, or more.
      const double u = std::ldexp(static_cast<double>(last - first) + 4, -24);
      best[d] = clear_best(scores, 2 * (u + u * u) * rough.largest * sums.size);
    }
  };
  parallel_ranges(documents.rows(), rows_per_task(columns.size()), n_threads, score_range);

  Selection<Value> unclear;
  for (std::int64_t d = 0; d < documents.rows(); ++d)
    if (best[d] < 0) unclear.add(documents, d);
  const Csr<Value> rows{unclear.indptr, unclear.indices, unclear.values};
  const auto exact = columns.parents.empty()
                         ? best_classes(table, rows, bias, log_uniform, n_threads)
                         : best_classes_of_paths(table, rows, bias, log_uniform, columns, n_threads);
  auto next = exact.begin();
  for (std::int32_t& c : best)
    if (c < 0) c = *next++;
  return best;
}

template std::vector<std::int32_t> best_classes_by(const RoughView&, const WordTableView<double>&,
                                                   const Csr<float>&, std::span<const double>,
                                                   std::span<const double>, const ColumnTree&, int);
template std::vector<std::int32_t> best_classes_by(const RoughView&, const WordTableView<double>&,
                                                   const Csr<double>&, std::span<const double>,
                                                   std::span<const double>, const ColumnTree&, int);
template std::vector<std::int32_t> best_classes_by(const RoughView&, const WordTableView<double>&,
                                                   const Csr<std::int64_t>&, std::span<const double>,
                                                   std::span<const double>, const ColumnTree&, int);

}  // namespace genus
