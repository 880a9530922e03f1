#include "tables/class_counts.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/fixed_point.h"
#include "base/parallel.h"

namespace genus {
namespace {

constexpr std::int64_t grain = 4096;  // rows or words of cheap work per task
// Running sums of row lengths held at indptr[w + 1]: turns them into row bounds.
template <class Lengths>
void lengths_to_bounds(Lengths& indptr) {
  std::partial_sum(indptr.begin(), indptr.end(), indptr.begin());
}

struct Cell {
  std::int32_t word, class_id;
  std::int64_t count;
};

// Adds up documents order[begin, end), which come in class order, and appends one cell per (class, word).
template <class Value>
std::vector<Cell> count_chunk(const Csr<Value>& documents, std::span<const double> scales,
                              std::span<const std::int32_t> codes, std::span<const std::int64_t> order,
                              std::int64_t n_words) {
  std::vector<Cell> cells;
  std::vector<std::int64_t> sums(static_cast<std::size_t>(n_words), 0);
  // Every word is written to the end of the list and stays if it is new: a quarter of them are, and a wrong
  // guess costs more than a write.
  std::vector<std::int32_t> touched(static_cast<std::size_t>(n_words) + 1);
  std::int32_t* next = touched.data();
  constexpr std::size_t ahead = 12;  // documents of one class lie apart: ask for them before they are needed
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i + 2 * ahead < order.size()) __builtin_prefetch(&documents.indptr[order[i + 2 * ahead]]);
    if (i + ahead < order.size()) {
      const auto k = documents.indptr[order[i + ahead]];
      __builtin_prefetch(documents.indices.data() + k);
      __builtin_prefetch(documents.values.data() + k);
      __builtin_prefetch(documents.values.data() + k + 8);
    }
    const auto d = order[i];
    for (auto k = documents.indptr[d]; k < documents.indptr[d + 1]; ++k) {
      const auto w = documents.indices[k];
      // Puurula and Myaeng 2013, eq. 3: scales[d] is weight / |d| where documents weigh the same
      const auto count = round_to_fixed(static_cast<double>(documents.values[k]) * scales[d]);
      if (static_cast<std::uint64_t>(w) >= static_cast<std::uint64_t>(n_words))
        throw std::invalid_argument("sparse rows: column " + std::to_string(w) + " is outside the matrix");
      if (count == 0) continue;
      *next = w;
      next += sums[w] == 0;
      sums[w] = checked_sum(sums[w], count);
    }
    const auto c = codes[d];
    if (i + 1 < order.size() && codes[order[i + 1]] == c) continue;
    for (const auto* w = touched.data(); w != next; ++w) cells.push_back({*w, c, std::exchange(sums[*w], 0)});
    next = touched.data();
  }
  return cells;
}

// Adds neighbouring cells of one class together: a class may have been counted in two chunks.
void add_up_neighbours(WordTable<std::int64_t>& table) {
  std::int64_t to = 0;
  std::int64_t begin = 0;
  for (std::size_t w = 0; w + 1 < table.indptr.size(); ++w) {
    const auto row = to;
    const auto end = table.indptr[w + 1];
    for (auto k = begin; k < end; ++k) {
      if (to > row && table.classes[to - 1] == table.classes[k]) {
        table.values[to - 1] = checked_sum(table.values[to - 1], table.values[k]);
      } else {
        table.classes[to] = table.classes[k];
        table.values[to++] = table.values[k];
      }
    }
    begin = end;
    table.indptr[w + 1] = to;
  }
  table.classes.resize(static_cast<std::size_t>(to));
  table.values.resize(static_cast<std::size_t>(to));
}

// Walks the union of word w's classes in both tables: visit(class, count of a, count of b).
template <class Visit>
void visit_pairs(const WordTableView<std::int64_t>& a, std::span<const std::int32_t> a_ids,
                 const WordTableView<std::int64_t>& b, std::span<const std::int32_t> b_ids, std::int64_t w,
                 Visit&& visit) {
  auto [i, i_end] = w < a.words() ? a.row(w) : Row{0, 0};
  auto [j, j_end] = w < b.words() ? b.row(w) : Row{0, 0};
  while (i < i_end || j < j_end) {
    const auto from_a = i < i_end ? a_ids[a.classes[i]] : std::numeric_limits<std::int32_t>::max();
    const auto from_b = j < j_end ? b_ids[b.classes[j]] : std::numeric_limits<std::int32_t>::max();
    const auto c = std::min(from_a, from_b);
    visit(c, from_a == c ? a.values[i++] : 0, from_b == c ? b.values[j++] : 0);
  }
}

}  // namespace

