"""Nearest neighbours by cosine of TF-IDF weights, for one label per document or several.

    y(x, c) = sum over the k training documents d nearest to x that have label c of cos(x, d)  -  b_c          (eq. 15)

b_c is the threshold of best F1 on training documents, each without itself (Yang and Liu 1999, as in Toutanova and
others, CIKM 2001). With one label per document there are no thresholds, and the largest sum decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_non_negative, column_or_1d, validate_data

from genus.base.arrays import Float64, Int64, State, n_threads
from genus.base.inverted_index import CosineIndex
from genus.base.label_sets import KINDS, SetRows, as_given, read_target
from genus.base.labels import Labels, encode_labels
from genus.base.protocol import Targets
from genus.base.rows import MatrixLike, SparseRows, add_duplicates, slice_rows, to_rows
from genus.base.validation import check_count
from genus.multilabel.decoding import scut_thresholds
from genus.text.weighting import TermWeighting

_BLOCK = 1 << 21  # scores held at once: 16 MB


class CosineNeighborsClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The labels of the nearest training documents, by TF-IDF cosine.

    Neighbours are found in ``cpp/documents/document_mixture.cpp``, over ``cpp/documents/inverted_index.cpp``.

    Parameters
    ----------
    n_neighbors : int, default=30
        k, how many documents vote.
    guard : float, default=0.1
        A label whose best F1 is below this is given only from its highest training score on.
    n_jobs : int, default=None
        Threads; None and -1 use every core. Results do not depend on it.

    Attributes
    ----------
    classes_ : array of shape (n_labels,)
        The labels, sorted; column numbers for an indicator.
    thresholds_ : array of shape (n_labels,)
        b_c, with several labels per document; zeros otherwise.

    Notes
    -----
    Weights are (1 + ln count) * ln(M / df), rows of norm 1. y is one label for each document, or as in `LabelPowerset`
    an indicator or a list of sets; answers come likewise.

    Examples
    --------
    >>> from genus import CosineNeighborsClassifier
    >>> X = [[3, 1, 0, 1], [2, 0, 0, 0], [0, 1, 3, 0], [0, 0, 2, 1]]
    >>> clf = CosineNeighborsClassifier(2).fit(X, ["sport", "sport", "money", "money"])
    >>> clf.predict([[4, 0, 1, 0]]).tolist()
    ['sport']
    """

    classes_: Labels
    thresholds_: Float64

    def __init__(self, n_neighbors: int = 30, *, guard: float = 0.1, n_jobs: int | None = None) -> None:
        self.n_neighbors = n_neighbors
        self.guard = guard
        self.n_jobs = n_jobs

    def fit(self, X: MatrixLike, y: Targets) -> Self:
        """Keep the documents.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_words)
            Word counts.
        y : array of shape (n_documents,), indicator of shape (n_documents, n_labels), or list of sets of labels
        """
        check_count("n_neighbors", self.n_neighbors)
        X = validate_data(self, X, accept_sparse="csr")
        check_non_negative(X, "CosineNeighborsClassifier (input X)")
        self.classes_, self._labels, self._kind = _read_labels(y)
        rows = add_duplicates(to_rows(X))
        check_consistent_length(np.empty(rows.n_rows), self._labels)
        self._weighting = TermWeighting("log", idf="plain", norm="l2", n_jobs=self.n_jobs)
        self._index = CosineIndex(self._weighting._fit_rows(rows))
        self.thresholds_ = np.zeros(len(self.classes_))
        if self._kind != "one":
            self.thresholds_ = self._find_thresholds()
        return self

    def _find_thresholds(self) -> Float64:
        """Of best F1 for training documents, each without itself."""
        n = len(self._index)
        votes = np.concatenate([scores for _, scores in self._votes(self._index.rows, leave_out=True)])
        truth = _members(self._labels, len(self.classes_))
        thresholds = scut_thresholds(votes, truth, self.guard) if n else self.thresholds_
        return np.where(thresholds > 0, thresholds, np.nextafter(0, 1))  # a label without votes is never predicted

    def _votes(self, rows: SparseRows, *, leave_out: bool = False) -> Iterator[tuple[slice, Float64]]:
        """The summed cosines of each label's neighbours, for some documents at a time."""
        members = _members(self._labels, len(self.classes_))
        k = min(self.n_neighbors + leave_out, len(self._index))
        size = max(1, _BLOCK // max(len(self.classes_), k))
        for begin in range(0, rows.n_rows, size):
            block = slice_rows(rows, begin, begin + size)
            documents, cosines = self._index.nearest(block, k, n_threads(self.n_jobs))
            if leave_out:
                own = documents == np.arange(begin, begin + len(documents))[:, np.newaxis]
                own[:, -1] |= ~own.any(axis=1)  # not among the nearest, since k others are equal to it: drop the last
                documents, cosines = (part[~own].reshape(len(part), k - 1) for part in (documents, cosines))
            near = sparse.csr_array(
                (cosines.ravel(), documents.ravel(), np.arange(len(documents) + 1) * documents.shape[1]),
                shape=(len(documents), len(self._index)),
            )
            yield slice(begin, begin + size), (near @ members).toarray()  # eq. 15, without b_c

    # Answering

    def decision_function(self, X: MatrixLike) -> Float64:
        """y(x, c): an array of shape (n_documents, n_labels)."""
        rows = self._check(X)
        out = np.empty((rows.n_rows, len(self.classes_)))
        for part, votes in self._votes(rows):
            out[part] = votes - self.thresholds_  # eq. 15
        if self._kind == "one" and len(self.classes_) == 2:
            return np.asarray(out[:, 1] - out[:, 0])  # scikit-learn's convention
        return out

    def predict(self, X: MatrixLike) -> Targets:
        """The label of each document, or its labels: an indicator or a list of sets, as y was in `fit`."""
        rows = self._check(X)
        parts = []
        for _, votes in self._votes(rows):
            if self._kind == "one":
                parts.append(votes.argmax(axis=1))
            else:
                parts.append(sparse.csr_array(votes >= self.thresholds_))
        if self._kind == "one":
            return self.classes_[np.concatenate(parts)]
        given = sparse.vstack(parts, format="csr")
        return as_given(
            self._kind, SetRows(given.indptr.astype(np.int64), given.indices.astype(np.int32)), self.classes_
        )

    def kneighbors(self, X: MatrixLike, n_neighbors: int | None = None) -> tuple[Float64, Int64]:
        """The nearest training documents: cosines and numbers, the nearest first, each (n_documents, k)."""
        rows = self._check(X)
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        documents, cosines = self._index.nearest(rows, k, n_threads(self.n_jobs))
        return cosines, documents

    def _check(self, X: MatrixLike) -> SparseRows:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr")
        check_non_negative(X, "CosineNeighborsClassifier (input X)")
        return self._weighting._transform_rows(add_duplicates(to_rows(X)))

    # Keeping

    def _get_state(self) -> dict[str, object]:
        check_is_fitted(self)
        return {
            "labels": self.classes_, "kind": self._kind, "thresholds": self.thresholds_,
            "indptr": self._labels.indptr, "members": self._labels.members, "weighting": self._weighting,
            "document_indptr": self._index.rows.indptr, "document_words": self._index.rows.indices,
            "document_values": self._index.rows.data,
        }  # fmt: skip

    def _set_state(self, state: State) -> None:
        labels, kind, thresholds = state["labels"], state["kind"], state["thresholds"]
        sets, weighting = SetRows(state["indptr"], state["members"]), state["weighting"]
        if kind not in (*KINDS, "one") or not isinstance(weighting, TermWeighting):
            raise ValueError("a weighting and a kind of labels were expected")
        if not isinstance(labels, np.ndarray) or labels.ndim != 1 or not (labels[1:] > labels[:-1]).all():
            raise ValueError("labels must be a sorted one-dimensional array")
        if not isinstance(thresholds, np.ndarray) or thresholds.dtype != np.float64 or thresholds.shape != labels.shape:
            raise ValueError("thresholds must be one float64 number for each label")
        sets.check(len(labels))
        n_words = len(weighting.document_frequency_)
        indptr, words, values = (state[f"document_{name}"] for name in ("indptr", "words", "values"))
        matrix = sparse.csr_array((values, words, indptr), shape=(len(sets), n_words))
        matrix.check_format(full_check=True)
        if values.dtype != np.float64 or not np.isfinite(values).all():
            raise ValueError("the documents' values must be finite float64 numbers")
        self.classes_, self._kind, self.thresholds_, self._labels = labels, kind, thresholds, sets
        self._weighting, self.n_features_in_ = weighting, n_words
        self._index = CosineIndex(SparseRows(indptr.astype(np.int64), words.astype(np.int32), values, n_words))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_index")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True
        return tags


def _read_labels(y: Targets) -> tuple[Labels, SetRows, str]:
    """The labels, those of each document, and the form of y: one label each, or a kind of sets."""
    if y is None:
        raise ValueError("CosineNeighborsClassifier requires y to be passed, but the target y is None.")
    if hasattr(y, "__array__") and not sparse.issparse(y):
        y = np.asarray(y)
    matrix = sparse.issparse(y) or getattr(y, "ndim", 1) == 2
    several = (set, frozenset, list, tuple, np.ndarray)
    if (matrix and y.shape[1] > 1) or (not matrix and len(y) and isinstance(y[0], several)):
        target = read_target(y)
        return target.labels, target.rows, target.kind
    column = column_or_1d(y, warn=True)
    check_classification_targets(column)
    labels, codes = encode_labels(column)
    return labels, SetRows(np.arange(len(codes) + 1), codes), "one"


def _members(rows: SetRows, n_labels: int) -> sparse.csr_array:
    ones = np.ones(len(rows.members))
    return sparse.csr_array((ones, rows.members, rows.indptr), shape=(len(rows), n_labels))
