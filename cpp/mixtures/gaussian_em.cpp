#include "mixtures/gaussian_em.h"

#include <numbers>
#include <numeric>
#include <utility>

namespace genus {
namespace {

// The distributions of one group's nodes; see EmTask.
class GaussianNodes {
 public:
  GaussianNodes(std::span<const double> documents, std::int64_t n_features, const EmPlan& plan,
                std::span<const double> floor, const EmGroup& group)
      : documents_(documents),
        d_(n_features),
        plan_(plan),
        floor_(floor),
        group_(group),
        rows_(static_cast<std::size_t>(2 * n_features)),
        x_(rows_.size()) {
    std::iota(rows_.begin(), rows_.end(), 0);
  }

  std::int64_t n_features() const { return 2 * d_; }

  EmDocument document(std::int64_t i) { return any_document(group_.documents[i]); }

  EmDocument any_document(std::int64_t d) {
    const double* const x = documents_.data() + d * d_;
    for (std::int64_t j = 0; j < d_; ++j) {
      x_[2 * j] = x[j];
      x_[2 * j + 1] = x[j] * x[j];
    }
    return {{rows_.data(), x_.data(), std::ssize(rows_)}, 0};
  }

  void update(EmTable& table, std::span<const double> shares, double* penalty) {
    sums_.assign(table.values.size(), 0.0);
    for (std::int64_t i = 0; i < std::ssize(group_.documents); ++i)
      em_loops().scatter(document(i).features, shares.data() + i * table.width, table.width, table.width,
                         sums_.data());
    set_nodes(table);
    std::fill_n(penalty, table.n_repetitions, 0.0);
  }

  // Means at random documents of the class, its variances, and equal weights: for repetitions from the given
  // one on.
  void place(EmTable& table, std::int64_t repetition) {
    sums_.assign(table.values.size(), 0.0);
    const auto origin = plan_.node_starts[group_.first_class];
    for (auto c = group_.first_class; c < group_.last_class; ++c) {
      const auto members = members_of(c);
      const auto [weight, variance] = spread_of(members);
      const auto first = plan_.node_starts[c] - origin, n_nodes = plan_.node_starts[c + 1] - origin - first;
      for (std::int64_t r = 0; r < table.n_repetitions; ++r) {
        const auto points = draw_points(members, n_nodes, repetition + r, c);
        for (std::int64_t h = 0; h < n_nodes; ++h) {
          const auto column = (first + h) * table.n_repetitions + r;
          const auto share = weight / static_cast<double>(n_nodes);
          table.weights[column] = share;
          if (points.empty()) continue;
          const double* const x = documents_.data() + points[h % points.size()] * d_;
          for (std::int64_t j = 0; j < d_; ++j) {
            sums_[2 * j * table.width + column] = share * x[j];
            sums_[(2 * j + 1) * table.width + column] = share * (x[j] * x[j] + variance[j]);
          }
        }
      }
    }
    set_nodes(table);
    std::fill(table.weights.begin(), table.weights.end(), 0.0);
  }

 private:
  // The M-step from sums_. A node that no document belongs to stays as it was, with P(h | c) = 0.
  void set_nodes(EmTable& table) const {
    set_log_prior(table, plan_, group_, false);
    const auto origin = plan_.node_starts[group_.first_class];
    for (auto c = group_.first_class; c < group_.last_class; ++c)
      for (auto h = plan_.node_starts[c] - origin; h < plan_.node_starts[c + 1] - origin; ++h)
        for (std::int64_t r = 0; r < table.n_repetitions; ++r)
          set_node(table, h * table.n_repetitions + r, c);
  }

  void set_node(EmTable& table, std::int64_t column, std::int64_t c) const {
    const auto n = table.weights[column];
    double constant = 0;
    for (std::int64_t j = 0; j < d_; ++j) {
      const auto one = 2 * j * table.width + column, square = one + table.width;
      if (n > 0) {
        const auto mean = sums_[one] / n;
        const auto variance = std::max(sums_[square] / n - mean * mean, floor_[c * d_ + j]);
        table.values[one] = mean / variance;
        table.values[square] = -0.5 / variance;
      }
      const auto precision = -2 * table.values[square];
      if (!(precision > 0)) continue;
      const auto mean = table.values[one] / precision;
      constant += std::log(2 * std::numbers::pi / precision) + mean * mean * precision;
    }
    table.bias[column] -= 0.5 * constant;
  }

  std::vector<std::int32_t> members_of(std::int64_t c) const {
    std::vector<std::int32_t> members;
    for (const auto d : group_.documents)
      if (plan_.classes[d] == c && plan_.weights[d] > 0) members.push_back(d);
    return members;
  }

  // The documents' summed weights, and their variances.
  std::pair<double, std::vector<double>> spread_of(std::span<const std::int32_t> members) const {
    double weight = 0;
    std::vector<double> mean(static_cast<std::size_t>(d_)), variance(mean.size());
    for (const auto d : members) weight += plan_.weights[d];
    for (const auto d : members)
      for (std::int64_t j = 0; j < d_; ++j) mean[j] += plan_.weights[d] / weight * documents_[d * d_ + j];
    for (const auto d : members)
      for (std::int64_t j = 0; j < d_; ++j) {
        const auto off = documents_[d * d_ + j] - mean[j];
        variance[j] += plan_.weights[d] / weight * off * off;
      }
    return {weight, variance};
  }

  // n of the members, no two the same while there are enough: the first places of a random order.
  std::vector<std::int32_t> draw_points(std::vector<std::int32_t> members, std::int64_t n,
                                        std::int64_t repetition, std::int64_t c) const {
    RandomStream random(plan_.seed, static_cast<std::uint64_t>(repetition),
                        (std::uint64_t{1} << 32) + static_cast<std::uint64_t>(c));
    n = std::min<std::int64_t>(n, std::ssize(members));
    for (std::int64_t i = 0; i < n; ++i) {
      const auto left = static_cast<double>(std::ssize(members) - i);
      std::swap(members[i], members[i + static_cast<std::int64_t>(random.uniform() * left)]);
    }
    members.resize(static_cast<std::size_t>(n));
    return members;
  }

  std::span<const double> documents_;
  std::int64_t d_;
  const EmPlan& plan_;
  std::span<const double> floor_;
  const EmGroup& group_;
  std::vector<std::int32_t> rows_;  // 0, 1, ...: a document has every feature
  std::vector<double> x_;           // of the last document that was asked for
  std::vector<double> sums_;        // features x columns
};

}  // namespace

EmResult fit_gaussian_nodes(std::span<const double> documents, std::int64_t n_features, const EmPlan& plan,
                            std::span<const double> floor, int n_threads) {
  const auto groups = em_groups(plan);
  return run_em(plan, groups, n_threads,
                [&](std::int64_t g) { return GaussianNodes(documents, n_features, plan, floor, groups[g]); });
}

}  // namespace genus
