"""Models that learn more, and models that also unlearn and merge, exactly: what these remember is a sum."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from genus.base.arrays import Int32, n_threads
from genus.base.estimator import GenerativeClassifier
from genus.base.rows import SparseRows, width_of


class IncrementalClassifier(GenerativeClassifier):
    """Base of models that learn from more documents, which may bring new classes and new columns at any time."""

    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from more documents.

        New labels may come at any time, and so may wider documents: their further columns are new words.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_words)
            Word counts; at least as many columns as learned so far.
        y : array of shape (n_documents,)
            Labels.
        classes : array, default=None
            Labels to know of even without documents. Never needed.
        sample_weight : array of shape (n_documents,), default=None
            How often each document counts.

        Returns
        -------
        self
        """
        grows = not self._is_fitted() or width_of(X) > self.n_features_in_
        if grows:
            matrix = check_array(X, accept_sparse="csr", estimator=self, input_name="X")
        else:
            matrix = validate_data(self, X, reset=False, accept_sparse="csr")
        self._partial_fit_rows(self._training_rows(matrix), y, sample_weight, classes)
        if grows:
            validate_data(self, X, reset=True, skip_check_array=True)  # the names of the new columns
        return self

    def _partial_fit_rows(
        self,
        rows: SparseRows,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        classes: ArrayLike | None = None,
    ) -> Self:
        self._check_parameters()
        fitted = self._is_fitted()
        if fitted:
            self._check_counted_alike()
        accumulator = self._accumulator if fitted else self._new_accumulator()
        accumulator.add(self._batch(rows, y, sample_weight, classes), n_threads(self.n_jobs))
        self._fitted_counting_params = self._counting_parameters()
        self._set_statistics(accumulator)
        return self


class AdditiveClassifier(IncrementalClassifier):
    """Base of models whose learning is additive.

    `merge` of two models is the model of both sets of documents, `unlearn` takes documents out as if they had
    never come; bit for bit.
    """

    def unlearn(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Take documents out again, exactly as if they had never been learned.

        A class goes with its last document, unless `partial_fit` was told of it through ``classes``.
        Columns stay.

        Parameters
        ----------
        X, y, sample_weight
            What was given to `fit` or `partial_fit` for these documents.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If these documents were never learned, or no other document would be left. The model is then
            unchanged.
        """
        check_is_fitted(self)
        matrix = validate_data(self, X, reset=False, accept_sparse="csr")
        return self._unlearn_rows(self._training_rows(matrix), y, sample_weight)

    def merge(self, other: Self) -> Self:
        """Take in all that another model has learned, as if this one had learned it.

        Parameters
        ----------
        other : a fitted model of the same class and parameters (``n_jobs`` aside)
            It is left unchanged.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        if type(other) is not type(self):
            raise ValueError(f"other must be a {type(self).__name__}, got {type(other).__name__}.")
        check_is_fitted(other)
        mine, theirs = self.get_params(deep=False), other.get_params(deep=False)
        for name in mine.keys() - {"n_jobs"}:
            if not np.array_equal(mine[name], theirs[name]):
                raise ValueError(f"cannot merge models with different {name}: {mine[name]!r} and {theirs[name]!r}.")
        self._set_statistics(self._accumulator.merged(other._accumulator, n_threads(self.n_jobs)))
        return self

    def _unlearn_rows(self, rows: SparseRows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        self._check_parameters()
        self._check_counted_alike()
        self._set_statistics(self._accumulator.without(self._batch(rows, y, sample_weight), n_threads(self.n_jobs)))
        return self

    def _has_counts(self, words: Int32) -> NDArray[np.bool_]:
        """Whether any document still has these words."""
        indptr = self._accumulator.flush(n_threads(self.n_jobs)).indptr
        return np.asarray(indptr[words + 1] > indptr[words])

    def _keep_columns(self, keep: NDArray[np.bool_]) -> None:
        """Forget the words that are not marked, which no document has; the others move up."""
        if not keep.all():
            self._set_statistics(self._accumulator.keep_words(keep, n_threads(self.n_jobs)))
