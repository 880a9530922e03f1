"""Texts and their labels, as they are learned."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Sized
from typing import Any, NamedTuple, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from genus.base.arrays import describe
from genus.base.labels import Labels
from genus.base.validation import all_text


class ArrowTexts(Sized, Protocol):
    """A column of texts in Arrow's memory: a Series of pandas or polars, an array of pyarrow."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


Texts: TypeAlias = Iterable[str] | ArrowTexts  # as users have them
ReadTexts: TypeAlias = Sequence[str] | ArrowTexts  # as the core reads them
GivenLabels: TypeAlias = ArrayLike | Iterable[Hashable] | Iterable[Iterable[Hashable]]  # one for each text, or sets


class TrainingData(NamedTuple):
    """Labelled texts with what belongs to them, and texts without labels."""

    texts: ReadTexts
    labels: GivenLabels
    sample_weight: ArrayLike | None
    groups: ArrayLike | None
    unlabeled: list[str]


def pair(texts: Texts, labels: GivenLabels, missing: bool = False) -> tuple[ReadTexts, Labels]:
    """Texts and labels, checked; with `missing`, some labels may be None."""
    read = as_texts(texts)
    array = _as_array(labels)
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
        if kinds & {"dict", "set", "frozenset", "list", "tuple"}:
            raise ValueError(f"labels must be text or numbers, got {kinds.pop()}; sets of labels are for model='auto'.")
        array = np.array(array.tolist(), dtype=object if absent.any() else None)
        array[absent] = None  # whatever was missing, NaN for instance
    if hasattr(read, "__len__") and len(read) != len(array):
        raise ValueError(f"Got {len(read)} texts but {len(array)} labels.")
    return read, array


def _as_array(labels: GivenLabels) -> NDArray[Any]:
    """Labels as an array, in which NaN among texts stays NaN: NumPy would make it the text "nan"."""
    if isinstance(labels, Mapping):
        raise ValueError(f"labels must be one label per text, in a sequence, got a {describe(labels)}.")
    array = np.asarray(labels)
    if array.dtype.kind in "US" and isinstance(labels, (list, tuple)) and not all_text(labels):
        absent = [label is None or label != label for label in labels]
        if any(absent):
            array = np.array(
                [None if gone else label for label, gone in zip(labels, absent, strict=True)], dtype=object
            )
    return array


def check_two_classes(labels: Labels) -> None:
    known = labels[~_missing(labels)]
    if len(known) == 0 or (known == known[0]).all():
        raise ValueError("Found one class only: a classifier needs texts of at least two classes.")


def _missing(labels: Labels) -> NDArray[np.bool_]:
    if labels.dtype == object or labels.dtype.kind == "f":  # NaN is the value that differs from itself
        return np.array([label is None or label != label for label in labels.tolist()], dtype=bool)
    return np.zeros(len(labels), dtype=bool)


def as_texts(source: Any) -> ReadTexts:
    """The texts as a list or tuple, or as an Arrow array that the core reads in place."""
    if isinstance(source, (list, tuple)):
        return source
    if isinstance(source, (str, bytes)):
        raise ValueError(f"Expected a collection of texts, got a single {describe(source)}: put it into a list.")
    if getattr(source, "ndim", 1) != 1:
        raise ValueError(f"Expected one-dimensional texts, got {describe(source)} of shape {source.shape}.")
    if isinstance(source, np.ndarray):
        return cast(list[str], source.tolist())
    if str(getattr(source, "dtype", "")) == "object":
        return cast(list[str], source.tolist())  # a pandas column of Python strings, whose Arrow form would be a copy
    if hasattr(source, "__arrow_c_stream__"):
        return cast(ArrowTexts, source)
    if hasattr(source, "__arrow_c_array__"):  # one array rather than a chunked one
        import pyarrow as pa

        return cast(ArrowTexts, pa.chunked_array([source]))
    try:
        return list(source)
    except TypeError:
        raise ValueError(f"Expected a collection of texts, got {describe(source)}.") from None


def holds_sets(labels: GivenLabels) -> bool:
    """Whether each text is given several labels, or none, rather than one."""
    if getattr(labels, "ndim", 1) == 2:
        return True
    first = next(iter(labels), None) if isinstance(labels, (list, tuple, np.ndarray)) else None
    return isinstance(first, (set, frozenset, list, tuple))


def plain_texts(texts: Texts) -> list[str]:
    """Texts as a list of str, whatever held them."""
    given: Any = as_texts(texts)
    found = list(given.to_pylist() if hasattr(given, "to_pylist") else given)
    for i, text in enumerate(found):
        if not isinstance(text, str):
            raise ValueError(f"Expected texts (str), got {type(text).__name__} in row {i}.")
    return found


def split_unlabeled(
    texts: ReadTexts,
    labels: GivenLabels,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
    unlabeled: Texts | None,
) -> TrainingData:
    """Texts whose label is None or NaN put to the unlabeled ones; what belongs to them goes."""
    more = [] if unlabeled is None else plain_texts(unlabeled)
    given = list(cast(Iterable[Hashable], labels))
    lost = np.array([label is None or (isinstance(label, float) and label != label) for label in given], dtype=bool)
    if not lost.any() or len(texts) != len(given):
        return TrainingData(texts, labels, sample_weight, groups, more)
    if lost.all():
        raise ValueError("labels must not all be None: nothing could be learned.")
    every, known = plain_texts(texts), np.flatnonzero(~lost)
    more = [*(every[i] for i in np.flatnonzero(lost)), *more]
    weight, group = (None if value is None else np.asarray(value)[known] for value in (sample_weight, groups))
    return TrainingData([every[i] for i in known], [given[i] for i in known], weight, group, more)
