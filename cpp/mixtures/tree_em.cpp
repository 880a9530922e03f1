#include "mixtures/tree_em.h"

#include <array>
#include <atomic>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <utility>

#include "base/fixed_point.h"
#include "base/parallel.h"
#include "tables/path_counts.h"

namespace genus {
namespace {

constexpr std::int64_t entries_per_task = 1 << 15;
constexpr double smallest_weight = 1e-9;  // of the uniform distribution: every word stays possible
constexpr double smallest_share = 1e-30;  // of a word: less is none, before single precision ends
constexpr double rounding = 1e-9;  // what is left of a count, relative to it, that is nothing but rounding

// How many words some class has.
std::int64_t n_seen(const WordTableView<std::int64_t>& counts) {
  std::int64_t n = 0;
  for (std::int64_t w = 0; w < counts.words(); ++w) n += counts.row(w).end > counts.row(w).begin;
  return n;
}

// Words x classes turned into classes x words.
NodeTable by_class(const WordTableView<std::int64_t>& counts, std::int64_t n_classes) {
  NodeTable cells;
  cells.indptr.assign(static_cast<std::size_t>(n_classes) + 1, 0);
  for (const auto c : counts.classes) ++cells.indptr[c + 1];
  std::partial_sum(cells.indptr.begin(), cells.indptr.end(), cells.indptr.begin());
  cells.words.resize(counts.classes.size());
  cells.counts.resize(counts.classes.size());
  std::vector<std::int64_t> next(cells.indptr.begin(), cells.indptr.end() - 1);
  for (std::int64_t w = 0; w < counts.words(); ++w) {
    const auto [begin, end] = counts.row(w);
    for (auto k = begin; k < end; ++k) {
      const auto at = next[counts.classes[k]]++;
      cells.words[at] = static_cast<std::int32_t>(w);
      cells.counts[at] = static_cast<double>(counts.values[k]) / one;
    }
  }
  return cells;
}

// So many numbers, or any number of them where that is 0.
template <std::size_t known>
using Numbers = std::conditional_t<known == 0, std::vector<double>, std::array<double, known>>;

// Some documents of one class: what a thread works on at a time.
struct Task {
  std::int64_t class_id, begin, end;  // a range of `order`
  std::int64_t estimates;             // where its estimates begin
};

class Fit {
 public:
  Fit(const WordTableView<std::int64_t>& counts, const TreeDocuments& documents, const TreePaths& paths,
      const TreeWeights& groups, const TreeSettings& settings, int n_threads)
      : documents_(documents),
        paths_(paths),
        groups_(groups),
        settings_(settings),
        n_threads_(n_threads),
        n_words_(counts.words()),
        uniform_(1.0 / static_cast<double>(std::max<std::int64_t>(n_seen(counts), 1))),
        levels_(paths.longest()),
        cells_(by_class(counts, paths.classes())) {
    count_entries();
    place_classes();
    plan_tasks();
    find_classes_below();
    for (std::int64_t g = 0; g < groups.n_groups(); ++g) {
      const auto n = groups.indptr[g + 1] - groups.indptr[g];
      weights_.insert(weights_.end(), static_cast<std::size_t>(n), 1.0 / static_cast<double>(n));
    }
  }

  TreeModel run() {
    pool();
    find_weights();
    for (int i = 0; i < settings_.n_iterations; ++i) {
      move_words();
      pool();
      find_weights();
    }
    return {std::move(weights_), std::move(nodes_)};
  }

 private:
  NodeTableView nodes() const { return {nodes_.indptr, nodes_.words, nodes_.counts}; }
  Row cells_of(std::int64_t c) const { return {cells_.indptr[c], cells_.indptr[c + 1]}; }

