"""What a model of documents remembers: the documents themselves, and their exact sums by class.

Documents keep the order in which they came; their position is their number. Merging puts those of the other
model behind, unlearning closes the gap. What is computed from documents goes through them in another order, which
depends on the documents alone (`Documents.in_order`): the result is the model of these documents, bit for bit, in
whatever order and parts they were learned.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from genus import _core
from genus.base.arrays import CHECKED_AT_ONCE, Float64, Int32, Int64, State, UInt64, mix64
from genus.base.labels import Labels, positions
from genus.base.rows import SparseRows, canonical, spread_ranges, stack_rows, take_rows
from genus.base.statistics import _NEVER_LEARNED, ONE, Accumulator, Batch, ClassCounts

# As they are kept, with their types.
_ARRAYS = {
    "document_indptr": "i8",
    "document_words": "i4",
    "document_values": "f8",
    "document_codes": "i4",
    "document_weights": "i8",
}


@dataclass(frozen=True)
class Documents:
    """Documents with their classes.

    Attributes
    ----------
    counts : ClassCounts
        Each class's sum of its documents' frequencies times their weights.
    rows : SparseRows
        In each row words rise and values are positive.
    codes : int32 array of shape (n_documents,)
        The class, as a position in ``counts.labels``.
    weights : int64 array of shape (n_documents,)
        In fixed point.
    """

    counts: ClassCounts
    rows: SparseRows
    codes: Int32
    weights: Int64

    @property
    def labels(self) -> Labels:
        return self.counts.labels

    @property
    def values(self) -> Float64:
        return np.asarray(self.rows.data, dtype=np.float64)

    def to_state(self) -> dict[str, object]:
        """The documents and their sums, as arrays that can be mapped from a file."""
        arrays = (self.rows.indptr, self.rows.indices, self.values, self.codes, self.weights)
        return self.counts.to_state() | dict(zip(_ARRAYS, arrays, strict=True))

    @classmethod
    def from_state(cls, state: State) -> Documents:
        """What `to_state` gave. Shapes are checked here, contents of large ones by `check`, later."""
        counts = ClassCounts.from_state(state)
        indptr, words, values, codes, weights = (state[name] for name in _ARRAYS)
        documents = cls(counts, SparseRows(indptr, words, values, counts.n_words), codes, weights)
        documents.check_shapes()
        if len(documents.rows.data) + len(counts.counts) <= CHECKED_AT_ONCE:
            documents.check()
        return documents

    def check(self) -> None:
        """Raise ValueError unless the arrays are what this class promises: a file may be damaged."""
        self.counts.check()
        self.check_shapes()
        indptr, indices, data, n_columns = self.rows
        sound = (
            indptr[0] == 0 and indptr[-1] == len(indices) and (indptr[1:] >= indptr[:-1]).all()
            and (indices >= 0).all() and (indices < n_columns).all()
            and (data > 0).all() and np.isfinite(data).all()
            and (self.codes >= 0).all() and (self.codes < self.counts.n_classes).all()
            and (self.weights >= 0).all()
            and np.array_equal(np.bincount(self.codes, minlength=self.counts.n_classes), self.counts.documents)
        )  # fmt: skip
        if not sound:
            raise ValueError("the model's documents are inconsistent: the file is damaged.")

    def check_shapes(self) -> None:
        """The part of `check` that takes no time."""
        self.counts.check_shapes()
        arrays = (self.rows.indptr, self.rows.indices, self.rows.data, self.codes, self.weights)
        for array, (name, dtype) in zip(arrays, _ARRAYS.items(), strict=True):
            if not isinstance(array, np.ndarray) or array.dtype != np.dtype(dtype) or array.ndim != 1:
                raise ValueError(f"{name} must be a one-dimensional array of {np.dtype(dtype)}.")
        n = len(self.codes)
        if len(self.rows.indptr) != n + 1 or len(self.weights) != n or len(self.rows.data) != len(self.rows.indices):
            raise ValueError("the documents' arrays do not belong together.")

    @cached_property
    def _sorted_keys(self) -> tuple[UInt64, Int64]:
        keys = _keys(self.rows, self.codes, self.weights)
        order = np.argsort(keys, kind="stable")
        return keys[order], order

    @property
    def order(self) -> Int64:
        """The numbers of the documents in an order that does not depend on how they came, but for equal ones."""
        return self._sorted_keys[1]

    @property
    def in_order(self) -> Documents:
        """The same documents in this order: sums of floating-point numbers over them are equal to the bit."""
        order = self.order
        return Documents(self.counts, take_rows(self.rows, order), self.codes[order], self.weights[order])

    def locate(self, batch: Batch, *, distinct: bool) -> Int64:
        """The number of a document equal to each of the batch's in words, class and weight; -1 where none is.

        With ``distinct``, equal documents of the batch get different numbers, the latest first.
        """
        known = np.isin(batch.labels, self.labels)
        codes = np.where(known, positions(batch.labels, self.labels), -1).astype(np.int32)[batch.codes]
        rows = batch.rows
        keys = _keys(rows, codes, batch.weights)
        sorted_keys, order = self._sorted_keys
        at = np.searchsorted(sorted_keys, keys, side="right") - 1
        if distinct:
            at = at - _occurrence(keys)
        found = np.where(at >= 0, order[at], -1)
        equal = (found >= 0) & (self.codes[found] == codes) & (self.weights[found] == batch.weights)
        mine = np.diff(self.rows.indptr)[found]
        equal &= mine == np.diff(rows.indptr)
        pairs = np.flatnonzero(equal)
        lengths = mine[pairs]
        where = spread_ranges(self.rows.indptr[found[pairs]], lengths), spread_ranges(rows.indptr[pairs], lengths)
        differs = self.rows.indices[where[0]] != rows.indices[where[1]]
        differs |= self.rows.data[where[0]] != rows.data[where[1]]
        equal[np.repeat(pairs, lengths)[differs]] = False
        return np.where(equal, found, -1)


class DocumentAccumulator(Accumulator):
    """An accumulator that keeps the documents besides their sums."""

    state_names = (*Accumulator.state_names, *_ARRAYS)

    @staticmethod
    def in_form(rows: SparseRows) -> SparseRows:
        return canonical(rows)

    @staticmethod
    def unit_scales(n_rows: int, weights: Float64 | None) -> Float64:
        # Weights are rounded to fixed point first, so that a document adds what is kept of it.
        return float(ONE) * np.ones(n_rows) if weights is None else np.floor(weights * ONE + 0.5)

    def __init__(self, documents: Documents | None = None, *, checked: bool = True) -> None:
        super().__init__(None if documents is None else documents.counts, checked=checked)
        self._documents = documents
        self._documents_checked = checked
        self._new: list[tuple[SparseRows, Labels, Int32, Int64]] = []

    def add(self, batch: Batch, n_threads: int) -> None:
        super().add(batch, n_threads)
        self._new.append((batch.rows, batch.labels, batch.codes, batch.weights))

    def documents(self, n_threads: int = 1) -> Documents:
        """All documents, with sound content."""
        counts = super().checked(n_threads)
        if self._documents is not None and not self._documents_checked:
            self._documents.check()
            self._documents_checked = True
        if self._documents is None or self._new:
            with self.lock:
                if self._documents is None or self._new:  # no other thread has done it meanwhile
                    self._documents = self._with_new(counts)
                    self._new = []  # last: who finds nothing new reads the documents
        return self._documents

    def _with_new(self, counts: ClassCounts) -> Documents:
        old = self._documents
        parts = [] if old is None else [(old.rows, old.labels, old.codes, old.weights)]
        parts += self._new
        return Documents(
            counts,
            stack_rows([rows for rows, *_ in parts], counts.n_words),
            np.concatenate([positions(labels, counts.labels)[codes] for _, labels, codes, _ in parts]),
            np.concatenate([weights for *_, weights in parts]),
        )

    def writable(self) -> Self:
        with self.lock:
            other = super().writable()
            other._new = list(self._new)
        return other

    def own_classes(self, batch: Batch, n_threads: int = 1) -> Int32:
        return self.documents(n_threads).codes[self.numbers_of(batch, n_threads)]

    def numbers_of(self, batch: Batch, n_threads: int = 1) -> Int64:
        """The number of each of some learned documents. Raises ValueError where one was never learned."""
        numbers = self.documents(n_threads).locate(batch, distinct=False)
        if (numbers < 0).any():
            raise ValueError(
                f"X, y and sample_weight must be documents that were learned; row {numbers.argmin()} is not."
            )
        return numbers

    def to_state(self, n_threads: int = 1) -> dict[str, object]:
        return self.documents(n_threads).to_state()

    def restored(self, state: State) -> DocumentAccumulator:
        return DocumentAccumulator(Documents.from_state(state), checked=False)

    def merged(self, other: Accumulator, n_threads: int = 1) -> DocumentAccumulator:
        assert isinstance(other, DocumentAccumulator)
        mine, theirs = self.documents(n_threads), other.documents(n_threads)
        counts = mine.counts.merge(theirs.counts, n_threads)
        codes = [positions(part.labels, counts.labels)[part.codes] for part in (mine, theirs)]
        rows = stack_rows([mine.rows, theirs.rows], counts.n_words)
        weights = np.concatenate([mine.weights, theirs.weights])
        return DocumentAccumulator(Documents(counts, rows, np.concatenate(codes), weights))

    def without(self, batch: Batch, n_threads: int = 1) -> DocumentAccumulator:
        mine = self.documents(n_threads)
        counts = mine.counts.subtract(ClassCounts.from_batch(batch, n_threads), n_threads)
        gone = mine.locate(batch, distinct=True)
        if (gone < 0).any():
            raise ValueError(_NEVER_LEARNED)
        return self._without(gone, counts)

    def without_numbers(self, gone: Int64, batch: Batch, n_threads: int = 1) -> DocumentAccumulator:
        """Without the documents of these numbers, which are those of the batch."""
        counts = self.documents(n_threads).counts.subtract(ClassCounts.from_batch(batch, n_threads), n_threads)
        return self._without(gone, counts)

    def _without(self, gone: Int64, counts: ClassCounts) -> DocumentAccumulator:
        mine = self.documents()
        keep = np.ones(len(mine.codes), dtype=bool)
        keep[gone] = False
        codes = positions(mine.labels[mine.codes[keep]], counts.labels)
        return DocumentAccumulator(
            Documents(counts, take_rows(mine.rows, np.flatnonzero(keep)), codes, mine.weights[keep])
        )

    def keep_words(self, keep: NDArray[np.bool_], n_threads: int = 1) -> DocumentAccumulator:
        mine = self.documents(n_threads)
        new_columns = np.cumsum(keep, dtype=np.int32) - np.int32(1)
        rows = mine.rows._replace(indices=new_columns[mine.rows.indices], n_columns=int(keep.sum()))
        return DocumentAccumulator(Documents(mine.counts.keep_words(keep), rows, mine.codes, mine.weights))


def _occurrence(keys: UInt64) -> Int64:
    """How often each key has come before."""
    order = np.argsort(keys, kind="stable")
    first = np.searchsorted(keys[order], keys[order], side="left")
    result = np.empty(len(keys), dtype=np.int64)
    result[order] = np.arange(len(keys)) - first
    return result


def equal_documents(documents: Documents) -> tuple[Int64, Int64]:
    """The group of each document, with all that have the same words, whatever their labels; and the groups' sizes.

    Groups are numbered alike in whatever order documents come.
    """
    nothing = np.zeros(documents.rows.n_rows, dtype=np.int64)
    keys = _keys(documents.rows, nothing.astype(np.int32), nothing)
    _, group, size = np.unique(keys, return_inverse=True, return_counts=True)
    return group, size


def _keys(rows: SparseRows, codes: Int32, weights: Int64) -> UInt64:
    """64 bits by which equal documents are found."""
    keys: UInt64 = _core.document_keys(rows.indptr, rows.indices, rows.data, 1)
    return mix64(keys + mix64(codes.astype(np.uint64)) + mix64(~weights.astype(np.uint64)))
