// The inner loops of OnlineLearner: what one document says to the models of one block, and what they learn.
#pragma once

#include <cstddef>
#include <cstdint>

namespace genus {

// A block of models side by side keeps rows of evidence: first of the models' in sides, then of their out
// sides. Row 0 is of words without evidence (all zero), rows 1 and 2 are of all words and of documents.
enum EvidenceRow : std::uint32_t { no_word, all_words, all_documents, first_word };

// What turns evidence of words, of all words and of documents into ratios: 1 + scale * evidence.
struct EvidenceScales {
  double word, all_words, all_documents;

  EvidenceScales operator/(double fading) const {
    return {word / fading, all_words / fading, all_documents / fading};
  }
};

// The words of a document: the numbers of their rows, and what each counts (1 where there are no values).
struct RowList {
  const std::uint32_t* numbers;
  const double* values;
  std::size_t size;
  double length;  // what all of them count
};

// For `width` models; arrays have as many elements.
struct OnlineKernels {
  // The odds as mantissa * 2^exponent, of words that count 1 each. Needs no logarithm: see online.h.
  void (*odds)(const double* rows, const RowList& list, const EvidenceScales& scales, double* mantissa,
               std::int64_t* exponent);
  // Their logarithms, for words that count by their values.
  void (*log_odds)(const double* rows, const RowList& list, const EvidenceScales& scales, double* out);
  // Adds losses: to the out sides, and to the in side of the model `own` if there is one (own >= 0).
  void (*add)(double* rows, const RowList& list, int own, double in, const double* out);
};

// The fastest for this machine; every x86-64 gives the same bits.
template <int width>
const OnlineKernels& online_kernels();

}  // namespace genus
