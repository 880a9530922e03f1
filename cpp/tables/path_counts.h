// The counts M_vw of a path's nodes side by side, by word, so that a word's are one look-up: for
// HierarchicalMixture and HierarchicalShrinkage (mixtures/tree_em.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "mixtures/tree_em.h"

namespace genus {

// Takes 8 bytes per word and level. A node that is already there is not spread again: classes in tree order
// change little but their own leaf.
class PathCounts {
 public:
  PathCounts(const NodeTableView& table, std::int64_t n_words, std::int64_t levels)
      : table_(table),
        levels_(levels),
        loaded_(static_cast<std::size_t>(levels), -1),
        counts_(static_cast<std::size_t>(n_words * levels), 0.0) {}

  void load(std::span<const std::int32_t> path) {
    for (std::int64_t j = 0; j < std::ssize(path); ++j) {
      if (loaded_[j] == path[j]) continue;
      if (loaded_[j] >= 0) spread(loaded_[j], j, false);
      spread(path[j], j, true);
      loaded_[j] = path[j];
    }
  }

  // The counts of word w at the root, the node below, and so on.
  const double* of_word(std::int64_t w) const { return counts_.data() + w * levels_; }

 private:
  void spread(std::int64_t node, std::int64_t level, bool fill) {
    const auto [begin, end] = table_.row(node);
    for (auto k = begin; k < end; ++k)
      counts_[table_.words[k] * levels_ + level] = fill ? table_.counts[k] : 0.0;
  }

  NodeTableView table_;
  std::int64_t levels_;
  std::vector<std::int32_t> loaded_;
  Table<double> counts_;
};

}  // namespace genus
