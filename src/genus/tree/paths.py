"""A tree of classes as arrays: the nodes on the way to each class, and scores that are kept node by node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from genus.base.arrays import Float64, Int32, Int64
from genus.base.documents import Documents, equal_documents
from genus.base.statistics import ONE
from genus.tree.label_tree import WHOLE, LabelTree, Node

if TYPE_CHECKING:
    from genus.base.protocol import Label

UNIFORM = "(uniform)"  # the name of the distribution that knows no words


@dataclass(frozen=True)
class TreePaths:
    """The nodes from the root to each class.

    Node c is the leaf of class c, which has seen the class's own documents and no others; inner nodes follow, each
    after its parent. Class c has ``nodes[indptr[c]:indptr[c + 1]]``, the root first and its leaf last. A node that
    would have seen the same as the one below it, having one child and no documents, is left out.
    """

    tree: LabelTree
    labels: Sequence[Label]
    inner: Sequence[Node | None]  # None for a root without a name
    indptr: Int64
    nodes: Int32

    @classmethod
    def from_tree(cls, tree: LabelTree, labels: Sequence[Label], *, by_root: bool = False) -> TreePaths:
        """Of a tree that has all labels; by its root, straight to the classes."""
        classes = set(labels)
        inner: list[Node | None] = [tree.root]
        if not by_root:
            below = (v for v in tree.nodes if v != tree.root)
            inner += [v for v in below if (n := len(tree.children(v))) and (n > 1 or v in classes)]
        number = {node: len(labels) + i for i, node in enumerate(inner)}
        paths: list[int] = []
        indptr = [0]
        for c, label in enumerate(labels):
            above = [number[node] for node in reversed(tree.path(label)) if node in number]
            paths += [*([] if tree.root is not None else [number[None]]), *above, c]
            indptr.append(len(paths))
        return cls(tree, labels, inner, np.array(indptr, dtype=np.int64), np.array(paths, dtype=np.int32))

    @property
    def n_nodes(self) -> int:
        return len(self.labels) + len(self.inner)

    @property
    def lengths(self) -> Int64:
        return np.diff(self.indptr)

    def path(self, c: int) -> Int32:
        return self.nodes[self.indptr[c] : self.indptr[c + 1]]

    def name(self, node: int) -> Label:
        """The name of a node. The leaf of a class that has others below it is the class itself."""
        n = len(self.labels)
        if node < n:
            label = self.labels[node]
            return f"{label} (itself)" if self.tree.children(label) else label
        name = self.inner[node - n]
        return WHOLE if name is None else name

    def weight_groups(self, tied: bool) -> tuple[Int32, Int64]:
        """Which classes share weights (those with paths of one length, or none), and where each group's begin."""
        if tied:
            lengths, groups = np.unique(self.lengths, return_inverse=True)
        else:
            lengths, groups = self.lengths, np.arange(len(self.labels))
        return groups.astype(np.int32), np.concatenate(([0], np.cumsum(lengths + 1))).astype(np.int64)

    def left_out(self, documents: Documents, scales: Float64) -> Float64:
        """How many times its own counts are left out of the nodes of a document's path: (n_documents, n_levels).

        One document's worth: of a document of weight 2, half, since it stands for two equal ones, of which one stays.
        A document with several labels is learned once for each. It must not vouch for itself by a class beside its
        own: with it goes, of each other class below the node, one document that has the same words (of several, the
        mean of their weights). Copies in its own class are documents in their own right.
        """
        levels = int(self.lengths.max(initial=0))
        times = np.maximum(documents.weights / ONE, 1.0)
        out = np.repeat(1 / times[:, np.newaxis], levels, axis=1)
        group, size = equal_documents(documents)
        copied = np.flatnonzero((size[group] > 1) & (scales > 0))
        if not len(copied):
            return out
        n_classes = len(self.labels)
        pairs, place = np.unique(group[copied] * n_classes + documents.codes[copied], return_inverse=True)
        mean = np.bincount(place, scales[copied]) / np.bincount(place, times[copied])
        groups, classes = np.divmod(pairs, n_classes)
        for level in range(levels):
            deep = np.flatnonzero(self.lengths[classes] > level)
            nodes = self.nodes[self.indptr[classes[deep]] + level].astype(np.int64)
            _, node = np.unique(groups[deep] * self.n_nodes + nodes, return_inverse=True)
            others = np.zeros(len(pairs))
            others[deep] = np.bincount(node, mean[deep])[node] - mean[deep]
            out[copied, level] = 1 / times[copied] + np.maximum(others[place], 0.0) / scales[copied]
        return out
