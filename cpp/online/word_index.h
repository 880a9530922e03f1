// Which row of evidence a word has, in memory in proportion to the words that have one: for OnlineLearner.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace genus {

// The words that have a row are kept in a hash table of 16 to 32 bytes for each, of at least half empty
// slots; or else every word has one, in the order of words, and nothing needs to be kept. Row 0 is that of
// all other words, and the first rows are of no word.
class WordIndex {
 public:
  explicit WordIndex(std::uint32_t first_row) : first_row_(first_row) {}

  std::int64_t n_words() const { return n_words_; }
  std::int64_t n_with_rows() const { return has_all() ? n_words_ : n_with_rows_; }
  bool has_all() const { return slots_.empty(); }

  // Where every word had a row, the new ones have too; unless they are many.
  void grow(std::int64_t n_words) {
    const auto before = std::exchange(n_words_, n_words);
    if (!has_all() || n_words <= most_growth * before) return;
    slots_.resize(fewest_slots);
    for (std::int32_t w = 0; w < before; ++w) insert(w, first_row_ + static_cast<std::uint32_t>(w));
  }

  // Of a word below n_words.
  std::uint32_t operator()(std::int32_t word) const {
    return has_all() ? first_row_ + static_cast<std::uint32_t>(word) : slots_[slot(word)].row;
  }

  // Calls use(row_of) with a function that is as operator(), for many words.
  template <class Use>
  void for_many(Use&& use) const {
    if (has_all())
      use([first = first_row_](std::int32_t word) { return first + static_cast<std::uint32_t>(word); });
    else
      use([this](std::int32_t word) { return slots_[slot(word)].row; });
  }

  // Gives a word that has none a row above 0.
  void insert(std::int32_t word, std::uint32_t row) {
    if (2 * ++n_with_rows_ > std::ssize(slots_)) double_slots();
    slots_[slot(word)] = {word, row};
  }

  // Gives every word a row, in the order of words.
  void give_all() {
    slots_ = {};
    n_with_rows_ = 0;
  }

  // Calls visit(word, row) for every word that has one, in no particular order.
  template <class Visit>
  void for_each(Visit&& visit) const {
    if (has_all())
      for (std::int32_t w = 0; w < n_words_; ++w) visit(w, (*this)(w));
    for (const auto& [word, row] : slots_)
      if (row != 0) visit(word, row);
  }

 private:
  static constexpr std::int64_t most_growth = 4;
  static constexpr std::size_t fewest_slots = 8;

  struct Slot {
    std::int32_t word = 0;
    std::uint32_t row = 0;  // 0: the slot is empty
  };

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

  std::uint32_t first_row_;
  std::int64_t n_words_ = 0, n_with_rows_ = 0;
  std::vector<Slot> slots_ = std::vector<Slot>(fewest_slots);  // a power of two of them; none: all have rows
};

}  // namespace genus
