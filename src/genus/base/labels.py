"""Labels as sorted arrays, and documents' classes as positions in them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from genus import _core
from genus.base.arrays import Int32

Labels = NDArray[Any]  # sorted and distinct; strings, numbers or booleans


LABEL_KINDS = {"U": "text", "S": "bytes", "b": "booleans", "i": "numbers", "u": "numbers", "f": "numbers"}


def encode_labels(y: Labels) -> tuple[Labels, Int32]:
    """The distinct labels in order, and the position of each document's label among them.

    Examples
    --------
    >>> encode_labels(np.array(["spam", "ham", "spam"]))
    (array(['ham', 'spam'], dtype='<U4'), array([1, 0, 1], dtype=int32))
    """
    if y.dtype.kind in "USbiu" and len(y):  # equal labels are equal bytes
        numbers, first = _core.group_equal(np.ascontiguousarray(y).view(np.uint8), y.dtype.itemsize)
        values = y[first].tolist()
    else:
        values = list(dict.fromkeys(y.tolist()))
        number = {value: i for i, value in enumerate(values)}
        numbers = np.fromiter(map(number.__getitem__, y.tolist()), np.int32, len(y))
    try:
        distinct = sorted(values)
    except TypeError:
        kinds = ", ".join(sorted({type(value).__name__ for value in values}))
        raise ValueError(f"y must hold labels of one kind (text or numbers), got {kinds}.") from None
    labels = np.array(distinct, dtype=y.dtype if y.dtype.kind in "biuf" else None)
    if labels.dtype.kind == "f" and not (labels == np.floor(labels)).all():
        raise ValueError("Unknown label type: continuous. A classifier needs discrete classes, but y holds fractions.")
    if labels.dtype.kind not in LABEL_KINDS or labels.tolist() != distinct:
        raise ValueError(f"y must hold labels that are text or numbers, got {distinct[0]!r}.")
    rank = {label: i for i, label in enumerate(distinct)}
    ranks = np.fromiter(map(rank.__getitem__, values), np.int32, len(values))
    return labels, ranks[numbers]


def unite_labels(a: Labels, b: Labels) -> Labels:
    """All labels of both, in order. Text and numbers do not mix."""
    if len(a) and len(b) and LABEL_KINDS[a.dtype.kind] != LABEL_KINDS[b.dtype.kind]:
        raise ValueError(
            f"y must hold labels of the kind learned so far, which is {LABEL_KINDS[a.dtype.kind]}; "
            f"got {LABEL_KINDS[b.dtype.kind]}."
        )
    return np.union1d(a, b) if len(a) and len(b) else (a if len(a) else b)


def positions(labels: Labels, among: Labels) -> Int32:
    """Where each label stands in ``among``, which holds them all."""
    return np.searchsorted(among, labels).astype(np.int32)
