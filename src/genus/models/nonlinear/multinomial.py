"""Non-linear hierarchical Bayes: there are several ways to be of one class.

    P(c | d) = P(c) / P(d) * sum over hidden nodes h of c of  P(h | c) * prod over words w of P(w | h)^x_dw   (eq. 34)

A class is a mixture of hidden nodes, so that the boundary between classes may bend; taken as a product over words
of sums over nodes (eq. 15), the same parameters give naive Bayes again. The nodes are found by expectation
maximization from many random starts, of which the best on held-out documents are kept, and their posteriors
averaged.

C. S. Carlos, G. Rakshit: Learning non-linear functions for text classification (ICON 2016).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from genus import _core
from genus.base.arrays import Float64, Int64, Seed, State, n_threads
from genus.base.rows import MatrixLike, SparseRows, row_sums, take_rows, to_rows
from genus.base.score_table import ScoreTable
from genus.base.validation import check_choice, check_positive
from genus.models.nonlinear.base import HiddenNodesClassifier, Learned
from genus.models.nonlinear.gaussian import GaussianNonlinearBayes
from genus.models.nonlinear.node_table import NodeTable, node_table
from genus.models.nonlinear.repeated_em import EmResult, Kept, Task


class NonlinearBayes(HiddenNodesClassifier[SparseRows]):
    """A class is a mixture of hidden kinds of document, each with its own distribution over words.

    EM is in ``cpp/mixtures/multinomial_em.cpp``, scores in ``cpp/tables/score_table.cpp``.

    Parameters
    ----------
    n_hidden : int, list or dict of int, or "auto", default=2
        Hidden nodes: for every class, for each class in the order of ``classes_``, by label (1 for those not
        named), or the number from 1 to 5 that does best on held-out documents.
    n_repetitions : int, default=20
        Random starts of EM.
    n_iterations : int, default=5
        E- and M-steps of each. With 0 the nodes stay as the random start made them.
    alpha : float, default=0.1
        What is added to every count of a node: positive. It matters more than the number of nodes; tune it.
    n_averaged : int, default=5
        How many of the best repetitions are kept, and their posteriors averaged. 1 chooses the best one.
    em : {"soft", "hard"}, default="soft"
        Whether documents belong to all nodes of their class by their probabilities, or to the likeliest alone.
    posterior : {"sum-of-products", "product-of-sums"}, default="sum-of-products"
        Eq. 34 or eq. 15.
    node_prior : {"documents", "words"}, default="documents"
        Whether P(h | c) is a node's share of its class's documents, as EM has it, or of their words (eq. 27).
    smoothing : {"node", "proportional"}, default="node"
        Whether each node's counts are smoothed by ``alpha``, or by ``alpha`` times its part of the class's words.
    init : {"near-uniform", "random"}, default="near-uniform"
        How documents start: with about equal shares of all nodes, or each in one.
    min_documents : int, default=40
        Classes with fewer documents keep one node.
    validation_fraction : float, default=0.1
        How much of each class is held out while EM runs, to choose repetitions by; it joins the others in the
        end. With 0, and for classes too small, repetitions are chosen by what EM maximises.
    prior_scale : float, default=1.0
        Multiplies the log prior; 0 ignores it. Not negative.
    unlabeled : label, default=None
        The label that stands for having none, such as -1, beside None. EM finds out which class and node such
        documents belong to.
    unlabeled_weight : float, default=0.1
        How much a document without label counts.
    random_state : int, RandomState or None, default=None
        Seed of the random starts and of the documents held out.
    n_jobs : int, default=None
        Threads; None and -1 use every core. Results do not depend on it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    n_features_in_ : int
        The number of words N.
    n_hidden_ : array of shape (n_classes,)
        The hidden nodes of each class: never more than it has documents.
    class_count_, class_log_prior_ : arrays of shape (n_classes,)
        The documents' summed weights, and log P(c).
    node_count_ : list of n_classes arrays
        How many documents each node of the best repetition has.
    objective_ : array of shape (n_iterations, n_repetitions)
        What EM maximises, before each M-step.
    validation_scores_ : array of shape (n_repetitions,)
        Accuracy on held-out documents.
    repetitions_ : array
        The repetitions that were kept, the best first.

    See Also
    --------
    GaussianNonlinearBayes : the same for dense features.
    MultinomialNB : one node for each class.

    Notes
    -----
    ============  ===============================================  ==========================
    symbol        here                                             shape
    ============  ===============================================  ==========================
    x_dw          ``X``                                            (n_documents, n_features)
    log P(h | c)  ``node_log_prior_[c]``                           (n_hidden,)
    log P(w | h)  ``feature_log_prob_[c]``                         (n_hidden, n_features)
    log P(c)      ``class_log_prior_``                             (n_classes,)
    P(c | d)      ``predict_proba``                                (n_documents, n_classes)
    ============  ===============================================  ==========================

    The last two lines are means over the kept repetitions; the lines above are those of the best one.
    EM maximises the likelihood of the training documents times prod P(w | h)^alpha over nodes and words. With
    ``node_prior="documents"`` and ``smoothing="node"`` the M-step is exact, and ``objective_`` never falls.
    With ``node_prior="words"``, ``smoothing="proportional"`` and ``posterior="product-of-sums"`` the model is
    `MultinomialNB`, whatever EM finds (section 3.2 of the paper).

    Learning is not additive: to learn more, fit again.

    Examples
    --------
    The shifted exclusive or of the paper, which no linear classifier learns:

    >>> from genus import NonlinearBayes
    >>> X, y = [[1, 1], [5, 5], [5, 1], [1, 5]], [0, 0, 1, 1]
    >>> clf = NonlinearBayes(min_documents=2, random_state=0).fit(X, y)
    >>> clf.predict(X)
    array([0, 0, 1, 1])
    """

    _starts = ("near-uniform", "random")
    _nodes: NodeTable

    def __init__(
        self,
        n_hidden: object = 2,
        n_repetitions: int = 20,
        n_iterations: int = 5,
        alpha: float = 0.1,
        *,
        n_averaged: int = 5,
        em: str = "soft",
        posterior: str = "sum-of-products",
        node_prior: str = "documents",
        smoothing: str = "node",
        init: str = "near-uniform",
        min_documents: int = 40,
        validation_fraction: float = 0.1,
        prior_scale: float = 1.0,
        unlabeled: object = None,
        unlabeled_weight: float = 0.1,
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_hidden = n_hidden
        self.n_repetitions = n_repetitions
        self.n_iterations = n_iterations
        self.alpha = alpha
        self.n_averaged = n_averaged
        self.em = em
        self.posterior = posterior
        self.node_prior = node_prior
        self.smoothing = smoothing
        self.init = init
        self.min_documents = min_documents
        self.validation_fraction = validation_fraction
        self.prior_scale = prior_scale
        self.unlabeled = unlabeled
        self.unlabeled_weight = unlabeled_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_positive("alpha", self.alpha)
        check_choice("posterior", self.posterior, ("sum-of-products", "product-of-sums"))
        check_choice("node_prior", self.node_prior, ("documents", "words"))
        check_choice("smoothing", self.smoothing, ("node", "proportional"))

    def _checked_training(self, X: MatrixLike) -> SparseRows:
        check_non_negative(X, f"{type(self).__name__} (input X)")
        return to_rows(X)

    def _fit_task(self, rows: SparseRows, task: Task, seed: int) -> Kept:
        threads = n_threads(self.n_jobs)
        how = {"proportional": self.smoothing == "proportional", "by_words": self.node_prior == "words"}

        def run(task: Task, first: int, n: int) -> EmResult:
            result: EmResult = _core.fit_multinomial_nodes(  # eq. 27 and 28 are its M-step
                rows.indptr, rows.indices, rows.data, rows.n_columns,
                task.codes, task.training_weights, task.node_starts, task.held_out,
                alpha=self.alpha, **how, first_repetition=first, n_repetitions=n, n_iterations=self.n_iterations,
                seed=seed, hard=self.em == "hard", start=self.init, n_threads=threads,
            )  # fmt: skip
            return result

        kept = self._choose(task, run)
        task = kept.task
        indptr, components, counts = _core.expected_counts(
            rows.indptr, rows.indices, rows.data, rows.n_columns,
            task.codes, task.weights, task.node_starts, kept.shares, threads,
        )  # fmt: skip
        weights = task.node_weights(task.weights, kept.shares)
        self._nodes = node_table(indptr, components, counts, task.node_starts, weights, alpha=self.alpha, **how)
        return kept

    def _closeness(self, rows: SparseRows, documents: Int64, nodes: Int64) -> Float64:
        part = take_rows(rows, documents)
        scores = self._nodes.component_scores(part, n_threads(self.n_jobs))
        components = nodes * self._nodes.n_repetitions
        log_p = scores[np.arange(len(nodes)), components] - self._nodes.log_node_prior[components]
        return np.asarray(log_p / np.maximum(row_sums(part.indptr, part.data), 1e-9))

    # Predicting

    @property
    def _table(self) -> NodeTable:
        """The table of scores that ``posterior`` asks for."""
        return self._nodes if self.posterior == "sum-of-products" else self._nodes.product_of_sums  # eq. 34 or 15

    def _joint_log_likelihood(self, rows: SparseRows) -> Float64:
        return self._table.joint_log_likelihood(rows, self.prior_scale, n_threads(self.n_jobs))

    def _check_rows(self, X: MatrixLike) -> SparseRows:
        check_is_fitted(self)
        return to_rows(validate_data(self, X, reset=False, accept_sparse="csr"))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True  # on real-valued data, which is not what counts are for
        return tags

    # Looking inside

    @property
    def feature_log_prob_(self) -> list[Float64]:
        """log P(w | h) of each class's nodes x words, in the best repetition. Dense, made anew each time."""
        check_is_fitted(self)
        nodes = [np.log(self._nodes.word_probabilities(h)) for h in range(int(self._learned.node_starts[-1]))]
        return self._by_class(np.stack(nodes), 1)

    def _log_evidence(self, row: SparseRows, classes: Sequence[int]) -> tuple[Float64, Float64]:
        """What the prior (k,) and each of one document's words (n_entries, k) add to some classes' scores."""
        prior, words, _ = self._table.evidence(row, classes, self.prior_scale)
        return prior, words

    def _evidence_terms(self, row: SparseRows, classes: Sequence[int]) -> dict[str, Float64]:
        """What is left of some classes' scores: how far the document singles out some of their nodes."""
        return {"choice of nodes": self._table.evidence(row, classes, self.prior_scale)[2]}

    def _node_evidence(self, row: SparseRows, c: int) -> Float64:
        """The posterior of class c's nodes for a document, in the best repetition."""
        return self._nodes.node_shares(row, c)

    def _top_words(self, c: int, n: int) -> tuple[Int64, Float64]:
        """The strongest words for class c: P(w|c) * log(P(w|c) / P(w|not c)), largest first."""
        return self._nodes.class_words(c, n)

    def _node_words(self, c: int, n: int) -> list[tuple[Int64, Float64]]:
        """The words that separate each node of class c best from its other nodes."""
        first, last = self._learned.node_starts[c : c + 2].tolist()
        return [self._nodes.node_words(h, n) for h in range(first, last)]

    # Keeping

    def _get_state(self) -> dict[str, object]:
        """Everything learned, as arrays that can be mapped from a file."""
        check_is_fitted(self)
        return self._learned_state() | self._nodes.scores.to_state()

    def _set_state(self, state: State) -> None:
        """Take over learned arrays, with their shapes checked; scoring guards against all else."""
        learned = Learned.from_state(state)
        table = ScoreTable.from_state(state)
        n_components = int(learned.node_starts[-1]) * len(learned.repetitions)
        if not len(table.bias) == len(table.log_uniform) == n_components:
            raise ValueError("the score table and the nodes are of different number.")
        if len(table.log_prior) != len(learned.labels) * len(learned.repetitions):
            raise ValueError("the score table and the labels are of different number.")
        self._nodes = NodeTable(table, learned.node_starts)
        self._learned, self.n_features_in_ = learned, len(table.indptr) - 1


__all__ = ["GaussianNonlinearBayes", "NonlinearBayes"]
