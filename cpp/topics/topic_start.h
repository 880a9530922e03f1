// Where the chains of RelevanceTopicModel start (Ha-Thuc and Srinivasan, Fig. 4: steps 1.1 to 1.3).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "topics/class_words.h"

namespace genus {

// The background is the collection's word frequencies; a class what its frequencies are above them; a
// document's own topic what its frequencies are above both. Constants f' and f'' keep all of them at zero or
// above: each is a maximum over the whole vocabulary, found from the class's own words and, for all others,
// from two ends of one ranking, so that the work is in proportion to the class.
class TopicStart {
 public:
  TopicStart(const ClassWordsView& words, std::int64_t n_words);

  // What the documents of one class share.
  struct ClassStart {
    std::vector<double> topic;         // phi_t of the class's words
    std::vector<double> larger;        // max(phi_b, phi_t) of the class's words
    std::vector<std::int32_t> ranked;  // the class's words, the largest `larger` first
    double larger_outside;             // its maximum over words that the class does not have
    double larger_sum;                 // its sum over the whole vocabulary
  };
  ClassStart of_class(const ClassWordsView& words, std::int64_t c) const;

  double background(std::int32_t word) const { return background_[static_cast<std::size_t>(word)]; }
  std::int64_t n_words() const { return std::ssize(background_); }

 private:
  std::vector<double> background_;    // phi_b
  std::vector<std::int32_t> ranked_;  // columns, the largest phi_b first
  std::vector<double> sums_;          // of phi_b over the first so many of them
};

// A document's own topic, made for one document after another of a class.
class OwnStart {
 public:
  explicit OwnStart(const TopicStart::ClassStart& topics, std::int64_t n_words)
      : topics_(topics), n_words_(static_cast<double>(n_words)), last_seen_(topics.larger.size(), -1) {}

  // Looks at document i: the places of its words in the class, their values, and the sum of these.
  template <class Value>
  void read(std::int64_t i, std::span<const std::int32_t> places, std::span<const Value> values,
            double length) {
    length_ = length;
    double shift = topics_.larger_outside;
    for (std::size_t e = 0; e < places.size(); ++e) {
      const auto place = static_cast<std::size_t>(places[e]);
      last_seen_[place] = i;
      shift = std::max(shift, topics_.larger[place] - static_cast<double>(values[e]) / length);
    }
    for (const auto place : topics_.ranked)
      if (last_seen_[static_cast<std::size_t>(place)] != i) {
        shift = std::max(shift, topics_.larger[static_cast<std::size_t>(place)]);
        break;
      }
    shift_ = shift;  // f'' of step 1.3
    total_ = 1 - topics_.larger_sum + n_words_ * shift;
  }

  // phi_to(d) of the document's word at this place.
  double operator()(std::int32_t place, double value) const {
    if (total_ < 1e-12) return 1 / n_words_;  // the document says nothing of its own
    // step 1.3
    return std::max(value / length_ - topics_.larger[static_cast<std::size_t>(place)] + shift_, 0.0) / total_;
  }

 private:
  const TopicStart::ClassStart& topics_;
  double n_words_;
  std::vector<std::int64_t> last_seen_;  // the last document that had the word
  double length_ = 0, shift_ = 0, total_ = 0;
};

}  // namespace genus
