#include "lessons.h"

namespace genus {

template <class Value>
void Lessons::take(const Csr<Value>& documents, std::int64_t d, std::int64_t n_words, bool binary) {
  const auto begin = documents.indptr[d], end = documents.indptr[d + 1];
  const auto first = static_cast<std::size_t>(starts.back());
  const auto room = first + static_cast<std::size_t>(end - begin);
  words.resize(room);
  if (!binary) values.resize(room);
  auto at = first;
  double length = 0;
  for (auto k = begin; k < end; ++k) {
    const auto w = documents.indices[k];
    const auto x = static_cast<double>(documents.values[k]);
    const bool counts = x > 0 && static_cast<std::uint64_t>(w) < static_cast<std::uint64_t>(n_words);
    words[at] = w;
    if (!binary) values[at] = x;
    at += counts;
    length += counts ? x : 0.0;
  }
  words.resize(at);
  if (!binary) values.resize(at);
  starts.push_back(static_cast<std::int64_t>(at));
  lengths.push_back(binary ? static_cast<double>(at - first) : length);
}

template <class Value>
Lessons take_lessons(const Csr<Value>& documents, std::span<const std::int32_t> codes,
                     std::span<const double> weights, std::span<const std::int64_t> order,
                     std::int64_t n_words, bool binary) {
  Lessons lessons;
  lessons.words.reserve(static_cast<std::size_t>(documents.entries()));
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto d = order[i];
    if (i + 1 < order.size()) {
      const auto next = documents.indptr[order[i + 1]];
      __builtin_prefetch(documents.indices.data() + next);
      __builtin_prefetch(documents.values.data() + next);
    }
    if (!(weights[d] > 0)) continue;
    lessons.take(documents, d, n_words, binary);
    lessons.weights.push_back(weights[d]);
    lessons.codes.push_back(codes[d]);
  }
  return lessons;
}

template void Lessons::take(const Csr<float>&, std::int64_t, std::int64_t, bool);
template Lessons take_lessons(const Csr<float>&, std::span<const std::int32_t>, std::span<const double>,
                              std::span<const std::int64_t>, std::int64_t, bool);
template void Lessons::take(const Csr<double>&, std::int64_t, std::int64_t, bool);
template Lessons take_lessons(const Csr<double>&, std::span<const std::int32_t>, std::span<const double>,
                              std::span<const std::int64_t>, std::int64_t, bool);
template void Lessons::take(const Csr<std::int64_t>&, std::int64_t, std::int64_t, bool);
template Lessons take_lessons(const Csr<std::int64_t>&, std::span<const std::int32_t>,
                              std::span<const double>, std::span<const std::int64_t>, std::int64_t, bool);

}  // namespace genus
