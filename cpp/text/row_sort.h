// Sorts the keys of a row and counts equal ones: the last step of Vectorizer for each document.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace genus {

// Sorts the keys of one row by their bits from `shift` on. Short rows by insertion; longer ones digit by
// digit, least significant first, in as few passes as their largest key asks for: about 5 ns per key, a third
// of std::sort here.
template <class Key>
void sort_row(std::vector<Key>& keys, std::vector<Key>& spare, int shift) {
  if (keys.size() <= 24) {
    for (std::size_t i = 1; i < keys.size(); ++i) {
      const Key key = keys[i];
      std::size_t k = i;
      for (; k > 0 && keys[k - 1] > key; --k) keys[k] = keys[k - 1];
      keys[k] = key;
    }
    return;
  }
  Key all = 0;
  for (const Key key : keys) all |= key;
  const int bits = std::bit_width(static_cast<std::uint64_t>(all >> shift));
  const int widest = keys.size() < 512 ? 9 : 11;  // a pass costs time for its keys and for its digits
  const int passes = std::max(1, (bits + widest - 1) / widest);
  const int digit_bits = (bits + passes - 1) / passes;
  const Key mask = (Key{1} << digit_bits) - 1;
  spare.resize(keys.size());
  std::array<std::uint32_t, 1 << 11> begin;
  for (int pass = 0; pass < passes; ++pass, shift += digit_bits) {
    std::fill_n(begin.begin(), mask + 1, 0);
    for (const Key key : keys) ++begin[(key >> shift) & mask];
    std::uint32_t sum = 0;
    for (std::size_t digit = 0; digit <= mask; ++digit) sum += std::exchange(begin[digit], sum);
    for (const Key key : keys) spare[begin[(key >> shift) & mask]++] = key;
    keys.swap(spare);
  }
}

// Counts the keys of one row after another: calls use(key, count) for the distinct ones, in order. Keys are
// below 2^31, and left in disorder.
class KeyCounter {
 public:
  template <class Use>
  void operator()(std::vector<std::uint32_t>& keys, Use&& use) {
    if (keys.size() <= few) return count_few(keys, use);
    std::uint32_t all = 0;
    for (const std::uint32_t key : keys) all |= key;
    if (all < most_marked) return count_marked(keys, all, use);
    sort_row(keys, spare_, 0);
    for (std::size_t i = 0; i < keys.size();) {
      std::size_t end = i + 1;
      while (end < keys.size() && keys[end] == keys[i]) ++end;
      use(keys[i], static_cast<std::uint32_t>(end - i));
      i = end;
    }
  }

 private:
  static constexpr std::size_t few = 32;
  static constexpr std::uint32_t most_marked = 1 << 18;  // their marks are 32 KiB

  // In a short row a key's place is the number of smaller ones: no branch depends on the keys, which sorting
  // by comparison guesses wrong every other time. Equal keys meet in one place, as many short of the next as
  // there are.
  template <class Use>
  static void count_few(const std::vector<std::uint32_t>& keys, Use&& use) {
    constexpr std::uint32_t most = 0x7fffffff;
    const std::size_t n = keys.size();
    alignas(64) std::array<std::int32_t, few> row;
    std::array<std::uint32_t, few> sorted, counts{};
    const std::size_t padded = (n + 7) / 8 * 8;
    for (std::size_t i = 0; i < n; ++i) row[i] = static_cast<std::int32_t>(keys[i]);
    for (std::size_t i = n; i < padded; ++i) row[i] = most;
    for (std::size_t i = 0; i < n; ++i) {
      std::int32_t smaller = 0;
      for (std::size_t k = 0; k < padded; ++k) smaller += row[k] < row[i];
      sorted[static_cast<std::size_t>(smaller)] = keys[i];
      ++counts[static_cast<std::size_t>(smaller)];
    }
    for (std::size_t i = 0; i < n; i += counts[i]) use(sorted[i], counts[i]);
  }

  // Keys that are small enough are marked, a bit each, and another for each 64 of those; the marks are read
  // in order. Only keys that come again are sorted.
  template <class Use>
  void count_marked(const std::vector<std::uint32_t>& keys, std::uint32_t all, Use&& use) {
    const std::size_t n_blocks = all / 4096 + 1;
    if (blocks_.size() < n_blocks) {
      blocks_.resize(n_blocks, 0);
      marks_.resize(64 * n_blocks, 0);
    }
    again_.resize(keys.size() + 1);
    std::size_t n_again = 0;
    for (const std::uint32_t key : keys) {
      std::uint64_t& marks = marks_[key / 64];
      again_[n_again] = key;
      n_again += marks >> key % 64 & 1;
      marks |= std::uint64_t{1} << key % 64;
      blocks_[key / 4096] |= std::uint64_t{1} << key / 64 % 64;
    }
    again_.resize(n_again);
    sort_row(again_, spare_, 0);
    again_.push_back(~std::uint32_t{0});
    const std::uint32_t* next = again_.data();
    for (std::size_t block = 0; block < n_blocks; ++block)
      for (std::uint64_t words = std::exchange(blocks_[block], 0); words != 0; words &= words - 1) {
        const std::size_t word = 64 * block + static_cast<std::size_t>(std::countr_zero(words));
        for (std::uint64_t marks = std::exchange(marks_[word], 0); marks != 0; marks &= marks - 1) {
          const auto key =
              static_cast<std::uint32_t>(64 * word) + static_cast<std::uint32_t>(std::countr_zero(marks));
          std::uint32_t count = 1;
          for (; *next == key; ++next) ++count;
          use(key, count);
        }
      }
  }

  std::vector<std::uint32_t> spare_, again_;
  std::vector<std::uint64_t> marks_, blocks_;  // all 0 between rows
};

}  // namespace genus
