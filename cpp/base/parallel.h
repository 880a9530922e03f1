// A small fork-safe parallel for: threads live for one call, so a forked child never waits for a lost pool.
// With GENUS_SERIAL, for machines without threads (WebAssembly), everything runs in the thread of the caller.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#ifndef GENUS_SERIAL
#include <mutex>
#include <thread>
#endif
#include <vector>

namespace genus {

#ifndef GENUS_SERIAL
// Threads that are joined at the end of their scope. (std::jthread is missing in Xcode 16.)
class JoinedThreads {
 public:
  explicit JoinedThreads(std::size_t n) { threads_.reserve(n); }
  JoinedThreads(const JoinedThreads&) = delete;
  JoinedThreads& operator=(const JoinedThreads&) = delete;
  ~JoinedThreads() {
    for (std::thread& thread : threads_) thread.join();
  }

  template <class Work>
  void start(Work& work) {
    threads_.emplace_back(std::ref(work));
  }

 private:
  std::vector<std::thread> threads_;
};
#endif

// Calls task(i) once for every i in [0, n), on at most n_threads threads, in no particular order.
// The first exception thrown stops the handing out of further work and is rethrown to the caller.
// Results are equal for every thread count as long as task(i) writes only what belongs to i.
template <class Task>
void parallel_for(std::int64_t n, [[maybe_unused]] int n_threads, Task&& task) {
#ifndef GENUS_SERIAL
  const auto workers = static_cast<int>(std::min<std::int64_t>(n, std::max(n_threads, 1)));
  if (workers > 1) {
    std::atomic<std::int64_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_lock;
    auto work = [&] {
      try {
        for (std::int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < n;) task(i);
      } catch (...) {
        next.store(n, std::memory_order_relaxed);
        const std::lock_guard lock(failure_lock);
        if (!failure) failure = std::current_exception();
      }
    };
    {
      JoinedThreads threads(static_cast<std::size_t>(workers) - 1);
      for (int t = 1; t < workers; ++t) threads.start(work);
      work();
    }
    if (failure) std::rethrow_exception(failure);
    return;
  }
#endif
  for (std::int64_t i = 0; i < n; ++i) task(i);
}

// As parallel_for, over ranges [begin, end) of `grain` consecutive items: task(begin, end).
template <class Task>
void parallel_ranges(std::int64_t n, std::int64_t grain, int n_threads, Task&& task) {
  parallel_for((n + grain - 1) / grain, n_threads,
               [&](std::int64_t i) { task(i * grain, std::min(n, (i + 1) * grain)); });
}

// The size of ranges of at most `most` of n items of which every thread gets as many as the others. For tasks
// whose results do not depend on where a range ends.
inline std::int64_t even_grain(std::int64_t n, std::int64_t most, int n_threads) {
  const auto threads = std::max<std::int64_t>(n_threads, 1);
  const auto n_ranges = (n + most * threads - 1) / (most * threads) * threads;
  return n_ranges > 0 ? (n + n_ranges - 1) / n_ranges : 1;
}

}  // namespace genus
