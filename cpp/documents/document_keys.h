// 64 bits of each document by which equal ones are found, and by which documents are put in an order that
// does not depend on how they came.
//
//   key(d) = sum over words w of d of mix(w ^ mix(x_dw))   modulo 2^64,   x_dw as the bits of a double
//
// A sum, so that the order of words does not matter; words that are zero do not count. Model files hold sums
// of these keys: changing them needs a new format version.
//
// Cost: two mixers, about 2 ns, an entry.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/csr.h"

namespace genus {

template <class Value>
std::vector<std::uint64_t> document_keys(const Csr<Value>& documents, int n_threads);

// A hash of each document's content, its class's label and its weight in fixed point: what a receipt sums up.
std::vector<std::uint64_t> receipt_hashes(std::span<const std::uint64_t> contents,
                                          std::span<const std::uint64_t> labels,
                                          std::span<const std::int32_t> codes,
                                          std::span<const std::int64_t> weights);

}  // namespace genus
