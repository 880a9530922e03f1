"""Vectorizer: scikit-learn's counts at native speed, and what goes beyond them."""

from __future__ import annotations

import functools
import pickle
import re
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer

from genus import Vectorizer, _core
from genus.base.arrays import Strings
from reference.text import counts, edged_n_grams

pytestmark = pytest.mark.kernel

# Letters with odd lower cases and decompositions, marks, digits beyond ASCII, scripts without spaces, spaces of
# every kind, a lone surrogate and a character beyond the basic plane.
ODD = "aAbB_09 .,-\n\t\x1c\x00éÉßẞİıΣσςΑʼ\u0301\u0345ﬁ²½Ⅷ한글日本カｶกำ\u00a0\u2003\u3000\ud800𝔸𐐀😀"
TEXT = st.text(st.sampled_from(ODD), max_size=40) | st.text(max_size=20)
ASCII = st.text(st.characters(max_codepoint=127), max_size=300)
TEXTS = st.lists(TEXT | ASCII, max_size=8)
FEW_WORDS = st.lists(st.sampled_from(["aa", "bb", "cc", "dd"]), min_size=1, max_size=3).map(" ".join)
FEW_WORD_TEXTS = st.lists(st.lists(FEW_WORDS, max_size=6).map(" ".join), min_size=1, max_size=4)


def assert_same(texts: list[str], **options: Any) -> None:
    """Vocabulary, counts and transform equal scikit-learn's, or both find nothing to count."""
    ours, theirs = Vectorizer(**options), CountVectorizer(**options)
    try:
        expected = theirs.fit_transform(texts)
    except ValueError:
        with pytest.raises(ValueError, match=r"vocabulary|terms remain|fewer documents"):
            ours.fit(texts)
        return
    for n_jobs in (1, 3):
        found = ours.set_params(n_jobs=n_jobs).fit_transform(texts)
        assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
        assert (found != expected).nnz == 0
        assert found.has_canonical_format
        assert (ours.transform(texts) != theirs.transform(texts)).nnz == 0


@given(
    texts=TEXTS,
    analyzer=st.sampled_from(["word", "char", "char_wb"]),
    ngram_range=st.sampled_from([(1, 1), (1, 2), (2, 2), (2, 4), (3, 3)]),
    lowercase=st.booleans(),
    strip_accents=st.sampled_from([None, "unicode", "ascii"]),
    binary=st.booleans(),
)
@settings(deadline=None, max_examples=300)
@example(
    texts=["ΑΣ Σ ΑΣʼ ΑΣʼΑ", "İİ"], analyzer="word", ngram_range=(1, 1), lowercase=True, strip_accents=None, binary=False
)
def test_counts_equal_scikit_learns(texts: list[str], **options: Any) -> None:
    assert_same(texts, **options)


@given(texts=TEXTS, min_df=st.sampled_from([1, 2, 0.3]), max_df=st.sampled_from([1.0, 0.7, 3]))
@settings(deadline=None)
def test_pruning_equals_scikit_learns(texts: list[str], min_df: float, max_df: float) -> None:
    assert_same(texts, min_df=min_df, max_df=max_df)
    assert_same(texts, min_df=min_df, max_df=max_df, max_features=3, ngram_range=(1, 2))
    assert_same(texts, max_features=5, analyzer="char", binary=True)


@given(texts=TEXTS)
@settings(deadline=None)
def test_patterns_and_stop_words_equal_scikit_learns(texts: list[str]) -> None:
    for pattern in (r"(?u)\b\w+\b", r"\S+", r"[ab]+", r"(?u)(\w)\w"):
        assert_same(texts, token_pattern=pattern)
    assert_same(texts, stop_words=["ab", "bb", "a"], ngram_range=(1, 2), token_pattern=r"\w+")
    assert_same(["the cat of a house", *texts], stop_words="english", ngram_range=(1, 3))


