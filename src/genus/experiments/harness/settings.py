"""What a system does over splits, folds or seeds: its scores, and how long it takes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from genus.base.protocol import Samples, Targets
from genus.experiments.harness.table import Measured


class Classifier(Protocol):
    """Learns labels, and predicts them."""

    def fit(self, X: Samples, y: Targets) -> object: ...

    def predict(self, X: Samples) -> Targets: ...


@dataclass
class Trials:
    scores: list[float] = field(default_factory=list)
    fit_seconds: list[float] = field(default_factory=list)
    predict_seconds: list[float] = field(default_factory=list)  # of a document

    def answers(self, estimator: Classifier, X: Samples, y: Targets, X_test: Samples) -> Targets:
        """What the estimator, fitted to the training documents, says of the test documents; both are timed."""
        begin = time.perf_counter()
        estimator.fit(X, y)
        fitted = time.perf_counter()
        answers = estimator.predict(X_test)
        self.fit_seconds.append(fitted - begin)
        self.predict_seconds.append((time.perf_counter() - fitted) / max(X_test.shape[0], 1))
        return answers

    def add(self, estimator: Classifier, X: Samples, y: Targets, X_test: Samples, y_test: Targets) -> None:
        """The estimator's accuracy is one more score."""
        self.scores.append(float(np.mean(self.answers(estimator, X, y, X_test) == y_test)))

    def measured(
        self, development: float | None = None, params: Mapping[str, object] | None = None, n_points: int = 1
    ) -> Measured:
        """The mean score with its standard deviation, and the mean times."""
        several = len(self.scores) > 1
        return Measured(
            score=float(np.mean(self.scores)),
            development=development,
            params=params or {},
            n_points=n_points,
            spread=float(np.std(self.scores, ddof=1)) if several else None,
            folds=[round(score, 6) for score in self.scores] if several else (),
            fit_seconds=_mean(self.fit_seconds),
            predict_seconds=_mean(self.predict_seconds),
        )


def _mean(seconds: list[float]) -> float | None:
    return float(np.mean(seconds)) if seconds else None
