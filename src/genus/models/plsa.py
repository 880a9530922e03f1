"""Probabilistic latent semantic analysis with classes as topics: a document is a mixture of classes of its own.

    P(w|d) = sum over classes c of P(w|c) * P(c|d)                                                       (eq. 14)

P(w|c) starts from the class's counts, P(c|d) of a training document from its label; a few steps of tempered EM let
documents be partly about other classes. A new document is folded in: EM finds its P(c|d) with P(w|c) fixed.

Hofmann, T.: Probabilistic latent semantic indexing (SIGIR 1999); as a classifier in Toutanova, K., Chen, F., Popat, K.,
Hofmann, T. (CIKM 2001), section 3.2.2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from genus import _core
from genus.base.arrays import Float64, Int64, State, n_threads
from genus.base.documents import DocumentAccumulator
from genus.base.estimator import GenerativeClassifier
from genus.base.rows import SparseRows
from genus.base.score_table import top_words
from genus.base.statistics import ONE, ClassCounts
from genus.base.validation import SMALLEST, check_number, check_positive, check_steps

_LARGEST = 1 << 29  # numbers in the table of words x classes: 4 GB


@dataclass(frozen=True)
class _Aspects:
    """P(w|c), by word: (n_words, n_classes); and to the power by which it is tempered."""

    table: Float64
    tempering: float

    @cached_property
    def tempered(self) -> Float64:
        return np.asarray(self.table**self.tempering)


class PLSAClassifier(GenerativeClassifier[_Aspects]):
    """Documents as mixtures of classes: the largest share decides.

    EM is in ``cpp/mixtures/plsa.cpp``.

    Parameters
    ----------
    alpha : float, default=0.01
        Lidstone smoothing of P(w|c): what is added to every count. Positive.
    n_iterations : int, default=2
        EM steps over the training documents; 0 keeps the classes' own counts.
    tempering : float, default=0.7
        Exponent of P(w|c) P(c|d) in the E-step, above 0 and at most 1: smaller keeps documents more mixed.
    n_fold_in : int, default=10
        EM steps for a new document.
    other_share : float, default=0.01
        How much of a training document is about other classes than its own, to begin with: above 0, below 1.
    n_jobs : int, default=None
        Threads; None and -1 use every core. Results do not depend on it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    n_features_in_ : int
        The number of words N.
    feature_log_prob_ : array of shape (n_classes, n_features)
        log P(w|c).
    class_count_ : array of shape (n_classes,)
        The documents' summed weights.

    Notes
    -----
    ``predict_proba`` is P(c|d), the shares that a document is made of: how much of it is about each class, rather
    than how sure its label is. An empty document has equal shares.

    The table of words x classes is kept in full. Documents are kept too: learning more, merging and unlearning are
    exact, and EM runs again at the next prediction.

    Examples
    --------
    >>> import numpy as np
    >>> from genus import PLSAClassifier
    >>> X = np.array([[3, 1, 0], [2, 0, 0], [0, 1, 3], [0, 0, 2]])
    >>> clf = PLSAClassifier().fit(X, ["sport", "sport", "money", "money"])
    >>> clf.predict([[4, 0, 1]]).tolist()
    ['sport']
    """

    _remembers = DocumentAccumulator

    def __init__(
        self,
        alpha: float = 0.01,
        *,
        n_iterations: int = 2,
        tempering: float = 0.7,
        n_fold_in: int = 10,
        other_share: float = 0.01,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.n_iterations = n_iterations
        self.tempering = tempering
        self.n_fold_in = n_fold_in
        self.other_share = other_share
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        check_positive("alpha", self.alpha)
        check_number("tempering", self.tempering, 1e-6, 1, "a number above 0, at most 1")
        check_number("other_share", self.other_share, 1e-12, 1 - 1e-12, "a number above 0 and below 1")
        check_steps("n_iterations", self.n_iterations, 0)
        check_steps("n_fold_in", self.n_fold_in, 1)
        super()._check_parameters()

    # Counts and parameters

    def _make_parameters(self, counts: ClassCounts) -> _Aspects:
        n_words, n_classes = max(counts.n_words, 1), counts.n_classes
        if n_words * n_classes > _LARGEST:
            raise ValueError(
                f"PLSA keeps a number for every word and class, and {n_words:,} x {n_classes:,} are too many: "
                "select words first (InformationGain), or use another model."
            )
        table = np.zeros((n_words, n_classes))
        table[np.repeat(np.arange(counts.n_words), np.diff(counts.indptr)), counts.classes] = counts.counts / ONE
        table = self._smoothed(table)
        documents = self._documents.in_order
        mixtures = np.full((len(documents.codes), n_classes), self.other_share / max(n_classes - 1, 1))
        mixtures[np.arange(len(documents.codes)), documents.codes] = 1 - self.other_share if n_classes > 1 else 1.0
        for _ in range(self.n_iterations):
            sums = np.zeros_like(table)
            _core.plsa_step(  # EM of eq. 14
                table**self.tempering, documents.rows.indptr, documents.rows.indices, documents.values,
                documents.weights / ONE, self.tempering, mixtures, sums, n_threads(self.n_jobs),
            )  # fmt: skip
            table = self._smoothed(sums)
        return _Aspects(table, float(self.tempering))

    def _smoothed(self, sums: Float64) -> Float64:
        """Shares of words, of sums that ``alpha`` was added to."""
        sums += self.alpha
        sums /= sums.sum(axis=0)
        return sums

    # Scores

    def _scores(self, rows: SparseRows) -> Float64:
        shares = self._fold_in(rows, self.n_fold_in)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(shares, out=shares))

    def _fold_in(self, rows: SparseRows, n_steps: int) -> Float64:
        """P(c|d)."""
        tempered = self._parameters.tempered
        mixtures = np.empty((rows.n_rows, tempered.shape[1]))
        _core.fold_in(  # EM of eq. 14, with P(w|c) fixed
            tempered, rows.indptr, rows.indices, rows.data,
            self.tempering, n_steps, mixtures, n_threads(self.n_jobs),
        )  # fmt: skip
        return mixtures

    # Looking inside

    @property
    def feature_log_prob_(self) -> Float64:
        return np.asarray(np.log(self._parameters.table).T)

    def _row_evidence(self, row: SparseRows, classes: Sequence[int]) -> tuple[Float64, Float64]:
        """What each of one document's words adds to the log odds of the first two classes; there is no prior.

        P(c|d) is the mean over words of P(c|d,w). The log odds of two classes are shared out among the words as
        the difference of their P(c|d) is.
        """
        tempered = self._parameters.tempered
        ids = np.asarray(classes, dtype=np.int64)
        before = self._fold_in(row, self.n_fold_in - 1)[0]  # what the words' shares are made with
        known = (row.indices >= 0) & (row.indices < len(tempered))
        parts = np.zeros((len(row.indices), tempered.shape[1]))
        parts[known] = tempered[row.indices[known]] * before**self.tempering
        parts /= np.maximum(parts.sum(axis=1, keepdims=True), SMALLEST)
        parts *= (np.asarray(row.data, dtype=np.float64) / max(row.data[known].sum(), SMALLEST))[:, np.newaxis]
        first, second = np.maximum(parts.sum(axis=0)[ids[[0, -1]]], SMALLEST)
        odds = math.log(first) - math.log(second)
        scale = odds / (first - second) if first != second else 1 / first
        return np.zeros(len(ids)), parts[:, ids] * scale

    def _top_words(self, c: int, n: int) -> tuple[Int64, Float64]:
        """The strongest words for class c: P(w|c) * log(P(w|c) / mean of P(w|c') over classes)."""
        table = self._parameters.table
        return top_words(np.arange(len(table)), table[:, c] * np.log(table[:, c] / table.mean(axis=1)), n)

    # Keeping

    def _table_state(self) -> dict[str, object]:
        return {"table": self._parameters.table}

    def _table_from_state(self, state: State) -> _Aspects:
        table, counts = state["table"], self._accumulator.flush()
        expected = max(counts.n_words, 1), counts.n_classes
        if not isinstance(table, np.ndarray) or table.dtype != np.float64 or table.shape != expected:
            raise ValueError(f"table must be an array of {expected[0]} x {expected[1]} float64 numbers.")
        return _Aspects(table, float(self.tempering))