def test_every_character_is_cut_and_lowered_as_python_does() -> None:
    code_points = range(1, sys.maxunicode + 1, 1)
    texts = [f"A{chr(c)}Σ {chr(c)}{chr(c)}" for c in code_points]
    found = Vectorizer(dtype=np.float32).fit(texts).get_feature_names_out()
    expected = {word for document in counts(texts) for word in document}
    assert set(found) == expected


@pytest.mark.parametrize("options", [{}, {"lowercase": False}, {"token_pattern": r"\S+"}, {"strip_accents": "unicode"}])
def test_western_european_text_is_cut_as_python_does(options: dict[str, Any]) -> None:
    """Strings of the first 256 characters have a way of their own."""
    assert_same([f"A{chr(c)}B {chr(c)}{chr(c)} {chr(c)}" for c in range(256)], **options)
    assert_same(["Ça fût très LÉGÈRE", "ÀÉÎ"], ngram_range=(1, 2), **options)


def test_words_of_any_length_are_kept_apart() -> None:
    lengths = [2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 200]
    texts = [" ".join(letter * n for letter in "xy" for n in lengths), " ".join("x" * n + "z" for n in lengths)]
    assert_same(texts)
    assert_same(texts, ngram_range=(1, 2))


def test_n_grams_sort_as_joined_text() -> None:
    assert_same(["a1 a a1 ab a_ zz a b", "ab a a a1 a a a", "é e éa zz"], ngram_range=(1, 4), token_pattern=r"\w+")


@given(texts=TEXTS, n_jobs=st.sampled_from([2, 7]))
@settings(deadline=None, max_examples=30)
def test_threads_do_not_change_the_result(texts: list[str], n_jobs: int) -> None:
    many = [f"{text} word{i % 97}" for i, text in enumerate(texts * 40 + ["fill " * 20_000] * 4)]
    one = Vectorizer(ngram_range=(1, 2), n_jobs=1)
    several = Vectorizer(ngram_range=(1, 2), n_jobs=n_jobs)
    a, b = one.fit_transform(many), several.fit_transform(many)
    assert one.get_feature_names_out().tolist() == several.get_feature_names_out().tolist()
    for name in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(a, name), getattr(b, name))
        assert np.array_equal(getattr(one.transform(many), name), getattr(several.transform(many), name))


# ---------------------------------------------------------------------- beyond scikit-learn


@given(texts=TEXTS)
@settings(deadline=None)
def test_unspaced_scripts_give_bigrams(texts: list[str]) -> None:
    texts = ["ascii words", *texts]
    vectorizer = Vectorizer(split_unspaced=True)
    matrix = vectorizer.fit_transform(texts)
    names = vectorizer.get_feature_names_out()
    for row, expected in zip(matrix.toarray(), counts(texts, split_unspaced=True), strict=True):
        assert {names[i]: int(n) for i, n in enumerate(row) if n} == expected


@given(texts=TEXTS, ngram_range=st.sampled_from([(1, 2), (2, 2), (1, 3), (3, 4)]))
@settings(deadline=None)
@example(texts=["one"], ngram_range=(3, 4))
@example(texts=["", "one", ""], ngram_range=(1, 2))
def test_edges_are_parts_of_n_grams(texts: list[str], ngram_range: tuple[int, int]) -> None:
    texts = ["two words", *texts]
    expected = [edged_n_grams(text, *ngram_range) for text in texts]
    for options in ({}, {"tokenizer": lambda text: re.findall(r"\b\w\w+\b", text)}):
        vectorizer = Vectorizer(ngram_range=ngram_range, edges=True, **options)
        learned = vectorizer.fit_transform(texts)
        names = vectorizer.get_feature_names_out()
        assert set(names) == set().union(*expected)
        for n_jobs in (1, 3):
            known = vectorizer.set_params(n_jobs=n_jobs).transform(texts)
            assert (known != learned).nnz == 0
        for row, own in zip(learned.toarray(), expected, strict=True):
            assert {names[i]: int(n) for i, n in enumerate(row) if n} == own


