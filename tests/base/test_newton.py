import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize as scipy_minimize
from scipy.special import expit

from genus.base.newton import Objective, iterate, minimize, offset_step


def logistic_loss(seed):
    """The penalised log loss of a logistic regression of three numbers, as a function of these."""
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(40, 3)), random.random(40) < 0.5

    def loss(w):
        p, penalty = expit(X @ w), 0.1
        value = float(np.logaddexp(0, np.where(y, -1, 1) * (X @ w)).sum() + penalty / 2 * w @ w)
        hessian = (X * (p * (1 - p))[:, np.newaxis]).T @ X + penalty * np.eye(3)
        return Objective(value, X.T @ (p - y) + penalty * w, hessian)

    return loss


@given(seed=st.integers(0, 10**6), high=st.sampled_from([0.05, 0.3, 10.0]))
def test_the_minimum_between_bounds_is_that_of_scipy(seed, high):
    loss = logistic_loss(seed)
    expected = scipy_minimize(
        lambda w: loss(w).value, np.zeros(3), jac=lambda w: loss(w).gradient, bounds=[(-high, high)] * 3,
        method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-10},
    )  # fmt: skip
    found = minimize(loss, np.zeros(3), -high, high)
    assert (np.abs(found) <= high).all()
    assert loss(found).value == pytest.approx(expected.fun, rel=1e-9)


def test_no_step_of_minimize_makes_the_function_larger_even_where_it_is_not_convex():
    asked = []

    def double_well(x):
        asked.append(float((x[0] ** 2 - 1) ** 2))
        return Objective(asked[-1], 4 * x * (x**2 - 1), np.array([[12 * x[0] ** 2 - 4]]))

    assert minimize(double_well, np.array([0.1]), -5, 5) == pytest.approx([1.0], abs=1e-5)
    assert asked[-1] <= min(asked) + 1e-10


def test_steps_are_cut_and_parameters_stay_between_bounds():
    seen = []

    def far(x):
        seen.append(float(x))
        return np.float64(10.0)

    assert iterate(far, np.zeros(()), 5, longest=2.0, bounds=(-1.0, 7.0)) == 7.0
    assert seen == [0.0, 2.0, 4.0, 6.0, 7.0]


def test_iteration_ends_where_steps_are_small():
    taken = []
    iterate(lambda x: taken.append(1) or (3.0 - x) / 2, np.zeros(1), 100, least=1e-3)
    assert len(taken) == 12  # 1.5, 0.75, ... halved until below a thousandth


@given(seed=st.integers(0, 10**6), ridge=st.floats(0.1, 3.0))
def test_offsets_end_where_the_penalised_likelihood_is_flat(seed, ridge):
    random = np.random.default_rng(seed)
    y, odds = random.random((30, 4)) < 0.4, random.normal(size=(30, 4))

    def step(own):
        p = expit(odds + own)
        return offset_step(own, (y - p).sum(axis=0), (p * (1 - p)).sum(axis=0), ridge)

    own = iterate(step, np.zeros(4), 50, longest=2.0)
    np.testing.assert_allclose((y - expit(odds + own)).sum(axis=0), ridge * own, atol=1e-9)
