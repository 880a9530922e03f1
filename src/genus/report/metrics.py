"""Accuracy, F1, log loss and calibration, from predictions that come in chunks.

Only sums and the few worst mistakes are kept: memory grows with the pairs of classes that are confused,
not with the documents. Labels are compared as text, since files contain nothing else.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genus.base.arrays import Float64, Int64

if TYPE_CHECKING:
    from genus.classifier.text_classifier import TextClassifier

N_BINS = 15  # of confidence, equally wide; as is usual for the expected calibration error


class ClassScore(NamedTuple):
    """One class: its documents (support), how many were predicted correctly, and how many predictions it got in all."""

    label: str
    support: int
    n_right: int
    n_predicted: int

    @property
    def precision(self) -> float:
        return self.n_right / self.n_predicted if self.n_predicted else 0.0

    @property
    def recall(self) -> float:
        return self.n_right / self.support if self.support else 0.0

    @property
    def f1(self) -> float:
        either = self.support + self.n_predicted
        return 2 * self.n_right / either if either else 0.0

    @property
    def n_wrong(self) -> int:
        """Mistakes that this class has a part in."""
        return self.support + self.n_predicted - 2 * self.n_right


class Confusion(NamedTuple):
    truth: str
    predicted: str
    n: int


class Bin(NamedTuple):
    """The predictions in one range of confidence: their mean confidence, and how often they were right."""

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float


@dataclass(frozen=True, order=True)
class Mistake:
    """A wrong prediction; ordered by its confidence, then by how improbable the truth seemed."""

    confidence: float
    surprise: float  # -log P(truth | text), infinite for a label unknown to the model
    age: int  # breaks ties: the earlier ranks higher
    row: int
    text: str
    truth: str
    predicted: str


class Evaluation:
    """Predictions compared with the truth.

    Parameters
    ----------
    classes : the model's labels, in the order of the columns of its probabilities
    n_mistakes : how many of the worst mistakes are kept
    """

    def __init__(self, classes: Iterable[object], n_mistakes: int = 20) -> None:
        self.labels = [str(label) for label in classes]
        self.n_classes = len(self.labels)  # later labels occur in the data only
        self.n = 0
        self.n_right = 0
        self.n_unknown = 0  # documents whose label is unknown to the model
        self._codes = {label: code for code, label in enumerate(self.labels)}
        self._pairs: Counter[tuple[int, int]] = Counter()
        self._loss = 0.0
        self._bins = np.zeros((N_BINS, 3))  # count, sum of confidence, right
        self._n_mistakes = n_mistakes
        self._worst: list[Mistake] = []

    def add(
        self,
        texts: Sequence[str],
        labels: Sequence[object],
        log_proba: Float64,
        rows: Sequence[int] | None = None,
    ) -> None:
        """Add a chunk of documents: their true labels, and log P(class | text) of each class."""
        truth = self._encode(labels)
        predicted: Int64 = log_proba.argmax(axis=1)
        confidence = np.exp(log_proba[np.arange(len(truth)), predicted]).clip(0, 1)
        known = truth < self.n_classes
        log_p = np.full(len(truth), -np.inf)
        log_p[known] = log_proba[np.flatnonzero(known), truth[known]]
        right = truth == predicted

        pairs, counts = np.unique(np.stack([truth, predicted]), axis=1, return_counts=True)
        self._pairs.update({(t, p): n for t, p, n in zip(*pairs.tolist(), counts.tolist(), strict=True)})
        at = np.minimum((confidence * N_BINS).astype(int), N_BINS - 1)
        for column, values in enumerate((np.ones(len(at)), confidence, right)):
            self._bins[:, column] += np.bincount(at, weights=values, minlength=N_BINS)
        self._loss -= math.fsum(log_p[known])
        self.n_unknown += int((~known).sum())
        self.n_right += int(right.sum())
        for i in np.flatnonzero(~right).tolist():
            self._keep_if_among_worst(
                Mistake(
                    float(confidence[i]), -float(log_p[i]), -(self.n + i),
                    rows[i] if rows is not None else self.n + i + 1,
                    texts[i], str(labels[i]), self.labels[predicted[i]],
                )
            )  # fmt: skip
        self.n += len(truth)

    def _encode(self, labels: Sequence[object]) -> Int64:
        codes = []
        for label in map(str, labels):
            if label not in self._codes:
                self._codes[label] = len(self.labels)
                self.labels.append(label)
            codes.append(self._codes[label])
        return np.array(codes, dtype=np.int64)

    def _keep_if_among_worst(self, mistake: Mistake) -> None:
        if len(self._worst) < self._n_mistakes:
            heapq.heappush(self._worst, mistake)
        elif self._worst:
            heapq.heappushpop(self._worst, mistake)

    # ------------------------------------------------------------------ results

    @property
    def accuracy(self) -> float:
        return self.n_right / self.n if self.n else 0.0

    @property
    def micro_f1(self) -> float:
        """Equal to the accuracy, since every document has one label and one prediction."""
        return self.accuracy

    @property
    def macro_f1(self) -> float:
        """The mean F1 of the classes that occur in the data or among the predictions."""
        scores = [score.f1 for score in self.per_class()]
        return math.fsum(scores) / len(scores) if scores else 0.0

    @property
    def log_loss(self) -> float:
        """The mean of -log P(truth | text), over documents whose label is known to the model; natural logarithm."""
        known = self.n - self.n_unknown
        return self._loss / known if known else math.inf

    @property
    def calibration_error(self) -> float:
        """The expected calibration error: the mean gap between confidence and accuracy, bin by bin."""
        return float(np.abs(self._bins[:, 1] - self._bins[:, 2]).sum() / self.n) if self.n else 0.0

    @property
    def mistakes(self) -> list[Mistake]:
        """The worst mistakes, most confident first."""
        return sorted(self._worst, reverse=True)

    def per_class(self) -> list[ClassScore]:
        """Classes that occur in the data or among the predictions; those with the most mistakes first."""
        support: Counter[int] = Counter()
        predicted: Counter[int] = Counter()
        for (t, p), n in self._pairs.items():
            support[t] += n
            predicted[p] += n
        scores = [
            ClassScore(self.labels[c], support[c], self._pairs[c, c], predicted[c])
            for c in support.keys() | predicted.keys()
        ]
        return sorted(scores, key=lambda s: (-s.n_wrong, -s.support, s.label))

    def confusions(self, most: int | None = None) -> list[Confusion]:
        """Pairs of different classes, the most often confused first."""
        wrong = [(t, p, n) for (t, p), n in self._pairs.items() if t != p]
        wrong.sort(key=lambda pair: (-pair[2], self.labels[pair[0]], self.labels[pair[1]]))
        return [Confusion(self.labels[t], self.labels[p], n) for t, p, n in wrong[:most]]

    def count(self, truth: str, predicted: str) -> int:
        """Documents of one class that were predicted as another, or as itself."""
        return self._pairs[self._codes[truth], self._codes[predicted]]

    def bins(self) -> list[Bin]:
        """The points of the reliability curve; empty bins are left out."""
        return [
            Bin(i / N_BINS, (i + 1) / N_BINS, int(n), confidence / n, right / n)
            for i, (n, confidence, right) in enumerate(self._bins.tolist())
            if n
        ]

    def to_dict(self) -> dict[str, object]:
        """Plain values, ready for JSON."""
        return {
            "documents": self.n,
            "accuracy": self.accuracy,
            "micro_f1": self.micro_f1,
            "macro_f1": self.macro_f1,
            "log_loss": self.log_loss if math.isfinite(self.log_loss) else None,
            "calibration_error": self.calibration_error,
            "unknown_labels": self.n_unknown,
            "classes": [
                {name: getattr(s, name) for name in ("label", "precision", "recall", "f1", "support")}
                for s in self.per_class()
            ],
            "confusions": [c._asdict() for c in self.confusions(100)],
            "reliability": [b._asdict() for b in self.bins()],
            "mistakes": [
                {name: getattr(m, name) for name in ("row", "truth", "predicted", "confidence", "text")}
                for m in self.mistakes
            ],
        }


def evaluate(clf: TextClassifier, texts: Sequence[str], labels: Sequence[object]) -> Evaluation:
    """The evaluation of a fitted `TextClassifier` on texts with known labels."""
    result = Evaluation(clf.classes_)
    result.add(texts, labels, clf.predict_log_proba(texts))
    return result
