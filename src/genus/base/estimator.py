"""The base of models that learn from counts.

A model consists of two parts: an accumulator, which holds what it has learned (sums, documents, or the state of
online learning), and a table, which is computed from it for scoring. A model defines up to four methods: `_read`
(preprocess documents), `_scales` (their weights), `_make_parameters` (compute the table) and `_scores_without`
(leave-one-out scores of a document's own class). Everything else is here.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags, check_array
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import (
    check_is_fitted,
    check_non_negative,
    validate_data,
)

from genus import _core
from genus.base.arrays import Float64, Int32, Int64, State, n_threads
from genus.base.documents import DocumentAccumulator, Documents
from genus.base.labels import Labels, encode_labels
from genus.base.locks import Lock
from genus.base.posterior import best_of, score_blocks, top_of
from genus.base.protocol import BaseEstimator, ClassifierMixin
from genus.base.receipt import NeverLearnedError, Receipt, row_contents
from genus.base.rows import MatrixLike, SparseRows, add_duplicates, slice_rows, to_rows, width_of
from genus.base.score_table import ScoreTable
from genus.base.statistics import Accumulator, Batch, ClassCounts, fixed_weights
from genus.base.validation import check_count, check_labels, check_not_negative, check_weights, refuse_missing

if TYPE_CHECKING:
    from genus.base.protocol import Samples

Table = TypeVar("Table", covariant=True)
Method = TypeVar("Method", bound=Callable[..., object])


def only_if(check: Callable[[GenerativeClassifier[Any]], bool]) -> Callable[[Method], Method]:
    """A method that only models have for which the check holds: `hasattr` says so."""
    return cast("Callable[[Method], Method]", available_if(check))


def learning(method: Method) -> Method:
    """A method that changes what a model has learned: on a copy, which takes its place at once, and one at a time."""

    @wraps(method)
    def learn(self: GenerativeClassifier[Any], *args: Any, **kwargs: Any) -> GenerativeClassifier[Any]:
        with self._writing:
            other = copy(self)
            if self._is_fitted():
                other._accumulator = self._accumulator.writable()
            method(other, *args, **kwargs)
            self.__dict__ = other.__dict__
        return self

    return cast("Method", learn)


def _can_learn_more(model: GenerativeClassifier[Any]) -> bool:
    return model._learns_more


def _can_unlearn(model: GenerativeClassifier[Any]) -> bool:
    return model._learns_more and model._remembers.additive


def _can_leave_out(model: GenerativeClassifier[Any]) -> bool:
    return type(model)._scores_without is not GenerativeClassifier._scores_without


class GenerativeClassifier(ClassifierMixin, BaseEstimator, ABC, Generic[Table]):
    """Base of models that keep their documents, or sums of them by class.

    The table is made when it is first needed, and again after `set_params`. What a model can do besides depends on
    its parts: more can be learned (`partial_fit`) unless the model says otherwise, `unlearn` and `merge` are there
    where the accumulator is additive, `leave_one_out_log_proba` where the model has `_scores_without`.
    """

    n_jobs: int | None
    prior_scale: float = 1.0
    fit_prior: bool = True
    class_prior: ArrayLike | None = None

    _remembers: ClassVar[type[Accumulator]] = Accumulator
    _scores_by: ClassVar[type[ScoreTable]] = ScoreTable
    _learns_more: ClassVar[bool] = True
    _counting_params: ClassVar[tuple[str, ...]] = ()  # parameters that act while counting: they cannot change later

    _accumulator: Accumulator
    _fitted_counting_params: dict[str, object]
    _parameters_cache: Table | None
    _receipt: Receipt | None = None  # of documents that were learned by public methods

    def _check_parameters(self) -> None:
        """Raise ValueError for an invalid constructor parameter."""
        check_not_negative("prior_scale", self.prior_scale)
        n_threads(self.n_jobs)

    def _read(self, rows: SparseRows) -> SparseRows:
        """Preprocess documents, before learning and before scoring: by default unchanged.

        Entries stay what and where they are, unless they are zero; their values may change.
        """
        return rows

    def _scales(self, rows: SparseRows, weights: Float64 | None) -> Float64:
        """What one unit of a count adds to the fixed-point sums: the document's weight."""
        return self._remembers.unit_scales(rows.n_rows, weights)

    @abstractmethod
    def _make_parameters(self, counts: ClassCounts) -> Table:
        """Compute the table for scoring from the counts."""

    def _scores_without(self, batch: Batch, own: Int32, bias: Float64) -> tuple[Float64, Float64]:
        """Scores of learned documents for leaving them out, where the model can.

        Parameters
        ----------
        batch : Batch
            The documents, read.
        own : int32 array of shape (n_documents,)
            Their classes.
        bias : array of shape (n_classes,)
            The classes' priors, scaled.

        Returns
        -------
        scores : array of shape (n_documents, n_classes)
            bias + log p(d | c) by all documents; those of a document's own class are not looked at.
        without : array of shape (n_documents,)
            log p(d | c) of each document's own class, by the others.
        """
        raise NotImplementedError

    # Learning

    @property
    def receipt_(self) -> Receipt | None:
        """What was learned, in short: see `genus.base.receipt`. None where that is not known."""
        check_is_fitted(self)
        return self._receipt

    @learning
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
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
        refuse_missing(y)
        X, y = validate_data(self, X, y, accept_sparse="csr")
        rows, nothing = self._training_rows(X), self._no_receipt()
        self._fit_rows(rows, y, sample_weight)
        if nothing is not None:
            labels, codes = encode_labels(check_labels(y))
            weights = fixed_weights(check_weights(sample_weight, rows.n_rows), rows.n_rows)
            contents = row_contents(rows, n_threads(self.n_jobs))
            self._receipt = nothing.plus(Receipt.of(contents, labels, codes, weights))
        return self

    @only_if(_can_learn_more)
    @learning
    def partial_fit(
        self, X: MatrixLike, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
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
            Labels that are classes even without documents. Optional.
        sample_weight : array of shape (n_documents,), default=None
            How often each document counts.

        Returns
        -------
        self
        """
        before = self._receipt if self._is_fitted() else self._no_receipt()
        grows = not self._is_fitted() or width_of(X) > self.n_features_in_
        if grows:
            matrix = check_array(X, accept_sparse="csr", estimator=self, input_name="X")
        else:
            matrix = validate_data(self, X, reset=False, accept_sparse="csr")
        self._check_parameters()
        rows = self._training_rows(matrix)
        batch = self._batch(rows, y, sample_weight, classes)
        self._learn_batch(batch)
        self._receipt = self._receipt_with(before, rows, batch)
        if grows:
            validate_data(self, X, reset=True, skip_check_array=True)  # the names of the new columns
        return self

    @only_if(_can_unlearn)
    @learning
    def unlearn(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Remove documents, exactly as if they had never been learned.

        A class is removed with its last document, unless `partial_fit` declared it through ``classes``.
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
            If one of these documents was never learned with its label and weight, or no other document would be
            left. The model is then unchanged.
        """
        check_is_fitted(self)
        matrix = validate_data(self, X, reset=False, accept_sparse="csr")
        self._check_parameters()
        rows = self._training_rows(matrix)
        batch = self._batch(rows, y, sample_weight)
        left, receipt = self._without(batch), self._receipt
        if receipt is not None:
            try:
                receipt = receipt.without(self._receipt_of(rows, batch))
            except NeverLearnedError as error:
                raise ValueError(
                    f"cannot unlearn documents that were never learned: row {error.number} with this label and weight."
                ) from None
        self._set_statistics(left)
        self._receipt = receipt
        return self

    @only_if(_can_unlearn)
    @learning
    def merge(self, other: Self) -> Self:
        """Add all that another model has learned, as if this one had learned it.

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
        receipt = None if self._receipt is None or other._receipt is None else self._receipt.plus(other._receipt)
        self._set_statistics(self._accumulator.merged(other._accumulator, n_threads(self.n_jobs)))
        self._receipt = receipt
        return self

    def set_params(self, **params: object) -> Self:
        """Change parameters. Smoothing and priors act from the next prediction on, without the documents."""
        super().set_params(**params)
        self._parameters_cache = None
        return self

    def _prediction_parameters(self) -> set[str]:
        """The parameters that act without the documents: a search need not fit again to change them."""
        return set(self.get_params(deep=False)) - set(self._counting_params)

    def _retuned(self, **params: object) -> Self:
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
        self._parameters  # noqa: B018 (made here, so that errors are raised by fit and predicting is fast)
        return self

    @only_if(_can_learn_more)
    def _partial_fit_rows(
        self,
        rows: SparseRows,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        classes: ArrayLike | None = None,
    ) -> Self:
        self._check_parameters()
        return self._learn_batch(self._batch(rows, y, sample_weight, classes))

    def _learn_batch(self, batch: Batch) -> Self:
        fitted = self._is_fitted()
        if fitted:
            self._check_counted_alike()
        accumulator = self._accumulator if fitted else self._new_accumulator()
        accumulator.add(batch, n_threads(self.n_jobs))
        self._fitted_counting_params = self._counting_parameters()
        self._set_statistics(accumulator)
        return self

    @property
    def _writing(self) -> Lock:
        """Held by the one who learns."""
        lock: Lock = self.__dict__.setdefault("_lock", Lock())
        return lock

    def _now(self) -> Self:
        """This model as it is now, whatever is learned meanwhile. What is computed for it is kept for both."""
        now = object.__new__(type(self))
        now.__dict__ = self.__dict__
        return now

    @only_if(_can_learn_more)
    def _writable(self) -> Self:
        """A copy that can learn while this one answers: nothing that they share is changed."""
        other = copy(self)
        other._accumulator = self._accumulator.writable()
        return other

    @only_if(_can_unlearn)
    def _unlearn_rows(self, rows: SparseRows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        self._check_parameters()
        self._set_statistics(self._without(self._batch(rows, y, sample_weight)))
        return self

    def _without(self, batch: Batch) -> Accumulator:
        """The accumulator as if these documents had never come."""
        self._check_counted_alike()
        return self._accumulator.without(batch, n_threads(self.n_jobs))

    @only_if(_can_unlearn)
    def _has_counts(self, words: Int32) -> NDArray[np.bool_]:
        """Whether any document still has these words."""
        indptr = self._accumulator.flush(n_threads(self.n_jobs)).indptr
        return np.asarray(indptr[words + 1] > indptr[words])

    @only_if(_can_unlearn)
    def _keep_columns(self, keep: NDArray[np.bool_]) -> None:
        """Forget the words that are not marked, which no document has; the others move up."""
        if not keep.all():
            self._set_statistics(self._accumulator.keep_words(keep, n_threads(self.n_jobs)))

    def _batch(
        self,
        rows: SparseRows,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        classes: ArrayLike | None = None,
    ) -> Batch:
        """Labelled documents, read, in the form that the accumulator takes."""
        rows = self._remembers.in_form(self._read(rows))
        labels = check_labels(y)
        if len(labels) != rows.n_rows:
            raise ValueError(f"y must have one label for each document ({rows.n_rows}), got {len(labels)}.")
        weights = check_weights(sample_weight, rows.n_rows)
        declared = None if classes is None else encode_labels(check_labels(classes))[0]
        return Batch.from_labels(rows, self._scales(rows, weights), labels, weights, declared)

    def _new_accumulator(self) -> Accumulator:
        """An empty accumulator."""
        return self._remembers()

    def _accumulate(self, accumulator: Accumulator, batch: Batch) -> None:
        """Add all documents of `fit` to a new accumulator."""
        accumulator.add(batch, n_threads(self.n_jobs))

    def _no_receipt(self) -> Receipt | None:
        """The receipt of no documents; None for a model that cannot unlearn them.

        A model that keeps its documents finds them there: it needs no hashes.
        """
        if not self._remembers.additive:
            return None
        return Receipt(0, 0, None if issubclass(self._remembers, DocumentAccumulator) else ())

    def _receipt_with(self, before: Receipt | None, rows: SparseRows, batch: Batch) -> Receipt | None:
        """The receipt with more documents; None where it was not known before."""
        return None if before is None else before.plus(self._receipt_of(rows, batch))

    def _receipt_of(self, rows: SparseRows, batch: Batch) -> Receipt:
        """The receipt of these documents, as they were given, with the labels and weights of the batch."""
        return Receipt.of(row_contents(rows, n_threads(self.n_jobs)), batch.labels, batch.codes, batch.weights)

    def _set_statistics(self, accumulator: Accumulator) -> None:
        self._accumulator = accumulator
        self._parameters_cache = None
        self._receipt = None
        self.n_features_in_ = accumulator.n_columns

    @property
    def _parameters(self) -> Table:
        parameters: Table | None = getattr(self, "_parameters_cache", None)
        if parameters is None:
            check_is_fitted(self)
            self._check_parameters()
            with self._accumulator.lock:
                parameters = getattr(self, "_parameters_cache", None)  # another thread may have made it meanwhile
                if parameters is None:
                    parameters = self._make_parameters(self._accumulator.checked(n_threads(self.n_jobs)))
                    self._parameters_cache = parameters
        return parameters

    @property
    def _score_table(self) -> ScoreTable:
        """The score table within the parameters; in most models, they are one."""
        table = self._parameters
        assert isinstance(table, ScoreTable)
        return table

    @property
    def _documents(self) -> Documents:
        """The documents, of a model that keeps them."""
        assert isinstance(self._accumulator, DocumentAccumulator)
        return self._accumulator.documents(n_threads(self.n_jobs))

    def _counting_parameters(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in self._counting_params}

    def _check_counted_alike(self) -> None:
        for name, value in self._fitted_counting_params.items():
            if getattr(self, name) != value:
                raise ValueError(f"{name} was {value!r} when the documents were learned; fit again to change it.")

    # Priors

    def _log_prior(self, weights: Int64) -> Float64:
        """log p(c) by the documents' summed weights, as ``fit_prior`` and ``class_prior`` have it."""
        n_classes = len(weights)
        if self.class_prior is not None:
            try:
                prior = np.asarray(self.class_prior, dtype=np.float64)
            except (TypeError, ValueError):
                prior = np.zeros(0)  # numbers of classes are positive: refused below
            if prior.shape != (n_classes,) or not (prior >= 0).all() or not math.isclose(prior.sum(), 1.0):
                raise ValueError(
                    f"class_prior must be {n_classes} probabilities that sum to 1, one for each class, "
                    f"got {self.class_prior!r}."
                )
        elif self.fit_prior and weights.any():
            prior = weights / weights.sum(dtype=np.float64)
        else:
            prior = np.full(n_classes, 1 / n_classes)
        with np.errstate(divide="ignore"):  # a class without weight has prior 0
            return np.log(prior)

    def _scale(self, log_prior: Float64) -> Float64:
        return self.prior_scale * log_prior if self.prior_scale > 0 else np.zeros_like(log_prior)

    # Predicting

    @property
    def classes_(self) -> Labels:
        """The labels, in order."""
        check_is_fitted(self)
        return self._accumulator.flush(n_threads(self.n_jobs)).labels

    @property
    def class_count_(self) -> Float64:
        """The documents' summed weights."""
        check_is_fitted(self)
        return self._accumulator.class_weights(n_threads(self.n_jobs))

    def predict(self, X: MatrixLike) -> Labels:
        """The most probable label of each document, as an array of shape (n_documents,)."""
        now = self._now()
        return now._predict_rows(now._check_rows(X))

    def _predict_rows(self, rows: SparseRows) -> Labels:
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
        now = self._now()
        return now._predict_top_rows(now._check_rows(X), k)

    def _predict_top_rows(self, rows: SparseRows, k: int) -> tuple[Labels, Float64]:
        k = min(check_count("k", k), len(self.classes_))
        columns, probabilities = top_of(self._score_blocks(rows), k, n_threads(self.n_jobs))
        return self.classes_[columns], probabilities

    def predict_joint_log_proba(self, X: MatrixLike) -> Float64:
        """log p(c, d): an array of shape (n_documents, n_classes), unnormalised."""
        now = self._now()
        return now._joint_log_likelihood(now._check_rows(X))

    def predict_log_proba(self, X: MatrixLike) -> Float64:
        """log p(c | d): an array of shape (n_documents, n_classes)."""
        now = self._now()
        return now._log_proba_rows(now._check_rows(X))

    def _log_proba_rows(self, rows: SparseRows) -> Float64:
        return self._normalize(self._joint_log_likelihood(rows))

    def predict_proba(self, X: MatrixLike) -> Float64:
        """p(c | d): an array of shape (n_documents, n_classes), rows summing to one."""
        log_proba = self.predict_log_proba(X)
        return np.exp(log_proba, out=log_proba)

    def _joint_log_likelihood(self, rows: SparseRows) -> Float64:
        """log p(c, d) for each document and class. Columns that were not trained are ignored."""
        return self._scores(self._read(rows))

    def _scores(self, rows: SparseRows) -> Float64:
        """log p(c, d) of documents that are read: by the score table, unless the model says otherwise."""
        return self._score_table.scores(rows, n_threads(self.n_jobs))

    def _best_classes(self, rows: SparseRows) -> NDArray[np.integer]:
        # By name: a check against a Protocol takes as long as the answer.
        best: Callable[[SparseRows, int], Int32] | None = getattr(self._parameters, "best_classes", None)
        return best_of(self._score_blocks(rows)) if best is None else best(self._read(rows), n_threads(self.n_jobs))

    def _score_blocks(self, rows: SparseRows) -> Iterator[Float64]:
        return score_blocks(self._joint_log_likelihood, rows, len(self.classes_))

    def _normalize(self, scores: Float64) -> Float64:
        _core.normalize_log_rows(scores, n_threads(self.n_jobs))
        return scores

    def _add_scores(self, rows: SparseRows, factors: Float64, total: Float64, distances: Float64) -> None:
        """Add the scores of each document, up to a constant per document, times its factor to ``total``.

        Quantized scores may be added; the largest error of a difference of two is then added to ``distances``.
        """
        table = self._parameters
        if isinstance(table, ScoreTable):
            table.add_scores(self._read(rows), factors, total, distances, n_threads(self.n_jobs))
        else:
            _core.add_scaled_rows(self._joint_log_likelihood(rows), factors, total, n_threads(self.n_jobs))

    def _log_evidence(self, row: SparseRows, classes: Sequence[int]) -> tuple[Float64, Float64]:
        """What the prior (k,) and each of one document's words (n_entries, k) add to some classes' scores."""
        return self._row_evidence(self._read(row), classes)

    def _row_evidence(self, row: SparseRows, classes: Sequence[int]) -> tuple[Float64, Float64]:
        """As `_log_evidence`, of a document that is read."""
        return self._score_table.row_evidence(row, classes)

    def _evidence_terms(self, row: SparseRows, classes: Sequence[int]) -> dict[str, Float64]:
        return self._row_terms(self._read(row), classes)

    def _row_terms(self, row: SparseRows, classes: Sequence[int]) -> dict[str, Float64]:
        """What a document, read, adds to some classes' scores beside the prior and its words, by name: none."""
        return {}

    @only_if(_can_leave_out)
    def leave_one_out_log_proba(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Float64:
        """log p(c | d) for training documents, each by the model trained without it.

        Exact, without refitting: only the document's own class changes. Words keep their columns.

        Parameters
        ----------
        X, y, sample_weight
            Training documents, as given to `fit`.

        Returns
        -------
        array of shape (n_documents, n_classes)
            A class whose only document is left out has -inf.

        Raises
        ------
        ValueError
            If a document is not among those learned.
        """
        now = self._now()
        return now._leave_one_out(add_duplicates(now._check_rows(X)), y, sample_weight)

    @only_if(_can_leave_out)
    def _leave_one_out(self, rows: SparseRows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Float64:
        self._check_parameters()
        self._check_counted_alike()
        batch, threads = self._batch(rows, y, sample_weight), n_threads(self.n_jobs)
        own, counts = self._accumulator.own_classes(batch, threads), self._accumulator.checked(threads)
        log_prior = self._log_prior(counts.weights)
        scores, without = self._scores_without(batch, own, self._scale(log_prior))
        prior = log_prior[own]
        if self.class_prior is None and self.fit_prior and counts.weights.any():
            # The smaller sum of all weights divides every class's prior alike, and so does not matter.
            total = counts.weights.sum(dtype=np.float64)
            with np.errstate(divide="ignore"):
                prior = np.log((counts.weights[own] - batch.weights) / total)
            for d in np.flatnonzero(batch.weights / total == 1).tolist():  # no other has weight: equal priors
                scores[d] = self._scores_without(_one(batch, d), own[d : d + 1], np.zeros(counts.n_classes))[0]
                prior[d] = 0
        alone = (counts.documents[own] == 1) & ~counts.declared[own]
        scores[np.arange(len(own)), own] = np.where(alone, -np.inf, self._scale(prior) + without)
        return self._normalize(scores)

    def _check_rows(self, X: MatrixLike) -> SparseRows:
        check_is_fitted(self)
        return to_rows(validate_data(self, X, reset=False, accept_sparse="csr"))

    def _training_rows(self, X: Samples) -> SparseRows:
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

    # Keeping

    def _get_state(self) -> dict[str, object]:
        """Everything learned, as arrays that can be mapped from a file; enough to continue learning."""
        table = self._table_state()
        counted = self._fitted_counting_params if self._learns_more else {}
        named = {self._state_name(name): value for name, value in counted.items()}
        receipt = {} if self._receipt is None else self._receipt.to_state()
        return named | self._accumulator.to_state(n_threads(self.n_jobs)) | table | receipt

    def _set_state(self, state: State) -> None:
        """Restore what `_get_state` returned. Shapes are checked here, contents on first use."""
        try:
            names = self._counting_params if self._learns_more else ()
            counted = {name: state[self._state_name(name)] for name in names}
            how = type(self)(**counted)
            how._check_parameters()
            self._set_statistics(how._new_accumulator().restored(state))
            self._fitted_counting_params = counted
            self._parameters_cache = self._table_from_state(state)
            self._receipt = Receipt.from_state(state)
        except KeyError as error:
            raise ValueError(f"the model's state lacks {error}.") from None

    def _state_name(self, name: str) -> str:
        """The key of a parameter of `_counting_params` in the state, distinct from the accumulator's keys."""
        return f"counted_{name}" if name in self._remembers.state_names else name

    def _table_state(self) -> dict[str, object]:
        """The table, as arrays that can be mapped from a file."""
        return self._score_table.to_state()

    def _table_from_state(self, state: State) -> Table | None:
        """The table that `_table_state` gave, checked against the counts; None where it is made again."""
        table = self._scores_by.from_state(state)
        table.check_against(self._accumulator.flush())
        return cast("Table", table)


def _one(batch: Batch, d: int) -> Batch:
    """A batch of one document."""
    here = slice(d, d + 1)
    rows = slice_rows(batch.rows, d, d + 1)
    return replace(batch, rows=rows, scales=batch.scales[here], codes=batch.codes[here], weights=batch.weights[here])
