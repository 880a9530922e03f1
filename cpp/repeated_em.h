// Expectation maximization for mixtures, from many random starts side by side.
//
// Documents of class c belong to its nodes h with shares r_dh = P(h | d, c) that EM finds:
//   E-step   r_dh ∝ P(h | c) P(d | h)
//   M-step   sums_fh += weight_d r_dh x_df for all features f of d
// One pass over the documents does both, for em_lanes repetitions at once. Classes that no document links are
// independent, and so are repetitions: each (class, block of repetitions) is a task of its own, which no
// other thread touches. Results are therefore equal for every number of threads.
//
// Cost of an iteration, per entry of the documents and column (node of a repetition): two multiply-adds, 8
// bytes read and 16 read and written. A task's tables hold 16 bytes per (feature of its class, node, lane).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "buffer.h"
#include "em_loops.h"
#include "parallel.h"
#include "random.h"

namespace genus {

enum class EmStart { near_uniform, random, points };

struct EmPlan {
  std::span<const std::int32_t> classes;      // of the documents; -1: without one, all nodes are open to it
  std::span<const double> weights;            // of the documents in M-steps; 0: E-steps only
  std::span<const std::int64_t> node_starts;  // class c has the nodes [node_starts[c], node_starts[c + 1])
  std::span<const std::int32_t> held_out;     // documents to score under every class
  std::int64_t first_repetition = 0;
  std::int64_t n_repetitions = 1;
  std::int64_t n_iterations = 0;
  std::uint64_t seed = 0;
  bool hard = false;
  EmStart start = EmStart::near_uniform;

  std::int64_t n_documents() const { return std::ssize(classes); }
  std::int64_t n_classes() const { return std::ssize(node_starts) - 1; }
  // The nodes open to a document: [first, last).
  std::int64_t first_node(std::int64_t d) const { return classes[d] < 0 ? 0 : node_starts[classes[d]]; }
  std::int64_t last_node(std::int64_t d) const {
    return classes[d] < 0 ? node_starts.back() : node_starts[classes[d] + 1];
  }
};

struct EmResult {
  Buffer<double> shares;          // (documents' open nodes, document by document) x repetitions
  std::vector<double> objective;  // before each M-step, iterations x repetitions
  Buffer<double> held_out;        // log p(d | c): documents x classes x repetitions
};

// Classes [first_class, last_class) and their documents, to be fitted together.
struct EmGroup {
  std::int64_t first_class, last_class;
  std::vector<std::int32_t> documents;
};

// One group for each class, in order; a single one where some documents have no class.
inline std::vector<EmGroup> em_groups(const EmPlan& plan) {
  bool linked = false;
  for (const auto c : plan.classes) linked |= c < 0;
  const auto n_groups = linked ? 1 : plan.n_classes();
  std::vector<EmGroup> groups(static_cast<std::size_t>(n_groups));
  for (std::int64_t g = 0; g < n_groups; ++g) {
    groups[g].first_class = linked ? 0 : g;
    groups[g].last_class = linked ? plan.n_classes() : g + 1;
  }
  for (std::int64_t d = 0; d < plan.n_documents(); ++d)
    groups[linked ? 0 : plan.classes[d]].documents.push_back(static_cast<std::int32_t>(d));
  return groups;
}

// What a task learns: columns are the group's nodes x em_lanes.
struct NodeTable {
  NodeTable(std::int64_t n_features_, std::int64_t n_nodes_)
      : n_features(n_features_),
        n_nodes(n_nodes_),
        width(n_nodes_ * em_lanes),
        sums(static_cast<std::size_t>(n_features_ * width)),
        values(static_cast<std::size_t>(n_features_ * width)),
        weights(static_cast<std::size_t>(width)),
        lengths(weights.size()),
        bias(weights.size()),
        per_length(weights.size()) {}

