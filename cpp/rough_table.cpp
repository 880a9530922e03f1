#include "rough_table.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "rough_kernels.h"

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
class WordScores {
 public:
  explicit WordScores(const ColumnTree& columns)
      : columns_(columns), row_(static_cast<std::size_t>(columns.size()), 0.0) {}

  void load(std::span<const std::int32_t> ids, std::span<const double> values) {
    clear();
    ids_ = ids;
    values_ = values;
    n_cells_ = 0;
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
  // Columns from a damaged file may be none.
  template <class Take>
  void each(Take&& take) const {
    for (std::size_t k = 0; k < ids_.size(); ++k)
      if (static_cast<std::uint32_t>(ids_[k]) < row_.size()) take(ids_[k], values_[k]);
  }

  void clear() {
    if (std::exchange(is_summed_, false))
      std::fill(row_.begin(), row_.end(), 0.0);
    else
      each([&](std::int32_t column, double) { row_[column] = 0; });
  }

  const ColumnTree columns_;
  std::span<const std::int32_t> ids_;
  std::span<const double> values_;
  std::vector<double> row_;  // zeros where the word has nothing
  std::int64_t n_cells_ = 0;
  bool is_summed_ = false;
};

template <class Use>
void for_each_word(const WordTableView<double>& table, const ColumnTree& columns, Use&& use) {
  WordScores word(columns);
  for (std::int64_t w = 0; w < table.words(); ++w) {
    const auto [begin, end] = table.row(w);
    word.load(table.classes.subspan(begin, end - begin), table.values.subspan(begin, end - begin));
    use(word);
  }
}

RoughTable make_in_order(const WordTableView<double>& table, const ColumnTree& columns) {
  RoughTable rough;
  const auto width = filled_up(columns.n_classes, lanes_in_order);
  rough.rows.reserve(static_cast<std::size_t>(table.words() * width));
  for_each_word(table, columns, [&](WordScores& word) {
    rough.largest = std::max(rough.largest, word.largest());
    for (const double score : word.sum_paths()) rough.rows.push_back(static_cast<float>(score));
    rough.rows.resize(static_cast<std::size_t>(filled_up(std::ssize(rough.rows), width)), 0);
  });
  return rough;
}

// The middle between the least and the greatest score, and how far they are from it.
struct Range {
  double middle, half;
};
Range range_of(std::span<const double> scores) {
  double least = scores.front(), greatest = least;
  for (const double score : scores) {
    least = std::min(least, score);
    greatest = std::max(greatest, score);
  }
  return {(greatest + least) / 2, (greatest - least) / 2};
}

void add_steps(RoughTable& rough, std::span<const double> scores, std::int64_t width) {
  rough.places.push_back(static_cast<std::int32_t>(std::ssize(rough.steps) / width));
  const double middle = range_of(scores).middle, steps_per_unit = 1 / rough.step;
  rough.steps.resize(rough.steps.size() + static_cast<std::size_t>(width), 0);
  std::transform(scores.begin(), scores.end(), rough.steps.end() - width, [=](double score) {
    return static_cast<std::int16_t>(std::lrint((score - middle) * steps_per_unit));
  });
}

void add_cells(RoughTable& rough, const WordScores& word) {
  rough.places.push_back(-1 - static_cast<std::int32_t>(rough.cells.size()));
  RoughCell last{0, 0};  // what a row of nothing consists of
  bool is_first = true;
  word.each_cell([&](std::int32_t column, double value) {
    if (!std::exchange(is_first, false)) rough.cells.push_back(std::bit_cast<std::uint64_t>(last));
    last = {static_cast<std::uint32_t>(column), static_cast<float>(value / rough.step)};
  });
  last.column |= last_mark;
  rough.cells.push_back(std::bit_cast<std::uint64_t>(last));
}

// Which words have rows: a cell costs about as much as eight steps, which are read as vectors. A row takes
// twice the bytes of its cells at most.
bool is_worth_a_row(const WordScores& word, std::int64_t width) {
  return 8 * word.n_cells() >= width;
}

RoughTable make_with_places(const WordTableView<double>& table, const ColumnTree& columns) {
  RoughTable rough;
  const auto width = filled_up(columns.n_classes, block_of_classes);
  double widest = 0;
  std::int64_t n_rows = 0;
  for_each_word(table, columns, [&](WordScores& word) {
    if (is_worth_a_row(word, width)) {
      widest = std::max(widest, range_of(word.sum_paths()).half);
      ++n_rows;
    } else {
      rough.largest = std::max(rough.largest, word.largest());
    }
  });
  rough.step = widest > 0 ? widest / most_steps : 1;
  rough.left_out = static_cast<double>(columns.levels()) * negligible;
  rough.places.reserve(static_cast<std::size_t>(table.words()));
  rough.steps.reserve(static_cast<std::size_t>(n_rows * width));
  for_each_word(table, columns, [&](WordScores& word) {
    is_worth_a_row(word, width) ? add_steps(rough, word.sum_paths(), width) : add_cells(rough, word);
  });
  return rough;
}

}  // namespace

RoughTable make_rough(const WordTableView<double>& table, const ColumnTree& columns) {
  return are_in_order(table.words(), columns.n_classes) ? make_in_order(table, columns)
                                                        : make_with_places(table, columns);
}

bool fits(const RoughView& rough, std::int64_t n_words, std::int64_t n_classes) {
  if (!are_in_order(n_words, n_classes)) return std::ssize(rough.places) == n_words;
  return rough.is_in_order() && std::ssize(rough.rows) == n_words * filled_up(n_classes, lanes_in_order);
}

}  // namespace genus
