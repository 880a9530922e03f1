// Documents in the order in which OnlineLearner learns or scores them, and the rows of evidence that their
// words have in one block of models.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "base/csr.h"
#include "base/parallel.h"
#include "online/learner.h"

namespace genus {

// Documents in the order of learning. What counts nothing is left out: values that are not above zero, and
// words that there is no room for.
template <class Value>
class TrainingRows {
 public:
  struct Example {
    std::int64_t begin, end;  // of its entries
    double weight;
    std::int32_t code;
  };

  TrainingRows(const Csr<Value>& documents, std::int64_t n_words, bool binary)
      : documents_(documents), n_words_(static_cast<std::uint32_t>(n_words)), binary_(binary) {}

  std::int64_t size() const { return std::ssize(examples_); }
  const Example& operator[](std::int64_t i) const { return examples_[static_cast<std::size_t>(i)]; }
  void reserve(std::size_t n) { examples_.reserve(n); }
  void add(std::int64_t d, double weight, std::int32_t code) {
    examples_.push_back({documents_.indptr[d], documents_.indptr[d + 1], weight, code});
  }

  bool binary() const { return binary_; }

  // Makes reading faster, for those who read the entries once: values need not be looked at where all are
  // above zero and do not count otherwise.
  void look_at_values() {
    bool some_count_nothing = false;
    for (const auto x : documents_.values) some_count_nothing |= !(x > 0);
    only_words_ = binary_ && !some_count_nothing;
  }

  // Makes reading faster, for those who read the entries often: puts them in the order of learning.
  void gather(int n_threads) {
    std::vector<std::int64_t> starts{0};
    for (const auto& example : examples_) starts.push_back(starts.back() + example.end - example.begin);
    words_.resize(static_cast<std::size_t>(starts.back()));
    if (!binary_) values_.resize(words_.size());
    parallel_ranges(size(), 1024, n_threads, [&](std::int64_t begin, std::int64_t end) {
      for (auto i = begin; i < end; ++i) {
        auto at = starts[i];
        for_each(i, [&](std::int32_t word, double x) {
          words_[at] = word;
          if (!binary_) values_[at] = static_cast<Value>(x);
          ++at;
        });
        examples_[i].begin = starts[i];
        examples_[i].end = at;
      }
    });
    documents_.indices = words_;
    documents_.values = values_;
    only_words_ = binary_;
  }

  // The words of document i, whether they count or not.
  std::span<const std::int32_t> words(std::int64_t i) const {
    return documents_.indices.subspan(examples_[i].begin, examples_[i].end - examples_[i].begin);
  }

  // Whether each of them is known to count, once.
  bool all_count_once(std::int64_t i) const {
    bool all_known = true;
    for (const auto word : words(i)) all_known &= static_cast<std::uint32_t>(word) < n_words_;
    return only_words_ && all_known;
  }

  std::int64_t count_entries() const {
    return std::accumulate(
        examples_.begin(), examples_.end(), std::int64_t{0},
        [](std::int64_t n, const Example& example) { return n + example.end - example.begin; });
  }

  // The words that occur, where these may be half of all: none otherwise.
  std::int64_t count_words() const {
    if (2 * count_entries() < std::int64_t{n_words_}) return 0;
    std::vector<char> found(n_words_);
    for (std::int64_t i = 0; i < size(); ++i)
      for_each(i, [&](std::int32_t word, double) { found[static_cast<std::size_t>(word)] = 1; });
    return std::count(found.begin(), found.end(), 1);
  }

  // Calls visit(word, x) for all that counts in document i, in order.
  template <class Visit>
  void for_each(std::int64_t i, Visit&& visit) const {
    only_words_ ? visit_entries<true>(examples_[i], visit) : visit_entries<false>(examples_[i], visit);
  }

 private:
  template <bool only_words, class Visit>
  void visit_entries(const Example& example, Visit& visit) const {
    const std::int32_t* const indices = documents_.indices.data();
    const Value* const values = documents_.values.data();
    const auto n_words = n_words_;
    for (auto k = example.begin; k < example.end; ++k) {
      const auto x = only_words ? Value{1} : values[k];
      if (x > 0 && static_cast<std::uint32_t>(indices[k]) < n_words)
        visit(indices[k], static_cast<double>(x));
    }
  }

  Csr<Value> documents_;
  std::uint32_t n_words_;
  bool binary_, only_words_ = false;
  std::vector<Example> examples_;
  Buffer<std::int32_t> words_;  // once they are gathered
  Buffer<Value> values_;
};

// The rows of documents in one block, found for some thousand entries at a time: the processor then waits for
// many of them together.
template <class Value, int width>
class EvidenceRows {
 public:
  EvidenceRows(const TrainingRows<Value>& training, const EvidenceBlock& block)
      : training_(training), block_(block) {}

