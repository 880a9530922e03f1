// Arrays across the border: borrowed as spans on the way in, moved out of vectors on the way back.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/csr.h"

namespace genus::bindings {

namespace nb = nanobind;

// A one-dimensional contiguous NumPy array that the caller keeps alive. Never converted: Python does that
// once.
template <class T>
using In = nb::ndarray<const T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
using Out = nb::ndarray<T, nb::numpy, nb::ndim<1>>;

template <class T>
using Out2 = nb::ndarray<T, nb::numpy, nb::ndim<2>>;

// Matrices of numbers, to read and to write.
using InMatrix = nb::ndarray<const double, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<double, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> view(const In<T>& array) {
  return {array.data(), array.size()};
}
inline std::span<const double> view(const InMatrix& matrix) {
  return {matrix.data(), matrix.size()};
}
inline std::span<double> view(const Matrix& matrix) {
  return {matrix.data(), matrix.size()};
}

inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

// Whether these are bounds of parts that lie one after the other, from 0 to n.
inline bool rises(std::span<const std::int64_t> bounds, std::int64_t n) {
  return !bounds.empty() && bounds.front() == 0 && bounds.back() == n &&
         std::is_sorted(bounds.begin(), bounds.end());
}

// Whether all numbers lie in [0, n).
inline bool within(std::span<const std::int32_t> numbers, std::int64_t n) {
  return std::all_of(numbers.begin(), numbers.end(), [n](std::int32_t i) { return i >= 0 && i < n; });
}

// Hands a vector's memory to NumPy without copying it.
template <class T, class Allocator>
Out<T> give(std::vector<T, Allocator>&& values) {
  using Vector = std::vector<T, Allocator>;
  auto* owned = new Vector(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Vector*>(p); });
  return Out<T>(owned->data(), {owned->size()}, owner);
}

template <class T, class Allocator>
Out2<T> give(std::vector<T, Allocator>&& values, std::size_t rows, std::size_t columns) {
  using Vector = std::vector<T, Allocator>;
  auto* owned = new Vector(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Vector*>(p); });
  return Out2<T>(owned->data(), {rows, columns}, owner);
}

// Checks the shape of sparse rows, which is cheap; kernels themselves guard against column indices out of
// range.
template <class Value>
Csr<Value> csr(const In<std::int64_t>& indptr, const In<std::int32_t>& indices, const In<Value>& values) {
  const Csr<Value> rows{view(indptr), view(indices), view(values)};
  if (rows.indptr.empty() || rows.indptr.front() != 0 || rows.indptr.back() != rows.entries() ||
      values.size() != indices.size())
    throw std::invalid_argument("sparse rows: indptr, indices and values do not belong together");
  for (std::size_t d = 1; d < rows.indptr.size(); ++d)
    if (rows.indptr[d] < rows.indptr[d - 1]) throw std::invalid_argument("sparse rows: indptr must not fall");
  return rows;
}

}  // namespace genus::bindings
