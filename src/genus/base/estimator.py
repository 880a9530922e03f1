"""The way from documents to what is learned of them that all counting models share.

A model says up to three things: how much a document counts (`_scales`), how counts become parameters
(`_make_parameters`), and how likely a document is in each class (`_joint_log_likelihood`).
Everything else is here and in `_posterior`.
"""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils.validation import (
    check_is_fitted,
    check_non_negative,
    validate_data,
)

from genus.base.arrays import Float64, n_threads
from genus.base.labels import Labels, encode_labels
from genus.base.posterior import PosteriorClassifier
from genus.base.rows import SparseRows, add_duplicates, to_rows
from genus.base.statistics import ONE, Accumulator, Batch
from genus.base.validation import check_labels, check_weights


class GenerativeClassifier(PosteriorClassifier):
    """Base of models that remember their documents, or sums of them by class, in an accumulator.

    Parameters are made from the sums when they are first needed, and again after `set_params`. Models whose
    learning is additive besides are `genus.base.additive.AdditiveClassifier`.
    """

    n_jobs: int | None
    _accumulator: Accumulator
    _fitted_counting_params: dict[str, Any]
    _parameters_cache: Any
    _counting_params: tuple[str, ...] = ()  # parameters that act while counting: they cannot change later

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise ValueError for a constructor parameter that makes no sense."""

    def _scales(self, rows: SparseRows, weights: Float64 | None) -> Float64:
        """How much one unit of each document counts, in units of the fixed-point sums: by its weight alone."""
        return float(ONE) * (np.ones(rows.n_rows) if weights is None else weights)

    @abstractmethod
    def _make_parameters(self, statistics: Any) -> Any:
        """The model's parameters, from what its accumulator holds."""

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
        return set(self.get_params(deep=False)) - set(self._counting_params)

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
        accumulator = self._new_accumulator()
        self._accumulate(accumulator, batch)
        self._fitted_counting_params = self._counting_parameters()
        self._set_statistics(accumulator)
        self._parameters  # noqa: B018 (made here, so that fitting tells of any trouble and predicting is fast)
        return self

    def _batch(
        self,
        rows: SparseRows,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        classes: ArrayLike | None = None,
    ) -> Batch:
        labels = check_labels(y)
        if len(labels) != rows.n_rows:
            raise ValueError(f"y must have one label for each document ({rows.n_rows}), got {len(labels)}.")
        weights = check_weights(sample_weight, rows.n_rows)
        declared = None if classes is None else encode_labels(check_labels(classes))[0]
        return Batch.of(rows, self._scales(rows, weights), labels, weights, declared)

    def _new_accumulator(self) -> Accumulator:
        """What the model remembers of no documents."""
        return Accumulator()

    def _accumulate(self, accumulator: Accumulator, batch: Batch) -> None:
        """Enter all documents of `fit` into a new accumulator."""
        accumulator.add(batch, n_threads(self.n_jobs))

    def _set_statistics(self, accumulator: Accumulator) -> None:
        self._accumulator = accumulator
        self._parameters_cache = None
        self.n_features_in_ = accumulator.n_columns

    @property
    def _parameters(self) -> Any:
        parameters = getattr(self, "_parameters_cache", None)
        if parameters is None:
            check_is_fitted(self)
            self._check_parameters()
            parameters = self._make_parameters(self._accumulator.checked(n_threads(self.n_jobs)))
            self._parameters_cache = parameters
        return parameters

    def _counting_parameters(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._counting_params}

    def _check_counted_alike(self) -> None:
        for name, value in self._fitted_counting_params.items():
            if getattr(self, name) != value:
                raise ValueError(f"{name} was {value!r} when the documents were learned; fit again to change it.")

    # Predicting

    @property
    def classes_(self) -> Labels:
        """The labels, in order."""
        check_is_fitted(self)
        return self._accumulator.flush(n_threads(self.n_jobs)).labels

    def _check_rows(self, X: Any) -> SparseRows:
        check_is_fitted(self)
        return to_rows(validate_data(self, X, reset=False, accept_sparse="csr"))

    def _training_rows(self, X: Any) -> SparseRows:
        check_non_negative(X, f"{type(self).__name__} (input X)")
        rows = to_rows(X)
        # Whole numbers add up exactly as they are.
        return add_duplicates(rows) if X.dtype.kind == "f" else rows

    def _is_fitted(self) -> bool:
        return hasattr(self, "_accumulator")

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_fitted()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True  # on real-valued data, which is not what counts are for
        return tags
