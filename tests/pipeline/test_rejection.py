"""None of these: texts unlike all classes are told from those that belong."""

import numpy as np
import pytest

from genus.pipeline.rejection import Rejection, parts_of


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


def test_what_all_classes_have_alike_tells_nothing():
    scores, shares = belonging()
    other = belonging(seed=3)
    typical = Rejection.fit(scores, shares).typicality(*other)
    moved = Rejection.fit(scores + 3, shares).typicality(other[0] + 3, other[1])
    np.testing.assert_allclose(typical, moved, atol=2e-3)


@pytest.mark.parametrize("part", range(3))
def test_less_of_anything_is_never_more_typical(part):
    scores, shares = belonging()
    rejection = Rejection.fit(scores, shares)
    more = np.stack([np.array([4.0, 0.0, 0.0, 0.0, 0.0])] * 2), np.array([0.9, 0.9])
    less = more[0].copy(), more[1].copy()
    if part == 2:
        less[1][:] = 0.7
    else:
        less[0][:, 0] -= 1 + part  # leads less, and is less certain
    assert (rejection.typicality(*less) < rejection.typicality(*more)).all()


def test_a_text_without_known_words_is_the_least_typical():
    assert Rejection.fit(*belonging()).typicality(np.array([[9.0, 0.0, 0.0, 0.0, 0.0]]), [0.0]) == [0.0]


def test_impossible_classes_have_no_part_in_the_lead():
    lead, certainty, known = parts_of(np.array([[3.0, 1.0, -np.inf]]), np.array([0.5]))
    p = 1 / (1 + np.exp(-2.0))
    assert lead == [1.0]
    assert certainty == pytest.approx([p * np.log(p) + (1 - p) * np.log(1 - p)])
    assert known == [0.5]


def test_wrong_state_is_refused():
    with pytest.raises(ValueError, match="quantiles"):
        Rejection.from_state({"parts": np.zeros((3, 2)), "familiarities": np.zeros(3, dtype=np.int64)})
    with pytest.raises(ValueError, match="three parts"):
        Rejection.from_state({"parts": np.zeros((2, 2)), "familiarities": np.zeros(3)})
