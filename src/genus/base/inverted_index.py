"""Training documents by word, in slots ordered by class: see ``inverted_index.h`` in the native core."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from genus import _core
from genus.base.arrays import Float64, Int32, Int64, State
from genus.base.documents import Documents
from genus.base.rows import SparseRows
from genus.base.statistics import ONE


@dataclass(frozen=True)
class InvertedIndex:
    """The postings of every word. Empty documents and those without weight are not in it.

    Attributes
    ----------
    order : int64 array of shape (n_slots,)
        The number of the document in each slot.
    ranks : int64 array of shape (n_slots,)
        Which of several equally near documents comes first: the one of lower rank. In files of the first releases,
        the one of lower number.
    weights : array of shape (n_slots,)
        The documents' weights c_m.
    class_starts : int64 array of shape (n_classes + 1,)
        Class ``l`` has the slots from ``class_starts[l]`` to ``class_starts[l + 1]``.
    class_weights : array of shape (n_classes,)
        The sum of each class's ``weights``.
    frequencies : array of shape (n_postings,)
        p_m(w), the word's share of the document; 0 where a run is filled up.
    """

    words: Int64
    run_blocks: Int32
    run_starts: Int64
    slots: NDArray[np.uint16]
    frequencies: Float64
    block_starts: Int64
    class_starts: Int64
    weights: Float64
    class_weights: Float64
    order: Int64
    ranks: Int64

    @classmethod
    def from_documents(cls, documents: Documents, n_threads: int = 1) -> InvertedIndex:
        rows, codes, fixed = documents.rows, documents.codes, documents.weights
        lengths = _core.fixed_lengths(rows.indptr, rows.data, n_threads) / ONE
        inside = (lengths > 0) & (fixed > 0)
        scales = np.divide(1.0, lengths, out=np.zeros(len(lengths)), where=inside)
        order = documents.order[np.argsort(codes[documents.order], kind="stable")]
        order = order[inside[order]]
        ranks = np.empty(len(codes), dtype=np.int64)
        ranks[documents.order] = np.arange(len(codes))
        n_classes = documents.counts.n_classes
        sizes = np.bincount(codes[order], minlength=n_classes)
        class_starts = np.concatenate(([0], np.cumsum(sizes)))
        block_starts = _core.cut_blocks(class_starts)
        index = _core.build_index(
            rows.indptr, rows.indices, documents.values, scales, order, block_starts, documents.counts.n_words
        )
        class_weights = np.zeros(n_classes, dtype=np.int64)
        np.add.at(class_weights, codes[order], fixed[order])
        return cls(*index, block_starts, class_starts, fixed[order] / ONE, class_weights / ONE, order, ranks[order])

    @cached_property
    def segment_weights(self) -> Float64:
        """The summed weights of each part of a block that belongs to one class."""
        sums: Float64 = _core.segment_weights(self.block_starts, self.class_starts, self.weights)
        return sums

    @cached_property
    def unit_weights(self) -> bool:
        return bool((self.weights == 1).all())

    @property
    def n_slots(self) -> int:
        return len(self.order)

    def class_of_slots(self, slots: Int64) -> Int64:
        return np.searchsorted(self.class_starts, slots, side="right") - 1

    def slot_of_documents(self, numbers: Int64) -> Int64:
        """Where documents stand; -1 for those that are not in the index."""
        slot_of = np.full(max(int(self.order.max(initial=-1)), int(numbers.max(initial=-1))) + 1, -1)
        slot_of[self.order] = np.arange(self.n_slots)
        return slot_of[numbers]

    def known_words(self, rows: SparseRows) -> NDArray[np.bool_]:
        """Whether each entry's word is in some document."""
        inside = rows.indices < len(self.words) - 1
        at = np.where(inside, rows.indices, 0)
        return np.asarray(inside & (self.words[at + 1] > self.words[at]) & (rows.data > 0))

    def postings(self, w: int, c: int) -> tuple[Int64, Float64]:
        """The documents of class c that hold word w: slots counted from the class's first, and frequencies."""
        begin, end = int(self.class_starts[c]), int(self.class_starts[c + 1])
        found = [(np.empty(0, dtype=np.int64), np.empty(0))]
        if 0 <= w < len(self.words) - 1:
            for r in range(max(int(self.words[w]), 0), min(int(self.words[w + 1]), len(self.run_blocks))):
                b = int(self.run_blocks[r])
                inside = 0 <= b < len(self.block_starts) - 1
                if inside and self.block_starts[b] < end and self.block_starts[b + 1] > begin:
                    run = slice(max(int(self.run_starts[r]), 0), max(int(self.run_starts[r + 1]), 0))
                    slots = self.block_starts[b] + self.slots[run].astype(np.int64)
                    mine = (slots >= begin) & (slots < end) & (self.frequencies[run] > 0)
                    found.append((slots[mine] - begin, self.frequencies[run][mine]))
        slots, frequencies = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return slots, frequencies

    def check_shapes(self) -> None:
        dtypes = {"run_blocks": "i4", "slots": "u2", "frequencies": "f8", "weights": "f8", "class_weights": "f8"}
        for name in self.__dataclass_fields__:
            array, dtype = getattr(self, name), dtypes.get(name, "i8")
            if not isinstance(array, np.ndarray) or array.dtype != np.dtype(dtype) or array.ndim != 1:
                raise ValueError(f"{name} must be a one-dimensional array of {np.dtype(dtype)}.")
        sound = (
            len(self.words) and len(self.run_starts) == len(self.run_blocks) + 1
            and len(self.slots) == len(self.frequencies)
            and len(self.weights) == len(self.order) == len(self.ranks)
            and len(self.class_starts) == len(self.class_weights) + 1
        )  # fmt: skip
        if not sound:
            raise ValueError("the index's arrays do not belong together.")
        for bounds in (self.class_starts, self.block_starts):
            # Compared, not subtracted: differences of wild numbers wrap around.
            ordered = (bounds[1:] >= bounds[:-1]).all()
            rises = len(bounds) and bounds[0] == 0 and bounds[-1] == self.n_slots and ordered
            if not rises:
                raise ValueError("the index's bounds do not rise from 0 to its number of slots.")

    def to_state(self) -> dict[str, object]:
        """The index, as arrays that can be mapped from a file."""
        return {f"index_{name}": getattr(self, name) for name in self.__dataclass_fields__}

    @classmethod
    def from_state(cls, state: State, n_documents: int) -> InvertedIndex:
        ranks = state.get("index_ranks", state["index_order"])
        arrays = {name: state[f"index_{name}"] for name in cls.__dataclass_fields__ if name != "ranks"}
        index = cls(**arrays, ranks=ranks)
        index.check_shapes()
        if index.order.min(initial=0) < 0 or index.order.max(initial=-1) >= n_documents:
            raise ValueError("the index names documents that are not there.")
        return index


class CosineIndex:
    """Documents of norm 1. ``rows`` are the documents themselves."""

    def __init__(self, rows: SparseRows) -> None:
        n, values = rows.n_rows, np.asarray(rows.data, dtype=np.float64)
        self.rows = rows._replace(data=values)
        class_starts = np.array([0, n], dtype=np.int64)
        block_starts = _core.cut_blocks(class_starts)
        order, ones = np.arange(n, dtype=np.int64), np.ones(n)
        index = _core.build_index(rows.indptr, rows.indices, values, ones, order, block_starts, rows.n_columns)
        self._index = InvertedIndex(*index, block_starts, class_starts, ones, np.array([float(n)]), order, order)

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
