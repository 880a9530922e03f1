"""Sets of labels as sparse rows, and the forms in which users give them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from genus.base.arrays import Int32, Int64, describe
from genus.base.labels import Labels, encode_labels, positions

if TYPE_CHECKING:
    from genus.base.protocol import Label, Targets

KINDS = ("dense", "csr_matrix", "csr_array", "sets")


@dataclass(frozen=True)
class SetRows:
    """Sets of labels as sparse rows: positions of labels, rising within a row."""

    indptr: Int64
    members: Int32

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def packed(self) -> list[bytes]:
        """Each row's labels as bytes: equal sets are equal keys."""
        width, raw = self.members.itemsize, self.members.tobytes()
        return [raw[a * width : b * width] for a, b in pairwise(self.indptr.tolist())]

    def check(self, n_labels: int) -> None:
        indptr, members = self.indptr, self.members
        for array, dtype in ((indptr, np.int64), (members, np.int32)):
            if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
                raise ValueError("label sets must be one-dimensional arrays of int64 and int32")
        sound = len(indptr) > 1 and indptr[0] == 0 and indptr[-1] == len(members) and (indptr[1:] >= indptr[:-1]).all()
        if not sound or (len(members) and not 0 <= members.min() <= members.max() < n_labels):
            raise ValueError("label sets do not fit the labels")


class LabelSets:
    """Distinct label sets, numbered from 0. Numbers stay when sets are added."""

    def __init__(self, rows: SetRows) -> None:
        self.rows = rows
        self._numbers: dict[bytes, int] | None = None

    @classmethod
    def from_rows(cls, rows: SetRows) -> LabelSets:
        """The distinct ones of these, in an order that does not depend on the order of documents."""
        number = {key: d for d, key in enumerate(rows.packed())}
        ordered = sorted(number, key=lambda key: np.frombuffer(key, dtype=np.int32).tolist())
        return cls(take_sets(rows, np.array([number[key] for key in ordered], dtype=np.int64)))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def numbers(self) -> dict[bytes, int]:
        if self._numbers is None:
            self._numbers = {key: i for i, key in enumerate(self.rows.packed())}
        return self._numbers

    def find(self, rows: SetRows) -> Int64:
        """The number of each row's set, -1 where it is not one of these."""
        numbers = self.numbers
        return np.fromiter((numbers.get(key, -1) for key in rows.packed()), np.int64, len(rows))

    def take(self, ids: NDArray[np.integer]) -> SetRows:
        return take_sets(self.rows, ids)

    def grown(self, rows: SetRows) -> LabelSets:
        """These and, behind them, those of the rows that are new."""
        new = LabelSets.from_rows(take_sets(rows, np.flatnonzero(self.find(rows) < 0)))
        if len(new) == 0:
            return self
        indptr = np.concatenate([self.rows.indptr, new.rows.indptr[1:] + self.rows.indptr[-1]])
        return LabelSets(SetRows(indptr, np.concatenate([self.rows.members, new.rows.members])))

    def relabelled(self, new_positions: Int32) -> LabelSets:
        """The same sets where label i has become label ``new_positions[i]``, in the same order."""
        if np.array_equal(new_positions, np.arange(len(new_positions))):
            return self
        return LabelSets(SetRows(self.rows.indptr, new_positions[self.rows.members]))


class Target(NamedTuple):
    """What y says: the labels in it, sorted, and each document's."""

    kind: str
    labels: Labels
    rows: SetRows

    def among(self, labels: Labels) -> SetRows:
        """The rows as positions in other labels; those that are not there get any."""
        if self.kind != "sets" or len(self.labels) == 0:
            return self.rows
        at = positions(self.labels, labels)
        return SetRows(self.rows.indptr, at[self.rows.members])


def take_sets(rows: SetRows, ids: NDArray[np.integer]) -> SetRows:
    lengths = np.diff(rows.indptr)[ids]
    indptr = np.zeros(len(ids) + 1, dtype=np.int64)
    np.cumsum(lengths, out=indptr[1:])
    within = np.arange(indptr[-1]) - np.repeat(indptr[:-1], lengths)
    return SetRows(indptr, rows.members[np.repeat(rows.indptr[:-1][ids], lengths) + within])


