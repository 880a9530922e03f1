"""A sparse table of words x classes: what each word adds to each class's score, and models that are one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genus import _core
from genus._arrays import Float64, Int32, Int64, SparseRows, n_threads
from genus._base import GenerativeClassifier
from genus.statistics import ONE, ClassCounts, Ledger

# A table in fewer bytes, made once for many documents: see ``rough_table.h``.
RoughTable = tuple[Int32, NDArray[np.float32], NDArray[np.int16], NDArray[np.uint64], float, float, float]

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
        documents: tuple[Any, ...] = (rows.indptr, rows.indices, rows.data, self.bias, self.log_uniform)
        best: Int32
        # Two classes are read at once as they are.
        if len(self.bias) > 2 and ("_rough" in self.__dict__ or self.pays_for_rough(rows)):
            documents += (*self._columns, threads)
            best = _core.best_classes_by(*self._rough, *self.arrays, *documents)
        else:
            documents += (threads,)
            best = _core.best_classes(*self.arrays, *documents)
        return best

    def pays_for_rough(self, rows: SparseRows) -> bool:
        """Whether they are enough: another table costs about 5 ns a cell, and saves 0.2 ns an entry and class."""
        return len(rows.indices) * len(self.bias) > 32 * len(self.values)

    @cached_property
    def _rough(self) -> RoughTable:
        return _core.make_rough(*self.arrays, *self._columns)

    @property
    def _columns(self) -> tuple[Int32, int]:
        """Columns are classes: none has a parent."""
        return np.empty(0, np.int32), len(self.bias)

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

    def check_shapes(self) -> None:
        for name in self.__dataclass_fields__:
            array, kinds = getattr(self, name), _KINDS.get(name, ("float64",))
            if not isinstance(array, np.ndarray) or array.dtype.name not in kinds or array.ndim != 1:
                raise ValueError(f"{name} must be a one-dimensional array of {' or '.join(kinds)}.")
        if not len(self.indptr) or len(self.classes) != len(self.values):
            raise ValueError("the score table's indptr, classes and values do not belong together.")


class TableClassifier(GenerativeClassifier):
    """Base of models whose class is one distribution over words: their parameters are a `ScoreTable`."""

    def _joint_log_likelihood(self, rows: SparseRows) -> Float64:
        return self._score(rows, self._parameters.bias)

    def _score(self, rows: SparseRows, bias: Float64) -> Float64:
        table: ScoreTable = self._parameters
        out = np.empty((rows.n_rows, len(bias)))
        _core.score(
            *table.arrays,
            rows.indptr, rows.indices, rows.data,
            bias, table.log_uniform, out, n_threads(self.n_jobs),
        )  # fmt: skip
        return out

    def _best_classes(self, rows: SparseRows) -> NDArray[np.integer]:
        table: ScoreTable = self._parameters
        return table.best_classes(rows, n_threads(self.n_jobs))

    # Looking inside

    @property
    def class_count_(self) -> Float64:
        return self._ledger.settle(n_threads(self.n_jobs)).weights / ONE

    @property
    def class_log_prior_(self) -> Float64:
        log_prior: Float64 = self._parameters.log_prior
        return log_prior

    def _log_evidence(self, row: SparseRows, classes: Sequence[int]) -> tuple[Float64, Float64]:
        table: ScoreTable = self._parameters
        return table.row_evidence(row, classes)

    # Keeping

    def _get_state(self) -> dict[str, Any]:
        """Everything learned, as arrays that can be mapped from a file."""
        table: ScoreTable = self._parameters
        counts = self._ledger.settle(n_threads(self.n_jobs))
        state = {name: getattr(counts, name) for name in counts.__dataclass_fields__}
        return state | {f"table_{name}": getattr(table, name) for name in table.__dataclass_fields__}

    def _set_state(self, state: Mapping[str, Any]) -> None:
        """Take over learned arrays. Shapes are checked here; contents when they are first built upon."""
        try:
            counts = ClassCounts(**{name: state[name] for name in ClassCounts.__dataclass_fields__})
            table = ScoreTable(**{name: state[f"table_{name}"] for name in ScoreTable.__dataclass_fields__})
        except KeyError as error:
            raise ValueError(f"the model's state lacks {error}.") from None
        counts.check_shapes()
        table.check_shapes()
        if any(len(array) != counts.n_classes for array in (table.bias, table.log_prior, table.log_uniform)):
            raise ValueError("the score table and the labels are of different length.")
        if len(table.indptr) != len(counts.indptr):
            raise ValueError("the score table and the counts know different numbers of words.")
        self._keep(Ledger(counts, checked=False))
        self._parameters_cache = table
