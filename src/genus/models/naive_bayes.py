"""Multinomial naive Bayes: a class is one distribution over words, smoothed towards the uniform one.

    log p(c, d) = prior_scale * log p(c) + sum over words w of x_dw * log p(w | c)
    p(w | c)    = (1 - b) * count_wc / T_c + b / N                                   (Jelinek-Mercer)
    p(w | c)    = (count_wc + alpha) / (T_c + alpha * N)                             (Lidstone)

with count_wc the class's count of word w, T_c its total count and N the number of words. The second is the
first with b = alpha*N / (T_c + alpha*N); see `genus.base.smoothing`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from genus import _core
from genus.base.arrays import Float64, Int32, Int64, n_threads
from genus.base.estimator import GenerativeClassifier
from genus.base.rows import SparseRows
from genus.base.score_table import ScoreTable, top_words
from genus.base.smoothing import JelinekMercer, Lidstone, Smoothing, interpolate, log_uniform
from genus.base.statistics import ONE, Batch, ClassCounts, per_length
from genus.base.validation import SMALLEST, check_choice, check_number, check_positive


class MultinomialNB(GenerativeClassifier[ScoreTable]):
    """Naive Bayes for word counts, learned exactly and scored in proportion to the words.

    The same probabilities as scikit-learn's ``MultinomialNB``, from sums that can be merged, unlearned and
    grown, in memory in proportion to the (word, class) pairs that occur.

    Sums in ``cpp/tables/class_counts.cpp``, scores in ``cpp/tables/score_table.cpp``.

    Parameters
    ----------
    alpha : float, default=1.0
        Lidstone smoothing: what is added to every count. Positive.
    background_smoothing : float, default=None
        If given, replaces ``alpha``: the share of each class's probability that is spread evenly over all
        words, above 0 and at most 1.
    prior_scale : float, default=1.0
        Multiplies the log prior; 0 ignores it. Not negative.
    document_weights : {"length", "equal"}, default="length"
        Whether a document counts by its length, or every document as one (its counts are divided by its
        length). Empty documents count in the prior only.
    fit_prior : bool, default=True
        Learn p(c) from the documents' weights; otherwise all classes are equally probable beforehand.
    class_prior : array of shape (n_classes,), default=None
        p(c), in the order of ``classes_``; replaces learned ones.
    n_jobs : int, default=None
        Threads; None and -1 use every core. Results do not depend on it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    n_features_in_ : int
        The number of words N.
    class_count_, class_log_prior_ : arrays of shape (n_classes,)
        The documents' summed weights, and log p(c).
    feature_count_, feature_log_prob_ : arrays of shape (n_classes, n_features)
        count_wc and log p(w | c). Dense, made anew each time they are asked for.

    Notes
    -----
    ========================  ==========================================  =========================
    symbol                    here                                        shape
    ========================  ==========================================  =========================
    x_dw                      ``X``                                       (n_documents, n_features)
    log p(c)                  ``class_log_prior_``                        (n_classes,)
    log p(w | c)              ``feature_log_prob_``                       (n_classes, n_features)
    log p(c, d)               ``predict_joint_log_proba``                 (n_documents, n_classes)
    ========================  ==========================================  =========================

    A class that has only been announced (``classes`` of `partial_fit`) is uniform over words, with prior 0.
    If all documents weigh nothing, the prior is uniform.

    Examples
    --------
    >>> import numpy as np
    >>> from genus import MultinomialNB
    >>> X = np.array([[2, 1, 0], [1, 0, 0], [0, 1, 3]])
    >>> clf = MultinomialNB().fit(X, ["ham", "ham", "spam"])
    >>> clf.predict([[0, 0, 2]])
    array(['spam'], dtype='<U4')
    >>> clf.unlearn(X[2:], ["spam"]).classes_
    array(['ham'], dtype='<U3')
    """

    _counting_params = ("document_weights",)

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        background_smoothing: float | None = None,
        prior_scale: float = 1.0,
        document_weights: str = "length",
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.background_smoothing = background_smoothing
        self.prior_scale = prior_scale
        self.document_weights = document_weights
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        check_positive("alpha", self.alpha)
        if self.background_smoothing is not None:
            expected = "None or a number above 0, at most 1"
            check_number("background_smoothing", self.background_smoothing, SMALLEST, 1, expected)
        check_choice("document_weights", self.document_weights, ("length", "equal"))
        super()._check_parameters()

    @property
    def _smoothing(self) -> Smoothing:
        if self.background_smoothing is not None:
            return JelinekMercer(float(self.background_smoothing))
        return Lidstone(float(self.alpha))

    # Counts and parameters

    def _scales(self, rows: SparseRows, weights: Float64 | None) -> Float64:
        scales = super()._scales(rows, weights)
        return scales if self.document_weights == "length" else per_length(scales, rows, n_threads(self.n_jobs))

    def _make_parameters(self, counts: ClassCounts) -> ScoreTable:
        n_words = max(counts.n_words, 1)
        ratio = self._smoothing.ratio(counts.totals, n_words)
        log_prior = self._log_prior(counts.weights)
        indptr, classes, values = _core.build_table(
            counts.indptr, counts.classes, counts.counts, ratio, n_threads(self.n_jobs)
        )
        background = log_uniform(self._smoothing, counts.totals, n_words)
        return ScoreTable(indptr, classes, values, self._scale(log_prior), log_prior, background)

    # Leaving out

    def _scores_without(self, batch: Batch, own: Int32, bias: Float64) -> tuple[Float64, Float64]:
        counts, rows, threads = self._accumulator.checked(), batch.rows, n_threads(self.n_jobs)
        added = np.floor(rows.data * np.repeat(batch.scales, np.diff(rows.indptr)) + 0.5).astype(np.int64)
        totals, n_words = counts.totals_without(own, rows.indptr, added), max(counts.n_words, 1)
        if (totals < 0).any():
            raise ValueError("X, y and sample_weight must be documents that were learned.")
        words = _core.score_without_self(
            counts.indptr, counts.classes, counts.counts,
            rows.indptr, rows.indices, rows.data,
            batch.scales, own, self._smoothing.ratio(totals, n_words), threads,
        )  # fmt: skip
        lengths = np.add.reduceat(np.append(rows.data, 0), rows.indptr[:-1]) * (np.diff(rows.indptr) > 0)
        words = words + lengths * log_uniform(self._smoothing, totals, n_words)
        return self._parameters.scores(rows, threads, bias), words

    # Looking inside

    @property
    def class_log_prior_(self) -> Float64:
        return self._parameters.log_prior

    @property
    def feature_count_(self) -> Float64:
        return self._accumulator.checked(n_threads(self.n_jobs)).dense() / ONE

    @property
    def feature_log_prob_(self) -> Float64:
        counts = self._accumulator.checked(n_threads(self.n_jobs))
        totals = counts.totals[:, np.newaxis]
        b = self._smoothing.uniform_weight(totals, counts.n_words)
        estimate = counts.dense() / ONE / np.where(totals > 0, totals, 1)
        return np.log(interpolate([estimate], [1 - b, b], counts.n_words))

    def _top_words(self, c: int, n: int) -> tuple[Int64, Float64]:
        """The strongest words for class c: p(w|c) * log(p(w|c) / p(w|not c)), largest first.

        This is the word's part in the divergence of the class from the rest: rare words with a large ratio
        and common ones with a small ratio are weighed on one scale.
        """
        counts = self._accumulator.checked(n_threads(self.n_jobs))
        n_words = max(counts.n_words, 1)
        words, inside, rest = counts.words_against_rest(c)
        totals = np.array([counts.totals[c], counts.totals.sum() - counts.totals[c]])
        ratio, log_b = self._smoothing.ratio(totals, n_words), log_uniform(self._smoothing, totals, n_words)
        log_p = log_b[0] + np.log1p(ratio[0] * inside)
        log_q = log_b[1] + np.log1p(ratio[1] * rest)
        return top_words(words, np.exp(log_p) * (log_p - log_q), n)
