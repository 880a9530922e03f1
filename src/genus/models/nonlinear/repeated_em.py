"""Repeated expectation maximization: what to fit, from how many random starts, and which of them to keep.

Everything here is about documents, classes and nodes; what a node's distribution is, the models say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from genus.base.arrays import Float64, Int32, Int64
from genus.base.labels import Labels, encode_labels
from genus.base.validation import check_weights

CANDIDATES = (1, 2, 3, 4, 5)  # numbers of nodes that "auto" chooses from
_MEMORY = 1 << 25  # numbers that the repetitions of one call may leave behind: 256 MB


@dataclass(frozen=True)
class Task:
    """Documents to be fitted: their classes (-1 for none), weights, nodes, and those held out."""

    labels: Labels
    codes: Int32
    weights: Float64  # of labelled and unlabeled documents alike
    held_out: Int32
    node_starts: Int64  # class c has the nodes node_starts[c] to node_starts[c + 1]

    @property
    def training_weights(self) -> Float64:
        """Weights during EM: held-out documents have none."""
        weights = self.weights.copy()
        weights[self.held_out] = 0.0
        return weights

    @property
    def share_starts(self) -> Int64:
        """Where each document's shares begin: it has one for each node open to it."""
        sizes = np.append(np.diff(self.node_starts), self.node_starts[-1])  # the last is for code -1
        return np.concatenate(([0], np.cumsum(sizes[self.codes])))

    def node_weights(self, values: Float64, shares: Float64) -> Float64:
        """Sums over documents of a value times the document's share of each node: nodes x repetitions."""
        sizes = np.diff(self.share_starts)
        first = np.where(self.codes < 0, 0, self.node_starts[self.codes])
        nodes = np.arange(len(shares)) - np.repeat(self.share_starts[:-1] - first, sizes)
        weighted = shares * np.repeat(values, sizes)[:, np.newaxis]
        n = int(self.node_starts[-1])
        return np.stack([np.bincount(nodes, column, minlength=n) for column in weighted.T], axis=1)


@dataclass(frozen=True)
class Kept:
    """The best repetitions of a task, and how all of them did."""

    task: Task
    repetitions: Int64  # the best first
    shares: Float64  # see `Task.share_starts`, x kept repetitions
    objective: Float64  # before each M-step, iterations x all repetitions
    validation_scores: Float64  # accuracy on held-out documents, of all repetitions; NaN without any

    @property
    def score(self) -> float:
        """What numbers of nodes are compared by."""
        return float(self.validation_scores[self.repetitions].mean())


# Shares, objective, and log p(d | c) of held-out documents * classes, each x repetitions.
EmResult = tuple[Float64, Float64, Float64]
Run = Callable[[Task, int, int], EmResult]  # of a task, the first repetition, and how many


