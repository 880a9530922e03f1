"""The tree of classes as ``model="auto"`` uses it: with the classes that have texts, by name and by number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from genus.tree.label_tree import LabelTree, are_paths


@dataclass(frozen=True)
class ClassTree:
    """A tree whose leaves are classes.

    Examples
    --------
    >>> import numpy as np
    >>> tree = ClassTree.of({"cat": "pets", "dog": "pets", "fish": "pets"}, np.array(["cat", "dog"]))
    >>> sorted(tree.coded.to_dict().items())
    [(-1, None), (0, -1), (1, -1)]
    """

    named: LabelTree
    coded: LabelTree  # classes by their numbers, the nodes above them by -1, -2, ...
    given: bool  # by the user, and not told by the labels

    @classmethod
    def of(cls, tree: Any, classes: NDArray[Any]) -> ClassTree | None:
        """Of a tree, or of anything that makes one; of None where labels such as "pets/cat" are paths."""
        labels = classes.tolist()
        whole = tree_of(tree, labels)
        if whole is None:
            return None
        for label in labels:
            if label not in whole:
                raise ValueError(f"labels hold {label!r}, which is not in the tree.")
        parents = {node: whole.parent(node) for label in labels for node in whole.path(label)}
        above = [node for node in parents if node not in set(labels)]
        number: dict[Any, Any] = {node: -1 - i for i, node in enumerate(above)}
        number |= {label: c for c, label in enumerate(labels)} | {None: None}
        coded = {number[node]: number[parent] for node, parent in parents.items()}
        return cls(LabelTree(parents), LabelTree(coded), tree is not None)


def tree_of(tree: Any, labels: list[Any]) -> LabelTree | None:
    """The tree that is meant: the one given, or that of labels which are paths, or none."""
    if tree is not None:
        return LabelTree.of(tree)
    return LabelTree.from_paths(labels) if are_paths(labels) else None
