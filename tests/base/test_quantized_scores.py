"""Quantized scores first: the best classes are those of the exact scores, whatever the table holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from genus import _core
from reference.matrices import random_rows

N_WORDS = 300


def random_tree(n_classes: int, rng: np.random.Generator) -> Any:
    """Parents of columns: some inner nodes under one another, classes below any of them or none."""
    n_inner = int(rng.integers(1, 8))
    inner = [n_classes + int(rng.integers(0, i)) if i and rng.random() < 0.8 else -1 for i in range(n_inner)]
    classes = np.where(rng.random(n_classes) < 0.9, n_classes + rng.integers(0, n_inner, n_classes), -1)
    return np.concatenate((classes, inner)).astype(np.int32)


def random_table(n_columns: int, spread: float, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Words in all columns, in some and in none. Those of one word differ by the spread; many are next to nothing."""
    share = rng.choice([0.0, 0.02, 0.1, 0.5, 1.0], N_WORDS)
    filled = rng.random((N_WORDS, n_columns)) < share[:, np.newaxis]
    values = rng.exponential(2.0, (N_WORDS, 1)) + spread * rng.standard_normal((N_WORDS, n_columns))
    values *= np.where(rng.random((N_WORDS, n_columns)) < 0.2, 1e-4, 1.0)
    table = sparse.csr_array(np.where(filled, values, 0.0))
    return table.indptr.astype(np.int64), table.indices.astype(np.int32), table.data


