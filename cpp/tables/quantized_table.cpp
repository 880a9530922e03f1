#include "tables/quantized_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "base/parallel.h"
#include "tables/quantized_kernels.h"

namespace genus {
namespace {

constexpr double most_steps = std::numeric_limits<std::int16_t>::max();

// Where words are moved between the nodes of a tree, many a node is left with next to nothing of a word.
// Cells that add less are left out.
constexpr double negligible = 1.0 / 2048;

bool are_in_order(std::int64_t n_words, std::int64_t n_classes) {
  const auto width = filled_up(n_classes, lanes_in_order);
  return width <= most_in_order * lanes_in_order &&
         n_words * width <= bytes_in_order / static_cast<std::int64_t>(sizeof(float));
}

// The scores of one word after another, by column.
template <class Real>
class WordScores {
 public:
  explicit WordScores(const ColumnTree& columns)
      : columns_(columns), row_(static_cast<std::size_t>(columns.size()), 0.0) {}

  void load(std::span<const std::int32_t> ids, std::span<const Real> values) {
    clear();
    ids_ = ids;
    values_ = values;
    n_cells_ = 0;
    if (is_full()) return load_full();
    each([&](std::int32_t column, double value) {
      row_[column] = value;
      n_cells_ += std::abs(value) >= negligible;
    });
  }

  // Those that are not negligible: take(column, value).
  std::int64_t n_cells() const { return n_cells_; }
  template <class Take>
  void each_cell(Take&& take) const {
    each([&](std::int32_t column, double value) {
      if (std::abs(value) >= negligible) take(column, value);
    });
  }

  // The largest sum of sizes along a path.
  double largest() const {
    double largest = 0;
    each([&](std::int32_t column, double) {
      largest = std::max(largest, columns_.size_up(row_.data(), column));
    });
    return largest;
  }

  // What the word adds to the classes. Only once, after the rest.
  std::span<const double> sum_paths() {
    columns_.add_up(row_.data());
    is_summed_ = true;
    return std::span(row_).first(static_cast<std::size_t>(columns_.n_classes));
  }

 private:
  // Whether it has something in every column.
  bool is_full() const {
    if (ids_.size() != row_.size()) return false;
    std::int32_t wrong = 0;
    for (std::size_t k = 0; k < ids_.size(); ++k) wrong |= ids_[k] ^ static_cast<std::int32_t>(k);
    return wrong == 0;
  }

  void load_full() {
    for (std::size_t k = 0; k < row_.size(); ++k) row_[k] = static_cast<double>(values_[k]);
    for (const double value : row_) n_cells_ += std::abs(value) >= negligible;
  }

  // Columns from a damaged file may be none.
  template <class Take>
  void each(Take&& take) const {
    for (std::size_t k = 0; k < ids_.size(); ++k)
      if (static_cast<std::uint32_t>(ids_[k]) < row_.size()) take(ids_[k], static_cast<double>(values_[k]));
  }

  void clear() {
    if (std::exchange(is_summed_, false))
      std::fill(row_.begin(), row_.end(), 0.0);
    else
      each([&](std::int32_t column, double) { row_[column] = 0; });
  }

  const ColumnTree columns_;
  std::span<const std::int32_t> ids_;
  std::span<const Real> values_;
  std::vector<double> row_;  // zeros where the word has nothing
  std::int64_t n_cells_ = 0;
  bool is_summed_ = false;
};

constexpr std::int64_t grain = 256;  // words of a task

// Calls use(w, scores of w) for words first ... last - 1.
template <class Real, class Use>
void for_each_word(const WordTableView<Real>& table, const ColumnTree& columns, std::int64_t first,
                   std::int64_t last, Use&& use) {
  WordScores<Real> word(columns);
  for (auto w = first; w < last; ++w) {
    const auto [begin, end] = table.row(w);
    word.load(table.classes.subspan(begin, end - begin), table.values.subspan(begin, end - begin));
    use(w, word);
  }
}

// The largest of what the words of all tasks have.
struct Sizes {
  double half = 0, greatest = 0, largest = 0;