  // Whether document i is not read yet: rows may move before it.
  bool begins_batch(std::int64_t i) const { return i == end_; }

  // Of document i, after all those before it.
  RowList find(std::int64_t i) {
    if (begins_batch(i)) {
      if (block_.index.has_all() && training_.all_count_once(i)) return take_in_place(i);
      read_from(i);
    }
    const auto begin = starts_[i - begin_], end = starts_[i - begin_ + 1];
    if (i + 1 < end_) ask_for_rows({numbers_.data() + end, starts_[i - begin_ + 2] - end}, 0);
    first_unknown_ = next_unknown_;
    for (; next_unknown_ < unknown_.size() && unknown_[next_unknown_].place < end; ++next_unknown_) {
      const auto [place, word] = unknown_[next_unknown_];
      numbers_[place] = block_.index(word);  // a document since may have made one
    }
    return {0, numbers_.data() + begin, training_.binary() ? nullptr : values_.data() + begin, end - begin,
            lengths_[i - begin_]};
  }

  // Gives each word of the document that was found last a row of its own in the block.
  void make(EvidenceBlock& block) {
    for (auto n = first_unknown_; n < next_unknown_; ++n) {
      const auto [place, word] = unknown_[n];
      if (numbers_[place] == no_word) numbers_[place] = block.add_row(word, width);
    }
  }

 private:
  static constexpr std::int64_t batch = 2048;  // entries, or one document

  struct Unknown {
    std::size_t place;
    std::int32_t word;
  };

  // Where every word has a row and counts once, the words are the numbers.
  RowList take_in_place(std::int64_t i) {
    end_ = i + 1;
    first_unknown_ = next_unknown_ = 0;
    if (i + 2 < training_.size()) ask_for_words(training_.words(i + 2));
    if (end_ < training_.size()) ask_for_rows(as_numbers(training_.words(end_)), first_word);
    const auto numbers = as_numbers(training_.words(i));
    return {first_word, numbers.data(), nullptr, numbers.size(), static_cast<double>(numbers.size())};
  }

  static std::span<const std::uint32_t> as_numbers(std::span<const std::int32_t> words) {
    return {reinterpret_cast<const std::uint32_t*>(words.data()), words.size()};
  }

  static void ask_for_words(std::span<const std::int32_t> words) {
    constexpr std::size_t cache_line = 64 / sizeof(std::int32_t);
    for (std::size_t k = 0; k < words.size(); k += cache_line) __builtin_prefetch(words.data() + k);
  }

  // Those of a single model are small enough to stay near.
  void ask_for_rows(std::span<const std::uint32_t> numbers, std::int64_t first) const {
    if constexpr (width > 1)
      for (const auto number : numbers) {
        const double* const row = block_.rows.data() + (first + number) * 2 * width;
        for (int c = 0; c < 2 * width; c += 8) __builtin_prefetch(row + c, 1);
      }
  }

  void read_from(std::int64_t i) {
    begin_ = end_ = i;
    std::int64_t n_entries = 0;
    do {
      n_entries += training_[end_].end - training_[end_].begin;
    } while (++end_ < training_.size() && n_entries < batch);
    if (std::ssize(numbers_) < n_entries) numbers_.resize(n_entries);
    if (!training_.binary() && std::ssize(values_) < n_entries) values_.resize(n_entries);
    starts_.assign(1, 0);
    lengths_.clear();
    unknown_.clear();
    next_unknown_ = 0;
    block_.index.for_many([&](auto&& row_of) {
      for (auto d = begin_; d < end_; ++d)
        training_.binary() ? read<true>(d, row_of) : read<false>(d, row_of);
    });
  }

  template <bool binary, class RowOf>
  void read(std::int64_t i, RowOf&& row_of) {
    std::uint32_t* const numbers = numbers_.data();
    double* const values = values_.data();
    auto at = starts_.back();
    double length = 0;
    training_.for_each(i, [&](std::int32_t word, double x) {
      const std::uint32_t number = row_of(word);
      if (number == no_word) unknown_.push_back({at, word});
      numbers[at] = number;
      if constexpr (!binary) {
        values[at] = x;
        length += x;
      }
      ++at;
    });
    lengths_.push_back(binary ? static_cast<double>(at - starts_.back()) : length);
    starts_.push_back(at);
  }

  const TrainingRows<Value>& training_;
  const EvidenceBlock& block_;
  std::int64_t begin_ = 0, end_ = 0;  // the documents of the batch
  std::vector<std::size_t> starts_;   // of their numbers, and the end
  std::vector<std::uint32_t> numbers_;
  std::vector<double> values_, lengths_;
  std::vector<Unknown> unknown_;  // places of words that had no row, by place
  std::size_t first_unknown_ = 0, next_unknown_ = 0;
};

}  // namespace genus
