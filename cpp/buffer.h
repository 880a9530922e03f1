// A vector whose elements start out uninitialised: for outputs that threads fill, each touching its own
// pages.
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace genus {

template <class T>
struct Uninitialised : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = Uninitialised<U>;
  };
  template <class U>
  void construct(U* p) {
    ::new (static_cast<void*>(p)) U;
  }
  template <class U, class... Args>
  void construct(U* p, Args&&... args) {
    ::new (static_cast<void*>(p)) U(std::forward<Args>(args)...);
  }
};

template <class T>
using Buffer = std::vector<T, Uninitialised<T>>;

}  // namespace genus
