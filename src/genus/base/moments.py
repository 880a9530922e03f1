"""Exact first and second moments of vectors: class sums and one matrix, that merge, subtract and grow to the bit.

A vector x is put on a grid: X = round(x * 2**30), a whole number. With its weight W in fixed point (`FRACTION_BITS`),

    sums_c   = sum of W * X over the vectors of class c          in units of 2**-(36 + 30)
    products = sum of W * X * X^T over all vectors               in units of 2**-(36 + 60)

are whole numbers too, too long for 64 bits. X and W are split into short limbs, so that every product of matrices of
limbs is a sum of whole numbers below 2**53: BLAS computes it without rounding, whatever its order and threads. Such
products are added to wide numbers of two or three digits to the base 2**52, in int64 arrays. Digits are carried, so
that equal sums have equal digits.

Cost: three products of d x d x n (n vectors of d columns) where |x| <= 2 and weights are equal, more for larger
numbers and weights that are not whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from genus.base.arrays import Float64, Int32, Int64, State
from genus.base.labels import positions
from genus.base.rows import SparseRows, dense_rows, slice_rows
from genus.base.statistics import _NEVER_LEARNED, FRACTION_BITS, Accumulator, Batch, ClassCounts, _concatenate

GRID_BITS = 30  # vectors are rounded to multiples of 2**-GRID_BITS
LARGEST = 2.0**20  # of a vector's components
MOST_COLUMNS = 1 << 12  # a matrix of columns x columns is kept
_BLOCK = 1 << 18  # components handled at once: 2 MB

_DIGIT = 52  # bits of a digit
_MASK = (1 << _DIGIT) - 1
_LIMB = 16  # bits of a limb of X, which is from -2**15 to 2**15
_WEIGHT_LIMB = 13  # and of W, from 0 to 2**13 - 1
_EXACT = 2**53  # whole doubles up to this are exact


# Wide numbers: whole numbers of several digits, the lowest first, the last with the sign


def add_shifted(digits: Int64, whole: Int64, shift: int) -> None:
    """Add whole * 2**shift, without carrying."""
    at, last = shift // _DIGIT, len(digits) - 1
    if at >= last:
        digits[last] += whole << (shift - _DIGIT * last)
        return
    bits = shift - _DIGIT * at
    digits[at] += (whole & (_MASK >> bits)) << bits
    digits[at + 1] += whole >> (_DIGIT - bits)


def carry(digits: Int64) -> Int64:
    """Bring all digits but the last into [0, 2**52), in place."""
    for low, high in pairwise(digits):
        high += low >> _DIGIT
        low &= _MASK
    return digits


def to_float(digits: Int64, unit_bits: int) -> Float64:
    """Wide numbers times 2**-unit_bits, rounded to doubles."""
    total = digits[-1].astype(np.float64)
    for digit in digits[-2::-1]:
        total = total * 2.0**_DIGIT + digit
    return np.asarray(np.ldexp(total, -unit_bits))


# Vectors on the grid


def _in_range(values: NDArray[np.number]) -> bool:
    return not values.size or bool(values.min() >= -LARGEST and values.max() <= LARGEST)


def check_range(values: NDArray[np.number]) -> None:
    """Raise ValueError unless all components can be put on the grid."""
    if _in_range(values):
        return
    worst = values.ravel()[int(np.argmin(np.abs(values) <= LARGEST))]
    raise ValueError(f"X must hold numbers from -2**20 to 2**20, got {worst}; scale the columns down.")


def on_grid(rows: SparseRows, n_columns: int) -> Float64:
    """Vectors as whole numbers X = round(x * 2**30), dense and new."""
    values = dense_rows(rows, n_columns)
    check_range(values)
    scaled: Float64 = np.multiply(values, 2.0**GRID_BITS, dtype=np.float64)
    np.rint(scaled, out=scaled)
    return scaled


def blocks(n_rows: int, n_columns: int, block: int = _BLOCK) -> Iterator[tuple[int, int]]:
    """The begin and end of some rows at a time."""
    size = max(1, block // max(n_columns, 1))
    for begin in range(0, n_rows, size):
        yield begin, min(begin + size, n_rows)


def _limbs(whole: Float64) -> Float64:
    """Limbs side by side, (n, n_limbs * d), the lowest first: X = sum of limb_i * 2**(16 i)."""
    n, d = whole.shape
    largest, n_limbs = max(whole.max(initial=0), -whole.min(initial=0)), 1
    while largest > 2.0 ** (_LIMB - 1):
        largest, n_limbs = largest * 2.0**-_LIMB + 0.5, n_limbs + 1
    limbs = np.empty((n, n_limbs, d))
    for i in range(n_limbs - 1):
        high = whole * 2.0**-_LIMB
        np.rint(high, out=high)
        np.subtract(whole, high * 2.0**_LIMB, out=limbs[:, i])
        whole = high
    limbs[:, -1] = whole
    return limbs.reshape(n, n_limbs * d)


def _weight_limbs(weights: Int64) -> Iterator[tuple[int, Float64]]:
    """Limbs of weights and how far they are shifted, without those that are all zero."""
    together = int(np.bitwise_or.reduce(weights, initial=0))
    if not together:
        return
    first = (together & -together).bit_length() - 1  # zeros at the end of every weight
    for shift in range(first, together.bit_length(), _WEIGHT_LIMB):
        limb = (weights >> shift) & ((1 << _WEIGHT_LIMB) - 1)
        if limb.any():
            yield shift, limb.astype(np.float64)


@dataclass(frozen=True)
class ClassMoments:
    """Sums over vectors by class, and the sum of their outer products over all classes.

    A vector that is zero throughout tells nothing: it counts in ``counts.weights``, not in moments.

    Attributes
    ----------
    counts : ClassCounts
        Labels, documents and weights; its only word stands for "has a vector", and counts the weights of those.
    sums : int64 array of shape (2, n_classes, n_columns)
    products : int64 array of shape (3, n_columns, n_columns)
        Wide numbers.
    """

    counts: ClassCounts
    sums: Int64
    products: Int64

    @property
    def n_columns(self) -> int:
        return int(self.sums.shape[2])

    @property
    def vector_weights(self) -> Float64:
        """The summed weights of each class's vectors."""
        return self.counts.totals

    @property
    def class_sums(self) -> Float64:
        """Sum of w * x over each class."""
        return to_float(self.sums, FRACTION_BITS + GRID_BITS)

    @property
    def second_moment(self) -> Float64:
        """Sum of w * x * x^T."""
        return to_float(self.products, FRACTION_BITS + 2 * GRID_BITS)

    @property
    def filled(self) -> NDArray[np.bool_]:
        """Whether any vector has a component other than zero in each column."""
        diagonal = np.diagonal(self.products, axis1=1, axis2=2)
        return np.asarray(diagonal.any(axis=0))

    @classmethod
    def of(cls, batch: Batch) -> ClassMoments:
        """Add up a batch of vectors.

        Examples
        --------
        >>> from genus.base.statistics import ONE
        >>> rows = SparseRows(np.array([0, 2, 4]), np.array([0, 1, 0, 1], np.int32), np.array([1.0, -2.0, 0.5, 3.0]), 2)
        >>> moments = ClassMoments.of(Batch.from_labels(rows, np.full(2, float(ONE)), np.array(["a", "b"]), None))
        >>> moments.class_sums.tolist(), moments.second_moment.tolist()
        ([[1.0, -2.0], [0.5, 3.0]], [[1.25, -0.5], [-0.5, 13.0]])
        """
        n, d = batch.rows.n_rows, batch.rows.n_columns
        if d > MOST_COLUMNS:
            raise ValueError(
                f"X must have at most {MOST_COLUMNS} columns, since a matrix of columns x columns is kept, got {d}; "
                "reduce them first (TruncatedSVD, PCA)."
            )
        n_labels = len(batch.labels)
        sums, products = np.zeros((2, n_labels, d), np.int64), np.zeros((3, d, d), np.int64)
        has_vector = np.empty(n, dtype=bool)
        for begin, end in blocks(n, d):
            whole = on_grid(slice_rows(batch.rows, begin, end), d)
            has_vector[begin:end] = whole.any(axis=1)
            _add_block(sums, products, whole, batch.codes[begin:end], batch.weights[begin:end])
        indptr = np.concatenate(([0], np.cumsum(has_vector)))
        present = SparseRows(indptr, np.zeros(indptr[-1], np.int32), np.ones(indptr[-1]), 1)
        counts = ClassCounts.from_batch(replace(batch, rows=present))
        spread = np.zeros((2, counts.n_classes, d), np.int64)
        spread[:, positions(batch.labels, counts.labels)] = sums
        return cls(counts, spread, products)

    def merge(self, other: ClassMoments) -> ClassMoments:
        """The sums over both sets of vectors."""
        counts, d = self.counts.merge(other.counts), max(self.n_columns, other.n_columns)
        sums, products = np.zeros((2, counts.n_classes, d), np.int64), np.zeros((3, d, d), np.int64)
        for part in (self, other):
            sums[:, positions(part.counts.labels, counts.labels), : part.n_columns] += part.sums
            products[:, : part.n_columns, : part.n_columns] += part.products
        check_total(counts)
        return ClassMoments(counts, carry(sums), carry(products))

    def subtract(self, other: ClassMoments) -> ClassMoments:
        """The sums without the vectors of ``other``, as if they had never come. Columns stay."""
        if other.n_columns > self.n_columns:
            raise ValueError(_NEVER_LEARNED)
        counts, d = self.counts.subtract(other.counts), other.n_columns
        sums, products = self.sums.copy(), self.products.copy()
        sums[:, positions(other.counts.labels, self.counts.labels), :d] -= other.sums
        products[:, :d, :d] -= other.products
        carry(sums)
        carry(products)
        kept = np.isin(self.counts.labels, counts.labels)
        left = ClassMoments(counts, sums[:, kept], products)
        if sums[:, ~kept].any() or not left._is_possible():
            raise ValueError(_NEVER_LEARNED)
        return left

    def _is_possible(self) -> bool:
        """Whether there may be vectors of these sums: no square is negative, and nothing is left of no vector."""
        empty = ~self.filled
        return not (
            (np.diagonal(self.products[-1]) < 0).any()
            or self.products[:, empty].any()
            or self.sums[:, :, empty].any()
            or self.sums[:, self.counts.totals == 0].any()
        )

    def keep_columns(self, keep: NDArray[np.bool_]) -> ClassMoments:
        """The same without the columns that are not marked, which no vector fills."""
        return ClassMoments(self.counts, self.sums[:, :, keep], self.products[:, keep][:, :, keep])

    # Keeping

    def to_state(self) -> dict[str, object]:
        """The sums, as arrays that can be mapped from a file; of the symmetric matrix, its upper triangle."""
        triangle = self.products[:, *np.triu_indices(self.n_columns)]
        return self.counts.to_state() | {"sums": self.sums, "products": triangle}

    @classmethod
    def from_state(cls, state: State) -> ClassMoments:
        """What `to_state` gave. Shapes are checked here, contents by `check`."""
        counts, sums, triangle = ClassCounts.from_state(state), state["sums"], state["products"]
        for name, array, n_axes in (("sums", sums, 3), ("products", triangle, 2)):
            if not isinstance(array, np.ndarray) or array.dtype != np.int64 or array.ndim != n_axes:
                raise ValueError(f"{name} must be an int64 array of {n_axes} axes.")
        d = sums.shape[2]
        if sums.shape[:2] != (2, counts.n_classes) or triangle.shape != (3, d * (d + 1) // 2) or counts.n_words != 1:
            raise ValueError("sums, products and labels do not belong together.")
        products = np.empty((3, d, d), np.int64)
        upper = np.triu_indices(d)
        products[:, *upper] = products[:, upper[1], upper[0]] = triangle
        return cls(counts, sums, products)

    def check(self) -> None:
        """Raise ValueError unless the arrays are what this class promises: a file may be damaged."""
        self.counts.check()
        check_total(self.counts)
        lower = (self.sums[:-1], self.products[:-1])
        carried = all(not digits.size or (digits.min() >= 0 and digits.max() <= _MASK) for digits in lower)
        if not carried or not self._is_possible():
            raise ValueError("the model's moments are inconsistent: the file is damaged.")


def check_total(counts: ClassCounts) -> None:
    """Raise OverflowError where the weights of all classes might be more than wide numbers hold."""
    if float(counts.weights.sum(dtype=np.float64)) >= 2.0**62:
        raise OverflowError("the sum of sample weights exceeds what 64-bit fixed point holds; scale them down")


def _add_block(sums: Int64, products: Int64, whole: Float64, codes: Int32, weights: Int64) -> None:
    """Add some vectors on the grid to the class sums and to the sum of outer products."""
    n, d = whole.shape
    limbs = _limbs(whole)
    n_limbs = limbs.shape[1] // max(d, 1)
    for shift, weight in _weight_limbs(weights):
        # |product of limbs| <= 2**30 * weight: as many rows as stay below 2**53
        size = max(1, int(_EXACT // (2 ** (2 * _LIMB - 2) * weight.max())))
        for begin in range(0, n, size):
            part, w = limbs[begin : begin + size], weight[begin : begin + size]
            by_class = sparse.csc_array(
                (w, codes[begin : begin + size], np.arange(len(w) + 1)), (sums.shape[1], len(w))
            )
            class_sums = np.asarray(by_class @ part).astype(np.int64)
            weighted = part if (w == 1).all() else part * w[:, np.newaxis]
            outer = (weighted.T @ part).astype(np.int64)
            for i in range(n_limbs):
                here = slice(i * d, (i + 1) * d)
                add_shifted(sums, class_sums[:, here], shift + _LIMB * i)
                add_shifted(products, outer[here, here], shift + 2 * _LIMB * i)
                for j in range(i + 1, n_limbs):
                    mixed = outer[here, j * d : (j + 1) * d]
                    add_shifted(products, mixed + mixed.T, shift + _LIMB * (i + j))
            carry(sums)
            carry(products)


class MomentAccumulator(Accumulator):
    """Moments that are added to often and read seldom; batches wait as in `Accumulator`."""

    state_names = (*Accumulator.state_names, "sums", "products")

    def __init__(self, moments: ClassMoments | None = None, *, checked: bool = True) -> None:
        super().__init__(None if moments is None else moments.counts, checked=checked)
        self._moments = moments
        self._n_columns = 0 if moments is None else moments.n_columns

    def add(self, batch: Batch, n_threads: int) -> None:
        super().add(_VectorBatch(**vars(batch)), n_threads)

    def _add_up(self, n_threads: int) -> None:
        added = ClassMoments.of(_concatenate(self._waiting, self._n_columns))
        check_total(added.counts)
        self._moments = added if self._moments is None else self._sound().merge(added)
        self._counts = self._moments.counts
        self._room = 2.0**62 - float(self._counts.weights.sum(dtype=np.float64))

    def moments(self, n_threads: int = 1) -> ClassMoments:
        """Everything added up, with sound content."""
        self.flush(n_threads)
        return self._sound()

    def _sound(self) -> ClassMoments:
        assert self._moments is not None
        if not self._checked:
            self._moments.check()
            self._checked = True
        return self._moments

    def checked(self, n_threads: int = 1, *, settled: bool = True) -> ClassCounts:
        return self.moments(n_threads).counts

    def merged(self, other: Accumulator, n_threads: int = 1) -> MomentAccumulator:
        assert isinstance(other, MomentAccumulator)
        return MomentAccumulator(self.moments(n_threads).merge(other.moments(n_threads)))

    def without(self, batch: Batch, n_threads: int = 1) -> MomentAccumulator:
        return MomentAccumulator(self.moments(n_threads).subtract(ClassMoments.of(batch)))

    def keep_words(self, keep: NDArray[np.bool_], n_threads: int = 1) -> MomentAccumulator:
        return MomentAccumulator(self.moments(n_threads).keep_columns(keep))

    def to_state(self, n_threads: int = 1) -> dict[str, object]:
        return self.moments(n_threads).to_state()

    def restored(self, state: State) -> Self:
        return type(self)(ClassMoments.from_state(state), checked=False)


class _VectorBatch(Batch):
    """Labelled vectors that wait: if they can be added up, only the sum of their weights may grow too large."""

    def mass(self) -> float:
        possible = self.rows.n_columns <= MOST_COLUMNS and _in_range(self.rows.data)
        return float(self.weights.sum(dtype=np.float64)) if possible else math.nan