  // Calls work(i, path_counts, shares) for i in [0, n); each thread has its own path_counts of the nodes as
  // they are, and a place to spread out a class's shares, of zeros.
  template <class Work>
  void with_path_counts(std::int64_t n, Work&& work) const {
    std::atomic<std::int64_t> next{0};
    const auto workers = std::min<std::int64_t>(std::max(n_threads_, 1), n);
    parallel_for(workers, n_threads_, [&](std::int64_t) {
      PathCounts path_counts(nodes(), n_words_, levels_);
      Table<float> shares(shares_.empty() ? 0 : static_cast<std::size_t>(n_words_ * levels_), 0.0F);
      for (std::int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < n;)
        work(i, path_counts, shares);
    });
  }

  void count_entries() {
    counted_.resize(documents_.rows.values.size());
    parallel_ranges(documents_.rows.rows(), 256, n_threads_, [&](std::int64_t begin, std::int64_t end) {
      for (auto d = begin; d < end; ++d)
        for (auto k = documents_.rows.indptr[d]; k < documents_.rows.indptr[d + 1]; ++k)
          counted_[k] =
              static_cast<double>(round_to_fixed(documents_.rows.values[k] * documents_.scales[d])) / one;
    });
  }

  // Classes in the order of the tree, so that PathCounts reloads little from one to the next; and where each
  // one's numbers for (cell, level) pairs begin.
  void place_classes() {
    const auto n = paths_.classes();
    tree_order_.resize(static_cast<std::size_t>(n));
    std::iota(tree_order_.begin(), tree_order_.end(), 0);
    std::sort(tree_order_.begin(), tree_order_.end(), [&](auto a, auto b) {
      const auto left = paths_.path(a), right = paths_.path(b);
      return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end());
    });
    share_starts_.assign(static_cast<std::size_t>(n) + 1, 0);
    for (std::int64_t c = 0; c < n; ++c) {
      const auto [begin, end] = cells_of(c);
      share_starts_[c + 1] = share_starts_[c] + (end - begin) * paths_.length(c);
    }
  }

