// Multinomial class models: exact counts, score tables, scores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "csr.h"

namespace genus {

// What is remembered are 64-bit fixed-point numbers with this many bits after the point: sums of integers do
// not depend on their order, so merging, unlearning and threads are exact even for fractional weights.
inline constexpr int fraction_bits = 36;

// Words x classes: word w holds (classes[k], values[k]) for k in [indptr[w], indptr[w + 1]), classes rising.
template <class Value>
struct WordTable {
  std::vector<std::int64_t> indptr;
  std::vector<std::int32_t> classes;
  std::vector<Value> values;
};

struct Row {
  std::int64_t begin, end;
};

// The same over memory owned elsewhere, possibly a mapped file that nobody has checked: every row is cut to
// the arrays' size when it is read, and users of `classes` guard against wild numbers.
template <class Value>
struct WordTableView {
  std::span<const std::int64_t> indptr;
  std::span<const std::int32_t> classes;
  std::span<const Value> values;

  std::int64_t words() const { return static_cast<std::int64_t>(indptr.size()) - 1; }
  std::int64_t cells() const { return static_cast<std::int64_t>(values.size()); }

  bool has(std::int64_t w) const {
    return static_cast<std::uint64_t>(w) < static_cast<std::uint64_t>(words());
  }
  Row row(std::int64_t w) const {
    const auto begin = std::min(std::max<std::int64_t>(indptr[w], 0), cells());
    return {begin, std::min(std::max(indptr[w + 1], begin), cells())};
  }
};

// Numbers equal items of `width` bytes alike, in the order in which they first occur. Expected time: one hash
// and one lookup per item.
struct Groups {
  std::vector<std::int32_t> codes;         // the number of each item's group
  std::vector<std::int64_t> first_places;  // where each group first occurs
};
Groups group_equal(std::span<const std::uint8_t> items, std::int64_t width);

// Whether some document holds a word twice. Cost: 8 bytes per word and a random access per entry.
bool has_duplicates(std::span<const std::int64_t> indptr, std::span<const std::int32_t> indices,
                    std::int64_t n_words);

// Each document's length in fixed point: a sum of integers, so that the order of its words does not matter.
template <class Value>
std::vector<std::int64_t> fixed_lengths(const Csr<Value>& documents, int n_threads);

// Sums the documents of each class: words x classes. Document d is of class codes[d]; its value x counts as x
// * scales[d], rounded to an integer. Documents are put in class order by a counting sort and cut into one
// chunk per thread; a chunk adds up one class after the other in an array over words, then all cells are
// sorted by word. Throws std::invalid_argument for negative or non-finite values, std::overflow_error beyond
// 63 bits. Cost: about two random accesses per entry and three per cell; 16 bytes x words x threads beside
// the result.
template <class Value>
WordTable<std::int64_t> count_by_class(const Csr<Value>& documents, std::span<const double> scales,
                                       std::span<const std::int32_t> codes, std::int64_t n_words,
                                       std::int32_t n_classes, int n_threads);

// a + b, or a - b, where class i of a table is class a_ids[i] or b_ids[i] of the result (rising numbers).
// Cells that come to zero vanish. Throws std::overflow_error when a cell leaves 63 bits, and
// std::invalid_argument when one would fall below zero. Cost: one pass to count and one to write.
WordTable<std::int64_t> combine(const WordTableView<std::int64_t>& a, std::span<const std::int32_t> a_ids,
                                const WordTableView<std::int64_t>& b, std::span<const std::int32_t> b_ids,
                                bool subtract, int n_threads);

// The sum of every class's cells, as numbers (not fixed point), each rounded once from the exact integer.
std::vector<double> class_totals(const WordTableView<std::int64_t>& counts, std::int32_t n_classes);

// v_wc = log1p(ratio_c * count_wc), see score(). A row that holds at least half of all classes is filled up
// with zeros: a row as long as there are classes is read as one dense vector, without looking at `classes`.
// Where at least half of the whole table is filled, all rows are: the table is then read as a matrix.
WordTable<double> build_table(const WordTableView<std::int64_t>& counts, std::span<const double> ratio,
                              int n_threads);

// out[d, c] = bias_c + |d| * log_uniform_c + sum over words w of x_dw * v_wc, |d| counting known words only.
// With v_wc = log(p(w|c) / uniform_c) this is the joint log likelihood, at the cost of the cells that are not
// uniform: 8 bytes and one multiply-add per cell of a dense row, 12 bytes and a scattered add otherwise.
template <class Value>
void score(const WordTableView<double>& table, const Csr<Value>& documents, std::span<const double> bias,
           std::span<const double> log_uniform, std::span<double> out, int n_threads);

// The class of the highest score of each document, the first of equal ones; no score leaves the cache.
template <class Value>
std::vector<std::int32_t> best_classes(const WordTableView<double>& table, const Csr<Value>& documents,
                                       std::span<const double> bias, std::span<const double> log_uniform,
                                       int n_threads);

// own[d] = sum over words of x_dw * log1p(ratio[d] * (count_wc - own part of d)) for the document's own class
// c: what its class says of its words once it has been left out. A binary search per entry. Throws
// std::invalid_argument when the class does not hold the document.
template <class Value>
std::vector<double> score_without_self(const WordTableView<std::int64_t>& counts, const Csr<Value>& documents,
                                       std::span<const double> scales, std::span<const std::int32_t> codes,
                                       std::span<const double> ratio, int n_threads);

// Subtracts from each row of `scores` the logarithm of the sum of its exponentials. Rows of -inf stay.
void normalize_log_rows(std::span<double> scores, std::int64_t n_columns, int n_threads);

// The k largest of each row, largest first, equal ones by column: their columns and exp(value - logsumexp).
struct Top {
  std::vector<std::int32_t> columns;
  std::vector<double> probabilities;
};
Top top_of_rows(std::span<const double> scores, std::int64_t n_columns, std::int64_t k, int n_threads);

}  // namespace genus
