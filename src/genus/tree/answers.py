"""A fitted tree of classes: its nodes by number, answers at any level, and the words of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from genus.base.arrays import Float64, Int32, Int64
from genus.tree.label_tree import WHOLE, Node
from genus.tree.paths import PathTable, TreePaths


@dataclass(frozen=True)
class TreeAnswers:
    """Answers at any level of a tree, from the probabilities of its classes."""

    paths: TreePaths

    @cached_property
    def names(self) -> list[Any]:
        """The tree's nodes by number, the root's being 0."""
        tree = self.paths.tree
        return [*([] if tree.root is not None else [WHOLE]), *tree.nodes]

    @cached_property
    def numbers(self) -> tuple[dict[Node, int], Int32]:
        return self.paths.tree.numbers()

    @cached_property
    def membership(self) -> Any:
        """Classes x nodes: whether the node is the class or above it."""
        number = self.numbers[0]
        above = [[0, *(number[node] for node in self.paths.tree.path(label))] for label in self.paths.labels]
        indptr = np.cumsum([0, *map(len, above)])
        members = sparse.csr_array(
            (np.ones(indptr[-1]), np.concatenate(above), indptr), shape=(len(above), len(self.names))
        )
        members.sum_duplicates()
        members.data[:] = 1  # a named root is in the path already
        return members

    def cut(self, level: int) -> Int64:
        """The node of each class at a level, or the class itself where it ends before."""
        number, tree = self.numbers[0], self.paths.tree
        first = 0 if tree.root is not None else 1  # where level 0 stands, counted from the top
        nodes = []
        for label in self.paths.labels:
            path = tree.path(label)[::-1]
            nodes.append(0 if level < first else number[path[min(level - first, len(path) - 1)]])
        return np.array(nodes)

    def answers(self, proba: Float64, level: int | None, min_proba: float | None) -> tuple[Int64, Float64]:
        """The number of each document's node, and its probability, from the probabilities of classes."""
        number, parents = self.numbers
        if level is None:
            answers = np.array([number[label] for label in self.paths.labels])[proba.argmax(axis=1)]
        else:
            nodes, place = np.unique(self.cut(int(level)), return_inverse=True)
            members = sparse.csr_array((np.ones(len(place)), (np.arange(len(place)), place)))
            answers = nodes[np.asarray(proba @ members).argmax(axis=1)]
        node_proba = np.minimum(proba @ self.membership, 1.0)  # sums of rounded numbers may end just above
        if min_proba is not None:
            answers = _climb(answers, node_proba, parents, float(min_proba))
        return answers, node_proba[np.arange(len(answers)), answers]

    def named(self, answers: Int64) -> NDArray[Any]:
        """Nodes by name: text, or objects where an unnamed root stands among numbers."""
        kinds = {type(self.names[i]) for i in set(answers.tolist())}
        return np.array([self.names[i] for i in answers.tolist()], dtype=object if len(kinds) > 1 else None)


@dataclass(frozen=True)
class FittedTree(TreeAnswers):
    """What is made of the counts: the tree and the scores."""

    scores: PathTable
    n_iterations: int  # how often words were moved

    def column(self, node: Any) -> int | None:
        """The column of a node's scores. None where no class is below it, or a single child speaks for it."""
        inner = [WHOLE if name is None else name for name in self.paths.inner]
        if node in inner:
            return self.scores.column_of_node.get(self.scores.n_classes + inner.index(node))
        return self.paths.labels.index(node) if node in self.paths.labels else None

    def own_words(self, column: int, n: int) -> list[tuple[int, float]]:
        """The words that a column makes most likelier than those above it, with their parts in the divergence."""
        scores, gain = self.scores, self.scores.dense(column)
        parent = int(scores.parents[column])
        if parent >= 0:
            above = np.exp(scores.log_proba(parent))
        else:
            above, gain = np.full(len(gain), scores.uniform[column]), gain - scores.table.log_uniform[column]
        own = above * np.expm1(gain)
        weights = own / (own.sum() or 1.0) * gain
        best = np.lexsort((np.arange(len(weights)), -weights))[:n]
        return [(int(w), float(weights[w])) for w in best if weights[w] > 0]


def _climb(answers: Int64, proba: Float64, parents: Int32, least: float) -> Int64:
    """From each document's answer up to the first node that is probable enough."""
    rows = np.arange(len(answers))
    while True:
        unsure = (proba[rows, answers] < least - 1e-12) & (answers > 0)  # sums may end just below one
        if not unsure.any():
            return answers
        answers = np.where(unsure, parents[answers], answers)
