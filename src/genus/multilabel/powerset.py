"""Several labels per document, by one class for each set of labels.

The label powerset turns a multi-label problem into a multi-class one: every set of labels that some training
document has is a class. A label's probability is then the sum over the sets that hold it,

    P(l | d) = sum over sets s with l in s of P(s | d).

Sets are kept as sparse rows over the labels, and nothing of size documents x sets is ever held at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, Self, TypeVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import Tags, check_consistent_length
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from genus.base.arrays import Float64, Int64
from genus.base.label_sets import KINDS, LabelSets, SetRows, as_given, check_same_kind, no_rows, read_target
from genus.base.labels import Labels, positions, unite_labels
from genus.base.protocol import Label, Samples, State, Targets
from genus.base.samples import n_samples, take_samples

_BLOCK = 1 << 22  # probabilities of documents x sets held at once: 32 MB

Method = TypeVar("Method", bound=Callable[..., object])


def _if_inner_has(*names: str) -> Callable[[Method], Method]:
    """Marks a method that is there if the estimator, fitted or not yet, has one of these."""

    def check(self: LabelPowerset) -> bool:
        estimator = getattr(self, "estimator_", self.estimator)
        return any(hasattr(estimator, name) for name in names)

    decorator: Callable[[Method], Method] = available_if(check)
    return decorator


class LabelPowerset(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Several labels per document: each set of labels seen in training is a class of ``estimator``.

    Labels come in one of two ways, and `predict` answers in the way that `fit` was asked:

    - an indicator: a matrix of shape (n_documents, n_labels), dense or sparse, of zeros and ones, as in
      scikit-learn. `predict` gives a matrix of the same kind;
    - collections: a list with a set, list or tuple of labels (text or numbers) for each document. `predict`
      gives a list of sets. A list of lists is always this; make an array of it if it is an indicator.

    A document may have no label: the empty set is a class like any other. Only sets seen in training are ever
    predicted.

    Parameters
    ----------
    estimator : classifier
        Any genus or scikit-learn classifier. It is cloned; its classes are the numbers of the label sets.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        The labels, sorted; column numbers for an indicator. A label stays when the last set with it is unlearned.
    label_sets_ : list of frozenset
        The label sets, in the order of ``estimator_.classes_``.
    estimator_ : classifier
        The fitted estimator.

    Examples
    --------
    >>> from genus import LabelPowerset, MultinomialNB
    >>> X, y = [[2, 0, 1], [0, 3, 0], [1, 2, 0]], [{"sport"}, {"money"}, {"money", "sport"}]
    >>> clf = LabelPowerset(MultinomialNB()).fit(X, y)
    >>> [sorted(labels) for labels in clf.predict([[1, 1, 0], [3, 0, 1]])]
    [['money', 'sport'], ['sport']]
    >>> clf.predict_proba([[1, 1, 0]]).round(2).tolist(), clf.classes_.tolist()
    ([[0.77, 0.69]], ['money', 'sport'])
    """

    estimator_: Any
    classes_: Labels
    _sets: LabelSets
    _kind: str

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    # Learning

    def fit(self, X: Samples, y: Targets, **fit_params: object) -> Self:
        """Learn from documents and their sets of labels.

        Parameters
        ----------
        X : whatever the estimator takes
        y : array or sparse matrix of shape (n_documents, n_labels), or list of sets of labels
        **fit_params : passed to the estimator, for instance ``sample_weight``

        Returns
        -------
        self
        """
        target = read_target(y)
        check_consistent_length(X, target.rows)
        if len(target.labels) == 0:
            raise ValueError("y must hold at least one label, but every document's set is empty.")
        sets = LabelSets.from_rows(target.rows)
        codes = sets.find(target.rows)
        self.estimator_ = clone(self.estimator).fit(X, codes, **fit_params)
        self.classes_, self._sets, self._kind = target.labels, sets, target.kind
        return self

    @_if_inner_has("partial_fit")
    def partial_fit(self, X: Samples, y: Targets, label_sets: object = None, **fit_params: object) -> Self:
        """Learn from more documents, where the estimator can.

        New labels (of collections) and new sets may come at any time if the estimator takes new classes at any
        time, as genus models do. scikit-learn's must know all sets at the first call.

        Parameters
        ----------
        X, y : as for `fit`
        label_sets : as y, default=None
            Label sets to know of even without documents. For scikit-learn's estimators, all there will be.
        **fit_params : passed to the estimator

        Returns
        -------
        self
        """
        target = read_target(y)
        check_consistent_length(X, target.rows)
        declared = None if label_sets is None else read_target(label_sets)
        labels, sets, kind = target.labels, LabelSets.from_rows(no_rows()), target.kind
        first = not hasattr(self, "estimator_")
        if not first:
            labels, sets, kind = self.classes_, self._sets, self._kind
        parts = [part for part in (target, declared) if part is not None]
        for part in parts:
            check_same_kind(kind, len(labels), part)
            united = unite_labels(labels, part.labels)
            sets, labels = sets.relabelled(positions(labels, united)), united
        for part in parts:
            sets = sets.grown(part.among(labels))
        if declared is not None:
            fit_params["classes"] = np.unique(sets.find(declared.among(labels)))
        estimator = clone(self.estimator) if first else self.estimator_
        estimator.partial_fit(X, sets.find(target.among(labels)), **fit_params)
        self.estimator_, self.classes_, self._sets, self._kind = estimator, labels, sets, kind
        return self

    @_if_inner_has("unlearn")
    def unlearn(self, X: Samples, y: Targets, **params: object) -> Self:
        """Take documents out again, where the estimator can. Labels stay; a set goes with its last document.

        Raises
        ------
        ValueError
            If these documents were never learned with these sets. Nothing has then changed.
        """
        check_is_fitted(self)
        codes = self._codes(y)
        if (codes < 0).any():
            raise ValueError(f"cannot unlearn row {int(codes.argmin())}: no document with these labels was learned.")
        self.estimator_.unlearn(X, codes, **params)
        return self

    # Answering

    def predict(self, X: Samples) -> Targets:
        """The labels of each document: an indicator or a list of sets, as y was in `fit`."""
        check_is_fitted(self)
        return as_given(self._kind, self._sets.take(np.asarray(self.estimator_.predict(X))), self.classes_)

    @_if_inner_has("predict_proba")
    def predict_proba(self, X: Samples) -> Float64:
        """The probability of each label: an array of shape (n_documents, n_labels), in the order of `classes_`.

        Labels are not exclusive: rows need not sum to one.
        """
        check_is_fitted(self)
        chosen = self._sets.take(np.asarray(self.estimator_.classes_))
        members = sparse.csr_array(
            (np.ones(len(chosen.members)), chosen.members, chosen.indptr),
            shape=(len(chosen), len(self.classes_)),
        )
        blocks: list[Any] = [proba @ members for proba in self._proba_blocks(X)]
        marginals: Float64 = np.concatenate(blocks)
        return np.minimum(marginals, 1.0, out=marginals)  # sums of rounded numbers may end just above

    @_if_inner_has("predict_top", "predict_proba")
    def predict_top_sets(self, X: Samples, k: int = 5) -> tuple[list[list[frozenset[Label]]], Float64]:
        """The ``k`` most probable label sets of each document.

        Parameters
        ----------
        X : as for `fit`
        k : int, default=5
            How many; all sets, where there are fewer.

        Returns
        -------
        label_sets : list of n_documents lists of k frozensets
            The most probable first.
        probabilities : array of shape (n_documents, k)
        """
        check_is_fitted(self)
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
            raise ValueError(f"k must be a positive integer, got {k!r}.")
        ids, probabilities = self._top(X, int(k))
        n, k = ids.shape
        names = [frozenset(labels) for labels in self._named(self._sets.take(ids.ravel()))]
        return [names[d * k : (d + 1) * k] for d in range(n)], probabilities

    def score(self, X: Samples, y: Targets, sample_weight: Any = None) -> float:
        """The share of documents whose set of labels is exactly right."""
        check_is_fitted(self)
        right = np.asarray(self.estimator_.predict(X)) == self._codes(y)
        return float(np.average(right, weights=sample_weight))

    @property
    def label_sets_(self) -> list[frozenset[Label]]:
        check_is_fitted(self)
        return [frozenset(labels) for labels in self._named(self._sets.take(np.asarray(self.estimator_.classes_)))]

    @property
    def n_features_in_(self) -> int:
        n: int = self.estimator_.n_features_in_
        return n

    def _top(self, X: Samples, k: int) -> tuple[Labels, Float64]:
        if hasattr(self.estimator_, "predict_top"):
            top: tuple[Labels, Float64] = self.estimator_.predict_top(X, k)
            return top
        classes = np.asarray(self.estimator_.classes_)
        k = min(k, len(classes))
        ids, probabilities = [], []
        for proba in self._proba_blocks(X):
            order = np.argsort(-proba, axis=1, kind="stable")[:, :k]
            ids.append(classes[order])
            probabilities.append(np.take_along_axis(proba, order, axis=1))
        return np.concatenate(ids), np.concatenate(probabilities)

    def _proba_blocks(self, X: Samples) -> Iterator[Float64]:
        n, size = n_samples(X), max(1, _BLOCK // len(self.estimator_.classes_))
        for begin in range(0, max(n, 1), size):
            block = X if size >= n else take_samples(X, slice(begin, begin + size))
            yield self.estimator_.predict_proba(block)

    def _named(self, rows: SetRows) -> list[list[object]]:
        labels = self.classes_[rows.members].tolist()
        return [labels[a:b] for a, b in pairwise(rows.indptr.tolist())]

    def _codes(self, y: Targets) -> Int64:
        """The number of each document's label set, -1 for a set that is not known."""
        target = read_target(y)
        check_same_kind(self._kind, len(self.classes_), target)
        unite_labels(self.classes_[:1], target.labels[:1])  # refuses labels of another kind
        known = np.isin(target.labels, self.classes_)
        codes = self._sets.find(target.among(self.classes_))
        strange = np.zeros(len(codes), dtype=bool)
        strange[np.repeat(np.arange(len(codes)), np.diff(target.rows.indptr))[~known[target.rows.members]]] = True
        return np.where(strange, -1, codes)

    # Keeping

    def _get_state(self) -> State:
        check_is_fitted(self)
        rows = self._sets.rows
        return {
            "estimator": self.estimator_,
            "labels": self.classes_,
            "indptr": rows.indptr,
            "members": rows.members,
            "kind": self._kind,
        }

    def _set_state(self, state: State) -> None:
        estimator, labels, kind = state["estimator"], state["labels"], state["kind"]
        rows = SetRows(state["indptr"], state["members"])
        if kind not in KINDS or not hasattr(estimator, "predict"):
            raise ValueError("an estimator and a kind of labels were expected")
        if not isinstance(labels, np.ndarray) or labels.ndim != 1 or not (labels[1:] > labels[:-1]).all():
            raise ValueError("labels must be a sorted one-dimensional array")
        rows.check(len(labels))
        ids = np.asarray(estimator.classes_)
        if ids.dtype.kind not in "iu" or not len(ids) or ids.min() < 0 or ids.max() >= len(rows):
            raise ValueError("the estimator's classes are not the numbers of the label sets")
        self.estimator_, self.classes_, self._kind, self._sets = estimator, labels, kind, LabelSets(rows)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.single_output = False
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        return tags
