// Which row of a table a word has, in memory in proportion to the words that have one.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "buffer.h"

namespace genus {

// Few words are kept in a hash table of 16 to 32 bytes for each, of at least half empty slots; from an eighth
// of all words on in an array over all of them, which is no larger. Row 0 is that of all other words.
class WordIndex {
 public:
  std::int64_t n_words() const { return n_words_; }
  void grow(std::int64_t n_words) {
    n_words_ = n_words;
    if (is_array()) array_.resize(static_cast<std::size_t>(n_words));
  }

  // Of a word below n_words.
  std::uint32_t operator()(std::int32_t word) const {
    return is_array() ? array_[static_cast<std::size_t>(word)] : slots_[slot(word)].row;
  }

  // Of several words.
  void find(const std::int32_t* words, std::size_t n, std::uint32_t* rows) const {
    if (is_array())
      for (std::size_t k = 0; k < n; ++k) rows[k] = array_[static_cast<std::size_t>(words[k])];
    else
      for (std::size_t k = 0; k < n; ++k) rows[k] = slots_[slot(words[k])].row;
  }

  // Gives a word that has none a row above 0.
  void insert(std::int32_t word, std::uint32_t row) {
    ++n_rows_;
    if (!is_array() && n_rows_ * dense >= n_words_) become_array();
    if (is_array()) {
      array_[static_cast<std::size_t>(word)] = row;
      return;
    }
    if (2 * n_rows_ > std::ssize(slots_)) double_slots();
    slots_[slot(word)] = {word, row};
  }

  // Calls visit(word, row) for every word that has one, in no particular order.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t w = 0; w < array_.size(); ++w)
      if (array_[w] != 0) visit(static_cast<std::int32_t>(w), array_[w]);
    for (const auto& [word, row] : slots_)
      if (row != 0) visit(word, row);
  }

 private:
  static constexpr std::int64_t dense = 8;  // words for each that has a row

  struct Slot {
    std::int32_t word = 0;
    std::uint32_t row = 0;  // 0: the slot is empty
  };

  bool is_array() const { return slots_.empty(); }

  // Where a word is, or would be.
  std::size_t slot(std::int32_t word) const {
    const auto mask = slots_.size() - 1;
    auto i =
        static_cast<std::size_t>((static_cast<std::uint64_t>(word) * 0x9e3779b97f4a7c15ULL) >> 32) & mask;
    while (slots_[i].row != 0 && slots_[i].word != word) i = (i + 1) & mask;
    return i;
  }

  void double_slots() {
    const auto before = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
    for (const auto& full : before)
      if (full.row != 0) slots_[slot(full.word)] = full;
  }

  void become_array() {
    array_.resize(static_cast<std::size_t>(n_words_));
    for (const auto& [word, row] : slots_)
      if (row != 0) array_[static_cast<std::size_t>(word)] = row;
    slots_ = {};
  }

  std::int64_t n_words_ = 0, n_rows_ = 0;
  std::vector<Slot> slots_ = std::vector<Slot>(8);  // a power of two of them; none once there is the array
  Table<std::uint32_t> array_;
};

}  // namespace genus
