import numpy as np
import pytest

from genus.base.smoothing import JelinekMercer, Lidstone, interpolate, log_uniform

COUNTS = np.array([[3.0, 0.0, 1.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.0]])
TOTALS = COUNTS.sum(axis=1)


def test_lidstone_is_interpolation_with_the_uniform_distribution():
    b = Lidstone(0.5).uniform_weight(TOTALS, 3)[:, np.newaxis]
    estimate = COUNTS / np.maximum(TOTALS, 1e-300)[:, np.newaxis]
    added = (COUNTS + 0.5) / (TOTALS[:, np.newaxis] + 1.5)
    np.testing.assert_allclose(interpolate([estimate], [1 - b, b], 3), added, rtol=1e-15)


@pytest.mark.parametrize("smoothing", [Lidstone(0.3), JelinekMercer(0.2), JelinekMercer(1.0)])
def test_probabilities_sum_to_one_and_match_the_ratio_form(smoothing):
    b = smoothing.uniform_weight(TOTALS, 3)[:, np.newaxis]
    p = interpolate([COUNTS / np.where(TOTALS > 0, TOTALS, 1)[:, np.newaxis]], [1 - b, b], 3)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-15)
    ratio = smoothing.ratio(TOTALS, 3)[:, np.newaxis]
    by_ratio = log_uniform(smoothing, TOTALS, 3)[:, np.newaxis] + np.log1p(ratio * COUNTS)
    np.testing.assert_allclose(by_ratio, np.log(p), rtol=1e-13)


def test_a_node_that_has_seen_nothing_is_uniform():
    for smoothing in (Lidstone(0.1), JelinekMercer(0.1)):
        assert log_uniform(smoothing, np.zeros(1), 4) == pytest.approx(np.log(0.25))


def test_a_path_of_any_depth_is_mixed():
    leaf, group, root = np.array([1.0, 0, 0, 0]), np.array([0.5, 0.5, 0, 0]), np.array([0.2, 0.3, 0.5, 0])
    mixed = interpolate([leaf, group, root], [np.array(w) for w in (0.4, 0.3, 0.2, 0.1)], 4)
    np.testing.assert_allclose(mixed, [0.4 + 0.15 + 0.04 + 0.025, 0.15 + 0.06 + 0.025, 0.125, 0.025])


def test_each_node_needs_its_weight():
    with pytest.raises(ValueError):
        interpolate([np.ones(2)], [np.array(0.5), np.array(0.3), np.array(0.2)], 2)
