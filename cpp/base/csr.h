// Sparse rows, as views over memory owned elsewhere.
#pragma once

#include <cstdint>
#include <span>

namespace genus {

// Compressed sparse rows: row d holds (indices[k], values[k]) for k in [indptr[d], indptr[d + 1]).
// The binding layer has checked that indptr rises from 0 to the number of entries.
template <class Value>
struct Csr {
  std::span<const std::int64_t> indptr;
  std::span<const std::int32_t> indices;
  std::span<const Value> values;

  std::int64_t rows() const { return static_cast<std::int64_t>(indptr.size()) - 1; }
  std::int64_t entries() const { return static_cast<std::int64_t>(indices.size()); }
};

}  // namespace genus