  void plan_tasks() {
    const auto n_classes = paths_.classes();
    std::vector<std::int64_t> starts(static_cast<std::size_t>(n_classes) + 1, 0);
    for (const auto c : documents_.classes) ++starts[c + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    order_.resize(documents_.classes.size());
    auto next = starts;
    for (std::size_t d = 0; d < order_.size(); ++d)
      order_[next[documents_.classes[d]]++] = static_cast<std::int64_t>(d);
    std::int64_t estimates = 0;
    for (const auto c : tree_order_) {
      auto begin = starts[c];
      std::int64_t entries = 0;
      for (auto i = begin; i < starts[c + 1]; ++i) {
        entries += documents_.rows.indptr[order_[i] + 1] - documents_.rows.indptr[order_[i]];
        if (entries < entries_per_task && i + 1 < starts[c + 1]) continue;
        tasks_.push_back({c, begin, i + 1, estimates});
        estimates += std::exchange(entries, 0) * paths_.length(c);
        begin = i + 1;
      }
    }
    estimates_.resize(static_cast<std::size_t>(estimates));
  }

  // For each node the classes below it, with the node's place on their paths.
  void find_classes_below() {
    below_.resize(static_cast<std::size_t>(paths_.n_nodes));
    for (std::int64_t c = 0; c < paths_.classes(); ++c) {
      const auto path = paths_.path(c);
      for (std::int64_t j = 0; j < std::ssize(path); ++j) below_[path[j]].push_back({c, j});
    }
  }

  // M_vw = sum over classes c below v of n_cw * P(v|c,w), all of n_cw before words were first moved (eq. 6).
  void pool() {
    std::vector<std::vector<std::int32_t>> words(below_.size());
    std::vector<std::vector<double>> counts(below_.size());
    parallel_for(std::ssize(below_), n_threads_, [&](std::int64_t v) {
      if (below_[v].size() == 1)
        scale_row(below_[v].front(), words[v], counts[v]);
      else if (!below_[v].empty())
        add_rows(below_[v], words[v], counts[v]);
    });
    nodes_.indptr.assign(below_.size() + 1, 0);
    for (std::size_t v = 0; v < below_.size(); ++v)
      nodes_.indptr[v + 1] = nodes_.indptr[v] + std::ssize(words[v]);
    nodes_.words.resize(static_cast<std::size_t>(nodes_.indptr.back()));
    nodes_.counts.resize(nodes_.words.size());
    parallel_for(std::ssize(below_), n_threads_, [&](std::int64_t v) {
      std::copy(words[v].begin(), words[v].end(), nodes_.words.begin() + nodes_.indptr[v]);
      std::copy(counts[v].begin(), counts[v].end(), nodes_.counts.begin() + nodes_.indptr[v]);
    });
    totals_ = nodes().totals();
  }

  double part(const std::pair<std::int64_t, std::int64_t>& place, std::int64_t k) const {
    const auto [c, level] = place;
    if (shares_.empty()) return cells_.counts[k];
    const auto at = share_starts_[c] + (k - cells_.indptr[c]) * paths_.length(c) + level;
    return cells_.counts[k] * static_cast<double>(shares_[at]);  // n_cw * P(v|c,w) of eq. 6
  }

  void scale_row(const std::pair<std::int64_t, std::int64_t>& place, std::vector<std::int32_t>& words,
                 std::vector<double>& counts) const {
    const auto [begin, end] = cells_of(place.first);
    words.assign(cells_.words.begin() + begin, cells_.words.begin() + end);
    counts.resize(words.size());
    for (auto k = begin; k < end; ++k) counts[k - begin] = part(place, k);
  }

  void add_rows(const std::vector<std::pair<std::int64_t, std::int64_t>>& places,
                std::vector<std::int32_t>& words, std::vector<double>& counts) const {
    Table<double> sums(static_cast<std::size_t>(n_words_), 0.0);
    std::vector<bool> seen(static_cast<std::size_t>(n_words_), false);
    for (const auto& place : places) {
      const auto [begin, end] = cells_of(place.first);
      for (auto k = begin; k < end; ++k) {
        const auto w = cells_.words[k];
        sums[w] += part(place, k);
        if (seen[w]) continue;
        seen[w] = true;
        words.push_back(w);
      }
    }
    std::sort(words.begin(), words.end());
    counts.resize(words.size());
    for (std::size_t k = 0; k < words.size(); ++k) counts[k] = sums[words[k]];
  }

  // P(v|c,w) for every word of every class and every node of its path (eq. 5).
  void move_words() {
    Buffer<float> shares(static_cast<std::size_t>(share_starts_.back()));
    with_path_counts(paths_.classes(), [&](std::int64_t i, PathCounts& path_counts, Table<float>&) {
      const auto c = tree_order_[i];
      const auto path = paths_.path(c);
      const auto n = std::ssize(path);
      const double* const weights = weights_of(c);
      const double uniform = weights[0] * tempered(uniform_);
      path_counts.load(path);
      std::vector<double> likely(static_cast<std::size_t>(n));
      const auto [begin, end] = cells_of(c);
      auto* out = shares.data() + share_starts_[c];
      for (auto k = begin; k < end; ++k, out += n) {
        const double* const counts = path_counts.of_word(cells_.words[k]);
        double sum = uniform;
        for (std::int64_t j = 0; j < n; ++j) {
          const auto total = totals_[path[j]];
          likely[j] = total > 0 ? weights[j + 1] * tempered(counts[j] / total) : 0.0;
          sum += likely[j];
        }
        for (std::int64_t j = 0; j < n; ++j) {
          const double share = likely[j] / sum;  // eq. 5
          out[j] = share > smallest_share ? static_cast<float>(share) : 0.0F;
        }
      }
    });
    shares_ = std::move(shares);
  }

  double tempered(double p) const { return settings_.tempering == 1 ? p : std::pow(p, settings_.tempering); }

  const double* weights_of(std::int64_t c) const {
    return weights_.data() + groups_.indptr[groups_.groups[c]];
  }

  // EM for P(v|c) on held-out estimates (eq. 7).
  void find_weights() {
    estimate();
    for (int step = 0; step < settings_.n_weight_steps; ++step) improve_weights();
  }

  // E_v(d,w) = (M_vw - x_dw*q) / (M_v - sum over w of x_dw*q): P(w|v) without the document, q being the
  // part of it that the node holds, P(v|c,w). 0 where nothing else is left.
  void estimate() {
    with_path_counts(std::ssize(tasks_), [&](std::int64_t i, PathCounts& path_counts, Table<float>& shares) {
      const auto& task = tasks_[i];
      path_counts.load(paths_.path(task.class_id));
      spread_shares(task.class_id, shares, true);
      auto* out = estimates_.data() + task.estimates;
      for (auto at = task.begin; at < task.end; ++at)
        out = estimate_document(order_[at], task.class_id, path_counts, shares, out);
      spread_shares(task.class_id, shares, false);
    });
  }

  float* estimate_document(std::int64_t d, std::int64_t c, const PathCounts& path_counts,
                           const Table<float>& shares, float* out) {
    const auto path = paths_.path(c);
    const auto n = std::ssize(path);
    const Row row{documents_.rows.indptr[d], documents_.rows.indptr[d + 1]};
    const double* const left_out = documents_.left_out.data() + d * levels_;
    const auto taken = [&](std::int64_t k, std::int64_t j) {
      const auto x = counted_[k] * left_out[j];
      return shares.empty() ? x : x * static_cast<double>(shares[documents_.rows.indices[k] * levels_ + j]);
    };
    std::vector<double> scale(static_cast<std::size_t>(n));
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (auto k = row.begin; k < row.end; ++k) sum += taken(k, j);
      scale[j] = inverse(remainder(totals_[path[j]], sum));
    }
    for (auto k = row.begin; k < row.end; ++k) {
      const double* const counts = path_counts.of_word(documents_.rows.indices[k]);
      for (std::int64_t j = 0; j < n; ++j)
        *out++ = static_cast<float>(remainder(counts[j], taken(k, j)) * scale[j]);
    }
    return out;
  }

