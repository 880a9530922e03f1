// DiscriminativeNB: evidence counted by the model's own mistakes, one document after another (Algorithm 1 of
// Discriminative Multinominal Naive Bayes for Text Classification).
//
// Each class is one binary model, the class ("in") against the rest ("out"); up to two classes share one,
// the first against the second. A model keeps evidence E of each word, of all words together (T) and of
// documents (C), on both sides. With A = n_words + 1, a = ln A and t = A ln A,
//
//   odds = (1 + C_in) / (1 + C_out) * product over words w of ((1 + E_in,w / a) / (1 + E_out,w / a) * r)^x_w
//   r    = (1 + T_out / t) / (1 + T_in / t)
//
// are the odds that a document is of the class (eq. 1 with the estimates of eq. 2, smoothed); its loss is one
// minus the probability of its true side (eq. 4), and is added to the evidence of that side (Algorithm 1,
// step 2): E_w += loss x_w, T += loss |x|, C += loss.
//
// A joint model (the paper to the letter) uses the in sides only, with a = 1, t = n_words; its probabilities
// are the odds divided by their sum over classes, and only the true class learns.
//
// Words that are only present or absent need no logarithm and no exponential: odds are products of (a + E_w),
// kept in range by taking their exponents off. Models do not depend on one another: eight side by side make a
// block, and threads divide the blocks: the result does not depend on their number. A block holds rows
// only for words that one of its classes has learned: 128 bytes for each (16 of a single model), and up to 32
// to find them; or, once most words have one, rows for all words, which need not be looked for.
//
// Learning costs per entry and block: its number read (4 bytes, in order), its row read and then written
// again (128 bytes or 16, anywhere), and for each side of each model two additions and one multiplication.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "base/csr.h"
#include "online/kernels.h"
#include "online/word_index.h"

namespace genus {

struct OnlineOptions {
  bool binary = true;    // words are present or absent, whatever their value
  bool joint = false;    // one model of all classes
  bool average = false;  // keep what the average of all moments needs
  double half_life = 0;  // documents after which evidence counts half; 0: it stays
  double min_loss = 0;   // a model learns from a document only above this loss
};

inline constexpr int wide = 8;                    // models in a block, where there are more than one
inline constexpr double largest_fading = 0x1p60;  // rows are brought back to the scale of one above this

// The evidence of a few models: rows as in online_kernels.h, row index(w) being of word w.
struct EvidenceBlock {
  WordIndex index{first_word};
  std::span<const double> rows;  // of the table once it is filled, and before of memory owned elsewhere
  Table<double> own_rows;
  Table<double> sums;  // as own_rows: each addition times the number of documents before it

  std::int64_t n_rows(int width) const { return std::ssize(rows) / (2 * width); }
  void resize(std::int64_t n_rows, int width);

  // For a word that has none, without evidence.
  std::uint32_t add_row(std::int32_t word, int width) {
    const auto number = static_cast<std::uint32_t>(n_rows(width));
    index.insert(word, number);
    resize(number + 1, width);
    return number;
  }

  void grow(std::int64_t n_words, int width);

  // Gives every word a row where so many have one, or will have: these are then found without looking, and
  // never move. Rows of several models are long, and must be for more of the words.
  void spread(std::int64_t n_with_rows, int width);
};

template <class Value>
class TrainingRows;  // see training_rows.h

class OnlineLearner {
 public:
  explicit OnlineLearner(const OnlineOptions& options);

  // A learner over arrays, whose rows it reads where they are until it learns: they must stay that long.
  // Throws std::invalid_argument where they do not belong together.
  struct State {
    std::int64_t n_words;
    std::int32_t n_classes;
    double fading;                         // what one unit of evidence counts now, in units of the rows
    double n_learned;                      // documents
    std::span<const std::int64_t> starts;  // of each block's rows, and their end
    std::span<const std::int32_t> words;   // of each row; -1 for the first ones
    std::span<const double> rows, sums;
  };
  OnlineLearner(const OnlineOptions& options, const State& state);

  std::int64_t n_words() const { return n_words_; }
  std::int32_t n_classes() const { return n_classes_; }
  double fading() const { return fading_; }
  double n_learned() const { return n_learned_; }
  const OnlineOptions& options() const { return options_; }

  // Room for more words and classes, which begin without evidence. A third class gives the second, so far the
  // rest of the first, a model of its own: the first one's with its sides exchanged.
  void grow(std::int64_t n_words, std::int32_t n_classes);

  // Documents `order`, one after another; document d is of class codes[d] and weighs weights[d]. One of
  // weight zero is passed over.
  template <class Value>
  void learn(const Csr<Value>& documents, std::span<const std::int32_t> codes,
             std::span<const double> weights, std::span<const std::int64_t> order, int n_threads);

  // out[d, place[c]] = the log odds of class c, for the first classes; of two classes that share a model, the
  // second has 0. Words that the learner has no room for are passed over.
  template <class Value>
  void score(const Csr<Value>& documents, std::span<const std::int32_t> place, std::span<double> out,
             int n_threads) const;

  // The evidence of some words in the model of class c, on both sides, and of all words and documents.
  struct Evidence {
    std::vector<double> in, out;
  };
  Evidence evidence(std::int32_t c, std::span<const std::int64_t> words) const;
  Evidence totals(std::int32_t c) const;  // of all words, of documents

  // A learner whose evidence is the mean over all moments so far, for scoring.
  OnlineLearner averaged() const;

  // What the arrays of a State hold. `sums` is empty unless the average is kept.
  struct Arrays {
    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> words;
    Table<double> rows, sums;
  };
  Arrays arrays() const;
  int width() const { return width_; }
  std::int64_t n_blocks() const { return std::ssize(blocks_); }

 private:
  EvidencePriors priors() const;
  double growth() const;  // of what one unit of evidence counts, with each document
  std::int32_t n_models() const;
  std::pair<std::int32_t, bool> model_of(std::int32_t c) const;  // and whether its sides are exchanged
  Evidence evidence_of_rows(std::int32_t c, std::span<const std::uint32_t> numbers) const;
  void own();
  EvidenceBlock new_block() const;
  void widen();
  template <class Work>
  void for_block(std::int64_t b, Work&& work) const;
  template <class Value>
  std::int64_t words_to_learn(const TrainingRows<Value>& training) const;
  template <class Value>
  void learn_apart(const TrainingRows<Value>& training, int n_threads);
  template <int width, int live, class Value>
  double learn_block(std::int64_t b, const TrainingRows<Value>& training);
  template <class Value>
  void learn_jointly(const TrainingRows<Value>& training);

  OnlineOptions options_;
  int width_ = 1;  // models in a block
  std::int64_t n_words_ = 0;
  std::int32_t n_classes_ = 0;
  double fading_ = 1, n_learned_ = 0;
  std::vector<EvidenceBlock> blocks_;
};

}  // namespace genus
