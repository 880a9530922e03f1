"""What neighbours say of labels against the written-out definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from genus.auto.label_cross_validation import LabelCrossValidation
from genus.base.label_sets import read_target
from genus.base.rows import SparseRows
from genus.base.tuning import TUNED
from genus.pipeline.label_neighbors import LabelNeighbors
from reference.label_pool import log_ratios

pytestmark = pytest.mark.kernel


def as_rows(X):
    matrix = sparse.csr_array(X)
    return SparseRows(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data, X.shape[1])


def drawn(n, n_words=12, n_labels=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.4, (n, n_words)) * rng.random((n, n_words))
    return X, (rng.random((n, n_labels)) < 0.4).astype(int), rng.integers(0, 3, n) + 0.5


def learned(X, Y, weights):
    return LabelNeighbors.from_documents(as_rows(X), read_target(Y).rows, weights, Y.shape[1])


@given(st.integers(1, 90), st.integers(0, 10**6))
@settings(deadline=None, max_examples=40)
def test_log_ratios_are_as_defined(n, seed):
    X, Y, weights = drawn(n, seed=seed)
    queries, *_ = drawn(7, seed=seed + 1)
    tuned = TUNED.n_neighbors, TUNED.neighbor_sharpness, TUNED.neighbor_floor
    expected = [log_ratios(X, Y, weights, query, *tuned) for query in queries]
    np.testing.assert_allclose(learned(X, Y, weights).log_ratios(as_rows(queries), 2), expected, atol=1e-8)


def test_a_text_without_known_words_hears_nothing():
    X, Y, weights = drawn(50)
    X[:, 0] = 0
    stranger = np.zeros((2, 12))
    stranger[1, 0] = 3.0
    np.testing.assert_array_equal(learned(X, Y, weights).log_ratios(as_rows(stranger), 1), 0)


def test_documents_without_weight_do_not_vote():
    X, Y, weights = drawn(30)
    weights[:20] = 0
    found = learned(X, Y, weights).log_ratios(as_rows(X), 1)
    np.testing.assert_allclose(found, learned(X[20:], Y[20:], weights[20:]).log_ratios(as_rows(X), 1))


@pytest.mark.parametrize(
    "change",
    [
        {"values": np.ones(3)},
        {"words": np.full(5, 99)},
        {"weights": np.ones(3)},
        {"set_members": np.array([7], dtype=np.int32)},
        {"values": np.full(2, np.nan)},
    ],
)
def test_a_damaged_state_is_refused(change):
    near = learned(np.eye(2), np.eye(2, dtype=int), np.ones(2))
    again = LabelNeighbors.from_state(near.to_state(), 2, 2)
    np.testing.assert_array_equal(again.log_ratios(as_rows(np.eye(2)), 1), near.log_ratios(as_rows(np.eye(2)), 1))
    with pytest.raises(ValueError, match=r"."):
        LabelNeighbors.from_state(near.to_state() | change, 2, 2)


def test_documents_are_judged_without_those_of_their_group():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.random((40, 30)) < 0.2, 2, axis=0).astype(float)  # each document twice
    Y = np.repeat(rng.integers(0, 2, (40, 2)), 2, axis=0)
    rows, groups = as_rows(X), np.repeat(np.arange(40), 2)
    sets = read_target(Y).rows
    told = []
    for given_groups in (None, groups):
        validation = LabelCrossValidation.from_sets(sets, np.ones(80), 2, given_groups, 0, None)
        told.append(np.mean((validation.neighbors(rows, rows) > 0) == validation.truth))
    assert told[0] > 0.8  # most twins are in another fold
    assert told[1] < 0.7  # nothing but chance
