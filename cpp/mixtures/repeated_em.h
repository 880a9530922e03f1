// NonlinearBayes and GaussianNonlinearBayes: expectation maximization for mixtures, from many random starts
// side by side (Carlos and Rakshit, Learning Non-Linear Functions for Text Classification, sections 2.6 and
// 3).
//
// Documents of class c belong to its hidden nodes h with shares r_dh = P(h | d, c), the paper's m_h(d), that
// EM finds:
//   E-step   r_dh ∝ P(h | c) P(d | h)
//   M-step   P(h | c) and P(d | h) from sums over documents of weight_d r_dh x_df, for all features f (eq. 27
//            and 28 for multinomials)
// A pass over the documents does the E-step of several repetitions at once, a pass over the features their
// M-step. Classes that no document links are independent, and so are repetitions: each (class, block of
// repetitions) is a task of its own, which no other thread touches. Results are therefore equal for every
// number of threads.
//
// Cost of an iteration, per entry of the documents and column (node of a repetition): two multiply-adds, each
// with 8 bytes read. A task holds 8 bytes per column for each feature and for each document of its class.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "base/parallel.h"
#include "base/random.h"
#include "mixtures/em_loops.h"

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

// What a task learns: columns are the group's nodes x repetitions, these filled up to a multiple of 4.
struct EmTable {
  EmTable(std::int64_t n_features_, std::int64_t n_nodes_, std::int64_t n_repetitions_)
      : n_features(n_features_),
        n_nodes(n_nodes_),
        n_repetitions(n_repetitions_),
        width(n_nodes_ * n_repetitions_),
        values(static_cast<std::size_t>(n_features_ * width)),
        weights(static_cast<std::size_t>(width)),
        lengths(weights.size()),
        bias(weights.size()),
        per_length(weights.size()) {}

  std::int64_t n_features, n_nodes, n_repetitions, width;
  Table<double> values;                // features x columns: what a unit of a feature adds to a score
  std::vector<double> weights;         // sum of weight_d r_dh
  std::vector<double> lengths;         // sum of weight_d r_dh |d|
  std::vector<double> bias;            // of a score, with log P(h | c)
  std::vector<double> per_length;      // of a score, for each unit of |d|
  std::vector<double> class_log_prob;  // log P(c), classes x repetitions
};

// class_log_prob and, as bias, log P(h | c) by summed weights; with `by_words` the nodes of a class share by
// their words instead (eq. 27), where it has any.
inline void set_log_prior(EmTable& table, const EmPlan& plan, const EmGroup& group, bool by_words) {
  const auto origin = plan.node_starts[group.first_class];
  const auto n_repetitions = table.n_repetitions;
  table.class_log_prob.assign(
      static_cast<std::size_t>((group.last_class - group.first_class) * n_repetitions), 0);
  for (std::int64_t r = 0; r < n_repetitions; ++r) {
    const auto sum = [&](const std::vector<double>& values, std::int64_t first, std::int64_t last) {
      double total = 0;
      for (auto h = first; h < last; ++h) total += values[h * n_repetitions + r];
      return total;
    };
    const auto all = sum(table.weights, 0, table.n_nodes);
    for (auto c = group.first_class; c < group.last_class; ++c) {
      const auto first = plan.node_starts[c] - origin, last = plan.node_starts[c + 1] - origin;
      const auto documents = sum(table.weights, first, last);
      const auto words = sum(table.lengths, first, last);
      // eq. 27 by words; by documents, the update that maximises the likelihood
      const auto& shared = by_words && words > 0 ? table.lengths : table.weights;
      const auto total = by_words && words > 0 ? words : documents;
      if (all > 0)
        table.class_log_prob[(c - group.first_class) * n_repetitions + r] = std::log(documents / all);
      for (auto h = first; h < last; ++h)
        table.bias[h * n_repetitions + r] = std::log(total > 0 ? shared[h * n_repetitions + r] / total
                                                               : 1.0 / static_cast<double>(last - first));
    }
  }
}

// A document as Nodes gives it: its features that the table has, and its length |d|.
struct EmDocument {
  EmEntries features;
  double length;
};

// Fits the mixtures of one group for some repetitions. Nodes is what knows a family of distributions:
//   n_features()                     rows of the table
//   document(i)                      the group's i-th document
//   any_document(d)                  any document, by its number
//   update(table, shares, penalty)   the M-step from the group's documents x columns, weight_d r_dh, which
//   has
//                                    zeros for nodes that are not open; penalty: the log density of the
//                                    parameters that the objective includes
//   place(table, repetition)         parameters to start from instead of random shares, where it has any
template <class Nodes>
class EmTask {
 public:
  EmTask(const EmPlan& plan, const EmGroup& group, Nodes& nodes, std::int64_t first_repetition,
         std::int64_t n_repetitions)
      : plan_(plan),
        group_(group),
        nodes_(nodes),
        first_(first_repetition),
        n_(n_repetitions),
        padded_((n_repetitions + 3) / 4 * 4),
        origin_(plan.node_starts[group.first_class]),
        table_(nodes.n_features(), plan.node_starts[group.last_class] - origin_, padded_),
        shares_(group.documents.size() * static_cast<std::size_t>(table_.width)) {}

