"""Scores stacked to log odds of labels against the written-out objective."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from genus.auto.label_stacking import fit_stack, log_loss
from genus.base.tuning import TUNED
from reference.label_pool import stack_cost, stack_odds


def drawn(n=60, n_labels=5, n_sources=2, seed=0):
    rng = np.random.default_rng(seed)
    log_prior = np.linspace(-3.0, -0.5, n_labels)
    sources = [rng.normal(size=(n, n_labels)).astype(np.float32) for _ in range(n_sources)]
    weights = np.array([[-1.0, 1.0, 0.0], [2.0, -0.8, 0.1], [0.5, 0.0, 0.0]])[: 1 + n_sources]
    truth = rng.random((n, n_labels)) < expit(stack_odds(weights, sources, log_prior))
    return sources, truth, log_prior, rng.random((n, n_labels)) < 0.9


@pytest.mark.parametrize("n_sources", [1, 2])
def test_the_weights_are_the_likeliest(n_sources):
    sources, truth, log_prior, learnable = drawn(n_sources=n_sources)
    shape = (1 + n_sources, 3)
    best = minimize(
        lambda w: stack_cost(w.reshape(shape), sources, truth, learnable, log_prior, TUNED.stack_ridge),
        np.zeros(shape).ravel(),
        tol=1e-9,
    )
    stack = fit_stack(sources, truth, learnable, log_prior)
    odds = stack.log_odds(sources) - stack.own
    np.testing.assert_allclose(odds, stack_odds(best.x.reshape(shape), sources, log_prior), atol=2e-3)


def test_each_labels_own_part_is_where_its_slope_is_none():
    sources, truth, log_prior, learnable = drawn(n=300)
    truth[:, 2] |= np.arange(300) % 3 == 0  # far more often than its scores say
    stack = fit_stack(sources, truth, learnable, log_prior)
    excess = np.where(learnable, truth - expit(stack.log_odds(sources)), 0).sum(axis=0)
    np.testing.assert_allclose(excess, TUNED.label_ridge * stack.own, atol=1e-6)
    assert stack.own.argmax() == 2


def test_cells_that_nothing_could_be_learned_of_do_not_count():
    sources, truth, log_prior, learnable = drawn()
    stack = fit_stack(sources, truth, learnable, log_prior)
    other = fit_stack(sources, np.where(learnable, truth, ~truth), learnable, log_prior)
    np.testing.assert_array_equal(stack.slopes, other.slopes)
    np.testing.assert_array_equal(stack.own, other.own)
    odds = stack.log_odds(sources)
    assert log_loss(odds, truth, learnable) == log_loss(odds, np.where(learnable, truth, ~truth), learnable)
    assert log_loss(odds, truth, np.zeros_like(learnable)) == 0


def test_a_small_rise_of_a_rare_labels_margin_says_as_much_as_a_large_one_of_a_frequent():
    rng = np.random.default_rng(4)
    shares = np.array([0.4, 0.2, 0.02, 0.01])
    truth = rng.random((3000, 4)) < shares
    heights = np.array([1.0, 0.8, 0.2, 0.15])  # of the margins of documents that have the label
    scores = heights * (truth + 0.5 * rng.normal(size=truth.shape))
    slopes = fit_stack([scores], truth, np.ones_like(truth), np.log(shares / (1 - shares))).slopes[1]
    assert (np.diff(slopes) > 0).all()
    np.testing.assert_allclose(slopes[2:] * heights[2:], slopes[:2] * heights[:2], rtol=0.5)


def test_scores_that_tell_everything_leave_the_weights_finite():
    truth = np.eye(4, dtype=bool)[np.arange(40) % 4]
    scores = np.where(truth, 1.0, -1.0)
    stack = fit_stack([scores], truth, np.ones_like(truth), np.full(4, -1.1))
    assert np.isfinite(stack.slopes).all()
    assert ((stack.log_odds([scores]) > 0) == truth).all()


def test_where_nothing_can_be_learned_the_sources_are_added_to_the_prior():
    sources, truth, log_prior, _ = drawn()
    odds = fit_stack(sources, truth, np.zeros_like(truth), log_prior).log_odds(sources)
    np.testing.assert_allclose(odds, log_prior + (sources[0] + sources[1]) / 2, atol=1e-6)
