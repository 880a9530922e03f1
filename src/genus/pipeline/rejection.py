"""Rejection: texts that belong to none of the classes.

    familiarity(d) = Q(margin of the best class over the mean class) * Q(-entropy of the classes) * Q(known share)^(1/2)

Q(x) is the share of held-out texts of the known classes whose value is at most x. Texts of other kinds lack words that
are typical of one class, and often have unknown words. The product was a better criterion than each of its parts, than
the largest probability, and than the likelihood per word.
``typicality`` is a p-value: the share of held-out texts that look no more familiar. Rejecting texts below 0.05 has a
false-rejection rate of 5 %.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr

from genus.base.arrays import Float64
from genus.base.protocol import State
from genus.base.tuning import TUNED
from genus.calibration import margin

_N_QUANTILES = 1001


@dataclass(frozen=True)
class Rejection:
    """Quantiles of the three parts, and of the familiarity, over held-out documents.

    Examples
    --------
    >>> rejection = Rejection.fit(np.array([[0.0, 2.0], [2.0, 0.0], [0.5, 0.0]]), [1.0, 1.0, 0.5])
    >>> rejection.typicality(np.array([[0.0, 2.0], [0.0, 0.1]]), [1.0, 0.0])
    array([1., 0.])
    """

    parts: Float64  # (3, n_quantiles)
    familiarities: Float64

    @classmethod
    def fit(cls, scores: ArrayLike, known_shares: ArrayLike) -> Rejection:
        """From calibrated scores of left-out documents, and the shares of their words that the others have."""
        found = parts_of(np.asarray(scores, dtype=np.float64), np.asarray(known_shares))
        levels = np.linspace(0, 1, min(_N_QUANTILES, max(found.shape[1], 2)))
        quantiles = np.quantile(found, levels, axis=1).T
        return cls(quantiles, np.quantile(_familiarity(quantiles, found), levels))

    def typicality(self, scores: ArrayLike, known_shares: ArrayLike) -> Float64:
        """The share of held-out documents of the known classes, and the text itself, that are no more familiar.

        So few documents do not make a text atypical; without any known word it is, whatever there is to compare with.
        """
        found = parts_of(np.asarray(scores, dtype=np.float64), np.asarray(known_shares))
        familiarity = _familiarity(self.parts, found)
        return np.asarray(np.where(familiarity > 0, _rank(self.familiarities, familiarity), 0.0))

    def to_state(self) -> State:
        return {"parts": self.parts, "familiarities": self.familiarities}

    @classmethod
    def from_state(cls, state: State) -> Rejection:
        parts, familiarities = state["parts"], state["familiarities"]
        for array, n_dimensions in ((parts, 2), (familiarities, 1)):
            if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.ndim != n_dimensions:
                raise ValueError("quantiles of what is usual were expected")
        if len(parts) != len(TUNED.familiarity_powers) or not parts.shape[1] or not len(familiarities):
            raise ValueError("quantiles of three parts were expected")
        return cls(parts, familiarities)


def parts_of(scores: Float64, known_shares: Float64) -> Float64:
    """The margin, the certainty and the known share of each document: (3, n_documents)."""
    log_p = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    certainty = -entr(np.exp(log_p)).sum(axis=1)
    return np.stack([margin(scores), certainty, known_shares])


def _familiarity(quantiles: Float64, parts: Float64) -> Float64:
    ranks = [_rank(q, part) ** power for power, q, part in zip(TUNED.familiarity_powers, quantiles, parts, strict=True)]
    return np.asarray(np.multiply.reduce(ranks) * (parts[2] > 0))


def _rank(quantiles: Float64, values: Float64) -> Float64:
    """The share of quantiles that are at most each value, with the value as one of them."""
    return np.asarray((np.searchsorted(quantiles, values, side="right") + 1) / (len(quantiles) + 1))
