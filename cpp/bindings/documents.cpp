#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <tuple>

#include "base/vector_loops.h"
#include "bindings/arrays.h"
#include "documents/document_keys.h"
#include "documents/document_mixture.h"
#include "documents/inverted_index.h"

namespace genus::bindings {

namespace {

// Bounds that rise from 0 to n.
void require_bounds(std::span<const std::int64_t> bounds, std::size_t n) {
  require(rises(bounds, static_cast<std::int64_t>(n)),
          "index: bounds must rise from 0 to the number of slots");
}

// What a Python object holds of an index. Bounds of blocks and classes are checked here, since they are few;
// kernels guard against all else.
IndexView index_of(const nb::handle& object) {
  const auto at = [&]<class T>(const char* name, T) {
    return view(nb::cast<In<T>>(object.attr(name), false));
  };
  const IndexView index{at("words", std::int64_t{}),
                        at("run_blocks", std::int32_t{}),
                        at("run_starts", std::int64_t{}),
                        at("slots", std::uint16_t{}),
                        at("block_starts", std::int64_t{}),
                        at("class_starts", std::int64_t{}),
                        at("weights", double{}),
                        at("segment_weights", double{}),
                        nb::cast<bool>(object.attr("unit_weights"))};
  require(!index.words.empty() && index.run_starts.size() == index.run_blocks.size() + 1,
          "index: arrays do not belong together");
  require_bounds(index.block_starts, index.weights.size());
  require_bounds(index.class_starts, index.weights.size());
  for (std::size_t b = 1; b < index.block_starts.size(); ++b)
    require(index.block_starts[b] - index.block_starts[b - 1] <= block_size, "index: a block is too large");
  return index;
}

template <class Value>
void add_for(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "document_keys",
      [](const In<std::int64_t>& rows, const In<std::int32_t>& columns, const In<Value>& counts,
         int n_threads) {
        const auto documents = csr<Value>(rows, columns, counts);
        std::vector<std::uint64_t> keys;
        {
          const nb::gil_scoped_release released;
          keys = document_keys(documents, n_threads);
        }
        return give(std::move(keys));
      },
      "rows"_a.noconvert(), "columns"_a.noconvert(), "counts"_a.noconvert(), "n_threads"_a);
  m.def(
      "add_mixtures",
      [](const nb::object& index, const In<double>& values, const In<double>& factors,
         const In<double>& largest, const In<std::int64_t>& rows, const In<std::int32_t>& columns,
         const In<Value>& counts, const Matrix& out, int n_threads) {
        const auto documents = index_of(index);
        const auto queries = csr<Value>(rows, columns, counts);
        require(values.size() == documents.slots.size() && factors.size() == values.size() &&
                    largest.size() == documents.run_blocks.size() &&
                    static_cast<std::int64_t>(out.shape(0)) == queries.rows() &&
                    static_cast<std::int64_t>(out.shape(1)) == documents.n_classes(),
                "mixtures: arrays do not belong together");
        const nb::gil_scoped_release released;
        add_mixtures(documents, view(values), view(factors), view(largest), queries, view(out), n_threads);
      },
      "index"_a, "values"_a.noconvert(), "factors"_a.noconvert(), "largest"_a.noconvert(),
      "rows"_a.noconvert(), "columns"_a.noconvert(), "counts"_a.noconvert(), "out"_a.noconvert(),
      "n_threads"_a);
  m.def(
      "mixture_without_self",
      [](const nb::object& index, const In<double>& frequencies, const In<std::int64_t>& rows,
         const In<std::int32_t>& columns, const In<Value>& counts, const In<double>& gains,
         const In<std::int32_t>& own, const In<std::int64_t>& left_out, int n_threads) {
        const auto documents = index_of(index);
        const auto queries = csr<Value>(rows, columns, counts);
        require(frequencies.size() == documents.slots.size() && gains.size() == counts.size() &&
                    static_cast<std::int64_t>(own.size()) == queries.rows() && left_out.size() == own.size(),
                "leave one out: arrays do not belong together");
        std::vector<double> result;
        {
          const nb::gil_scoped_release released;
          result = mixture_without_self(documents, view(frequencies), queries, view(gains), view(own),
                                        view(left_out), n_threads);
        }
        return give(std::move(result));
      },
      "index"_a, "frequencies"_a.noconvert(), "rows"_a.noconvert(), "columns"_a.noconvert(),
      "counts"_a.noconvert(), "gains"_a.noconvert(), "own"_a.noconvert(), "left_out"_a.noconvert(),
      "n_threads"_a);
  m.def(
      "top_slots",
      [](const nb::object& index, const In<double>& values, const In<std::int64_t>& rows,
         const In<std::int32_t>& columns, const In<Value>& counts, const InMatrix& bias,
         const In<double>& offsets, const In<std::int64_t>& rank, std::int64_t k, int n_threads) {
        const auto documents = index_of(index);
        const auto queries = csr<Value>(rows, columns, counts);
        require(values.size() == documents.slots.size() && rank.size() == documents.weights.size() &&
                    offsets.size() == rank.size() &&
                    static_cast<std::int64_t>(bias.shape(1)) == documents.n_classes() &&
                    (bias.shape(0) == 1 || static_cast<std::int64_t>(bias.shape(0)) == queries.rows()) &&
                    k >= 0 && k <= static_cast<std::int64_t>(rank.size()),
                "top documents: arrays do not belong together");
        TopSlots top;
        {
          const nb::gil_scoped_release released;
          top = top_slots(documents, view(values), queries, view(bias), view(offsets), view(rank), k,
                          n_threads);
        }
        const auto n = static_cast<std::size_t>(queries.rows());
        const auto width = static_cast<std::size_t>(k);
        return std::pair(give(std::move(top.slots), n, width), give(std::move(top.scores), n, width));
      },
      "index"_a, "values"_a.noconvert(), "rows"_a.noconvert(), "columns"_a.noconvert(),
      "counts"_a.noconvert(), "bias"_a.noconvert(), "offsets"_a.noconvert(), "rank"_a.noconvert(), "k"_a,
      "n_threads"_a);
}

}  // namespace

