"""Naive Bayes refined by its mistakes: closed-form sums, and two-sided counts of the documents they get wrong.

    score_c(d) = base_weight * r * z_c(d) + 2 * (b_c + sum over words n of x_n * (F_nc - G_nc))

    z_c(d) = sum over n of x_n * ln p(n | c),   p(n | c) = (1 - a) * count_nc / T_c + a / N     (naive Bayes)
    F_nc   = sum over documents m of class c of count_mc * x_mn                                (for the class)
    G_nc   = sum over documents m of other classes of count_mc * x_mn                          (against it)
    count_mc = 2 * cost * max(0, 1 - |margin|),   margin = +score_c(m) / 2 in class c, -score_c(m) / 2 outside

r is the factor under which leave-one-out z fit best, and the margins of training documents have *leave-one-out*
z: the refinement sees the naive Bayes that a new document will see. Scores of a document are centred over
classes, which changes no probability. With ``focus``, x are rows whose words count by how well they tell classes
apart (`genus.models.refined.focus`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from genus.base.arrays import Float64, Int64, n_threads
from genus.base.documents import DocumentAccumulator, Documents
from genus.base.estimator import GenerativeClassifier
from genus.base.rows import SparseRows
from genus.base.score_table import top_words
from genus.base.smoothing import JelinekMercer
from genus.base.statistics import ONE, ClassCounts
from genus.base.validation import SMALLEST, check_not_negative, check_number
from genus.models.refined.focus import LogRatioScaling
from genus.models.refined.solver import (
    HingeProblem,
    NaiveBayes,
    RefinedTable,
    by_class,
    likeliest_temperature,
    score_table,
)


class RefinedNB(GenerativeClassifier[RefinedTable]):
    """Naive Bayes whose word weights are corrected by the training documents that it gets wrong.

    Two parts add up. The *generative* part is multinomial naive Bayes: sums of documents by class. The
    *discriminative* part, in the spirit of discriminative frequency estimates [1]_, counts each document for
    its class and against the others, not once but in proportion to its loss: documents that lie safely on their
    side count nothing. The counts depend on the scores and the scores on the counts; the one set of counts at
    which both agree is the minimum of a convex function, the squared hinge loss of a linear classifier with the
    naive Bayes scores as offsets, and is solved for exactly [2]_ rather than approached online.

    With ``base_weight=0`` nothing generative is left and this is a linear support vector machine; with ``cost``
    near 0 it is naive Bayes. Made for rows of length one, as `TermWeighting` gives them (``norm="l2"``).

    The minimum is found in ``cpp/linear/hinge_solver.cpp``, scores in ``cpp/tables/score_table.cpp``.

    Parameters
    ----------
    cost : float, default=1.0
        How much a mistake counts. Positive; smaller stays closer to naive Bayes.
    base_weight : float, default=0.25
        How much of the naive Bayes log odds, as they are best on left-out documents, is taken over. Not negative.
    background_smoothing : float, default=0.5
        Naive Bayes: the share of each class's probability that is spread evenly over all words, above 0 and at
        most 1.
    focus : float, default=0.0
        The power of a word's largest log-count ratio [3]_ that its entries are multiplied by, before rows are brought
        to length one: words that are spread over classes as others are lose their say. 0 leaves rows as they are.
    tolerance : float, default=0.01
        How far a margin may be from the exact solution's. Positive.
    n_jobs : int, default=None
        Threads; None and -1 use every core. Results do not depend on it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    n_features_in_ : int
        The number of words N.
    class_count_ : array of shape (n_classes,)
        The documents' summed weights.
    coef_, intercept_ : arrays of shape (n_classes, n_features) and (n_classes,)
        What a word and the bias add to a class's score, both parts together; with ``focus``, for each unit of the
        word's entry as it is then. Dense, made when asked for.

    Notes
    -----
    ==============================  ===========================  =========================
    symbol                          here                         shape
    ==============================  ===========================  =========================
    x_mn                            ``X``                        (n_documents, n_features)
    score_c(d)                      ``predict_joint_log_proba``  (n_documents, n_classes)
    cost, a                         ``cost``, ``background_smoothing``
    ==============================  ===========================  =========================

    Each class is one problem against the rest; two classes are one problem. Scores are margins, not log
    likelihoods: ``predict_proba`` is their softmax, and `TextClassifier` calibrates it.

    The model keeps its documents, because all of them have a say in every count: `partial_fit`, `merge` and
    `unlearn` solve again. They go through the documents in an order of its own, so that the result is the same, bit
    for bit, in whatever order and parts they were learned; a document unlearned is one never seen.

    References
    ----------
    .. [1] J. Su, H. Zhang, C. X. Ling and S. Matwin (2008). Discriminative parameter learning for Bayesian
       networks. ICML.
    .. [2] C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi and S. Sundararajan (2008). A dual coordinate descent
       method for large-scale linear SVM. ICML.
    .. [3] S. Wang and C. D. Manning (2012). Baselines and bigrams: simple, good sentiment and topic classification.
       ACL.

    Examples
    --------
    >>> import numpy as np
    >>> from genus import RefinedNB
    >>> X = np.array([[2, 1, 0], [1, 0, 0], [0, 1, 3]])
    >>> clf = RefinedNB().fit(X, ["ham", "ham", "spam"])
    >>> clf.predict([[0, 0, 2]])
    array(['spam'], dtype='<U4')
    """

    _remembers = DocumentAccumulator
    _scores_by = RefinedTable

    def __init__(
        self,
        cost: float = 1.0,
        *,
        base_weight: float = 0.25,
        background_smoothing: float = 0.5,
        focus: float = 0.0,
        tolerance: float = 0.01,
        n_jobs: int | None = None,
    ) -> None:
        self.cost = cost
        self.base_weight = base_weight
        self.background_smoothing = background_smoothing
        self.focus = focus
        self.tolerance = tolerance
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        check_number("cost", self.cost, 1e-6, 1e6, "a number between 1e-6 and 1e6")
        check_not_negative("base_weight", self.base_weight)
        check_number("background_smoothing", self.background_smoothing, SMALLEST, 1, "above 0 and at most 1")
        check_number("focus", self.focus, 0, 100, "a number between 0 and 100")
        check_number("tolerance", self.tolerance, 1e-15, math.inf, "a positive number")
        super()._check_parameters()

    # Counts and parameters

    def _make_parameters(self, counts: ClassCounts) -> RefinedTable:
        threads = n_threads(self.n_jobs)
        documents = self._documents.in_order
        focus = LogRatioScaling.from_documents(documents, float(self.focus))
        documents = focus.documents(documents, threads)
        counts = documents.counts
        base = NaiveBayes(counts, JelinekMercer(float(self.background_smoothing)), threads)
        words = sparse.csr_array((counts.n_words, counts.n_classes))
        bias, unseen = np.zeros(counts.n_classes), np.zeros(counts.n_classes)
        offsets = None
        if self.base_weight > 0:
            left_out = base.scores_without_self(documents)
            scale = self.base_weight * self._temperature(left_out, documents)
            words, unseen = scale * base.table(), scale * base.log_uniform()
            offsets = _margins(scale * left_out)
        if counts.n_classes > 1:
            weights = documents.weights / ONE
            problem = HingeProblem.of_classes(documents.rows, documents.codes, weights, counts.n_classes, offsets)
            learned, learned_bias = problem.solve(self.cost, float(self.tolerance), threads)
            if counts.n_classes == 2:
                learned = sparse.csr_array(sparse.hstack([-learned / 2, learned / 2]))
            words, bias = words + 2 * learned, 2 * by_class(learned_bias)
        return RefinedTable.from_table(score_table(sparse.csr_array(words), bias, unseen), focus)

    def _temperature(self, left_out: Float64, documents: Documents) -> float:
        return likeliest_temperature(left_out, documents.codes, documents.weights / ONE)

    # Search

    def _path_scores(self, rows: SparseRows, settings: Sequence[Mapping[str, float]]) -> list[NDArray[np.float32]]:
        """Scores of other documents under several settings of cost, base_weight and focus, by this model's documents.

        What a search wants: the base is made once, and each cost starts where the last one ended.
        """
        found: dict[tuple[float, ...], NDArray[np.float32]] = {}
        documents, threads = self._documents.in_order, n_threads(self.n_jobs)
        for focus in dict.fromkeys(setting["focus"] for setting in settings):
            alike = [setting for setting in settings if setting["focus"] == focus]
            sharp = LogRatioScaling.from_documents(documents, focus)
            paths = self._focused_paths(sharp.documents(documents, threads), sharp.rows(rows, threads), alike)
            found |= {(focus, *key): scores for key, scores in paths}
        return [found[setting["focus"], setting["base_weight"], setting["cost"]] for setting in settings]

    def _focused_paths(
        self, documents: Documents, rows: SparseRows, settings: Sequence[Mapping[str, float]]
    ) -> Iterator[tuple[tuple[float, float], NDArray[np.float32]]]:
        """The scores by base weight and cost."""
        threads, n_classes = n_threads(self.n_jobs), documents.counts.n_classes
        base_weights = list(dict.fromkeys(setting["base_weight"] for setting in settings))
        if any(base_weights):
            base = NaiveBayes(documents.counts, JelinekMercer(float(self.background_smoothing)), threads)
            left_out = base.scores_without_self(documents)
            temperature, z = self._temperature(left_out, documents), base.scores(rows)
        for base_weight in base_weights:
            costs = sorted(setting["cost"] for setting in settings if setting["base_weight"] == base_weight)
            scale = base_weight * temperature if base_weight > 0 else 0.0
            offsets = _margins(scale * left_out) if base_weight > 0 else None
            weights = documents.weights / ONE
            problem = HingeProblem.of_classes(documents.rows, documents.codes, weights, n_classes, offsets)
            for cost, margins in zip(costs, problem.scores(costs, rows, threads), strict=True):
                scores = 2 * by_class(margins)
                yield (base_weight, cost), scores if base_weight == 0 else (scale * z + scores).astype(np.float32)

    # Looking inside

    @property
    def coef_(self) -> Float64:
        table = self._parameters
        table.check()
        shape = (len(table.indptr) - 1, len(table.bias))
        words = sparse.csr_array((table.values, table.classes, table.indptr), shape=shape).toarray()
        return (words + table.log_uniform).T

    @property
    def intercept_(self) -> Float64:
        return self._parameters.bias

    def _top_words(self, c: int, n: int) -> tuple[Int64, Float64]:
        """The strongest words for class c: what they add to its score beyond the classes' mean, summed
        over the class's documents."""
        counts = self._documents.counts
        words, inside = counts.words_of(c)
        coef = self.coef_[:, words]
        sums = inside * self._parameters.focus.of_words(words)
        return top_words(words, sums * (coef[c] - coef.mean(axis=0)), n)


def _margins(scores: Float64) -> Float64:
    """Half of the scores, centred over classes: what the margins of one class against the rest start from."""
    return np.asarray(0.5 * (scores - scores.mean(axis=1, keepdims=True)))
