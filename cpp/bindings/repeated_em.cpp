#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <string>
#include <tuple>

#include "bindings/word_tables.h"
#include "mixtures/gaussian_em.h"
#include "mixtures/multinomial_em.h"

namespace genus::bindings {

namespace {

using OutResult = std::tuple<Out2<double>, Out2<double>, Out2<double>>;

std::span<const std::int64_t> checked_nodes(const In<std::int64_t>& node_starts) {
  const auto nodes = view(node_starts);
  require(nodes.size() > 1 && nodes.front() == 0, "nodes must begin with 0, for one class at least");
  for (std::size_t c = 1; c < nodes.size(); ++c)
    require(nodes[c] > nodes[c - 1], "each class must have a node");
  return nodes;
}

EmPlan plan_of(std::int64_t n_documents, const In<std::int32_t>& classes, const In<double>& weights,
               const In<std::int64_t>& node_starts) {
  EmPlan plan;
  plan.classes = view(classes);
  plan.weights = view(weights);
  plan.node_starts = checked_nodes(node_starts);
  require(plan.n_documents() == n_documents && std::ssize(plan.weights) == n_documents,
          "one class and one weight for each document are needed");
  for (const auto c : plan.classes) require(c >= -1 && c < plan.n_classes(), "there is no such class");
  return plan;
}

EmStart start_of(const std::string& name) {
  if (name == "near-uniform") return EmStart::near_uniform;
  if (name == "random") return EmStart::random;
  require(name == "points", "there is no such start");
  return EmStart::points;
}

void set_run(EmPlan& plan, const In<std::int32_t>& held_out, std::int64_t first_repetition,
             std::int64_t n_repetitions, std::int64_t n_iterations, std::uint64_t seed, bool hard,
             const std::string& start) {
  require(first_repetition >= 0 && n_repetitions > 0 && n_iterations >= 0, "so many runs cannot be made");
  plan.held_out = view(held_out);
  for (const auto d : plan.held_out) require(d >= 0 && d < plan.n_documents(), "there is no such document");
  plan.first_repetition = first_repetition;
  plan.n_repetitions = n_repetitions;
  plan.n_iterations = n_iterations;
  plan.seed = seed;
  plan.hard = hard;
  plan.start = start_of(start);
}

OutResult give(EmResult&& result, const EmPlan& plan) {
  const auto n = static_cast<std::size_t>(plan.n_repetitions);
  const auto rows = result.shares.size() / n, scored = result.held_out.size() / n;
  return {bindings::give(std::move(result.shares), rows, n),
          bindings::give(std::move(result.objective), static_cast<std::size_t>(plan.n_iterations), n),
          bindings::give(std::move(result.held_out), scored, n)};
}

template <class Value>
void add_for(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "fit_multinomial_nodes",
      [](const In<std::int64_t>& indptr, const In<std::int32_t>& indices, const In<Value>& values,
         std::int64_t n_words, const In<std::int32_t>& classes, const In<double>& weights,
         const In<std::int64_t>& node_starts, const In<std::int32_t>& held_out, double alpha,
         bool proportional, bool by_words, std::int64_t first_repetition, std::int64_t n_repetitions,
         std::int64_t n_iterations, std::uint64_t seed, bool hard, const std::string& start, int n_threads) {
        const auto documents = csr<Value>(indptr, indices, values);
        auto plan = plan_of(documents.rows(), classes, weights, node_starts);
        set_run(plan, held_out, first_repetition, n_repetitions, n_iterations, seed, hard, start);
        require(alpha > 0 && n_words >= 0, "smoothing must be above zero");
        EmResult result;
        {
          const nb::gil_scoped_release released;
          result =
              fit_multinomial_nodes(documents, plan, {alpha, proportional, by_words, n_words}, n_threads);
        }
        return give(std::move(result), plan);
      },
      "indptr"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert(), "n_words"_a,
      "classes"_a.noconvert(), "weights"_a.noconvert(), "node_starts"_a.noconvert(), "held_out"_a.noconvert(),
      nb::kw_only(), "alpha"_a, "proportional"_a, "by_words"_a, "first_repetition"_a, "n_repetitions"_a,
      "n_iterations"_a, "seed"_a, "hard"_a, "start"_a, "n_threads"_a);
  m.def(
      "expected_counts",
      [](const In<std::int64_t>& indptr, const In<std::int32_t>& indices, const In<Value>& values,
         std::int64_t n_words, const In<std::int32_t>& classes, const In<double>& weights,
         const In<std::int64_t>& node_starts, const InMatrix& shares, int n_threads) {
        const auto documents = csr<Value>(indptr, indices, values);
        auto plan = plan_of(documents.rows(), classes, weights, node_starts);
        plan.n_repetitions = static_cast<std::int64_t>(shares.shape(1));
        require(n_words >= 0 && share_starts(plan).back() == static_cast<std::int64_t>(shares.shape(0)),
                "one share for each node of each document is needed");
        WordTable<double> counts;
        {
          const nb::gil_scoped_release released;
          counts = expected_counts(documents, plan, view(shares), n_words, n_threads);
        }
        return bindings::give(std::move(counts));
      },
      "indptr"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert(), "n_words"_a,
      "classes"_a.noconvert(), "weights"_a.noconvert(), "node_starts"_a.noconvert(), "shares"_a.noconvert(),
      "n_threads"_a);
}

}  // namespace

