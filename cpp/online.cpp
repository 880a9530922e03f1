#include "online.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "parallel.h"

namespace genus {

// Documents in the order of learning, without what counts nothing; words that count 1 each have no values.
struct Lessons {
  std::vector<std::int64_t> starts{0};
  Buffer<std::int32_t> words;
  Buffer<double> values;
  std::vector<double> lengths, weights;
  std::vector<std::int32_t> codes;

  std::int64_t size() const { return std::ssize(lengths); }
};

namespace {

constexpr int wide = 8;  // models in a block, where there are more than one

constexpr double largest_fading = 0x1p200;  // rows are brought back to the scale of one above this
constexpr std::int64_t ahead = 3;           // documents whose rows are asked for before they are read

template <class Value>
void take_document(Lessons& lessons, const Csr<Value>& documents, std::int64_t d, std::int64_t n_words,
                   bool binary) {
  const auto begin = documents.indptr[d], end = documents.indptr[d + 1];
  const auto first = static_cast<std::size_t>(lessons.starts.back());
  const auto room = first + static_cast<std::size_t>(end - begin);
  lessons.words.resize(room);
  if (!binary) lessons.values.resize(room);
  auto at = first;
  double length = 0;
  for (auto k = begin; k < end; ++k) {
    const auto w = documents.indices[k];
    const auto x = static_cast<double>(documents.values[k]);
    const bool counts = x > 0 && static_cast<std::uint64_t>(w) < static_cast<std::uint64_t>(n_words);
    lessons.words[at] = w;
    if (!binary) lessons.values[at] = x;
    at += counts;
    length += counts ? x : 0.0;
  }
  lessons.words.resize(at);
  if (!binary) lessons.values.resize(at);
  lessons.starts.push_back(static_cast<std::int64_t>(at));
  lessons.lengths.push_back(binary ? static_cast<double>(at - first) : length);
}

template <class Value>
Lessons take_documents(const Csr<Value>& documents, std::span<const std::int32_t> codes,
                       std::span<const double> weights, std::span<const std::int64_t> order,
                       std::int64_t n_words, bool binary) {
  Lessons lessons;
  lessons.words.reserve(static_cast<std::size_t>(documents.entries()));
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto d = order[i];
    if (i + 1 < order.size()) {
      const auto next = documents.indptr[order[i + 1]];
      __builtin_prefetch(documents.indices.data() + next);
      __builtin_prefetch(documents.values.data() + next);
    }
    if (!(weights[d] > 0)) continue;
    take_document(lessons, documents, d, n_words, binary);
    lessons.weights.push_back(weights[d]);
    lessons.codes.push_back(codes[d]);
  }
  return lessons;
}

// The rows of a document's words in one block.
class Rows {
 public:
  // A wild number in a damaged index becomes the last row's.
  RowList find(const EvidenceBlock& block, const Lessons& lessons, std::int64_t i, std::int64_t n_rows) {
    const auto begin = lessons.starts[i];
    const auto size = static_cast<std::size_t>(lessons.starts[i + 1] - begin);
    const auto last = static_cast<std::uint32_t>(n_rows - 1);
    if (numbers_.size() < size) numbers_.resize(2 * size);
    for (std::size_t k = 0; k < size; ++k)
      numbers_[k] = std::min(static_cast<std::uint32_t>(block.index[lessons.words[begin + k]]), last);
    return {numbers_.data(), lessons.values.empty() ? nullptr : lessons.values.data() + begin, size,
            lessons.lengths[i]};
  }

  // Gives each word a row of its own.
  void make(EvidenceBlock& block, const Lessons& lessons, std::int64_t i, int width) {
    const auto begin = lessons.starts[i];
    for (std::int64_t k = begin; k < lessons.starts[i + 1]; ++k) {
      auto& number = numbers_[k - begin];
      if (number != no_word) continue;
      number = static_cast<std::uint32_t>(block.n_rows(width));
      block.own_index[lessons.words[k]] = static_cast<std::int32_t>(number);
      block.own_rows.resize(block.own_rows.size() + 2 * width);
      if (!block.sums.empty()) block.sums.resize(block.own_rows.size());
      block.rows = block.own_rows;
    }
  }

