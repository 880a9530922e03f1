// Tables of scores made from counts, and the scores of documents: MultinomialNB, RefinedNB, NonlinearBayes,
// and the class's part of TiedDocumentMixture (Puurula and Myaeng 2013, Algorithm 1, lines 8, 10 and 23).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/csr.h"
#include "tables/class_counts.h"

namespace genus {

// v_wc = log1p(ratio_c * count_wc), see score(). A row that holds at least a quarter of all classes is filled
// up with zeros: a row as long as there are classes is read as one dense vector, without looking at
// `classes`. Where at least half of the whole table is filled, all rows are: the table is then read as a
// matrix.
WordTable<double> build_table(const WordTableView<std::int64_t>& counts, std::span<const double> ratio,
                              int n_threads);

// out[d, c] = bias_c + |d| * log_uniform_c + sum over words w of x_dw * v_wc, |d| counting known words only.
// With v_wc = log(p(w|c) / uniform_c) this is the joint log likelihood, at the cost of the cells that are not
// uniform: 4 or 8 bytes and one multiply-add per cell of a dense row, 4 more and a scattered add otherwise.
template <class Real, class Value>
void score(const WordTableView<Real>& table, const Csr<Value>& documents, std::span<const double> bias,
           std::span<const double> log_uniform, std::span<double> out, int n_threads);

// The class of the highest score of each document, the first of equal ones; no score leaves the cache.
template <class Real, class Value>
std::vector<std::int32_t> best_classes(const WordTableView<Real>& table, const Csr<Value>& documents,
                                       std::span<const double> bias, std::span<const double> log_uniform,
                                       int n_threads);

// own[d] = sum over words of x_dw * log1p(ratio[d] * (count_wc - own part of d)) for the document's own class
// c: what its class says of its words once it has been left out. A binary search per entry. Throws
// std::invalid_argument when the class does not hold the document.
template <class Value>
std::vector<double> score_without_self(const WordTableView<std::int64_t>& counts, const Csr<Value>& documents,
                                       std::span<const double> scales, std::span<const std::int32_t> codes,
                                       std::span<const double> ratio, int n_threads);

}  // namespace genus
