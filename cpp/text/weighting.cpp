#include "text/weighting.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "base/parallel.h"

namespace genus {
namespace {

constexpr std::int64_t rows_per_task = 256;

// A function of counts that looks small whole ones up: most counts are, and a logarithm costs ten look-ups.
template <class Function>
class Curve {
 public:
  explicit Curve(Function f) : f_(f) {
    for (std::size_t c = 0; c < table_.size(); ++c) table_[c] = c == 0 ? 0.0 : f(static_cast<double>(c));
  }
  double operator()(double c) const {
    if (c >= 0 && c < static_cast<double>(table_.size())) {
      const auto whole = static_cast<std::size_t>(c);
      if (static_cast<double>(whole) == c) return table_[whole];
    }
    return f_(c);
  }

 private:
  Function f_;
  std::array<double, 64> table_;
};

double length_of(const auto& values) {
  return std::accumulate(values.begin(), values.end(), 0.0,
                         [](double sum, auto x) { return sum + static_cast<double>(x); });
}

double norm_of(std::span<const double> row, Norm norm) {
  if (norm == Norm::l1)
    return std::accumulate(row.begin(), row.end(), 0.0, [](double s, double x) { return s + std::abs(x); });
  const auto squares = std::inner_product(row.begin(), row.end(), row.begin(), 0.0);
  if (std::isnormal(squares)) return std::sqrt(squares);
  // Squares that are too large or too small for a double: in units of the largest.
  double largest = 0, sum = 0;
  for (const auto x : row) largest = std::max(largest, std::abs(x));
  if (largest == 0) return 0;
  for (const auto x : row) sum += (x / largest) * (x / largest);
  return largest * std::sqrt(sum);
}

// weight(c, idf) for the entries of one row, then the norm. make_weight(values) is what a row's weights
// share.
template <class Out, class Value, class MakeWeight>
Buffer<Out> weigh_rows(const Csr<Value>& documents, const Weighting& w, int n_threads,
                       MakeWeight&& make_weight) {
  Buffer<Out> out(documents.values.size());
  parallel_ranges(documents.rows(), rows_per_task, n_threads, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> row;
    for (auto d = begin; d < end; ++d) {
      const auto first = static_cast<std::size_t>(documents.indptr[d]);
      const auto n = static_cast<std::size_t>(documents.indptr[d + 1]) - first;
      const auto values = documents.values.subspan(first, n);
      const auto columns = documents.indices.subspan(first, n);
      const auto weight = make_weight(values);
      row.resize(n);
      for (std::size_t k = 0; k < n; ++k) {
        const auto column = static_cast<std::uint32_t>(columns[k]);
        const auto idf = w.idf.empty() ? 1.0 : column < w.idf.size() ? w.idf[column] : w.unseen_idf;
        row[k] = values[k] == 0 ? 0.0 : weight(static_cast<double>(values[k]), idf);
      }
      const auto norm = w.norm == Norm::none ? 1.0 : norm_of(row, w.norm);
      const auto factor = norm == 0 ? 1.0 : w.scale / norm;
      if (std::isnormal(factor))
        for (std::size_t k = 0; k < n; ++k) out[first + k] = static_cast<Out>(row[k] * factor);
      else  // a norm at the end of what a double holds
        for (std::size_t k = 0; k < n; ++k) out[first + k] = static_cast<Out>(row[k] / norm * w.scale);
    }
  });
  return out;
}

}  // namespace

template <class Value>
DocumentStatistics document_statistics(const Csr<Value>& documents, std::int64_t n_columns, int n_threads) {
  const auto n_rows = documents.rows();
  // Each block counts into columns of its own, which must not cost more than the counting.
  const auto affordable = 1 + documents.entries() / (4 * std::max<std::int64_t>(n_columns, 1));
  const auto n_blocks = std::clamp<std::int64_t>(std::min<std::int64_t>(n_threads, affordable), 1, 64);
  std::vector<std::vector<std::int64_t>> counts(static_cast<std::size_t>(n_blocks));
  std::vector<double> lengths(static_cast<std::size_t>(n_rows));
  parallel_for(n_blocks, n_threads, [&](std::int64_t block) {
    auto& mine = counts[static_cast<std::size_t>(block)];
    mine.resize(static_cast<std::size_t>(n_columns));
    for (auto d = n_rows * block / n_blocks; d < n_rows * (block + 1) / n_blocks; ++d) {
      double length = 0;
      for (auto k = documents.indptr[d]; k < documents.indptr[d + 1]; ++k) {
        const auto column = static_cast<std::uint32_t>(documents.indices[k]);
        if (column >= mine.size()) throw std::invalid_argument("sparse rows: a column lies outside");
        mine[column] += documents.values[k] != 0;
        length += static_cast<double>(documents.values[k]);
      }
      lengths[d] = length;
    }
  });
  auto& sum = counts.front();
  for (std::size_t block = 1; block < counts.size(); ++block)
    std::transform(sum.begin(), sum.end(), counts[block].begin(), sum.begin(), std::plus<>());
  return {std::move(sum), std::move(lengths)};
}

template <class Out, class Value>
Buffer<Out> weigh(const Csr<Value>& documents, const Weighting& w, int n_threads) {
  const auto by_count = [&](auto f) {
    return weigh_rows<Out>(documents, w, n_threads,
                           [&](const auto&) { return [&f](double c, double idf) { return f(c) * idf; }; });
  };
  switch (w.tf) {
    case Tf::raw:
      return by_count([](double c) { return c; });
    case Tf::binary:
      return by_count([](double) { return 1.0; });
    case Tf::log:
      return by_count(Curve([](double c) { return 1 + std::log(c); }));
    case Tf::log1p:
      return by_count(Curve([](double c) { return std::log1p(c); }));
    case Tf::sqrt:
      return by_count(Curve([](double c) { return std::sqrt(c); }));
    case Tf::log_share:
      return weigh_rows<Out>(documents, w, n_threads, [](const auto& values) {
        const auto distinct = values.size() - std::count(values.begin(), values.end(), 0);
        return [n = static_cast<double>(distinct)](double c, double idf) { return std::log1p(c / n * idf); };
      });
    case Tf::bm25:
      return weigh_rows<Out>(documents, w, n_threads, [&](const auto& values) {
        const auto slope = w.k1 * (1 - w.b + w.b * length_of(values) / w.mean_length);
        // Divided by c above and below: no count is too large.
        return [&w, slope](double c, double idf) { return (w.k1 + 1) / (1 + slope / c) * idf; };
      });
  }
  throw std::invalid_argument("no such term weight");
}

template DocumentStatistics document_statistics(const Csr<double>&, std::int64_t, int);
template DocumentStatistics document_statistics(const Csr<float>&, std::int64_t, int);
template DocumentStatistics document_statistics(const Csr<std::int64_t>&, std::int64_t, int);
template Buffer<double> weigh(const Csr<double>&, const Weighting&, int);
template Buffer<float> weigh(const Csr<float>&, const Weighting&, int);
template Buffer<double> weigh(const Csr<std::int64_t>&, const Weighting&, int);

}  // namespace genus
