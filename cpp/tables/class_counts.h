// Exact counts of words by class: what every model that adds up its documents keeps (MultinomialNB,
// RefinedNB, TiedDocumentMixture, HierarchicalMixture and others).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "base/csr.h"

namespace genus {

// Words x classes: word w holds (classes[k], values[k]) for k in [indptr[w], indptr[w + 1]), classes rising.
template <class Value>
struct WordTable {
  Table<std::int64_t> indptr;
  Table<std::int32_t> classes;
  Table<Value> values;
};

struct Row {
  std::int64_t begin, end;
};

// The same over memory owned elsewhere, possibly a mapped file whose contents are not checked: every row is
// cut to the arrays' size when it is read, and users of `classes` guard against numbers out of range.
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

// Sums the documents of each class: words x classes. With scales of 1 / |d| these are, but for the number of
// documents, the averages of eq. 3 of Puurula and Myaeng 2013 (TiedDocumentMixture). Document d is of class
// codes[d]; its value x counts as x
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

}  // namespace genus