  static double remainder(double count, double taken) {
    const double left = count - taken;
    return left > rounding * count ? left : 0.0;
  }
  static double inverse(double x) { return x > 0 ? 1 / x : 0.0; }

  // Writes the shares of class c by word, or makes them zeros again.
  void spread_shares(std::int64_t c, Table<float>& spread, bool fill) const {
    if (spread.empty()) return;
    const auto n = paths_.length(c);
    const auto [begin, end] = cells_of(c);
    const auto* from = shares_.data() + share_starts_[c];
    for (auto k = begin; k < end; ++k, from += n)
      for (std::int64_t j = 0; j < n; ++j) spread[cells_.words[k] * levels_ + j] = fill ? from[j] : 0.0F;
  }

  void improve_weights() {
    const auto stride = levels_ + 1;
    std::vector<double> sums(tasks_.size() * static_cast<std::size_t>(stride), 0.0);
    parallel_for(std::ssize(tasks_), n_threads_,
                 [&](std::int64_t i) { add_posteriors(tasks_[i], sums.data() + i * stride); });
    std::vector<double> mass(weights_.size(), 0.0);  // by group and node; tasks always add in this order
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const auto c = tasks_[i].class_id;
      auto* to = mass.data() + groups_.indptr[groups_.groups[c]];
      for (std::int64_t j = 0; j <= paths_.length(c); ++j) to[j] += sums[i * stride + j];
    }
    for (std::int64_t g = 0; g < groups_.n_groups(); ++g) {
      const auto begin = groups_.indptr[g], end = groups_.indptr[g + 1];
      double total = 0;
      for (auto j = begin; j < end; ++j) total += mass[j];
      if (!(total > 0)) continue;  // no document has said anything
      mass[begin] = std::max(mass[begin], smallest_weight * total);
      total = std::accumulate(mass.begin() + begin, mass.begin() + end, 0.0);
      for (auto j = begin; j < end; ++j) weights_[j] = mass[j] / total;  // eq. 7
    }
  }

