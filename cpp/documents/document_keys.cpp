#include "documents/document_keys.h"

#include <bit>

#include "base/parallel.h"
#include "base/random.h"

namespace genus {

template <class Value>
std::vector<std::uint64_t> document_keys(const Csr<Value>& documents, int n_threads) {
  std::vector<std::uint64_t> keys(static_cast<std::size_t>(documents.rows()));
  constexpr std::int64_t most = 4096;
  const auto grain = even_grain(documents.rows(), most, n_threads);
  parallel_ranges(documents.rows(), grain, n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto d = begin; d < end; ++d) {
      std::uint64_t sum = 0;
      for (auto k = documents.indptr[d]; k < documents.indptr[d + 1]; ++k) {
        const auto value = static_cast<double>(documents.values[k]);
        if (value == 0) continue;
        const auto word = static_cast<std::uint64_t>(std::int64_t{documents.indices[k]});
        sum += mix64(word ^ mix64(std::bit_cast<std::uint64_t>(value)));
      }
      keys[static_cast<std::size_t>(d)] = sum;
    }
  });
  return keys;
}

template std::vector<std::uint64_t> document_keys(const Csr<double>&, int);
template std::vector<std::uint64_t> document_keys(const Csr<float>&, int);
template std::vector<std::uint64_t> document_keys(const Csr<std::int64_t>&, int);

std::vector<std::uint64_t> receipt_hashes(std::span<const std::uint64_t> contents,
                                          std::span<const std::uint64_t> labels,
                                          std::span<const std::int32_t> codes,
                                          std::span<const std::int64_t> weights) {
  std::vector<std::uint64_t> hashes(contents.size());
  for (std::size_t d = 0; d < hashes.size(); ++d) {
    const auto labeled = mix64(mix64(contents[d]) + labels[static_cast<std::size_t>(codes[d])]);
    hashes[d] = mix64(labeled + mix64(~static_cast<std::uint64_t>(weights[d])));
  }
  return hashes;
}

}  // namespace genus
