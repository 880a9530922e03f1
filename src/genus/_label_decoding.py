"""Sets of labels from the labels' probabilities, as they are best for an objective.

=============  ==========================================================================================
"expected"     as many of the most probable as have the largest expected F1, for each text on its own
"threshold"    those above one threshold for all labels, the most probable where none is
"thresholds"   those above their own label's threshold: half of the best F1 that can be expected of it [1]_
=============  ==========================================================================================

Which rule is best for an objective is found on documents left out.

.. [1] Z. C. Lipton, C. Elkan and B. Naryanaswamy (2014). Optimal thresholding of classifiers to maximize F1
   measure. ECML PKDD.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genus._arrays import Float64

OBJECTIVES = ("example_f1", "micro_f1", "macro_f1")
RULES = ("expected", "threshold", "thresholds")

Cells = NDArray[np.bool_]


@dataclass(frozen=True)
class Decoding:
    """A rule, and a threshold for each label."""

    rule: str
    thresholds: Float64

    @classmethod
    def fit(cls, probabilities: Float64, truth: Cells, objective: str) -> Decoding:
        """The rule that is best for documents left out."""
        rules = (
            cls("expected", np.zeros(probabilities.shape[1])),
            cls("threshold", _one_threshold(probabilities, truth)),
            cls("thresholds", expected_f1(-np.sort(-probabilities.T, axis=1)).max(axis=1) / 2),
        )
        return max(rules, key=lambda rule: label_scores(rule.sets(probabilities), truth)[objective])

    def sets(self, probabilities: Float64) -> Cells:
        """Which labels each text is given.

        Examples
        --------
        >>> Decoding("expected", np.zeros(3)).sets(np.array([[0.9, 0.8, 0.1], [0.4, 0.1, 0.1]])).astype(int)
        array([[1, 1, 0],
               [1, 0, 0]])
        """
        n, n_labels = probabilities.shape
        if self.rule != "expected":
            chosen = np.asarray(probabilities >= self.thresholds)
            if self.rule == "threshold":
                chosen[np.arange(n), probabilities.argmax(axis=1)] = True
            return chosen
        order = np.argsort(-probabilities, axis=1, kind="stable")
        best = 1 + expected_f1(np.take_along_axis(probabilities, order, axis=1)).argmax(axis=1)
        chosen = np.zeros((n, n_labels), dtype=bool)
        np.put_along_axis(chosen, order, np.arange(n_labels) < best[:, np.newaxis], axis=1)
        return chosen


def expected_f1(falling: Float64) -> Float64:
    """2 * (p_1 + ... + p_k) / (k + sum of all p) for k = 1, 2, ..., for each row of falling probabilities."""
    k = np.arange(1, falling.shape[1] + 1)
    return np.asarray(2 * falling.cumsum(axis=1) / (k + falling.sum(axis=1, keepdims=True)))


def _one_threshold(probabilities: Float64, truth: Cells) -> Float64:
    order = np.argsort(-probabilities, axis=None, kind="stable")
    hits = truth.ravel()[order].cumsum()
    f1 = 2 * hits / (np.arange(1, len(hits) + 1) + max(truth.sum(), 1))
    return np.full(probabilities.shape[1], probabilities.ravel()[order[int(f1.argmax())]])


def label_scores(given: Cells, truth: Cells) -> dict[str, float]:
    """Mean F1 of documents, F1 of all cells together, and mean F1 of labels that occur."""
    hits, sizes = given & truth, given.astype(np.int64) + truth
    size: Any = sizes.sum(axis=1)
    example = np.divide(2 * hits.sum(axis=1), size, out=np.ones(len(given)), where=size > 0)
    occurs = sizes.any(axis=0)
    return {
        "example_f1": float(example.mean()),
        "micro_f1": float(2 * hits.sum() / max(sizes.sum(), 1)),
        "macro_f1": float((2 * hits.sum(axis=0)[occurs] / sizes.sum(axis=0)[occurs]).mean()) if occurs.any() else 0.0,
    }
