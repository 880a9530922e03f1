#include "online/learner.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "online/training_rows.h"

namespace genus {

namespace {

// What a document of class `own`, if that is one of the first `n` models, adds to them; false: nothing.
template <int live>
bool find_losses(const double* odds, int own, int n, double scale, double min_loss, Losses<live>& losses) {
  bool any = false;
  for (int c = 0; c < live; ++c) {
    const double loss = odds[c] / (1 + odds[c]);  // eq. 4, of a document of the other side
    const bool learns = loss > min_loss && c < n && c != own;
    losses.out[c] = learns ? loss * scale : 0.0;
    any |= learns;
  }
  if (own < 0 || own >= n) return any;
  const double loss = 1 / (1 + odds[own]);  // eq. 4, of a document of the class
  if (!(loss > min_loss)) return any;
  losses.own = own;
  losses.in = loss * scale;
  return true;
}

template <int width, int live>
void add_losses(EvidenceBlock& block, const RowList& list, Losses<live> losses, double n_before) {
  const auto& add = online_kernels<width, live>().add;
  add(block.own_rows.data(), list, losses);
  if (block.sums.empty()) return;
  losses.in *= n_before;
  for (auto& loss : losses.out) loss *= n_before;
  add(block.sums.data(), list, losses);
}

// Evidence ages by one document: what one unit of new evidence counts grows.
void age(double& fading, double growth, Table<double>& rows) {
  fading *= growth;
  if (fading <= largest_fading) return;
  for (auto& value : rows) value /= fading;
  fading = 1;
}

}  // namespace

// Calls work<width, live>() with the width of block b and a bound on its models that live.
template <class Work>
void OnlineLearner::for_block(std::int64_t b, Work&& work) const {
  if (width_ == 1)
    work.template operator()<1, 1>();
  else if (n_models() - b * wide <= line)
    work.template operator()<wide, line>();
  else
    work.template operator()<wide, wide>();
}

template <class Value>
void OnlineLearner::learn(const Csr<Value>& documents, std::span<const std::int32_t> codes,
                          std::span<const double> weights, std::span<const std::int64_t> order,
                          int n_threads) {
  own();
  TrainingRows<Value> training(documents, n_words_, options_.binary);
  training.reserve(order.size());
  for (const auto d : order)
    if (weights[d] > 0) training.add(d, weights[d], codes[d]);
  if (training.size() == 0) return;
  if (n_blocks() == 1)
    training.look_at_values();
  else
    training.gather(n_threads);
  if (options_.joint)
    learn_jointly(training);
  else
    learn_apart(training, n_threads);
  n_learned_ += static_cast<double>(training.size());
}

// About how many words will have a row in each block: all that occur where every block learns every document.
// Rows of a single model are short, and there is no need to count exactly.
template <class Value>
std::int64_t OnlineLearner::words_to_learn(const TrainingRows<Value>& training) const {
  if (options_.min_loss > 0) return 0;
  return width_ == 1 ? training.count_entries() : training.count_words();
}

template <class Value>
void OnlineLearner::learn_apart(const TrainingRows<Value>& training, int n_threads) {
  std::vector<double> fadings(blocks_.size());  // all the same in the end
  const auto n_soon = words_to_learn(training);
  parallel_for(n_blocks(), n_threads, [&](std::int64_t b) {
    blocks_[b].spread(n_soon, width_);
    for_block(b, [&]<int width, int live>() { fadings[b] = learn_block<width, live>(b, training); });
  });
  fading_ = fadings.front();
}

// Returns the block's fading.
template <int width, int live, class Value>
double OnlineLearner::learn_block(std::int64_t b, const TrainingRows<Value>& training) {
  auto& block = blocks_[b];
  const auto first = static_cast<std::int32_t>(b) * width;
  const auto n = std::min(live, n_models() - first);
  const auto unfaded = priors();
  const auto faster = growth();
  double fading = fading_;
  EvidenceRows<Value, width> rows(training, block);
  for (std::int64_t i = 0; i < training.size(); ++i) {
    const auto& example = training[i];
    age(fading, faster, block.own_rows);
    if (rows.begins_batch(i)) block.spread(block.index.n_with_rows(), width);
    const auto list = rows.find(i);
    // Algorithm 1, step 2: the posterior (eq. 1), the loss (eq. 4), and f_ic += L(d).
    double odds[live];
    online_kernels<width, live>().odds(block.rows.data(), list, unfaded * fading, odds);
    Losses<live> losses;
    if (!find_losses(odds, example.code - first, n, example.weight * fading, options_.min_loss, losses))
      continue;
    rows.make(block);
    add_losses<width>(block, list, losses, n_learned_ + static_cast<double>(i));
  }
  return fading;
}

template <class Value>
void OnlineLearner::learn_jointly(const TrainingRows<Value>& training) {
  std::vector<EvidenceRows<Value, wide>> rows;
  for (auto& block : blocks_) rows.emplace_back(training, block);
  std::vector<double> scores(blocks_.size() * wide);
  std::vector<RowList> lists(blocks_.size());
  for (std::int64_t i = 0; i < training.size(); ++i) {
    const auto& example = training[i];
    double fading = fading_;
    for (auto& block : blocks_) age(fading = fading_, growth(), block.own_rows);
    fading_ = fading;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (rows[b].begins_batch(i)) blocks_[b].spread(blocks_[b].index.n_with_rows(), wide);
      lists[b] = rows[b].find(i);
      online_kernels<wide, wide>().log_odds(blocks_[b].rows.data(), lists[b], priors() * fading,
                                            scores.data() + b * wide);
    }
    const auto own = example.code;
    double others = 0;  // the odds against the true class
    for (std::int32_t c = 0; c < n_classes_; ++c)
      if (c != own) others += std::exp(std::min(scores[c] - scores[own], 690.0));
    const double loss = others / (1 + others);  // eq. 4, with eq. 1's posterior 1 / (1 + others)
    if (!(loss > options_.min_loss)) continue;
    auto list = lists[own / wide];
    rows[own / wide].make(blocks_[own / wide]);
    list.values = nullptr;  // each word once, as the paper has it
    list.length = static_cast<double>(list.size);
    add_losses<wide, wide>(blocks_[own / wide], list, {own % wide, loss * example.weight * fading, {}},
                           n_learned_ + static_cast<double>(i));
  }
}

