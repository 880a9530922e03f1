#include "tables/quantized_scores.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/parallel.h"
#include "tables/log_rows.h"
#include "tables/path_scores.h"
#include "tables/quantized_kernels.h"
#include "tables/score_table.h"

namespace genus {
namespace {

// What a document adds up to.
struct Sums {
  std::vector<float> scores;  // by class, then by inner column
  double length = 0;          // of the words' weights
  double size = 0;            // the same without their signs
  double rare = 0;            // of this, the words that have cells
};

// Rows and cells with places

struct CellTerm {
  const std::uint64_t* cells;
  float x;
};

// sums += x * the cells of a row.
void add_cells(CellTerm term, std::vector<float>& sums) {
  for (const std::uint64_t* at = term.cells;; ++at) {
    const auto cell = std::bit_cast<QuantizedCell>(*at);
    sums[cell.column & ~last_mark] += term.x * cell.value;
    if (cell.column & last_mark) return;
  }
}

// Asks for every other of some cache lines: where they lie far away, machines fetch them in pairs.
inline void call_for(const void* at, int n_pairs) {
  for (int i = 0; i < n_pairs; ++i) __builtin_prefetch(static_cast<const char*>(at) + 128 * i);
}

// The sums of documents whose words have places. Belongs to one thread.
template <class Value>
class Gatherer {
 public:
  Gatherer(const QuantizedTableView& quantized, const Csr<Value>& documents, std::int64_t width)
      : quantized_(quantized), documents_(documents), width_(width) {}

  void operator()(std::int64_t first, std::int64_t last, Sums& sums) {
    static const auto add_terms = quantized_kernels().add_terms;
    constexpr std::int64_t ahead = 24;  // entries between the call for a word's place and its use
    if (std::ssize(terms_) < last - first) terms_.resize(static_cast<std::size_t>(last - first));
    cell_terms_.clear();
    const auto* const places = quantized_.places.data();
    const auto n_words = static_cast<std::uint64_t>(quantized_.places.size());
    const auto last_entry = documents_.entries() - 1;
    auto* next = terms_.data();
    double length = 0, size = 0, rare = 0;
    for (auto k = first; k < last; ++k) {
      const auto later = static_cast<std::uint64_t>(documents_.indices[std::min(k + ahead, last_entry)]);
      __builtin_prefetch(places + (later < n_words ? later : 0));
      const auto w = static_cast<std::uint64_t>(documents_.indices[k]);
      if (w >= n_words) continue;
      const auto x = static_cast<double>(documents_.values[k]);
      length += x;
      size += std::abs(x);
      const auto place = places[w];
      if (place >= 0) [[likely]] {
        *next++ = {place, static_cast<float>(x)};
        call_for(quantized_.steps.data() + place * width_, 3);
      } else {
        cell_terms_.push_back({quantized_.cells.data() + (-1 - place), static_cast<float>(x)});
        call_for(cell_terms_.back().cells, 2);
        rare += std::abs(x);
      }
    }
    add_terms({terms_.data(), next}, quantized_.steps.data(), width_, sums.scores.data());
    std::fill(sums.scores.begin() + width_, sums.scores.end(), 0.0F);
    for (const auto& term : cell_terms_) add_cells(term, sums.scores);
    sums.length = length;
    sums.size = size;
    sums.rare = rare;
  }

 private:
  const QuantizedTableView quantized_;
  const Csr<Value> documents_;
  const std::int64_t width_;
  std::vector<RowTerm> terms_;  // as many as the longest document has entries
  std::vector<CellTerm> cell_terms_;
};

// What the inner columns of a tree add to the classes below them.
class InnerSums {
 public:
  explicit InnerSums(const ColumnTree& columns)
      : n_classes_(static_cast<std::size_t>(columns.n_classes)),
        sums_(static_cast<std::size_t>(columns.size() - columns.n_classes + 1), 0.0) {
    for (const auto parent : columns.parents)
      above_.push_back(parent < 0 ? 0 : parent - static_cast<std::int32_t>(columns.n_classes) + 1);
  }

  // The sums of columns, in units of `step`, added up from the top down.
  void load(std::span<const float> sums, double step) {
    greatest_ = 0;
    for (std::size_t i = 1; i < sums_.size(); ++i) {
      const auto column = n_classes_ + i - 1;
      sums_[i] = sums_[above_[column]] + step * static_cast<double>(sums[column]);
      greatest_ = std::max(greatest_, sums_[i]);
    }
  }

  double greatest() const { return greatest_; }  // that a class may have
  double operator[](std::size_t c) const { return above_.empty() ? 0.0 : sums_[above_[c]]; }

 private:
  const std::size_t n_classes_;
  std::vector<std::int32_t> above_;  // where the parent's sum lies
  std::vector<double> sums_;         // the first for no parent
  double greatest_ = 0;
};

// Bias and uniform of classes, summed along their paths and filled up with classes that are never the best.
struct ClassBase {
  std::vector<double> bias, uniform;
  double largest_bias = 0, largest_uniform = 0;

