"""Texts and their labels, as they are learned."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from genus.text.plan import as_texts


def pair(texts: Any, labels: Any, missing: bool = False) -> tuple[Any, NDArray[Any]]:
    """Texts and labels, checked; with `missing`, some labels may be None."""
    texts = as_texts(texts)
    array = np.asarray(labels)
    if array.ndim != 1:
        raise ValueError(
            f"labels must be one label per text, got an array of shape {array.shape}; sets of labels are for "
            "model='auto' and LabelPowerset."
        )
    absent = _missing(array)
    if absent.any() and not missing:
        first = int(np.flatnonzero(absent)[0])
        raise ValueError(f"{int(absent.sum())} of {len(array)} labels are missing, the first in row {first}.")
    if array.dtype == object:
        kinds = {type(label).__name__ for label in array[~absent].tolist()}
        if len(kinds) > 1:
            raise ValueError(f"labels must be of one type, got {', '.join(sorted(kinds))}.")
        array = np.array(array.tolist(), dtype=object if absent.any() else None)
        array[absent] = None  # whatever was missing, NaN for instance
    if hasattr(texts, "__len__") and len(texts) != len(array):
        raise ValueError(f"Got {len(texts)} texts but {len(array)} labels.")
    return texts, array


def check_two_classes(labels: NDArray[Any]) -> None:
    known = labels[~_missing(labels)]
    if len(known) == 0 or (known == known[0]).all():
        raise ValueError("Found one class only: a classifier needs texts of at least two classes.")


def _missing(labels: NDArray[Any]) -> NDArray[np.bool_]:
    if labels.dtype == object or labels.dtype.kind == "f":  # NaN is the value that differs from itself
        return np.array([label is None or label != label for label in labels.tolist()], dtype=bool)
    return np.zeros(len(labels), dtype=bool)
