"""The base of models with hidden nodes: repeated EM, and the choice of the best repetitions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from genus.base.arrays import Float64, Int64, Seed, State, n_threads
from genus.base.labels import Labels
from genus.base.posterior import PosteriorClassifier
from genus.base.rows import MatrixLike, Rows, SparseRows
from genus.base.validation import (
    check_choice,
    check_labels,
    check_not_negative,
    check_number,
    check_steps,
    refuse_missing,
)
from genus.models.nonlinear.repeated_em import Kept, Run, Task, check_n_hidden, choose_nodes, fit_repetitions, make_task


@dataclass(frozen=True)
class Learned:
    """What a fitted model keeps besides its distributions."""

    labels: Labels
    node_starts: Int64
    repetitions: Int64
    objective: Float64
    validation_scores: Float64
    class_count: Float64  # weights of labelled documents
    node_count: Float64  # documents of each node in the best repetition, by their shares
    nearest: Int64  # nodes x a few documents, -1 where there are fewer

    @classmethod
    def from_state(cls, state: State) -> Learned:
        """From the arrays of a file, which may be damaged."""
        learned = cls(**{name: np.asarray(state[name]) for name in cls.__dataclass_fields__})
        learned.check()
        return learned

    def check(self) -> None:
        """Raise ValueError unless the arrays belong together."""
        n_classes = len(self.labels)
        if self.labels.ndim != 1 or not n_classes or self.node_starts.shape != (n_classes + 1,):
            raise ValueError("the labels and the nodes do not belong together.")
        if self.node_starts.dtype != np.int64 or self.node_starts[0] != 0 or (np.diff(self.node_starts) < 1).any():
            raise ValueError("each class must have nodes.")
        n_nodes = int(self.node_starts[-1])
        sound = (
            self.class_count.shape == (n_classes,)
            and self.node_count.shape == (n_nodes,)
            and self.nearest.ndim == 2 and len(self.nearest) == n_nodes
            and self.repetitions.ndim == 1 and len(self.repetitions) > 0
        )  # fmt: skip
        if not sound:
            raise ValueError("the classes and their nodes do not belong together.")
        if not (np.isfinite(self.class_count).all() and np.isfinite(self.node_count).all()):
            raise ValueError("class_count and node_count must be finite.")


class HiddenNodesClassifier(PosteriorClassifier[Rows]):
    """Base of models whose class is a mixture of hidden nodes, fitted by repeated EM.

    A model says how to fit its nodes (`_fit_task`), which gives it ``_nodes``: parameters of components, with
    ``log_node_prior`` and ``log_prior``, in all kept repetitions.
    """

    n_hidden: Any
    n_repetitions: int
    n_iterations: int
    n_averaged: int
    em: str
    init: str
    min_documents: int
    validation_fraction: float
    prior_scale: float
    unlabeled: object
    unlabeled_weight: float
    random_state: Seed
    n_features_in_: int
    _learned: Learned
    _nodes: Any
    _starts: tuple[str, ...]
    _takes_sparse: str | bool = "csr"

    @abstractmethod
    def _fit_task(self, rows: Rows, task: Task, seed: int) -> Kept:
        """Run EM by `_choose`, and make parameters of what it keeps."""

    @abstractmethod
    def _closeness(self, rows: Rows, documents: Int64, nodes: Int64) -> Float64:
        """How typical documents are of nodes, in the best repetition."""

    @abstractmethod
    def _checked_training(self, X: MatrixLike) -> Rows:
        """Validated training documents in the form that `_fit_task` reads."""

    # Learning

    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Learn from documents and their labels, forgetting what was learned before.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_features)
            The documents.
        y : array of shape (n_documents,)
            Labels: text or numbers; None, or the value of ``unlabeled``, for documents without one.
        sample_weight : array of shape (n_documents,), default=None
            How often each document counts: not negative, 1 by default.
        groups : array of shape (n_documents,), default=None
            Documents of one group (of one author, say) are held out together or not at all.

        Returns
        -------
        self
        """
        refuse_missing(y)
        X, y = validate_data(
            self, X, y, accept_sparse=self._takes_sparse, dtype="numeric" if self._takes_sparse else float
        )
        return self._fit_rows(self._checked_training(X), y, sample_weight, groups)

    def _fit_rows(
        self, rows: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        self._check_parameters()
        labels = check_labels(y)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        task = make_task(
            labels, sample_weight, groups, unlabeled=self.unlabeled, unlabeled_weight=self.unlabeled_weight,
            validation_fraction=self.validation_fraction, seed=seed,
        )  # fmt: skip
        kept = self._fit_task(rows, task, seed)
        task, known = kept.task, kept.task.codes >= 0
        self._learned = Learned(
            task.labels, task.node_starts, kept.repetitions, kept.objective, kept.validation_scores,
            np.bincount(task.codes[known], task.weights[known], len(task.labels)).astype(np.float64),
            task.node_weights(task.weights * known, kept.shares[:, :1])[:, 0],
            nearest_documents(task, kept.shares[:, 0], lambda d, h: self._closeness(rows, d, h)),
        )  # fmt: skip
        self.n_features_in_ = rows.n_columns if isinstance(rows, SparseRows) else rows.shape[1]
        return self

    def _choose(self, task: Task, run: Run) -> Kept:
        """EM with the nodes that ``n_hidden`` asks for; the best repetitions of it."""

        def fit(task: Task) -> Kept:
            n_kept = min(self.n_averaged, self.n_repetitions)
            return fit_repetitions(task, self.n_repetitions, n_kept, self.n_iterations, run)

        return choose_nodes(task, self.n_hidden, self.min_documents, fit)

    def _check_parameters(self) -> None:
        if isinstance(self.n_hidden, str):
            if self.n_hidden != "auto":
                raise ValueError(f"n_hidden must be 'auto' or positive integers, got {self.n_hidden!r}.")
        elif not isinstance(self.n_hidden, Mapping) and np.ndim(self.n_hidden) == 0:
            check_n_hidden(self.n_hidden, np.zeros(1))
        for name, least in (("n_repetitions", 1), ("n_iterations", 0), ("n_averaged", 1), ("min_documents", 0)):
            check_steps(name, getattr(self, name), least)
        check_choice("em", self.em, ("soft", "hard"))
        check_choice("init", self.init, self._starts)
        check_not_negative("prior_scale", self.prior_scale)
        check_number("validation_fraction", self.validation_fraction, 0, 0.9, "a number from 0 to 0.9")
        check_not_negative("unlabeled_weight", self.unlabeled_weight)
        n_threads(self.n_jobs)

    # Looking inside

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_learned")

    @property
    def classes_(self) -> Labels:
        """The labels, in order."""
        check_is_fitted(self)
        return self._learned.labels

    @property
    def n_hidden_(self) -> Int64:
        """The number of hidden nodes of each class."""
        check_is_fitted(self)
        return np.diff(self._learned.node_starts)

    @property
    def class_count_(self) -> Float64:
        """The summed weights of the documents of each class."""
        check_is_fitted(self)
        return self._learned.class_count

    @property
    def class_log_prior_(self) -> Float64:
        """log P(c): the mean over the kept repetitions, which differ only by documents without label."""
        check_is_fitted(self)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.exp(self._nodes.log_prior).mean(axis=1)))

    @property
    def node_log_prior_(self) -> list[Float64]:
        """log P(h | c) of each class's nodes, in the best repetition."""
        check_is_fitted(self)
        return self._by_class(self._nodes.log_node_prior)

    def _by_class(self, values: Float64, n_repetitions: int | None = None) -> list[Float64]:
        """Values of components in the best repetition, a list for each class."""
        best = values[:: n_repetitions or self._nodes.n_repetitions]
        return np.split(best, self._learned.node_starts[1:-1])

    @property
    def node_count_(self) -> list[Float64]:
        """For each class, how many documents each node of the best repetition has, by their shares."""
        check_is_fitted(self)
        return np.split(self._learned.node_count, self._learned.node_starts[1:-1])

    @property
    def objective_(self) -> Float64:
        """What EM maximises, before each M-step: an array of shape (n_iterations, n_repetitions)."""
        check_is_fitted(self)
        return self._learned.objective

    @property
    def validation_scores_(self) -> Float64:
        """The accuracy of each repetition on held-out documents; NaN where none were held out."""
        check_is_fitted(self)
        return self._learned.validation_scores

    @property
    def repetitions_(self) -> Int64:
        """The repetitions that were kept, the best first."""
        check_is_fitted(self)
        return self._learned.repetitions

    def nearest_documents(self, label: object) -> list[list[int]]:
        """For each node of a class, training documents (rows of `fit`) that are most typical of it, the best first."""
        c = self._class_number(label)
        rows = self._learned.nearest[self._learned.node_starts[c] : self._learned.node_starts[c + 1]]
        return [[d for d in row if d >= 0] for row in rows.tolist()]

    def _class_number(self, label: object) -> int:
        found = np.flatnonzero(self.classes_ == label)
        if len(found) != 1:
            raise ValueError(f"{label!r} is not one of the {len(self.classes_)} classes of this model.")
        return int(found[0])

    # Keeping

    def _learned_state(self) -> dict[str, object]:
        return {name: getattr(self._learned, name) for name in Learned.__dataclass_fields__}


