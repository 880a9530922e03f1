"""The way from the likelihood of documents to labels, which all models share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from genus import _core
from genus.base.arrays import Float64, n_threads
from genus.base.labels import Labels
from genus.base.protocol import BaseEstimator, ClassifierMixin
from genus.base.rows import MatrixLike, Rows, n_rows_of, slice_rows
from genus.base.validation import check_count

_BLOCK = 1 << 19  # scores held at once where only a few per document are kept: 4 MB, inside the caches


class PosteriorClassifier(ClassifierMixin, BaseEstimator, ABC, Generic[Rows]):
    """Base of models that know how likely a document is in each class.

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
        threads = n_threads(self.n_jobs)
        k = min(check_count("k", k), len(self.classes_))
        tops = [_core.top_of_rows(scores, k, threads) for scores in self._score_blocks(rows)]
        columns, probabilities = (np.concatenate(parts) for parts in zip(*tops, strict=True))
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
        return np.concatenate([scores.argmax(axis=1) for scores in self._score_blocks(rows)])

    def _add_scores(self, rows: Rows, factors: Float64, total: Float64, distances: Float64) -> None:
        """Add the scores of each document, up to what its classes have alike, times its factor to ``total``.

        A model may add rough ones, and then how far two scores of a document may be off together to ``distances``.
        """
        _core.add_scaled_rows(self._joint_log_likelihood(rows), factors, total, n_threads(self.n_jobs))

    def _evidence_terms(self, row: Rows, classes: Sequence[int]) -> dict[str, Float64]:
        """What one document adds to some classes' scores beside the prior and its words, by name: none."""
        return {}

    def _normalize(self, scores: Float64) -> Float64:
        _core.normalize_log_rows(scores, n_threads(self.n_jobs))
        return scores

    def _score_blocks(self, rows: Rows) -> Iterator[Float64]:
        size = max(1, _BLOCK // len(self.classes_))
        for begin in range(0, max(n_rows_of(rows), 1), size):
            yield self._joint_log_likelihood(slice_rows(rows, begin, begin + size))
