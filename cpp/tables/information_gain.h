// How much words tell of classes: InformationGain (Toutanova, Chen, Popat and Hofmann, CIKM 2001).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tables/class_counts.h"

namespace genus {

// R(w) = H(c) - H(c | whether w is in a document), in nats, for each word (Toutanova and others 2001, eq.
// 10). present[w, c] counts the documents of class c that have w, totals[c] all documents of c; a document of
// k classes counts once in each. Cost: two logarithms per (word, class) pair that occurs.
std::vector<double> information_gain(const WordTableView<std::int64_t>& present,
                                     std::span<const std::int64_t> totals, int n_threads);

}  // namespace genus
