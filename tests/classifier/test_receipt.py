"""What was learned, in short, and that nothing is unlearned which was never learned."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genus import DenseGaussian, MultinomialNB, TextClassifier, Vectorizer, _core
from genus.base.receipt import NeverLearnedError, Receipt

TEXTS = ["goal match", "bank stock", "match won", "stock fell", "the goal", "the bank"]
LABELS = ["sport", "money", "sport", "money", "sport", "money"]
SUMS_FIT = ["match bank", "goal stock"]  # their words were learned, in other texts
GOLDEN = Path(__file__).parents[1] / "golden" / "format-2" / "nb.genus"


@pytest.mark.parametrize("model", [MultinomialNB, DenseGaussian])
def test_a_row_that_fits_the_sums_but_was_never_learned_is_refused(model: type) -> None:
    X, y = np.array([[1.0, 0], [0, 1], [1, 1]]), ["ham", "ham", "spam"]
    clf = model().fit(X, y)
    before = clf.predict_log_proba(X)
    with pytest.raises(ValueError, match="never learned: row 0 with this label and weight"):
        clf.unlearn([[1, 1]], ["ham"])
    with pytest.raises(ValueError, match="never learned"):
        clf.unlearn([[1, 0], [1, 0]], ["ham", "ham"])  # once, not twice
    with pytest.raises(ValueError, match="never learned"):
        clf.unlearn([[1, 0]], ["ham"], [0.5])
    np.testing.assert_array_equal(clf.predict_log_proba(X), before)
    assert clf.unlearn([[1, 0]], ["ham"]).receipt_ == model().fit(X[1:], y[1:]).receipt_


@pytest.mark.parametrize("model", ["nb", "tdm", "hs", "refined", "plsa"])
def test_a_text_that_was_never_learned_is_refused(model: str) -> None:
    clf = TextClassifier(model).fit(TEXTS, LABELS)
    before = clf.predict_log_proba(TEXTS)
    with pytest.raises(ValueError, match="never learned"):
        clf.unlearn(["goal match", *SUMS_FIT[:1]], ["sport", "sport"])
    with pytest.raises(ValueError, match="never learned"):
        clf.unlearn(["match goal"], ["sport"])  # the same words
    np.testing.assert_array_equal(clf.predict_log_proba(TEXTS), before)


def test_a_pool_refuses_a_text_that_was_never_learned() -> None:
    texts, labels = [f"{text} {i}x" for i in range(8) for text in TEXTS], LABELS * 8
    clf = TextClassifier(vectors=None).fit(texts, labels)
    assert clf.receipt_ is not None
    assert clf.receipt_.n_documents == 48
    with pytest.raises(ValueError, match="never learned"):
        clf.unlearn(["goal match 1x 2x"], ["sport"])
    clf.unlearn(texts[:3], labels[:3]).partial_fit(texts[1:3], labels[1:3])
    assert clf.receipt_ == Receipt.of_texts(texts[1:], np.array(labels[1:]), None, 1)


@pytest.mark.parametrize("model", ["nb", "tdm", "hm"])
def test_order_parts_and_files_do_not_change_the_receipt(model: str, tmp_path: Path) -> None:
    whole = TextClassifier(model).fit(TEXTS, LABELS)
    parts = TextClassifier(model).fit(TEXTS[4:], LABELS[4:]).partial_fit(["more"], ["money"])
    parts.save(tmp_path / "m.genus")
    parts = TextClassifier.load(tmp_path / "m.genus").partial_fit(TEXTS[:4], LABELS[:4]).unlearn(["more"], ["money"])
    assert parts.receipt_ == whole.receipt_
    assert whole.receipt_ is not None
    assert whole.receipt_.n_documents == 6


def test_documents_unlearned_by_number_leave_the_receipt(tmp_path: Path) -> None:
    clf = TextClassifier("tdm").fit([*TEXTS, "match goal"], [*LABELS, "sport"])
    clf.unlearn(["goal match"], ["sport"])  # number 0, though another text has the same words
    clf.unlearn_documents([0])
    clf.save(tmp_path / "m.genus")
    clf = TextClassifier.load(tmp_path / "m.genus").unlearn(["match goal"], ["sport"])
    assert clf.receipt_ == Receipt.of_texts(TEXTS[2:], np.array(LABELS[2:]), None, 1)


def test_a_classifier_that_hashes_words_keeps_number_and_sum_alone() -> None:
    clf = TextClassifier("nb", vectorizer=Vectorizer(n_hash=2**10)).fit(TEXTS, LABELS)
    assert clf.receipt_ is not None
    assert clf.receipt_.parts is None
    assert clf.receipt_ == Receipt.of_texts(TEXTS, np.array(LABELS), None, 1)
    clf.unlearn(TEXTS[:1], LABELS[:1])
    assert clf.receipt_ == Receipt.of_texts(TEXTS[1:], np.array(LABELS[1:]), None, 1)


def test_a_file_of_the_first_releases_has_no_receipt() -> None:
    clf = TextClassifier.load(GOLDEN)
    assert clf.receipt_ is None
    assert clf.partial_fit(["where is my parcel"], ["network"]).receipt_ is None


def test_merged_receipts_are_that_of_all_documents() -> None:
    X, y = np.eye(4), ["a", "b", "a", "b"]
    merged = MultinomialNB().fit(X[2:], y[2:]).merge(MultinomialNB().fit(X[:2], y[:2]))
    assert merged.receipt_ == MultinomialNB().fit(X, y).receipt_
    with pytest.raises(ValueError, match="never learned"):
        merged.unlearn(X[:1], ["b"])


def test_rows_are_told_by_their_entries_however_they_are_stored() -> None:
    indptr, words = np.array([0, 2]), np.array([3, 7], np.int32)
    key = _core.document_keys(indptr, words, np.array([1.0, 2.0]), 1)
    for columns, values in (([7, 3], [2.0, 1.0]), ([3, 5, 7], [1.0, 0.0, 2.0])):
        same = _core.document_keys(np.array([0, len(columns)]), np.array(columns, np.int32), np.array(values), 1)
        assert same == key
    assert _core.document_keys(indptr, words, np.array([1, 2]), 1) == key
    assert _core.document_keys(indptr, words, np.array([2.0, 1.0]), 1) != key


@given(st.lists(st.text(max_size=40), unique=True, max_size=20))
def test_texts_are_told_by_their_utf8_bytes(texts: list[str]) -> None:
    arrow = pytest.importorskip("pyarrow")
    keys = _core.text_keys(texts, 1)
    assert len(set(keys.tolist())) == len(texts)
    np.testing.assert_array_equal(_core.text_keys(texts, 3), keys)
    plain = [t for t in texts if t.isascii() or not any(0xD800 <= ord(c) < 0xE000 for c in t)]
    np.testing.assert_array_equal(
        _core.text_keys(arrow.chunked_array([arrow.array(plain, arrow.string())]), 1), _core.text_keys(plain, 1)
    )


@given(st.lists(st.integers(0, 5), max_size=30), st.data())
def test_a_receipt_is_a_multiset(numbers: list[int], data: st.DataObject) -> None:
    def receipt(chosen: list[int]) -> Receipt:
        return Receipt.of_texts([str(i) for i in chosen], np.array(["x"] * len(chosen)), None, 1)

    cut = data.draw(st.integers(0, len(numbers)))
    both = receipt(numbers[:cut]).plus(receipt(numbers[cut:]))
    assert both == receipt(data.draw(st.permutations(numbers)))
    gone = data.draw(st.lists(st.integers(0, 6), max_size=8))
    left = list(numbers)
    try:
        for i in gone:
            left.remove(i)
    except ValueError:
        with pytest.raises(NeverLearnedError):
            both.without(receipt(gone))
    else:
        assert both.without(receipt(gone)) == receipt(left)
