#include "mixtures/plsa.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/buffer.h"
#include "base/parallel.h"

namespace genus {
namespace {

constexpr std::int64_t documents_per_task = 32;
constexpr std::int64_t classes_per_task = 16;  // two cache lines of a table's row

void raise(std::span<const double> mixture, double beta, std::span<double> out) {
  for (std::size_t c = 0; c < mixture.size(); ++c)
    out[c] = beta == 1 ? mixture[c] : std::pow(mixture[c], beta);
}

double dot(const double* a, std::span<const double> b) {
  double sums[4] = {};  // side by side, so that additions do not wait for one another
  std::size_t c = 0;
  for (; c + 4 <= b.size(); c += 4)
    for (std::size_t i = 0; i < 4; ++i) sums[i] += a[c + i] * b[c + i];
  for (; c < b.size(); ++c) sums[0] += a[c] * b[c];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// The next P(c|d) from P(c|d)^beta: adds up x / norm * P(w|c)^beta over the words. False where no word has
// any probability, and the mixture stays.
bool add_words(const double* tempered, std::span<const std::int32_t> words, std::span<const double> x,
               std::span<const double> norms, std::span<const double> powers, std::span<double> next) {
  const auto n_classes = std::ssize(next);
  std::fill(next.begin(), next.end(), 0.0);
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (!(norms[k] > 0)) continue;
    const double scale = x[k] / norms[k];
    const double* const row = tempered + words[k] * n_classes;
    for (std::int64_t c = 0; c < n_classes; ++c) next[c] += scale * row[c];
  }
  double total = 0;
  for (std::int64_t c = 0; c < n_classes; ++c) total += next[c] *= powers[c];
  if (!(total > 0)) return false;
  for (auto& share : next) share /= total;
  return true;
}

}  // namespace

template <class Value>
void fold_in(std::span<const double> tempered, std::int64_t n_words, const Csr<Value>& documents,
             std::int64_t n_classes, double beta, int n_steps, std::span<double> mixtures, int n_threads) {
  parallel_ranges(documents.rows(), documents_per_task, n_threads, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::int32_t> words;
    std::vector<double> x, norms, powers(static_cast<std::size_t>(n_classes)), next(powers.size());
    for (auto d = begin; d < end; ++d) {
      words.clear();
      x.clear();
      for (auto k = documents.indptr[d]; k < documents.indptr[d + 1]; ++k) {
        const std::int64_t w = documents.indices[k];
        if (w < 0 || w >= n_words) continue;
        words.push_back(documents.indices[k]);
        x.push_back(static_cast<double>(documents.values[k]));
      }
      norms.resize(words.size());
      const auto mixture = mixtures.subspan(d * n_classes, n_classes);
      std::fill(mixture.begin(), mixture.end(), 1.0 / static_cast<double>(n_classes));
      for (int step = 0; step < n_steps; ++step) {
        raise(mixture, beta, powers);
        for (std::size_t k = 0; k < words.size(); ++k)
          norms[k] = dot(tempered.data() + words[k] * n_classes, powers);  // eq. 14, tempered
        if (!add_words(tempered.data(), words, x, norms, powers, next)) break;
        std::copy(next.begin(), next.end(), mixture.begin());
      }
    }
  });
}

void plsa_step(std::span<const double> tempered, const Csr<double>& documents,
               std::span<const double> weights, std::int64_t n_classes, double beta,
               std::span<double> mixtures, std::span<double> sums, int n_threads) {
  const auto n = documents.rows();
  Buffer<double> norms(documents.values.size());
  Buffer<double> powers(mixtures.size());
  parallel_ranges(n, documents_per_task, n_threads, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> next(static_cast<std::size_t>(n_classes));
    for (auto d = begin; d < end; ++d) {
      const auto first = documents.indptr[d], size = documents.indptr[d + 1] - first;
      const auto mixture = mixtures.subspan(d * n_classes, n_classes);
      const std::span<double> power(powers.data() + d * n_classes, static_cast<std::size_t>(n_classes));
      raise(mixture, beta, power);
      for (auto k = first; k < first + size; ++k)
        norms[k] = dot(tempered.data() + documents.indices[k] * n_classes, power);
      const std::span<const double> found(norms.data() + first, static_cast<std::size_t>(size));
      if (add_words(tempered.data(), documents.indices.subspan(first, size),
                    documents.values.subspan(first, size), found, power, next))
        std::copy(next.begin(), next.end(), mixture.begin());
    }
  });
  parallel_ranges(n_classes, classes_per_task, n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t d = 0; d < n; ++d) {
      const double* const power = powers.data() + d * n_classes;
      for (auto k = documents.indptr[d]; k < documents.indptr[d + 1]; ++k) {
        if (!(norms[k] > 0)) continue;
        const double scale = weights[d] * documents.values[k] / norms[k];
        const auto row = documents.indices[k] * n_classes;
        for (auto c = begin; c < end; ++c) sums[row + c] += scale * tempered[row + c] * power[c];
      }
    }
  });
}

template void fold_in(std::span<const double>, std::int64_t, const Csr<float>&, std::int64_t, double, int,
                      std::span<double>, int);
template void fold_in(std::span<const double>, std::int64_t, const Csr<double>&, std::int64_t, double, int,
                      std::span<double>, int);
template void fold_in(std::span<const double>, std::int64_t, const Csr<std::int64_t>&, std::int64_t, double,
                      int, std::span<double>, int);

}  // namespace genus
