"""A tree of classes: parents and children, validated, and easy to print.

A tree has one root. If several nodes have no parent, the root is an unnamed node above them. Classes are the
leaves, and any inner node that is the label of a document.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage

from genus.base.arrays import Int32

if TYPE_CHECKING:
    from genus.base.labels import Labels
    from genus.base.protocol import Label, Params, Samples, State, Targets

Node = Hashable
WHOLE = "(all)"  # what a root without a name is called
_MOST_LEARNED = 10_000  # classes: their distances are kept pair by pair


class LabelTree:
    """A tree of class labels.

    Parameters
    ----------
    parents : dict of node to parent
        Nodes without a parent are at the top. If any node has the parent None, only such nodes are at the top, and
        every other parent must itself be in the dict.

    Attributes
    ----------
    root : node or None
        The top node, or None if several nodes are at the top and the root has no name.
    nodes : tuple
        All named nodes but an unnamed root, each parent before its children, children in the order given.
    leaves : tuple
        The nodes without children.

    Raises
    ------
    ValueError
        For a cycle, a node that is its own parent, a parent that is not in the tree, or an empty tree.

    Examples
    --------
    >>> tree = LabelTree.from_paths(["hardware/printer", "hardware/disk", "sport"])
    >>> tree.path("hardware/disk")
    ('hardware/disk', 'hardware')
    >>> print(tree)
    (all)
    ├── hardware
    │   ├── hardware/printer
    │   └── hardware/disk
    └── sport
    """

    root: Node | None
    nodes: tuple[Node, ...]

    def __init__(self, parents: Mapping[Node, Node | None]) -> None:
        self.parents = parents
        if not isinstance(parents, Mapping) or not parents:
            raise ValueError(f"a tree needs a dict of node to parent with at least one node, got {_short(parents)}.")
        children: dict[Node | None, list[Node]] = {}
        for node, parent in parents.items():
            if node is None:
                raise ValueError("a node of the tree must not be None.")
            children.setdefault(parent, []).append(node)
        unknown = [parent for parent in children if parent is not None and parent not in parents]
        if None in children and unknown:
            raise ValueError(
                f"node {unknown[0]!r} is the parent of {children[unknown[0]][0]!r}, but is itself not in the tree."
            )
        tops = [*children.pop(None, []), *unknown]
        self._children = {parent: tuple(nodes) for parent, nodes in children.items() if parent is not None}
        self._parent: dict[Node, Node | None] = dict.fromkeys(tops) | dict(parents)
        single = len(tops) == 1 and tops[0] in self._children
        self.root = tops[0] if single else None
        self._tops = tuple(tops)
        self.nodes = tuple(self._walk(tops))
        if len(self.nodes) < len(self._parent):
            raise ValueError(f"the tree has a cycle: {' -> '.join(map(str, self._cycle()))}.")

    # Making trees

    @classmethod
    def from_any(cls, tree: object) -> LabelTree:
        """A tree from a tree, a dict (of parents, or nested), a networkx graph, or a list of paths."""
        if isinstance(tree, LabelTree):
            return tree
        if isinstance(tree, Mapping):
            nested = any(isinstance(value, (Mapping, list, tuple, set, frozenset)) for value in tree.values())
            return cls.from_nested(tree) if nested else cls(tree)
        if hasattr(tree, "edges") and hasattr(tree, "nodes"):
            return cls.from_graph(tree)
        if isinstance(tree, (list, tuple, set, frozenset, np.ndarray)):
            return cls.from_paths(tree)
        raise ValueError(f"tree must be a LabelTree, a dict, a networkx graph or a list of paths, got {_short(tree)}.")

    of = from_any  # its name in genus 0.1

    @classmethod
    def from_paths(cls, paths: Iterable[str], separator: str = "/") -> Self:
        """A tree from labels such as "hardware/printer". A node's name is its path from the top."""
        parents: dict[Node, Node | None] = {}
        for path in paths:
            if not isinstance(path, str) or not all(path.split(separator)):
                raise ValueError(f"a path must be text such as 'a{separator}b', without empty parts, got {path!r}.")
            parts = str(path).split(separator)
            names = [separator.join(parts[: i + 1]) for i in range(len(parts))]
            parents.update(zip(names, [None, *names[:-1]], strict=True))
        return cls(parents)

    @classmethod
    def from_nested(cls, nested: Mapping[Node, object]) -> Self:
        """A tree from nested dicts, such as ``{"hardware": {"printer": {}, "disk": {}}, "sport": {}}``.

        In place of a dict of leaves, a list of them will do; in place of an empty one, None.
        """
        parents: dict[Node, Node | None] = {}
        waiting: list[tuple[Node | None, Any]] = [(None, nested)]
        while waiting:
            parent, below = waiting.pop()
            for node in below or ():
                if node in parents:
                    raise ValueError(f"node {node!r} has two parents: {parents[node]!r} and {parent!r}.")
                parents[node] = parent
                if isinstance(below, Mapping):
                    waiting.append((node, below[node]))
        return cls(parents)

    @classmethod
    def from_graph(cls, graph: Any) -> Self:
        """A tree from a networkx graph whose edges point from parent to child."""
        if not graph.is_directed():
            raise ValueError("the graph must be directed, its edges pointing from parent to child.")
        parents: dict[Node, Node | None] = dict.fromkeys(graph.nodes)
        for parent, node in graph.edges:
            if parents[node] is not None and parents[node] != parent:
                raise ValueError(f"node {node!r} has two parents: {parents[node]!r} and {parent!r}.")
            parents[node] = parent
        if parents and None not in parents.values():
            raise ValueError("the tree has a cycle: every node has a parent.")
        return cls(parents)

    @classmethod
    def flat(cls, labels: Iterable[Node]) -> Self:
        """A tree in which every label is directly under the root."""
        return cls(dict.fromkeys(labels))

    # Asking trees

    def __contains__(self, node: object) -> bool:
        return node in self._parent

    def __len__(self) -> int:
        return len(self.nodes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LabelTree) and self._parent == other._parent

    __hash__ = None  # type: ignore[assignment]

    @property
    def leaves(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node not in self._children)

    def parent(self, node: Node) -> Node | None:
        """The node above, None at the top."""
        self._check(node)
        return self._parent[node]

    def children(self, node: Node | None = None) -> tuple[Node, ...]:
        """The nodes right below; without a node, those at the top."""
        if node is None:
            return self._tops
        self._check(node)
        return self._children.get(node, ())

    def path(self, node: Node) -> tuple[Node, ...]:
        """The node, its parent, and so on up to the top."""
        self._check(node)
        path = [node]
        while (above := self._parent[path[-1]]) is not None:
            path.append(above)
        return tuple(path)

    def depth(self, node: Node) -> int:
        """How many nodes are above: 0 for the root, 1 for nodes under it, whether it has a name or not."""
        return len(self.path(node)) - (self.root is not None)

    def below(self, node: Node) -> tuple[Node, ...]:
        """The node and all that are below it."""
        self._check(node)
        return tuple(self._walk([node]))

    def numbers(self) -> tuple[dict[Node, int], Int32]:
        """Numbers of all nodes, the root's being 0, and the number of each one's parent, the root's being -1."""
        first = 0 if self.root is not None else 1
        number = {node: first + i for i, node in enumerate(self.nodes)}
        above = [] if self.root is not None else [-1]
        for node in self.nodes:
            parent = self._parent[node]
            above.append(number[parent] if parent is not None else -1 if node == self.root else 0)
        return number, np.array(above, dtype=np.int32)

    def to_dict(self) -> dict[Node, Node | None]:
        """Each node's parent, as the constructor takes it."""
        return {node: self._parent[node] for node in self.nodes}

    def _check(self, node: Node) -> None:
        if node not in self._parent:
            raise ValueError(f"{node!r} is not a node of the tree.")

    def _walk(self, tops: Sequence[Node]) -> Iterator[Node]:
        waiting = list(reversed(tops))
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(self._children.get(node, ())))

    def _cycle(self) -> list[Node | None]:
        reached = set(self.nodes)
        node: Node | None = next(node for node in self._parent if node not in reached)
        seen: list[Node | None] = []
        while node not in seen:
            seen.append(node)
            node = self._parent[node]
        return [*seen[seen.index(node) :], node]

    # Showing trees

    def __repr__(self) -> str:
        return f"LabelTree({len(self.nodes)} nodes, {len(self.leaves)} leaves)"

    def __str__(self) -> str:
        return self.render()

    def render(self, name: Callable[[Label], str] = str) -> str:
        """The tree as text, one node a line, each as ``name`` gives it. A root without a name is "(all)"."""
        lines = [name(WHOLE if self.root is None else self.root)]
        waiting = [(node, "") for node in reversed(self._tops if self.root is None else self.children(self.root))]
        while waiting:
            node, indent = waiting.pop()
            last = not waiting or len(waiting[-1][1]) < len(indent)
            lines.append(f"{indent}{'└── ' if last else '├── '}{name(node)}")
            deeper = indent + ("    " if last else "│   ")
            waiting += [(child, deeper) for child in reversed(self._children.get(node, ()))]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        name = WHOLE if self.root is None else str(self.root)
        parts = [f"<ul class='genus-tree'><li>{html.escape(name)}"]
        waiting: list[Node] = [_Close("</li></ul>")]

        def open_list(nodes: Sequence[Node]) -> None:
            if nodes:
                parts.append("<ul>")
                waiting.append(_Close("</ul>"))
                waiting.extend(reversed(nodes))

        open_list(self._tops if self.root is None else self.children(self.root))
        while waiting:
            node = waiting.pop()
            if isinstance(node, _Close):
                parts.append(node)
                continue
            parts.append(f"<li>{html.escape(str(node))}")
            waiting.append(_Close("</li>"))
            open_list(self._children.get(node, ()))
        return "".join(parts)

    # Keeping: a tree is saved as a parameter, by what it was made from

    def get_params(self, deep: bool = True) -> Params:
        return {"parents": self.parents}

    def _get_state(self) -> State:
        return {}

    def _set_state(self, state: Mapping[str, object]) -> None:
        if state:
            raise ValueError("a tree has no state")