@given(first=FEW_WORD_TEXTS, then=FEW_WORD_TEXTS, ngram_range=st.sampled_from([(1, 2), (2, 3)]), most=st.integers(1, 9))
@settings(deadline=None)
def test_a_cut_vocabulary_with_edges_finds_its_n_grams(
    first: list[str], then: list[str], ngram_range: tuple[int, int], most: int
) -> None:
    texts = ["aa bb", *first]
    vectorizer = Vectorizer(ngram_range=ngram_range, edges=True, max_features=most).fit(texts).partial_fit(then)
    names = vectorizer.get_feature_names_out()
    for text, row in zip([*texts, *then], vectorizer.transform([*texts, *then]).toarray(), strict=True):
        own = edged_n_grams(text, *ngram_range)
        assert {name: int(n) for name, n in zip(names, row, strict=True) if n} == {n: own[n] for n in names if own[n]}


def test_edges_are_hashed_stemmed_and_named() -> None:
    hashed = Vectorizer(n_hash=1 << 30, ngram_range=(1, 2), edges=True)
    rows, _ = hashed._transform_rows(["who ran"])
    assert sorted(hashed._words_of("who ran", rows.indices)) == ["(start) who", "ran", "ran (end)", "who", "who ran"]
    stemmed = Vectorizer(stemmer="english", ngram_range=(1, 2), edges=True, stop_words=["the"])
    stemmed.fit(["the running dogs"])
    assert stemmed.get_feature_names_out().tolist() == ["(start) run", "dog", "dog (end)", "run", "run dog"]
    assert stemmed.transform(["dog runs"]).toarray().astype(int).tolist() == [[0, 1, 0, 1, 0]]


def test_chinese_japanese_and_thai_are_cut_into_bigrams() -> None:
    vectorizer = Vectorizer(split_unspaced=True).fit(["我很喜欢genus", "カタカナ", "ภาษา", "中"])
    words = set(vectorizer.get_feature_names_out())
    assert {"我很", "很喜", "喜欢", "genus", "カタ", "タカ", "カナ", "ภา", "中"} <= words


def test_stemming_counts_words_by_their_stem() -> None:
    vectorizer = Vectorizer(stemmer="english", ngram_range=(1, 2), stop_words=["the"])
    matrix = vectorizer.fit_transform(["the running dogs", "dog runs", "Running runs run"])
    assert vectorizer.get_feature_names_out().tolist() == ["dog", "dog run", "run", "run dog", "run run"]
    assert matrix.toarray().astype(int).tolist() == [[1, 0, 1, 1, 0], [1, 1, 1, 0, 0], [0, 0, 3, 0, 2]]
    assert (vectorizer.transform(["the running dogs"]) != matrix[0]).nnz == 0


def test_stemming_equals_a_stemming_tokenizer_in_python() -> None:
    import Stemmer

    texts = ["Häuser am Straßenrand", "das Haus", "Straßen und Häuser, Haus an Haus"] * 50
    stem = Stemmer.Stemmer("german")
    slow = CountVectorizer(
        tokenizer=lambda t: stem.stemWords(CountVectorizer().build_tokenizer()(t)), token_pattern=None
    )
    fast = Vectorizer(stemmer="german", n_jobs=2)
    expected = slow.fit_transform(texts)
    assert (fast.fit_transform(texts) != expected).nnz == 0
    assert fast.get_feature_names_out().tolist() == slow.get_feature_names_out().tolist()


def test_python_tokenizers_and_analyzers_are_used() -> None:
    assert_same(["a b  c", "c c"], tokenizer=lambda text: text.split(" "), token_pattern=None, ngram_range=(1, 2))
    assert_same(["ab", "ba!"], analyzer=lambda text: [*text, text])


