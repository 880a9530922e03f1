// Which tokens of a document are about its class, which are background, which are its own: `mark` of
// RelevanceTopicModel.
#pragma once

#include <cstdint>
#include <span>

#include "base/buffer.h"
#include "base/csr.h"
#include "tables/class_counts.h"
#include "topics/gibbs.h"

namespace genus {

// For each entry of documents of classes `codes` the probabilities of background, class and own topic, one
// after the other. The shared topics stay at the sampler's averaged counts (topics by word and class in fixed
// point, with their totals, and the background by word); the document's mixture and own topic are found by
// repeating Fig. 3 with expected counts in place of drawn ones, from a start where the three are equal.
// Columns that were not trained have zeros. Cost: a binary search per entry, and per repetition four
// multiplications and a division.
template <class Value>
Buffer<double> mark(const WordTableView<std::int64_t>& topics, std::span<const double> topic_totals,
                    std::span<const double> background, const TopicPriors& priors,
                    const Csr<Value>& documents, std::span<const std::int32_t> codes, int n_repeats,
                    int n_threads);

}  // namespace genus
