#include "mixtures/multinomial_em.h"

#include <limits>
#include <numeric>

#include "tables/log_rows.h"

namespace genus {
namespace {

constexpr std::int32_t absent = -1;

// A group's documents by rows and by words. Words are numbered as they come, so that the frequent ones lie
// together. 24 bytes per entry.
struct GroupEntries {
  std::vector<std::int32_t> words;  // by their number
  std::vector<std::int64_t> row_starts{0}, word_starts;
  Buffer<std::int32_t> numbers,
      documents;  // of each entry: its word; by words, its document's place in the group
  Buffer<double> x, x_by_word;
  std::vector<double> lengths;  // of documents

  EmEntries row(std::int64_t i) const { return part(numbers, x, row_starts, i); }
  EmEntries postings(std::int64_t w) const { return part(documents, x_by_word, word_starts, w); }

 private:
  static EmEntries part(const Buffer<std::int32_t>& rows, const Buffer<double>& x,
                        const std::vector<std::int64_t>& starts, std::int64_t i) {
    return {rows.data() + starts[i], x.data() + starts[i], starts[i + 1] - starts[i]};
  }
};

template <class Value>
GroupEntries group_entries(const Csr<Value>& documents, const EmGroup& group, std::int64_t n_words) {
  GroupEntries found;
  std::vector<std::int32_t> number(static_cast<std::size_t>(n_words), absent);
  std::vector<std::int64_t> counts;
  std::int64_t n_entries = 0;
  for (const auto d : group.documents) n_entries += documents.indptr[d + 1] - documents.indptr[d];
  found.numbers.reserve(static_cast<std::size_t>(n_entries));
  found.x.reserve(static_cast<std::size_t>(n_entries));
  for (const auto d : group.documents) {
    double length = 0;
    for (auto k = documents.indptr[d]; k < documents.indptr[d + 1]; ++k) {
      const auto w = documents.indices[k];
      if (static_cast<std::uint32_t>(w) >= static_cast<std::uint64_t>(n_words)) continue;
      if (number[w] == absent) {
        number[w] = static_cast<std::int32_t>(found.words.size());
        found.words.push_back(w);
        counts.push_back(0);
      }
      ++counts[number[w]];
      found.numbers.push_back(number[w]);
      found.x.push_back(static_cast<double>(documents.values[k]));
      length += found.x.back();
    }
    found.row_starts.push_back(std::ssize(found.numbers));
    found.lengths.push_back(length);
  }
  found.word_starts.assign(counts.size() + 1, 0);
  std::partial_sum(counts.begin(), counts.end(), found.word_starts.begin() + 1);
  found.documents.resize(found.numbers.size());
  found.x_by_word.resize(found.numbers.size());
  auto next = found.word_starts;
  for (std::int64_t i = 0; i < std::ssize(group.documents); ++i)
    for (auto k = found.row_starts[i]; k < found.row_starts[i + 1]; ++k) {
      const auto at = next[found.numbers[k]]++;
      found.documents[at] = static_cast<std::int32_t>(i);
      found.x_by_word[at] = found.x[k];
    }
  return found;
}

template <class Value>
std::vector<GroupEntries> all_entries(const Csr<Value>& documents, std::span<const EmGroup> groups,
                                      std::int64_t n_words, int n_threads) {
  std::vector<GroupEntries> entries(groups.size());
  parallel_for(std::ssize(groups), n_threads,
               [&](std::int64_t g) { entries[g] = group_entries(documents, groups[g], n_words); });
  return entries;
}

// The distributions of one group's nodes; see EmTask. Scores are relative to words that a node has not seen,
// which then cost nothing: log P(w | h) = log(a_h / (T_h + a_h N)) + log1p(count_wh / a_h).
template <class Value>
class MultinomialNodes {
 public:
  MultinomialNodes(const Csr<Value>& documents, const EmPlan& plan, const MultinomialSmoothing& smoothing,
                   const EmGroup& group, const GroupEntries& entries)
      : documents_(documents), plan_(plan), smoothing_(smoothing), group_(group), entries_(entries) {
    if (plan.held_out.empty()) return;
    number_.assign(static_cast<std::size_t>(smoothing.n_words), absent);
    for (std::size_t i = 0; i < entries.words.size(); ++i)
      number_[entries.words[i]] = static_cast<std::int32_t>(i);
  }

  std::int64_t n_features() const { return std::ssize(entries_.words); }

  EmDocument document(std::int64_t i) const { return {entries_.row(i), entries_.lengths[i]}; }

  EmDocument any_document(std::int64_t d) {
    rows_.clear();
    x_.clear();
    double length = 0;
    for (auto k = documents_.indptr[d]; k < documents_.indptr[d + 1]; ++k) {
      const auto w = static_cast<std::uint32_t>(documents_.indices[k]);
      if (w >= number_.size()) continue;
      const auto x = static_cast<double>(documents_.values[k]);
      length += x;
      if (number_[w] == absent) continue;
      rows_.push_back(number_[w]);
      x_.push_back(x);
    }
    return {{rows_.data(), x_.data(), std::ssize(rows_)}, length};
  }