  ClassBase(std::span<const double> column_bias, std::span<const double> column_uniform,
            const ColumnTree& columns, std::int64_t width)
      : bias(column_bias.begin(), column_bias.end()), uniform(column_uniform.begin(), column_uniform.end()) {
    for (auto* const numbers : {&bias, &uniform}) {
      columns.add_up(numbers->data());
      numbers->resize(static_cast<std::size_t>(columns.n_classes));
    }
    for (const double b : bias)
      if (std::isfinite(b)) largest_bias = std::max(largest_bias, std::abs(b));
    for (const double u : uniform) largest_uniform = std::max(largest_uniform, std::abs(u));
    bias.resize(static_cast<std::size_t>(width), -std::numeric_limits<double>::infinity());
    uniform.resize(static_cast<std::size_t>(width), 0.0);
  }
};

// How far two scores of a document of n entries may be off together, from those that `Real` gives. A word
// with steps is off by half a one, a word with cells by what was left out. n terms and n additions are
// rounded by a share of 2^-24 of what has been summed: e^u - 1, or more. The scores that decide in the end
// are rounded too: those of a table in single precision some terms at a time (term_sums.h), and all in double
// precision.
template <class Real>
double rounding(const QuantizedTableView& quantized, const ClassBase& base, std::int64_t n,
                const Sums& sums) {
  constexpr double single = std::is_same_v<Real, float> ? 0x1p-19 : 0.0;
  const auto roundings = static_cast<double>(n) + 4;
  const double u = std::ldexp(roundings, -24), share = u + u * u;
  const double exact = sums.size * single * quantized.greatest +
                       std::ldexp(roundings, -50) *
                           (base.largest_bias + sums.size * (base.largest_uniform + quantized.greatest));
  if (quantized.is_in_order()) return 2 * (sums.size * share * quantized.largest + exact);
  const double of_steps = 0.5001 * quantized.step + share * std::ldexp(quantized.step, 15);
  return 2 * (sums.size * of_steps + sums.rare * (quantized.left_out + share * quantized.largest) + exact);
}

// The class of the largest score, or -1 where another comes as near to it as `distance`. Only classes are
// looked at that the inner columns could lift to where they lift the one that is the best without them.
std::int32_t best_or_ambiguous(const std::vector<double>& scores, const LargestByLane& largest,
                               const InnerSums& inner, std::size_t n_classes, double distance) {
  const auto top = std::max_element(largest.begin(), largest.end());
  auto first = static_cast<std::size_t>(top - largest.begin());
  while (first + largest.size() < n_classes && scores[first] != *top) first += largest.size();
  const double least = *top + inner[first] - inner.greatest() - distance;
  double best = -std::numeric_limits<double>::infinity(), second = best;
  std::int32_t at = -1;
  for (std::size_t lane = 0; lane < largest.size(); ++lane) {
    if (!(largest[lane] >= least)) continue;
    for (std::size_t c = lane; c < n_classes; c += largest.size()) {
      if (!(scores[c] >= least)) continue;
      const double score = scores[c] + inner[c];
      if (score > best) {
        second = best;
        best = score;
        at = static_cast<std::int32_t>(c);
      } else {
        second = std::max(second, score);
      }
    }
  }
  return best - second > distance && std::isfinite(best) ? at : -1;
}

// The rows of some documents.
template <class Value>
struct SelectedRows {
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

// The quantized scores of one document after another. Belongs to one thread.
template <class Real, class Value>
class QuantizedScorer {
 public:
  QuantizedScorer(const QuantizedTableView& quantized, const Csr<Value>& documents, const ClassBase& base,
                  const ColumnTree& columns)
      : quantized_(quantized),
        documents_(documents),
        base_(base),
        width_(std::ssize(base.bias)),
        add_rows_(of_rows(columns.n_classes)),
        gather_(quantized, documents, width_),
        sums_{std::vector<float>(static_cast<std::size_t>(std::max(width_, columns.size())))},
        scores_(static_cast<std::size_t>(width_)),
        inner_(columns) {}

  // How far two of the scores of document d may be off together.
  double operator()(std::int64_t d) {
    static const auto finish = quantized_kernels().finish;
    const auto first = documents_.indptr[d], last = documents_.indptr[d + 1];
    if (quantized_.is_in_order()) {
      RowSums weights;
      add_rows_(quantized_.rows, documents_, first, last, sums_.scores.data(), weights);
      sums_.length = weights.length;
      sums_.size = weights.size;
    } else {
      gather_(first, last, sums_);
      inner_.load(sums_.scores, quantized_.step);
    }
    largest_ = finish(sums_.scores.data(), quantized_.step, base_.bias.data(), base_.uniform.data(),
                      sums_.length, width_, scores_.data());
    return rounding<Real>(quantized_, base_, last - first, sums_);
  }

