// Rows of log scores, one per document and one number per class: the last step of every model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace genus {

// The place of the first of the largest values.
std::int32_t first_largest(std::span<const double> row);

// Subtracts from each row of `scores` the logarithm of the sum of its exponentials. Rows of -inf stay.
void normalize_log_rows(std::span<double> scores, std::int64_t n_columns, int n_threads);

// total[d] += factors[d] * scores[d], for rows d of n_columns numbers.
void add_scaled_rows(std::span<const double> scores, std::span<const double> factors, std::span<double> total,
                     int n_threads);

// The column of the largest of each row, the first of equal ones; or -1, ambiguous, where another comes as
// near to it as the row's distance. With distances of 0 no row is ambiguous.
std::vector<std::int32_t> best_or_ambiguous(std::span<const double> scores, std::int64_t n_columns,
                                            std::span<const double> distances, int n_threads);

// The k largest of each row, largest first, equal ones by column: their columns and exp(value - logsumexp).
struct Top {
  std::vector<std::int32_t> columns;
  std::vector<double> probabilities;
};
Top top_of_rows(std::span<const double> scores, std::int64_t n_columns, std::int64_t k, int n_threads);

// How many rows of this length make a task worth handing to a thread.
std::int64_t rows_per_task(std::int64_t n_columns);

}  // namespace genus
