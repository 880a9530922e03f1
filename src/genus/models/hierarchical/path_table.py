"""Word probabilities along the paths of a tree, tabulated for scoring."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genus import _core
from genus.base.arrays import Float64, Int32, Int64
from genus.base.rows import SparseRows, row_sums
from genus.base.score_table import LazyQuantized, ScoreTable, top_words
from genus.tree.answers import TreeAnswers
from genus.tree.label_tree import WHOLE
from genus.tree.paths import TreePaths

_MOST_CELLS = 1 << 30  # of a score table: 12 GB


@dataclass(frozen=True)
class PathTable:
    """Scores of words kept once for all classes below a node.

    Column c is class c's leaf; columns of inner nodes follow, each after its parent. A column says by which factor
    its node multiplies the probability of a word, given the nodes above it: log p(w | c) is the sum along the path.
    Classes whose weights differ have columns of their own for the nodes they share.
    """

    table: ScoreTable
    parents: Int32  # of each column, -1 at the top
    nodes: Int32  # of each column
    weights: Float64  # P(v|c) of each column's node
    uniform: Float64  # at the top, the uniform distribution's weight / N; elsewhere 0
    n_classes: int
    seen: NDArray[np.bool_]  # which words some class has

    @classmethod
    def from_weights(
        cls, paths: TreePaths, weights: Float64, groups: tuple[Int32, Int64], counts: tuple[Int64, Int32, Float64],
        seen: NDArray[np.bool_], log_prior: Float64, bias: Float64, n_threads: int,
    ) -> PathTable:  # fmt: skip
        """From fitted weights and node counts, as `_core.fit_tree` gives them, and which words were seen."""
        n_seen = max(int(seen.sum()), 1)
        filled = row_sums(counts[0], counts[2]) > 0
        columns = _Columns(len(paths.labels))
        for c in range(len(paths.labels)):
            path = paths.path(c).tolist()
            begin = groups[1][groups[0][c]]
            # A node that has seen nothing leaves its weight to the others.
            own = weights[begin : begin + len(path) + 1] * np.concatenate(([True], filled[path]))
            columns.add(c, path, (own / own.sum()).tolist(), n_seen, (int(groups[0][c]), tuple(filled[path])))
        parents, nodes, column_weights, uniform = columns.arrays()
        n_cells = int(np.diff(counts[0])[nodes].sum())
        if n_cells > _MOST_CELLS:
            raise ValueError(
                f"a table of {n_cells:,} scores would be too large: classes with weights of their own need one for "
                "every word; use weights='tied'."
            )
        table = _core.build_path_table(  # eq. 1, by column
            *counts, max(len(seen), 1), nodes, parents, column_weights, uniform, len(paths.labels), n_threads
        )
        wide_bias = np.zeros(len(nodes))
        wide_bias[: len(bias)] = bias
        log_uniform = np.log(np.where(uniform > 0, uniform, 1.0))
        scores = ScoreTable(*table, wide_bias, log_prior, log_uniform)
        return cls(scores, parents, nodes, column_weights, uniform, len(paths.labels), seen)

    def seen_rows(self, rows: SparseRows) -> SparseRows:
        """Without the words that were not seen in training."""
        if self._has_seen_all or (kept := self.seen[rows.indices]).all():
            return rows
        indptr = np.concatenate(([0], np.cumsum(kept)))[rows.indptr]
        return SparseRows(indptr, rows.indices[kept], rows.data[kept], rows.n_columns)

    @cached_property
    def _has_seen_all(self) -> bool:
        return bool(self.seen.all())

    def joint_log_likelihood(self, rows: SparseRows, threads: int) -> Float64:
        """log P(c, d), documents x classes."""
        table, rows, out = self.table, self.seen_rows(rows), np.empty((rows.n_rows, self.n_classes))
        _core.score_paths(  # eq. 1 along each path, and the product over words
            *table.arrays, rows.indptr, rows.indices, rows.data, table.bias, table.log_uniform, self.parents, out,
            threads,
        )  # fmt: skip
        return out

    def best_classes(self, rows: SparseRows, threads: int) -> Int32:
        """The number of the best class of each document, the first of equal ones."""
        rows = self.seen_rows(rows)
        table = self.table
        documents: tuple[Any, ...] = (
            rows.indptr, rows.indices, rows.data, table.bias, table.log_uniform, self.parents, self.n_classes, threads
        )  # fmt: skip
        best: Int32
        if (quantized := self._quantized.for_rows(rows, threads)) is not None:
            best = _core.best_classes_by_quantized(quantized, *table.arrays, *documents)
        else:
            best = _core.best_classes_of_paths(*table.arrays, *documents)
        return best

    @cached_property
    def _quantized(self) -> LazyQuantized:
        """With the paths of common words summed, so that these cost what they cost without a tree."""
        return LazyQuantized(self.table.arrays, self.parents, self.n_classes)

    def columns_of(self, c: int) -> list[int]:
        """The columns of a class's path, the root's first."""
        columns = [c]
        while (above := int(self.parents[columns[-1]])) >= 0:
            columns.append(above)
        return columns[::-1]

    def evidence(self, w: int, c: int) -> Float64:
        """What each column of class c's path adds to log p(w | c); the first includes the uniform distribution.

        Of a word that was seen.
        """
        return self.table.evidence(w, np.array(self.columns_of(c)))

    def shares(self, w: int, c: int) -> Float64:
        """P(v|c,w) of the uniform distribution, the root, ..., the leaf (eq. 5). Of a word that was seen."""
        columns = self.columns_of(c)
        reached = np.exp(np.cumsum(self.evidence(w, c)))
        parts = np.diff(np.concatenate(([0.0, self.uniform[columns[0]]], reached)))
        return np.asarray(np.maximum(parts, 0) / reached[-1])  # eq. 5

    def log_proba(self, column: int) -> Float64:
        """log p(w) of all words by the nodes down to a column's, not normalised; -inf where never seen."""
        log_p = np.sum([self.dense(k) for k in self.columns_of(column)], axis=0)
        return np.where(self.seen, log_p, -np.inf)

    def dense(self, column: int) -> Float64:
        """What a column adds to the log probability of each word."""
        self.table.check()
        out = np.full(len(self.table.indptr) - 1, self.table.log_uniform[column])
        cells = np.flatnonzero(self.table.classes == column)
        words = np.searchsorted(self.table.indptr, cells, side="right") - 1
        out[words] += self.table.values[cells]
        return out

    @cached_property
    def column_of_node(self) -> dict[int, int]:
        """One column for each node, where classes differ in weights the first's."""
        return {int(node): k for k, node in reversed(list(enumerate(self.nodes.tolist())))}

    def check(self, n_classes: int, n_nodes: int) -> None:
        """Raise ValueError unless the arrays belong together: a file may be damaged. Tables are not read for it."""
        self.table.check_shapes()
        n = len(self.parents)
        for name, dtype in (("parents", "i4"), ("nodes", "i4"), ("weights", "f8"), ("uniform", "f8")):
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.dtype != np.dtype(dtype) or array.shape != (n,):
                raise ValueError(f"{name} must be an array of {n} numbers ({np.dtype(dtype)}).")
        below = np.where(np.arange(n) < n_classes, n, np.arange(n))
        sound = n >= n_classes == len(self.table.log_prior) and len(self.table.bias) == len(self.table.log_uniform) == n
        if not sound or not ((self.parents < 0) | ((self.parents >= n_classes) & (self.parents < below))).all():
            raise ValueError("the columns of the score table do not form a tree.")
        if not ((self.nodes >= 0) & (self.nodes < n_nodes)).all():
            raise ValueError("the columns of the score table do not belong to the tree's nodes.")