  void update(EmTable& table, std::span<const double> shares, double* penalty) const {
    set_log_prior(table, plan_, group_, smoothing_.by_words);
    const auto added = pseudo_counts(table);
    std::vector<double> ratio(added.size()), seen(added.size()), counts(added.size());
    for (std::size_t j = 0; j < added.size(); ++j) ratio[j] = 1 / added[j];
    const auto& loops = em_loops();
    for (std::int64_t w = 0; w < table.n_features; ++w) {
      std::fill(counts.begin(), counts.end(), 0.0);
      // eq. 28: the numerator of every column, and below the denominator
      loops.gather(entries_.postings(w), shares.data(), table.width, table.width, counts.data());
      loops.log1p(counts.data(), ratio.data(), table.width, table.values.data() + w * table.width,
                  seen.data());
    }
    const auto n_words = static_cast<double>(smoothing_.n_words);
    std::fill_n(penalty, table.n_repetitions, 0.0);
    for (std::int64_t j = 0; j < table.width; ++j) {
      table.per_length[j] = std::log(added[j]) - std::log(table.lengths[j] + added[j] * n_words);
      penalty[j % table.n_repetitions] += added[j] * (seen[j] + n_words * table.per_length[j]);
    }
  }

 private:
  // a_h of every column.
  std::vector<double> pseudo_counts(const EmTable& table) const {
    std::vector<double> added(static_cast<std::size_t>(table.width), smoothing_.alpha);
    if (!smoothing_.proportional) return added;
    const auto origin = plan_.node_starts[group_.first_class], n_repetitions = table.n_repetitions;
    for (auto c = group_.first_class; c < group_.last_class; ++c)
      for (std::int64_t r = 0; r < n_repetitions; ++r) {
        const auto first = (plan_.node_starts[c] - origin) * n_repetitions + r;
        const auto last = (plan_.node_starts[c + 1] - origin) * n_repetitions + r;
        double words = 0;
        for (auto j = first; j < last; j += n_repetitions) words += table.lengths[j];
        for (auto j = first; j < last; j += n_repetitions)
          if (table.lengths[j] > 0) added[j] *= table.lengths[j] / words;
      }
    return added;
  }

  const Csr<Value>& documents_;
  const EmPlan& plan_;
  const MultinomialSmoothing& smoothing_;
  const EmGroup& group_;
  const GroupEntries& entries_;
  std::vector<std::int32_t> number_;  // of all words in this group, to score other groups' documents
  std::vector<std::int32_t> rows_;    // of the last document that was asked for
  std::vector<double> x_;
};

}  // namespace

template <class Value>
EmResult fit_multinomial_nodes(const Csr<Value>& documents, const EmPlan& plan,
                               const MultinomialSmoothing& smoothing, int n_threads) {
  const auto groups = em_groups(plan);
  const auto entries = all_entries(documents, groups, smoothing.n_words, n_threads);
  return run_em(plan, groups, n_threads, [&](std::int64_t g) {
    return MultinomialNodes<Value>(documents, plan, smoothing, groups[g], entries[g]);
  });
}

template <class Value>
WordTable<double> expected_counts(const Csr<Value>& documents, const EmPlan& plan,
                                  std::span<const double> shares, std::int64_t n_words, int n_threads) {
  const auto groups = em_groups(plan);
  const auto starts = share_starts(plan);
  const auto n = plan.n_repetitions;
  const auto entries = all_entries(documents, groups, n_words, n_threads);
  std::vector<Table<double>> tables(groups.size());
  const auto columns = [&](const EmGroup& group) {
    return (plan.node_starts[group.last_class] - plan.node_starts[group.first_class]) * n;
  };
  parallel_for(std::ssize(groups), n_threads, [&](std::int64_t g) {
    const auto width = columns(groups[g]);
    tables[g].resize(entries[g].words.size() * static_cast<std::size_t>(width));
    std::vector<double> weighted;
    for (std::int64_t i = 0; i < std::ssize(groups[g].documents); ++i) {
      const auto d = groups[g].documents[i];
      weighted.assign(shares.begin() + starts[d] * n, shares.begin() + starts[d + 1] * n);
      for (auto& share : weighted) share *= plan.weights[d];
      const auto from = (plan.first_node(d) - plan.node_starts[groups[g].first_class]) * n;
      em_loops().scatter(entries[g].row(i), weighted.data(), width, std::ssize(weighted),
                         tables[g].data() + from);
    }
  });

  WordTable<double> result;
  result.indptr.assign(static_cast<std::size_t>(n_words) + 1, 0);
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const auto w : entries[g].words) result.indptr[w + 1] += columns(groups[g]);
  std::partial_sum(result.indptr.begin(), result.indptr.end(), result.indptr.begin());
  result.classes.resize(static_cast<std::size_t>(result.indptr.back()));
  result.values.resize(result.classes.size());
  std::vector<std::int64_t> next(result.indptr.begin(), result.indptr.end() - 1);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto width = columns(groups[g]);
    const auto first = plan.node_starts[groups[g].first_class] * n;
    for (std::size_t i = 0; i < entries[g].words.size(); ++i) {
      auto& at = next[entries[g].words[i]];
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
          // eq. 34
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
