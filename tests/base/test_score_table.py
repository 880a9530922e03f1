"""Scores by a table of words and classes: the same sums in single and double precision, for any number of classes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from genus import _core
from reference.matrices import random_rows

pytestmark = pytest.mark.kernel

N_WORDS = 60


def random_table(n_classes, full, dtype, rng):
    """All rows full, or some: others have gaps, or nothing."""
    share = np.ones(N_WORDS) if full else rng.choice([0.0, 0.3, 1.0], N_WORDS)
    filled = rng.random((N_WORDS, n_classes)) < share[:, np.newaxis]
    table = np.where(filled, rng.standard_normal((N_WORDS, n_classes)) + 4, 0.0).astype(dtype)
    rows = sparse.csr_array(table)
    return table.astype(float), (rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data)


def random_documents(n_entries, dtype, rng):
    """Words that may come again, one that no table knows, and an empty document."""
    words = rng.integers(0, N_WORDS + 1, (4, n_entries)).astype(np.int32)
    indptr = np.array([0, *np.arange(1, 5) * n_entries, 4 * n_entries], dtype=np.int64)
    counts = rng.integers(1, 4, words.size).astype(dtype)
    dense = np.zeros((5, N_WORDS + 1))
    np.add.at(dense, (np.repeat(np.arange(4), n_entries), words.ravel()), counts)
    return dense[:, :N_WORDS], (indptr, words.ravel(), counts)


@given(
    n_classes=st.integers(1, 40) | st.sampled_from([64, 95, 96, 97, 163, 200, 300]),
    n_entries=st.sampled_from([0, 1, 2, 7, 8, 9, 127, 128, 129, 300]),
    full=st.booleans(),
    single=st.booleans(),
    counted_in=st.sampled_from(["float32", "float64", "int64"]),
    seed=st.integers(0, 2**32 - 1),
)
@settings(deadline=None, max_examples=200)
def test_scores_are_sums_over_words(n_classes, n_entries, full, single, counted_in, seed):
    rng = np.random.default_rng(seed)
    table, arrays = random_table(n_classes, full, np.float32 if single else np.float64, rng)
    documents, rows = random_documents(n_entries, counted_in, rng)
    bias, log_uniform = rng.standard_normal((2, n_classes))
    expected = bias + documents.sum(axis=1, keepdims=True) * log_uniform + documents @ table
    found = np.empty_like(expected)
    _core.score(*arrays, *rows, bias, log_uniform, found, 1)
    sizes = 1 + documents.sum(axis=1, keepdims=True) * np.abs(log_uniform) + documents @ np.abs(table)
    assert (np.abs(found - expected) <= (1e-6 if single else 1e-14) * sizes).all()
    best = _core.best_classes(*arrays, *rows, bias, log_uniform, 1)
    np.testing.assert_array_equal(best, found.argmax(axis=1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_are_the_same_for_any_number_of_threads(dtype):
    rng = np.random.default_rng(0)
    _, arrays = random_table(163, False, dtype, rng)
    words = random_rows((3000, N_WORDS), 0.4, rng)
    rows = words.indptr.astype(np.int64), words.indices.astype(np.int32), words.data
    bias, log_uniform = rng.standard_normal((2, 163))
    found = [np.empty((3000, 163)) for _ in range(3)]
    for n_threads, out in zip((1, 2, 7), found, strict=True):
        _core.score(*arrays, *rows, bias, log_uniform, out, n_threads)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_long_documents_lose_no_more_digits_than_short_ones():
    """A sum of 100,000 numbers in single precision would be off by a thousandth."""
    n = 100_000
    table = np.array([0, 8], np.int64), np.arange(8, dtype=np.int32), np.full(8, 0.1, np.float32)
    rows = np.array([0, n], np.int64), np.zeros(n, np.int32), np.ones(n, np.float32)
    found = np.empty((1, 8))
    _core.score(*table, *rows, np.zeros(8), np.zeros(8), found, 1)
    np.testing.assert_allclose(found, n * np.float64(np.float32(0.1)), rtol=2e-6)


@pytest.mark.parametrize("n_threads", [1, 2, 7])
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (500, 17), (3, 40_000)])
def test_rows_are_scaled_and_added(shape, n_threads):
    rng = np.random.default_rng(0)
    scores, factors, total = rng.standard_normal(shape), rng.random(shape[0]), rng.standard_normal(shape)
    expected = total + factors[:, np.newaxis] * scores
    _core.add_scaled_rows(scores, factors, total, n_threads)
    np.testing.assert_allclose(total, expected, rtol=1e-15, atol=1e-15)
    with pytest.raises(ValueError, match="one factor for each row"):
        _core.add_scaled_rows(scores, np.ones(shape[0] + 1), total, n_threads)