void bind_documents(nb::module_& m) {
  using namespace nb::literals;
  add_for<double>(m);
  add_for<float>(m);
  add_for<std::int64_t>(m);
  m.def(
      "receipt_hashes",
      [](const In<std::uint64_t>& contents, const In<std::uint64_t>& labels, const In<std::int32_t>& codes,
         const In<std::int64_t>& weights) {
        require(codes.size() == contents.size() && weights.size() == contents.size() &&
                    within(view(codes), static_cast<std::int64_t>(labels.size())),
                "receipt: one class and one weight for each document are needed");
        return give(receipt_hashes(view(contents), view(labels), view(codes), view(weights)));
      },
      "contents"_a.noconvert(), "labels"_a.noconvert(), "codes"_a.noconvert(), "weights"_a.noconvert());
  m.def(
      "cut_blocks",
      [](const In<std::int64_t>& class_starts) {
        const auto starts = view(class_starts);
        require(!starts.empty() && starts.front() == 0 && std::is_sorted(starts.begin(), starts.end()),
                "classes must start at rising slots");
        return give(cut_blocks(starts));
      },
      "class_starts"_a.noconvert());
  m.def(
      "build_index",
      [](const In<std::int64_t>& rows, const In<std::int32_t>& columns, const In<double>& values,
         const In<double>& scales, const In<std::int64_t>& order, const In<std::int64_t>& block_starts,
         std::int64_t n_words) {
        const auto documents = csr<double>(rows, columns, values);
        const auto slots = view(order);
        require_bounds(view(block_starts), slots.size());
        require(scales.size() + 1 == rows.size() && n_words >= 0 &&
                    std::all_of(slots.begin(), slots.end(),
                                [&](std::int64_t d) { return d >= 0 && d < documents.rows(); }),
                "index: arrays do not belong together");
        Index index;
        {
          const nb::gil_scoped_release released;
          index = build_index(documents, view(scales), slots, view(block_starts), n_words);
        }
        return std::tuple(give(std::move(index.words)), give(std::move(index.run_blocks)),
                          give(std::move(index.run_starts)), give(std::move(index.slots)),
                          give(std::move(index.frequencies)));
      },
      "rows"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "scales"_a.noconvert(),
      "order"_a.noconvert(), "block_starts"_a.noconvert(), "n_words"_a);
  m.def(
      "index_values",
      [](const nb::object& index, const In<double>& frequencies, const In<std::int64_t>& indptr,
         const In<std::int32_t>& classes, const In<double>& values, double gain, int n_threads) {
        const auto documents = index_of(index);
        const WordTableView<double> above{view(indptr), view(classes), view(values)};
        require(frequencies.size() == documents.slots.size() && indptr.size() > 0 &&
                    classes.size() == values.size(),
                "index: arrays do not belong together");
        Values result;
        {
          const nb::gil_scoped_release released;
          result = index_values(documents, view(frequencies), above, gain, n_threads);
        }
        return std::pair(give(std::move(result.values)), give(std::move(result.largest)));
      },
      "index"_a, "frequencies"_a.noconvert(), "indptr"_a.noconvert(), "classes"_a.noconvert(),
      "values"_a.noconvert(), "gain"_a, "n_threads"_a);
  m.def(
      "segment_weights",
      [](const In<std::int64_t>& block_starts, const In<std::int64_t>& class_starts,
         const In<double>& weights) {
        require_bounds(view(block_starts), weights.size());
        require_bounds(view(class_starts), weights.size());
        IndexView index{};
        index.block_starts = view(block_starts);
        index.class_starts = view(class_starts);
        index.weights = view(weights);
        return give(segment_weights(index));
      },
      "block_starts"_a.noconvert(), "class_starts"_a.noconvert(), "weights"_a.noconvert());
  m.def(
      "exponentials",
      [](const In<double>& values, int n_threads) {
        Buffer<double> result;
        {
          const nb::gil_scoped_release released;
          result = exponentials(view(values), n_threads);
        }
        return give(std::move(result));
      },
      "values"_a.noconvert(), "n_threads"_a);
  m.def(
      "fast_math",
      [](const In<double>& values, const char* name, const char* level) {
        Buffer<double> result(view(values).begin(), view(values).end());
        const auto& kernels = vector_loops(usable_simd_level(level));
        const std::string_view wanted(name);
        const auto function = wanted == "exp" ? kernels.exp : wanted == "log" ? kernels.log : kernels.log1p;
        function(result.data(), std::ssize(result));
        return give(std::move(result));
      },
      "values"_a.noconvert(), "name"_a, "level"_a, "exp, log or log1p as the kernels compute it: for tests.");
}

}  // namespace genus::bindings
