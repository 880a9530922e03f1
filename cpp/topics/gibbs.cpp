#include "topics/gibbs.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <numeric>
#include <optional>
#include <vector>

#include "base/binomial.h"
#include "base/fixed_point.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/thread_memory.h"
#include "topics/topic_start.h"

namespace genus {
namespace {

constexpr std::int32_t most_single_draws = 16;  // more tokens of a cell than this are drawn as binomials

using Word = SweepMemory::Word;
using ThreadMemory = SweepMemory::ThreadMemory;

// Documents of one class that one thread draws in one go.
struct Chunk {
  std::int64_t c, begin, end;
  std::int64_t n_entries;
  bool shared;  // with other chunks of the class
};

// The largest come first, so that threads end at about the same time.
std::vector<Chunk> cut_classes(std::span<const std::int64_t> class_starts,
                               std::span<const std::int64_t> entry_starts, int n_threads) {
  constexpr std::int64_t smallest = 1 << 15;  // entries; a chunk also pays for reading its class's table
  const auto most =
      n_threads == 1 ? entry_starts.back() : std::max(smallest, entry_starts.back() / (4 * n_threads));
  std::vector<Chunk> chunks;
  for (std::int64_t c = 0; c + 1 < std::ssize(class_starts); ++c) {
    auto begin = class_starts[c];
    const auto end = class_starts[c + 1];
    const bool shared = entry_starts[end] - entry_starts[begin] > most;
    while (begin < end) {
      auto stop = end;
      if (shared) {
        const auto* const from = entry_starts.data() + begin + 1;
        stop = std::lower_bound(from, entry_starts.data() + end, entry_starts[begin] + most) -
               entry_starts.data();
      }
      chunks.push_back({c, begin, stop, entry_starts[stop] - entry_starts[begin], shared});
      begin = stop;
    }
  }
  std::ranges::stable_sort(chunks, std::greater{}, &Chunk::n_entries);
  return chunks;
}

// How many of n tokens go to each topic, where the first two have the cumulated weights b and t of `total`.
struct Split {
  std::int64_t background, topic, own;
};

inline __attribute__((always_inline)) Split split_tokens(RandomStream& random, std::int32_t n, double b,
                                                         double t, double total) {
  Split split{};
  if (n <= most_single_draws) {
    for (std::int32_t i = 0; i < n; ++i) {
      const double v = random.uniform() * total;
      split.background += v < b;
      split.own += v >= t;
    }
  } else {
    split.background = draw_binomial(random, n, b / total);
    split.own = draw_binomial(random, n - split.background, (total - t) / (total - b));
  }
  split.topic = n - split.background - split.own;
  return split;
}

// Draws the topics of one document's tokens. `own_topic(e, x, weight)` is what the document's own topic
// weighs for entry e, background_weight and topic_weight multiply the shared ones.
template <class Value, class Own, class OwnTopic>
void draw_document(std::span<const Value> values, std::span<const std::int32_t> places, std::span<Word> words,
                   double background_weight, double topic_weight, OwnTopic&& own_topic, RandomStream random,
                   Own* own, double* mixture) {
  double n_background = 0, n_topic = 0, n_own = 0;
  for (std::size_t e = 0; e < values.size(); ++e) {
    const auto x = static_cast<double>(values[e]);
    auto n = static_cast<std::int32_t>(x);
    double weight = 1;
    auto unit = static_cast<std::int64_t>(one);
    if (n != x) {
      weight = x / ++n;
      unit = static_cast<std::int64_t>(weight * one + 0.5);
    }
    auto& word = words[static_cast<std::size_t>(places[e])];
    const double b = background_weight * word.background;  // 2.1.1: theta_dj * phi_jw, not normalised
    const double t = b + topic_weight * word.topic;
    const auto split = split_tokens(random, n, b, t, t + own_topic(e, x, weight));
    word.to_background += split.background * unit;
    word.to_topic += split.topic * unit;
    own[e] = static_cast<Own>(split.own);
    n_background += static_cast<double>(split.background) * weight;
    n_topic += static_cast<double>(split.topic) * weight;
    n_own += static_cast<double>(split.own) * weight;
  }
  mixture[0] = n_background;
  mixture[1] = n_topic;
  mixture[2] = n_own;
}

double total_of(std::span<const std::int64_t> counts) {
  const auto number = [](std::int64_t count) { return static_cast<double>(count); };
  return std::transform_reduce(counts.begin(), counts.end(), 0.0, std::plus{}, number) / one;
}

// One sweep in progress.
template <class Value, class Own>
class Sweep {
 public:
  Sweep(const LabelledRows<Value>& documents, const ClassWordsView& words, const TopicPriors& priors,
        std::uint64_t seed, std::int64_t number, const ChainStates<Own>& chains, SweepMemory& memory)
      : documents_(documents),
        words_(words),
        priors_(priors),
        seed_(seed),
        number_(number),
        chains_(chains),
        memory_(memory) {
    if (number > 0)
      memory.background.resize(chains.background.size());
    else
      std::fill(chains.background.begin(), chains.background.end(), 0);
    memory.shared_topics.resize(static_cast<std::size_t>(documents.classes()));
    if (number == 0) start_.emplace(words, priors.n_words);
    for (std::int64_t r = 0; number > 0 && r < chains.n_chains; ++r)
      background_totals_.push_back(total_of(chains.background.subspan(r * priors.n_words, priors.n_words)));
  }

