"""Exact sums: merged halves are the whole, what is subtracted was never there."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from genus import _core
from genus.base.labels import encode_labels
from genus.base.rows import SparseRows
from genus.base.statistics import FRACTION_BITS, ONE, Accumulator, Batch, ClassCounts
from reference.naive_bayes import class_sums

pytestmark = pytest.mark.kernel

FIELDS = list(ClassCounts.__dataclass_fields__)


def rows_of(X, dtype=np.float64):
    matrix = sparse.csr_array(np.asarray(X, dtype=dtype))
    return SparseRows(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data, matrix.shape[1])


def batch_of(X, y, weights=None, declared=None, dtype=np.float64):
    X = np.atleast_2d(X)
    scales = np.full(len(X), float(ONE)) * (1.0 if weights is None else np.asarray(weights, dtype=float))
    weights = None if weights is None else np.asarray(weights, dtype=float)
    return Batch.from_labels(rows_of(X, dtype), scales, np.asarray(y), weights, declared)


def counts_of(X, y, weights=None, n_threads=1, dtype=np.float64):
    return ClassCounts.from_batch(batch_of(X, y, weights, dtype=dtype), n_threads)


def assert_same(a, b):
    for name in FIELDS:
        x, y = getattr(a, name), getattr(b, name)
        assert x.dtype == y.dtype, name
        np.testing.assert_array_equal(x, y, err_msg=name)


values = st.one_of(
    st.just(0.0), st.integers(0, 5).map(float), st.floats(0, 1e4, width=32), st.just(2.0**21), st.just(1e-12)
)


@st.composite
def collections(draw, max_documents=12, max_words=6):
    n, n_words = draw(st.integers(1, max_documents)), draw(st.integers(1, max_words))
    X = np.array(draw(st.lists(st.lists(values, min_size=n_words, max_size=n_words), min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.sampled_from(["a", "bb", "ccc", "d"]), min_size=n, max_size=n)))
    weights = draw(st.none() | st.lists(st.sampled_from([0.0, 1.0, 0.1, 2.5, 1 / 3]), min_size=n, max_size=n))
    return X, y, weights


@given(collections(), st.sampled_from([1, 2, 7]), st.sampled_from([np.float32, np.float64]))
@settings(deadline=None)
def test_kernel_counts_as_the_reference(collection, n_threads, dtype):
    X, y, weights = collection
    X = X.astype(dtype).astype(np.float64)
    counts = counts_of(X, y, weights, n_threads, dtype)
    expected = class_sums(X, y.tolist(), counts.labels.tolist(), weights)
    np.testing.assert_allclose(counts.dense() / ONE, expected, rtol=1e-15, atol=0)
    np.testing.assert_allclose(counts.totals, expected.sum(axis=1), rtol=1e-14)
    counts.check()


@given(collections(), st.integers(0, 12))
@settings(deadline=None)
def test_merged_halves_are_the_whole_and_subtracting_one_leaves_the_other(collection, cut):
    X, y, weights = collection
    cut = min(cut, len(y))
    if cut in (0, len(y)):
        return
    halves = [
        counts_of(X[part], y[part], None if weights is None else weights[part])
        for part in (slice(0, cut), slice(cut, None))
    ]
    whole = counts_of(X, y, weights)
    assert_same(halves[0].merge(halves[1]), whole)
    assert_same(halves[1].merge(halves[0]), whole)
    assert_same(whole.subtract(halves[1]), halves[0])


def test_large_collections_count_the_same_with_any_number_of_threads():
    rng = np.random.default_rng(0)
    n, n_words = 20_000, 500
    indices = rng.integers(0, n_words, n * 15).astype(np.int32)
    rows = SparseRows(np.arange(n + 1) * 15, indices, rng.random(n * 15), n_words)
    y = np.where(rng.random(n) < 0.9, 3, rng.integers(0, 40, n))  # one class spans all chunks
    batch = Batch.from_labels(rows, rng.random(n) * ONE, y, None)
    one, two, seven = (ClassCounts.from_batch(batch, t) for t in (1, 2, 7))
    one.check()
    assert_same(one, two)
    assert_same(one, seven)
    expected = np.zeros((one.n_classes, n_words), dtype=np.int64)
    added = np.floor(rows.data * np.repeat(batch.scales, 15) + 0.5).astype(np.int64)
    np.add.at(expected, (np.repeat(batch.codes, 15), indices), added)
    np.testing.assert_array_equal(one.dense(), expected)
    half = ClassCounts.from_batch(Batch.from_labels(rows, batch.scales, y % 7, None), 1)
    assert_same(one.merge(half, 1), one.merge(half, 7))


def test_fractions_add_up_without_error():
    counts = counts_of(np.full((10, 1), 0.1), ["a"] * 10)
    tenth = counts_of([[0.1]], ["a"])
    np.testing.assert_array_equal(counts.counts, 10 * tenth.counts)


def test_new_words_and_classes_are_taken_in():
    merged = counts_of([[1, 2]], ["b"]).merge(counts_of([[0, 0, 5]], ["a"]))
    assert merged.labels.tolist() == ["a", "b"]
    assert (merged.dense() / ONE).tolist() == [[0, 0, 5], [1, 2, 0]]


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1.0, 0.0]], ["z"]),  # no such class
        ([[3.0, 0.0]], ["a"]),  # more than there is
        ([[0.0, 1.0]], ["b"]),  # a word the class never saw
        ([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]], ["a", "a", "a"]),  # more documents than there are
        ([[0.0, 0.0], [0.0, 0.0]], ["a", "a"]),  # the last documents, but words would be left over
    ],
)
def test_subtracting_what_was_never_added_is_refused(X, y):
    counts = counts_of([[1, 0], [1, 1], [2, 0]], ["a", "a", "b"])
    with pytest.raises(ValueError, match="never learned"):
        counts.subtract(counts_of(X, y))


def test_subtracting_everything_is_refused():
    counts = counts_of([[1, 0]], ["a"])
    with pytest.raises(ValueError, match="nothing would be left"):
        counts.subtract(counts)


def test_a_declared_class_outlives_its_documents():
    declared = np.array(["rare"])
    before = ClassCounts.from_batch(batch_of([[1, 0]], ["a"], declared=declared))
    after = before.merge(counts_of([[0, 1]], ["rare"])).subtract(counts_of([[0, 1]], ["rare"]))
    assert_same(after, before)
    assert after.labels.tolist() == ["a", "rare"]


def test_a_cell_beyond_63_bits_raises_and_never_wraps():
    largest = 2.0 ** (62 - FRACTION_BITS)
    half = counts_of([[largest]], ["a"])
    with pytest.raises(OverflowError, match="fixed point"):
        half.merge(half)
    with pytest.raises(OverflowError, match="fixed point"):
        counts_of([[largest], [largest]], ["a", "a"])
    with pytest.raises(OverflowError, match="fixed point"):
        counts_of([[4 * largest]], ["a"])
    with pytest.raises(OverflowError, match="weights"):
        counts_of([[0.0], [0.0]], ["a", "a"], [largest, largest])


def test_totals_may_exceed_what_a_cell_holds():
    largest = 2.0 ** (62 - FRACTION_BITS)
    assert counts_of([[largest, largest, largest]], ["a"]).totals.tolist() == [3 * largest]


@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf, -1e-300])
def test_numbers_that_are_no_counts_are_refused(wrong):
    with pytest.raises(ValueError, match="finite and not negative"):
        counts_of([[1.0, wrong]], ["a"])
    accumulator = Accumulator()
    with pytest.raises(ValueError, match="finite and not negative"):
        accumulator.add(batch_of([[1.0, wrong]], ["a"]), 1)
    with pytest.raises(ValueError, match="nothing has been learned"):
        accumulator.flush()


def test_columns_outside_the_matrix_are_refused():
    for column in (-1, 2, 2**31 - 1):
        rows = SparseRows(np.array([0, 1]), np.array([column], dtype=np.int32), np.ones(1), 2)
        with pytest.raises(ValueError, match="outside"):
            ClassCounts.from_batch(Batch.from_labels(rows, np.ones(1), np.array(["a"]), None))


def test_a_stream_of_single_documents_is_counted_seldom(monkeypatch):
    rng = np.random.default_rng(1)
    X, y = rng.poisson(0.5, (3000, 30)), rng.integers(0, 5, 3000)
    counted = []
    from_batch = ClassCounts.from_batch
    monkeypatch.setattr(ClassCounts, "from_batch", lambda *args: counted.append(1) or from_batch(*args))
    accumulator = Accumulator()
    for i in range(len(y)):
        accumulator.add(batch_of(X[i], y[[i]]), 1)
    assert len(counted) <= 2
    assert_same(accumulator.flush(), from_batch(batch_of(X, y)))


def test_an_accumulator_keeps_no_hold_of_the_callers_arrays():
    batch = batch_of([[1.0, 2.0]], ["a"])
    accumulator = Accumulator()
    accumulator.add(batch, 1)
    batch.rows.data[:] = 99
    batch.rows.indices[:] = 0
    assert (accumulator.flush().dense() / ONE).tolist() == [[1, 2]]


def test_a_ledger_that_refuses_a_batch_is_unchanged():
    largest = 2.0 ** (62 - FRACTION_BITS)
    accumulator = Accumulator()
    accumulator.add(batch_of([[largest]], ["a"]), 1)
    before = accumulator.flush()
    for bad in (batch_of([[largest, 1]], ["a"]), batch_of([[1]], [3])):
        with pytest.raises((OverflowError, ValueError)):
            accumulator.add(bad, 1)
        assert_same(accumulator.flush(), before)
        assert accumulator.n_columns == 1


@pytest.mark.parametrize(
    "y",
    [
        ["b", "a", "b"],
        [3, 1, 3],
        [True, False, True],
        [2.0, -1.0, 2.0],
        np.array(["b", "a", "b"], object),
        [b"x", b"y"],
    ],
)
def test_labels_are_encoded_in_order(y):
    y = np.asarray(y)
    labels, codes = encode_labels(y)
    np.testing.assert_array_equal(labels[codes], y)
    np.testing.assert_array_equal(labels, np.unique(y))
    assert codes.dtype == np.int32


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.array([1, "a"], object), "one kind"),
        (np.array([None, None]), "text or numbers"),
        (np.array(["a", "a\0"], object), "text or numbers"),
        (np.array([0.5, 1.0]), "continuous"),
    ],
)
def test_other_labels_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        encode_labels(y)


def test_text_and_numbers_do_not_mix():
    with pytest.raises(ValueError, match="kind learned so far, which is text; got numbers"):
        counts_of([[1]], ["a"]).merge(counts_of([[1]], [1]))


def test_duplicates_within_a_document_are_found():
    indptr = np.array([0, 2, 2, 4])
    assert not _core.has_duplicates(indptr, np.array([0, 1, 1, 0], np.int32), 2)
    assert _core.has_duplicates(indptr, np.array([0, 1, 1, 1], np.int32), 2)
    assert not _core.has_duplicates(indptr, np.array([9, 9, -1, -1], np.int32), 2)  # outside: somebody else's error


DAMAGE = {
    "indptr": [
        np.array([0, 3, 2, 4]),
        np.array([1, 2, 3, 4]),
        np.array([0, 1, 2, 9]),
        np.array([-5, 1, 2, 4]),
    ],
    "classes": [np.array(ids, np.int32) for ids in ([0, 0, 1, 0], [0, 9, 0, 1], [-1, 1, 0, 1], [1, 0, 0, 1])],
    "counts": [np.array([1, 0, 1, 1]), np.array([1, -1, 1, 1])],
    "documents": [np.array([1, -1])],
    "labels": [np.array(["b", "a"]), np.array(["a", "a"])],
}


@pytest.mark.parametrize(("name", "array"), [(n, a) for n, arrays in DAMAGE.items() for a in arrays])
def test_damaged_arrays_are_found(name, array):
    counts = counts_of([[1, 1, 0], [1, 1, 0]], ["a", "b"])
    assert counts.indptr.tolist() == [0, 2, 4, 4]
    counts.check()
    fields = {field: getattr(counts, field) for field in FIELDS} | {name: array}
    with pytest.raises(ValueError, match="damaged"):
        ClassCounts(**fields).check()


@pytest.mark.parametrize("name", [name for name in FIELDS if name != "labels"])
def test_wrong_shapes_are_found_at_once(name):
    counts = counts_of([[1, 1]], ["a"])
    array = getattr(counts, name)
    for wrong in (array.astype(np.float32), array.reshape(-1, 1), np.concatenate([array, array])):
        fields = {field: getattr(counts, field) for field in FIELDS} | {name: wrong}
        if name == "indptr" and wrong.ndim == 1 and wrong.dtype == array.dtype:
            continue  # any length is a number of words
        with pytest.raises(ValueError, match=r"must be|belong"):
            ClassCounts(**fields).check_shapes()


def test_order_of_merging_does_not_matter():
    rng = np.random.default_rng(2)
    parts = [counts_of(rng.random((3, 4)), rng.choice(["x", "yy", "zzz"], 3)) for _ in range(3)]
    results = [a.merge(b).merge(c) for a, b, c in itertools.permutations(parts)]
    for other in results[1:]:
        assert_same(results[0], other)
