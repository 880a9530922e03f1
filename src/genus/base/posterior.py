"""From the likelihood of documents to labels and probabilities.

Every model uses the functions here. `PosteriorClassifier` is the base of models that do not learn from sums of counts;
`genus.base.estimator.GenerativeClassifier` is the base of those that do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from genus import _core
from genus.base.arrays import Float64, Int64, n_threads
from genus.base.labels import Labels
from genus.base.protocol import BaseEstimator, ClassifierMixin
from genus.base.rows import MatrixLike, Rows, n_rows_of, slice_rows
from genus.base.validation import check_count

_BLOCK = 1 << 19  # scores held at once where only a few per document are kept: 4 MB, inside the caches


def score_blocks(score: Callable[[Rows], Float64], rows: Rows, n_classes: int) -> Iterator[Float64]:
    """The scores of some documents at a time, so that memory does not grow with their number."""
    size = max(1, _BLOCK // n_classes)
    for begin in range(0, max(n_rows_of(rows), 1), size):
        yield score(slice_rows(rows, begin, begin + size))


def best_of(blocks: Iterable[Float64]) -> NDArray[np.integer]:
    """The number of each document's most probable class, the first of equal ones."""
    return np.concatenate([scores.argmax(axis=1) for scores in blocks])


def top_of(blocks: Iterable[Float64], k: int, n_threads: int) -> tuple[Int64, Float64]:
    """The numbers and probabilities of each document's ``k`` most probable classes, the most probable first."""
    tops = [_core.top_of_rows(scores, k, n_threads) for scores in blocks]
    columns, probabilities = (np.concatenate(parts) for parts in zip(*tops, strict=True))
    return columns, probabilities


class PosteriorClassifier(ClassifierMixin, BaseEstimator, ABC, Generic[Rows]):
    """Base of models without counts that know how likely a document is in each class.

    A model says how likely (`_joint_log_likelihood`), and what it takes for documents (`_check_rows`): sparse
    rows or dense ones.
    """

    n_jobs: int | None

    @abstractmethod
    def _joint_log_likelihood(self, rows: Rows) -> Float64:
        """log p(c, d) for each document and class. Columns that were not trained are ignored."""

    @abstractmethod
    def _check_rows(self, X: MatrixLike) -> Rows:
        """What was given to predict, checked, in the form that this model reads."""

    @property
    @abstractmethod
    def classes_(self) -> Labels:
        """The labels, in order."""

    def predict(self, X: MatrixLike) -> Labels:
        """The most probable label of each document, as an array of shape (n_documents,)."""
        return self._predict_rows(self._check_rows(X))

    def _predict_rows(self, rows: Rows) -> Labels:
        return np.asarray(self.classes_[self._best_classes(rows)])

    def predict_top(self, X: MatrixLike, k: int = 5) -> tuple[Labels, Float64]:
        """The ``k`` most probable labels of each document.

        Memory grows with ``k``, not with the number of classes.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_words)
            Word counts.
        k : int, default=5
            How many; all classes, where there are fewer.

        Returns
        -------
        labels : array of shape (n_documents, k)
            The most probable first.
        probabilities : array of shape (n_documents, k)
        """
        return self._predict_top_rows(self._check_rows(X), k)

    def _predict_top_rows(self, rows: Rows, k: int) -> tuple[Labels, Float64]:
        k = min(check_count("k", k), len(self.classes_))
        columns, probabilities = top_of(self._score_blocks(rows), k, n_threads(self.n_jobs))
        return self.classes_[columns], probabilities

    def predict_joint_log_proba(self, X: MatrixLike) -> Float64:
        """log p(c, d): an array of shape (n_documents, n_classes), unnormalised."""
        return self._joint_log_likelihood(self._check_rows(X))

    def predict_log_proba(self, X: MatrixLike) -> Float64:
        """log p(c | d): an array of shape (n_documents, n_classes)."""
        return self._log_proba_rows(self._check_rows(X))

    def _log_proba_rows(self, rows: Rows) -> Float64:
        return self._normalize(self._joint_log_likelihood(rows))

    def predict_proba(self, X: MatrixLike) -> Float64:
        """p(c | d): an array of shape (n_documents, n_classes), rows summing to one."""
        log_proba = self.predict_log_proba(X)
        return np.exp(log_proba, out=log_proba)

    def _best_classes(self, rows: Rows) -> NDArray[np.integer]:
        """The number of each document's most probable class, the first of equal ones."""
        return best_of(self._score_blocks(rows))

    def _add_scores(self, rows: Rows, factors: Float64, total: Float64, distances: Float64) -> None:
        """Add the scores of each document times its factor to ``total``; they are exact, so ``distances`` stay."""
        _core.add_scaled_rows(self._joint_log_likelihood(rows), factors, total, n_threads(self.n_jobs))

    def _evidence_terms(self, row: Rows, classes: Sequence[int]) -> dict[str, Float64]:
        """What one document adds to some classes' scores beside the prior and its words, by name: none."""
        return {}

    def _normalize(self, scores: Float64) -> Float64:
        _core.normalize_log_rows(scores, n_threads(self.n_jobs))
        return scores

    def _score_blocks(self, rows: Rows) -> Iterator[Float64]:
        return score_blocks(self._joint_log_likelihood, rows, len(self.classes_))