class _Close(str):
    """A closing tag among nodes, which may be text too."""


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{type(value).__name__} {text[:40]}..."


def are_paths(labels: Iterable[Any]) -> bool:
    """Whether labels are paths that share nodes: two begin with one part, or one is the beginning of another.

    >>> are_paths(["hardware/printer", "hardware/disk"]), are_paths(["TCP/IP", "printer"])
    (True, False)
    """
    tops: set[str] = set()
    for label in labels:
        if not isinstance(label, str) or not all(label.split("/")):
            return False
    for label in labels:
        top = label.split("/")[0]
        if top in tops:
            return True
        tops.add(top)
    return False


def learn_tree(X: Samples, y: Targets, n_groups: int | None = None) -> LabelTree:
    """Group classes that use the same words: average-link clustering of the classes' summed counts, by cosine.

    As Toutanova and others (2001) did for Reuters: the tree has one level of groups between the root and the classes.
    A class that is close to no other is directly under the root.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_documents, n_words)
        Word counts.
    y : array of shape (n_documents,)
        Labels.
    n_groups : int, default=None
        How many groups; by default the square root of the number of classes.

    Returns
    -------
    LabelTree

    Examples
    --------
    >>> X = [[3, 1, 0, 0], [2, 2, 0, 0], [0, 0, 3, 1], [0, 0, 1, 2]]
    >>> print(learn_tree(X, ["corn", "wheat", "gold", "zinc"], n_groups=2))
    (all)
    ├── group 1
    │   ├── corn
    │   └── wheat
    └── group 2
        ├── gold
        └── zinc
    """
    labels, codes = np.unique(np.asarray(y), return_inverse=True)
    documents = sparse.csr_array(X, dtype=np.float64)
    member = sparse.csr_array((np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(len(labels), len(codes)))
    return group_classes(labels, member @ documents, n_groups)


def group_classes(labels: Labels, sums: sparse.csr_array, n_groups: int | None = None) -> LabelTree:
    """`learn_tree` from the classes' summed counts, as sparse rows."""
    n = len(labels)
    names: list[Node] = labels.tolist()
    if n > _MOST_LEARNED:
        raise ValueError(
            f"a tree can be learned for at most {_MOST_LEARNED:,} classes, got {n:,}: give a tree, or 'flat'."
        )
    k = round(math.sqrt(n)) if n_groups is None else n_groups
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise ValueError(f"n_groups must be None or a positive integer, got {n_groups!r}.")
    if n <= 2 or k >= n:
        return LabelTree.flat(names)
    lengths = np.sqrt(np.asarray((sums * sums).sum(axis=1)).ravel())
    scaled = sums.multiply(1 / np.where(lengths > 0, lengths, 1)[:, None]).tocsr()
    distances = np.clip(1 - (scaled @ scaled.T).toarray(), 0, None)
    distances[lengths == 0] = 1  # a class without words is far from all
    distances[:, lengths == 0] = 1
    pairs = np.concatenate([row[i + 1 :] for i, row in enumerate(distances)])
    groups = fcluster(linkage(pairs, "average"), int(k), "maxclust")
    return LabelTree(_grouped(names, groups))


def _grouped(labels: list[Node], groups: NDArray[np.integer]) -> dict[Node, Node | None]:
    """Parents: the groups in the order of their first class, without those of one class."""
    members: dict[int, list[Node]] = {}
    for label, group in zip(labels, groups.tolist(), strict=True):
        members.setdefault(group, []).append(label)
    taken = set(labels)
    parents: dict[Node, Node | None] = {}
    number = 0
    for group in members.values():
        if len(group) == 1 or len(members) == 1:
            parents.update(dict.fromkeys(group))
            continue
        number += 1
        while (name := f"group {number}") in taken:
            number += 1
        parents[name] = None
        parents.update(dict.fromkeys(group, name))
    return parents


def tree_of(tree: Any, labels: list[Any]) -> LabelTree | None:
    """The given tree, or the tree of labels that are paths, or None."""
    if tree is not None:
        return LabelTree.from_any(tree)
    return LabelTree.from_paths(labels) if are_paths(labels) else None
