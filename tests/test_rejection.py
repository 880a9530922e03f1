"""None of these: texts unlike all classes are told from those that belong."""

import numpy as np
import pytest

from genus.rejection import Rejection, lead


def belonging(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, 5))
    scores[np.arange(n), rng.integers(0, 5, n)] += 4
    return scores, rng.uniform(0.7, 1, n)


def test_as_many_that_belong_are_refused_as_was_said():
    rejection = Rejection.fit(*belonging())
    refused = rejection.typicality(*belonging(seed=1)) < 0.05
    assert refused.mean() == pytest.approx(0.05, abs=0.02)


def test_strangers_are_refused():
    rejection = Rejection.fit(*belonging())
    scores, shares = np.random.default_rng(2).normal(size=(500, 5)), np.full(500, 0.3)
    assert (rejection.typicality(scores, shares) < 0.05).mean() > 0.9


def test_typicality_does_not_depend_on_the_scale_of_scores():
    scores, shares = belonging()
    other = belonging(seed=3)
    typical = Rejection.fit(scores, shares).typicality(*other)
    scaled = Rejection.fit(10 * scores + 3, shares).typicality(10 * other[0] + 3, other[1])
    np.testing.assert_allclose(typical, scaled, atol=2e-3)


def test_a_text_without_known_words_is_the_least_typical():
    assert Rejection.fit(*belonging()).typicality(np.array([[9.0, 0.0]]), [0.0]) == [0.0]


def test_impossible_classes_have_no_part_in_the_lead():
    assert lead(np.array([[3.0, 1.0, -np.inf]])) == [1.0]


def test_wrong_state_is_refused():
    with pytest.raises(ValueError, match="familiarities"):
        Rejection.from_state({"usual_lead": 1.0, "quantiles": np.zeros(3, dtype=np.int64)})
