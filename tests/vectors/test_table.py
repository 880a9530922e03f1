"""Tables of word vectors: what texts become, what words add, and what goes into model files."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import genus
from genus import DataError, ModelFileError, WordVectors, _core
from genus.base.protocol import offers
from genus.text.encoder import TellsParts
from genus.vectors import table as table_module
from reference import word_vectors as reference

pytestmark = pytest.mark.kernel

# Few letters, so that texts are made of entries: of one to four bytes, with odd lower cases, and what is no letter.
LETTERS = "abABéÉßİΣσ日_1𐐀"
WORD = st.text(st.sampled_from(LETTERS), min_size=1, max_size=5)
TEXT = st.text(st.sampled_from(LETTERS + "  .,-\n\u00a0\u0301\ud800"), max_size=60)
TEXTS = st.lists(TEXT | st.text(max_size=30) | st.lists(WORD, max_size=9).map(" ".join), max_size=8)
ENTRY = WORD | WORD.map("##".__add__) | st.tuples(WORD, WORD).map(" ".join)


@st.composite
def tables(draw: st.DrawFn) -> tuple[WordVectors, dict[str, np.ndarray], int, bool]:
    """A table, its vectors by entry, their width and whether it is in lower case."""
    lowercase = draw(st.booleans())
    names = draw(st.lists(ENTRY.map(str.lower) if lowercase else ENTRY, min_size=1, max_size=40, unique=True))
    width = draw(st.sampled_from([1, 3, 16, 31, 128, 300]))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    has_pieces = any(name.startswith("##") for name in names)
    if draw(st.booleans()):
        numbers = rng.integers(-127, 128, (len(names), width), dtype=np.int8)
        scales = rng.random(len(names), dtype=np.float32)
        exact = numbers * scales.astype(np.float64)[:, np.newaxis]
    else:
        numbers = rng.standard_normal((len(names), width), dtype=np.float32)
        scales, exact = None, numbers.astype(np.float64)
    made = WordVectors.from_words(names, numbers, scales, lowercase=lowercase, pieces=has_pieces)
    return made, dict(zip(names, exact, strict=True)), width, lowercase


def small(**options: Any) -> WordVectors:
    names = ["goal", "match", "play", "##ing", "##er", "new", "york", "new york"]
    return WordVectors.from_words(names, np.eye(8, dtype=np.float32), **options)


@given(tables(), TEXTS)
@settings(deadline=None, max_examples=300)
def test_texts_become_what_the_reference_makes_of_them(made: Any, texts: list[str]) -> None:
    table, vectors, width, lowercase = made
    found = table.encode(texts, 1)
    assert found.vectors.dtype == np.float32
    assert found.vectors.shape == (len(texts), width)
    for i, text in enumerate(texts):
        expected, *counts = reference.encode(text, vectors, width, lowercase)
        assert [int(count[i]) for count in found[1:]] == counts
        total = sum((v for _, v in reference.parts(text, vectors, width, lowercase).values()), np.zeros(width))
        if np.linalg.norm(total) > 1e-3:  # else rounding decides
            np.testing.assert_allclose(found.vectors[i], expected, atol=2e-5)
            np.testing.assert_allclose(np.linalg.norm(found.vectors[i]), 1, atol=1e-6)


@given(tables(), TEXTS)
@settings(deadline=None)
def test_every_machine_and_any_number_of_threads_gives_the_same_bits(made: Any, texts: list[str]) -> None:
    table = made[0]
    texts = texts * 40
    first = table.encode(texts, 1)
    for n_jobs in (2, 7):
        for a, b in zip(first, table.encode(texts, n_jobs), strict=True):
            assert a.tobytes() == b.tobytes()
    entries = table._table
    rows = (entries.vectors,) if entries.scales is None else (entries.vectors, entries.scales)
    for level in _core.simd_levels():
        assert _core.encode_words(texts, *table._lookup, *rows, 1, level)[0].tobytes() == first.vectors.tobytes()


def test_large_batches_are_cut_into_ranges_without_a_trace() -> None:
    table = small()
    texts = ["goal match, new york " * (i % 50) + "playing" for i in range(3000)]
    together = table.encode(texts, 7)
    alone = np.concatenate([table.encode([text]).vectors for text in texts])
    assert together.vectors.tobytes() == alone.tobytes()


@given(tables(), TEXT)
@settings(deadline=None)
def test_parts_add_up_to_the_vector(made: Any, text: str) -> None:
    table, vectors, width, lowercase = made
    expected = reference.parts(text, vectors, width, lowercase)
    found = table.parts(text)
    assert {name: count for name, count, _ in found} == {name: count for name, (count, _) in expected.items()}
    length = np.linalg.norm(sum((v for _, v in expected.values()), np.zeros(width)))
    if length > 1e-3:
        for name, _, share in found:
            np.testing.assert_allclose(share, expected[name][1] / length, atol=2e-5 / length)
        total = sum((share for *_, share in found), np.zeros(width))
        np.testing.assert_allclose(total, table.encode([text]).vectors[0], atol=1e-4)


def test_split_words_are_told_under_their_own_name() -> None:
    found = small().parts("Playing in New York, playing!")
    assert [(name, count) for name, count, _ in found] == [("playing", 2), ("new", 1), ("new york", 1), ("york", 1)]
    assert small().parts("nothing known") == small().parts("") == []


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("playing", 0),
        ("playinger", 0),
        ("playings", 1),  # a piece is missing at the end
        ("inging", 1),  # nothing begins it
        ("play" + "ing" * 32, 0),  # 100 characters
        ("play" + "ing" * 32 + "er", 1),  # 102
        ("play" + "ing" * 100_000, 1),
    ],
)
def test_words_are_split_whole_or_not_at_all(text: str, unknown: int) -> None:
    found = small().encode([text])
    assert (found.n_words[0], found.n_whole[0], found.n_unknown[0]) == (1, 0, unknown)
    assert found.vectors.any() == (not unknown)


def test_a_hundred_characters_are_counted_not_bytes() -> None:
    table = WordVectors.from_words(["é", "##é"], [[1.0], [1.0]])
    assert table.encode(["é" * 100, "é" * 101]).n_unknown.tolist() == [0, 1]


def test_the_longest_entry_comes_first() -> None:
    table = WordVectors.from_words(["a", "ab", "##b", "##bc", "##c"], np.eye(5))
    assert table.encode(["abc"]).vectors[0].nonzero()[0].tolist() == [1, 4]
    assert table.encode(["abbc"]).vectors[0].nonzero()[0].tolist() == [1, 3]


def test_words_are_split_and_lower_cased_only_where_the_table_says_so() -> None:
    assert small(pieces=False).encode(["playing"]).n_unknown.tolist() == [1]
    assert small(lowercase=False).encode(["Goal goal"]).n_whole.tolist() == [1]
    assert small().lowercase
    assert not WordVectors.from_words(["Goal"], [[1.0]]).lowercase


def test_pairs_need_no_entries_of_their_parts() -> None:
    table = WordVectors.from_words(["new york", "of new"], [[1.0, 0.0], [0.0, 1.0]])
    found = table.encode(["the mayor of New York", "new\nyork", "york new"])
    assert found.vectors.any(axis=1).tolist() == [True, True, False]
    assert found.n_unknown.tolist() == [5, 2, 2]
    assert [name for name, *_ in table.parts("of New York")] == ["of new", "new york"]


def test_texts_without_known_words_are_zeros() -> None:
    found = small().encode(["", " .,", "unknown words"])
    assert not found.vectors.any()
    assert [column.tolist() for column in found[1:]] == [[0, 0, 2], [0, 0, 0], [0, 0, 2]]
    assert small().encode([]).vectors.shape == (0, 8)


def test_words_that_cancel_out_are_zeros() -> None:
    table = WordVectors.from_words(["up", "down"], [[1.0, 2.0], [-1.0, -2.0]])
    assert not table.encode(["up down"]).vectors.any()
    assert not any(share.any() for *_, share in table.parts("up down"))


def test_tiny_and_huge_numbers_keep_their_direction() -> None:
    table = WordVectors.from_words(["tiny", "huge"], np.array([[3e-42, 4e-42], [3e19, 4e19]], dtype=np.float32))
    np.testing.assert_allclose(table.encode(["tiny", "huge " * 1000]).vectors, [[0.6, 0.8]] * 2, rtol=1e-3)


def test_coverage_is_the_share_of_whole_words() -> None:
    assert small().coverage(["goal playing", "unknown goal"]) == 0.5
    assert small().coverage(["", "..."]) == 0.0


def test_entries_are_found_by_name() -> None:
    table = small()
    assert len(table) == 8
    assert "goal" in table
    assert "Goal" in table
    assert "##ing" in table
    assert "New York" in table
    assert "playing" not in table
    assert 3 not in table
    assert table.words[3] == "##ing"
    assert table.vector("playing").tolist() == (table.vector("play") + table.vector("##ing")).tolist()
    assert table.vector("new york").tolist() == np.eye(8)[7].tolist()
    with pytest.raises(KeyError, match="'unknown' has no vector"):
        table.vector("unknown")
    with pytest.raises(KeyError, match="no vector"):
        table.vector("two words")


def test_the_nearest_words_come_first() -> None:
    names = ["goal", "match", "bank", "away", "##s"]
    table = WordVectors.from_words(names, [[1, 0], [2, 1], [0, 1], [-1, 0], [0, 0.1]])
    found = table.nearest("Goals", ["bank", "goal", "unknown", "away", "match", "bank"], 3)
    assert [word for word, _ in found] == ["goal", "match", "bank"]
    cosines = [1 / np.sqrt(1.01), 2.1 / np.sqrt(1.01 * 5), 0.1 / np.sqrt(1.01)]
    np.testing.assert_allclose([cosine for _, cosine in found], cosines, rtol=1e-5)
    assert table.nearest("goal", ["goal"], 5) == []
    assert table.nearest("unknown", names, 5) == []


@pytest.mark.parametrize(
    ("texts", "match"),
    [
        (None, "collection of texts"),
        ("one text", "single str"),
        (["goal", None], "row 1: expected a text"),
        ([3], "row 0: expected a text"),
    ],
)
def test_what_is_no_text_is_named(texts: Any, match: str) -> None:
    for ask in (small().encode, small().coverage):
        with pytest.raises((ValueError, TypeError), match=match):
            ask(texts)


def test_parts_are_of_one_text() -> None:
    with pytest.raises(ValueError, match=r"Expected a text \(str\), got list"):
        small().parts(["goal"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "vectors", "scales", "message"),
    [
        ([], np.zeros((0, 2)), None, "the table is empty"),
        (["a"], [[np.nan, 1.0]], None, "the vector of 'a' (entry 0) holds NaN"),
        (["a", "b"], [[1.0], [np.inf]], None, "the vector of 'b' (entry 1) holds NaN, infinity"),
        (["a", "b"], [[1.0], [1e30]], None, "or a number over 1e+20"),
        (["a", "b", "a"], [[1.0]] * 3, None, "the word 'a' occurs twice, the second time as entry 2"),
        (["a b", "a b"], [[1.0]] * 2, None, "the word 'a b' occurs twice"),
        (["a", ""], [[1.0]] * 2, None, "entry 1 has an empty name"),
        (["a", "\ud800"], [[1.0]] * 2, None, "the name of entry 1 is not UTF-8"),
        (["a", 3], [[1.0]] * 2, None, "expected words (str), got int as entry 1"),
        (["a", "b"], [[1.0]], None, "one row for each of the 2 words, got shape (1, 1)"),
        (["a"], [1.0], None, "got shape (1,)"),
        (["a"], np.zeros((1, 0)), None, "got shape (1, 0)"),
        (["a"], [["x"]], None, "must be numbers, got <U1"),
        (["a"], np.ones((1, 2), np.int8), None, "int8 need one scale for each row"),
        (["a"], np.ones((1, 2), np.float32), [1.0], "others none, got float32"),
        (["a"], np.ones((1, 2), np.int8), [1.0, 2.0], "one for each of the 1 words, got float32 of shape (2,)"),
        (["a"], np.ones((1, 2), np.int8), [np.nan], "the scale of 'a' (entry 0) holds NaN"),
    ],
)
def test_what_does_not_fit_together_is_named(words: Any, vectors: Any, scales: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        WordVectors.from_words(words, vectors, scales, name="mine")
    assert str(caught.value).startswith("mine: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_empty_table_says_how_to_fill_it() -> None:
    for ask in (len, repr, lambda t: t.encode(["a"]), lambda t: t.checksum):
        if ask is repr:
            assert repr(WordVectors("mine")) == "WordVectors('mine')"
            continue
        with pytest.raises(DataError, match=r"'mine' is empty: make it with WordVectors.load"):
            ask(WordVectors("mine"))


def test_the_checksum_tells_tables_apart() -> None:
    table = small()
    assert table.checksum == small().checksum
    vectors = np.eye(8, dtype=np.float32)
    vectors[0, 1] = 0.5
    others = [
        small(pieces=False),
        small(lowercase=False),
        WordVectors.from_words(table.words, vectors),
        WordVectors.from_words(["goals", *table.words[1:]], np.eye(8)),
        WordVectors.from_words(table.words, np.eye(8, dtype=np.int8), np.ones(8)),
        WordVectors.from_words(table.words, np.eye(8, dtype=np.int8), np.full(8, 2.0)),
    ]
    assert len({table.checksum, *(other.checksum for other in others)}) == 7


def test_a_table_offers_its_parts_and_is_never_copied() -> None:
    table = small()
    assert offers(table, TellsParts)
    assert clone(table) is table
    assert pickle.loads(pickle.dumps(table)).checksum == table.checksum  # noqa: S301


# Model files


@pytest.mark.parametrize("compact", [False, True])
def test_a_table_comes_back_from_a_model_file(tmp_path: Path, compact: bool) -> None:
    vectors = np.arange(-8, 8, dtype=np.int8).reshape(4, 4)
    about = {"licence": "CC0"}
    table = WordVectors.from_words(["Öl", "b", "##c", "Öl b"], vectors, np.arange(1, 5), name="mine", about=about)
    if not compact:
        table = WordVectors.from_words(table.words, vectors.astype(float), name="mine", about=about)
    genus.save(table, tmp_path / "t.genus")
    back = genus.load(tmp_path / "t.genus")
    assert (back.name, back.checksum, back.about) == ("mine", table.checksum, about)
    texts = ["Öl b bc", "öl"]
    assert back.encode(texts).vectors.tobytes() == table.encode(texts).vectors.tobytes()


@pytest.mark.parametrize(
    "change",
    [
        {"vectors": np.ones((3, 8), np.float32)},
        {"vectors": None},
        {"words": ["a"]},
        {"scales": 3},
        {"lowercase": "yes"},
        {"about": {"a": 1}},
    ],
)
def test_a_damaged_state_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    table = small()
    state = table._get_state() | change
    table._get_state = lambda: state  # type: ignore[method-assign]
    genus.save(table, tmp_path / "t.genus")
    with pytest.raises(ModelFileError, match="holds a WordVectors that cannot be restored"):
        genus.load(tmp_path / "t.genus")


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of our own for the table that ships, and an empty memory of it."""
    monkeypatch.setattr(table_module.resources, "files", lambda package: tmp_path)
    table_module._shipped.cache_clear()
    yield tmp_path / table_module.SHIPPED
    table_module._shipped.cache_clear()