def as_given(kind: str, rows: SetRows, labels: Labels) -> Any:
    """Sets of labels in the form in which they were given: an indicator of that kind, or a list of sets."""
    if kind == "sets":
        names = labels[rows.members].tolist()
        return [set(names[a:b]) for a, b in pairwise(rows.indptr.tolist())]
    make: Any = sparse.csr_matrix if kind == "csr_matrix" else sparse.csr_array
    ones = np.ones(len(rows.members), dtype=np.int64)
    indicator = make((ones, rows.members, rows.indptr), shape=(len(rows), len(labels)))
    return indicator.toarray() if kind == "dense" else indicator


def no_rows() -> SetRows:
    return SetRows(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32))


def check_same_kind(kind: str, n_labels: int, target: Target) -> None:
    if (kind == "sets") != (target.kind == "sets"):
        learned, came = ("sets", "an indicator") if kind == "sets" else ("an indicator", "sets")
        raise ValueError(f"y must hold labels as they were learned, as {learned}; got {came}.")
    if kind != "sets" and len(target.labels) != n_labels:
        raise ValueError(f"y must have {n_labels} columns, one for each label learned, got {len(target.labels)}.")


# ---------------------------------------------------------------- reading y


def read_target(y: Targets) -> Target:
    if sparse.issparse(y):
        return _read_indicator(y, "csr_array" if isinstance(y, sparse.sparray) else "csr_matrix")
    if isinstance(y, (str, bytes)) or not hasattr(y, "__len__"):
        raise ValueError(f"y must be an indicator matrix or a list of sets of labels, got {describe(y)}.")
    if getattr(y, "ndim", 1) == 2:
        return _read_indicator(np.asarray(y), "dense")
    if getattr(y, "ndim", 1) != 1:
        raise ValueError(f"y must be an indicator matrix or a list of sets of labels, got {y.ndim} dimensions.")
    return _read_sets(list(y))


def has_label_sets(y: Targets) -> bool:
    """Whether y is an indicator matrix or holds sets of labels, rather than one label for each document."""
    if sparse.issparse(y):
        return True
    if getattr(y, "ndim", 1) == 2:
        return bool(np.shape(y)[1] > 1)
    return isinstance(y, Iterable) and any(isinstance(labels, (set, frozenset, list, tuple)) for labels in y)


def label_pairs(y: Targets, n: int) -> tuple[Labels, Int64, Int32]:
    """The labels of n documents, and a pair (document, position of its label) for each that a document has."""
    target = read_target(y)
    if len(target.rows) != n:
        raise ValueError(f"y must have a set of labels for each document ({n}), got {len(target.rows)}.")
    if not len(target.rows.members):
        raise ValueError("y must have a label for at least one document.")
    return target.labels, np.repeat(np.arange(n), np.diff(target.rows.indptr)), target.rows.members


def _read_indicator(y: Targets, kind: str) -> Target:
    try:
        matrix = sparse.csr_array(y, copy=True)
    except (TypeError, ValueError):
        raise ValueError(f"y must hold zeros and ones, got {describe(y)} of {y.dtype}.") from None
    matrix.sum_duplicates()  # sorts, too
    matrix.eliminate_zeros()
    if not (matrix.data == 1).all():
        strange = matrix.data[matrix.data != 1][0]
        raise ValueError(f"y must hold zeros and ones where it is a matrix, got {strange!r}.")
    rows = SetRows(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32))
    return Target(kind, np.arange(matrix.shape[1]), rows)


def _read_sets(documents: Sequence[Collection[Label]]) -> Target:
    for d, labels in enumerate(documents):
        if isinstance(labels, (str, bytes)) or not isinstance(labels, (AbstractSet, list, tuple, np.ndarray)):
            raise ValueError(
                f"y must be an indicator matrix or a list of sets of labels; row {d} is {labels!r}. "
                "For one label per document, use the estimator itself."
            )
    try:
        labels, codes = encode_labels(np.fromiter(chain.from_iterable(documents), dtype=object))
    except TypeError:
        raise ValueError("y must hold labels that are text or numbers, got something else.") from None
    indptr = np.zeros(len(documents) + 1, dtype=np.int64)
    np.cumsum([len(labels) for labels in documents], out=indptr[1:])
    # Sets are unordered and lists may repeat a label.
    matrix = sparse.csr_array((np.ones(len(codes)), codes, indptr), shape=(len(documents), len(labels)))
    matrix.sum_duplicates()
    return Target("sets", labels, SetRows(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)))
