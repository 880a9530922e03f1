// Vectors for large arrays, on large pages where the system has them: look-ups scattered over tens of
// megabytes otherwise wait for the translation of addresses as long as for the memory itself.
#pragma once

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace genus {

template <class T, bool initialised>
struct LargeArrays {
  using value_type = T;
  template <class U>
  struct rebind {
    using other = LargeArrays<U, initialised>;
  };
  static constexpr std::size_t page = std::size_t{1} << 21;

  LargeArrays() = default;
  template <class U>
  LargeArrays(const LargeArrays<U, initialised>&) {}
  bool operator==(const LargeArrays&) const = default;

  T* allocate(std::size_t n) {
    if (!is_large(n)) return std::allocator<T>().allocate(n);
    const std::size_t bytes = (n * sizeof(T) + page - 1) / page * page;
    void* const memory = ::operator new(bytes, std::align_val_t{page});
#if defined(__linux__)
    madvise(memory, bytes, MADV_HUGEPAGE);  // a hint: nothing depends on it
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t n) {
    if (!is_large(n)) return std::allocator<T>().deallocate(memory, n);
    ::operator delete(memory, std::align_val_t{page});
  }
  template <class U, class... Args>
  void construct(U* p, Args&&... args) {
    if constexpr (sizeof...(Args) == 0 && !initialised)
      ::new (static_cast<void*>(p)) U;
    else
      ::new (static_cast<void*>(p)) U(std::forward<Args>(args)...);
  }

 private:
  static bool is_large(std::size_t n) {
    return n >= 2 * page / sizeof(T) && n < ~std::size_t{0} / sizeof(T) - page;
  }
};

// Elements that start out as zeros.
template <class T>
using Table = std::vector<T, LargeArrays<T, true>>;

// Elements that start out as anything: for outputs that threads fill, each touching its own pages first.
template <class T>
using Buffer = std::vector<T, LargeArrays<T, false>>;

}  // namespace genus
