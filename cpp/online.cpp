#include "online.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "lessons.h"
#include "parallel.h"

namespace genus {

namespace {

constexpr std::int64_t ahead = 3;  // documents whose rows are asked for before they are read

template <int width>
void log_odds(const EvidenceBlock& block, const RowList& list, const EvidenceScales& scales, double* out) {
  if (list.values) return online_kernels<width>().log_odds(block.rows.data(), list, scales, out);
  std::int64_t exponent[width];
  online_kernels<width>().odds(block.rows.data(), list, scales, out, exponent);
  for (int c = 0; c < width; ++c)
    out[c] = std::log(out[c]) + static_cast<double>(exponent[c]) * std::numbers::ln2;
}

// The odds themselves, between about 2^-1000 and 2^1000.
template <int width>
void odds(const EvidenceBlock& block, const RowList& list, const EvidenceScales& scales, double* out) {
  if (list.values) {
    online_kernels<width>().log_odds(block.rows.data(), list, scales, out);
    for (int c = 0; c < width; ++c) out[c] = std::exp(std::clamp(out[c], -690.0, 690.0));
    return;
  }
  std::int64_t exponent[width];
  online_kernels<width>().odds(block.rows.data(), list, scales, out, exponent);
  for (int c = 0; c < width; ++c) {
    const auto power = std::clamp<std::int64_t>(exponent[c], -1000, 1000);
    out[c] = std::bit_cast<double>(std::bit_cast<std::int64_t>(out[c]) + (power << 52));
  }
}

// What a document adds to the models of a block.
template <int width>
struct Losses {
  int own = -1;
  double in = 0;
  double out[width] = {};
};

template <int width>
void add_losses(EvidenceBlock& block, const RowList& list, Losses<width> losses, double n_before) {
  const auto& add = online_kernels<width>().add;
  add(block.own_rows.data(), list, losses.own, losses.in, losses.out);
  if (block.sums.empty()) return;
  losses.in *= n_before;
  for (auto& loss : losses.out) loss *= n_before;
  add(block.sums.data(), list, losses.own, losses.in, losses.out);
}

// Evidence ages by one document: what one unit of new evidence counts grows.
void age(double& fading, double growth, Table<double>& rows) {
  fading *= growth;
  if (fading <= largest_fading) return;
  for (auto& value : rows) value /= fading;
  fading = 1;
}

}  // namespace

template <class Value>
void OnlineLearner::learn(const Csr<Value>& documents, std::span<const std::int32_t> codes,
                          std::span<const double> weights, std::span<const std::int64_t> order,
                          int n_threads) {
  own();
  const auto lessons = take_lessons(documents, codes, weights, order, n_words_, options_.binary);
  if (lessons.size() == 0) return;
  if (options_.joint)
    learn_jointly(lessons);
  else if (width_ == 1)
    learn_apart<1>(lessons, n_threads);
  else
    learn_apart<wide>(lessons, n_threads);
  n_learned_ += static_cast<double>(lessons.size());
}

template <int width>
void OnlineLearner::learn_apart(const Lessons& lessons, int n_threads) {
  std::vector<double> fadings(blocks_.size(), fading_);  // each block its own, and all the same
  parallel_for(std::ssize(blocks_), n_threads, [&](std::int64_t b) {
    auto& block = blocks_[b];
    const auto first = static_cast<std::int32_t>(b) * width;
    const auto live = std::min(width, n_models() - first);
    auto& fading = fadings[b];
    const auto unfaded = scales(1);
    const auto faster = growth();
    Rows rows;
    for (std::int64_t i = 0; i < lessons.size(); ++i) {
      ask_ahead(block, lessons, i + ahead, width);
      age(fading, faster, block.own_rows);
      const auto list = rows.find(block, lessons, i);
      double odds_of[width];
      odds<width>(block, list, unfaded / fading, odds_of);
      Losses<width> losses;
      bool any = false;
      for (int c = 0; c < live; ++c) {
        const bool mine = lessons.codes[i] == first + c;
        const double loss = (mine ? 1.0 : odds_of[c]) / (1 + odds_of[c]);
        if (!(loss > options_.min_loss)) continue;
        any = true;
        if (mine) losses.own = c;
        (mine ? losses.in : losses.out[c]) = loss * lessons.weights[i] * fading;
      }
      if (!any) continue;
      rows.make(block, lessons, i, width);
      add_losses<width>(block, list, losses, n_learned_ + static_cast<double>(i));
    }
  });
  fading_ = fadings.front();
}

void OnlineLearner::learn_jointly(const Lessons& lessons) {
  std::vector<double> scores(blocks_.size() * wide);
  Rows rows;
  for (std::int64_t i = 0; i < lessons.size(); ++i) {
    double fading = fading_;
    for (auto& block : blocks_) age(fading = fading_, growth(), block.own_rows);
    fading_ = fading;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const auto list = rows.find(blocks_[b], lessons, i);
      log_odds<wide>(blocks_[b], list, scales(fading), scores.data() + b * wide);
    }
    const auto own = lessons.codes[i];
    double others = 0;  // the odds against the true class
    for (std::int32_t c = 0; c < n_classes_; ++c)
      if (c != own) others += std::exp(std::min(scores[c] - scores[own], 690.0));
    const double loss = others / (1 + others);
    if (!(loss > options_.min_loss)) continue;
    auto& block = blocks_[own / wide];
    auto list = rows.find(block, lessons, i);
    rows.make(block, lessons, i, wide);
    list.values = nullptr;  // each word once, as the paper has it
    list.length = static_cast<double>(list.size);
    add_losses<wide>(block, list, {own % wide, loss * lessons.weights[i] * fading, {}},
                     n_learned_ + static_cast<double>(i));
  }
}

template <class Value>
void OnlineLearner::score(const Csr<Value>& documents, std::span<const std::int32_t> place,
                          std::span<double> out, int n_threads) const {
  const auto n_classes = static_cast<std::int32_t>(std::ssize(place));
  const auto score_block = [&]<int width>(const Lessons& lessons, std::int64_t b, std::int64_t begin) {
    const auto first = static_cast<std::int32_t>(b) * width;
    const auto live = std::min({width, n_models() - first, n_classes - first});
    Rows rows;
    for (std::int64_t i = 0; i < lessons.size(); ++i) {
      const auto list = rows.find(blocks_[b], lessons, i);
      double scores[width];
      log_odds<width>(blocks_[b], list, scales(fading_), scores);
      double* const row = out.data() + (begin + i) * n_classes;
      for (int c = 0; c < live; ++c) row[place[first + c]] = scores[c];
      if (n_models() < n_classes) row[place[1]] = 0;
    }
  };
  parallel_ranges(documents.rows(), 64, n_threads, [&](std::int64_t begin, std::int64_t end) {
    Lessons lessons;
    for (auto d = begin; d < end; ++d) lessons.take(documents, d, n_words_, options_.binary);
    for (std::int64_t b = 0; b < n_blocks(); ++b)
      width_ == 1 ? score_block.template operator()<1>(lessons, b, begin)
                  : score_block.template operator()<wide>(lessons, b, begin);
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
