"""Linear scores of dense rows: the same bits for any threads, any company and any machine."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from genus import DenseGaussian, _core
from genus.base.moments import GRID_BITS, on_grid
from genus.base.rows import full_rows, slice_rows, to_rows
from genus.models import dense_gaussian
from genus.models.dense_gaussian import GaussianTable
from reference import dense_gaussian as reference

pytestmark = pytest.mark.kernel

LEVELS = _core.simd_levels()
LARGEST = 2.0**20


def random_table(n_classes, n_columns, rng):
    coef, center = rng.standard_normal((n_classes, n_columns)), rng.standard_normal(n_columns) * 0.1
    bias, scaled_prior, log_prior = rng.standard_normal((3, n_classes))
    return GaussianTable(coef, center, bias, scaled_prior, log_prior)


def random_rows(n, n_columns, dtype, rng):
    """Some are zero throughout, some are so small that they are zero on the grid, some have zeros."""
    X = rng.standard_normal((n, n_columns)) * rng.choice([0.0, 2.0**-33, 1.0, 1.0, 3.0, 1000.0], (n, 1))
    return (X * (rng.random((n, n_columns)) < 0.9)).astype(dtype)


def scores_at(level, table, X, n_threads=1):
    """By the kernels of one level."""
    out = np.full((len(X), len(table.bias)), np.nan)
    assert _core.dense_scores(X, table.center, *table._panels, table.scaled_prior, out, n_threads, level)
    return out


def parts(total, rng):
    cuts = np.sort(rng.integers(0, total + 1, 3))
    return list(zip([0, *cuts], [*cuts, total], strict=True))


@given(
    n=st.integers(0, 20) | st.sampled_from([31, 32, 33, 50]),
    n_columns=st.integers(1, 20) | st.sampled_from([63, 64, 65]),
    n_classes=st.integers(1, 20) | st.sampled_from([33, 64]),
    dtype=st.sampled_from([np.float32, np.float64, np.int64]),
    seed=st.integers(0, 2**32 - 1),
)
@settings(deadline=None, max_examples=100)
def test_scores_are_the_references_to_the_bit(n, n_columns, n_classes, dtype, seed):
    rng = np.random.default_rng(seed)
    table, X = random_table(n_classes, n_columns, rng), random_rows(n, n_columns, dtype, rng)
    expected = reference.linear_scores(X, table.center, table.coef, table.bias, table.scaled_prior)
    rows = full_rows(X)
    for n_threads in (1, 2, 7):
        np.testing.assert_array_equal(table.scores(rows, n_threads), expected)
    np.testing.assert_array_equal(table.scores(to_rows(sparse.csr_array(X)), 2), expected)
    split = [table.scores(slice_rows(rows, begin, end), 2) for begin, end in parts(n, rng)]
    np.testing.assert_array_equal(np.concatenate(split), expected)
    for level in LEVELS:
        np.testing.assert_array_equal(scores_at(level, table, X.astype(np.result_type(dtype, np.float32))), expected)


@given(
    n=st.integers(1, 100),
    n_columns=st.sampled_from([1, 127, 128, 256, 300]),
    n_classes=st.integers(1, 50) | st.sampled_from([172, 200]),
    dtype=st.sampled_from([np.float32, np.float64]),
    seed=st.integers(0, 2**32 - 1),
)
@settings(deadline=None, max_examples=100)
def test_levels_threads_and_splits_do_not_change_a_bit(n, n_columns, n_classes, dtype, seed):
    rng = np.random.default_rng(seed)
    table, X = random_table(n_classes, n_columns, rng), random_rows(n, n_columns, dtype, rng)
    x = np.rint(X * 2.0**GRID_BITS) * 2.0**-GRID_BITS
    textbook = (x - table.center) @ table.coef.T + table.bias
    textbook[~x.any(axis=1)] = table.scaled_prior
    sizes = 1 + np.abs(x - table.center) @ np.abs(table.coef.T)
    first = scores_at(LEVELS[0], table, X)
    assert (np.abs(first - textbook) <= 1e-12 * sizes).all()
    alone = np.concatenate([scores_at(LEVELS[-1], table, X[i : i + 1]) for i in range(n)])
    np.testing.assert_array_equal(alone, first)
    for level in LEVELS:
        for n_threads in (1, 2, 7):
            np.testing.assert_array_equal(scores_at(level, table, X, n_threads), first)
        split = [scores_at(level, table, X[begin:end]) for begin, end in parts(n, rng)]
        np.testing.assert_array_equal(np.concatenate(split), first)


@given(st.lists(st.integers(-(2**51), 2**51), min_size=1, max_size=12), st.sampled_from(LEVELS))
@settings(deadline=None)
def test_rows_are_rounded_as_they_were_learned(halves, level):
    """Also where they lie in the middle between two points of the grid."""
    X = np.array([halves]) * 2.0 ** -(GRID_BITS + 1)
    identity = np.eye(X.shape[1])
    nothing = np.zeros(X.shape[1])
    table = GaussianTable(identity, nothing, nothing, nothing, nothing)
    np.testing.assert_array_equal(scores_at(level, table, X), on_grid(full_rows(X), X.shape[1]) * 2.0**-GRID_BITS)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 2 * LARGEST, -1.001 * LARGEST])
def test_one_number_out_of_range_is_found_anywhere(value, dtype, level):
    rng = np.random.default_rng(0)
    table, out = random_table(3, 11, rng), np.empty((40, 3))
    given_arrays = table.center, *table._panels, table.scaled_prior, out
    for i, j in [(0, 0), (0, 7), (17, 8), (39, 10)]:
        X = np.full((40, 11), LARGEST, dtype)
        X[:, ::2] *= -1
        assert _core.dense_scores(X, *given_arrays, 2, level)
        X[i, j] = value
        assert not _core.dense_scores(X, *given_arrays, 2, level)


def test_arrays_that_do_not_belong_together_are_refused():
    table, X, out = random_table(9, 4, np.random.default_rng(0)), np.ones((3, 4)), np.empty((3, 9))
    panels, bias = table._panels
    fitting = [X, table.center, panels, bias, table.scaled_prior, out, 1]
    assert _core.dense_scores(*fitting)
    too_small = [X[:, :3].copy(), table.center[:3], panels[:1], bias[:8], table.scaled_prior[:8], out[:2]]
    for i, wrong in enumerate(too_small):
        with pytest.raises(ValueError, match="dense scores"):
            _core.dense_scores(*fitting[:i], wrong, *fitting[i + 1 :])


# The model


def sample(n=700, d=33, n_classes=9):
    rng = np.random.default_rng(0)
    y = np.arange(n) % n_classes
    X = (rng.normal(size=(n, d)) + rng.normal(size=(n_classes, d))[y]).astype(np.float32)
    X[::50] = 0
    return X, y


def test_answers_do_not_depend_on_threads_or_company(monkeypatch):
    X, y = sample()
    clf = DenseGaussian(n_jobs=1).fit(X, y)
    expected = clf.predict_joint_log_proba(X)
    for n_jobs in (2, 7):
        np.testing.assert_array_equal(clf.set_params(n_jobs=n_jobs).predict_joint_log_proba(X), expected)
    alone = [clf.predict_joint_log_proba(X[i : i + 1]) for i in range(0, 700, 7)]
    np.testing.assert_array_equal(np.concatenate(alone), expected[::7])
    monkeypatch.setattr(dense_gaussian, "_BLOCK", 100)
    np.testing.assert_array_equal(clf.predict_joint_log_proba(X), expected)
    np.testing.assert_array_equal(clf.predict_joint_log_proba(sparse.csr_array(X)), expected)


def test_a_pool_is_given_the_same_scores():
    X, y = sample()
    clf = DenseGaussian().fit(X, y)
    rows, total, distances = full_rows(X), np.ones((len(X), 9)), np.zeros(len(X))
    factors = np.random.default_rng(1).random(len(X))
    clf._add_scores(rows, factors, total, distances)
    np.testing.assert_array_equal(total, 1 + factors[:, np.newaxis] * clf.predict_joint_log_proba(X))
    assert not distances.any()


def test_threads_change_no_fit():
    X, y = sample()
    one = DenseGaussian(n_jobs=1).fit(X, y)
    for n_jobs in (2, 7):
        many = DenseGaussian(n_jobs=n_jobs).fit(X, y)
        for name in ("coef_", "center_", "intercept_"):
            np.testing.assert_array_equal(getattr(many, name), getattr(one, name))
        np.testing.assert_array_equal(many.leave_one_out_log_proba(X, y), one.leave_one_out_log_proba(X, y))
