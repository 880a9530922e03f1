"""What hierarchical shrinkage and the hierarchical mixture share: see `genus.models.hierarchical` for the equations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from genus import _core
from genus.base.arrays import Float64, Int64, State, n_threads
from genus.base.documents import DocumentAccumulator
from genus.base.estimator import GenerativeClassifier
from genus.base.labels import Labels
from genus.base.rows import MatrixLike, SparseRows
from genus.base.score_table import ScoreTable, top_words
from genus.base.statistics import ONE, Batch, ClassCounts, per_length
from genus.base.validation import check_choice, check_steps, is_whole
from genus.models.hierarchical.path_table import FittedTree, PathTable
from genus.tree.answers import check_question
from genus.tree.label_tree import LabelTree, are_paths, group_classes
from genus.tree.paths import UNIFORM, TreePaths

if TYPE_CHECKING:
    from genus.base.protocol import Label

_TREES = ("flat", "learn")
_UNSEEN = 0.5  # the prior of a class without documents is that of half a document


class TreeClassifier(GenerativeClassifier[FittedTree]):
    """The base of both models."""

    tree: object
    weights: str
    shrink_to: str
    document_weights: str
    n_weight_steps: int
    prior_scale: float
    _remembers = DocumentAccumulator
    _counting_params = ("document_weights",)

    def _choose_iterations(self) -> int:
        """How often words are moved between nodes; only the mixture moves them."""
        return 0

    @property
    def _tempering(self) -> float:
        return 1.0

    def _check_parameters(self) -> None:
        check_choice("weights", self.weights, ("tied", "per-class"))
        check_choice("shrink_to", self.shrink_to, ("path", "root"))
        check_choice("document_weights", self.document_weights, ("equal", "length"))
        check_steps("n_weight_steps", self.n_weight_steps, 1)
        self._given_tree()
        super()._check_parameters()

    def _given_tree(self) -> LabelTree | None:
        """The tree that was given; None where it comes from the labels or is learned."""
        if isinstance(self.tree, str) and self.tree not in _TREES:
            raise ValueError(f"tree must be None, 'flat', 'learn' or a tree, got {self.tree!r}.")
        return None if self.tree is None or isinstance(self.tree, str) else LabelTree.from_any(self.tree)

    # Counts and parameters

    def _scales(self, rows: SparseRows, weights: Float64 | None) -> Float64:
        scales = super()._scales(rows, weights)
        return scales if self.document_weights == "length" else per_length(scales, rows, n_threads(self.n_jobs))

    def _batch(
        self, rows: SparseRows, y: ArrayLike, sample_weight: ArrayLike | None, classes: ArrayLike | None = None
    ) -> Batch:
        tree = self._given_tree()
        if tree is not None and classes is None:
            classes = np.array(tree.leaves)  # known without documents
        batch = super()._batch(rows, y, sample_weight, classes)
        if tree is not None:
            strange = [label for label in [*batch.labels.tolist(), *batch.declared.tolist()] if label not in tree]
            if strange:
                raise ValueError(f"y holds the label {strange[0]!r}, which is not in the tree.")
        return batch

    def _tree_of(self, counts: ClassCounts) -> LabelTree:
        labels = counts.labels.tolist()
        given = self._given_tree()
        if given is not None:
            return given
        if self.tree == "learn":
            return group_classes(counts.labels, _by_class(counts))
        return LabelTree.from_paths(labels) if self.tree is None and are_paths(labels) else LabelTree.flat(labels)

    def _paths_of(self, tree: LabelTree, labels: list[Label]) -> TreePaths:
        return TreePaths.from_tree(tree, labels, by_root=self.shrink_to == "root")

    def _make_parameters(self, counts: ClassCounts) -> FittedTree:
        documents, threads = self._documents.in_order, n_threads(self.n_jobs)
        paths = self._paths_of(self._tree_of(counts), counts.labels.tolist())
        groups = paths.weight_groups(self.weights == "tied")
        scales = self._scales(documents.rows, documents.weights / ONE)
        n_iterations = self._choose_iterations()
        weights, indptr, words, sums = _core.fit_tree(  # eq. 5 to 7, in turns
            counts.indptr, counts.classes, counts.counts,
            documents.rows.indptr, documents.rows.indices, documents.values, documents.codes,
            scales, paths.left_out(documents, scales).ravel(),
            paths.indptr, paths.nodes, paths.n_nodes, *groups,
            n_iterations, self.n_weight_steps, self._tempering, threads,
        )  # fmt: skip
        log_prior = self._log_prior(counts.weights)
        scores = PathTable.from_weights(
            paths, weights, groups, (indptr, words, sums), np.diff(counts.indptr) > 0,
            log_prior, self.prior_scale * log_prior, threads,
        )  # fmt: skip
        return FittedTree(paths, scores, n_iterations)

    def _log_prior(self, weights: Int64) -> Float64:
        """log P(c) by the documents' weights; a class without any counts as half a document."""
        prior = np.where(weights > 0, weights / ONE, _UNSEEN)
        return np.asarray(np.log(prior / prior.sum()))

    # Scores

    def _scores(self, rows: SparseRows) -> Float64:
        return self._parameters.scores.joint_log_likelihood(rows, n_threads(self.n_jobs))

    # Answers at any level

    def predict(self, X: MatrixLike, level: int | None = None, min_proba: float | None = None) -> Labels:
        """The most probable label of each document, or a node above it: see `predict_nodes`."""
        now = self._now()
        rows = now._check_rows(X)
        if level is None and min_proba is None:
            return now._predict_rows(rows)
        return now._predict_node_rows(rows, level, min_proba)[0]

    def predict_nodes(
        self, X: MatrixLike, level: int | None = None, min_proba: float | None = None
    ) -> tuple[Labels, Float64]:
        """The most probable node of each document at some level, or the deepest one that is probable enough.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_words)
            Word counts.
        level : int, default=None
            Answer with nodes at this depth below the root, or with classes that are less deep. A node's
            probability is the sum over the classes below it. None for the classes.
        min_proba : float, default=None
            Go up from the answer to the first node that is at least this probable. The root always is.

        Returns
        -------
        nodes : array of shape (n_documents,)
        probabilities : array of shape (n_documents,)
        """
        now = self._now()
        return now._predict_node_rows(now._check_rows(X), level, min_proba)

    def _predict_node_rows(
        self, rows: SparseRows, level: int | None, min_proba: float | None
    ) -> tuple[Labels, Float64]:
        check_question(level, min_proba)
        fitted = self._parameters
        parts = [
            fitted.answers(np.exp(self._normalize(scores)), level, min_proba) for scores in self._score_blocks(rows)
        ]
        nodes, probabilities = (np.concatenate(part) for part in zip(*parts, strict=True))
        return fitted.named(nodes), probabilities

    def predict_node_proba(self, X: MatrixLike) -> Float64:
        """The probability of every node: an array of shape (n_documents, n_nodes), in the order of ``tree_.nodes``.

        A node's probability is that of the class itself, if it is one, and of all below it.
        """
        now = self._now()
        proba = np.exp(now._log_proba_rows(now._check_rows(X))) @ now._parameters.membership
        return np.asarray(np.minimum(proba[:, proba.shape[1] - len(now.tree_) :], 1.0))

    # Looking inside

    @property
    def tree_(self) -> LabelTree:
        """The tree that was given, read from the labels, or learned."""
        return self._parameters.paths.tree

    @property
    def class_log_prior_(self) -> Float64:
        """log P(c)."""
        return self._parameters.scores.table.log_prior

    @property
    def feature_log_prob_(self) -> Float64:
        """log P(w|c): an array of shape (n_classes, n_features), made anew each time."""
        scores = self._parameters.scores
        return np.stack([scores.log_proba(c) for c in range(scores.n_classes)])

    def path_weights(self, label: object) -> dict[object, float]:
        """P(v|c): how much of a class's words comes from each node of its path, the class first."""
        fitted = self._parameters
        c = self._class_number(label)
        columns = fitted.scores.columns_of(c)
        n_seen = max(int(fitted.scores.seen.sum()), 1)
        weights = [*fitted.scores.weights[columns], fitted.scores.uniform[columns[0]] * n_seen]
        return self._by_node(c, weights[-2::-1] + weights[-1:])

    def word_levels(self, word: int, label: object = None) -> dict[object, float]:
        """P(v|c,w): from which nodes a word comes, as shares that add up to one (eq. 5).

        Parameters
        ----------
        word : int
            The word's column.
        label : label, default=None
            In documents of this class; by default in all documents that have the word.

        Returns
        -------
        dict of node to share, the largest first. "(uniform)" is the distribution that knows no words.
        """
        if not is_whole(word, 0) or word >= self.n_features_in_:
            raise ValueError(f"word must be a column number below {self.n_features_in_}, got {word!r}.")
        scores = self._parameters.scores
        if label is not None:
            classes, counts = [self._class_number(label)], [1.0]
        else:
            table = self._accumulator.checked(n_threads(self.n_jobs))
            row = slice(table.indptr[word], table.indptr[word + 1])
            classes, counts = table.classes[row].tolist(), (table.counts[row] / ONE).tolist()
        shares: dict[object, float] = {}
        for c, count in zip(classes if scores.seen[word] else [], counts, strict=False):
            uniform, *nodes = scores.shares(int(word), c)  # eq. 5
            for node, share in self._by_node(c, [*nodes[::-1], uniform]).items():
                shares[node] = shares.get(node, 0.0) + count * share
        total = sum(shares.values()) or 1.0
        return {node: share / total for node, share in sorted(shares.items(), key=lambda item: -item[1])}

    def node_words(self, node: object, n: int = 10) -> list[tuple[int, float]]:
        """The columns of a node's own words: those whose probability it raises most over the nodes above.

        Each with P(w|v) * log of the factor by which the node multiplies the word's probability.
        """
        fitted = self._parameters
        column = fitted.column(node)
        if column is None and node not in self.tree_:
            raise ValueError(f"{node!r} is not a node of the tree.")
        return [] if column is None else fitted.own_words(column, n)

    def _by_node(self, c: int, values: Sequence[float]) -> dict[object, float]:
        """Values of a path's nodes, the class's first and the uniform distribution's last, by name."""
        paths = self._parameters.paths
        names = [*(paths.name(node) for node in paths.path(c)[::-1].tolist()), UNIFORM]
        if len(names) != len(values):
            raise ValueError("the columns of the score table do not follow the tree: the model file is damaged.")
        return dict(zip(names, map(float, values), strict=True))

    def _class_number(self, label: object) -> int:
        found = np.flatnonzero(self.classes_ == label)
        if len(found) == 0:
            raise ValueError(f"{label!r} is not one of the {len(self.classes_)} classes of this model.")
        return int(found[0])

    def _row_evidence(self, row: SparseRows, classes: Sequence[int]) -> tuple[Float64, Float64]:
        """What the prior (k,) and each of one document's words (n_entries, k) add to some classes' scores."""
        scores = self._parameters.scores
        words = np.zeros((len(row.indices), len(classes)))
        for i, (w, x) in enumerate(zip(row.indices.tolist(), row.data.tolist(), strict=True)):
            if 0 <= w < len(scores.seen) and scores.seen[w]:
                words[i] = [x * scores.evidence(w, c).sum() for c in classes]
        return scores.table.bias[np.asarray(classes)], words

    def _levels(self, row: SparseRows, c: int) -> list[dict[object, float]]:
        """From which nodes each of a document's words comes, if it is of class c."""
        label = self.classes_[c]
        seen = self._parameters.scores.seen
        return [self.word_levels(w, label) if 0 <= w < len(seen) and seen[w] else {} for w in row.indices.tolist()]

    def _top_words(self, c: int, n: int) -> tuple[Int64, Float64]:
        """The strongest words for class c: P(w|c) * log(P(w|c) / P(w|root)), largest first."""
        scores = self._parameters.scores
        root = scores.columns_of(c)[0]
        log_p, log_root = scores.log_proba(c), scores.log_proba(root)
        log_root = log_root - np.log(np.exp(log_root).sum())
        weights = np.exp(log_p) * np.subtract(log_p, log_root, out=np.zeros(len(log_p)), where=scores.seen)
        return top_words(np.arange(len(weights)), weights, n)

    # Keeping

    def _table_state(self) -> dict[str, object]:
        fitted = self._parameters
        columns = {f"column_{name}": getattr(fitted.scores, name) for name in _COLUMNS}
        tree = {"tree": LabelTree(fitted.paths.tree.to_dict()), "n_iterations": fitted.n_iterations}
        return fitted.scores.table.to_state() | columns | tree

    def _table_from_state(self, state: State) -> FittedTree:
        counts, table = self._accumulator.flush(), ScoreTable.from_state(state)
        columns = {name: state[f"column_{name}"] for name in _COLUMNS}
        tree, n_iterations = state["tree"], state["n_iterations"]
        if not isinstance(tree, LabelTree):
            raise ValueError("a tree was expected.")
        check_steps("n_iterations", n_iterations, 0)
        labels = counts.labels.tolist()
        for label in labels:
            if label not in tree:
                raise ValueError(f"the label {label!r} is not in the tree.")
        paths = self._paths_of(tree, labels)
        scores = PathTable(table, **columns, n_classes=len(labels), seen=np.diff(counts.indptr) > 0)
        scores.check(len(labels), paths.n_nodes)
        if len(table.indptr) != len(counts.indptr):
            raise ValueError("the score table and the counts know different numbers of words.")
        return FittedTree(paths, scores, n_iterations)


_COLUMNS = ("parents", "nodes", "weights", "uniform")


def _by_class(counts: ClassCounts) -> sparse.csr_array:
    """The classes' sums as sparse rows."""
    shape = counts.n_words, counts.n_classes
    return sparse.csr_array((counts.counts / ONE, counts.classes, counts.indptr), shape=shape).T.tocsr()
