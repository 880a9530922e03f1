// What an OnlineLearner is made of, apart from learning and scoring.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "online.h"

namespace genus {
namespace {

// The index of rows with these words.
WordIndex index_of(std::span<const std::int32_t> words, std::int64_t n_words) {
  WordIndex index;
  index.grow(n_words);
  for (std::size_t row = first_word; row < words.size(); ++row) {
    if (words[row] < 0 || words[row] >= n_words || index(words[row]) != no_word)
      throw std::invalid_argument("the learner's arrays do not belong together");
    index.insert(words[row], static_cast<std::uint32_t>(row));
  }
  return index;
}

}  // namespace

OnlineLearner::OnlineLearner(const OnlineOptions& options)
    : options_(options), width_(options.joint ? wide : 1) {}

OnlineLearner::OnlineLearner(const OnlineOptions& options, const State& state)
    : options_(options),
      width_(options.joint || state.n_classes > 2 ? wide : 1),
      n_words_(state.n_words),
      n_classes_(state.n_classes),
      fading_(state.fading),
      n_learned_(state.n_learned) {
  const auto n_blocks = (n_models() + width_ - 1) / width_;
  const auto row = 2 * width_;
  bool sound = n_words_ >= 0 && n_words_ <= std::numeric_limits<std::int32_t>::max() && n_classes_ >= 0 &&
               fading_ >= 1 && fading_ <= largest_fading && n_learned_ >= 0 &&
               std::ssize(state.starts) == n_blocks + 1 && state.starts.front() == 0 &&
               std::ssize(state.words) == state.starts.back() &&
               std::ssize(state.rows) == state.starts.back() * row &&
               state.sums.size() == (options.average ? state.rows.size() : 0);
  for (std::int64_t b = 0; sound && b < n_blocks; ++b)
    sound = state.starts[b + 1] - state.starts[b] >= first_word && state.starts[b + 1] <= state.starts.back();
  if (!sound) throw std::invalid_argument("the learner's arrays do not belong together");
  for (std::int64_t b = 0; b < n_blocks; ++b) {
    const auto begin = state.starts[b] * row, size = state.starts[b + 1] * row - begin;
    auto& block = blocks_.emplace_back();
    block.index =
        index_of(state.words.subspan(state.starts[b], state.starts[b + 1] - state.starts[b]), n_words_);
    block.rows = state.rows.subspan(begin, size);
    if (options.average) block.sums.assign(state.sums.begin() + begin, state.sums.begin() + begin + size);
  }
}

EvidenceScales OnlineLearner::scales(double fading) const {
  const auto n = std::max<double>(n_words_, 1);
  if (options_.joint) return {1 / fading, 1 / (n * fading), 1 / fading};
  const auto a = std::log(n + 1) * fading;
  return {1 / a, 1 / ((n + 1) * a), 1 / fading};
}

double OnlineLearner::growth() const {
  return options_.half_life > 0 ? std::exp2(1 / options_.half_life) : 1.0;
}

std::int32_t OnlineLearner::n_models() const {
  return options_.joint || n_classes_ != 2 ? n_classes_ : 1;
}

std::pair<std::int32_t, bool> OnlineLearner::model_of(std::int32_t c) const {
  if (c < 0 || c >= n_classes_) throw std::invalid_argument("there is no such class");
  return c < n_models() ? std::pair{c, false} : std::pair{0, true};
}

EvidenceBlock OnlineLearner::new_block() const {
  EvidenceBlock block;
  block.index.grow(n_words_);
  block.own_rows.resize(first_word * 2 * width_);
  if (options_.average) block.sums.resize(block.own_rows.size());
  block.rows = block.own_rows;
  return block;
}

void OnlineLearner::own() {
  for (auto& block : blocks_) {
    if (!block.own_rows.empty()) continue;
    const auto is_evidence = [](double value) { return value >= 0 && std::isfinite(value); };
    if (!std::all_of(block.rows.begin(), block.rows.end(), is_evidence))
      throw std::invalid_argument("the model's evidence is inconsistent: the file is damaged");
    block.own_rows.assign(block.rows.begin(), block.rows.end());
    block.rows = block.own_rows;
  }
}

void OnlineLearner::widen() {
  auto narrow = std::move(blocks_.front());
  width_ = wide;
  blocks_.clear();
  auto& block = blocks_.emplace_back(new_block());
  block.index = std::move(narrow.index);
  const auto n_rows = narrow.n_rows(1);
  block.own_rows.resize(n_rows * 2 * wide);
  if (options_.average) block.sums.resize(block.own_rows.size());
  for (std::int64_t r = 0; r < n_rows; ++r) {
    const auto spread = [&](const Table<double>& from, Table<double>& to) {
      to[r * 2 * wide] = to[r * 2 * wide + wide + 1] = from[2 * r];
      to[r * 2 * wide + 1] = to[r * 2 * wide + wide] = from[2 * r + 1];
    };
    spread(narrow.own_rows, block.own_rows);
    if (options_.average) spread(narrow.sums, block.sums);
  }
  block.rows = block.own_rows;
}

void OnlineLearner::grow(std::int64_t n_words, std::int32_t n_classes) {
  if (n_words <= n_words_ && n_classes <= n_classes_) return;
  own();
  if (n_words > n_words_) {
    n_words_ = n_words;
    for (auto& block : blocks_) block.index.grow(n_words_);
  }
  if (!options_.joint && width_ == 1 && n_classes > 2) {
    if (blocks_.empty())
      width_ = wide;
    else
      widen();
  }
  n_classes_ = std::max(n_classes_, n_classes);
  while (std::ssize(blocks_) * width_ < n_models()) blocks_.push_back(new_block());
}

OnlineLearner::Evidence OnlineLearner::evidence(std::int32_t c, std::span<const std::int64_t> words) const {
  const auto [model, exchanged] = model_of(c);
  const auto& block = blocks_[model / width_];
  Evidence found;
  for (const auto w : words) {
    const auto number = w >= 0 && w < n_words_ ? block.index(static_cast<std::int32_t>(w)) : no_word;
    const double* const row = block.rows.data() + number * std::int64_t{2} * width_ + model % width_;
    found.in.push_back(row[exchanged ? width_ : 0] / fading_);
    found.out.push_back(row[exchanged ? 0 : width_] / fading_);
  }
  return found;
}

OnlineLearner::Evidence OnlineLearner::totals(std::int32_t c) const {
  const auto [model, exchanged] = model_of(c);
  Evidence found;
  for (const auto number : {all_words, all_documents}) {
    const double* const row = blocks_[model / width_].rows.data() + number * 2 * width_ + model % width_;
    found.in.push_back(row[exchanged ? width_ : 0] / fading_);
    found.out.push_back(row[exchanged ? 0 : width_] / fading_);
  }
  return found;
}

OnlineLearner OnlineLearner::averaged() const {
  OnlineLearner mean(options_);
  mean.options_.average = false;
  mean.width_ = width_;
  mean.n_words_ = n_words_;
  mean.n_classes_ = n_classes_;
  for (const auto& block : blocks_) {
    auto& copy = mean.blocks_.emplace_back();
    copy.index = block.index;
    copy.own_rows.assign(block.rows.begin(), block.rows.end());
    // Evidence added after n of N documents is in the N - n moments that follow.
    for (std::size_t i = 0; i < block.sums.size(); ++i)
      copy.own_rows[i] -= block.sums[i] / std::max(n_learned_, 1.0);
    copy.rows = copy.own_rows;
  }
  return mean;
}

OnlineLearner::Arrays OnlineLearner::arrays() const {
  Arrays all;
  all.starts.push_back(0);
  for (const auto& block : blocks_) {
    const auto first = all.words.size();
    all.words.resize(first + static_cast<std::size_t>(block.n_rows(width_)), -1);
    block.index.for_each([&](std::int32_t word, std::uint32_t row) { all.words[first + row] = word; });
    all.rows.insert(all.rows.end(), block.rows.begin(), block.rows.end());
    all.sums.insert(all.sums.end(), block.sums.begin(), block.sums.end());
    all.starts.push_back(all.starts.back() + block.n_rows(width_));
  }
  return all;
}

}  // namespace genus
