"""What a model remembers that learns one document after another: evidence, in which order counts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise
from threading import RLock
from typing import Any, Self

import numpy as np

from genus import _core
from genus.base.arrays import Float64, Int32, Int64, State
from genus.base.labels import LABEL_KINDS, Labels, positions, unite_labels
from genus.base.rows import SparseRows
from genus.base.statistics import Accumulator, Batch

_ARRAYS = {"starts": np.int64, "words": np.int32, "evidence": np.float64, "sums": np.float64}


class OnlineAccumulator(Accumulator):
    """Evidence counted by a model's own mistakes, and the labels in the order in which they came.

    Batches are learned as they are added. Nothing can be taken out again, and two of these cannot be merged:
    what a document adds depends on all that came before it.
    """

    additive = False
    state_names = ("labels", "weights", *_ARRAYS, "n_words", "fading", "n_learned")

    @staticmethod
    def unit_scales(n_rows: int, weights: Float64 | None) -> Float64:
        return np.ones(n_rows) if weights is None else weights

    def __init__(self, options: _core.OnlineOptions) -> None:
        super().__init__()
        self.options = options
        self.learner = _core.OnlineLearner(options)
        self._arrived: Labels = np.empty(0, dtype="U1")
        self._weights = np.zeros(0)  # of the documents of each label
        self._lock = RLock()  # one thread learns at a time
        self._number_labels()

    @property
    def n_columns(self) -> int:
        return self.learner.n_words

    @property
    def labels(self) -> Labels:
        """Sorted."""
        return self._sorted

    @property
    def place(self) -> Int32:
        """Where each label, as it came, stands among the sorted ones."""
        return self._place

    @property
    def weights(self) -> Float64:
        """Of the documents of each class, in the order of `labels`."""
        return self._weights[self.numbers]

    def class_weights(self, n_threads: int = 1) -> Float64:
        return self.weights

    @property
    def numbers(self) -> Int64:
        """The number that each of `labels` has in the learner."""
        return np.argsort(self._place)

    # Learning

    def add(self, batch: Batch, n_threads: int) -> None:
        """Learn documents in their order, once. A label that is new begins with its first document."""
        with self._lock:
            self._add(batch, n_threads)

    def _add(self, batch: Batch, n_threads: int) -> None:
        unite_labels(self._arrived[:1], batch.labels[:1])
        unite_labels(self._arrived[:1], batch.declared[:1])
        self._begin(batch.declared, batch.rows.n_columns)
        first = np.full(len(batch.labels), len(batch.codes))
        np.minimum.at(first, batch.codes, np.arange(len(batch.codes)))
        new = [place for place, label in enumerate(batch.labels.tolist()) if label not in self._number]
        arrivals = {int(first[place]): batch.labels[place : place + 1] for place in new}
        for begin, end in pairwise(sorted({0, *arrivals, len(batch.codes)})):
            if begin in arrivals:
                self._begin(arrivals[begin], batch.rows.n_columns)
            self._learn(batch, np.arange(begin, end), n_threads)
        self._count(batch)

    def learn(self, batch: Batch, orders: Iterable[Int64], n_threads: int) -> None:
        """Learn documents in each of some orders, with all labels known from the beginning."""
        with self._lock:
            self._begin(unite_labels(batch.labels, batch.declared), batch.rows.n_columns)
            for order in orders:
                self._learn(batch, order, n_threads)
            self._count(batch)

    def learn_one(self, rows: SparseRows, label: object, weight: float) -> None:
        """As `add`, for a single document that needs no check."""
        with self._lock:
            if label not in self._number:
                labels = np.array([label])
                unite_labels(self._arrived[:1], labels)
                self._begin(labels, rows.n_columns)
            elif rows.n_columns > self.learner.n_words:
                self.learner.grow(rows.n_columns, 0)
            code = self._number[label]
            codes, weights = np.array([code], np.int32), np.array([weight])
            self.learner.learn(rows.indptr, rows.indices, rows.data, codes, weights, _FIRST, 1)
            self._weights[code] += weight

    def _begin(self, labels: Labels, n_words: int) -> None:
        new = [place for place, label in enumerate(labels.tolist()) if label not in self._number]
        self.learner.grow(n_words, len(self._arrived) + len(new))  # first: others may predict meanwhile
        if new:
            self._arrived = np.concatenate([self._arrived, labels[new]]) if len(self._arrived) else labels[new]
            self._weights = np.concatenate([self._weights, np.zeros(len(new))])
            self._number_labels()

    def _number_labels(self) -> None:
        self._number = {label: number for number, label in enumerate(self._arrived.tolist())}
        self._sorted = np.sort(self._arrived)
        self._place = positions(self._arrived, self._sorted)

    def _learn(self, batch: Batch, order: Int64, n_threads: int) -> None:
        indptr, indices, data, _ = batch.rows
        # Algorithm 1: predict d, L = 1 - p(c | d) (eq. 4), add it to the counts of d's words.
        self.learner.learn(indptr, indices, data, self._codes(batch), batch.scales, order, n_threads)

    def _count(self, batch: Batch) -> None:
        self._weights += np.bincount(self._codes(batch), batch.scales, len(self._weights))

    def _codes(self, batch: Batch) -> Int32:
        numbers = [self._number.get(label, 0) for label in batch.labels.tolist()]
        return np.array(numbers, dtype=np.int32)[batch.codes]

    def writable(self) -> Self:
        return self  # it is changed while it is read, one document after the other

    # Reading

    def flush(self, n_threads: int = 1) -> Any:
        return self

    def checked(self, n_threads: int = 1, *, settled: bool = True) -> Any:
        return self

    # Keeping

    def to_state(self, n_threads: int = 1) -> dict[str, object]:
        learner = self.learner
        arrays = dict(zip(_ARRAYS, learner.arrays(), strict=True))
        return {
            "labels": self._arrived, "weights": self._weights, **arrays,
            "n_words": learner.n_words, "fading": learner.fading, "n_learned": learner.n_learned,
        }  # fmt: skip

    def restored(self, state: State) -> Self:
        arrays = {name: state[name] for name in _ARRAYS}
        labels, weights = state["labels"], state["weights"]
        n_words, fading, n_learned = int(state["n_words"]), float(state["fading"]), float(state["n_learned"])
        for name, array in (arrays | {"weights": weights}).items():
            dtype = _ARRAYS.get(name, np.float64)
            if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
                raise ValueError(f"{name} must be a one-dimensional array of {np.dtype(dtype)}.")
        if not isinstance(labels, np.ndarray) or labels.ndim != 1 or labels.dtype.kind not in LABEL_KINDS:
            raise ValueError("labels must be a one-dimensional array of text or numbers.")
        if not len(labels) == len(weights) == len(set(labels.tolist())) or not len(labels):
            raise ValueError("labels and weights must be of one length, and no label there twice.")
        if not (math.isfinite(fading) and math.isfinite(n_learned) and np.isfinite(weights).all()):
            raise ValueError("fading, n_learned and weights must be finite.")
        accumulator = type(self)(self.options)
        accumulator.learner = _core.OnlineLearner.over(
            self.options, n_words, len(labels), fading, n_learned, *arrays.values()
        )
        accumulator._arrived, accumulator._weights = labels, weights.copy()
        accumulator._number_labels()
        return accumulator

    def __getstate__(self) -> State:
        return {"options": [getattr(self.options, name) for name in _OPTIONS], **self.to_state()}

    def __setstate__(self, state: State) -> None:
        empty = type(self)(_core.OnlineOptions(*state["options"]))
        self.__dict__.update(empty.restored(state).__dict__)


_FIRST = np.zeros(1, dtype=np.int64)
_OPTIONS = ("binary", "joint", "average", "half_life", "min_loss")