  // By class, and without what inner columns add.
  const std::vector<double>& scores() const { return scores_; }
  const LargestByLane& largest() const { return largest_; }
  const InnerSums& inner() const { return inner_; }

 private:
  // For rows in order, of as many vectors as the classes need.
  static auto of_rows(std::int64_t n_classes) {
    const auto n_vectors = filled_up(n_classes, lanes_in_order) / lanes_in_order;
    const auto at = std::clamp<std::int64_t>(n_vectors, 1, most_in_order) - 1;
    return std::get<AddRows<Value>>(quantized_kernels().add_rows)[static_cast<std::size_t>(at)];
  }

  const QuantizedTableView quantized_;
  const Csr<Value> documents_;
  const ClassBase& base_;
  const std::int64_t width_;
  const typename AddRows<Value>::value_type add_rows_;
  Gatherer<Value> gather_;
  Sums sums_;
  std::vector<double> scores_;
  LargestByLane largest_{};
  InnerSums inner_;
};

ClassBase class_base(std::span<const double> bias, std::span<const double> log_uniform,
                     const ColumnTree& columns) {
  return {bias, log_uniform, columns, filled_up(columns.n_classes, block_of_classes)};
}

}  // namespace

template <class Real, class Value>
std::vector<std::int32_t> best_classes_by_quantized(const QuantizedTableView& quantized,
                                                    const WordTableView<Real>& table,
                                                    const Csr<Value>& documents, std::span<const double> bias,
                                                    std::span<const double> log_uniform,
                                                    const ColumnTree& columns, int n_threads) {
  const auto base = class_base(bias, log_uniform, columns);
  std::vector<std::int32_t> best(static_cast<std::size_t>(documents.rows()));
  const auto score_range = [&](std::int64_t begin, std::int64_t end) {
    QuantizedScorer<Real, Value> score(quantized, documents, base, columns);
    for (auto d = begin; d < end; ++d) {
      const auto distance = score(d);
      best[d] = best_or_ambiguous(score.scores(), score.largest(), score.inner(),
                                  static_cast<std::size_t>(columns.n_classes), distance);
    }
  };
  parallel_ranges(documents.rows(), rows_per_task(columns.size()), n_threads, score_range);

  SelectedRows<Value> ambiguous;
  for (std::int64_t d = 0; d < documents.rows(); ++d)
    if (best[d] < 0) ambiguous.add(documents, d);
  const Csr<Value> rows{ambiguous.indptr, ambiguous.indices, ambiguous.values};
  std::vector<std::int32_t> exact;
  if constexpr (std::is_same_v<Real, double>)  // trees have no other tables
    if (!columns.parents.empty())
      exact = best_classes_of_paths(table, rows, bias, log_uniform, columns, n_threads);
  if (columns.parents.empty()) exact = best_classes(table, rows, bias, log_uniform, n_threads);
  auto next = exact.begin();
  for (std::int32_t& c : best)
    if (c < 0) c = *next++;
  return best;
}

template <class Real, class Value>
void add_quantized_scores(const QuantizedTableView& quantized, const Csr<Value>& documents,
                          std::span<const double> bias, std::span<const double> log_uniform,
                          std::span<const double> factors, std::span<double> total,
                          std::span<double> distances, int n_threads) {
  const ColumnTree columns{{}, std::ssize(bias)};
  const auto base = class_base(bias, log_uniform, columns);
  parallel_ranges(documents.rows(), rows_per_task(std::ssize(bias)), n_threads,
                  [&](std::int64_t begin, std::int64_t end) {
                    QuantizedScorer<Real, Value> score(quantized, documents, base, columns);
                    for (auto d = begin; d < end; ++d) {
                      distances[d] += std::abs(factors[d]) * score(d);
                      double* const row = total.data() + d * std::ssize(bias);
                      const double* const scores = score.scores().data();
                      for (std::int64_t c = 0; c < std::ssize(bias); ++c) row[c] += factors[d] * scores[c];
                    }
                  });
}

#define GENUS_INSTANTIATE(Real, Value)                                                                   \
  template std::vector<std::int32_t> best_classes_by_quantized(                                          \
      const QuantizedTableView&, const WordTableView<Real>&, const Csr<Value>&, std::span<const double>, \
      std::span<const double>, const ColumnTree&, int);                                                  \
  template void add_quantized_scores<Real>(                                                              \
      const QuantizedTableView&, const Csr<Value>&, std::span<const double>, std::span<const double>,    \
      std::span<const double>, std::span<double>, std::span<double>, int);
GENUS_INSTANTIATE(float, float)
GENUS_INSTANTIATE(float, double)
GENUS_INSTANTIATE(float, std::int64_t)
GENUS_INSTANTIATE(double, float)
GENUS_INSTANTIATE(double, double)
GENUS_INSTANTIATE(double, std::int64_t)
#undef GENUS_INSTANTIATE

}  // namespace genus
