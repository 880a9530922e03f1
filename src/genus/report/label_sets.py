"""Metrics of label sets, from predictions that come in chunks. Only sums are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np
from numpy.typing import NDArray

from genus.base.arrays import Float64
from genus.report.metrics import ClassScore


class LabelEvaluation:
    """Label sets compared with the truth. Labels are compared as text, since files contain nothing else.

    Parameters
    ----------
    labels : the model's labels, in the order of the columns of its probabilities

    Examples
    --------
    >>> result = LabelEvaluation(["a", "b"])
    >>> result.add([{"a"}, {"a", "b"}], np.array([[True, False], [False, True]]), np.array([[0.9, 0.2], [0.3, 0.6]]))
    >>> result.precision_at_1, result.micro_f1, round(result.example_f1, 3), round(result.macro_f1, 3)
    (1.0, 0.8, 0.833, 0.833)
    """

    def __init__(self, labels: Sequence[object]) -> None:
        self.labels = [str(label) for label in labels]
        self.n = 0
        self.n_labeled = 0  # documents with a label
        self._n_first = 0  # of those, how many have the most probable label
        self._f1 = 0.0
        self._support: Counter[str] = Counter()
        self._given: Counter[str] = Counter()
        self._right: Counter[str] = Counter()

    def add(self, truth: Sequence[AbstractSet[str]], given: NDArray[np.bool_], probabilities: Float64) -> None:
        """Add a chunk of documents: their true labels, their predicted labels, and the probabilities of all labels."""
        best = probabilities.argmax(axis=1).tolist()
        for true, row, first in zip(truth, given, best, strict=True):
            answer = {self.labels[i] for i in np.flatnonzero(row)}
            right = true & answer
            self._support.update(true)
            self._given.update(answer)
            self._right.update(right)
            self._f1 += 2 * len(right) / (len(true) + len(answer)) if true or answer else 1.0
            self.n_labeled += bool(true)
            self._n_first += self.labels[first] in true
        self.n += len(truth)

    @property
    def precision_at_1(self) -> float:
        """How often the most probable label is right, among documents that have labels."""
        return self._n_first / self.n_labeled if self.n_labeled else 0.0

    @property
    def example_f1(self) -> float:
        """The mean F1 of documents; 1 for a document without labels for which none is predicted."""
        return self._f1 / self.n if self.n else 0.0

    @property
    def micro_f1(self) -> float:
        """The F1 of all pairs of document and label."""
        either = self._support.total() + self._given.total()
        return 2 * self._right.total() / either if either else 0.0

    @property
    def macro_f1(self) -> float:
        """The mean F1 of the labels that occur in the data or among the predictions."""
        scores = [score.f1 for score in self.per_label()]
        return sum(scores) / len(scores) if scores else 0.0

    def per_label(self) -> list[ClassScore]:
        """Labels that occur in the data or among the predictions; those with the most mistakes first."""
        scores = [
            ClassScore(label, self._support[label], self._right[label], self._given[label])
            for label in self._support.keys() | self._given.keys()
        ]
        return sorted(scores, key=lambda s: (-s.n_wrong, -s.support, s.label))

    def to_dict(self) -> dict[str, object]:
        """Plain values, ready for JSON."""
        return {
            "documents": self.n,
            "precision_at_1": self.precision_at_1,
            "micro_f1": self.micro_f1,
            "example_f1": self.example_f1,
            "macro_f1": self.macro_f1,
            "labels": [
                {name: getattr(s, name) for name in ("label", "precision", "recall", "f1", "support")}
                for s in self.per_label()
            ],
        }