def test_hashing_needs_no_fit_and_keeps_the_counts() -> None:
    vectorizer = Vectorizer(n_hash=1 << 20)
    matrix = vectorizer.transform(["one two two", "three"])
    assert matrix.shape == (2, 1 << 20)
    assert sorted(matrix.data.tolist()) == [1, 1, 2]
    with pytest.raises(ValueError, match="no feature names"):
        vectorizer.get_feature_names_out()


def test_hashed_columns_never_change() -> None:
    """Model files with hashed columns rest on these numbers."""
    texts = ["genus", "naive bayes", "straße", "a_word_of_more_than_sixteen_bytes", "我很喜欢"]
    matrix = Vectorizer(n_hash=2**31 - 1, ngram_range=(1, 2)).transform(texts)
    assert [matrix[i].indices.tolist() for i in range(len(texts))] == [
        [626230632],
        [87192624, 1309769948, 1355967639],
        [818141166],
        [1189250184],
        [414332364],
    ]


def test_hashed_columns_are_named_by_the_words_of_the_text() -> None:
    vectorizer = Vectorizer(n_hash=1 << 30, ngram_range=(1, 2))
    rows, _ = vectorizer._transform_rows(["new york"])
    assert sorted(vectorizer._words_of("new york", rows.indices)) == ["new", "new york", "york"]


@given(parts=st.lists(TEXTS, min_size=1, max_size=4), ngram_range=st.sampled_from([(1, 1), (1, 2)]))
@settings(deadline=None)
def test_a_growing_vocabulary_keeps_its_columns(parts: list[list[str]], ngram_range: tuple[int, int]) -> None:
    vectorizer = Vectorizer(ngram_range=ngram_range)
    seen: list[str] = []
    for part in parts:
        vectorizer.partial_fit(part)
        names = vectorizer.get_feature_names_out().tolist()
        assert names[: len(seen)] == seen
        assert len(set(names)) == len(names)
        seen = names
    texts = [text for part in parts for text in part]
    grown = vectorizer.transform(texts)
    if seen:
        whole = Vectorizer(ngram_range=ngram_range)
        expected = whole.fit_transform(texts)
        order = [whole.vocabulary_[name] for name in seen]
        assert (grown != expected[:, order]).nnz == 0


def test_growing_thousands_of_words_keeps_finding_them() -> None:
    vectorizer = Vectorizer()
    for start in range(0, 3000, 100):
        vectorizer.partial_fit([f"word{i}" for i in range(start, start + 100)])
    matrix = vectorizer.transform([f"word{i}" for i in range(3000)])
    assert matrix.sum(axis=0).tolist() == [[1] * 3000]
    assert (np.diff(matrix.indptr) == 1).all()


def test_a_given_vocabulary_fixes_the_columns() -> None:
    for vocabulary in (["york", "new york"], {"new york": 1, "york": 0}):
        vectorizer = Vectorizer(vocabulary=vocabulary, ngram_range=(1, 2))
        assert vectorizer.transform(["new york york", "nothing"]).toarray().tolist() == [[2, 1], [0, 0]]
        assert vectorizer.partial_fit(["other words"]).n_columns_ == 2


RANGES = st.sampled_from([(1, 1), (1, 2), (2, 2), (1, 3), (2, 3), (3, 3)])


@given(features=st.lists(FEW_WORDS, min_size=1, max_size=12, unique=True), texts=FEW_WORD_TEXTS, ngram_range=RANGES)
@settings(deadline=None)
def test_n_grams_are_found_whichever_of_their_parts_are_features(
    features: list[str], texts: list[str], ngram_range: tuple[int, int]
) -> None:
    ours = Vectorizer(vocabulary=features, ngram_range=ngram_range)
    theirs = CountVectorizer(vocabulary=features, ngram_range=ngram_range)
    for many in (texts, texts * 64):  # few texts are counted without a cache
        assert (ours.transform(many) != theirs.transform(many)).nnz == 0


