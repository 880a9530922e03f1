// A quantized table of scores, for the best class of many documents: see quantized_scores.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "tables/class_counts.h"
#include "tables/column_tree.h"

namespace genus {

// What each word adds to the classes. Word w with places[w] >= 0 has that row of `steps`: what it adds to all
// classes, whole paths summed, less what it adds to all of them alike, in 16 bits. Any other has the cells of
// its columns from -1 - places[w] on, up to one that is marked as the last, without those that are next to
// nothing. Both are in units of `step`.
//
// A table of few classes that is small even with every row filled up has them all in single precision, in
// `rows`, in the order of the words, and no places; `step` is 1.
struct QuantizedTable {
  std::vector<std::int32_t> places;
  Buffer<float> rows;
  Buffer<std::int16_t> steps;
  Buffer<std::uint64_t> cells;
  double step = 1;
  double greatest = 0;  // size of what a word adds to a class
  double largest = 0;   // sum of sizes along a path, of words that have cells or rows in order
  double left_out = 0;  // of a path of a word that has cells, at most
};
template <class Real>
QuantizedTable make_quantized(const WordTableView<Real>& table, const ColumnTree& columns, int n_threads);

struct QuantizedTableView {
  std::span<const std::int32_t> places;
  std::span<const float> rows;
  std::span<const std::int16_t> steps;
  std::span<const std::uint64_t> cells;
  double step;
  double greatest;
  double largest;
  double left_out;

  bool is_in_order() const { return places.empty(); }
};
bool fits(const QuantizedTableView& quantized, std::int64_t n_words,
          std::int64_t n_classes);  // a table of this size?

// Rows in order have whole vectors of so many classes.
constexpr std::int64_t lanes_in_order = 8;
// Rows of so many vectors, in so many bytes, are kept in order: in one of the larger caches an entry of
// nothing costs less than finding out that it is not there.
constexpr int most_in_order = 4;
constexpr std::int64_t bytes_in_order = std::int64_t{1} << 24;

// n, filled up to a multiple of `block`.
constexpr std::int64_t filled_up(std::int64_t n, std::int64_t block) {
  return (n + block - 1) / block * block;
}

// A cell of a row that is not full, in 64 bits.
struct QuantizedCell {
  std::uint32_t column;  // the highest bit marks the last of a row
  float value;
};
constexpr std::uint32_t last_mark = 1u << 31;

}  // namespace genus
