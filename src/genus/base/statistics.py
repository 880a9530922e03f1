"""What a model remembers of its documents: exact sums that can be merged, subtracted and grown.

Counts are 64-bit fixed-point integers. Sums of integers do not depend on their order: two halves merged are
the whole, and a document unlearned is one never seen, bit for bit, also with fractional weights. Whole counts
are kept exactly; other values are rounded once, to a multiple of ``2**-FRACTION_BITS``, as they come in.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from genus import _core
from genus.base.arrays import CHECKED_AT_ONCE, Float64, Int32, Int64, State
from genus.base.labels import LABEL_KINDS, Labels, encode_labels, positions, unite_labels
from genus.base.locks import Lock
from genus.base.rows import SparseRows

FRACTION_BITS: int = _core.FRACTION_BITS
ONE = 1 << FRACTION_BITS


_SMALLEST_SETTLEMENT = 1 << 16  # entries; below this, waiting costs less than the bookkeeping


@dataclass(frozen=True)
class Batch:
    """Labelled documents, not yet added up.

    Document ``d`` adds its values times ``scales[d]`` to its class, rounded to integers; ``weights`` are the
    documents' weights in fixed point; ``declared`` are labels announced without documents.
    """

    rows: SparseRows
    scales: Float64
    labels: Labels
    codes: Int32
    weights: Int64
    declared: Labels

    @classmethod
    def from_labels(
        cls,
        rows: SparseRows,
        scales: Float64,
        y: Labels,
        weights: Float64 | None,
        declared: Labels | None = None,
    ) -> Batch:
        labels, codes = encode_labels(y)
        fixed = fixed_weights(weights, len(codes))
        declared = labels[:0] if declared is None else declared
        unite_labels(labels, declared)  # refuses labels of different kinds
        return cls(rows, scales, labels, codes, fixed, declared)

    def copy(self) -> Batch:
        """A batch that keeps no hold of the caller's arrays."""
        indptr, indices, data, n_columns = self.rows
        return replace(self, rows=SparseRows(indptr.copy(), indices.copy(), data.copy(), n_columns))

    def mass(self) -> float:
        """An upper bound of what any one cell gains; not a number where a value makes no sense."""
        if self.rows.data.min(initial=0) < 0:
            return math.nan
        values = np.repeat(self.scales, np.diff(self.rows.indptr)) * self.rows.data
        return float(values.sum() + self.weights.sum(dtype=np.float64)) + len(values)


