#include "mixture_em.h"

#include <numeric>

#include "scores.h"

namespace genus {
namespace {

constexpr std::int32_t absent = -1;

using Words = std::vector<std::int32_t>;

// The words that a group's documents have, numbered as they come, so that the frequent ones lie together;
// local[k] becomes the number of an entry's word.
template <class Value>
Words number_words(const Csr<Value>& documents, const EmGroup& group, std::int64_t n_words,
                   std::span<std::int32_t> local) {
  Words found;
  std::vector<std::int32_t> number(static_cast<std::size_t>(n_words), absent);
  for (const auto d : group.documents)
    for (auto k = documents.indptr[d]; k < documents.indptr[d + 1]; ++k) {
      const auto w = documents.indices[k];
      local[k] = absent;
      if (static_cast<std::uint32_t>(w) >= static_cast<std::uint64_t>(n_words)) continue;
      if (number[w] == absent) {
        number[w] = static_cast<std::int32_t>(found.size());
        found.push_back(w);
      }
      local[k] = number[w];
    }
  return found;
}

template <class Value>
std::vector<Words> number_words(const Csr<Value>& documents, std::span<const EmGroup> groups,
                                std::int64_t n_words, std::span<std::int32_t> local, int n_threads) {
  std::vector<Words> words(groups.size());
  parallel_for(std::ssize(groups), n_threads,
               [&](std::int64_t g) { words[g] = number_words(documents, groups[g], n_words, local); });
  return words;
}

// The distributions of one group's nodes; see EmTask. Scores are relative to words that a node has not seen,
// which then cost nothing: log P(w | h) = log(a_h / (T_h + a_h N)) + log1p(count_wh / a_h).
template <class Value>
class MultinomialNodes {
 public:
  MultinomialNodes(const Csr<Value>& documents, const EmPlan& plan, const MultinomialSmoothing& smoothing,
                   const EmGroup& group, std::span<const std::int32_t> words,
                   std::span<const std::int32_t> local)
      : documents_(documents),
        plan_(plan),
        smoothing_(smoothing),
        group_(group),
        words_(words),
        local_(local) {
    if (plan.held_out.empty()) return;
    number_.assign(static_cast<std::size_t>(smoothing.n_words), absent);
    for (std::size_t i = 0; i < words.size(); ++i) number_[words[i]] = static_cast<std::int32_t>(i);
  }

  std::int64_t n_features() const { return std::ssize(words_); }

  double terms(std::int64_t d, std::int64_t width, std::vector<EmTerm>& out) const {
    const auto c = plan_.classes[d];
    const bool own = c < 0 || (group_.first_class <= c && c < group_.last_class);
    const auto first = documents_.indptr[d], last = documents_.indptr[d + 1];
    out.resize(static_cast<std::size_t>(last - first));
    auto* next = out.data();
    double length = 0;
    for (auto k = first; k < last; ++k) {
      const std::int64_t row = own ? local_[k] : number(documents_.indices[k]);
      const auto x = static_cast<double>(documents_.values[k]);
      length += x;
      *next = {row * width, x};
      next += row != absent;
    }
    out.resize(static_cast<std::size_t>(next - out.data()));
    return length;
  }

  void update(NodeTable& table, double* penalty) const {
    set_log_prior(table, plan_, group_, smoothing_.by_words);
    const auto added = pseudo_counts(table);
    std::vector<double> ratio(added.size()), seen(added.size());
    for (std::size_t j = 0; j < added.size(); ++j) ratio[j] = 1 / added[j];
    em_loops().log1p(table.sums.data(), table.values.data(), table.n_features, table.width, ratio.data(),
                     seen.data());
    const auto n_words = static_cast<double>(smoothing_.n_words);
    std::fill_n(penalty, em_lanes, 0.0);
    for (std::size_t j = 0; j < added.size(); ++j) {
      table.per_length[j] = std::log(added[j]) - std::log(table.lengths[j] + added[j] * n_words);
      penalty[j % em_lanes] += added[j] * (seen[j] + n_words * table.per_length[j]);
    }
  }

 private:
  std::int32_t number(std::int32_t w) const {
    return static_cast<std::uint32_t>(w) < number_.size() ? number_[w] : absent;
  }

  // a_h of every column.
  std::vector<double> pseudo_counts(const NodeTable& table) const {
    std::vector<double> added(static_cast<std::size_t>(table.width), smoothing_.alpha);
    if (!smoothing_.proportional) return added;
    const auto origin = plan_.node_starts[group_.first_class];
    for (auto c = group_.first_class; c < group_.last_class; ++c)
      for (std::int64_t lane = 0; lane < em_lanes; ++lane) {
        const auto first = (plan_.node_starts[c] - origin) * em_lanes + lane;
        const auto last = (plan_.node_starts[c + 1] - origin) * em_lanes + lane;
        double words = 0;
        for (auto j = first; j < last; j += em_lanes) words += table.lengths[j];
        for (auto j = first; j < last; j += em_lanes)
          if (table.lengths[j] > 0) added[j] *= table.lengths[j] / words;
      }
    return added;
  }