class _Columns:
    """Columns as they are found, class by class."""

    def __init__(self, n_classes: int) -> None:
        self._n_classes = n_classes
        self._leaves: list[tuple[int, int, float, float]] = []
        self._inner: list[tuple[int, int, float, float]] = []
        self._numbers: dict[object, int] = {}

    def add(self, c: int, path: list[int], weights: list[float], n_words: int, key: object) -> None:
        """``key`` is equal for classes with equal weights."""
        parent, uniform = -1, weights[0] / n_words
        for node, weight in zip(path[:-1], weights[1:-1], strict=True):
            column = self._numbers.setdefault((key, node), len(self._inner))
            if column == len(self._inner):
                self._inner.append((parent, node, weight, uniform))
            parent, uniform = self._n_classes + column, 0.0
        self._leaves.append((parent, c, weights[-1], uniform))

    def arrays(self) -> tuple[Int32, Int32, Float64, Float64]:
        parents, nodes, weights, uniform = zip(*self._leaves, *self._inner, strict=True)
        return np.array(parents, np.int32), np.array(nodes, np.int32), np.array(weights), np.array(uniform)


@dataclass(frozen=True)
class FittedTree(TreeAnswers):
    """What is made of the counts: the tree and the scores."""

    scores: PathTable
    n_iterations: int  # how often words were moved

    def best_classes(self, rows: SparseRows, threads: int) -> Int32:
        """The number of the best class of each document, the first of equal ones."""
        return self.scores.best_classes(rows, threads)

    def column(self, node: object) -> int | None:
        """The column of a node's scores. None where no class is below it, or a single child has the same scores."""
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
        words, best = top_words(np.arange(len(weights)), weights, n, positive=True)
        return list(zip(words.tolist(), best.tolist(), strict=True))
