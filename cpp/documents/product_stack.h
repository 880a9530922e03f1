// Likelihoods of a block's documents under many short queries, as products of their words' factors: eq. 1 of
// Puurula and Myaeng 2013 for TiedDocumentMixture and its relatives, without logarithms.
//
// Queries share work. They are put in an order in which those with the same common words stand side by side,
// and words that the next query has too stay on a stack. Each word of a query is a step. A word with a full
// run multiplies a whole vector; any other changes a few products in place, adds what they gain to the sums
// of their segments, and is undone when the stack goes back. What queries of a few words do not share is
// their rare words: two scattered accesses a posting.
//
// Products and additions are in the query's own order, whatever it shares: its bits do not depend on the
// other queries.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "base/hashing.h"
#include "base/vector_loops.h"
#include "documents/inverted_index.h"
#include "documents/mixture_scorer.h"

namespace genus {

// Short queries in an order in which neighbours share their first words.
class SharedQueries {
 public:
  struct Member {
    std::int64_t query;   // its number among those given
    std::int64_t shared;  // the first so many words are those of the member before
    std::span<const std::int32_t> words;
  };

  // Of the queries, those with these numbers.
  SharedQueries(std::span<const Query> queries, std::span<const std::int64_t> numbers) {
    std::size_t n = 0;
    for (const auto i : numbers) n += queries[i].entries.size();
    numbers_.reserve(n);
    std::vector<std::int32_t> places(std::bit_ceil(2 * n + 1), -1);  // the numbers by their words' hashes
    for (const auto i : numbers) {
      for (const auto& e : queries[i].entries) numbers_.push_back(number_of(e, places));
      members_.push_back({i, 0, std::span(numbers_).last(queries[i].entries.size())});
    }
    share();
  }
  SharedQueries(const SharedQueries&) = delete;

  std::span<const Member> members() const { return members_; }
  // All their words, each with its count.
  std::span<const QueryWord> words() const { return words_; }

 private:
  std::int32_t number_of(const QueryWord& e, std::span<std::int32_t> places) {
    const auto hash = hash_join(std::bit_cast<std::uint64_t>(e.run), std::bit_cast<std::uint64_t>(e.x));
    for (auto at = hash;; ++at) {
      auto& number = places[at & (places.size() - 1)];
      if (number < 0) {
        number = static_cast<std::int32_t>(words_.size());
        words_.push_back(e);
      }
      if (words_[number].run == e.run && words_[number].x == e.x) return number;
    }
  }

  void share() {
    std::sort(members_.begin(), members_.end(), [](const Member& a, const Member& b) {
      return std::lexicographical_compare(a.words.begin(), a.words.end(), b.words.begin(), b.words.end());
    });
    for (std::size_t i = 1; i < members_.size(); ++i) {
      const auto a = members_[i - 1].words, b = members_[i].words;
      members_[i].shared = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).second - b.begin();
    }
  }

  std::vector<QueryWord> words_;
  std::vector<std::int32_t> numbers_;
  std::vector<Member> members_;
};

// What the words of shared queries have in one block after another.
class WordsInBlock {
 public:
  struct Word {
    double x;
    Row postings{0, 0};
    double* factors = nullptr;  // of these postings, to the power of x, once they are wanted
  };

  // From block b on.
  WordsInBlock(const IndexView& index, const SharedQueries& queries, std::int64_t b)
      : index_(index), entries_(queries.words().begin(), queries.words().end()) {
    const auto* const blocks = index.run_blocks.data();
    for (auto& e : entries_) {
      e.run = std::lower_bound(blocks + e.run, blocks + e.end, b) - blocks;
      words_.push_back({e.x});
    }
  }

  Word& operator[](std::int32_t number) { return words_[number]; }

  // Finds the postings of all words in block b. Blocks come in order.
  void enter(std::int64_t b) {
    for (std::size_t i = 0; i < words_.size(); ++i)
      words_[i] = {words_[i].x, index_.next_run(entries_[i].run, entries_[i].end, b), nullptr};
  }