Groups group_equal(std::span<const std::uint8_t> items, std::int64_t width) {
  const std::string_view bytes(reinterpret_cast<const char*>(items.data()), items.size());
  const auto n = width > 0 ? std::ssize(items) / width : 0;
  std::unordered_map<std::string_view, std::int32_t> numbers;
  Groups groups;
  groups.codes.resize(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    const auto [entry, is_new] = numbers.try_emplace(bytes.substr(i * width, width), std::ssize(numbers));
    if (is_new) groups.first_places.push_back(i);
    groups.codes[i] = entry->second;
  }
  return groups;
}

bool has_duplicates(std::span<const std::int64_t> indptr, std::span<const std::int32_t> indices,
                    std::int64_t n_words) {
  std::vector<std::int64_t> last_seen;
  for (std::int64_t d = 0; d + 1 < std::ssize(indptr); ++d) {
    std::int64_t falls = 0;  // in most matrices words rise within a row, and none can be there twice
    for (auto k = indptr[d] + 1; k < indptr[d + 1]; ++k) falls += indices[k] <= indices[k - 1];
    if (falls == 0) continue;
    last_seen.resize(static_cast<std::size_t>(n_words), -1);
    for (auto k = indptr[d]; k < indptr[d + 1]; ++k) {
      const std::int64_t w = indices[k];
      if (static_cast<std::uint64_t>(w) < static_cast<std::uint64_t>(n_words) &&
          std::exchange(last_seen[w], d) == d)
        return true;
    }
  }
  return false;
}

template <class Value>
std::vector<std::int64_t> fixed_lengths(const Csr<Value>& documents, int n_threads) {
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(documents.rows()), 0);
  parallel_ranges(documents.rows(), grain, n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto d = begin; d < end; ++d)
      for (auto k = documents.indptr[d]; k < documents.indptr[d + 1]; ++k)
        lengths[d] = checked_sum(lengths[d], round_to_fixed(one * static_cast<double>(documents.values[k])));
  });
  return lengths;
}

template <class Value>
WordTable<std::int64_t> count_by_class(const Csr<Value>& documents, std::span<const double> scales,
                                       std::span<const std::int32_t> codes, std::int64_t n_words,
                                       std::int32_t n_classes, int n_threads) {
  const auto n = documents.rows();
  std::vector<std::int64_t> next(static_cast<std::size_t>(n_classes) + 1, 0);
  for (const auto c : codes) {
    if (static_cast<std::uint32_t>(c) >= static_cast<std::uint32_t>(n_classes))
      throw std::invalid_argument("class numbers do not fit the number of classes");
    ++next[c + 1];
  }
  lengths_to_bounds(next);
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  for (std::int64_t d = 0; d < n; ++d) order[next[codes[d]]++] = d;

  // Chunks of about equal numbers of entries. How they fall does not change the sums.
  const auto n_chunks = std::clamp<std::int64_t>(documents.entries() / (1 << 16), 1, std::max(n_threads, 1));
  std::vector<std::int64_t> bounds{0};
  std::int64_t entries = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    entries += documents.indptr[order[i] + 1] - documents.indptr[order[i]];
    if (entries * n_chunks >= static_cast<std::int64_t>(bounds.size()) * documents.entries() && i + 1 < n &&
        static_cast<std::int64_t>(bounds.size()) < n_chunks)
      bounds.push_back(i + 1);
  }
  bounds.push_back(n);
  std::vector<std::vector<Cell>> chunks(bounds.size() - 1);
  std::vector<std::vector<std::int64_t>> positions(chunks.size());
  parallel_for(std::ssize(chunks), n_threads, [&](std::int64_t i) {
    chunks[i] = count_chunk(documents, scales, codes,
                            std::span(order).subspan(bounds[i], bounds[i + 1] - bounds[i]), n_words);
    positions[i].assign(static_cast<std::size_t>(n_words), 0);
    for (const auto& cell : chunks[i]) ++positions[i][cell.word];
  });

  // Each chunk's cells of a word follow those of the chunk before, which keeps classes in order.
  WordTable<std::int64_t> table;
  table.indptr.assign(static_cast<std::size_t>(n_words) + 1, 0);
  std::int64_t n_cells = 0;
  for (std::int64_t w = 0; w < n_words; ++w) {
    for (auto& position : positions) n_cells += std::exchange(position[w], n_cells);
    table.indptr[w + 1] = n_cells;
  }
  table.classes.resize(static_cast<std::size_t>(n_cells));
  table.values.resize(static_cast<std::size_t>(n_cells));
  parallel_for(std::ssize(chunks), n_threads, [&](std::int64_t i) {
    for (const auto& cell : chunks[i]) {
      const auto k = positions[i][cell.word]++;
      table.classes[k] = cell.class_id;
      table.values[k] = cell.count;
    }
  });
  if (chunks.size() > 1) add_up_neighbours(table);
  return table;
}

