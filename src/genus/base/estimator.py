"""The way from documents to what is learned of them that all counting models share.

A model says up to three things: how much a document counts (`_scales`), how counts become parameters
(`_make_parameters`), and how likely a document is in each class (`_joint_log_likelihood`).
Everything else is here and in `_posterior`.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils.validation import (
    assert_all_finite,
    check_is_fitted,
    check_non_negative,
    column_or_1d,
    validate_data,
)

from genus import _core
from genus.base.arrays import Float64, Int32, SparseRows, n_threads
from genus.base.posterior import PosteriorClassifier
from genus.base.statistics import ONE, Batch, Labels, Ledger, encode_labels


class GenerativeClassifier(PosteriorClassifier):
    """Base of models that remember their documents, or sums of them by class, in a ledger.

    Parameters are made from the sums when they are first needed, and again after `set_params`. Models whose
    learning is additive besides are `genus.base.additive.AdditiveClassifier`.
    """

    n_jobs: int | None
    _ledger: Ledger
    _counted_with: dict[str, Any]
    _parameters_cache: Any
    _shapes_counts: tuple[str, ...] = ()  # parameters that act while counting: they cannot change later

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise ValueError for a constructor parameter that makes no sense."""

    def _scales(self, rows: SparseRows, weights: Float64 | None) -> Float64:
        """How much one unit of each document counts, in units of the fixed-point sums: by its weight alone."""
        return float(ONE) * (np.ones(rows.n_rows) if weights is None else weights)

    @abstractmethod
    def _make_parameters(self, statistics: Any) -> Any:
        """The model's parameters, from what its ledger holds."""

    # Learning

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from documents and their labels, forgetting what was learned before.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_words)
            Word counts, or other weights that are not negative.
        y : array of shape (n_documents,)
            Labels: text or numbers.
        sample_weight : array of shape (n_documents,), default=None
            How often each document counts: not negative, 1 by default.

        Returns
        -------
        self
        """
        X, y = validate_data(self, X, y, accept_sparse="csr")
        return self._fit_rows(self._training_rows(X), y, sample_weight)

    def set_params(self, **params: Any) -> Self:
        """Change parameters. Smoothing and priors act from the next prediction on, without the documents."""
        super().set_params(**params)
        self._parameters_cache = None
        return self

    def _prediction_parameters(self) -> set[str]:
        """The parameters that act without the documents: a search need not fit again to change them."""
        return set(self.get_params(deep=False)) - set(self._shapes_counts)

    def _retuned(self, **params: Any) -> Self:
        """A fitted model with other `_prediction_parameters` that shares what this one has learned."""
        model = copy(self).set_params(**params)
        model._parameters  # noqa: B018 (as fitting does)
        return model

    def _fit_rows(self, rows: SparseRows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        self._check_parameters()
        batch = self._batch(rows, y, sample_weight)
        if not batch.weights.any():
            raise ValueError("sample_weight must be above zero for at least one document.")
        ledger = self._new_ledger()
        self._take_in(ledger, batch)
        self._counted_with = self._counting_parameters()
        self._keep(ledger)
        self._parameters  # noqa: B018 (made here, so that fitting tells of any trouble and predicting is fast)
        return self

    def _batch(
        self,
        rows: SparseRows,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        classes: ArrayLike | None = None,
    ) -> Batch:
        labels = _check_labels(y)
        if len(labels) != rows.n_rows:
            raise ValueError(f"y must have one label for each document ({rows.n_rows}), got {len(labels)}.")
        weights = _check_weights(sample_weight, rows.n_rows)
        declared = None if classes is None else encode_labels(_check_labels(classes))[0]
        return Batch.of(rows, self._scales(rows, weights), labels, weights, declared)

    def _new_ledger(self) -> Ledger:
        """What the model remembers of no documents."""
        return Ledger()

    def _take_in(self, ledger: Ledger, batch: Batch) -> None:
        """Enter all documents of `fit` into a new ledger."""
        ledger.add(batch, n_threads(self.n_jobs))

    def _keep(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._parameters_cache = None
        self.n_features_in_ = ledger.n_columns

    @property
    def _parameters(self) -> Any:
        parameters = getattr(self, "_parameters_cache", None)
        if parameters is None:
            check_is_fitted(self)
            self._check_parameters()
            parameters = self._make_parameters(self._ledger.checked(n_threads(self.n_jobs)))
            self._parameters_cache = parameters
        return parameters

    def _counting_parameters(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._shapes_counts}

    def _check_counted_alike(self) -> None:
        for name, value in self._counted_with.items():
            if getattr(self, name) != value:
                raise ValueError(f"{name} was {value!r} when the documents were learned; fit again to change it.")

    # Predicting

    @property
    def classes_(self) -> Labels:
        """The labels, in order."""
        check_is_fitted(self)
        return self._ledger.settle(n_threads(self.n_jobs)).labels

    def _check_rows(self, X: Any) -> SparseRows:
        check_is_fitted(self)
        return _to_rows(validate_data(self, X, reset=False, accept_sparse="csr"))

    def _training_rows(self, X: Any) -> SparseRows:
        check_non_negative(X, f"{type(self).__name__} (input X)")
        rows = _to_rows(X)
        # Whole numbers add up exactly as they are.
        return _add_duplicates(rows) if X.dtype.kind == "f" else rows

    def _is_fitted(self) -> bool:
        return hasattr(self, "_ledger")

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_fitted()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True  # on real-valued data, which is not what counts are for
        return tags


def _to_rows(X: Any) -> SparseRows:
    """A checked matrix as plain arrays."""
    matrix: Any = X if sparse.issparse(X) else sparse.csr_array(X)
    if matrix.shape[1] > np.iinfo(np.int32).max:
        raise ValueError(f"X must have fewer than 2**31 columns, got {matrix.shape[1]}.")
    native = matrix.data.dtype in (np.float32, np.float64, np.int64)
    # A scipy matrix may hold views of other arrays, with gaps.
    data = np.ascontiguousarray(matrix.data, dtype=None if native else np.float64)
    indices: Int32 = np.ascontiguousarray(matrix.indices, dtype=np.int32)
    return SparseRows(np.ascontiguousarray(matrix.indptr, dtype=np.int64), indices, data, matrix.shape[1])


def _add_duplicates(rows: SparseRows) -> SparseRows:
    """Rows in which no word occurs twice, so that each cell is rounded once and can be left out whole."""
    if not _core.has_duplicates(rows.indptr, rows.indices, rows.n_columns):
        return rows
    matrix = sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.n_rows, rows.n_columns), copy=True)
    matrix.sum_duplicates()
    return _to_rows(matrix)


def _width(X: Any) -> int:
    shape = getattr(X, "shape", None)
    shape = np.shape(X) if shape is None else shape
    return int(shape[1]) if len(shape) == 2 else 0


def _check_labels(y: Any) -> NDArray[Any]:
    labels = column_or_1d(y, warn=True)
    assert_all_finite(labels, input_name="y")
    checked: NDArray[Any] = labels
    return checked


def _check_weights(sample_weight: Any, n: int) -> Float64 | None:
    if sample_weight is None:
        return None
    weights = np.array(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n, weights)
    if weights.shape != (n,):
        raise ValueError(f"sample_weight must have shape ({n},), one weight for each document, got {weights.shape}.")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError("sample_weight must be finite and not negative.")
    return weights


def _check_number(name: str, value: Any, low: float, high: float, expected: str) -> None:
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not is_number or not low <= value <= high or math.isinf(value):
        raise ValueError(f"{name} must be {expected}, got {value!r}.")
