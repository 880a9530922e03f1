"""From the probabilities of labels to sets of labels, for the measure that matters.

Which labels to give depends on what is measured. With p_l the probability that a document has label l, the F1 that k
labels can expect is about

    F(k) = 2 * sum of the k largest p  /  (k + sum of all p)

over the labels of one document (F1 of each document, averaged), over the documents of one label (F1 of each label,
averaged: macro), or over all pairs (micro). The best k is where F(k) is largest.

Scores that are no probabilities are cut at thresholds found on held-out documents, label by label (SCut), with the
guard of Yang (2001), FBR: a threshold that does worse than ``guard`` is no threshold, and the label is hardly given.
"""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from genus.base.arrays import Float64, Int64
from genus.base.protocol import Samples, Targets
from genus.multilabel.metrics import label_scores

OBJECTIVES = ("example_f1", "micro_f1", "macro_f1")


class LabelDecoder(BaseEstimator):  # type: ignore[misc]
    """Sets of labels that can expect the best F1, from any estimator's probabilities of labels.

    Parameters
    ----------
    objective : {"example_f1", "micro_f1", "macro_f1"}, default="example_f1"
        Whose F1: each document's, that of all pairs of document and label, or each label's.
    at_least_one : bool, default=True
        Give the most probable label where none would be given.

    Attributes
    ----------
    thresholds_ : array of shape (n_labels,)
        For "micro_f1" and "macro_f1": the probability from which on a label is given.

    Examples
    --------
    >>> P = np.array([[0.9, 0.6, 0.1], [0.3, 0.2, 0.1]])
    >>> LabelDecoder("example_f1").fit(P).predict(P).astype(int)
    array([[1, 1, 0],
           [1, 1, 0]])
    >>> LabelDecoder("micro_f1").fit(P).predict(P).astype(int)
    array([[1, 1, 0],
           [1, 0, 0]])
    """

    thresholds_: Float64

    def __init__(self, objective: str = "example_f1", *, at_least_one: bool = True) -> None:
        self.objective = objective
        self.at_least_one = at_least_one

    def fit(self, P: Samples, y: Targets = None) -> Self:
        """Find thresholds that can expect the best F1 on documents like these.

        Parameters
        ----------
        P : array or sparse matrix of shape (n_documents, n_labels)
            Probabilities of labels for documents that the estimator was not fitted to. In a sparse matrix, labels
            that are not stored are out of the question.
        y : array of shape (n_documents, n_labels), default=None
            Zeros and ones: with them, the threshold of "micro_f1" is the best there is, and not the best expected.
        """
        if self.objective not in OBJECTIVES:
            raise ValueError(f"objective must be one of {', '.join(map(repr, OBJECTIVES))}, got {self.objective!r}.")
        marginals = _marginals(P)
        self.n_labels_ = marginals.shape[1]
        if self.objective == "micro_f1":
            cut = _best_cut(marginals.data) if y is None else _best_threshold(marginals.toarray(), np.asarray(y) != 0)
            self.thresholds_ = np.full(self.n_labels_, cut)
        elif self.objective == "macro_f1":
            columns = marginals.tocsc()
            bounds = columns.indptr
            cuts = [_best_cut(columns.data[bounds[c] : bounds[c + 1]]) for c in range(self.n_labels_)]
            self.thresholds_ = np.array(cuts)
        return self

    def predict(self, P: Samples) -> Targets:
        """Which labels to give: booleans, as an array or sparse matrix like P."""
        check_is_fitted(self, "n_labels_")
        marginals = _marginals(P)
        if marginals.shape[1] != self.n_labels_:
            raise ValueError(f"P must have {self.n_labels_} columns, one for each label, got {marginals.shape[1]}.")
        chosen = self._best_few(marginals) if self.objective == "example_f1" else self._passing(marginals)
        given = marginals.astype(bool)
        given.data = chosen
        given.eliminate_zeros()
        return given if sparse.issparse(P) else given.toarray()

    def _best_few(self, marginals: Any) -> NDArray[np.bool_]:
        """Whether each cell is among those that can expect the best F1 of their document."""
        rows, order = _rows(marginals), _falling(marginals)
        rank = np.arange(len(rows)) - marginals.indptr[rows]
        sizes = _best_sizes(marginals.data[order], marginals.indptr, self.at_least_one)
        chosen = np.empty(len(rows), dtype=bool)
        chosen[order] = rank < sizes[rows]
        return chosen

    def _passing(self, marginals: sparse.csr_array) -> NDArray[np.bool_]:
        """Whether each cell passes its label's threshold, or is the best of a document where none does."""
        chosen = np.asarray(marginals.data >= self.thresholds_[marginals.indices])
        if self.at_least_one and len(chosen):
            rows, best = _rows(marginals), _first_largest(marginals)
            served = np.bincount(rows[chosen], minlength=marginals.shape[0]) > 0
            chosen[best[~served[rows[best]]]] = True
        return chosen


def best_decoder(P: Float64, truth: NDArray[np.bool_], objective: str) -> LabelDecoder:
    """The decoder that does best on these documents by ``objective``, whatever its own is; the first of equal ones."""
    fitted = [LabelDecoder(name, at_least_one=one).fit(P, truth) for one in (True, False) for name in OBJECTIVES]
    return max(fitted, key=lambda decoder: label_scores(decoder.predict(P), truth)[objective])


