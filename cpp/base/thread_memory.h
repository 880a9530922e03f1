// Threads that keep working memory from task to task.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/parallel.h"

namespace genus {

// Calls task(i, memory) once for every i in [0, n): each of at most n_threads threads has one Memory, made by
// make(), for all its tasks, and hands it to finish(memory) at its end.
template <class Make, class Task, class Finish>
void parallel_with_memory(std::int64_t n, int n_threads, Make&& make, Task&& task, Finish&& finish) {
  std::atomic<std::int64_t> next{0};
  const auto workers = std::min<std::int64_t>(n, std::max(n_threads, 1));
  parallel_for(workers, n_threads, [&](std::int64_t) {
    auto memory = make();
    for (std::int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < n;) task(i, memory);
    finish(memory);
  });
}

template <class Make, class Task>
void parallel_with_memory(std::int64_t n, int n_threads, Make&& make, Task&& task) {
  parallel_with_memory(n, n_threads, make, task, [](auto&) {});
}

}  // namespace genus
