// A std::mutex; with GENUS_SERIAL, where there is one thread and no std::mutex, a lock that is always free.
#pragma once

#include <mutex>

namespace genus {

#ifdef GENUS_SERIAL
struct Mutex {
  void lock() {}
  void unlock() {}
};
#else
using Mutex = std::mutex;
#endif

}  // namespace genus
