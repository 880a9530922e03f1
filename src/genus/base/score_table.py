"""A sparse table of words x classes: what each word adds to each class's score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from genus import _core
from genus.base.arrays import CHECKED_AT_ONCE, Float64, Int32, Int64, State, check_bounds, check_within
from genus.base.rows import SparseRows
from genus.base.statistics import ClassCounts

QuantizedTable = tuple[Int32, NDArray[np.float32], NDArray[np.int16], NDArray[np.uint64], float, float, float, float]


# Making one costs about 2 ns a cell, and saves 0.1 ns for every entry of a document and class.
_ENOUGH = 16


class LazyQuantized:
    """The quantized copy of a table, which is made once so much was asked that it would have paid."""

    def __init__(self, arrays: tuple[Int64, Int32, NDArray[Any]], parents: Int32, n_classes: int) -> None:
        self.columns = parents, n_classes
        self._arrays = arrays
        self._asked = 0
        self._table: QuantizedTable | None = None

    def for_rows(self, rows: SparseRows, threads: int) -> QuantizedTable | None:
        """The copy, if it should answer for these documents."""
        self._asked += len(rows.indices) * self.columns[1]
        if self._table is None and self._asked > _ENOUGH * len(self._arrays[2]):
            self.make(threads)
        return self._table

    def make(self, threads: int) -> None:
        self._table = _core.make_quantized(*self._arrays, *self.columns, threads)


_KINDS = {"indptr": ("int64",), "classes": ("int32",), "values": ("float64", "float32")}


@dataclass(frozen=True)
class ScoreTable:
    """What scoring reads: see ``score`` in the native core.

    ``values`` holds log1p(ratio_c * count_wc) by word; ``bias`` is prior_scale * log p(c); ``log_uniform``
    is the log probability of a word that the class has never seen. Values are in double precision, or in single
    where that is enough: half the bytes to read for every word of a document.
    """

    indptr: Int64
    classes: Int32
    values: NDArray[np.floating]
    bias: Float64
    log_prior: Float64
    log_uniform: Float64

    @property
    def arrays(self) -> tuple[Int64, Int32, NDArray[Any]]:
        return self.indptr, self.classes, self.values

    def best_classes(self, rows: SparseRows, threads: int) -> Int32:
        """The number of the best class of each document, the first of equal ones."""
        best: Int32
        if (quantized := self._quantized_for(rows, threads)) is not None:
            best = _core.best_classes_by_quantized(quantized, *self._given(rows, *self._quantized.columns, threads))
        else:
            best = _core.best_classes(*self._given(rows, threads))
        return best

    def scores(self, rows: SparseRows, threads: int, bias: Float64 | None = None) -> Float64:
        """Of documents x classes, with this bias or another."""
        table = self if bias is None else replace(self, bias=bias)
        out = np.empty((rows.n_rows, len(self.bias)))
        _core.score(*table._given(rows, out, threads))
        return out

    def add_scores(self, rows: SparseRows, factors: Float64, total: Float64, distances: Float64, threads: int) -> None:
        """Add the documents' scores, each times its factor: see `GenerativeClassifier._add_scores`."""
        if (quantized := self._quantized_for(rows, threads)) is not None:
            _core.add_quantized_scores(quantized, *self._given(rows, factors, total, distances, threads))
        else:
            _core.add_scaled_rows(self.scores(rows, threads), factors, total, threads)

    def _given(self, rows: SparseRows, *more: Any) -> tuple[Any, ...]:
        """What kernels are given: this table, documents, and more."""
        return *self.arrays, rows.indptr, rows.indices, rows.data, self.bias, self.log_uniform, *more

    def _quantized_for(self, rows: SparseRows, threads: int) -> QuantizedTable | None:
        """Two classes are read at once as they are."""
        return self._quantized.for_rows(rows, threads) if len(self.bias) > 2 else None

    @cached_property
    def _quantized(self) -> LazyQuantized:
        return LazyQuantized(self.arrays, np.empty(0, np.int32), len(self.bias))  # no column has a parent

    def row(self, w: int) -> slice:
        n = len(self.values)
        begin = min(max(int(self.indptr[w]), 0), n)
        return slice(begin, min(max(int(self.indptr[w + 1]), begin), n))

    def evidence(self, w: int, classes: Int64) -> Float64:
        """log p(w | c) for some classes."""
        row = self.row(w)
        ids, values = self.classes[row], self.values[row]
        if len(ids) == len(self.bias):
            return values[classes] + self.log_uniform[classes]
        # One cell more, so that classes beyond the row's last find something that is not theirs.
        ids, values = np.append(ids, -1), np.append(values, 0.0)
        at = np.searchsorted(ids[:-1], classes)
        return np.asarray(np.where(ids[at] == classes, values[at], 0.0) + self.log_uniform[classes])

    def row_evidence(self, row: SparseRows, classes: Sequence[int]) -> tuple[Float64, Float64]:
        """What the bias (k,) and each of one document's words (n_entries, k) add to some classes' scores."""
        ids = np.asarray(classes, dtype=np.int64)
        words = np.zeros((len(row.indices), len(ids)))
        for i, (w, x) in enumerate(zip(row.indices.tolist(), row.data.tolist(), strict=True)):
            if 0 <= w < len(self.indptr) - 1:
                words[i] = x * self.evidence(w, ids)
        return self.bias[ids], words

    def to_state(self) -> dict[str, object]:
        """The table, as arrays that can be mapped from a file."""
        return {f"table_{name}": getattr(self, name) for name in self.__dataclass_fields__}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """What `to_state` gave, with its shapes checked; the contents of a large one when they are first needed."""
        table = cls(**{name: state[f"table_{name}"] for name in cls.__dataclass_fields__})
        table.check_shapes()
        if len(table.classes) <= CHECKED_AT_ONCE:
            table.check()
        return table

    def check_against(self, counts: ClassCounts) -> None:
        """Raise ValueError unless this is a table of the classes and words that were counted."""
        if any(len(array) != counts.n_classes for array in (self.bias, self.log_prior, self.log_uniform)):
            raise ValueError("the score table and the labels are of different length.")
        if len(self.indptr) != len(counts.indptr):
            raise ValueError("the score table and the counts know different numbers of words.")

    def check(self) -> None:
        """Raise ValueError unless every cell is that of a class: for code that does not look at what it indexes by."""
        self._checked  # noqa: B018 (once for each table)

    @cached_property
    def _checked(self) -> bool:
        check_bounds("table_indptr", self.indptr, len(self.classes))
        check_within("table_classes", self.classes, len(self.bias))
        if not (self.values < np.inf).all():
            raise ValueError("table_values must be numbers below infinity: the file is damaged.")
        return True

    def check_shapes(self) -> None:
        for name in self.__dataclass_fields__:
            array, kinds = getattr(self, name), _KINDS.get(name, ("float64",))
            if not isinstance(array, np.ndarray) or array.dtype.name not in kinds or array.ndim != 1:
                raise ValueError(f"{name} must be a one-dimensional array of {' or '.join(kinds)}.")
        if not len(self.indptr) or len(self.classes) != len(self.values):
            raise ValueError("the score table's indptr, classes and values do not belong together.")


def top_words(words: Int64, weights: Float64, n: int, *, positive: bool = False) -> tuple[Int64, Float64]:
    """The n words of the largest weights, the first of equal ones first; perhaps only if these are positive."""
    best = np.lexsort((words, -weights))[:n]
    if positive:
        best = best[weights[best] > 0]
    return words[best], weights[best]
