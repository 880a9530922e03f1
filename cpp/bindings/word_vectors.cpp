// Word vectors for Python.
#include "text/word_vectors.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <string>
#include <tuple>

#include "bindings/arrays.h"
#include "bindings/text_arguments.h"

namespace genus::bindings {
namespace {

using namespace nb::literals;

template <class Value>
using Rows = nb::ndarray<const Value, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

TokenizerOptions options(bool lowercase) {
  TokenizerOptions options;
  options.lowercase = lowercase;
  options.min_length = 1;
  return options;
}

WordTable words(const In<std::uint8_t>& blob, const In<std::int64_t>& offsets, const In<std::uint64_t>& table,
                const In<std::uint8_t>& marks, bool splits) {
  require(offsets.size() == marks.size() + 1, "word vectors: arrays do not belong together");
  return {Vocabulary({view(blob), view(offsets)}, view(table)), view(marks), splits};
}

// vectors, n_words, n_whole, n_unknown
using Encoded = std::tuple<Out2<float>, Out<std::int32_t>, Out<std::int32_t>, Out<std::int32_t>>;

Encoded encode_texts(nb::handle source, bool lowercase, const WordTable& words, const VectorRows& vectors,
                     int n_threads, const std::string& level) {
  const Texts texts(source);
  const TextSource tokens(texts.views(), options(lowercase), Vocabulary({}, {}));
  const SimdLevel simd = level.empty() ? simd_level() : usable_simd_level(level);
  EncodedTexts e;
  {
    const nb::gil_scoped_release released;
    e = encode(tokens, words, vectors, n_threads, simd);
  }
  const std::size_t n = e.n_words.size();
  return {give(std::move(e.vectors), n, vectors.n_dimensions), give(std::move(e.n_words)),
          give(std::move(e.n_whole)), give(std::move(e.n_unknown))};
}

}  // namespace

void bind_word_vectors(nb::module_& m) {
  m.def(
      "make_word_lookup",
      [](const In<std::uint8_t>& blob, const In<std::int64_t>& offsets) {
        const auto lookup = [&] {
          const nb::gil_scoped_release released;
          return make_word_lookup({view(blob), view(offsets)});
        };
        WordLookup made = lookup();
        return std::make_tuple(give(std::move(made.table)), give(std::move(made.marks)), made.duplicate);
      },
      "blob"_a, "offsets"_a,
      "The table and the marks of the entries, and the first one that is there twice.");

  m.def(
      "encode_words",
      [](nb::object texts, bool lowercase, const In<std::uint8_t>& blob, const In<std::int64_t>& offsets,
         const In<std::uint64_t>& table, const In<std::uint8_t>& marks, bool splits,
         const Rows<std::int8_t>& vectors, const In<float>& scales, int n_threads, const std::string& level) {
        require(vectors.shape(0) == marks.size() && scales.size() == marks.size(),
                "word vectors: a vector and a scale for each entry");
        const VectorRows rows{{vectors.data(), vectors.size()}, view(scales), {}, vectors.shape(1)};
        return encode_texts(texts, lowercase, words(blob, offsets, table, marks, splits), rows, n_threads,
                            level);
      },
      "texts"_a, "lowercase"_a, "blob"_a, "offsets"_a, "table"_a, "marks"_a, "splits"_a,
      "vectors"_a.noconvert(), "scales"_a, "n_threads"_a, "level"_a = "");

  m.def(
      "encode_words",
      [](nb::object texts, bool lowercase, const In<std::uint8_t>& blob, const In<std::int64_t>& offsets,
         const In<std::uint64_t>& table, const In<std::uint8_t>& marks, bool splits,
         const Rows<float>& vectors, int n_threads, const std::string& level) {
        require(vectors.shape(0) == marks.size(), "word vectors: a vector for each entry");
        const VectorRows rows{{}, {}, {vectors.data(), vectors.size()}, vectors.shape(1)};
        return encode_texts(texts, lowercase, words(blob, offsets, table, marks, splits), rows, n_threads,
                            level);
      },
      "texts"_a, "lowercase"_a, "blob"_a, "offsets"_a, "table"_a, "marks"_a, "splits"_a,
      "vectors"_a.noconvert(), "n_threads"_a, "level"_a = "");

  m.def(
      "token_entries",
      [](nb::object source, bool lowercase, const In<std::uint8_t>& blob, const In<std::int64_t>& offsets,
         const In<std::uint64_t>& table, const In<std::uint8_t>& marks, bool splits) {
        const Texts texts(source);
        const TextSource tokens(texts.views(), options(lowercase), Vocabulary({}, {}));
        const auto known = words(blob, offsets, table, marks, splits);
        TokenEntries t;
        {
          const nb::gil_scoped_release released;
          t = token_entries(tokens, known);
        }
        return std::make_tuple(give(std::move(t.tokens.blob)), give(std::move(t.tokens.offsets)),
                               give(std::move(t.ends)), give(std::move(t.entries)), give(std::move(t.pairs)));
      },
      "texts"_a, "lowercase"_a, "blob"_a, "offsets"_a, "table"_a, "marks"_a, "splits"_a,
      "The tokens, where the entries of each end, the entries, and the entry of each token with the next.");
}

}  // namespace genus::bindings