GRAMS = st.text(st.sampled_from("aab\x00 é日𝔸"), min_size=1, max_size=10)


@given(
    grams=st.lists(GRAMS, min_size=1, max_size=60, unique=True),
    texts=st.lists(st.text(st.sampled_from("aab\x00 é日𝔸"), max_size=60), max_size=6),
    ngram_range=st.sampled_from([(1, 3), (4, 5), (6, 8), (1, 10)]),
)
@example(["abc"], ["abc\x00"], (3, 4))
@example(["abc\x00", "abc", "abcdefg\x00", "abcdefg", "abcdefgh"], ["abc abc\x00", "abcdefghi abcdefg\x00"], (3, 8))
@settings(deadline=None)
def test_given_grams_of_any_length_are_found(grams: list[str], texts: list[str], ngram_range: tuple[int, int]) -> None:
    """Up to 7 bytes and longer ones, with zeros within and at their ends."""
    options: dict[str, Any] = {"analyzer": "char", "ngram_range": ngram_range, "vocabulary": grams, "lowercase": False}
    found = Vectorizer(**options).transform(texts * 70)  # enough for words to be remembered
    assert (found != CountVectorizer(**options).transform(texts * 70)).nnz == 0
    assert found.has_canonical_format


@functools.cache
def numbered_words() -> Vectorizer:
    return Vectorizer(vocabulary=[f"w{i}" for i in range(2**18 + 2**10)], n_jobs=1)


@given(
    shapes=st.lists(
        st.tuples(st.sampled_from([70, 5000, 2**18, 2**18 + 2**10]), st.integers(0, 300), st.integers(0, 2**32 - 1)),
        max_size=8,
    )
)
@settings(deadline=None)
def test_rows_of_any_length_are_counted_in_order(shapes: list[tuple[int, int, int]]) -> None:
    rows = [np.random.default_rng(seed).integers(0, most, size).tolist() for most, size, seed in shapes]
    found = numbered_words().transform([" ".join(f"w{i}" for i in row) for row in rows])
    for row, start, end in zip(rows, found.indptr, found.indptr[1:], strict=False):
        assert found.indices[start:end].tolist() == sorted(set(row))
        assert found.data[start:end].tolist() == [row.count(i) for i in sorted(set(row))]


def test_many_texts_are_counted_alike_by_any_number_of_threads() -> None:
    texts = [f"the {i} texts {i % 7 * 'are '}counted {'x' * (i % 300)}" for i in range(3000)]
    expected = CountVectorizer(analyzer="char", ngram_range=(2, 4), min_df=2).fit(texts[::2]).transform(texts)
    ours = Vectorizer(analyzer="char", ngram_range=(2, 4), min_df=2).fit(texts[::2])
    for n_jobs in (1, 2, 7):
        assert (ours.set_params(n_jobs=n_jobs).transform(texts) != expected).nnz == 0


def test_a_table_of_another_layout_is_made_anew() -> None:
    """As in files of format 1, which had one of slots."""
    vectorizer = Vectorizer(ngram_range=(1, 2)).fit(["some words and considerably longer ones"])
    state = vectorizer._get_state()
    for other in (np.zeros(2 * len(state["table"]), dtype=np.uint64), state["table"][1:]):
        loaded = Vectorizer(ngram_range=(1, 2))
        loaded._set_state({"words": state["words"], "table": other})
        np.testing.assert_array_equal(loaded._table, state["table"])


def test_making_a_table_takes_no_time_per_space() -> None:
    words = Strings.pack(["a" + " " * 300_000, *map(str, range(1000))])
    assert _core.find_words(*words, True, *words, _core.make_table(*words, True), 0).tolist() == list(range(1001))


