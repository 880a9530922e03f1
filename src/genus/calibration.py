"""Calibrated probabilities: temperatures that depend on a document's length, and measures of calibration.

    P(c | d) = softmax over c of  exp(u + v * ln(1 + |d|)) * score_c(d)

Naive Bayes counts every word as new evidence, so that its log odds grow with the length |d| of a document while
the evidence does not: v comes out near -0.8 for word counts, near 0 for rows of length one. (u, v) are those that
give the most probability to the classes of documents that the scores were not learned from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from genus.base.arrays import Float64
from genus.base.newton import Objective, minimize
from genus.base.tuning import TUNED


@dataclass(frozen=True)
class Temperature:
    """The factor of a document's scores: exp(log_scale + length_power * ln(1 + length)).

    Examples
    --------
    >>> Temperature(0.0, -1.0).factors(np.array([0.0, 3.0]))
    array([1.  , 0.25])
    """

    log_scale: float = 0.0
    length_power: float = 0.0

    @classmethod
    def fit(cls, scores: ArrayLike, codes: ArrayLike, lengths: ArrayLike) -> Temperature:
        """The likeliest one for the scores of documents that they were not learned from.

        Parameters
        ----------
        scores : array of shape (n_documents, n_classes)
            Unnormalised log probabilities. Classes at -inf are impossible; documents whose own class is, do not count.
        codes : array of shape (n_documents,)
            The column of each document's class.
        lengths : array of shape (n_documents,)
            The documents' numbers of words.
        """
        z, own, length = _prepare(np.asarray(scores), np.asarray(codes), np.asarray(lengths, dtype=np.float64))
        if not len(own):
            return cls()
        middle = float(length.mean())  # centered, so that u and v are nearly uncorrelated
        away = np.stack([np.ones(len(own)), length - middle])

        def loss(parameters: Float64) -> Objective:
            factors = np.exp(parameters @ away)
            value, slope, curvature = _by_factor(factors, z, own)
            by_document = (curvature * factors + slope) * factors
            return Objective(value, away @ (slope * factors), (away * by_document) @ away.T)

        u, v = _likeliest(loss, np.zeros(2), len(own), TUNED.temperature_range).tolist()
        return cls(u - v * middle, v)

    def factors(self, lengths: ArrayLike) -> Float64:
        """What the scores of documents of these lengths are multiplied by."""
        return np.asarray(np.exp(self.log_scale + self.length_power * np.log1p(np.asarray(lengths, dtype=np.float64))))

    def scaled(self, scores: NDArray[np.floating], lengths: ArrayLike) -> Float64:
        """Scores whose softmax are the probabilities."""
        return np.asarray(scores * self.factors(lengths)[:, np.newaxis])

    def log_proba(self, scores: NDArray[np.floating], lengths: ArrayLike) -> Float64:
        """log P(c | d)."""
        scaled = self.scaled(scores, lengths)
        return np.asarray(scaled - np.logaddexp.reduce(scaled, axis=1, keepdims=True))


def margin(scores: NDArray[np.floating]) -> Float64:
    """The score of the best class less the mean over classes; impossible classes are ignored."""
    possible = np.isfinite(scores)
    if possible.all():
        return np.asarray(scores.max(axis=1) - scores.mean(axis=1), dtype=np.float64)
    finite = np.where(possible, scores, np.nan)
    return np.asarray(np.nanmax(finite, axis=1) - np.nanmean(finite, axis=1), dtype=np.float64)


def pool_weights(scores: Sequence[ArrayLike], codes: ArrayLike, start: ArrayLike | None = None) -> Float64:
    """The weights, not negative, under which a sum of several models' scores is likeliest.

    Parameters
    ----------
    scores : sequence of arrays of shape (n_documents, n_classes)
        Calibrated scores of documents that they were not learned from.
    codes : array of shape (n_documents,)
        The column of each document's class.
    start : array of shape (n_models,), default=None
        The weights where documents say nothing, which few of them hardly change. By default they are equal, and add
        up to one.
    """
    initial = np.full(len(scores), 1 / len(scores)) if start is None else np.asarray(start, dtype=np.float64)
    none = np.zeros(len(np.asarray(codes)))
    parts = [_prepare(np.asarray(s), np.asarray(codes), none) for s in scores]
    own = parts[0][1]
    if any(len(part[1]) != len(own) for part in parts) or not len(own):
        return initial  # some model cannot score some documents
    stack = np.stack([z for z, _, _ in parts])
    aims = np.stack([_aim(z, own) for z in stack])

    def loss(weights: Float64) -> Objective:
        p = np.tensordot(weights, stack, axes=1)
        largest = p.max(axis=1, keepdims=True)
        p = np.exp(p - largest)
        total = p.sum(axis=1, keepdims=True)
        p /= total
        value = float(np.mean(np.log(total[:, 0]) + largest[:, 0] - weights @ aims))
        means = (p * stack).sum(axis=2)
        products = np.einsum("knc,jnc->kj", p * stack, stack) / len(own)
        return Objective(value, (means - aims).mean(axis=1), products - means @ means.T / len(own))

    return _likeliest(loss, initial, len(own), TUNED.weight_range)


def expected_calibration_error(probabilities: ArrayLike, right: ArrayLike, n_bins: int = 15) -> float:
    """The mean gap between confidence and accuracy, over bins of equal width.

    Parameters
    ----------
    probabilities : array of shape (n_documents,)
        Of the answers given.
    right : array of shape (n_documents,)
        Whether they were right.

    Examples
    --------
    >>> expected_calibration_error([0.75, 0.75, 0.75, 0.75], [True, True, False, False])
    0.25
    """
    confidence, hits = np.asarray(probabilities, dtype=np.float64), np.asarray(right, dtype=np.float64)
    if not len(confidence):
        return 0.0
    bins = np.minimum((confidence * n_bins).astype(np.int64), n_bins - 1)
    return float(np.abs(np.bincount(bins, weights=confidence - hits, minlength=n_bins)).sum() / len(confidence))


def reliability_curve(probabilities: ArrayLike, right: ArrayLike, n_bins: int = 15) -> tuple[Float64, Float64, Float64]:
    """For each bin that is not empty: mean confidence, accuracy, and number of answers."""
    confidence, hits = np.asarray(probabilities, dtype=np.float64), np.asarray(right, dtype=np.float64)
    bins = np.minimum((confidence * n_bins).astype(np.int64), n_bins - 1)
    n, sure, hit = (np.bincount(bins, weights=w, minlength=n_bins) for w in (hits * 0 + 1.0, confidence, hits))
    filled = n > 0
    return sure[filled] / n[filled], hit[filled] / n[filled], n[filled].astype(np.float64)


def _prepare(
    scores: NDArray[np.floating], codes: NDArray[np.integer], lengths: Float64
) -> tuple[Float64, NDArray[np.integer], Float64]:
    """Enough documents, their scores below 0 and finite, and the logarithms of their lengths."""
    possible = np.flatnonzero(np.isfinite(scores[np.arange(len(codes)), codes]))
    chosen = possible[
        np.linspace(0, len(possible) - 1, min(len(possible), TUNED.temperature_documents)).astype(np.int64)
    ]
    z = scores[chosen].astype(np.float64)
    z = np.maximum(z - z.max(axis=1, keepdims=True), -1e6)
    return z, codes[chosen], np.log1p(lengths[chosen].astype(np.float64))


def _aim(z: Float64, own: NDArray[np.integer]) -> Float64:
    """What the true classes score, with the doubt of one document more of any class: all stays finite."""
    doubt = 1 / (1 + len(own))
    return np.asarray((1 - doubt) * z[np.arange(len(own)), own] + doubt * z.mean(axis=1))


def _by_factor(factors: Float64, z: Float64, own: NDArray[np.integer]) -> tuple[float, Float64, Float64]:
    """The mean log loss under softmax(factor * z), its slope and curvature by each document's factor."""
    p = np.exp(factors[:, np.newaxis] * z)
    total = p.sum(axis=1)
    aim, mean = _aim(z, own), (p * z).sum(axis=1) / total
    value = float(np.mean(np.log(total) - factors * aim))
    spread = (p * z * z).sum(axis=1) / total - mean * mean
    return value, (mean - aim) / len(own), spread / len(own)


def _likeliest(loss: Callable[[Float64], Objective], start: Float64, n: int, bounds: tuple[float, float]) -> Float64:
    """The parameters of least mean loss, shrunk towards where they start if there are few documents."""
    caution = TUNED.caution / n

    def objective(at: Float64) -> Objective:
        value, gradient, hessian = loss(at)
        away = at - start
        return Objective(
            value + caution * float(away @ away),
            gradient + 2 * caution * away,
            hessian + 2 * caution * np.eye(len(at)),
        )

    return minimize(objective, start, *bounds)