  void run(std::span<const std::int64_t> share_starts, EmResult& result, std::span<double> objective) {
    begin(share_starts, result);
    for (std::int64_t t = 0; t < plan_.n_iterations; ++t)
      iterate(t, share_starts, result, objective.subspan(t * plan_.n_repetitions, plan_.n_repetitions));
    score_held_out(result);
  }

 private:
  std::int64_t size() const { return std::ssize(group_.documents); }

  // The part of a document's row of shares that is open to it.
  double* open(std::int64_t i) {
    return shares_.data() + i * table_.width + (plan_.first_node(group_.documents[i]) - origin_) * padded_;
  }
  std::int64_t n_open(std::int64_t i) const {
    return plan_.last_node(group_.documents[i]) - plan_.first_node(group_.documents[i]);
  }

  void begin(std::span<const std::int64_t> share_starts, EmResult& result) {
    if constexpr (requires { nodes_.place(table_, first_); })
      if (plan_.start == EmStart::points) {
        nodes_.place(table_, plan_.first_repetition + first_);
        for (std::int64_t i = 0; i < size(); ++i) {
          expect(i, nodes_.document(i));
          keep(i, share_starts, result);
        }
        return;
      }
    for (std::int64_t i = 0; i < size(); ++i) {
      draw(i);
      keep(i, share_starts, result);
      add(i, nodes_.document(i).length);
    }
    update();
  }

  // Random shares of a document: the same for (seed, repetition, document), whatever else is asked for. A
  // document without a class has none.
  void draw(std::int64_t i) {
    const auto d = group_.documents[i];
    if (plan_.classes[d] < 0) return;
    double* const shares = open(i);
    for (std::int64_t r = 0; r < padded_; ++r) {
      RandomStream random(plan_.seed, static_cast<std::uint64_t>(plan_.first_repetition + first_ + r),
                          static_cast<std::uint64_t>(d));
      double sum = 0, most = -1;
      std::int64_t largest = 0;
      for (std::int64_t h = 0; h < n_open(i); ++h) {
        const auto u = random.uniform();
        if (u > most) most = u, largest = h;
        shares[h * padded_ + r] = 1 + u;
        sum += 1 + u;
      }
      for (std::int64_t h = 0; h < n_open(i); ++h) {
        auto& share = shares[h * padded_ + r];
        share = plan_.start == EmStart::random ? static_cast<double>(h == largest) : share / sum;
      }
    }
  }

  void iterate(std::int64_t t, std::span<const std::int64_t> share_starts, EmResult& result,
               std::span<double> objective) {
    for (std::int64_t r = 0; r < n_; ++r) objective[first_ + r] = penalty_[r];
    for (std::int64_t i = 0; i < size(); ++i) {
      const auto document = nodes_.document(i);
      expect(i, document);
      if (t + 1 == plan_.n_iterations) keep(i, share_starts, result);
      const auto weight = plan_.weights[group_.documents[i]];
      if (weight > 0)
        for (std::int64_t r = 0; r < n_; ++r) objective[first_ + r] += weight * log_sums_[r];
      add(i, document.length);
    }
    update();
  }

  // The open shares become r_dh; log_sums_ = log P(c, d), or log P(d) of a document without a class.
  void expect(std::int64_t i, const EmDocument& document) {
    const auto c = plan_.classes[group_.documents[i]];
    double* const shares = open(i);
    score(document, plan_.first_node(group_.documents[i]) - origin_, n_open(i), shares);
    if (c < 0)
      for (auto other = group_.first_class; other < group_.last_class; ++other)
        for (auto h = plan_.node_starts[other] - origin_; h < plan_.node_starts[other + 1] - origin_; ++h)
          for (std::int64_t r = 0; r < padded_; ++r) shares[h * padded_ + r] += log_class(other)[r];
    loops_.normalize(shares, n_open(i), padded_, plan_.hard, log_sums_);
    if (c >= 0)
      for (std::int64_t r = 0; r < padded_; ++r) log_sums_[r] += log_class(c)[r];
  }

  const double* log_class(std::int64_t c) const {
    return table_.class_log_prob.data() + (c - group_.first_class) * padded_;
  }

  // scores = log P(h, d | c), for some nodes of the group: the terms of the sum in eq. 34.
  void score(const EmDocument& document, std::int64_t first, std::int64_t n_nodes, double* scores) const {
    const auto from = first * padded_, width = n_nodes * padded_;
    for (std::int64_t j = 0; j < width; ++j)
      scores[j] = table_.bias[from + j] + document.length * table_.per_length[from + j];
    loops_.gather(document.features, table_.values.data() + from, table_.width, width, scores);
  }