def random_documents(whole: bool, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Also words that the table does not know, and a document of none."""
    words = random_rows((60, N_WORDS + 5), 0.1, rng)
    words.data = rng.integers(1, 6, words.nnz).astype(float) if whole else rng.exponential(1.0, words.nnz)
    rows = sparse.vstack([words, sparse.csr_array((1, N_WORDS + 5))]).tocsr()
    return rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data


def full_table(n_classes: int, spread: float, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Every word in all classes, with much that these have alike."""
    values = rng.exponential(20.0, (N_WORDS, 1)) + spread * rng.standard_normal((N_WORDS, n_classes))
    table = sparse.csr_array(values)
    return table.indptr.astype(np.int64), table.indices.astype(np.int32), table.data


def one_word_each() -> tuple[Any, Any, Any]:
    """Documents whose roundings do not cancel out."""
    return np.arange(N_WORDS + 1), np.arange(N_WORDS, dtype=np.int32), np.full(N_WORDS, 1.1)


@given(
    n_classes=st.sampled_from([1, 2, 9, 33, 64, 150, 200, 300]),
    spread=st.sampled_from([1.0, 1e-2, 1e-4, 1e-6, 1e-12, 0.0]),
    in_tree=st.booleans(),
    whole=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
@settings(deadline=None, max_examples=150)
def test_the_best_classes_are_those_of_the_exact_scores(n_classes, spread, in_tree, whole, seed):
    rng = np.random.default_rng(seed)
    parents = random_tree(n_classes, rng) if in_tree else np.empty(0, np.int32)
    n_columns = len(parents) if in_tree else n_classes
    table, documents = random_table(n_columns, spread, rng), random_documents(whole, rng)
    numbers = spread * rng.standard_normal(n_columns) - 3, spread * rng.standard_normal(n_columns) - 8
    if in_tree:
        exact = _core.best_classes_of_paths(*table, *documents, *numbers, parents, n_classes, 1)
    else:
        exact = _core.best_classes(*table, *documents, *numbers, 1)
    quantized = _core.make_quantized(*table, parents, n_classes, 1)
    for n_threads in (1, 3):
        best = _core.best_classes_by_quantized(quantized, *table, *documents, *numbers, parents, n_classes, n_threads)
        np.testing.assert_array_equal(best, exact)


@pytest.mark.parametrize("n_classes", [40, 150])
@pytest.mark.parametrize("spread", [1e-3, 1e-4, 1e-5])
def test_words_that_differ_by_less_than_a_step_are_scored_again(n_classes, spread):
    rng = np.random.default_rng(n_classes)
    values = 5 + spread * rng.random((N_WORDS, n_classes))
    values[0] = np.linspace(-10, 10, n_classes)  # in no document: it makes the steps of all rows large
    filled = sparse.csr_array(values)
    table = filled.indptr.astype(np.int64), filled.indices.astype(np.int32), filled.data
    words = sparse.csr_array(rng.integers(0, 2, (500, N_WORDS)) * (rng.random((500, N_WORDS)) < 0.02) * 1.0)
    kept = words[:, 1:]
    documents = kept.indptr.astype(np.int64), (kept.indices + 1).astype(np.int32), kept.data
    numbers, flat = (np.zeros(n_classes), np.zeros(n_classes)), np.empty(0, np.int32)
    exact = _core.best_classes(*table, *documents, *numbers, 1)
    quantized = _core.make_quantized(*table, flat, n_classes, 1)
    best = _core.best_classes_by_quantized(quantized, *table, *documents, *numbers, flat, n_classes, 1)
    np.testing.assert_array_equal(best, exact)


@pytest.mark.parametrize("seed", range(5))
def test_inner_nodes_lift_classes_from_behind(seed):
    rng = np.random.default_rng(seed)
    n_classes, n_inner = 50, 6
    parents = np.concatenate((n_classes + np.arange(n_classes) % n_inner, np.full(n_inner, -1))).astype(np.int32)
    values = np.zeros((N_WORDS, n_classes + n_inner))
    values[:100, :n_classes] = rng.standard_normal((100, n_classes))  # rows
    for w in range(100, N_WORDS):  # cells
        values[w, rng.integers(0, n_classes)] = rng.exponential()
        values[w, n_classes + rng.integers(0, n_inner)] = 2 * rng.standard_normal()
    filled = sparse.csr_array(values)
    table = filled.indptr.astype(np.int64), filled.indices.astype(np.int32), filled.data
    documents, numbers = random_documents(True, rng), (np.zeros(len(parents)), np.zeros(len(parents)))
    quantized = _core.make_quantized(*table, parents, n_classes, 1)
    best = _core.best_classes_by_quantized(quantized, *table, *documents, *numbers, parents, n_classes, 1)
    exact = _core.best_classes_of_paths(*table, *documents, *numbers, parents, n_classes, 1)
    assert best.tolist() == exact.tolist()


def test_what_is_left_out_may_decide():
    """A node adds next to nothing to the class below it, and just enough."""
    n_classes, node = 100, 100
    parents = np.full(n_classes + 1, -1, np.int32)
    parents[1] = node
    sizes, columns = np.array([0, n_classes, n_classes + 3]), np.arange(n_classes + 3, dtype=np.int32)
    columns[n_classes:] = 0, 1, node
    table = sizes, columns, np.append(np.linspace(0, 10, n_classes), [1.0, 1.0 - 3e-4, 4e-4])
    documents = np.array([0, 1]), np.array([1], np.int32), np.array([1.0])
    numbers = np.zeros(n_classes + 1), np.zeros(n_classes + 1)
    quantized = _core.make_quantized(*table, parents, n_classes, 1)
    best = _core.best_classes_by_quantized(quantized, *table, *documents, *numbers, parents, n_classes, 1)
    assert best.tolist() == _core.best_classes_of_paths(*table, *documents, *numbers, parents, n_classes, 1).tolist()
    assert best.tolist() == [1]


@pytest.mark.parametrize("width", [16 * n for n in (1, 2, 3, 5, 11, 16, 17, 29, 40)])
@pytest.mark.parametrize("n_terms", [0, 1, 2, 7])
def test_every_kernel_adds_up_rows(width, n_terms):
    rng = np.random.default_rng(width)
    steps = rng.integers(-(2**15), 2**15, (9, width)).astype(np.int16)
    rows, x = rng.integers(0, 9, n_terms).astype(np.int32), rng.integers(-8, 9, n_terms).astype(np.float32)
    for level in _core.simd_levels():
        sums = _core.quantized_sums(rows, x, steps.ravel(), width, level)
        np.testing.assert_array_equal(sums, x @ steps[rows].astype(np.float32))  # whole numbers below 2^24: exact


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300, -1e300])
def test_a_table_of_wild_numbers_does_no_harm(value):
    rng = np.random.default_rng(0)
    (indptr, classes, values), documents = random_table(100, 1.0, rng), random_documents(True, rng)
    values[:: len(values) // 50] = value
    numbers = np.zeros(100), np.zeros(100)
    quantized = _core.make_quantized(indptr, classes, values, np.empty(0, np.int32), 100, 1)
    best = _core.best_classes_by_quantized(
        quantized, indptr, classes, values, *documents, *numbers, np.empty(0, np.int32), 100, 1
    )  # fmt: skip
    assert ((best >= 0) & (best < 100)).all()


@given(
    n_classes=st.sampled_from([1, 3, 9, 33, 64, 150, 300]),
    spread=st.sampled_from([1.0, 1e-2, 1e-4, 1e-6]),
    single=st.booleans(),
    full=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
@settings(deadline=None, max_examples=100)
def test_differences_of_quantized_scores_are_off_by_no_more_than_they_say(n_classes, spread, single, full, seed):
    rng = np.random.default_rng(seed)
    indptr, classes, values = full_table(n_classes, spread, rng) if full else random_table(n_classes, spread, rng)
    table = indptr, classes, values.astype(np.float32) if single else values
    documents = one_word_each() if full else random_documents(False, rng)
    numbers = spread * rng.standard_normal(n_classes) - 3, spread * rng.standard_normal(n_classes) - 8
    quantized = _core.make_quantized(*table, np.empty(0, np.int32), n_classes, 1)
    n_documents = len(documents[0]) - 1
    factors, before = rng.standard_normal(n_documents), rng.standard_normal((n_documents, n_classes))
    exact = np.empty_like(before)
    _core.score(*table, *documents, *numbers, exact, 1)
    exact = before + factors[:, np.newaxis] * exact
    for n_threads in (1, 3):
        total, distances = before.copy(), np.zeros(n_documents)
        _core.add_quantized_scores(quantized, *table, *documents, *numbers, factors, total, distances, n_threads)
        off = total - exact
        assert (np.ptp(off, axis=1) <= distances + 1e-13 * np.abs(exact).max(axis=1)).all()
    if spread == 1.0 and n_classes > 1 and not full:
        assert np.median(distances / np.ptp(exact, axis=1)) < 0.05  # and they say little


def test_a_best_class_is_clear_where_no_other_is_as_near_as_the_distance():
    scores = np.array([[1.0, 3.0, 2.0], [1.0, 3.0, 2.5], [3.0, 3.0, 0.0], [3.0, 3.0, 0.0], [-np.inf] * 3, [np.nan] * 3])
    distances = np.array([0.9, 0.5, 0.0, 1e-9, 1.0, 1.0])
    assert _core.best_or_ambiguous(scores, distances, 2).tolist() == [1, -1, 0, -1, -1, -1]


@pytest.mark.parametrize("n_classes", [3, 40, 200])
def test_a_table_that_does_not_fit_the_documents_is_refused(n_classes):
    rng = np.random.default_rng(0)
    table, documents = random_table(n_classes, 1.0, rng), random_documents(True, rng)
    quantized = _core.make_quantized(*table, np.empty(0, np.int32), n_classes, 1)
    n = len(documents[0]) - 1
    given = quantized, *table, *documents, np.zeros(n_classes), np.zeros(n_classes)
    for factors, total in ((np.ones(n), np.zeros((n, 2))), (np.ones(n - 1), np.zeros((n, n_classes)))):
        with pytest.raises(ValueError, match="belong together"):
            _core.add_quantized_scores(*given, factors, total, np.zeros(n), 1)