 private:
  const IndexView& index_;
  std::vector<QueryWord> entries_;  // their runs that are still to come
  std::vector<Word> words_;
};

// Pieces of memory, of at most a block each, until there are too many. All are given back at once.
class Pieces {
 public:
  double* take(std::int64_t n) {
    if (page_ < most && used_ + n > block_size) {
      ++page_;
      used_ = 0;
    }
    if (page_ == most) return nullptr;
    if (page_ == std::ssize(pages_)) pages_.emplace_back(block_size);
    return pages_[page_].data() + std::exchange(used_, used_ + n);
  }
  void clear() { page_ = used_ = 0; }

 private:
  static constexpr std::int64_t most = 256;  // 8 MB
  std::vector<Buffer<double>> pages_;
  std::int64_t page_ = 0, used_ = 0;
};

class ProductStack {
 public:
  ProductStack(const IndexView& index, const Segments& segments, std::span<const double> values,
               std::span<const double> factors)
      : index_(index), segments_(segments), values_(values), factors_(factors) {
    for (std::int64_t b = 0; b < index.n_blocks(); ++b)
      most_parts_ = std::max<std::int64_t>(most_parts_, std::ssize(segments.of(b)));
    rows_.resize(static_cast<std::size_t>((most_shared + 1) * most_parts_));
    std::fill_n(vector(0), block_size, 1.0);
    summed_[0] = true;
  }

  using Member = SharedQueries::Member;

  // Calls use(i, segments of block b, their sums) for each query i.
  template <class Use>
  void visit(std::span<const Member> members, WordsInBlock& words, std::int64_t b, Use&& use) {
    enter(b);
    words.enter(b);
    for (std::size_t i = 0; i < members.size(); ++i) {
      const auto& member = members[i];
      kept_ = i + 1 < members.size() ? members[i + 1].shared : 0;
      go_back(member.shared);
      take(words, member);
      use(i, parts_, summed(steps_.back()));
    }
    go_back(0);
  }

 private:
  // What stands after some words of a query.
  struct Step {
    std::int64_t vector = 0, row = 0;            // of the products, and of the segments' sums
    std::int64_t vector_step = 0, row_step = 0;  // which began them
    Row undo{0, 0};                              // postings whose products are to be put back
  };

