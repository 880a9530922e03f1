"""Words that distinguish classes, by information gain.

    R(w) = H(c) - P(w not in d) * H(c | w not in d) - P(w in d) * H(c | w in d)

is how much less uncertain a document's class is once it is known whether word w occurs in it (Toutanova and others,
CIKM 2001, eq. 10). All probabilities come from the table of classes x words, in which a document with several labels
counts once under each.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags, check_consistent_length
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from genus import _core
from genus.base.arrays import Float64, Int32, Int64, n_threads
from genus.base.label_sets import SetRows, read_target
from genus.base.labels import encode_labels
from genus.base.protocol import State, Targets
from genus.base.rows import MatrixLike


class InformationGain(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Keeps the words whose presence or absence is most informative about the class.

    Parameters
    ----------
    k : int, default=2000
        How many words to keep; all if there are fewer.
    n_jobs : int or None, default=None
        Threads; None or -1 for all cores. No result depends on it.

    Attributes
    ----------
    scores_ : array of shape (n_words,)
        R(w), in nats.
    n_features_in_ : int

    Examples
    --------
    >>> X = [[1, 2, 0], [3, 0, 0], [1, 0, 2], [1, 0, 1]]
    >>> selector = InformationGain(k=1).fit(X, ["a", "a", "b", "b"])
    >>> selector.scores_.round(3)
    array([0.   , 0.216, 0.693])
    >>> selector.transform(X).tolist()
    [[0], [0], [2], [1]]
    """

    scores_: Float64

    def __init__(self, k: int = 2000, *, n_jobs: int | None = None) -> None:
        self.k = k
        self.n_jobs = n_jobs

    def fit(self, X: MatrixLike, y: Targets) -> Self:
        """Measure every word.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_words)
            A word is in a document where this is not zero.
        y : array of shape (n_documents,), indicator of shape (n_documents, n_labels), or list of sets of labels
        """
        if isinstance(self.k, bool) or not isinstance(self.k, (int, np.integer)) or self.k < 1:
            raise ValueError(f"k must be a positive integer, got {self.k!r}.")
        threads = n_threads(self.n_jobs)
        X = sparse.csr_array(validate_data(self, X, accept_sparse="csr"))
        rows, n_classes = _label_rows(y)
        check_consistent_length(X, rows)
        X.sum_duplicates()
        X.eliminate_zeros()
        documents = np.repeat(np.arange(len(rows)), np.diff(rows.indptr))
        present = X[documents]  # once under each label
        table: tuple[Int64, Int32, Int64] = _core.count_by_class(
            present.indptr.astype(np.int64), present.indices.astype(np.int32), np.ones(present.nnz),
            np.ones(len(documents)), rows.members, X.shape[1], n_classes, threads,
        )  # fmt: skip
        totals = np.bincount(rows.members, minlength=n_classes).astype(np.int64)
        self.scores_ = np.maximum(_core.information_gain(*table, totals, threads), 0.0)  # rounding may end below
        return self

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(len(self.scores_), dtype=bool)
        mask[np.lexsort((np.arange(len(mask)), -self.scores_))[: self.k]] = True
        return mask

    def _get_state(self) -> State:
        check_is_fitted(self)
        return {"scores": self.scores_}

    def _set_state(self, state: State) -> None:
        scores = state["scores"]
        if not isinstance(scores, np.ndarray) or scores.dtype != np.float64 or scores.ndim != 1:
            raise ValueError("scores must be an array of float64 numbers")
        self.scores_, self.n_features_in_ = scores, len(scores)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def _label_rows(y: Targets) -> tuple[SetRows, int]:
    """The labels of each document as numbers, and how many labels there are."""
    if y is None:
        raise ValueError("InformationGain requires y to be passed, but the target y is None.")
    if hasattr(y, "__array__") and not sparse.issparse(y):
        y = np.asarray(y)
    several = (set, frozenset, list, tuple, np.ndarray)
    if sparse.issparse(y) or getattr(y, "ndim", 1) == 2 or (len(y) and isinstance(y[0], several)):
        target = read_target(y)
        return target.rows, len(target.labels)
    labels, codes = encode_labels(column_or_1d(y, warn=True))
    return SetRows(np.arange(len(codes) + 1), codes), len(labels)