@dataclass(frozen=True)
class ClassCounts:
    """Sums of documents by class: a sparse table of words x classes, and per class what it has seen.

    Word-major, because scoring reads by word and because the arrays then map from a file as they are.

    Attributes
    ----------
    labels : array of shape (n_classes,)
        Sorted, so that neither the order of arrival nor of merging matters.
    documents : int64 array of shape (n_classes,)
        The number of documents, whatever their weight. A class without documents is a declared one.
    weights : int64 array of shape (n_classes,)
        The documents' summed weights, in fixed point.
    declared : bool array of shape (n_classes,)
        Whether the class was announced, and so stays without documents.
    indptr, classes, counts : int64, int32, int64 arrays
        Word ``w`` holds ``classes[k], counts[k]`` for ``k`` from ``indptr[w]`` to ``indptr[w + 1]``;
        classes rise within a word, counts are positive and in fixed point.
    """

    labels: Labels
    documents: Int64
    weights: Int64
    declared: NDArray[np.bool_]
    indptr: Int64
    classes: Int32
    counts: Int64

    @classmethod
    def from_batch(cls, batch: Batch, n_threads: int = 1) -> ClassCounts:
        """Add up a batch of documents.

        Examples
        --------
        >>> words, values = np.array([0, 1, 1], dtype=np.int32), np.array([2.0, 1.0, 4.0])
        >>> rows = SparseRows(np.array([0, 2, 3]), words, values, 2)
        >>> batch = Batch.from_labels(rows, np.full(2, float(ONE)), np.array(["ham", "spam"]), None)
        >>> counts = ClassCounts.from_batch(batch)
        >>> (counts.dense() / ONE).tolist()
        [[2.0, 1.0], [0.0, 4.0]]
        """
        labels = unite_labels(batch.labels, batch.declared)
        codes = positions(batch.labels, labels)[batch.codes]
        indptr, indices, data, n_columns = batch.rows
        table = _core.count_by_class(indptr, indices, data, batch.scales, codes, n_columns, len(labels), n_threads)
        if float(batch.weights.sum(dtype=np.float64)) >= 2.0**62:
            raise OverflowError("the sum of sample weights exceeds what 64-bit fixed point holds; scale them down")
        weights = np.zeros(len(labels), dtype=np.int64)
        np.add.at(weights, codes, batch.weights)
        documents = np.bincount(codes, minlength=len(labels)).astype(np.int64)
        return cls(labels, documents, weights, np.isin(labels, batch.declared), *table)

    def to_state(self) -> dict[str, object]:
        """The sums, as arrays that can be mapped from a file."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @classmethod
    def from_state(cls, state: State) -> ClassCounts:
        """What `to_state` gave. Shapes are checked here, contents of large tables by `check`, later."""
        counts = cls(**{name: state[name] for name in cls.__dataclass_fields__})
        counts.check_shapes()
        if len(counts.counts) <= CHECKED_AT_ONCE:
            counts.check()
        return counts

    @property
    def n_words(self) -> int:
        return len(self.indptr) - 1

    @property
    def n_classes(self) -> int:
        return len(self.labels)

    @cached_property
    def totals(self) -> Float64:
        """The sum of each class's counts, as plain numbers."""
        totals: Float64 = _core.class_totals(self.indptr, self.classes, self.counts, self.n_classes)
        return totals

    def totals_without(self, own: Int32, indptr: Int64, added: Int64) -> Float64:
        """The total of each document's class ``own`` without the document, whose counts in fixed point are ``added``.

        What a document added is a sum of integers: a class left without words has a total of exactly zero.
        """
        filled = np.diff(indptr) > 0
        taken = np.zeros(len(filled), dtype=np.int64)
        taken[filled] = np.add.reduceat(added, indptr[:-1][filled]) if len(added) else 0
        fits = self.totals[own] < 2.0**26  # else a double has digits enough, and 64 bits have not
        return np.where(fits, self._sums[own] - taken, self.totals[own] * ONE - taken) / ONE

    @cached_property
    def _sums(self) -> Int64:
        """The sum of each class's counts in fixed point, modulo 2**64."""
        # In thirds of 21 bits, which doubles add exactly, and quickly.
        sums = np.zeros(self.n_classes, dtype=np.int64)
        for shift in (0, 21, 42):
            part = (self.counts >> shift) & 0x1FFFFF
            sums += np.bincount(self.classes, weights=part, minlength=self.n_classes).astype(np.int64) << shift
        return sums

    def words_of(self, c: int) -> tuple[Int64, Float64]:
        """The words that class c has, and how often."""
        cells = np.flatnonzero(self.classes == c)
        return np.searchsorted(self.indptr, cells, side="right") - 1, self.counts[cells] / ONE

    def words_against_rest(self, c: int) -> tuple[Int64, Float64, Float64]:
        """The words that class c has, how often, and how often the other classes have them."""
        words, inside = self.words_of(c)
        sums = np.concatenate(([0.0], np.cumsum(self.counts / ONE)))
        return words, inside, np.maximum(sums[self.indptr[words + 1]] - sums[self.indptr[words]] - inside, 0)

    def dense(self) -> Int64:
        """The table as (n_classes, n_words), in fixed point: for small models and for looking at."""
        table = np.zeros((self.n_classes, self.n_words), dtype=np.int64)
        table[self.classes, np.repeat(np.arange(self.n_words), np.diff(self.indptr))] = self.counts
        return table

    def merge(self, other: ClassCounts, n_threads: int = 1) -> ClassCounts:
        """The sums over both sets of documents."""
        labels = unite_labels(self.labels, other.labels)
        mine, theirs = positions(self.labels, labels), positions(other.labels, labels)
        documents, weights = np.zeros((2, len(labels)), dtype=np.int64)
        declared = np.zeros(len(labels), dtype=bool)
        for counts, ids in ((self, mine), (other, theirs)):
            documents[ids] += counts.documents
            weights[ids] += counts.weights
            declared[ids] |= counts.declared
        if (weights < 0).any():  # two numbers of 63 bits that wrapped around
            raise OverflowError("the sum of sample weights exceeds what 64-bit fixed point holds; scale them down")
        table = self._combine(mine, other, theirs, False, n_threads)
        return ClassCounts(labels, documents, weights, declared, *table)

    def subtract(self, other: ClassCounts, n_threads: int = 1) -> ClassCounts:
        """The sums without the documents of ``other``, as if they had never come.

        Words keep their columns; a class without documents goes, unless it was declared.
        """
        unite_labels(self.labels, other.labels)
        unknown = other.labels[~np.isin(other.labels, self.labels)]
        if len(unknown):
            raise ValueError(f"cannot unlearn documents of class {unknown.tolist()[0]!r}, which was never learned.")
        ids = positions(other.labels, self.labels)
        documents, weights = self.documents.copy(), self.weights.copy()
        documents[ids] -= other.documents
        weights[ids] -= other.weights
        try:
            indptr, classes, counts = self._combine(_identity(self.n_classes), other, ids, True, n_threads)
        except ValueError:
            raise ValueError(_NEVER_LEARNED) from None
        gone = documents == 0
        left_over = np.bincount(classes, minlength=self.n_classes)[: self.n_classes] + weights
        if (documents < 0).any() or (weights < 0).any() or (gone & (left_over > 0)).any():
            raise ValueError(_NEVER_LEARNED)
        keep = ~gone | self.declared
        if not documents.any():
            raise ValueError("cannot unlearn every document: nothing would be left. Make a new model instead.")
        new_ids = np.cumsum(keep, dtype=np.int32) - np.int32(1)
        return ClassCounts(
            _tight(self.labels[keep]),
            documents[keep],
            weights[keep],
            np.asarray(self.declared[keep]),
            indptr[: self.n_words + 1],
            new_ids[classes],
            counts,
        )

    def keep_words(self, keep: NDArray[np.bool_]) -> ClassCounts:
        """The same counts without the words that are not marked, which must have none."""
        return replace(self, indptr=np.append(self.indptr[:-1][keep], self.indptr[-1]))

    def _combine(
        self, ids: Int32, other: ClassCounts, other_ids: Int32, subtract: bool, n_threads: int
    ) -> tuple[Int64, Int32, Int64]:
        table: tuple[Int64, Int32, Int64] = _core.combine(
            self.indptr, self.classes, self.counts, ids,
            other.indptr, other.classes, other.counts, other_ids,
            subtract, n_threads,
        )  # fmt: skip
        return table

    def check(self) -> None:
        """Raise ValueError unless the arrays are what this class promises: a file may be damaged."""
        self.check_shapes()
        starts, n_cells = self.indptr, len(self.counts)
        sound = (
            starts[0] == 0 and starts[-1] == n_cells and (starts[1:] >= starts[:-1]).all()
            and (self.counts > 0).all()
            and (self.classes >= 0).all() and (self.classes < self.n_classes).all()
            and (self.documents >= 0).all() and (self.weights >= 0).all()
            and (self.labels[1:] > self.labels[:-1]).all()
        )  # fmt: skip
        if sound and n_cells:
            first_of_word = np.zeros(n_cells + 1, dtype=bool)
            first_of_word[starts] = True
            sound = bool((first_of_word[1:-1] | (self.classes[1:] > self.classes[:-1])).all())
        if not sound:
            raise ValueError("the model's counts are inconsistent: the file is damaged.")

    def check_shapes(self) -> None:
        """The part of `check` that takes no time."""
        arrays = {
            "documents": "i8",
            "weights": "i8",
            "indptr": "i8",
            "classes": "i4",
            "counts": "i8",
            "declared": "?",
        }
        for name, dtype in arrays.items():
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.dtype != np.dtype(dtype) or array.ndim != 1:
                raise ValueError(f"{name} must be a one-dimensional array of {np.dtype(dtype)}.")
        per_class = (self.documents, self.weights, self.declared)
        if (
            not isinstance(self.labels, np.ndarray)
            or self.labels.ndim != 1
            or self.labels.dtype.kind not in LABEL_KINDS
            or not len(self.labels)
        ):
            raise ValueError("labels must be a one-dimensional array of text or numbers.")
        if any(len(array) != len(self.labels) for array in per_class):
            raise ValueError("labels, documents, weights and declared must be of one length.")
        if not len(self.indptr) or len(self.classes) != len(self.counts):
            raise ValueError("indptr, classes and counts do not belong together.")