@given(first=FEW_WORD_TEXTS, then=st.lists(FEW_WORD_TEXTS, max_size=3), ngram_range=RANGES, most=st.integers(1, 6))
@settings(deadline=None)
def test_a_cut_vocabulary_that_grows_finds_its_n_grams(
    first: list[str], then: list[list[str]], ngram_range: tuple[int, int], most: int
) -> None:
    ours = Vectorizer(ngram_range=ngram_range, max_features=most)
    try:
        ours.fit(first)
    except ValueError:
        return  # no text is long enough for an n-gram
    for texts in then:
        ours.partial_fit(texts)
    theirs = CountVectorizer(vocabulary=ours.vocabulary_, ngram_range=ngram_range)
    every = first + [text for texts in then for text in texts]
    assert (ours.transform(every) != theirs.transform(every)).nnz == 0


def test_unknown_tokens_are_counted() -> None:
    vectorizer = Vectorizer().fit(["one two"])
    _, unknown = vectorizer._transform_rows(["one three four", "two", ""])
    assert unknown.tolist() == [2, 0, 0]


# ---------------------------------------------------------------------- what counts as texts


def series(kind: str, values: list[str]) -> Any:
    if kind == "numpy":
        return np.array(values)
    if kind == "numpy object":
        return np.array(values, dtype=object)
    if kind == "generator":
        return (value for value in values)
    if kind.startswith("pandas"):
        pd = pytest.importorskip("pandas")
        dtypes = {
            "pandas": None,
            "pandas object": object,
            "pandas arrow": "string[pyarrow]",
            "pandas category": "category",
        }
        return pd.Series(values, dtype=dtypes[kind])
    if kind == "polars":
        return pytest.importorskip("polars").Series(values)
    pa = pytest.importorskip("pyarrow")
    if kind == "arrow chunks":
        return pa.chunked_array([values[:1], values[1:]])
    if kind == "arrow slice":
        return pa.array(["skipped", *values, "skipped"])[1:-1]
    if kind == "arrow dictionary":
        return pa.array(values).dictionary_encode()
    return pa.array(
        values, type={"arrow": pa.string(), "arrow large": pa.large_string(), "arrow view": pa.string_view()}[kind]
    )


@pytest.mark.parametrize(
    "kind",
    ["numpy", "numpy object", "generator", "pandas", "pandas object", "pandas arrow", "pandas category", "polars",
     "arrow", "arrow large", "arrow view", "arrow chunks", "arrow slice", "arrow dictionary"],
)  # fmt: skip
def test_texts_come_from_any_container(kind: str) -> None:
    values = ["", "Straße 12", "a longer text than twelve bytes", "日本語 text", "Straße 12"]
    expected = Vectorizer().fit_transform(values)
    vectorizer = Vectorizer()
    assert (vectorizer.fit_transform(series(kind, values)) != expected).nnz == 0
    assert (vectorizer.transform(series(kind, values)) != expected).nnz == 0


