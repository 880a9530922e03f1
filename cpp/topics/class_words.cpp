#include "topics/class_words.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "base/fixed_point.h"
#include "base/thread_memory.h"

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
  ClassWords numbered;
  numbered.places.resize(static_cast<std::size_t>(documents.entries()));
  numbered.starts.assign(static_cast<std::size_t>(n_classes) + 1, 0);
  // Calls visit(entry's number, word, value) for all entries of class c.
  const auto each_entry = [&](std::int64_t c, auto&& visit) {
    for (auto i = documents.class_starts[c]; i < documents.class_starts[c + 1]; ++i)
      for (auto e = documents.entry_starts[i], k = documents.row_start(i); e < documents.entry_starts[i + 1];
           ++e, ++k)
        visit(e, documents.rows.indices[k], documents.rows.values[k]);
  };
  struct Seen {
    std::int32_t c, place;  // the last class that had the word, and its number there
  };
  parallel_with_memory(
      n_classes, n_threads, [&] { return std::vector<Seen>(static_cast<std::size_t>(n_words), {-1, 0}); },
      [&](std::int64_t c, std::vector<Seen>& last) {
        std::int32_t n = 0;
        each_entry(c, [&](std::int64_t e, std::int32_t w, Value) {
          if (w < 0 || w >= n_words) throw std::invalid_argument("a column number is out of range");
          auto& seen = last[w];
          if (seen.c != c) seen = {static_cast<std::int32_t>(c), n++};
          numbered.places[e] = seen.place;
        });
        numbered.starts[c + 1] = n;
      });
  std::partial_sum(numbered.starts.begin(), numbered.starts.end(), numbered.starts.begin());
  numbered.words.resize(static_cast<std::size_t>(numbered.starts.back()));
  numbered.counts.resize(numbered.words.size());
  parallel_for(n_classes, n_threads, [&](std::int64_t c) {
    auto* const words = numbered.words.data() + numbered.starts[c];
    auto* const counts = numbered.counts.data() + numbered.starts[c];
    std::fill_n(counts, numbered.starts[c + 1] - numbered.starts[c], 0);
    each_entry(c, [&](std::int64_t e, std::int32_t w, Value x) {
      const auto place = numbered.places[e];
      words[place] = w;
      counts[place] = checked_sum(counts[place], fixed_count(static_cast<double>(x)));
    });
  });
  return numbered;
}

template ClassWords number_class_words(const LabelledRows<float>&, std::int64_t, int);
template ClassWords number_class_words(const LabelledRows<double>&, std::int64_t, int);
template ClassWords number_class_words(const LabelledRows<std::int64_t>&, std::int64_t, int);

}  // namespace genus
