"""Classes as mixtures of their documents: the Tied Document Mixture and its relatives.

    p(d | l) = sum over documents m of class l of c_lm * prod over words n of p_m(n)^w_n             (eq. 1)
    p_m(n)   = (1 - a1 - a2) * pu_m(n) + a1 * ps_l(n) + a2 / N                                       (eq. 2)
    ps_l(n)  = sum over documents m of class l of c_lm * pu_m(n)                                     (eq. 3)

with pu_m(n) the share of word n in document m, c_lm the document's weight (equal by default, summing to one),
and N the number of words. A document is smoothed by its class and by the uniform distribution.

Puurula, A., Myaeng, S.: Integrated instance- and class-based generative modeling for text classification
(ADCS 2013). Its Algorithm 1 is carried out in this form, exact and in logarithms, over an inverted index:

    cls_l   = sum of w_n * log1p(a1 * ps_l(n) * N / a2)
    inst_m  = sum of w_n * log1p((1 - a1 - a2) * pu_m(n) / (a1 * ps_l(n) + a2 / N))
    score_l = a3 * log p(l) + |w| * log(a2 / N) + cls_l + log sum over m of c_lm * exp(inst_m)
"""

from __future__ import annotations

import numpy as np

from genus.base.arrays import Float64, Int32, Int64
from genus.base.rows import SparseRows, row_sums, take_rows
from genus.base.smoothing import TiedPath
from genus.base.validation import SMALLEST, check_count, check_number
from genus.models.document_mixture.base import DocumentMixture, log_weights


class TiedDocumentMixture(DocumentMixture):
    """A class is a mixture of its training documents, each smoothed by the class and by the uniform distribution.

    Joins instance-based learning (the documents most like the query decide) with class-based learning (naive
    Bayes): with ``class_smoothing + background_smoothing == 1`` it is `MultinomialNB` over documents of equal
    weight, with ``class_smoothing == 0`` it is the `KernelDensityClassifier`.

    Scores in ``cpp/documents/document_mixture.cpp``, over ``cpp/documents/inverted_index.cpp``.

    Parameters
    ----------
    class_smoothing : float, default=0.27
        a1, the weight of the class's average document in each document's word probabilities.
    background_smoothing : float, default=0.7
        a2, the weight of the uniform distribution: above 0; ``class_smoothing + background_smoothing`` at most 1.
    prior_scale : float, default=1.0
        a3, multiplies the log prior; 0 ignores it. Not negative.
    n_jobs : int, default=None
        Threads; None and -1 use every core. Results do not depend on it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    n_features_in_ : int
        The number of words N.
    class_count_, class_log_prior_ : arrays of shape (n_classes,)
        The documents' summed weights, and log p(l).

    See Also
    --------
    MultinomialNB : the same without documents.

    Notes
    -----
    ==========  ===========================================  =========================
    symbol      here                                         shape
    ==========  ===========================================  =========================
    w_n         ``X``                                        (n_documents, n_features)
    a1, a2, a3  the first three parameters
    log p(l)    ``class_log_prior_``                         (n_classes,)
    p(l | w)    ``predict_proba``                            (n_documents, n_classes)
    p(m | w)    ``neighbors``, for the documents m that      (n_documents, k)
                matter most
    ==========  ===========================================  =========================

    The defaults are within .0003 of the best mean accuracy of 80 settings, by leaving out one training document at
    a time, over four collections (Reuters R8, WebKB, 20 Newsgroups, IMDb). Tune ``background_smoothing`` on a
    logit scale.

    ``sample_weight`` gives documents weights c_lm. Empty documents count in the prior only; a class whose
    documents are all empty is uniform over words. An empty query gets the prior. Changing the smoothing
    (`set_params`) recomputes the index's values and does not index again; learning more does, at the next
    prediction.
    All sums are of 64-bit numbers: joint log likelihoods agree with the definition to about 1e-12 of their size.

    Examples
    --------
    >>> import numpy as np
    >>> from genus import TiedDocumentMixture
    >>> X = np.array([[2, 1, 0], [1, 0, 0], [0, 1, 3]])
    >>> clf = TiedDocumentMixture().fit(X, ["ham", "ham", "spam"])
    >>> clf.predict([[0, 0, 2]])
    array(['spam'], dtype='<U4')
    >>> documents, shares = clf.neighbors([[1, 1, 0]], k=2)
    >>> documents.tolist()
    [[0, 1]]
    """

    def __init__(
        self,
        class_smoothing: float = 0.27,
        background_smoothing: float = 0.7,
        prior_scale: float = 1.0,
        n_jobs: int | None = None,
    ) -> None:
        self.class_smoothing = class_smoothing
        self.background_smoothing = background_smoothing
        self.prior_scale = prior_scale
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("class_smoothing", self.class_smoothing, 0, 1, "a number from 0 to 1")
        if self.class_smoothing + self.background_smoothing > 1 + 1e-12:
            raise ValueError(
                "class_smoothing + background_smoothing must be at most 1 (the rest is the document's own weight), "
                f"got {self.class_smoothing!r} + {self.background_smoothing!r}."
            )

    @property
    def _path(self) -> TiedPath:
        return TiedPath(float(self.class_smoothing), float(self.background_smoothing))  # eq. 2: a1, a2