  void take_in(const Sizes& other) {
    half = std::max(half, other.half);
    greatest = std::max(greatest, other.greatest);
    largest = std::max(largest, other.largest);
  }
};

// Calls use(w, scores of w, sizes) for all words, in threads; each task has sizes of its own.
template <class Real, class Use>
Sizes measure_words(const WordTableView<Real>& table, const ColumnTree& columns, int n_threads, Use&& use) {
  std::vector<Sizes> sizes(static_cast<std::size_t>((table.words() + grain - 1) / grain));
  parallel_ranges(table.words(), grain, n_threads, [&](std::int64_t first, std::int64_t last) {
    for_each_word(table, columns, first, last,
                  [&](std::int64_t w, WordScores<Real>& word) { use(w, word, sizes[first / grain]); });
  });
  Sizes all;
  for (const auto& some : sizes) all.take_in(some);
  return all;
}

template <class Real>
QuantizedTable make_in_order(const WordTableView<Real>& table, const ColumnTree& columns, int n_threads) {
  QuantizedTable quantized;
  const auto width = filled_up(columns.n_classes, lanes_in_order);
  quantized.rows.resize(static_cast<std::size_t>(table.words() * width), 0);
  const auto add = [&](std::int64_t w, WordScores<Real>& word, Sizes& sizes) {
    sizes.largest = std::max(sizes.largest, word.largest());
    const auto scores = word.sum_paths();
    std::transform(scores.begin(), scores.end(), quantized.rows.begin() + w * width,
                   [](double score) { return static_cast<float>(score); });
  };
  quantized.greatest = quantized.largest = measure_words(table, columns, n_threads, add).largest;
  return quantized;
}

// The middle between the least and the greatest score, and how far they are from it.
struct Range {
  double middle, half;
};
Range range_of(std::span<const double> scores) {
  constexpr std::size_t lanes = 4;  // side by side, so that the comparisons do not wait for one another
  std::array<double, lanes> least, greatest;
  least.fill(scores.front());
  greatest.fill(scores.front());
  std::size_t c = 0;
  for (; c + lanes <= scores.size(); c += lanes)
    for (std::size_t i = 0; i < lanes; ++i) {
      least[i] = scores[c + i] < least[i] ? scores[c + i] : least[i];
      greatest[i] = greatest[i] < scores[c + i] ? scores[c + i] : greatest[i];
    }
  for (; c < scores.size(); ++c) {
    least[0] = std::min(least[0], scores[c]);
    greatest[0] = std::max(greatest[0], scores[c]);
  }
  const double low = *std::min_element(least.begin(), least.end());
  const double high = *std::max_element(greatest.begin(), greatest.end());
  return {(high + low) / 2, (high - low) / 2};
}

// A word's scores in steps from their middle. Added to this number, a score is rounded to a whole one, which
// the lowest bits then have.
void write_steps(std::span<const double> scores, double step, std::int16_t* out) {
  constexpr double whole = 0x1.8p52;
  const double middle = range_of(scores).middle, steps_per_unit = 1 / step;
  for (std::size_t c = 0; c < scores.size(); ++c)
    out[c] = static_cast<std::int16_t>(
        std::bit_cast<std::uint64_t>((scores[c] - middle) * steps_per_unit + whole));
}

// At least one cell: a row of nothing has one of column 0.
template <class Real>
void write_cells(const WordScores<Real>& word, double step, std::uint64_t* out) {
  QuantizedCell last{0, 0};
  bool is_first = true;
  word.each_cell([&](std::int32_t column, double value) {
    if (!std::exchange(is_first, false)) *out++ = std::bit_cast<std::uint64_t>(last);
    last = {static_cast<std::uint32_t>(column), static_cast<float>(value / step)};
  });
  last.column |= last_mark;
  *out = std::bit_cast<std::uint64_t>(last);
}

// Which words have rows: a cell costs about as much as eight steps, which are read as vectors. A row takes
// twice the bytes of its cells at most.
template <class Real>
bool is_worth_a_row(const WordScores<Real>& word, std::int64_t width) {
  return 8 * word.n_cells() >= width;
}

template <class Real>
QuantizedTable make_with_places(const WordTableView<Real>& table, const ColumnTree& columns, int n_threads) {
  QuantizedTable quantized;
  const auto width = filled_up(columns.n_classes, block_of_classes);
  // First 0 for words with rows, and for others how many cells they have, less than 0.
  quantized.places.resize(static_cast<std::size_t>(table.words()));
  const auto measure = [&](std::int64_t w, WordScores<Real>& word, Sizes& sizes) {
    if (is_worth_a_row(word, width)) {
      quantized.places[w] = 0;
      const auto [middle, half] = range_of(word.sum_paths());
      sizes.take_in({half, std::abs(middle) + half, 0});
    } else {
      quantized.places[w] = -static_cast<std::int32_t>(std::max<std::int64_t>(word.n_cells(), 1));
      const auto largest = word.largest();
      sizes.take_in({0, largest, largest});
    }
  };
  const auto sizes = measure_words(table, columns, n_threads, measure);
  quantized.greatest = sizes.greatest;
  quantized.largest = sizes.largest;
  quantized.step = sizes.half > 0 ? sizes.half / most_steps : 1;
  quantized.left_out = static_cast<double>(columns.levels()) * negligible;
  std::int32_t n_rows = 0, n_cells = 0;
  for (auto& place : quantized.places)
    place = place == 0 ? n_rows++ : -1 - std::exchange(n_cells, n_cells - place);
  quantized.steps.resize(static_cast<std::size_t>(n_rows * width), 0);
  quantized.cells.resize(static_cast<std::size_t>(n_cells));
  parallel_ranges(table.words(), grain, n_threads, [&](std::int64_t first, std::int64_t last) {
    for_each_word(table, columns, first, last, [&](std::int64_t w, WordScores<Real>& word) {
      const auto place = quantized.places[w];
      place >= 0 ? write_steps(word.sum_paths(), quantized.step, quantized.steps.data() + place * width)
                 : write_cells(word, quantized.step, quantized.cells.data() + (-1 - place));
    });
  });
  return quantized;
}

}  // namespace

template <class Real>
QuantizedTable make_quantized(const WordTableView<Real>& table, const ColumnTree& columns, int n_threads) {
  return are_in_order(table.words(), columns.n_classes) ? make_in_order(table, columns, n_threads)
                                                        : make_with_places(table, columns, n_threads);
}

template QuantizedTable make_quantized(const WordTableView<float>&, const ColumnTree&, int);
template QuantizedTable make_quantized(const WordTableView<double>&, const ColumnTree&, int);

bool fits(const QuantizedTableView& quantized, std::int64_t n_words, std::int64_t n_classes) {
  if (!are_in_order(n_words, n_classes)) return std::ssize(quantized.places) == n_words;
  return quantized.is_in_order() &&
         std::ssize(quantized.rows) == n_words * filled_up(n_classes, lanes_in_order);
}

}  // namespace genus
