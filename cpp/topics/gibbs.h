// The sampler of RelevanceTopicModel (Ha-Thuc and Srinivasan, A Robust Learning Approach for Text
// Classification, Fig. 3; the steps' numbers are those of the figure).
//
// Every token of a document d with label t comes from one of three topics: the background b, the class t, or
// d's own. Within a sweep the mixtures theta_d and the topics phi are fixed, so that all draws are
// independent: documents run in any order on any thread, and the n equal tokens of a cell are one multinomial
// draw. What a sweep counts are integers, so that their sums do not depend on the order either.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "topics/class_words.h"

namespace genus {

// What is added to counts (the paper's alpha' and beta'), and the number W of words.
struct TopicPriors {
  double alpha;
  double beta;
  std::int64_t n_words;
};

// Where the chains are: the counts of the last sweep, one chain after the other. A value x of a cell stands
// for ceil(x) tokens of the weight x/ceil(x): whole counts are what they are, and fractions are legal.
// Own is as wide as the largest count needs it to be: it is most of the memory.
template <class Own>
struct ChainStates {
  std::int64_t n_chains;
  std::span<Own> own;                  // per entry: its tokens in the document's own topic
  std::span<double> mixtures;          // per document: n_db, n_dt, n_do
  std::span<std::int64_t> topics;      // per class word: m_tw, in fixed point
  std::span<std::int64_t> background;  // per column: m_bw, in fixed point
};

// What sweeps need beside the states. It serves one sweep after another: asking the system for it anew costs
// 6 % of a sweep, much of it while other threads wait.
struct SweepMemory {
  // A word of a class: its probability in the two shared topics, and the tokens drawn from them.
  struct Word {
    double background, topic;
    std::int64_t to_background, to_topic;
  };

  // A thread's: the words of its class, and the background tokens of its chain.
  struct ThreadMemory {
    std::int64_t chain = -1;
    Buffer<Word> words;
    Table<std::int64_t> background;
  };

  std::vector<ThreadMemory> threads;
  Table<std::int64_t> background;  // as in ChainStates: what is counted in sweeps after the first
  std::vector<Table<std::int64_t>> shared_topics;  // the same of classes that threads share, by chain
};

// One sweep of every chain: draws all tokens' topics, given the mixtures and topics of the sweep before, and
// counts them. Sweep 0 draws from the initial distributions of Fig. 4 instead. Cost: per entry 13 to 24 bytes
// read or written in order, one access to a table of 32 bytes per class word, ten operations and a random
// number per token. Memory: 8 bytes per class word, column and chain, and for each thread 8 per column and 32
// per word of its largest class.
template <class Value, class Own>
void sweep(const LabelledRows<Value>& documents, const ClassWordsView& words, const TopicPriors& priors,
           std::uint64_t seed, std::int64_t number, const ChainStates<Own>& chains, SweepMemory& memory,
           int n_threads);

}  // namespace genus