def test_damaged_utf8_in_arrow_is_survived() -> None:
    pa = pytest.importorskip("pyarrow")
    junk = [b"ok \xff\xfe", b"\xf0\x9f", b"\xe2\x82 end", b"\xc3", b"\xed\xa0\x80x"]
    buffers = pa.array(junk, type=pa.binary()).buffers()
    texts = pa.StringArray.from_buffers(len(junk), buffers[1], buffers[2])
    assert "end" in Vectorizer().fit(texts).get_feature_names_out()


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one text", "a single str"),
        (["fine", None], "row 1: expected a text"),
        (["fine", b"bytes"], "row 1: expected a text .* got bytes"),
        ([1.0], "row 0: expected a text .* got float"),
        (np.array([["a"], ["b"]]), "one-dimensional"),
        (7, "collection of texts, got int"),
    ],
)
def test_what_is_not_a_text_is_refused(texts: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        Vectorizer().fit(texts)


def test_nulls_and_numbers_in_arrow_are_refused() -> None:
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match="row 1 holds no text"):
        Vectorizer().fit(pa.array(["a word", None]))
    with pytest.raises(TypeError, match="array of strings"):
        Vectorizer().fit(pa.array([1, 2]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"analyzer": "words"}, "analyzer must be"),
        ({"strip_accents": "all"}, "strip_accents must be"),
        ({"ngram_range": (2, 1)}, "ngram_range must be"),
        ({"ngram_range": 2}, "ngram_range must be a pair"),
        ({"min_df": 0}, "min_df must be"),
        ({"max_df": 1.5}, "max_df must be"),
        ({"min_df": 3, "max_df": 2}, "fewer documents"),
        ({"max_features": -1}, "max_features must be"),
        ({"n_hash": 0}, "n_hash must be"),
        ({"n_hash": 8, "vocabulary": ["a"]}, "cannot be combined"),
        ({"stemmer": "klingon"}, "stemmer must be one of .*english"),
        ({"stemmer": "english", "analyzer": "char"}, "stemmer works on words"),
        ({"edges": True}, "edges need word n-grams"),
        ({"edges": True, "analyzer": "char", "ngram_range": (2, 3)}, "edges need word n-grams"),
        ({"stop_words": "german"}, "stop_words must be"),
        ({"token_pattern": "(a)(b)"}, "capturing group"),
        ({"vocabulary": ["a", "a"]}, "twice"),
        ({"vocabulary": {"a": 1}}, "0 ... n - 1"),
        ({"vocabulary": []}, "empty"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Vectorizer(**options).fit(["some text", "some more"])


def test_nothing_to_count_is_an_error() -> None:
    with pytest.raises(ValueError, match="Empty vocabulary"):
        Vectorizer().fit(["", " . "])
    with pytest.raises(NotFittedError):
        Vectorizer().transform(["text"])


# ---------------------------------------------------------------------- the object


def test_it_survives_pickle_and_clone() -> None:
    vectorizer = Vectorizer(ngram_range=(1, 2), stemmer="english").fit(["red houses", "blue house"])
    again = pickle.loads(pickle.dumps(vectorizer))  # noqa: S301 (scikit-learn users pickle; genus itself never does)
    assert (again.transform(["red house"]) != vectorizer.transform(["red house"])).nnz == 0
    assert clone(vectorizer).get_params() == vectorizer.get_params()


def test_dtype_is_what_was_asked_for() -> None:
    for dtype in (np.float32, np.float64, np.int64, np.uint8):
        matrix = Vectorizer(dtype=dtype).fit_transform(["a bb bb"])
        assert matrix.dtype == dtype
        assert matrix.data.tolist() == [2]


@given(st.data())
@settings(deadline=None)
def test_hostile_vocabularies_do_no_harm(data: st.DataObject) -> None:
    """A model file's arrays are mapped as they are: whatever is in them, look-ups stay inside."""
    anything = st.integers(-(2**63), 2**63 - 1)
    offsets = np.array(data.draw(st.lists(anything, min_size=1, max_size=9)), dtype=np.int64)
    size = data.draw(st.sampled_from([0, 1, 7, 8, 15, 16, 24, 37]))
    table = np.array(data.draw(st.lists(anything, min_size=size, max_size=size)), dtype=np.int64).view(np.uint64)
    if data.draw(st.booleans()):
        table[:1] = _core.make_table(*Strings.pack(["a"]), False)[0]
    if data.draw(st.booleans()):
        table[8:] |= 1  # no room anywhere
    blob = np.frombuffer(b"some words", dtype=np.uint8)
    nothing = Strings.pack([])
    options = _core.TextOptions("word", "", True, False, 2, 1, 2, data.draw(st.booleans()))
    no_stop_words = (*nothing, np.zeros(0, dtype=np.uint64))
    text = "some words and more " * 10
    rows = _core.count_known([text], options, *no_stop_words, blob, offsets, table, 0, False, False, 1)
    assert (rows[1] < len(offsets)).all()