 private:
  std::vector<std::uint32_t> numbers_;
};

void ask_ahead(const EvidenceBlock& block, const Lessons& lessons, std::int64_t i, int width) {
  if (i >= lessons.size()) return;
  for (auto k = lessons.starts[i]; k < lessons.starts[i + 1]; ++k) {
    const double* const row = block.rows.data() + block.index[lessons.words[k]] * 2 * width;
    for (int c = 0; c < 2 * width; c += 8) __builtin_prefetch(row + c, 1);
  }
}

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
  bool sound = n_words_ >= 0 && n_classes_ >= 0 && fading_ >= 1 && fading_ <= largest_fading &&
               n_learned_ >= 0 && std::ssize(state.starts) == n_blocks + 1 && state.starts.front() == 0 &&
               std::ssize(state.index) == n_blocks * n_words_ &&
               std::ssize(state.rows) == state.starts.back() * row &&
               state.sums.size() == (options.average ? state.rows.size() : 0);
  for (std::int64_t b = 0; sound && b < n_blocks; ++b)
    sound = state.starts[b + 1] - state.starts[b] >= first_word && state.starts[b + 1] <= state.starts.back();
  if (!sound) throw std::invalid_argument("the learner's arrays do not belong together");
  for (std::int64_t b = 0; b < n_blocks; ++b) {
    const auto begin = state.starts[b] * row, size = state.starts[b + 1] * row - begin;
    auto& block = blocks_.emplace_back();
    block.index = state.index.subspan(b * n_words_, n_words_);
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
  block.own_index.resize(n_words_);
  block.own_rows.resize((first_word) * 2 * width_);
  if (options_.average) block.sums.resize(block.own_rows.size());
  block.index = block.own_index;
  block.rows = block.own_rows;
  return block;
}

void OnlineLearner::own() {
  for (auto& block : blocks_) {
    if (!block.own_rows.empty()) continue;
    const auto n_rows = block.n_rows(width_);
    const auto in_rows = [n_rows](std::int32_t number) { return number >= 0 && number < n_rows; };
    const auto is_evidence = [](double value) { return value >= 0 && std::isfinite(value); };
    if (!std::all_of(block.index.begin(), block.index.end(), in_rows) ||
        !std::all_of(block.rows.begin(), block.rows.end(), is_evidence))
      throw std::invalid_argument("the model's evidence is inconsistent: the file is damaged");
    block.own_index.assign(block.index.begin(), block.index.end());
    block.own_rows.assign(block.rows.begin(), block.rows.end());
    block.index = block.own_index;
    block.rows = block.own_rows;
  }
}

void OnlineLearner::widen() {
  const auto narrow = std::move(blocks_.front());
  width_ = wide;
  blocks_.clear();
  auto& block = blocks_.emplace_back(new_block());
  block.own_index = narrow.own_index;
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
  block.index = block.own_index;
  block.rows = block.own_rows;
}

void OnlineLearner::grow(std::int64_t n_words, std::int32_t n_classes) {
  if (n_words <= n_words_ && n_classes <= n_classes_) return;
  own();
  if (n_words > n_words_) {
    n_words_ = n_words;
    for (auto& block : blocks_) {
      block.own_index.resize(n_words_);
      block.index = block.own_index;
    }
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

template <class Value>
void OnlineLearner::learn(const Csr<Value>& documents, std::span<const std::int32_t> codes,
                          std::span<const double> weights, std::span<const std::int64_t> order,
                          int n_threads) {
  own();
  const auto lessons = take_documents(documents, codes, weights, order, n_words_, options_.binary);
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
      const auto list = rows.find(block, lessons, i, block.n_rows(width));
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
      const auto list = rows.find(blocks_[b], lessons, i, blocks_[b].n_rows(wide));
      log_odds<wide>(blocks_[b], list, scales(fading), scores.data() + b * wide);
    }
    const auto own = lessons.codes[i];
    double others = 0;  // the odds against the true class
    for (std::int32_t c = 0; c < n_classes_; ++c)
      if (c != own) others += std::exp(std::min(scores[c] - scores[own], 690.0));
    const double loss = others / (1 + others);
    if (!(loss > options_.min_loss)) continue;
    auto& block = blocks_[own / wide];
    auto list = rows.find(block, lessons, i, block.n_rows(wide));
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
      const auto list = rows.find(blocks_[b], lessons, i, blocks_[b].n_rows(width));
      double scores[width];
      log_odds<width>(blocks_[b], list, scales(fading_), scores);
      double* const row = out.data() + (begin + i) * n_classes;
      for (int c = 0; c < live; ++c) row[place[first + c]] = scores[c];
      if (n_models() < n_classes) row[place[1]] = 0;
    }
  };
  parallel_ranges(documents.rows(), 64, n_threads, [&](std::int64_t begin, std::int64_t end) {
    Lessons lessons;
    for (auto d = begin; d < end; ++d) take_document(lessons, documents, d, n_words_, options_.binary);
    for (std::int64_t b = 0; b < n_blocks(); ++b)
      width_ == 1 ? score_block.template operator()<1>(lessons, b, begin)
                  : score_block.template operator()<wide>(lessons, b, begin);
  });
}

OnlineLearner::Evidence OnlineLearner::evidence(std::int32_t c, std::span<const std::int64_t> words) const {
  const auto [model, exchanged] = model_of(c);
  const auto& block = blocks_[model / width_];
  const auto last = block.n_rows(width_) - 1;
  Evidence found;
  for (const auto w : words) {
    const auto number = w >= 0 && w < n_words_ ? std::clamp<std::int64_t>(block.index[w], 0, last) : 0;
    const double* const row = block.rows.data() + number * 2 * width_ + model % width_;
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
    copy.own_index.assign(block.index.begin(), block.index.end());
    copy.own_rows.assign(block.rows.begin(), block.rows.end());
    // Evidence added after n of N documents is in the N - n moments that follow.
    for (std::size_t i = 0; i < block.sums.size(); ++i)
      copy.own_rows[i] -= block.sums[i] / std::max(n_learned_, 1.0);
    copy.index = copy.own_index;
    copy.rows = copy.own_rows;
  }
  return mean;
}

OnlineLearner::Arrays OnlineLearner::arrays() const {
  Arrays all;
  all.starts.push_back(0);
  for (const auto& block : blocks_) {
    all.index.insert(all.index.end(), block.index.begin(), block.index.end());
    all.rows.insert(all.rows.end(), block.rows.begin(), block.rows.end());
    all.sums.insert(all.sums.end(), block.sums.begin(), block.sums.end());
    all.starts.push_back(all.starts.back() + block.n_rows(width_));
  }
  return all;
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