_NEVER_LEARNED = "cannot unlearn documents that were never learned: counts would fall below zero or be left over."


def fixed_weights(weights: Float64 | None, n: int) -> Int64:
    """Weights of n documents in fixed point, by default 1."""
    if weights is None:
        return np.full(n, ONE, dtype=np.int64)
    fixed: Int64 = _core.fixed_lengths(np.arange(n + 1), weights, 1)
    return fixed


def per_length(scales: Float64, rows: SparseRows, n_threads: int) -> Float64:
    """Scales under which every document counts as one, whatever its length; empty ones add nothing."""
    lengths = _core.fixed_lengths(rows.indptr, rows.data, n_threads) / ONE
    return np.divide(scales, lengths, out=np.zeros(rows.n_rows), where=lengths > 0)


def _identity(n: int) -> Int32:
    return np.arange(n, dtype=np.int32)


def _tight(labels: Labels) -> Labels:
    """Text no wider than its longest label, as if longer ones had never been there."""
    return np.array(labels.tolist()) if labels.dtype.kind in "US" and len(labels) else labels


class Accumulator:
    """Counts that are added to often and read seldom.

    Added batches wait until they have as many entries as the table has cells, or until somebody asks: a
    stream of single documents costs time in proportion to its words, not to the table.

    A model is given one, or one that keeps more (`DocumentAccumulator`) or other things: it says in which form it
    takes documents, whether they can be taken out again, and how it is saved.
    """

    additive: ClassVar[bool] = True  # whether documents can be taken out again, and two accumulators merged
    state_names: ClassVar[tuple[str, ...]] = tuple(ClassCounts.__dataclass_fields__)  # of the arrays of `to_state`

    def __init__(self, counts: ClassCounts | None = None, *, checked: bool = True) -> None:
        self._counts = counts
        self._checked = checked
        self.lock = Lock()  # of who makes what others read
        self._waiting: list[Batch] = []
        self._n_waiting = 0
        self._n_columns = 0 if counts is None else counts.n_words
        self._room = 0.0 if counts is not None else 2.0**62  # what any cell can still take without a check

    @staticmethod
    def in_form(rows: SparseRows) -> SparseRows:
        """Documents in the form in which they are added."""
        return rows

    @staticmethod
    def unit_scales(n_rows: int, weights: Float64 | None) -> Float64:
        """How much one unit of each document adds, in units of the fixed-point sums: by its weight alone."""
        return float(ONE) * (np.ones(n_rows) if weights is None else weights)

    @property
    def n_columns(self) -> int:
        return self._n_columns

    def class_weights(self, n_threads: int = 1) -> Float64:
        """The summed weights of each class's documents."""
        return self.flush(n_threads).weights / ONE

    def own_classes(self, batch: Batch, n_threads: int = 1) -> Int32:
        """The class of each of some learned documents. Raises ValueError where one cannot have been learned."""
        counts = self.checked(n_threads)
        at = np.searchsorted(counts.labels, batch.labels)
        known = counts.labels[np.minimum(at, counts.n_classes - 1)] == batch.labels
        if not known.all():
            stranger = batch.labels[~known].tolist()[0]
            raise ValueError(f"y must hold learned classes; {stranger!r} was never learned.")
        own = at.astype(np.int32)[batch.codes]
        if (counts.weights[own] < batch.weights).any():
            raise ValueError("X, y and sample_weight must be documents that were learned.")
        return own

    def add(self, batch: Batch, n_threads: int) -> None:
        """Take in a batch. Raises and stays as it was where labels do not fit or numbers grow too large."""
        for known in (self._counts, *self._waiting[-1:]):
            if known is not None:
                unite_labels(known.labels[:1], batch.labels[:1])
                unite_labels(known.labels[:1], batch.declared[:1])
        before = self._n_waiting, self._n_columns
        self._waiting.append(batch)
        self._n_waiting += len(batch.rows.data) + len(batch.codes) + len(batch.declared)
        self._n_columns = max(self._n_columns, batch.rows.n_columns)
        size = max(_SMALLEST_SETTLEMENT, 0 if self._counts is None else len(self._counts.counts))
        # Numbers that might be wrong or too large are added up at once: this call must fail, not a later one.
        mass = batch.mass() if self._n_waiting < size else 0.0
        if self._n_waiting < size and mass < self._room:
            self._waiting[-1] = batch.copy()
            self._room -= mass
            return
        try:
            self.flush(n_threads)
        except (ValueError, OverflowError):
            self._waiting.pop()
            self._n_waiting, self._n_columns = before
            raise

    def flush(self, n_threads: int = 1) -> ClassCounts:
        """Everything added up."""
        if self._waiting:
            with self.lock:
                if self._waiting:  # no other thread has done it meanwhile
                    self._add_up(n_threads)
                    self._n_waiting = 0
                    self._waiting = []  # last: who finds nothing waiting reads the sums
        if self._counts is None:
            raise ValueError("nothing has been learned yet.")
        return self._counts

    def _add_up(self, n_threads: int) -> None:
        """Add what waits to the sums."""
        counts = ClassCounts.from_batch(_concatenate(self._waiting, self._n_columns), n_threads)
        if self._counts is not None:
            counts = self.checked(n_threads, settled=False).merge(counts, n_threads)
        self._counts = counts
        self._room = 2.0**62 - max(int(counts.counts.max(initial=0)), int(counts.weights.max(initial=0)))

    def writable(self) -> Self:
        """A copy that can be added to while this one is read: nothing that they share is changed."""
        with self.lock:
            other = copy(self)
            other.lock, other._waiting = Lock(), list(self._waiting)
        return other

    def merged(self, other: Accumulator, n_threads: int = 1) -> Accumulator:
        """An accumulator of both sets of documents."""
        return Accumulator(self.checked(n_threads).merge(other.checked(n_threads), n_threads))

    def without(self, batch: Batch, n_threads: int = 1) -> Accumulator:
        """An accumulator as if these documents had never come. Raises ValueError where they never did."""
        return Accumulator(self.checked(n_threads).subtract(ClassCounts.from_batch(batch, n_threads), n_threads))

    def keep_words(self, keep: NDArray[np.bool_], n_threads: int = 1) -> Accumulator:
        """An accumulator without the words that are not marked, which no document has; the others move up."""
        return Accumulator(self.checked(n_threads).keep_words(keep))

    def to_state(self, n_threads: int = 1) -> dict[str, object]:
        """Everything learned, as arrays that can be mapped from a file."""
        return self.flush(n_threads).to_state()

    def restored(self, state: State) -> Self:
        """An accumulator like this one, with what `to_state` gave. Shapes are checked; contents when built upon."""
        return type(self)(ClassCounts.from_state(state), checked=False)

    def checked(self, n_threads: int = 1, *, settled: bool = True) -> ClassCounts:
        """As `flush`, with the arrays' content verified once if they came from outside."""
        counts = self.flush(n_threads) if settled else self._counts
        assert counts is not None
        if not self._checked:
            counts.check()
            self._checked = True
        return counts


def _concatenate(batches: list[Batch], n_columns: int) -> Batch:
    if len(batches) == 1:
        return replace(batches[0], rows=batches[0].rows._replace(n_columns=n_columns))
    labels = np.unique(np.concatenate([batch.labels for batch in batches]))
    starts = np.cumsum([0] + [batch.rows.indptr[-1] for batch in batches])
    bounds = [batch.rows.indptr[1:] + start for batch, start in zip(batches, starts, strict=False)]
    rows = SparseRows(
        np.concatenate([[0], *bounds]),
        np.concatenate([batch.rows.indices for batch in batches]),
        np.concatenate([batch.rows.data for batch in batches]),
        n_columns,
    )
    return Batch(
        rows,
        np.concatenate([batch.scales for batch in batches]),
        labels,
        np.concatenate([positions(batch.labels, labels)[batch.codes] for batch in batches]),
        np.concatenate([batch.weights for batch in batches]),
        np.unique(np.concatenate([batch.declared for batch in batches])),
    )
