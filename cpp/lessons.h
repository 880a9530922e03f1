// Documents made ready for learning and scoring, and the rows that their words have in one block of models.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "buffer.h"
#include "csr.h"
#include "online.h"

namespace genus {

// Documents in the order of learning, without what counts nothing; words that count 1 each have no values.
struct Lessons {
  std::vector<std::int64_t> starts{0};
  Buffer<std::int32_t> words;
  Buffer<double> values;
  std::vector<double> lengths, weights;
  std::vector<std::int32_t> codes;

  std::int64_t size() const { return std::ssize(lengths); }

  // Adds document d; words from n_words on are left out.
  template <class Value>
  void take(const Csr<Value>& documents, std::int64_t d, std::int64_t n_words, bool binary);
};

// Documents `order` with their classes and weights, except those of weight zero.
template <class Value>
Lessons take_lessons(const Csr<Value>& documents, std::span<const std::int32_t> codes,
                     std::span<const double> weights, std::span<const std::int64_t> order,
                     std::int64_t n_words, bool binary);

// The rows of a document's words in one block.
class Rows {
 public:
  RowList find(const EvidenceBlock& block, const Lessons& lessons, std::int64_t i) {
    const auto begin = lessons.starts[i];
    const auto size = static_cast<std::size_t>(lessons.starts[i + 1] - begin);
    if (numbers_.size() < size) numbers_.resize(2 * size);
    block.index.find(lessons.words.data() + begin, size, numbers_.data());
    return {numbers_.data(), lessons.values.empty() ? nullptr : lessons.values.data() + begin, size,
            lessons.lengths[i]};
  }

  // Gives each word a row of its own.
  void make(EvidenceBlock& block, const Lessons& lessons, std::int64_t i, int width) {
    const auto begin = lessons.starts[i];
    for (std::int64_t k = begin; k < lessons.starts[i + 1]; ++k) {
      auto& number = numbers_[k - begin];
      if (number == no_word) number = block.add_row(lessons.words[k], width);
    }
  }

 private:
  std::vector<std::uint32_t> numbers_;
};

// Asks for the rows of a document that will be read soon.
inline void ask_ahead(const EvidenceBlock& block, const Lessons& lessons, std::int64_t i, int width) {
  if (i >= lessons.size()) return;
  for (auto k = lessons.starts[i]; k < lessons.starts[i + 1]; ++k) {
    const double* const row = block.rows.data() + block.index(lessons.words[k]) * std::int64_t{2} * width;
    for (int c = 0; c < 2 * width; c += 8) __builtin_prefetch(row + c, 1);
  }
}

}  // namespace genus
