"""Rows of whatever an estimator takes: arrays, sparse matrices, data frames, lists of texts.

scikit-learn's own helpers for this (``_safe_indexing``, ``_safe_split``, ``_check_method_params``) are private and
change without notice.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_consistent_length, get_tags, indexable

if TYPE_CHECKING:
    from genus.base.protocol import Params, Samples


def n_samples(X: Samples) -> int:
    """The number of rows, or of items of a list."""
    check_consistent_length(X)  # refuses what has no rows, by name
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape and isinstance(shape[0], Integral) else len(X)


def take_samples(X: Samples, rows: object) -> Samples:
    """The rows of X that a slice, an array of numbers or a mask names, as the same kind of thing."""
    if not isinstance(rows, slice):
        rows = np.asarray(rows)
        rows = np.flatnonzero(rows) if rows.dtype == bool or not rows.size else rows
    if hasattr(X, "iloc"):
        return X.iloc[rows] if isinstance(rows, slice) else X.take(rows)  # pandas: a copy that may be written to
    if not isinstance(rows, slice):
        if type(X).__module__.partition(".")[0] == "pyarrow":
            return X.take(rows)
        if not hasattr(X, "shape"):
            return [X[i] for i in rows.tolist()]
    return X[rows]


def split_samples(estimator: Any, X: Samples, y: Any, rows: Any, train: Any) -> tuple[Any, Any]:
    """These rows of X and y; of a kernel matrix, the columns of the training documents."""
    labels = None if y is None else take_samples(y, rows)
    if not get_tags(estimator).input_tags.pairwise:
        return take_samples(X, rows), labels
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"X should be a square kernel matrix, got {type(X).__name__} of shape {tuple(shape)}.")
    return X[np.ix_(rows, train)], labels


def split_params(params: Mapping[str, object], n: int, rows: object = None) -> Params:
    """Parameters of ``fit``: these rows, by default all, of those with a value for each of ``n`` documents."""

    def part(value: object) -> object:
        if not _has_rows(value, n):
            return value
        (value,) = indexable(value)
        return value if rows is None else take_samples(value, rows)

    return {name: part(value) for name, value in params.items()}


def _has_rows(value: object, n: int) -> bool:
    shape = getattr(value, "shape", None)
    if shape is not None:
        return len(shape) > 0 and shape[0] == n
    return hasattr(value, "__len__") and not hasattr(value, "fit") and len(value) == n
