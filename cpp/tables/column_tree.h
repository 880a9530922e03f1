// Columns of scores that form a tree, for HierarchicalMixture and HierarchicalShrinkage: a class's score is
// the sum along its path.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace genus {

// The first columns are the classes, the others inner nodes, each after its parent. Without parents the
// columns are the classes and nothing else.
struct ColumnTree {
  std::span<const std::int32_t> parents;  // of each column, -1 at the top
  std::int64_t n_classes;

  // Whether the parents can be followed: inner columns all, those of inner columns before them.
  bool is_sound() const {
    for (std::int64_t k = 0; k < std::ssize(parents); ++k) {
      const auto limit = k < n_classes ? std::ssize(parents) : k;
      if (parents[k] >= 0 && (parents[k] < n_classes || parents[k] >= limit)) return false;
    }
    return n_classes >= 0 && n_classes <= size();
  }

  std::int64_t size() const { return parents.empty() ? n_classes : std::ssize(parents); }

  // The columns of the longest path.
  std::int64_t levels() const {
    std::int64_t most = 1;
    for (std::int64_t k = 0; k < std::ssize(parents); ++k) {
      std::int64_t n = 1;
      for (auto up = parents[k]; up >= 0; up = parents[up]) ++n;
      most = std::max(most, n);
    }
    return most;
  }

  // Each column takes in its parent's sum, from the top down.
  void add_up(double* row) const {
    for (auto k = n_classes; k < std::ssize(parents); ++k) add_parent(row, k);
    for (std::int64_t c = 0; c < n_classes && !parents.empty(); ++c) add_parent(row, c);
  }

  // The sum of sizes from column k to the top.
  double size_up(const double* row, std::int64_t k) const {
    double sum = std::abs(row[k]);
    if (!parents.empty())
      while ((k = parents[k]) >= 0) sum += std::abs(row[k]);
    return sum;
  }

 private:
  void add_parent(double* row, std::int64_t k) const {
    if (parents[k] >= 0) row[k] += row[parents[k]];
  }
};

}  // namespace genus
