"""Weighted documents by word, to find those nearest to others by the cosine."""

from __future__ import annotations

import numpy as np

from genus import _core
from genus.base.arrays import Float64, Int64, SparseRows
from genus.base.inverted_index import InvertedIndex


class CosineIndex:
    """Documents of norm 1. ``rows`` are the documents themselves."""

    def __init__(self, rows: SparseRows) -> None:
        n, values = rows.n_rows, np.asarray(rows.data, dtype=np.float64)
        self.rows = rows._replace(data=values)
        class_starts = np.array([0, n], dtype=np.int64)
        block_starts = _core.cut_blocks(class_starts)
        order, ones = np.arange(n, dtype=np.int64), np.ones(n)
        index = _core.build_index(rows.indptr, rows.indices, values, ones, order, block_starts, rows.n_columns)
        self._index = InvertedIndex(*index, block_starts, class_starts, ones, np.array([float(n)]), order)

    def __len__(self) -> int:
        return self.rows.n_rows

    def nearest(self, rows: SparseRows, k: int, n_threads: int) -> tuple[Int64, Float64]:
        """The k nearest documents, the nearest first: numbers and cosines, each (n_rows, k)."""
        index = self._index
        found: tuple[Int64, Float64] = _core.top_slots(
            index, index.frequencies, rows.indptr, rows.indices, rows.data,
            np.zeros((1, 1)), np.zeros(len(self)), index.order, min(k, len(self)), n_threads,
        )  # fmt: skip
        return found