void bind_repeated_em(nb::module_& m) {
  using namespace nb::literals;
  add_for<double>(m);
  add_for<float>(m);
  add_for<std::int64_t>(m);
  m.def(
      "fit_gaussian_nodes",
      [](const InMatrix& documents, const In<std::int32_t>& classes, const In<double>& weights,
         const In<std::int64_t>& node_starts, const In<std::int32_t>& held_out, const InMatrix& floor,
         std::int64_t first_repetition, std::int64_t n_repetitions, std::int64_t n_iterations,
         std::uint64_t seed, bool hard, const std::string& start, int n_threads) {
        const auto n_features = static_cast<std::int64_t>(documents.shape(1));
        auto plan = plan_of(static_cast<std::int64_t>(documents.shape(0)), classes, weights, node_starts);
        set_run(plan, held_out, first_repetition, n_repetitions, n_iterations, seed, hard, start);
        require(floor.shape(0) + 1 == node_starts.size() && floor.shape(1) == documents.shape(1),
                "one floor for each class and feature is needed");
        EmResult result;
        {
          const nb::gil_scoped_release released;
          result = fit_gaussian_nodes(view(documents), n_features, plan, view(floor), n_threads);
        }
        return give(std::move(result), plan);
      },
      "documents"_a.noconvert(), "classes"_a.noconvert(), "weights"_a.noconvert(),
      "node_starts"_a.noconvert(), "held_out"_a.noconvert(), "floor"_a.noconvert(), nb::kw_only(),
      "first_repetition"_a, "n_repetitions"_a, "n_iterations"_a, "seed"_a, "hard"_a, "start"_a,
      "n_threads"_a);
  m.def(
      "em_shares",
      [](const In<std::int32_t>& rows, const In<double>& x, const InMatrix& table, std::int64_t n_repetitions,
         bool hard, const char* level) {
        const auto width = static_cast<std::int64_t>(table.shape(1));
        require(rows.size() == x.size() && n_repetitions > 0 && n_repetitions <= max_em_repetitions &&
                    n_repetitions % 4 == 0 && width % n_repetitions == 0,
                "entries and table do not belong together");
        for (const auto row : view(rows))
          require(row >= 0 && row < static_cast<std::int64_t>(table.shape(0)), "there is no such row");
        const auto& loops = em_loops(usable_simd_level(level));
        std::vector<double> shares(table.shape(1)), log_sums(max_em_repetitions);
        loops.gather({rows.data(), x.data(), static_cast<std::int64_t>(rows.size())}, table.data(), width,
                     width, shares.data());
        loops.normalize(shares.data(), width / n_repetitions, n_repetitions, hard, log_sums.data());
        return bindings::give(std::move(shares));
      },
      "rows"_a.noconvert(), "x"_a.noconvert(), "table"_a.noconvert(), "n_repetitions"_a, "hard"_a, "level"_a,
      "An E-step as the kernels compute it: for tests.");
  m.def(
      "average_posteriors",
      [](const InMatrix& scores, const In<std::int64_t>& node_starts, const InMatrix& log_prior,
         const Matrix& out, int n_threads) {
        const auto nodes = checked_nodes(node_starts);
        const auto n_repetitions = log_prior.shape(1);
        require(log_prior.shape(0) + 1 == nodes.size() && n_repetitions > 0 &&
                    scores.shape(1) == static_cast<std::size_t>(nodes.back()) * n_repetitions &&
                    out.shape(0) == scores.shape(0) && out.shape(1) == log_prior.shape(0),
                "scores, nodes and classes do not belong together");
        const nb::gil_scoped_release released;
        average_posteriors(view(scores), nodes, view(log_prior), static_cast<std::int64_t>(n_repetitions),
                           view(out), n_threads);
      },
      "scores"_a.noconvert(), "node_starts"_a.noconvert(), "log_prior"_a.noconvert(), "out"_a.noconvert(),
      "n_threads"_a);
}

}  // namespace genus::bindings