  std::int64_t n_features, n_nodes, width;
  Table<double> sums, values;          // features x columns
  std::vector<double> weights;         // sum of weight_d r_dh
  std::vector<double> lengths;         // sum of weight_d r_dh |d|
  std::vector<double> bias;            // of a score, with log P(h | c)
  std::vector<double> per_length;      // of a score, for each unit of |d|
  std::vector<double> class_log_prob;  // log P(c), classes x em_lanes
};

// class_log_prob and, as bias, log P(h | c) by summed weights; with `by_words` the nodes of a class share by
// their words instead (eq. 27), where it has any.
inline void set_log_prior(NodeTable& table, const EmPlan& plan, const EmGroup& group, bool by_words) {
  const auto origin = plan.node_starts[group.first_class];
  table.class_log_prob.assign(static_cast<std::size_t>((group.last_class - group.first_class) * em_lanes), 0);
  for (std::int64_t lane = 0; lane < em_lanes; ++lane) {
    const auto sum = [&](const std::vector<double>& values, std::int64_t first, std::int64_t last) {
      double total = 0;
      for (auto h = first; h < last; ++h) total += values[h * em_lanes + lane];
      return total;
    };
    const auto all = sum(table.weights, 0, table.n_nodes);
    for (auto c = group.first_class; c < group.last_class; ++c) {
      const auto first = plan.node_starts[c] - origin, last = plan.node_starts[c + 1] - origin;
      const auto documents = sum(table.weights, first, last);
      const auto words = sum(table.lengths, first, last);
      const auto& shared = by_words && words > 0 ? table.lengths : table.weights;
      const auto total = by_words && words > 0 ? words : documents;
      if (all > 0)
        table.class_log_prob[(c - group.first_class) * em_lanes + lane] = std::log(documents / all);
      for (auto h = first; h < last; ++h)
        table.bias[h * em_lanes + lane] = std::log(total > 0 ? shared[h * em_lanes + lane] / total
                                                             : 1.0 / static_cast<double>(last - first));
    }
  }
}

// Fits the mixtures. Nodes is what knows a family of distributions, for one group:
//   n_features()              rows of the table
//   terms(d, width, out)      the features of a document that the table has; returns its length |d|
//   update(table, penalty)    the M-step: values, bias and per_length from sums, weights and lengths; sums
//   become
//                             zero; penalty: the log density of the parameters that the objective includes
//   place(table, repetition)  parameters to start from instead of random shares, where it has any
template <class Nodes>
class EmTask {
 public:
  EmTask(const EmPlan& plan, const EmGroup& group, Nodes& nodes, std::int64_t first_repetition)
      : plan_(plan),
        group_(group),
        nodes_(nodes),
        first_(first_repetition),
        n_(std::min(em_lanes, plan.n_repetitions - first_repetition)),
        origin_(plan.node_starts[group.first_class]),
        table_(nodes.n_features(), plan.node_starts[group.last_class] - origin_),
        shares_(static_cast<std::size_t>(table_.width)),
        weighted_(shares_.size()) {}

  void run(std::span<const std::int64_t> share_starts, EmResult& result, std::span<double> objective) {
    begin(share_starts, result);
    for (std::int64_t t = 0; t < plan_.n_iterations; ++t)
      iterate(t, share_starts, result, objective.subspan(t * plan_.n_repetitions, plan_.n_repetitions));
    score_held_out(result);
  }

 private:
  void begin(std::span<const std::int64_t> share_starts, EmResult& result) {
    if constexpr (requires { nodes_.place(table_, first_); })
      if (plan_.start == EmStart::points) {
        nodes_.place(table_, plan_.first_repetition + first_);
        for (const auto d : group_.documents) {
          expect(d);
          keep(d, share_starts, result);
        }
        return;
      }
    for (const auto d : group_.documents) {
      draw(d);
      keep(d, share_starts, result);
      if (plan_.weights[d] > 0 && plan_.classes[d] >= 0) add(d, nodes_.terms(d, table_.width, terms_));
    }
    update();
  }

