// The best class of many documents at a quarter of the bytes: quantized scores, with a bound on their error.
// For `predict` of MultinomialNB, RefinedNB, HierarchicalMixture and pools of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/csr.h"
#include "tables/class_counts.h"
#include "tables/column_tree.h"
#include "tables/quantized_table.h"

namespace genus {

// As best_classes (score_table.h) or best_classes_of_paths (path_scores.h), and with the same answer. Where
// the best class by the quantized scores leads by more than rounding can explain, it is the best; the other
// documents, a few in a thousand, are scored again. Cost: 2 bytes, one conversion and one multiply-add per
// word and class. A tree costs no more than its classes do: what inner nodes add is looked up only for
// classes that it can lift to the top.
template <class Real, class Value>
std::vector<std::int32_t> best_classes_by_quantized(const QuantizedTableView& quantized,
                                                    const WordTableView<Real>& table,
                                                    const Csr<Value>& documents, std::span<const double> bias,
                                                    std::span<const double> log_uniform,
                                                    const ColumnTree& columns, int n_threads);

// total[d, c] += factors[d] * the quantized score of class c, without what all classes have alike, where
// columns are classes; and distances[d] += how far two of these may be off together from those of the table,
// whose values are `Real`.
template <class Real, class Value>
void add_quantized_scores(const QuantizedTableView& quantized, const Csr<Value>& documents,
                          std::span<const double> bias, std::span<const double> log_uniform,
                          std::span<const double> factors, std::span<double> total,
                          std::span<double> distances, int n_threads);

}  // namespace genus
