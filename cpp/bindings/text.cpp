// Text to counts, for Python.
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <string>
#include <tuple>

#include "bindings/arrays.h"
#include "bindings/text_arguments.h"
#include "text/counter.h"
#include "text/text_keys.h"
#include "text/unicode.h"

namespace genus::bindings {
namespace {

using namespace nb::literals;

struct TextOptions {
  TokenizerOptions tokenizer;
  NGramRange words;
};

TextOptions make_options(const std::string& analyzer, const std::string& accents, bool lowercase,
                         bool split_unspaced, std::uint32_t min_length, std::uint32_t min_n,
                         std::uint32_t max_n, bool edges) {
  using Analyzer = TokenizerOptions::Analyzer;
  using Accents = TokenizerOptions::Accents;
  TextOptions options;
  TokenizerOptions& t = options.tokenizer;
  t.analyzer = analyzer == "word"       ? Analyzer::word
               : analyzer == "nonspace" ? Analyzer::nonspace
               : analyzer == "char"     ? Analyzer::chars
                                        : Analyzer::chars_in_words;
  t.accents = accents == "unicode" ? Accents::strip : accents == "ascii" ? Accents::ascii : Accents::keep;
  t.lowercase = lowercase;
  t.split_unspaced = split_unspaced;
  t.min_length = min_length;
  if (t.analyzer == Analyzer::word || t.analyzer == Analyzer::nonspace) {
    options.words = {min_n, max_n, edges};
  } else {
    t.min_n = min_n;
    t.max_n = max_n;
  }
  return options;
}

using Blob = In<std::uint8_t>;
using Offsets = In<std::int64_t>;
using Table = In<std::uint64_t>;

StringsView strings(const Blob& blob, const Offsets& offsets) {
  return {view(blob), view(offsets)};
}

Vocabulary vocabulary(const Blob& blob, const Offsets& offsets, const Table& table) {
  return {strings(blob, offsets), view(table)};
}

SequenceSource sequences(const In<std::int64_t>& indptr, const In<std::int32_t>& numbers, const Blob& blob,
                         const Offsets& offsets) {
  csr(indptr, numbers, numbers);  // checks the shape
  for (std::size_t i = 0; i < offsets.size(); ++i)
    if (offsets.data()[i] < (i ? offsets.data()[i - 1] : 0) ||
        offsets.data()[i] > static_cast<std::int64_t>(blob.size()))
      throw std::invalid_argument("strings: offsets must rise within the bytes");
  return {view(indptr), view(numbers), strings(blob, offsets)};
}

// indptr, indices, values and unknown tokens per row.
using Rows = nb::typed<nb::tuple, Out<std::int64_t>, Out<std::int32_t>, nb::ndarray<nb::numpy, nb::ndim<1>>,
                       Out<std::int32_t>>;

template <class Value>
Rows give_rows(CountedRows<Value>&& rows) {
  return nb::make_tuple(give(std::move(rows.indptr)), give(std::move(rows.indices)),
                        give(std::move(rows.values)), give(std::move(rows.unknown)));
}

// Runs work without the GIL: everything borrowed above stays alive in the caller's frame.
template <class Work>
auto without_gil(Work&& work) {
  nb::gil_scoped_release release;
  return work();
}

Rows known_rows(const TokenSource& source, const Vocabulary& words, NGramRange range, std::uint32_t n_hash,
                bool binary, bool single, int n_threads) {
  if (single)
    return give_rows(
        without_gil([&] { return count_known<float>(source, words, range, n_hash, binary, n_threads); }));
  return give_rows(
      without_gil([&] { return count_known<double>(source, words, range, n_hash, binary, n_threads); }));
}

using ExpansionArrays = std::tuple<In<std::uint32_t>, In<std::uint32_t>, In<std::uint32_t>>;

Expansions expansions(const ExpansionArrays& arrays) {
  const auto& [keys, offsets, targets] = arrays;
  return {view(keys), view(offsets), view(targets)};
}

// The tables of the interpreter that runs, which need not be the one that genus was compiled with.
void bind_unicode(nb::module_& m) {
  m.def("use_unicode", &use_unicode, "version"_a,
        "Whether the tables of this Unicode version are compiled in.");
  m.def(
      "use_characters",
      [](const In<std::int32_t>& records, const In<std::uint16_t>& page_of, const In<std::uint16_t>& pages,
         const ExpansionArrays& lower, const ExpansionArrays& nfkd) {
        use_characters({{reinterpret_cast<const Character*>(records.data()), records.size() / 2},
                        view(page_of),
                        view(pages),
                        expansions(lower),
                        expansions(nfkd)});
      },
      "records"_a, "page_of"_a, "pages"_a, "lower"_a, "nfkd"_a,
      "Tables made by genus.text.characters, which must stay where they are.");
  const auto version = nb::cast<std::string>(nb::module_::import_("unicodedata").attr("unidata_version"));
  if (!use_unicode(version)) nb::module_::import_("genus.text.characters").attr("teach")(m);
}

}  // namespace

void bind_text(nb::module_& m) {
  bind_unicode(m);

  m.def(
      "text_keys",
      [](nb::handle source, int n_threads) {
        const Texts texts(source);
        std::vector<std::uint64_t> keys;
        {
          const nb::gil_scoped_release released;
          keys = text_keys(texts.views(), n_threads);
        }
        return give(std::move(keys));
      },
      "texts"_a, "n_threads"_a);

  nb::class_<TextOptions>(m, "TextOptions", "How texts are cut into tokens and n-grams.")
      .def(nb::new_(&make_options), "analyzer"_a, "accents"_a, "lowercase"_a, "split_unspaced"_a,
           "min_length"_a, "min_n"_a, "max_n"_a, "edges"_a);

  nb::class_<CountedCorpus>(m, "CountedCorpus",
                            "Documents whose words are counted, before columns are chosen.")
      .def_prop_ro("n_documents", &CountedCorpus::n_documents)
      .def_prop_ro("n_features", &CountedCorpus::n_features)
      .def("document_frequency", [](const CountedCorpus& c) { return give(c.document_frequency()); })
      .def("term_frequency", [](const CountedCorpus& c) { return give(c.term_frequency()); })
      .def(
          "words",
          [](const CountedCorpus& c, const In<std::uint8_t>& keep, int n_threads) {
            OwnedStrings words = without_gil([&] { return c.words(view(keep), n_threads); });
            return std::make_tuple(give(std::move(words.blob)), give(std::move(words.offsets)));
          },
          "keep"_a, "n_threads"_a)
      .def(
          "table",
          [](const CountedCorpus& c, const In<std::uint8_t>& keep) {
            return give(without_gil([&] { return c.table(view(keep)); }));
          },
          "keep"_a)
      .def(
          "rows",
          [](const CountedCorpus& c, const In<std::uint8_t>& keep, bool binary, bool single, int n_threads) {
            if (single)
              return give_rows(without_gil([&] { return c.rows<float>(view(keep), binary, n_threads); }));
            return give_rows(without_gil([&] { return c.rows<double>(view(keep), binary, n_threads); }));
          },
          "keep"_a, "binary"_a, "single"_a, "n_threads"_a);

  m.def(
      "count_corpus",
      [](nb::object source, const TextOptions& options, const Blob& stop_blob, const Offsets& stop_offsets,
         const Table& stop_table, int n_threads) {
        const Texts texts(source);
        const TextSource tokens(texts.views(), options.tokenizer,
                                vocabulary(stop_blob, stop_offsets, stop_table));
        return without_gil([&] { return CountedCorpus(tokens, options.words, n_threads); });
      },
      "texts"_a, "options"_a, "stop_blob"_a, "stop_offsets"_a, "stop_table"_a, "n_threads"_a);

  m.def(
      "count_corpus_sequences",
      [](const In<std::int64_t>& indptr, const In<std::int32_t>& numbers, const Blob& blob,
         const Offsets& offsets, std::uint32_t min_n, std::uint32_t max_n, bool edges, int n_threads) {
        const SequenceSource tokens = sequences(indptr, numbers, blob, offsets);
        return without_gil([&] { return CountedCorpus(tokens, {min_n, max_n, edges}, n_threads); });
      },
      "indptr"_a, "numbers"_a, "blob"_a, "offsets"_a, "min_n"_a, "max_n"_a, "edges"_a, "n_threads"_a);

  m.def(
      "count_known",
      [](nb::object source, const TextOptions& options, const Blob& stop_blob, const Offsets& stop_offsets,
         const Table& stop_table, const Blob& blob, const Offsets& offsets, const Table& table,
         std::uint32_t n_hash, bool binary, bool single, int n_threads) {
        const Texts texts(source);
        const TextSource tokens(texts.views(), options.tokenizer,
                                vocabulary(stop_blob, stop_offsets, stop_table));
        return known_rows(tokens, vocabulary(blob, offsets, table), options.words, n_hash, binary, single,
                          n_threads);
      },
      "texts"_a, "options"_a, "stop_blob"_a, "stop_offsets"_a, "stop_table"_a, "blob"_a, "offsets"_a,
      "table"_a, "n_hash"_a, "binary"_a, "single"_a, "n_threads"_a);

  m.def(
      "count_known_sequences",
      [](const In<std::int64_t>& indptr, const In<std::int32_t>& numbers, const Blob& word_blob,
         const Offsets& word_offsets, std::uint32_t min_n, std::uint32_t max_n, bool edges, const Blob& blob,
         const Offsets& offsets, const Table& table, std::uint32_t n_hash, bool binary, bool single,
         int n_threads) {
        const SequenceSource tokens = sequences(indptr, numbers, word_blob, word_offsets);
        return known_rows(tokens, vocabulary(blob, offsets, table), {min_n, max_n, edges}, n_hash, binary,
                          single, n_threads);
      },
      "indptr"_a, "numbers"_a, "word_blob"_a, "word_offsets"_a, "min_n"_a, "max_n"_a, "edges"_a, "blob"_a,
      "offsets"_a, "table"_a, "n_hash"_a, "binary"_a, "single"_a, "n_threads"_a);

  m.def(
      "number_tokens",
      [](nb::object source, const TextOptions& options, const Blob& stop_blob, const Offsets& stop_offsets,
         const Table& stop_table, int n_threads) {
        const Texts texts(source);
        const TextSource tokens(texts.views(), options.tokenizer,
                                vocabulary(stop_blob, stop_offsets, stop_table));
        Sequences s = without_gil([&] { return number_tokens(tokens, n_threads); });
        return std::make_tuple(give(std::move(s.indptr)), give(std::move(s.numbers)),
                               give(std::move(s.words.blob)), give(std::move(s.words.offsets)));
      },
      "texts"_a, "options"_a, "stop_blob"_a, "stop_offsets"_a, "stop_table"_a, "n_threads"_a);

  m.def(
      "unknown_words",
      [](nb::object source, const TextOptions& options, const Blob& stop_blob, const Offsets& stop_offsets,
         const Table& stop_table, const Blob& blob, const Offsets& offsets, const Table& table) {
        const Texts texts(source);
        const TextSource tokens(texts.views(), options.tokenizer,
                                vocabulary(stop_blob, stop_offsets, stop_table));
        OwnedStrings words =
            without_gil([&] { return unknown_words(tokens, vocabulary(blob, offsets, table)); });
        return std::make_tuple(give(std::move(words.blob)), give(std::move(words.offsets)));
      },
      "texts"_a, "options"_a, "stop_blob"_a, "stop_offsets"_a, "stop_table"_a, "blob"_a, "offsets"_a,
      "table"_a);

  m.def(
      "find_words",
      [](const Blob& feature_blob, const Offsets& feature_offsets, bool n_grams, const Blob& blob,
         const Offsets& offsets, const Table& table, std::uint32_t n_hash) {
        return give(find_words(strings(feature_blob, feature_offsets), n_grams,
                               vocabulary(blob, offsets, table), n_hash));
      },
      "feature_blob"_a, "feature_offsets"_a, "n_grams"_a, "blob"_a, "offsets"_a, "table"_a, "n_hash"_a);

  m.def(
      "make_table",
      [](const Blob& blob, const Offsets& offsets, bool n_grams) {
        return give(without_gil([&] { return make_table(strings(blob, offsets), n_grams); }));
      },
      "blob"_a, "offsets"_a, "n_grams"_a);

  m.def("is_table", [](const Table& table) { return Vocabulary::is_table(view(table)); }, "table"_a);

  m.def(
      "extend_table",
      [](nb::ndarray<std::uint64_t, nb::numpy, nb::ndim<1>, nb::c_contig> table, const Blob& blob,
         const Offsets& offsets, std::size_t first, bool n_grams) {
        return extend_table({table.data(), table.size()}, strings(blob, offsets), first, n_grams);
      },
      "table"_a, "blob"_a, "offsets"_a, "first"_a, "n_grams"_a);
}

}  // namespace genus::bindings