  const Csr<Value>& documents_;
  const EmPlan& plan_;
  const MultinomialSmoothing& smoothing_;
  const EmGroup& group_;
  std::span<const std::int32_t> words_, local_;
  std::vector<std::int32_t> number_;  // of all words in this group, to score other groups' documents
};

}  // namespace

template <class Value>
EmResult fit_multinomial_nodes(const Csr<Value>& documents, const EmPlan& plan,
                               const MultinomialSmoothing& smoothing, int n_threads) {
  const auto groups = em_groups(plan);
  Buffer<std::int32_t> local(documents.indices.size());
  const auto words = number_words(documents, groups, smoothing.n_words, local, n_threads);
  return run_em(plan, groups, n_threads, [&](std::int64_t g) {
    return MultinomialNodes<Value>(documents, plan, smoothing, groups[g], words[g], local);
  });
}

template <class Value>
WordTable<double> expected_counts(const Csr<Value>& documents, const EmPlan& plan,
                                  std::span<const double> shares, std::int64_t n_words, int n_threads) {
  const auto groups = em_groups(plan);
  const auto starts = share_starts(plan);
  const auto n = plan.n_repetitions;
  Buffer<std::int32_t> local(documents.indices.size());
  const auto words = number_words(documents, groups, n_words, local, n_threads);
  std::vector<Table<double>> tables(groups.size());
  const auto columns = [&](const EmGroup& group) {
    return (plan.node_starts[group.last_class] - plan.node_starts[group.first_class]) * n;
  };
  parallel_for(std::ssize(groups), n_threads, [&](std::int64_t g) {
    const auto width = columns(groups[g]);
    tables[g].resize(words[g].size() * static_cast<std::size_t>(width));
    std::vector<EmTerm> terms;
    for (const auto d : groups[g].documents) {
      terms.clear();
      for (auto k = documents.indptr[d]; k < documents.indptr[d + 1]; ++k)
        if (local[k] != absent)
          terms.push_back({local[k] * width, plan.weights[d] * static_cast<double>(documents.values[k])});
      const auto from = (plan.first_node(d) - plan.node_starts[groups[g].first_class]) * n;
      em_loops().scatter(terms, shares.data() + starts[d] * n, (starts[d + 1] - starts[d]) * n,
                         tables[g].data() + from);
    }
  });

  WordTable<double> result;
  result.indptr.assign(static_cast<std::size_t>(n_words) + 1, 0);
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const auto w : words[g]) result.indptr[w + 1] += columns(groups[g]);
  std::partial_sum(result.indptr.begin(), result.indptr.end(), result.indptr.begin());
  result.classes.resize(static_cast<std::size_t>(result.indptr.back()));
  result.values.resize(result.classes.size());
  std::vector<std::int64_t> next(result.indptr.begin(), result.indptr.end() - 1);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto width = columns(groups[g]);
    const auto first = plan.node_starts[groups[g].first_class] * n;
    for (std::size_t i = 0; i < words[g].size(); ++i) {
      auto& at = next[words[g][i]];
      std::iota(result.classes.begin() + at, result.classes.begin() + at + width,
                static_cast<std::int32_t>(first));
      std::copy_n(tables[g].begin() + static_cast<std::int64_t>(i) * width, width,
                  result.values.begin() + at);
      at += width;
    }
  }
  return result;
}

void average_posteriors(std::span<const double> scores, std::span<const std::int64_t> node_starts,
                        std::span<const double> log_prior, std::int64_t n_repetitions, std::span<double> out,
                        int n_threads) {
  const auto n_classes = std::ssize(node_starts) - 1;
  const auto width = node_starts.back() * n_repetitions;
  const auto n = width > 0 ? std::ssize(scores) / width : 0;
  const auto log_sum = [](std::int64_t count, auto&& at) {
    double most = -std::numeric_limits<double>::infinity(), sum = 0;
    for (std::int64_t i = 0; i < count; ++i) most = std::max(most, at(i));
    if (std::isinf(most)) return most;
    for (std::int64_t i = 0; i < count; ++i) sum += std::exp(at(i) - most);
    return most + std::log(sum);
  };
  parallel_ranges(n, rows_per_task(width), n_threads, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> joint(static_cast<std::size_t>(n_classes * n_repetitions));
    std::vector<double> evidence(static_cast<std::size_t>(n_repetitions));
    for (auto d = begin; d < end; ++d) {
      const double* const row = scores.data() + d * width;
      for (std::int64_t c = 0; c < n_classes; ++c)
        for (std::int64_t r = 0; r < n_repetitions; ++r)
          joint[c * n_repetitions + r] = log_prior[c * n_repetitions + r] +
                                         log_sum(node_starts[c + 1] - node_starts[c], [&](std::int64_t h) {
                                           return row[(node_starts[c] + h) * n_repetitions + r];
                                         });
      for (std::int64_t r = 0; r < n_repetitions; ++r)
        evidence[r] = log_sum(n_classes, [&](std::int64_t c) { return joint[c * n_repetitions + r]; });
      const auto log_n = std::log(static_cast<double>(n_repetitions));
      const auto log_evidence = log_sum(n_repetitions, [&](std::int64_t r) { return evidence[r]; }) - log_n;
      for (std::int64_t c = 0; c < n_classes; ++c)
        out[d * n_classes + c] = log_evidence - log_n + log_sum(n_repetitions, [&](std::int64_t r) {
                                   return joint[c * n_repetitions + r] - evidence[r];
                                 });
    }
  });
}

template EmResult fit_multinomial_nodes(const Csr<float>&, const EmPlan&, const MultinomialSmoothing&, int);
template EmResult fit_multinomial_nodes(const Csr<double>&, const EmPlan&, const MultinomialSmoothing&, int);
template EmResult fit_multinomial_nodes(const Csr<std::int64_t>&, const EmPlan&, const MultinomialSmoothing&,
                                        int);
template WordTable<double> expected_counts(const Csr<float>&, const EmPlan&, std::span<const double>,
                                           std::int64_t, int);
template WordTable<double> expected_counts(const Csr<double>&, const EmPlan&, std::span<const double>,
                                           std::int64_t, int);
template WordTable<double> expected_counts(const Csr<std::int64_t>&, const EmPlan&, std::span<const double>,
                                           std::int64_t, int);

}  // namespace genus
