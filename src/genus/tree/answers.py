"""A fitted tree of classes: its nodes by number, answers at any level, and the words of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from genus.base.arrays import Float64, Int32, Int64
from genus.base.labels import Labels
from genus.base.validation import check_number, check_steps
from genus.tree.label_tree import WHOLE, Node
from genus.tree.paths import TreePaths

if TYPE_CHECKING:
    from genus.base.protocol import Label


@dataclass(frozen=True)
class TreeAnswers:
    """Answers at any level of a tree, from the probabilities of its classes."""

    paths: TreePaths

    @cached_property
    def names(self) -> list[Label]:
        """The tree's nodes by number, the root's being 0."""
        tree = self.paths.tree
        return [*([] if tree.root is not None else [WHOLE]), *tree.nodes]

    @cached_property
    def numbers(self) -> tuple[dict[Node, int], Int32]:
        return self.paths.tree.numbers()

    @cached_property
    def membership(self) -> sparse.csr_array:
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
        """The node of each class at a level, or the class itself if it is higher up."""
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

    def named(self, answers: Int64) -> Labels:
        """Nodes by name: text, or objects where an unnamed root stands among numbers."""
        kinds = {type(self.names[i]) for i in set(answers.tolist())}
        return np.array([self.names[i] for i in answers.tolist()], dtype=object if len(kinds) > 1 else None)


def _climb(answers: Int64, proba: Float64, parents: Int32, least: float) -> Int64:
    """Go up from each document's answer to the first node that is probable enough."""
    rows = np.arange(len(answers))
    while True:
        unsure = (proba[rows, answers] < least - 1e-12) & (answers > 0)  # sums may end just below one
        if not unsure.any():
            return answers
        answers = np.where(unsure, parents[answers], answers)


def check_question(level: int | None, min_proba: float | None) -> None:
    """Check the options that ask for nodes."""
    if level is not None:
        check_steps("level", level, 0)
    if min_proba is not None:
        check_number("min_proba", min_proba, 0, 1, "None or a number from 0 to 1")