  // Random shares of a document: the same for (seed, repetition, document), whatever else is asked for.
  // A document without a class has none.
  void draw(std::int64_t d) {
    const auto n_nodes = plan_.last_node(d) - plan_.first_node(d);
    std::fill_n(shares_.begin(), n_nodes * em_lanes, 0.0);
    if (plan_.classes[d] < 0) return;
    for (std::int64_t lane = 0; lane < em_lanes; ++lane) {
      RandomStream random(plan_.seed, static_cast<std::uint64_t>(plan_.first_repetition + first_ + lane),
                          static_cast<std::uint64_t>(d));
      double sum = 0, most = -1;
      std::int64_t largest = 0;
      for (std::int64_t h = 0; h < n_nodes; ++h) {
        const auto u = random.uniform();
        if (u > most) most = u, largest = h;
        shares_[h * em_lanes + lane] = 1 + u;
        sum += 1 + u;
      }
      for (std::int64_t h = 0; h < n_nodes; ++h) {
        auto& share = shares_[h * em_lanes + lane];
        share = plan_.start == EmStart::random ? static_cast<double>(h == largest) : share / sum;
      }
    }
  }

  void iterate(std::int64_t t, std::span<const std::int64_t> share_starts, EmResult& result,
               std::span<double> objective) {
    for (std::int64_t lane = 0; lane < n_; ++lane) objective[first_ + lane] = penalty_[lane];
    for (const auto d : group_.documents) {
      const auto length = expect(d);
      if (t + 1 == plan_.n_iterations) keep(d, share_starts, result);
      if (!(plan_.weights[d] > 0)) continue;
      for (std::int64_t lane = 0; lane < n_; ++lane)
        objective[first_ + lane] += plan_.weights[d] * log_sums_[lane];
      add(d, length);
    }
    update();
  }

  // shares_ = r_dh, log_sums_ = log P(c, d), or log P(d) of a document without a class; its length.
  double expect(std::int64_t d) {
    const auto length = nodes_.terms(d, table_.width, terms_);
    const auto first = plan_.first_node(d) - origin_, n_nodes = plan_.last_node(d) - plan_.first_node(d);
    score(first, n_nodes, length);
    if (plan_.classes[d] < 0)
      for (auto c = group_.first_class; c < group_.last_class; ++c)
        for (auto h = plan_.node_starts[c] - origin_; h < plan_.node_starts[c + 1] - origin_; ++h)
          for (std::int64_t lane = 0; lane < em_lanes; ++lane)
            shares_[h * em_lanes + lane] += log_class(c)[lane];
    loops_.normalize(shares_.data(), n_nodes, plan_.hard, log_sums_);
    if (plan_.classes[d] >= 0)
      for (std::int64_t lane = 0; lane < em_lanes; ++lane)
        log_sums_[lane] += log_class(plan_.classes[d])[lane];
    return length;
  }

  const double* log_class(std::int64_t c) const {
    return table_.class_log_prob.data() + (c - group_.first_class) * em_lanes;
  }

  // shares_ = log P(h, d | c) of the document in terms_, for some nodes of the group.
  void score(std::int64_t first, std::int64_t n_nodes, double length) {
    const auto from = first * em_lanes, width = n_nodes * em_lanes;
    for (std::int64_t j = 0; j < width; ++j)
      shares_[j] = table_.bias[from + j] + length * table_.per_length[from + j];
    loops_.gather(terms_, table_.values.data() + from, width, shares_.data());
  }

  // What the document in terms_ and shares_ adds to the M-step.
  void add(std::int64_t d, double length) {
    const auto from = (plan_.first_node(d) - origin_) * em_lanes;
    const auto width = (plan_.last_node(d) - plan_.first_node(d)) * em_lanes;
    for (std::int64_t j = 0; j < width; ++j) {
      weighted_[j] = plan_.weights[d] * shares_[j];
      table_.weights[from + j] += weighted_[j];
      table_.lengths[from + j] += weighted_[j] * length;
    }
    loops_.scatter(terms_, weighted_.data(), width, table_.sums.data() + from);
  }