  // The open shares become weight_d r_dh, and are added up.
  void add(std::int64_t i, double length) {
    const auto weight = plan_.weights[group_.documents[i]];
    const auto from = (plan_.first_node(group_.documents[i]) - origin_) * padded_;
    double* const shares = open(i);
    for (std::int64_t j = 0; j < n_open(i) * padded_; ++j) {
      shares[j] *= weight;
      table_.weights[from + j] += shares[j];
      table_.lengths[from + j] += shares[j] * length;  // eq. 27
    }
  }

  void update() {
    nodes_.update(table_, shares_, penalty_);
    std::fill(table_.weights.begin(), table_.weights.end(), 0.0);
    std::fill(table_.lengths.begin(), table_.lengths.end(), 0.0);
  }

  void keep(std::int64_t i, std::span<const std::int64_t> share_starts, EmResult& result) {
    double* out = result.shares.data() + share_starts[group_.documents[i]] * plan_.n_repetitions + first_;
    for (std::int64_t h = 0; h < n_open(i); ++h, out += plan_.n_repetitions)
      std::copy_n(open(i) + h * padded_, n_, out);
  }

  void score_held_out(EmResult& result) {
    std::vector<double> scores(static_cast<std::size_t>(table_.width));
    auto* out = result.held_out.data() + group_.first_class * plan_.n_repetitions + first_;
    for (const auto d : plan_.held_out) {
      const auto document = nodes_.any_document(d);
      for (auto c = group_.first_class; c < group_.last_class; ++c) {
        const auto first = plan_.node_starts[c] - origin_, last = plan_.node_starts[c + 1] - origin_;
        score(document, first, last - first, scores.data());
        loops_.normalize(scores.data(), last - first, padded_, false, log_sums_);  // eq. 34's sum over h
        std::copy_n(log_sums_, n_, out + (c - group_.first_class) * plan_.n_repetitions);
      }
      out += plan_.n_classes() * plan_.n_repetitions;
    }
  }

  const EmLoops& loops_ = em_loops();
  const EmPlan& plan_;
  const EmGroup& group_;
  Nodes& nodes_;
  std::int64_t first_, n_;  // the repetitions of this task
  std::int64_t padded_;     // n_, filled up to a multiple of 4
  std::int64_t origin_;     // the group's first node
  EmTable table_;
  Table<double> shares_;
  double penalty_[max_em_repetitions] = {}, log_sums_[max_em_repetitions] = {};
};

// Where each document's open nodes begin in EmResult::shares, and after the last their number.
inline std::vector<std::int64_t> share_starts(const EmPlan& plan) {
  std::vector<std::int64_t> starts{0};
  starts.reserve(static_cast<std::size_t>(plan.n_documents()) + 1);
  for (std::int64_t d = 0; d < plan.n_documents(); ++d)
    starts.push_back(starts.back() + plan.last_node(d) - plan.first_node(d));
  return starts;
}

// Repetitions that a task takes side by side: rows of three cache lines, so that those of the frequent words
// stay in a core's own cache, and no fewer than a vector holds.
inline std::int64_t repetitions_per_task(std::int64_t n_nodes) {
  return std::clamp<std::int64_t>(24 / n_nodes / 4 * 4, 4, max_em_repetitions);
}

// Runs all groups and repetitions. make(g) gives the Nodes of group g; it is called once for each task.
template <class Make>
EmResult run_em(const EmPlan& plan, std::span<const EmGroup> groups, int n_threads, Make&& make) {
  struct Task {
    std::size_t group;
    std::int64_t first, n;
  };
  std::vector<Task> tasks;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto step = repetitions_per_task(plan.node_starts[groups[g].last_class] -
                                           plan.node_starts[groups[g].first_class]);
    for (std::int64_t r = 0; r < plan.n_repetitions; r += step)
      tasks.push_back({g, r, std::min(step, plan.n_repetitions - r)});
  }
  const auto starts = share_starts(plan);
  const auto n_objective = plan.n_iterations * plan.n_repetitions;
  EmResult result;
  result.shares.resize(static_cast<std::size_t>(starts.back() * plan.n_repetitions));
  result.held_out.resize(
      static_cast<std::size_t>(std::ssize(plan.held_out) * plan.n_classes() * plan.n_repetitions));
  std::vector<double> objectives(groups.size() * static_cast<std::size_t>(n_objective));
  parallel_for(std::ssize(tasks), n_threads, [&](std::int64_t i) {
    const auto [g, first, n] = tasks[i];
    auto nodes = make(g);
    EmTask task(plan, groups[g], nodes, first, n);
    task.run(starts, result, std::span(objectives).subspan(g * n_objective, n_objective));
  });
  result.objective.assign(static_cast<std::size_t>(n_objective), 0);
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (std::int64_t i = 0; i < n_objective; ++i) result.objective[i] += objectives[g * n_objective + i];
  return result;
}

}  // namespace genus