  void run(int n_threads) {
    const auto chunks = cut_classes(documents_.class_starts, documents_.entry_starts, n_threads);
    const auto n_chunks = std::ssize(chunks);
    for (const auto& chunk : chunks)
      if (chunk.shared) memory_.shared_topics[chunk.c].resize(chains_.n_chains * words_.size_of(chunk.c));
    memory_.threads.resize(static_cast<std::size_t>(n_threads));
    std::atomic<std::size_t> n_started{0};
    parallel_with_memory(
        chains_.n_chains * n_chunks, n_threads,
        [&] {
          auto& thread = memory_.threads[n_started++];
          thread.background.resize(static_cast<std::size_t>(priors_.n_words));
          return &thread;
        },
        [&](std::int64_t i, ThreadMemory* thread) {
          const auto r = i / n_chunks;
          if (thread->chain != r) flush(*thread);
          thread->chain = r;
          draw_chunk(chunks[i % n_chunks], *thread);
        },
        [&](ThreadMemory* thread) { flush(*thread); });
    take_over();
  }

 private:
  void draw_chunk(const Chunk& chunk, ThreadMemory& thread) {
    const auto columns = words_.words_of(chunk.c);
    thread.words.resize(columns.size());
    if (start_)
      draw_first(chunk, thread);
    else
      draw_next(chunk, thread);
    // A class's counts are replaced once no thread reads them any more.
    auto* const shared =
        chunk.shared ? memory_.shared_topics[chunk.c].data() + thread.chain * std::ssize(columns) : nullptr;
    auto* const topics = topics_of(chunk.c, thread.chain);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      thread.background[columns[i]] += thread.words[i].to_background;
      if (chunk.shared)
        std::atomic_ref(shared[i]).fetch_add(thread.words[i].to_topic, std::memory_order_relaxed);
      else
        topics[i] = thread.words[i].to_topic;
    }
  }

  void draw_first(const Chunk& chunk, ThreadMemory& thread) {
    const auto columns = words_.words_of(chunk.c);
    const auto topics = start_->of_class(words_, chunk.c);
    for (std::size_t i = 0; i < columns.size(); ++i)
      thread.words[i] = {start_->background(columns[i]), topics.topic[i], 0, 0};
    OwnStart own(topics, priors_.n_words);
    for (auto i = chunk.begin; i < chunk.end; ++i) {
      const auto values = documents_.values(i);
      const auto places = places_of(i);
      double length = 0;
      for (const auto x : values) length += static_cast<double>(x);
      own.read(i, places, values, length);
      draw(i, thread, 1, 1, [&](std::size_t e, double x, double) { return own(places[e], x); });
    }
  }

  void draw_next(const Chunk& chunk, ThreadMemory& thread) {
    const auto columns = words_.words_of(chunk.c);
    const std::span<const std::int64_t> topics(topics_of(chunk.c, thread.chain), columns.size());
    const auto background = chains_.background.subspan(thread.chain * priors_.n_words, priors_.n_words);
    const auto [alpha, beta, n_words] = priors_;
    const double added = beta * static_cast<double>(n_words);
    const double per_background = 1 / (background_totals_[thread.chain] + added);
    const double per_topic = 1 / (total_of(topics) + added);
    for (std::size_t i = 0; i < columns.size(); ++i)  // 2.3.1: phi_bw and phi_tw
      thread.words[i] = {(static_cast<double>(background[columns[i]]) / one + beta) * per_background,
                         (static_cast<double>(topics[i]) / one + beta) * per_topic, 0, 0};
    for (auto i = chunk.begin; i < chunk.end; ++i) {
      const auto* const mixture = mixture_of(i, thread);
      const auto* const own = own_of(i, thread);
      // 2.2.1: theta_d of the own topic, and 2.3.1: phi of the own topic
      const double own_weight = (mixture[2] + alpha) / (mixture[2] + added);
      const auto own_topic = [=, beta = beta](std::size_t e, double, double weight) {
        return own_weight * (own[e] * weight + beta);
      };
      draw(i, thread, mixture[0] + alpha, mixture[1] + alpha, own_topic);  // 2.2.1
    }
  }

  template <class OwnTopic>
  void draw(std::int64_t i, ThreadMemory& thread, double background_weight, double topic_weight,
            OwnTopic&& own_topic) {
    const RandomStream random(seed_, static_cast<std::uint64_t>(number_ * chains_.n_chains + thread.chain),
                              static_cast<std::uint64_t>(i));
    draw_document(documents_.values(i), places_of(i), thread.words, background_weight, topic_weight,
                  own_topic, random, own_of(i, thread), mixture_of(i, thread));
  }