  // Adds x_dw * P(v|c,w) over a task's entries, to sums[0] for the uniform distribution. Usual lengths of
  // paths are known to the compiler, which keeps weights and sums in registers.
  void add_posteriors(const Task& task, double* sums) const {
    switch (paths_.length(task.class_id)) {
      case 2:
        return add_posteriors_of<2>(task, sums, 2);
      case 3:
        return add_posteriors_of<3>(task, sums, 3);
      case 4:
        return add_posteriors_of<4>(task, sums, 4);
      case 5:
        return add_posteriors_of<5>(task, sums, 5);
      default:
        return add_posteriors_of<0>(task, sums, paths_.length(task.class_id));
    }
  }

  template <std::size_t known>
  void add_posteriors_of(const Task& task, double* sums, std::int64_t length) const {
    const auto n = known > 0 ? known : static_cast<std::size_t>(length);
    Numbers<known> weights{}, added{};
    if constexpr (known == 0) {
      weights.resize(n);
      added.resize(n);
    }
    std::copy_n(weights_of(task.class_id) + 1, n, weights.begin());
    const double uniform = weights_of(task.class_id)[0] * uniform_;
    const float* estimates = estimates_.data() + task.estimates;
    double rest = 0;
    for (auto at = task.begin; at < task.end; ++at) {
      const auto d = order_[at];
      for (auto k = documents_.rows.indptr[d]; k < documents_.rows.indptr[d + 1]; ++k, estimates += n) {
        double likely = uniform;
        for (std::size_t j = 0; j < n; ++j) likely += weights[j] * static_cast<double>(estimates[j]);
        const double x = counted_[k] / likely;
        rest += x;
        for (std::size_t j = 0; j < n; ++j) added[j] += x * static_cast<double>(estimates[j]);
      }
    }
    // eq. 7's sums, over words, of n_cw * P(v|c,w), with the posteriors of eq. 5
    sums[0] = rest * uniform;
    for (std::size_t j = 0; j < n; ++j) sums[j + 1] = added[j] * weights[j];
  }

  TreeDocuments documents_;
  TreePaths paths_;
  TreeWeights groups_;
  TreeSettings settings_;
  int n_threads_;
  std::int64_t n_words_;
  double uniform_;  // 1 / N
  std::int64_t levels_;
  NodeTable cells_;         // n_cw, by class
  Buffer<double> counted_;  // what each entry adds to them
  std::vector<std::int64_t> tree_order_;
  std::vector<std::int64_t> share_starts_;
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> below_;
  std::vector<std::int64_t> order_;  // documents by class
  std::vector<Task> tasks_;
  Buffer<float> estimates_;      // E_v(d,w), task by task
  Buffer<float> shares_;         // P(v|c,w) by class, cell and level; empty before words were first moved
  std::vector<double> weights_;  // P(v|c)
  NodeTable nodes_;              // M_vw
  std::vector<double> totals_;   // M_v
};

}  // namespace

std::vector<double> NodeTableView::totals() const {
  std::vector<double> sums(static_cast<std::size_t>(nodes()), 0.0);
  for (std::int64_t v = 0; v < nodes(); ++v) {
    const auto [begin, end] = row(v);
    for (auto k = begin; k < end; ++k) sums[v] += counts[k];
  }
  return sums;
}

TreeModel fit_tree(const WordTableView<std::int64_t>& counts, const TreeDocuments& documents,
                   const TreePaths& paths, const TreeWeights& groups, const TreeSettings& settings,
                   int n_threads) {
  return Fit(counts, documents, paths, groups, settings, n_threads).run();
}

}  // namespace genus
