"""Temperatures and pool weights against drawn truth and a general optimiser."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.calibration import calibration_curve
from sklearn.metrics import log_loss

from genus.calibration import Temperature, expected_calibration_error, pool_weights, reliability_curve


def drawn(n=4000, n_classes=4, u=0.5, v=-0.8, seed=0):
    """Scores, and classes drawn as often as the scores say at a temperature that depends on the length."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 500, n)
    scores = rng.normal(size=(n, n_classes)) * lengths[:, np.newaxis] ** 0.8
    p = np.exp(Temperature(u, v).log_proba(scores, lengths))
    codes = (p.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    return scores, codes, lengths


def test_a_temperature_is_found_again():
    found = Temperature.fit(*drawn())
    assert found.length_power == pytest.approx(-0.8, abs=0.06)
    assert found.log_scale == pytest.approx(0.5, abs=0.3)


def test_calibrated_probabilities_are_met():
    scores, codes, lengths = drawn(seed=1)
    raw = np.exp(Temperature().log_proba(scores, lengths))
    better = np.exp(Temperature.fit(*drawn(seed=2)).log_proba(scores, lengths))
    errors = [expected_calibration_error(p.max(axis=1), p.argmax(axis=1) == codes) for p in (raw, better)]
    assert errors[0] > 0.2
    assert errors[1] < 0.03
    assert log_loss(codes, better) < log_loss(codes, raw)


@given(st.integers(0, 1000), st.integers(20, 60), st.integers(2, 5))
@settings(deadline=None, max_examples=40)
def test_no_other_temperature_is_likelier(seed, n, n_classes):
    rng = np.random.default_rng(seed)
    scores, codes, lengths = rng.normal(size=(n, n_classes)) * 3, rng.integers(0, n_classes, n), rng.integers(0, 90, n)

    def loss(parameters):  # the definition, with one document more of any class
        log_p = Temperature(*parameters).log_proba(scores, lengths)
        doubt = 1 / (1 + n)
        middle = np.log1p(lengths).mean()  # parameters stay near those that leave documents of usual length alone
        caution = 2 * ((parameters[0] + parameters[1] * middle) ** 2 + parameters[1] ** 2) / n
        return caution - np.mean((1 - doubt) * log_p[np.arange(n), codes] + doubt * log_p.mean(axis=1))

    found = Temperature.fit(scores, codes, lengths)
    grid = [(u, v) for u in np.linspace(-6, 3, 19) for v in np.linspace(-1, 1, 9)]
    assert loss((found.log_scale, found.length_power)) <= min(map(loss, grid)) + 1e-5


def test_perfect_scores_stay_finite():
    scores = np.array([[5.0, 0.0], [0.0, 5.0]] * 10)
    found = Temperature.fit(scores, np.array([0, 1] * 10), np.full(20, 7))
    p = np.exp(found.log_proba(scores, np.full(20, 7)))
    assert 0.9 < p.max() < 1


def test_impossible_classes_do_not_disturb():
    scores = np.array([[1.0, 0.0, -np.inf], [0.0, 1.0, -np.inf], [-np.inf, 0.0, 1.0]])
    found = Temperature.fit(scores, np.array([0, 1, 0]), np.ones(3))
    log_p = found.log_proba(scores, np.ones(3))
    np.testing.assert_allclose(np.exp(log_p).sum(axis=1), 1)
    assert log_p[0, 2] == -np.inf


def test_pool_weights_are_the_likeliest():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 3, 800)
    truth = np.eye(3)[codes]
    scores = [truth * a + rng.normal(size=(800, 3)) for a in (1.0, 2.0, 0.0)]

    def loss(weights):
        z = sum(w * s for w, s in zip(weights, scores, strict=True))
        caution = 2 * ((weights - 1 / 3) ** 2).sum() / 800  # few documents would leave the weights equal
        return caution - np.mean(z[np.arange(800), codes] - np.logaddexp.reduce(z, axis=1))

    found = pool_weights(scores, codes)
    best = minimize(loss, np.ones(3), bounds=[(0, 10)] * 3)
    assert loss(found) == pytest.approx(best.fun, abs=1e-3)
    assert found[2] < 0.1 < found[0] < found[1]


def test_error_and_curve_agree_with_scikit_learn():
    rng = np.random.default_rng(4)
    p = rng.random(500)
    right = rng.random(500) < p**2
    sure, hit, n = reliability_curve(p, right, n_bins=10)
    expected_hit, expected_sure = calibration_curve(right, p, n_bins=10)
    np.testing.assert_allclose(hit, expected_hit)
    np.testing.assert_allclose(sure, expected_sure)
    assert expected_calibration_error(p, right, n_bins=10) == pytest.approx((n * np.abs(sure - hit)).sum() / 500)
    assert expected_calibration_error([], []) == 0
