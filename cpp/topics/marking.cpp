#include "topics/marking.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/fixed_point.h"
#include "base/thread_memory.h"

namespace genus {
namespace {

constexpr std::int64_t documents_per_task = 64;

// The count of class c in a word's row.
double count_of(const WordTableView<std::int64_t>& topics, std::int64_t w, std::int32_t c) {
  const auto [begin, end] = topics.row(w);
  const auto* const last = topics.classes.data() + end;
  const auto* const at = std::lower_bound(topics.classes.data() + begin, last, c);
  return at != last && *at == c ? static_cast<double>(topics.values[at - topics.classes.data()]) / one : 0;
}

// A known word of the document at hand.
struct Known {
  std::int64_t entry;
  double x, background, topic;  // its count, and its probability in the shared topics
  double shares[3];             // of background, topic and own
};

// Fig. 3, steps 2.1 to 2.3, with expected counts.
void repeat(std::vector<Known>& words, const TopicPriors& priors) {
  double n[3] = {};
  for (const auto& word : words)
    for (int j = 0; j < 3; ++j) n[j] += word.x * word.shares[j];
  const auto [alpha, beta, n_words] = priors;
  const double own_weight = (n[2] + alpha) / (n[2] + beta * static_cast<double>(n_words));
  for (auto& word : words) {
    const double b = (n[0] + alpha) * word.background;
    const double t = (n[1] + alpha) * word.topic;
    const double o = own_weight * (word.x * word.shares[2] + beta);
    const double scale = 1 / (b + t + o);
    word.shares[0] = b * scale;
    word.shares[1] = t * scale;
    word.shares[2] = o * scale;
  }
}

}  // namespace

template <class Value>
Buffer<double> mark(const WordTableView<std::int64_t>& topics, std::span<const double> topic_totals,
                    std::span<const double> background, const TopicPriors& priors,
                    const Csr<Value>& documents, std::span<const std::int32_t> codes, int n_repeats,
                    int n_threads) {
  Buffer<double> shares(3 * static_cast<std::size_t>(documents.entries()));
  const double added = priors.beta * static_cast<double>(priors.n_words);
  const double background_total = std::accumulate(background.begin(), background.end(), 0.0) + added;
  const auto n_tasks = (documents.rows() + documents_per_task - 1) / documents_per_task;
  parallel_with_memory(
      n_tasks, n_threads, [] { return std::vector<Known>(); },
      [&](std::int64_t task, std::vector<Known>& words) {
        const auto last = std::min(documents.rows(), (task + 1) * documents_per_task);
        for (auto d = task * documents_per_task; d < last; ++d) {
          const double topic_total = topic_totals[codes[d]] + added;
          words.clear();
          for (auto k = documents.indptr[d]; k < documents.indptr[d + 1]; ++k) {
            std::fill_n(shares.begin() + 3 * k, 3, 0.0);
            const std::int64_t w = documents.indices[k];
            if (w >= std::ssize(background) || !topics.has(w)) continue;
            words.push_back({k,
                             static_cast<double>(documents.values[k]),
                             (background[w] + priors.beta) / background_total,
                             (count_of(topics, w, codes[d]) + priors.beta) / topic_total,
                             {1.0 / 3, 1.0 / 3, 1.0 / 3}});
          }
          for (int i = 0; i < n_repeats; ++i) repeat(words, priors);
          for (const auto& word : words) std::copy_n(word.shares, 3, shares.begin() + 3 * word.entry);
        }
      });
  return shares;
}

template Buffer<double> mark(const WordTableView<std::int64_t>&, std::span<const double>,
                             std::span<const double>, const TopicPriors&, const Csr<float>&,
                             std::span<const std::int32_t>, int, int);
template Buffer<double> mark(const WordTableView<std::int64_t>&, std::span<const double>,
                             std::span<const double>, const TopicPriors&, const Csr<double>&,
                             std::span<const std::int32_t>, int, int);
template Buffer<double> mark(const WordTableView<std::int64_t>&, std::span<const double>,
                             std::span<const double>, const TopicPriors&, const Csr<std::int64_t>&,
                             std::span<const std::int32_t>, int, int);

}  // namespace genus
