// What an OnlineLearner is made of, apart from learning and scoring.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <utility>

#include "online/learner.h"

namespace genus {
namespace {

// The index of rows with these words, which rise.
WordIndex index_of(std::span<const std::int32_t> words, std::int64_t n_words) {
  WordIndex index(first_word);
  index.grow(n_words);
  const auto rising = [](std::int32_t word, std::int32_t next) { return word < next; };
  words = words.subspan(first_word);
  if (words.empty()) return index;
  if (words.front() < 0 || words.back() >= n_words ||
      std::adjacent_find(words.begin(), words.end(), std::not_fn(rising)) != words.end())
    throw std::invalid_argument("the learner's arrays do not belong together");
  if (std::ssize(words) == n_words)
    index.give_all();
  else
    for (std::size_t i = 0; i < words.size(); ++i)
      index.insert(words[i], first_word + static_cast<std::uint32_t>(i));
  return index;
}

}  // namespace

void EvidenceBlock::resize(std::int64_t n_rows, int width) {
  own_rows.resize(static_cast<std::size_t>(n_rows * 2 * width));
  if (!sums.empty()) sums.resize(own_rows.size());
  rows = own_rows;
}

void EvidenceBlock::grow(std::int64_t n_words, int width) {
  index.grow(n_words);
  if (index.has_all()) resize(first_word + n_words, width);
}

void EvidenceBlock::spread(std::int64_t n_with_rows, int width) {
  const std::int64_t words_for_one = width == 1 ? 8 : 2;
  if (index.has_all() || n_with_rows * words_for_one < index.n_words()) return;
  const auto spread_rows = [&](Table<double>& table) {
    if (table.empty()) return;
    const auto row_at = [&](auto& rows, std::int64_t number) { return rows.begin() + number * 2 * width; };
    Table<double> all(static_cast<std::size_t>((first_word + index.n_words()) * 2 * width));
    std::copy_n(table.begin(), first_word * 2 * width, all.begin());
    index.for_each([&](std::int32_t word, std::uint32_t row) {
      std::copy_n(row_at(table, row), 2 * width, row_at(all, first_word + std::int64_t{word}));
    });
    table = std::move(all);
  };
  spread_rows(own_rows);
  spread_rows(sums);
  index.give_all();
  rows = own_rows;
}

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

EvidencePriors OnlineLearner::priors() const {
  const auto n = std::max<double>(n_words_, 1);
  if (options_.joint) return {1, n, 1};
  const auto a = std::log(n + 1);
  return {a, (n + 1) * a, 1};
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
  if (options_.average) block.sums.resize(1);  // kept from now on
  block.resize(first_word, width_);
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
      double* const row = to.data() + r * 2 * wide;
      row[place_in(wide, 0)] = row[place_out(wide, 1)] = from[2 * r];
      row[place_in(wide, 1)] = row[place_out(wide, 0)] = from[2 * r + 1];
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
    for (auto& block : blocks_) block.grow(n_words_, width_);
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
  const auto& index = blocks_[model_of(c).first / width_].index;
  std::vector<std::uint32_t> numbers;
  for (const auto w : words)
    numbers.push_back(w >= 0 && w < n_words_ ? index(static_cast<std::int32_t>(w)) : no_word);
  return evidence_of_rows(c, numbers);
}

OnlineLearner::Evidence OnlineLearner::totals(std::int32_t c) const {
  return evidence_of_rows(c, std::array<std::uint32_t, 2>{all_words, all_documents});
}

OnlineLearner::Evidence OnlineLearner::evidence_of_rows(std::int32_t c,
                                                        std::span<const std::uint32_t> numbers) const {
  const auto [model, exchanged] = model_of(c);
  const auto& rows = blocks_[model / width_].rows;
  Evidence found;
  for (const auto number : numbers) {
    const double* const row = rows.data() + number * std::int64_t{2} * width_;
    const double in = row[place_in(width_, model % width_)], out = row[place_out(width_, model % width_)];
    found.in.push_back((exchanged ? out : in) / fading_);
    found.out.push_back((exchanged ? in : out) / fading_);
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
    const auto row_at = [&](auto& rows, std::int64_t number) { return rows.begin() + number * 2 * width_; };
    std::vector<std::pair<std::int32_t, std::uint32_t>> found{
        {-1, no_word}, {-1, all_words}, {-1, all_documents}};
    block.index.for_each([&](std::int32_t word, std::uint32_t row) {
      const auto begin = row_at(block.rows, row);
      if (std::any_of(begin, begin + 2 * width_, [](double value) { return value != 0; }))
        found.emplace_back(word, row);
    });
    std::sort(found.begin(), found.end());
    for (const auto& [word, row] : found) {
      all.words.push_back(word);
      const auto keep = [&, row = row](const auto& from, Table<double>& to) {
        if (!from.empty()) to.insert(to.end(), row_at(from, row), row_at(from, row + 1));
      };
      keep(block.rows, all.rows);
      keep(block.sums, all.sums);
    }
    all.starts.push_back(std::ssize(all.words));
  }
  return all;
}

}  // namespace genus