class KernelDensityClassifier(DocumentMixture):
    """A class is a mixture of its training documents, each smoothed by the uniform distribution alone.

    The `TiedDocumentMixture` with ``class_smoothing=0``.

    Scores in ``cpp/documents/document_mixture.cpp``.

    Parameters
    ----------
    background_smoothing : float, default=0.95
        a2, the weight of the uniform distribution: above 0, at most 1.
    prior_scale : float, default=1.0
        a3, multiplies the log prior; 0 ignores it. Not negative.
    n_jobs : int, default=None
        Threads; None and -1 use every core. Results do not depend on it.

    Examples
    --------
    >>> from genus import KernelDensityClassifier
    >>> clf = KernelDensityClassifier(0.5).fit([[2, 1, 0], [1, 0, 0], [0, 1, 3]], ["ham", "ham", "spam"])
    >>> clf.predict([[0, 0, 2]])
    array(['spam'], dtype='<U4')
    """

    def __init__(self, background_smoothing: float = 0.95, prior_scale: float = 1.0, n_jobs: int | None = None) -> None:
        self.background_smoothing = background_smoothing
        self.prior_scale = prior_scale
        self.n_jobs = n_jobs


class NearestNeighborsClassifier(DocumentMixture):
    """The training documents under which the query is most probable vote, with that probability.

    The `KernelDensityClassifier` with its sum cut to the ``n_neighbors`` largest terms; equally probable
    documents are taken in an order that depends on the documents alone, not on when they were learned. A class
    without a neighbor has probability 0. A document of weight c counts as c neighbors.

    The nearest documents are found in ``cpp/documents/document_mixture.cpp``.

    Parameters
    ----------
    n_neighbors : int, default=20
        How many documents vote; all, where fewer were learned.
    background_smoothing : float, default=0.95
        a2, the weight of the uniform distribution: above 0, at most 1.
    prior_scale : float, default=1.0
        a3. With 1 every neighbor votes with its own probability; with less, documents of frequent classes
        count less.
    n_jobs : int, default=None
        Threads; None and -1 use every core. Results do not depend on it.

    Notes
    -----
    A query without any word that was seen in training has no neighbors: it gets the prior.

    Examples
    --------
    >>> from genus import NearestNeighborsClassifier
    >>> clf = NearestNeighborsClassifier(1).fit([[2, 1, 0], [1, 0, 0], [0, 1, 3]], ["ham", "ham", "spam"])
    >>> clf.predict_proba([[0, 0, 2]])
    array([[0., 1.]])
    """

    def __init__(
        self,
        n_neighbors: int = 20,
        background_smoothing: float = 0.95,
        prior_scale: float = 1.0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.background_smoothing = background_smoothing
        self.prior_scale = prior_scale
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("n_neighbors", self.n_neighbors)

    def _mixture_scores(self, rows: SparseRows, bias: Float64) -> Float64:
        if self.n_neighbors >= self._index.class_weights.sum():
            return super()._mixture_scores(rows, bias)
        return self._votes(rows, bias, *self._nearest(rows))

    def _nearest(self, rows: SparseRows, without: Int64 | None = None) -> tuple[Int64, Float64, Float64]:
        """The nearest documents, or the nearest but one given for each row: slots, inst_m, and votes."""
        index, k = self._index, self.n_neighbors
        reach = int(np.searchsorted(np.cumsum(np.sort(index.weights)), k)) + 1  # so many weigh k at the least
        bias = np.zeros((1, len(index.class_weights)))
        offsets = np.zeros(index.n_slots)
        slots, scores = self._top_slots(rows, reach + (without is not None), bias, offsets, index.ranks)
        weights = index.weights[slots]
        if without is not None:
            weights = np.where(slots == without[:, np.newaxis], 0.0, weights)
        return slots, scores, np.clip(k - (np.cumsum(weights, axis=1) - weights), 0.0, weights)

    def _votes(self, rows: SparseRows, bias: Float64, slots: Int64, scores: Float64, weights: Float64) -> Float64:
        """Sums of c_m * exp(inst_m) by class; where nothing is known of a query, over all documents."""
        index = self._index
        largest = np.where(weights > 0, scores, -np.inf).max(axis=1, initial=-np.inf, keepdims=True)
        terms = np.exp(np.minimum(scores - largest, 0.0)) * weights
        sums = np.zeros((rows.n_rows, len(bias)))  # eq. 1, over the nearest
        np.add.at(sums, (np.arange(rows.n_rows)[:, np.newaxis], index.class_of_slots(slots)), terms)
        with np.errstate(divide="ignore"):
            votes: Float64 = self._class_scores(rows, bias) + (np.log(sums) + largest)
        unknown = row_sums(rows.indptr, index.known_words(rows)) == 0
        if unknown.any():
            votes[unknown] = super()._mixture_scores(take_rows(rows, np.flatnonzero(unknown)), bias)
        return votes

    def _neighbors_rows(self, rows: SparseRows, k: int) -> tuple[Int64, Float64]:
        k = check_count("k", k)
        index = self._index
        slots, scores, weights = self._nearest(rows)
        scores = scores + np.take_along_axis(
            self._class_scores(rows, self._parameters.table.bias), index.class_of_slots(slots), 1
        )
        total = np.logaddexp.reduce(self._scores(rows), axis=1, keepdims=True)
        shares = weights * np.exp(scores - total)
        best = np.argsort(-shares, axis=1, kind="stable")[:, :k]
        return index.order[np.take_along_axis(slots, best, 1)], np.take_along_axis(shares, best, 1)

    def _likelihood_without(self, rows: SparseRows, own: Int32, slots: Int64) -> Float64:
        index = self._index
        weights = np.append(index.weights, 0.0)[slots]
        if self.n_neighbors >= index.class_weights.sum() - weights.max(initial=0.0):
            return super()._likelihood_without(rows, own, slots)
        bias = -log_weights(index.class_weights)
        votes = self._votes(rows, bias, *self._nearest(rows, slots))
        votes[np.arange(len(own)), own] -= bias[own] + log_weights(index.class_weights[own] - weights)
        return votes

    def _component_shares(self, row: SparseRows, c: int, inst: Float64) -> Float64:
        index = self._index
        if self.n_neighbors >= index.class_weights.sum() or not index.known_words(row).any():
            return super()._component_shares(row, c, inst)
        slots, scores, weights = (part[0] for part in self._nearest(row))
        mine = (index.class_of_slots(slots) == c) & (weights > 0)
        shares = np.zeros(len(inst))
        shares[slots[mine] - index.class_starts[c]] = weights[mine] * np.exp(scores[mine] - scores.max())
        return np.asarray(shares / max(shares.sum(), SMALLEST))