WordTable<std::int64_t> combine(const WordTableView<std::int64_t>& a, std::span<const std::int32_t> a_ids,
                                const WordTableView<std::int64_t>& b, std::span<const std::int32_t> b_ids,
                                bool subtract, int n_threads) {
  const auto n_words = std::max(a.words(), b.words());
  const auto result = [subtract](std::int64_t x, std::int64_t y) {
    if (!subtract) return checked_sum(x, y);
    if (y > x) throw std::invalid_argument("counts would fall below zero");
    return x - y;
  };
  WordTable<std::int64_t> table;
  table.indptr.assign(static_cast<std::size_t>(n_words) + 1, 0);
  parallel_ranges(n_words, grain, n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto w = begin; w < end; ++w)
      visit_pairs(a, a_ids, b, b_ids, w, [&](std::int32_t, std::int64_t x, std::int64_t y) {
        table.indptr[w + 1] += result(x, y) != 0;
      });
  });
  lengths_to_bounds(table.indptr);
  table.classes.resize(static_cast<std::size_t>(table.indptr.back()));
  table.values.resize(table.classes.size());
  parallel_ranges(n_words, grain, n_threads, [&](std::int64_t begin, std::int64_t end) {
    auto to = table.indptr[begin];
    for (auto w = begin; w < end; ++w)
      visit_pairs(a, a_ids, b, b_ids, w, [&](std::int32_t c, std::int64_t x, std::int64_t y) {
        if (const auto count = result(x, y); count != 0) {
          table.classes[to] = c;
          table.values[to++] = count;
        }
      });
  });
  return table;
}

std::vector<double> class_totals(const WordTableView<std::int64_t>& counts, std::int32_t n_classes) {
  // Two halves of 32 bits: neither sum can overflow, whatever a table in memory holds.
  const auto n = static_cast<std::size_t>(n_classes);
  std::vector<std::int64_t> high(n, 0), low(n, 0);
  for (std::size_t k = 0; k < counts.values.size(); ++k) {
    high[counts.classes[k]] += counts.values[k] >> 32;
    low[counts.classes[k]] += counts.values[k] & 0xffffffff;
  }
  std::vector<double> totals(n);
  for (std::size_t c = 0; c < n; ++c) {
    const auto carry = low[c] >> 32;
    totals[c] = std::ldexp(static_cast<double>(high[c] + carry), 32 - fraction_bits) +
                std::ldexp(static_cast<double>(low[c] & 0xffffffff), -fraction_bits);
  }
  return totals;
}

template std::vector<std::int64_t> fixed_lengths(const Csr<float>&, int);
template std::vector<std::int64_t> fixed_lengths(const Csr<double>&, int);
template std::vector<std::int64_t> fixed_lengths(const Csr<std::int64_t>&, int);
template WordTable<std::int64_t> count_by_class(const Csr<float>&, std::span<const double>,
                                                std::span<const std::int32_t>, std::int64_t, std::int32_t,
                                                int);
template WordTable<std::int64_t> count_by_class(const Csr<double>&, std::span<const double>,
                                                std::span<const std::int32_t>, std::int64_t, std::int32_t,
                                                int);
template WordTable<std::int64_t> count_by_class(const Csr<std::int64_t>&, std::span<const double>,
                                                std::span<const std::int32_t>, std::int64_t, std::int32_t,
                                                int);

}  // namespace genus