def test_the_shipped_table_is_named_in_model_files_not_stored(shipped: Path, tmp_path: Path) -> None:
    small(name="english").save(shipped)
    table = WordVectors.shipped()
    assert WordVectors.shipped() is table
    genus.save(table, tmp_path / "t.genus")
    assert genus.io.describe_file(tmp_path / "t.genus")["arrays"] == {}
    back = genus.load(tmp_path / "t.genus")
    assert (back.name, back.checksum) == ("english", table.checksum)
    assert back.encode(["goal"]).vectors.tobytes() == table.encode(["goal"]).vectors.tobytes()
    genus.save(back, tmp_path / "again.genus")
    assert genus.io.describe_file(tmp_path / "again.genus")["arrays"] == {}


def test_another_shipped_table_is_refused(shipped: Path, tmp_path: Path) -> None:
    small().save(shipped)
    genus.save(WordVectors.shipped(), tmp_path / "t.genus")
    table_module._shipped.cache_clear()
    small(pieces=False).save(shipped)
    with pytest.raises(ModelFileError, match="another version of the word vectors that ship with genus"):
        genus.load(tmp_path / "t.genus")


def test_a_missing_shipped_table_is_told(shipped: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"\(english.safetensors\) are missing: install genus again"):
        WordVectors.shipped()
    small().save(shipped)
    genus.save(WordVectors.shipped(), tmp_path / "t.genus")
    table_module._shipped.cache_clear()
    shipped.unlink()
    with pytest.raises(ModelFileError, match=r"t\.genus: holds a WordVectors .* are missing"):
        genus.load(tmp_path / "t.genus")
