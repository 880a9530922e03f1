#include "topics/topic_start.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/fixed_point.h"

namespace genus {

TopicStart::TopicStart(const ClassWordsView& words, std::int64_t n_words)
    : background_(static_cast<std::size_t>(n_words)),
      ranked_(static_cast<std::size_t>(n_words)),
      sums_(static_cast<std::size_t>(n_words) + 1) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(n_words));
  for (std::size_t i = 0; i < words.words.size(); ++i) {
    auto& count = counts[static_cast<std::size_t>(words.words[i])];
    count = checked_sum(count, words.counts[i]);
  }
  double total = 0;
  for (const auto count : counts) total += static_cast<double>(count);
  // Weights so small that all of them are zero in fixed point say nothing of the words.
  for (std::size_t w = 0; w < counts.size(); ++w)  // step 1.1
    background_[w] = total > 0 ? static_cast<double>(counts[w]) / total : 1 / static_cast<double>(n_words);
  std::iota(ranked_.begin(), ranked_.end(), 0);
  std::stable_sort(ranked_.begin(), ranked_.end(),
                   [&](auto v, auto w) { return background(v) > background(w); });
  for (std::size_t i = 0; i < ranked_.size(); ++i) sums_[i + 1] = sums_[i] + background(ranked_[i]);
}

TopicStart::ClassStart TopicStart::of_class(const ClassWordsView& words, std::int64_t c) const {
  const auto own_words = words.words_of(c);
  const auto own_counts = words.counts_of(c);
  const auto n_words = static_cast<double>(background_.size());
  double total = 0;
  for (const auto count : own_counts) total += static_cast<double>(count);
  if (total == 0) total = 1;

  // The most and least frequent words that the class does not have.
  std::vector<std::int32_t> inside(own_words.begin(), own_words.end());
  std::sort(inside.begin(), inside.end());
  const auto is_outside = [&](std::int32_t w) {
    return !std::binary_search(inside.begin(), inside.end(), w);
  };
  const auto most = std::find_if(ranked_.begin(), ranked_.end(), is_outside);
  const auto least = std::find_if(ranked_.rbegin(), ranked_.rend(), is_outside);
  const bool any_outside = most != ranked_.end();

  double shift = any_outside ? background(*most) : 0;  // f' of step 1.2
  for (std::size_t i = 0; i < own_words.size(); ++i)
    shift = std::max(shift, background(own_words[i]) - static_cast<double>(own_counts[i]) / total);
  const bool is_background = shift < 1e-12;  // the class's frequencies are the collection's
  const auto topic = [&](double class_frequency, double frequency) {  // step 1.2
    return is_background ? frequency : (class_frequency - frequency + shift) / (n_words * shift);
  };
  const auto larger_outside = [&](double frequency) { return std::max(frequency, topic(0, frequency)); };

  ClassStart start;
  start.larger_outside = any_outside
                             ? std::max(larger_outside(background(*most)), larger_outside(background(*least)))
                             : -std::numeric_limits<double>::infinity();
  // As if the class had no word, by the ranking: phi_b is the larger one down to where both are equal.
  const double equal = is_background ? 0 : shift / (n_words * shift + 1);
  const auto n_above = static_cast<std::size_t>(
      std::partition_point(ranked_.begin(), ranked_.end(), [&](auto w) { return background(w) >= equal; }) -
      ranked_.begin());
  start.larger_sum = sums_[n_above];
  if (!is_background)
    start.larger_sum += ((n_words - static_cast<double>(n_above)) * shift - (sums_.back() - sums_[n_above])) /
                        (n_words * shift);
  start.topic.reserve(own_words.size());
  start.larger.reserve(own_words.size());
  for (std::size_t i = 0; i < own_words.size(); ++i) {
    const double frequency = background(own_words[i]);
    start.topic.push_back(topic(static_cast<double>(own_counts[i]) / total, frequency));
    start.larger.push_back(std::max(frequency, start.topic[i]));
    start.larger_sum += start.larger[i] - larger_outside(frequency);
  }
  start.ranked.resize(own_words.size());
  std::iota(start.ranked.begin(), start.ranked.end(), 0);
  std::stable_sort(start.ranked.begin(), start.ranked.end(), [&](auto i, auto j) {
    return start.larger[static_cast<std::size_t>(i)] > start.larger[static_cast<std::size_t>(j)];
  });
  return start;
}

}  // namespace genus