def nearest_documents(task: Task, shares: Float64, closeness: Callable[[Int64, Int64], Float64], n: int = 5) -> Int64:
    """For each node, the labelled documents with a share of at least a half with the largest closeness, -1 for none.

    ``closeness(documents, nodes)`` is asked for the first few hundred of each node's, by share.
    """
    n_nodes, starts = int(task.node_starts[-1]), task.share_starts
    per_node = int(np.clip((1 << 22) // n_nodes**2, n, 200))
    known = np.flatnonzero((task.codes >= 0) & (task.weights > 0))
    sizes = np.diff(task.node_starts)[task.codes[known]]
    entries = np.repeat(starts[known] - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
    documents = np.repeat(known, sizes)
    nodes = task.node_starts[task.codes[documents]] + entries - starts[documents]
    share = shares[entries]
    order = np.lexsort((documents, -share, nodes))
    chosen = order[(_places(nodes[order]) < per_node) & (share[order] >= 0.5)]
    documents, nodes = documents[chosen], nodes[chosen]
    order = np.lexsort((documents, -closeness(documents, nodes), nodes))
    documents, nodes = documents[order], nodes[order]
    place = _places(nodes)
    nearest = np.full((n_nodes, n), -1, dtype=np.int64)
    nearest[nodes[place < n], place[place < n]] = documents[place < n]
    return nearest


def _places(nodes: Int64) -> Int64:
    """The place of each item among the equal ones, which stand together.

    >>> _places(np.array([0, 0, 0, 2, 2])).tolist()
    [0, 1, 2, 0, 1]
    """
    return np.arange(len(nodes)) - np.searchsorted(nodes, nodes)
