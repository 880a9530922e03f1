#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <tuple>

#include "bindings/arrays.h"
#include "topics/gibbs.h"
#include "topics/marking.h"

namespace genus::bindings {

namespace {

template <class T>
using InOut = nb::ndarray<T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<T> view(const InOut<T>& array) {
  return {array.data(), array.size()};
}

template <class T>
std::span<const T> attribute(const nb::handle& object, const char* name) {
  return view(nb::cast<In<T>>(object.attr(name), false));
}

// What a Python object holds of labelled documents, checked: kernels trust it.
template <class Value>
LabelledRows<Value> labelled(const nb::handle& object) {
  const auto at = [&](const char* name) { return nb::cast<In<std::int64_t>>(object.attr(name), false); };
  const LabelledRows<Value> documents{
      csr<Value>(at("indptr"), nb::cast<In<std::int32_t>>(object.attr("indices"), false),
                 nb::cast<In<Value>>(object.attr("values"), false)),
      attribute<std::int64_t>(object, "order"), attribute<std::int64_t>(object, "entry_starts"),
      attribute<std::int64_t>(object, "class_starts")};
  require(rises(documents.class_starts, documents.documents()) &&
              documents.entry_starts.size() == documents.order.size() + 1 &&
              documents.entry_starts.front() == 0,
          "labelled documents: arrays do not belong together");
  for (std::int64_t i = 0; i < documents.documents(); ++i) {
    const auto d = documents.order[i];
    require(d >= 0 && d < documents.rows.rows() &&
                documents.entry_starts[i + 1] - documents.entry_starts[i] ==
                    documents.rows.indptr[d + 1] - documents.rows.indptr[d],
            "labelled documents: order and entry_starts do not fit the rows");
  }
  return documents;
}

ClassWordsView words_of(const nb::handle& object) {
  return {attribute<std::int64_t>(object, "starts"), attribute<std::int32_t>(object, "words"),
          attribute<std::int64_t>(object, "counts"), attribute<std::int32_t>(object, "places")};
}

// Counts that number_class_words made of these documents: of the right size, and no number out of range.
void require_fit(const ClassWordsView& words, std::int64_t n_classes, std::int64_t n_entries,
                 std::int64_t n_words) {
  require(rises(words.starts, words.size()) && std::ssize(words.starts) == n_classes + 1 &&
              std::ssize(words.places) == n_entries,
          "class words: arrays do not belong together");
  require(std::all_of(words.words.begin(), words.words.end(), [&](auto w) { return w >= 0 && w < n_words; }),
          "class words: a column is out of range");
}

template <class Value, class Own>
void add_sweep(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "gibbs_sweep",
      [](const nb::object& documents, const In<Value>&, const nb::object& words, double alpha, double beta,
         std::int64_t n_words, std::uint64_t seed, std::int64_t number, const InOut<Own>& own,
         const InOut<double>& mixtures, const InOut<std::int64_t>& topics,
         const InOut<std::int64_t>& background, SweepMemory& memory, int n_threads) {
        const auto labelled_rows = labelled<Value>(documents);
        const auto class_words = words_of(words);
        require_fit(class_words, labelled_rows.classes(), labelled_rows.entries(), n_words);
        require(number > 0 || class_words.counts.size() == class_words.words.size(),
                "class words: the first sweep needs their counts");
        require(n_words > 0 && background.size() % static_cast<std::size_t>(n_words) == 0,
                "chains: the background does not fit the number of words");
        const ChainStates<Own> chains{static_cast<std::int64_t>(background.size()) / n_words, view(own),
                                      view(mixtures), view(topics), view(background)};
        require(std::ssize(chains.own) == chains.n_chains * labelled_rows.entries() &&
                    std::ssize(chains.mixtures) == 3 * chains.n_chains * labelled_rows.documents() &&
                    std::ssize(chains.topics) == chains.n_chains * class_words.size(),
                "chains: arrays do not belong together");
        const nb::gil_scoped_release released;
        sweep(labelled_rows, class_words, {alpha, beta, n_words}, seed, number, chains, memory, n_threads);
      },
      "documents"_a, "values"_a.noconvert(), "words"_a, "alpha"_a, "beta"_a, "n_words"_a, "seed"_a,
      "number"_a, "own"_a.noconvert(), "mixtures"_a.noconvert(), "topics"_a.noconvert(),
      "background"_a.noconvert(), "memory"_a, "n_threads"_a);
}

template <class Value>
void add_for(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "number_class_words",
      [](const nb::object& documents, const In<Value>&, std::int64_t n_words, int n_threads) {
        const auto labelled_rows = labelled<Value>(documents);
        ClassWords words;
        {
          const nb::gil_scoped_release released;
          words = number_class_words(labelled_rows, n_words, n_threads);
        }
        return std::tuple(give(std::move(words.starts)), give(std::move(words.words)),
                          give(std::move(words.counts)), give(std::move(words.places)));
      },
      "documents"_a, "values"_a.noconvert(), "n_words"_a, "n_threads"_a);
  add_sweep<Value, std::uint8_t>(m);
  add_sweep<Value, std::uint16_t>(m);
  add_sweep<Value, std::int32_t>(m);
  m.def(
      "mark",
      [](const In<std::int64_t>& indptr, const In<std::int32_t>& classes, const In<std::int64_t>& counts,
         const In<double>& totals, const In<double>& background, double alpha, double beta,
         std::int64_t n_words, const In<std::int64_t>& rows, const In<std::int32_t>& columns,
         const In<Value>& values, const In<std::int32_t>& codes, int n_repeats, int n_threads) {
        require(indptr.size() == background.size() + 1 && classes.size() == counts.size(),
                "mark: arrays do not belong together");
        const WordTableView<std::int64_t> topics{view(indptr), view(classes), view(counts)};
        const auto documents = csr<Value>(rows, columns, values);
        const auto labels = view(codes);
        const auto n_classes = static_cast<std::int32_t>(totals.size());
        require(
            std::ssize(labels) == documents.rows() &&
                std::all_of(labels.begin(), labels.end(), [&](auto c) { return c >= 0 && c < n_classes; }),
            "mark: a class is needed for each document");
        Buffer<double> shares;
        {
          const nb::gil_scoped_release released;
          shares = mark(topics, view(totals), view(background), {alpha, beta, n_words}, documents, labels,
                        n_repeats, n_threads);
        }
        return give(std::move(shares), columns.size(), 3);
      },
      "indptr"_a.noconvert(), "classes"_a.noconvert(), "counts"_a.noconvert(), "totals"_a.noconvert(),
      "background"_a.noconvert(), "alpha"_a, "beta"_a, "n_words"_a, "rows"_a.noconvert(),
      "columns"_a.noconvert(), "values"_a.noconvert(), "codes"_a.noconvert(), "n_repeats"_a, "n_threads"_a);
}

}  // namespace

void bind_topics(nb::module_& m) {
  nb::class_<SweepMemory>(m, "SweepMemory").def(nb::init<>());
  add_for<double>(m);
  add_for<float>(m);
  add_for<std::int64_t>(m);
}

}  // namespace genus::bindings