def fit_repetitions(task: Task, n_repetitions: int, n_kept: int, n_iterations: int, run: Run) -> Kept:
    """Run EM from every start and keep the best, by accuracy on held-out documents, then by the objective.

    Runs as many repetitions at a time as memory allows, and holds on to the best of them only.
    """
    per_repetition = int(task.share_starts[-1]) + len(task.held_out) * len(task.labels)
    size = max(4, _MEMORY // max(per_repetition, 1) // 4 * 4)
    scores, objectives = np.full(n_repetitions, np.nan), np.zeros((n_iterations, n_repetitions))
    best: list[int] = []
    shares: dict[int, Float64] = {}
    for first in range(0, n_repetitions, size):
        n = min(size, n_repetitions - first)
        found, objectives[:, first : first + n], held_out = run(task, first, n)
        if len(task.held_out):
            scores[first : first + n] = _accuracy(task, held_out.reshape(len(task.held_out), -1, n))
        last = objectives[-1] if n_iterations else np.zeros(n_repetitions)
        seen = [*best, *range(first, first + n)]
        best = sorted(seen, key=lambda r: (-np.nan_to_num(scores[r]), -last[r], r))[:n_kept]
        shares = {r: shares[r] if r in shares else found[:, r - first] for r in best}
    kept = np.ascontiguousarray(np.stack([shares[r] for r in best], axis=1))
    return Kept(task, np.array(best), kept, objectives, scores)


def _accuracy(task: Task, held_out: Float64) -> Float64:
    """The share of held-out documents, by weight, that each repetition puts in their class."""
    weights = np.bincount(task.codes[task.codes >= 0], task.training_weights[task.codes >= 0], len(task.labels))
    with np.errstate(divide="ignore"):
        answers = (held_out + np.log(weights / weights.sum())[:, np.newaxis]).argmax(axis=1)
    right = answers == task.codes[task.held_out][:, np.newaxis]
    return np.asarray(np.average(right, axis=0, weights=task.weights[task.held_out]))


def choose_nodes(task: Task, n_hidden: object, least: int, fit: Callable[[Task], Kept]) -> Kept:
    """The fit with the numbers of nodes asked for; with "auto" that of the best number for all classes."""
    if not isinstance(n_hidden, str):
        return fit(with_nodes(task, n_hidden, least))
    fits = [fit(with_nodes(task, n, least)) for n in CANDIDATES]
    return max(fits, key=lambda kept: np.nan_to_num(kept.score))  # the fewest nodes of equally good ones


# Which documents, which nodes


def make_task(
    y: Labels,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
    *,
    unlabeled: object,
    unlabeled_weight: float,
    validation_fraction: float,
    seed: int,
) -> Task:
    """A task without nodes yet."""
    missing = find_unlabeled(y, unlabeled)
    if missing.all():
        raise ValueError("y must hold the label of at least one document.")
    labels, known = encode_labels(y[~missing])
    codes = np.full(len(y), -1, dtype=np.int32)
    codes[~missing] = known
    weights = check_weights(sample_weight, len(y))
    weights = np.ones(len(y)) if weights is None else weights
    if not weights[~missing].any():
        raise ValueError("sample_weight must be above zero for at least one document with a label.")
    weights[missing] *= unlabeled_weight
    numbers = None if groups is None else _group_numbers(groups, len(y))
    held_out = hold_out(codes, weights, numbers, validation_fraction, seed)
    return Task(labels, codes, weights, held_out, np.arange(len(labels) + 1))


def find_unlabeled(y: Labels, unlabeled: object) -> NDArray[np.bool_]:
    """Documents whose label is None, or the value that stands for having none."""
    missing = np.zeros(len(y), dtype=bool)
    if y.dtype == object:
        missing |= np.array([label is None for label in y.tolist()], dtype=bool)
    if unlabeled is not None:
        missing |= np.array([label == unlabeled for label in y.tolist()], dtype=bool)
    return missing


def _group_numbers(groups: ArrayLike, n: int) -> Int64:
    array = np.asarray(groups)
    if array.shape != (n,):
        raise ValueError(f"groups must have shape ({n},), one group for each document, got {array.shape}.")
    return np.unique(array, return_inverse=True)[1]


def hold_out(codes: Int32, weights: Float64, groups: Int64 | None, fraction: float, seed: int) -> Int32:
    """Labelled documents to choose repetitions by: about this fraction of each class, or of all in whole groups.

    A class never loses its last document: a small one may have none held out.
    """
    random = np.random.default_rng(seed)
    usable = (codes >= 0) & (weights > 0)
    sizes = np.bincount(codes[usable])
    if groups is None:
        order = random.permutation(np.flatnonzero(usable))
        order = order[np.argsort(codes[order], kind="stable")]
        place = np.arange(len(order)) - (np.cumsum(sizes) - sizes)[codes[order]]
        return np.sort(order[place < np.floor(sizes * fraction)[codes[order]]]).astype(np.int32)
    members_of = np.split(np.argsort(groups, kind="stable"), np.cumsum(np.bincount(groups))[:-1])
    left, room, chosen = sizes.copy(), fraction * usable.sum(), []
    for group in random.permutation(len(members_of)):
        members = members_of[group][usable[members_of[group]]]
        lost = np.bincount(codes[members], minlength=len(sizes))
        if len(members) <= room and (left[lost > 0] > lost[lost > 0]).all():
            chosen.append(members)
            left, room = left - lost, room - len(members)
    return np.sort(np.concatenate([*chosen, []])).astype(np.int32)


def with_nodes(task: Task, n_hidden: object, least: int) -> Task:
    """The task with nodes: one for a class of fewer than ``least`` documents, never more than it has documents."""
    wanted = check_n_hidden(n_hidden, task.labels)
    documents = np.bincount(task.codes[(task.codes >= 0) & (task.training_weights > 0)], minlength=len(task.labels))
    held_out = np.bincount(task.codes[task.held_out], minlength=len(task.labels))
    n = np.where(documents + held_out < least, 1, np.minimum(wanted, np.maximum(documents, 1)))
    return replace(task, node_starts=np.concatenate(([0], np.cumsum(n))))


def check_n_hidden(n_hidden: object, labels: Labels) -> Int64:
    """The number of nodes that each class was given."""
    given = n_hidden
    if isinstance(n_hidden, Mapping):
        unknown = [label for label in n_hidden if label not in labels.tolist()]
        if unknown:
            raise ValueError(f"n_hidden names the class {unknown[0]!r}, of which there is no document.")
        given = [n_hidden.get(label, 1) for label in labels.tolist()]
    numbers = np.asarray(given)
    if numbers.dtype.kind not in "iu" or (numbers < 1).any():
        raise ValueError(f"n_hidden must be 'auto', a positive integer, or one for each class, got {n_hidden!r}.")
    if numbers.ndim and numbers.shape != (len(labels),):
        raise ValueError(
            f"n_hidden must be one number, or one for each of the {len(labels)} classes, got {n_hidden!r}."
        )
    return np.broadcast_to(numbers, len(labels)).astype(np.int64)