  std::span<const std::int32_t> places_of(std::int64_t i) const {
    const auto first = documents_.entry_starts[i];
    return words_.places.subspan(first, documents_.entry_starts[i + 1] - first);
  }
  Own* own_of(std::int64_t i, const ThreadMemory& thread) const {
    return chains_.own.data() + thread.chain * documents_.entries() + documents_.entry_starts[i];
  }
  double* mixture_of(std::int64_t i, const ThreadMemory& thread) const {
    return chains_.mixtures.data() + 3 * (thread.chain * documents_.documents() + i);
  }

  std::int64_t* topics_of(std::int64_t c, std::int64_t r) const {
    return chains_.topics.data() + r * words_.size() + words_.starts[c];
  }

  // Adds a thread's background tokens to those of its chain.
  void flush(ThreadMemory& thread) {
    if (thread.chain < 0) return;
    const std::lock_guard lock(background_lock_);
    // The first sweep reads no counts, and so can add to them.
    auto* const counted = number_ > 0 ? memory_.background.data() : chains_.background.data();
    auto* const sums = counted + thread.chain * priors_.n_words;
    for (std::size_t w = 0; w < thread.background.size(); ++w) sums[w] += thread.background[w];
    std::fill(thread.background.begin(), thread.background.end(), 0);
    thread.chain = -1;
  }

  // What was counted becomes the chains', and the memory is zero again.
  void take_over() {
    for (std::int64_t c = 0; c < documents_.classes(); ++c) {
      auto& shared = memory_.shared_topics[c];
      const auto n = std::ssize(shared) / chains_.n_chains;
      for (std::int64_t r = 0; n > 0 && r < chains_.n_chains; ++r)
        std::copy_n(shared.begin() + r * n, n, topics_of(c, r));
      std::fill(shared.begin(), shared.end(), 0);
    }
    if (number_ == 0) return;
    std::copy(memory_.background.begin(), memory_.background.end(), chains_.background.begin());
    std::fill(memory_.background.begin(), memory_.background.end(), 0);
  }

  const LabelledRows<Value>& documents_;
  const ClassWordsView& words_;
  const TopicPriors& priors_;
  std::uint64_t seed_;
  std::int64_t number_;
  const ChainStates<Own>& chains_;
  SweepMemory& memory_;
  Mutex background_lock_;
  std::optional<TopicStart> start_;        // in the first sweep
  std::vector<double> background_totals_;  // in all others: per chain
};

}  // namespace

template <class Value, class Own>
void sweep(const LabelledRows<Value>& documents, const ClassWordsView& words, const TopicPriors& priors,
           std::uint64_t seed, std::int64_t number, const ChainStates<Own>& chains, SweepMemory& memory,
           int n_threads) {
  Sweep<Value, Own>(documents, words, priors, seed, number, chains, memory).run(std::max(n_threads, 1));
}

template void sweep(const LabelledRows<float>&, const ClassWordsView&, const TopicPriors&, std::uint64_t,
                    std::int64_t, const ChainStates<std::uint8_t>&, SweepMemory&, int);
template void sweep(const LabelledRows<float>&, const ClassWordsView&, const TopicPriors&, std::uint64_t,
                    std::int64_t, const ChainStates<std::uint16_t>&, SweepMemory&, int);
template void sweep(const LabelledRows<float>&, const ClassWordsView&, const TopicPriors&, std::uint64_t,
                    std::int64_t, const ChainStates<std::int32_t>&, SweepMemory&, int);
template void sweep(const LabelledRows<double>&, const ClassWordsView&, const TopicPriors&, std::uint64_t,
                    std::int64_t, const ChainStates<std::uint8_t>&, SweepMemory&, int);
template void sweep(const LabelledRows<double>&, const ClassWordsView&, const TopicPriors&, std::uint64_t,
                    std::int64_t, const ChainStates<std::uint16_t>&, SweepMemory&, int);
template void sweep(const LabelledRows<double>&, const ClassWordsView&, const TopicPriors&, std::uint64_t,
                    std::int64_t, const ChainStates<std::int32_t>&, SweepMemory&, int);
template void sweep(const LabelledRows<std::int64_t>&, const ClassWordsView&, const TopicPriors&,
                    std::uint64_t, std::int64_t, const ChainStates<std::uint8_t>&, SweepMemory&, int);
template void sweep(const LabelledRows<std::int64_t>&, const ClassWordsView&, const TopicPriors&,
                    std::uint64_t, std::int64_t, const ChainStates<std::uint16_t>&, SweepMemory&, int);
template void sweep(const LabelledRows<std::int64_t>&, const ClassWordsView&, const TopicPriors&,
                    std::uint64_t, std::int64_t, const ChainStates<std::int32_t>&, SweepMemory&, int);

}  // namespace genus