def _marginals(P: Samples) -> Any:
    matrix = sparse.csr_array(P, dtype=np.float64)
    if not ((matrix.data >= 0) & (matrix.data <= 1 + 1e-9)).all():
        raise ValueError("P must hold probabilities, from 0 to 1.")
    return matrix


def _rows(matrix: sparse.csr_array) -> Int64:
    """The row of each cell."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def _falling(matrix: sparse.csr_array) -> Int64:
    """The cells of each row, the largest first."""
    n_rows, n_columns = matrix.shape
    if matrix.nnz == n_rows * n_columns:
        order = np.argsort(-matrix.data.reshape(n_rows, n_columns), axis=1, kind="stable")
        return np.asarray((order + matrix.indptr[:-1, np.newaxis]).ravel())
    return np.lexsort((-matrix.data, _rows(matrix)))


def _first_largest(matrix: sparse.csr_array) -> Int64:
    """The largest cell of each row that has cells, the first of equal ones."""
    starts = matrix.indptr[:-1][np.diff(matrix.indptr) > 0]
    largest = np.repeat(np.maximum.reduceat(matrix.data, starts), np.diff(np.append(starts, matrix.nnz)))
    cells = np.flatnonzero(matrix.data == largest)
    return np.asarray(cells[np.searchsorted(cells, starts)])


def _best_cut(p: Float64) -> float:
    """The probability from which on labels are to be given: half of the best F(k).

    One more label of probability p makes F(k) larger where p > F(k) / 2; on these documents that gives the k best.
    """
    if not len(p) or not p.any():
        return math.inf
    ordered = np.sort(p)[::-1]
    expected = 2 * np.cumsum(ordered) / (np.arange(1, len(p) + 1) + ordered.sum())
    return float(expected.max() / 2)


def _best_threshold(P: Float64, truth: NDArray[np.bool_]) -> float:
    """The probability from which on all labels are to be given, for the best F1 of all pairs."""
    if P.shape != truth.shape:
        raise ValueError(f"P and y must be of one shape, got {P.shape} and {truth.shape}.")
    order = np.argsort(-P, axis=None, kind="stable")
    hits = truth.ravel()[order].cumsum()
    f1 = 2 * hits / (np.arange(1, len(hits) + 1) + truth.sum())
    return float(P.ravel()[order[int(f1.argmax())]])


def _best_sizes(p: Float64, indptr: Int64, at_least_one: bool) -> Int64:
    """How many labels each document gets; probabilities fall within a document."""
    lengths = np.diff(indptr)
    sizes = np.zeros(len(lengths), dtype=np.int64)
    filled = np.flatnonzero(lengths > 0)
    if not len(filled):
        return sizes
    starts, rows = indptr[filled], np.repeat(np.arange(len(filled)), lengths[filled])
    rank = np.arange(len(p)) - starts[rows]
    sums = np.concatenate(([0.0], np.cumsum(p)))
    reached = sums[1:] - sums[starts][rows]
    expected = 2 * reached / (rank + 1 + np.add.reduceat(p, starts)[rows])
    best = np.maximum.reduceat(expected, starts)
    sizes[filled] = np.minimum.reduceat(np.where(expected == best[rows], rank, len(p)), starts) + 1
    if not at_least_one:  # the chance that a document has no label, and giving none is right
        none = np.exp(np.add.reduceat(np.log1p(-np.minimum(p, 1 - 1e-12)), starts))
        sizes[filled[none > best]] = 0
    return sizes


def scut_thresholds(scores: ArrayLike, y: Targets, guard: float = 0.1) -> Float64:
    """The thresholds of best F1, label by label, on held-out documents (SCutFBR).

    Parameters
    ----------
    scores : array of shape (n_documents, n_labels)
        Scores of documents that the estimator was not fitted to; -inf for labels that are out of the question.
    y : array or sparse matrix of shape (n_documents, n_labels)
        Zeros and ones.
    guard : float, default=0.1
        Where the best F1 is below this, the threshold is the highest score.

    Returns
    -------
    array of shape (n_labels,)
        A label with a score from its threshold on is to be given. A label that no document has gets +inf.

    Examples
    --------
    >>> scut_thresholds([[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]], [[1, 0], [1, 0], [0, 0]])
    array([ 2., inf])
    """
    table = np.asarray(scores, dtype=np.float64)
    truth: NDArray[Any] = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
    if table.shape != truth.shape:
        raise ValueError(f"scores and y must be of one shape, got {table.shape} and {truth.shape}.")
    thresholds = np.full(table.shape[1], math.inf)
    given = np.arange(1, len(table) + 1)
    for c in np.flatnonzero(truth.any(axis=0)):
        order = np.argsort(-table[:, c], kind="stable")
        ordered = table[order, c]
        f1 = 2 * np.cumsum(truth[order, c]) / (given + truth[:, c].sum())
        f1[:-1][ordered[:-1] == ordered[1:]] = 0  # equal scores are given together
        best = int(f1.argmax())
        cut = ordered[best] if f1[best] >= guard else ordered[0]
        thresholds[c] = cut if cut > -math.inf else math.inf
    return thresholds