template <class Value>
void OnlineLearner::score(const Csr<Value>& documents, std::span<const std::int32_t> place,
                          std::span<double> out, int n_threads) const {
  const auto n_classes = static_cast<std::int32_t>(std::ssize(place));
  parallel_ranges(documents.rows(), 64, n_threads, [&](std::int64_t begin, std::int64_t end) {
    TrainingRows<Value> training(documents, n_words_, options_.binary);
    for (auto d = begin; d < end; ++d) training.add(d, 1, 0);
    for (std::int64_t b = 0; b < n_blocks(); ++b)
      for_block(b, [&]<int width, int live>() {
        const auto first = static_cast<std::int32_t>(b) * width;
        const auto n = std::min({live, n_models() - first, n_classes - first});
        EvidenceRows<Value, width> rows(training, blocks_[b]);
        for (std::int64_t i = 0; i < training.size(); ++i) {
          double scores[live];
          online_kernels<width, live>().log_odds(blocks_[b].rows.data(), rows.find(i), priors() * fading_,
                                                 scores);
          double* const row = out.data() + (begin + i) * n_classes;
          for (int c = 0; c < n; ++c) row[place[first + c]] = scores[c];
          if (n_models() < n_classes) row[place[1]] = 0;
        }
      });
  });
}

template void OnlineLearner::learn(const Csr<float>&, std::span<const std::int32_t>, std::span<const double>,
                                   std::span<const std::int64_t>, int);
template void OnlineLearner::score(const Csr<float>&, std::span<const std::int32_t>, std::span<double>,
                                   int) const;
template void OnlineLearner::learn(const Csr<double>&, std::span<const std::int32_t>, std::span<const double>,
                                   std::span<const std::int64_t>, int);
template void OnlineLearner::score(const Csr<double>&, std::span<const std::int32_t>, std::span<double>,
                                   int) const;
template void OnlineLearner::learn(const Csr<std::int64_t>&, std::span<const std::int32_t>,
                                   std::span<const double>, std::span<const std::int64_t>, int);
template void OnlineLearner::score(const Csr<std::int64_t>&, std::span<const std::int32_t>, std::span<double>,
                                   int) const;

}  // namespace genus
