"""None of these: how unlike all its classes a text is.

    familiarity(d) = (lead(d) / usual lead + 2.5) * share of d's words that are known
    lead(d)        = best class's score - mean over classes of the scores

A text of another kind has neither words that single out a class nor, often, words that were ever seen; the
product measured better than either, than the best probability, and than the likelihood per word. How familiar
texts of the known classes are is learned from scores of documents that were left out: ``typicality`` is the share
of them that are less familiar than a text, and texts below a typicality of 0.05 are refused at the price of
refusing one in twenty that do belong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from genus._arrays import Float64

_N_QUANTILES = 1001
_FLOOR = 2.5  # of the lead, in usual leads: how much the known words count where no class leads


@dataclass(frozen=True)
class Rejection:
    """What is usual: the median lead, and the familiarities of left-out documents in rising order.

    Examples
    --------
    >>> rejection = Rejection.fit(np.array([[0.0, 2.0], [2.0, 0.0], [0.5, 0.0]]), [1.0, 1.0, 0.5])
    >>> rejection.typicality(np.array([[0.0, 2.0], [0.0, 0.1]]), [1.0, 0.0])
    array([1., 0.])
    """

    usual_lead: float
    quantiles: Float64

    @classmethod
    def fit(cls, scores: ArrayLike, known_shares: ArrayLike) -> Rejection:
        """From scores of left-out documents, and the shares of their words that the others have."""
        leads = lead(np.asarray(scores))
        usual = float(np.median(leads)) or 1.0
        familiarities = _familiarity(leads / usual, np.asarray(known_shares))
        levels = np.linspace(0, 1, min(_N_QUANTILES, max(len(leads), 2)))
        return cls(usual, np.quantile(familiarities, levels))

    def typicality(self, scores: ArrayLike, known_shares: ArrayLike) -> Float64:
        """The share of documents of the known classes that are no more familiar than these texts."""
        familiarities = _familiarity(lead(np.asarray(scores)) / self.usual_lead, np.asarray(known_shares))
        return np.searchsorted(self.quantiles, familiarities, side="right") / len(self.quantiles)

    def to_state(self) -> dict[str, Any]:
        return {"usual_lead": self.usual_lead, "quantiles": self.quantiles}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Rejection:
        lead, quantiles = state["usual_lead"], state["quantiles"]
        if not isinstance(lead, float) or not isinstance(quantiles, np.ndarray) or quantiles.dtype != np.float64:
            raise ValueError("a usual lead and familiarities were expected")
        return cls(lead, quantiles)


def lead(scores: Float64) -> Float64:
    """How far the best class is ahead of the mean class."""
    finite = np.where(np.isfinite(scores), scores, np.nan)
    return np.asarray(np.nanmax(finite, axis=1) - np.nanmean(finite, axis=1))


def _familiarity(leads: Float64, known_shares: Float64) -> Float64:
    return np.asarray((leads + _FLOOR) * known_shares)
