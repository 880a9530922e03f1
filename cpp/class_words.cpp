#include "class_words.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "fixed_point.h"
#include "lanes.h"

namespace genus {
namespace {

constexpr double most_tokens = 0x7fffffff;  // of one cell

std::int64_t fixed_count(double x) {
  if (x > most_tokens) throw std::invalid_argument("a word's count in a document must be below 2**31");
  return round_to_fixed(x * one);
}

}  // namespace

template <class Value>
ClassWords number_class_words(const LabelledRows<Value>& documents, std::int64_t n_words, int n_threads) {
  const auto n_classes = documents.classes();
  struct Part {
    std::vector<std::int32_t> words;
    std::vector<std::int64_t> counts;
  };
  std::vector<Part> parts(static_cast<std::size_t>(n_classes));
  ClassWords all;
  all.places.resize(static_cast<std::size_t>(documents.entries()));
  parallel_lanes(
      n_classes, n_threads, [&] { return std::vector<std::int32_t>(static_cast<std::size_t>(n_words)); },
      [&](std::int64_t c, std::vector<std::int32_t>& place_of_word) {
        auto& [words, counts] = parts[c];
        for (auto i = documents.class_starts[c]; i < documents.class_starts[c + 1]; ++i) {
          const auto first = documents.row_start(i);
          const auto n = documents.entry_starts[i + 1] - documents.entry_starts[i];
          for (std::int64_t e = 0; e < n; ++e) {
            const auto w = documents.rows.indices[first + e];
            if (w < 0 || w >= n_words) throw std::invalid_argument("a column number is out of range");
            // Places left by another class are told by the word that stands there.
            auto& place = place_of_word[w];
            if (place >= std::ssize(words) || words[place] != w) {
              place = static_cast<std::int32_t>(words.size());
              words.push_back(w);
              counts.push_back(0);
            }
            all.places[documents.entry_starts[i] + e] = place;
            const auto count = fixed_count(static_cast<double>(documents.rows.values[first + e]));
            counts[place] = checked_sum(counts[place], count);
          }
        }
      });
  all.starts.assign(1, 0);
  for (const auto& part : parts) all.starts.push_back(all.starts.back() + std::ssize(part.words));
  all.words.resize(static_cast<std::size_t>(all.starts.back()));
  all.counts.resize(all.words.size());
  parallel_for(n_classes, n_threads, [&](std::int64_t c) {
    std::copy(parts[c].words.begin(), parts[c].words.end(), all.words.begin() + all.starts[c]);
    std::copy(parts[c].counts.begin(), parts[c].counts.end(), all.counts.begin() + all.starts[c]);
    parts[c] = {};
  });
  return all;
}

template ClassWords number_class_words(const LabelledRows<float>&, std::int64_t, int);
template ClassWords number_class_words(const LabelledRows<double>&, std::int64_t, int);
template ClassWords number_class_words(const LabelledRows<std::int64_t>&, std::int64_t, int);

}  // namespace genus