  void update() {
    nodes_.update(table_, penalty_);
    std::fill(table_.weights.begin(), table_.weights.end(), 0.0);
    std::fill(table_.lengths.begin(), table_.lengths.end(), 0.0);
  }

  void keep(std::int64_t d, std::span<const std::int64_t> share_starts, EmResult& result) {
    const auto n_nodes = plan_.last_node(d) - plan_.first_node(d);
    for (std::int64_t h = 0; h < n_nodes; ++h)
      for (std::int64_t lane = 0; lane < n_; ++lane)
        result.shares[(share_starts[d] + h) * plan_.n_repetitions + first_ + lane] =
            shares_[h * em_lanes + lane];
  }

  void score_held_out(EmResult& result) {
    auto* out = result.held_out.data() + group_.first_class * plan_.n_repetitions + first_;
    for (const auto d : plan_.held_out) {
      const auto length = nodes_.terms(d, table_.width, terms_);
      for (auto c = group_.first_class; c < group_.last_class; ++c) {
        const auto first = plan_.node_starts[c] - origin_, last = plan_.node_starts[c + 1] - origin_;
        score(first, last - first, length);
        loops_.normalize(shares_.data(), last - first, false, log_sums_);
        std::copy_n(log_sums_, n_, out + (c - group_.first_class) * plan_.n_repetitions);
      }
      out += plan_.n_classes() * plan_.n_repetitions;
    }
  }

  const EmLoops& loops_ = em_loops();
  const EmPlan& plan_;
  const EmGroup& group_;
  Nodes& nodes_;
  std::int64_t first_, n_, origin_;
  NodeTable table_;
  std::vector<double> shares_, weighted_;
  std::vector<EmTerm> terms_;
  double penalty_[em_lanes] = {}, log_sums_[em_lanes] = {};
};

// Where each document's open nodes begin in EmResult::shares, and after the last their number.
inline std::vector<std::int64_t> share_starts(const EmPlan& plan) {
  std::vector<std::int64_t> starts{0};
  starts.reserve(static_cast<std::size_t>(plan.n_documents()) + 1);
  for (std::int64_t d = 0; d < plan.n_documents(); ++d)
    starts.push_back(starts.back() + plan.last_node(d) - plan.first_node(d));
  return starts;
}

// Runs all groups and repetitions. make(g) gives the Nodes of group g; it is called once for each task.
template <class Make>
EmResult run_em(const EmPlan& plan, std::span<const EmGroup> groups, int n_threads, Make&& make) {
  const auto starts = share_starts(plan);
  const auto n_blocks = (plan.n_repetitions + em_lanes - 1) / em_lanes;
  const auto n_objective = plan.n_iterations * plan.n_repetitions;
  EmResult result;
  result.shares.resize(static_cast<std::size_t>(starts.back() * plan.n_repetitions));
  result.held_out.resize(
      static_cast<std::size_t>(std::ssize(plan.held_out) * plan.n_classes() * plan.n_repetitions));
  std::vector<double> objectives(groups.size() * static_cast<std::size_t>(n_objective));
  parallel_for(std::ssize(groups) * n_blocks, n_threads, [&](std::int64_t i) {
    const auto g = i / n_blocks;
    auto nodes = make(g);
    EmTask task(plan, groups[g], nodes, i % n_blocks * em_lanes);
    task.run(starts, result, std::span(objectives).subspan(g * n_objective, n_objective));
  });
  result.objective.assign(static_cast<std::size_t>(n_objective), 0);
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (std::int64_t i = 0; i < n_objective; ++i) result.objective[i] += objectives[g * n_objective + i];
  return result;
}

}  // namespace genus
