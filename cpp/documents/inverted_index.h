// The inverted index of TiedDocumentMixture, KernelDensityClassifier and NearestNeighborsClassifier (Puurula
// and Myaeng, Integrated instance- and class-based generative modeling for text classification, ADCS 2013).
//
// Documents stand in slots, class after class (a class is a range of slots), and slots are cut into blocks of
// at most `block_size`, so that one number per document of a block stays in the second cache. A word's
// postings are in slot order; those of one block are a run. A run that holds a good part of its block is
// filled up with zeros to one value per slot: it is then read as a vector.
//
//   values[k] = log1p(gain * frequency[k] / above),   above = 1 + ratio_c * count_wc,  see build_table()
//
// is what a posting adds to the log likelihood of its document m beyond what the nodes above it (class,
// uniform distribution) say of the word: log p_m(w) of eq. 2 less that part, the paper's pu'_m(w). With x the
// query's counts and c_m the documents' weights,
//
//   inst_m = sum over words of x_w * value_wm                        (Algorithm 1, line 12)
//   acc_l  = log sum over m in class l of c_m * exp(inst_m)          (eq. 1; Algorithm 1, lines 14 to 20)
//
// The rest of a class's score, lines 8, 10 and 23, is tables/score_table.h's; lines 24 to 26 normalise it
// (tables/log_rows.h).
//
// Cost of a query: one scattered multiply-add per posting of its words, 10 bytes each (2 of slot, 8 of
// value); one vector multiply-add per four slots of a full run; an exponential for every slot. Queries come
// in batches that go through the blocks together, so that a block's postings are fetched from memory once per
// batch. Short queries, where no sum can leave the range of exp, are products of exp(value) instead, and
// share their common words: see product_stack.h.
//
// Measured on 565,000 titles, one thread, everything included: 0.35 ns per posting of a query's words in
// batches of 1,500, 0.8 ns for a query alone.
//
// All arrays may come from a mapped file whose contents are not checked: slots are cut to the block, runs to
// the arrays, blocks and words to their number.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "base/csr.h"
#include "base/vector_loops.h"
#include "tables/class_counts.h"

namespace genus {

struct Index {
  std::vector<std::int64_t> words;       // word w has runs [words[w], words[w + 1])
  std::vector<std::int32_t> run_blocks;  // the block of each run, rising within a word
  std::vector<std::int64_t> run_starts;  // run r has postings [run_starts[r], run_starts[r + 1])
  Buffer<std::uint16_t> slots;           // counted from the block's first
  Buffer<double> frequencies;            // pu_m(w) = x_mw / |m|
};

struct IndexView {
  std::span<const std::int64_t> words;
  std::span<const std::int32_t> run_blocks;
  std::span<const std::int64_t> run_starts;
  std::span<const std::uint16_t> slots;
  std::span<const std::int64_t> block_starts;  // block b has slots [block_starts[b], block_starts[b + 1])
  std::span<const std::int64_t> class_starts;  // class l has slots [class_starts[l], class_starts[l + 1])
  std::span<const double> weights;             // c_m of each slot
  std::span<const double> segment_weights;     // see segment_weights()
  bool unit_weights = false;                   // whether all weights are 1

  std::int64_t n_words() const { return std::ssize(words) - 1; }
  std::int64_t n_runs() const { return std::ssize(run_blocks); }
  std::int64_t n_blocks() const { return std::ssize(block_starts) - 1; }
  std::int64_t n_classes() const { return std::ssize(class_starts) - 1; }

  // Of word w, and the postings of run r, whatever a damaged file says.
  Row runs(std::int64_t w) const {
    const auto begin = std::clamp<std::int64_t>(words[w], 0, n_runs());
    return {begin, std::clamp(words[w + 1], begin, n_runs())};
  }
  Row run(std::int64_t r) const {
    const std::int64_t n = std::ssize(slots);
    const auto begin = std::clamp<std::int64_t>(run_starts[r], 0, n);
    return {begin, std::min(std::clamp(run_starts[r + 1], begin, n), begin + block_size)};
  }

  // The postings in block b of a word with runs [r, end), or none. Moves r behind them.
  Row next_run(std::int64_t& r, std::int64_t end, std::int64_t b) const {
    while (r < end && run_blocks[r] < b) ++r;
    return r < end && run_blocks[r] == b ? run(r++) : Row{0, 0};
  }
};

// Where blocks begin: a block ends when it is full, and before a class that begins past its middle and would
// not fit, so that large classes have blocks of their own.
std::vector<std::int64_t> cut_blocks(std::span<const std::int64_t> class_starts);

// Slot s holds document order[s]; its words must be distinct and rise, its values be positive, and `scales`
// make them frequencies. A counting sort: two random accesses and 16 bytes beside the result per entry.
Index build_index(const Csr<double>& documents, std::span<const double> scales,
                  std::span<const std::int64_t> order, std::span<const std::int64_t> block_starts,
                  std::int64_t n_words);

// The values of all postings, and the largest of each run.
struct Values {
  Buffer<double> values;
  Buffer<double> largest;
};
Values index_values(const IndexView& index, std::span<const double> frequencies,
                    const WordTableView<double>& above, double gain, int n_threads);

// exp of every value.
Buffer<double> exponentials(std::span<const double> values, int n_threads);

// The sum of the weights of each segment: a part of a block that belongs to one class.
std::vector<double> segment_weights(const IndexView& index);

}  // namespace genus