  void enter(std::int64_t b) {
    n_ = index_.block_starts[b + 1] - index_.block_starts[b];
    parts_ = segments_.of(b);
    const auto* const weights = index_.weights.data() + index_.block_starts[b];
    powers_.clear();
    if (!index_.unit_weights) std::copy_n(weights, n_, vector(0));
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const auto end =
          i + 1 == parts_.size() ? block_size : parts_[i].end;  // slots of a damaged file may be out of range
      if (parts_.size() > 1)
        std::fill(part_of_.begin() + parts_[i].begin, part_of_.begin() + end, static_cast<std::uint16_t>(i));
      sums(0)[i] = parts_[i].weight;
    }
  }

  double* vector(std::int64_t i) {
    while (std::ssize(vectors_) <= i) vectors_.emplace_back(block_size);
    return vectors_[i].data();
  }
  double* sums(std::int64_t i) { return rows_.data() + i * most_parts_; }

  // The sums of a step that stands last, or that something was raised behind.
  const double* summed(const Step& step) {
    double* const row = sums(step.row);
    if (!std::exchange(summed_[step.row], true))
      for (std::size_t i = 0; i < parts_.size(); ++i)
        row[i] = kernels_.sum(vector(step.vector) + parts_[i].begin, parts_[i].end - parts_[i].begin);
    return row;
  }

  // To what stood after the first n words.
  void go_back(std::int64_t n_words) {
    for (; std::ssize(steps_) > n_words + 1; steps_.pop_back()) {
      const auto& step = steps_.back();
      const auto n = step.undo.end - step.undo.begin;
      n_old_ -= n;
      if (n > 0 && step.vector_step <= n_words)
        kernels_.put(index_.slots.data() + step.undo.begin, old_.data() + n_old_, n, vector(step.vector));
    }
  }

  bool is_full(Row run) const { return run.end - run.begin == n_; }

  // The words of the query that are not on the stack yet.
  void take(WordsInBlock& words, const Member& member) {
    while (steps_.size() <= member.words.size()) {
      auto& word = words[member.words[steps_.size() - 1]];
      auto next = steps_.back();
      next.undo = {0, 0};
      if (is_full(word.postings))
        multiply(factors_of(word), next);
      else if (word.postings.begin < word.postings.end)
        raise(word.postings, factors_of(word), next);
      steps_.push_back(next);
    }
  }

  const double* factors_of(WordsInBlock::Word& word) {
    const auto [begin, end] = word.postings;
    if (word.x == 1) return factors_.data() + begin;
    if (word.factors != nullptr) return word.factors;
    word.factors = powers_.take(end - begin);
    double* const powers = word.factors != nullptr ? word.factors : passing_.data();
    kernels_.scaled_exp(values_.data() + begin, end - begin, word.x, powers);
    return powers;
  }

  void multiply(const double* factors, Step& next) {
    const double* const from = vector(next.vector);
    if (next.vector_step <= kept_) {
      next.vector_step = std::ssize(steps_);
      ++next.vector;
    }
    own_row(next);
    summed_[next.row] = false;
    kernels_.multiply_full(from, factors, n_, vector(next.vector));
  }

  void raise(Row run, const double* factors, Step& next) {
    const double* const before = summed(steps_.back());
    if (own_row(next)) std::copy_n(before, parts_.size(), sums(next.row));
    summed_[next.row] = true;
    next.undo = run;
    const auto* const slots = index_.slots.data() + run.begin;
    const auto n = run.end - run.begin;
    double* const products = vector(next.vector);
    double* const old = old_.data() + std::exchange(n_old_, n_old_ + n);
    double* const row = sums(next.row);
    constexpr std::size_t few = 8;
    if (parts_.size() > few)
      return kernels_.raise_parts(slots, factors, n, part_of_.data(), products, old, row);
    for (std::int64_t k = 0; k < n;) {
      const auto part = parts_.size() == 1 ? 0U : part_of_[slots[k] & (block_size - 1)];
      auto end = n;
      if (part + 1U < parts_.size())
        for (end = k + 1; end < n && slots[end] < parts_[part].end;) ++end;
      row[part] += kernels_.raise(slots + k, factors + k, end - k, products, old + k);
      k = end;
    }
  }

  // A vector or row that began after the words that the next query shares belongs to this step alone. Returns
  // whether a new one had to be begun.
  bool own_row(Step& next) const {
    if (next.row_step > kept_) return false;
    next.row_step = std::ssize(steps_);
    ++next.row;
    return true;
  }

  const IndexView& index_;
  const Segments& segments_;
  std::span<const double> values_, factors_;
  const VectorLoops& kernels_ = vector_loops();
  std::int64_t n_ = 0, kept_ = 0;  // slots of the block; words of the query that the next one has too
  std::span<const Segment> parts_;
  std::vector<Step> steps_ = std::vector<Step>(1);
  std::vector<std::vector<double>> vectors_;
  std::int64_t most_parts_ = 0;
  Buffer<double> rows_;
  std::vector<std::uint8_t> summed_ =
      std::vector<std::uint8_t>(most_shared + 1);  // which rows are up to date
  std::int64_t n_old_ = 0;
  Buffer<double> old_ = Buffer<double>(most_shared * block_size);  // what words have changed, in turn
  Pieces powers_;
  std::vector<double> passing_ = std::vector<double>(block_size);
  std::vector<std::uint16_t> part_of_ = std::vector<std::uint16_t>(block_size);
};

}  // namespace genus
