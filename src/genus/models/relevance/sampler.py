"""Chains of the relevance-based topic model's sampler: see `genus.models.relevance` for the equations."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from genus import _core
from genus.base.arrays import AnyFloat, Float64, Int32, Int64
from genus.base.labels import Labels
from genus.base.rows import SparseRows
from genus.base.statistics import ONE, ClassCounts

_NOTHING = np.zeros(0, dtype=np.int64)
BACKGROUND, CLASS, OWN = range(3)  # the topics of a document, in the order of every array here


@dataclass(frozen=True)
class LabelledRows:
    """Documents in the order of their classes; one with several labels comes once for each.

    Document ``i`` is row ``order[i]``, its entries are ``entry_starts[i]`` to ``entry_starts[i + 1]`` in arrays over
    entries, and class ``c`` has the documents ``class_starts[c]`` to ``class_starts[c + 1]``.
    """

    indptr: Int64
    indices: Int32
    values: AnyFloat | Int64
    order: Int64
    entry_starts: Int64
    class_starts: Int64

    @classmethod
    def from_rows(cls, rows: SparseRows, documents: Int64, codes: Int32, n_classes: int) -> Self:
        """Of pairs (row, class)."""
        by_class = np.argsort(codes, kind="stable")
        order = documents[by_class]
        entry_starts = _starts(np.diff(rows.indptr)[order])
        class_starts = _starts(np.bincount(codes, minlength=n_classes))
        return cls(rows.indptr, rows.indices, rows.data, order, entry_starts, class_starts)

    @property
    def n_classes(self) -> int:
        return len(self.class_starts) - 1


@dataclass(frozen=True)
class ClassWords:
    """Each class's own numbering of its words: class ``c`` has ``words[starts[c]:starts[c + 1]]``.

    ``counts`` are the class's tokens in fixed point, which only the first sweep needs, ``places`` the number of each
    entry's word within its class.
    """

    starts: Int64
    words: Int32
    counts: Int64
    places: Int32


class Chains:
    """Several chains at the same sweep. Equal for any number of threads."""

    def __init__(
        self,
        documents: LabelledRows,
        n_words: int,
        *,
        alpha: float,
        beta: float,
        n_chains: int,
        seed: int,
        n_threads: int,
    ) -> None:
        self.documents, self.n_words, self.n_threads = documents, n_words, n_threads
        self.alpha, self.beta, self.n_chains, self.seed = alpha, beta, n_chains, seed
        self.words = ClassWords(*_core.number_class_words(documents, documents.values, n_words, n_threads))
        self.n_sweeps = 0
        own = np.min_scalar_type(math.ceil(documents.values.max(initial=0)))  # a cell may be all of its own
        self._own = np.zeros(n_chains * len(self.words.places), np.int32 if own.itemsize > 2 else own)
        self._mixtures = np.zeros(n_chains * len(documents.order) * 3)
        self._topics = np.zeros(n_chains * len(self.words.words), dtype=np.int64)
        self._background = np.zeros(n_chains * n_words, dtype=np.int64)
        self._memory = _core.SweepMemory()

    def sweep(self) -> None:
        """Draw the topics of all tokens once."""
        _core.gibbs_sweep(
            self.documents, self.documents.values, self.words, self.alpha, self.beta, self.n_words, self.seed,
            self.n_sweeps, self._own, self._mixtures, self._topics, self._background, self._memory, self.n_threads,
        )  # fmt: skip
        self.n_sweeps += 1
        self.words = replace(self.words, counts=_NOTHING)

    @property
    def own(self) -> NDArray[np.integer]:
        """Tokens of each entry in its document's own topic: (n_chains, n_entries)."""
        return self._own.reshape(self.n_chains, -1)

    @property
    def mixtures(self) -> Float64:
        """n_dj, the tokens of each document in background, class and own topic: (n_chains, n_documents, 3)."""
        return self._mixtures.reshape(self.n_chains, -1, 3)

    @property
    def topics(self) -> Int64:
        """m_tw, the tokens of each class word, in fixed point: (n_chains, n_class_words)."""
        return self._topics.reshape(self.n_chains, -1)

    @property
    def background(self) -> Int64:
        """m_bw, the tokens of each word, in fixed point: (n_chains, n_words)."""
        return self._background.reshape(self.n_chains, -1)

    def shares(self) -> Float64:
        """The share of each class's tokens in background, class and own topics: (n_chains, n_classes, 3)."""
        ends = np.zeros((self.n_chains, len(self.documents.order) + 1, 3))
        np.cumsum(self.mixtures, axis=1, out=ends[:, 1:])
        tokens = np.diff(ends[:, self.documents.class_starts], axis=1)
        totals = tokens.sum(axis=2, keepdims=True)
        return np.asarray(tokens / np.where(totals > 0, totals, 1.0))


def split_r_hat(traces: Float64) -> Float64:
    """How far chains differ beside their own spread, for traces (n_chains, n_steps, ...): 1 where they agree.

    Each chain is cut into two halves, so that one that still moves does not agree with itself (Gelman et al.,
    Bayesian Data Analysis, 3rd ed., section 11.4). NaN where there are fewer than 4 steps.

    >>> still = np.tile([0.0, 1.0], (2, 4))
    >>> moving = np.tile(np.arange(8.0), (2, 1))
    >>> split_r_hat(still).round(2).item(), split_r_hat(moving).round(2).item()
    (0.87, 1.99)
    """
    half = traces.shape[1] // 2
    if half < 2:
        return np.full(traces.shape[2:], np.nan)
    halves = np.concatenate([traces[:, :half], traces[:, -half:]])
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    between = halves.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        r_hat = np.sqrt((half - 1) / half + between / within)
    return np.where((within == 0) & (between == 0), 1.0, r_hat)


def _starts(sizes: NDArray[np.integer]) -> Int64:
    starts = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


_BLOCK = 1 << 16  # columns looked at in one go, since numpy widens them to 64 bits


def used_columns(rows: SparseRows, documents: Int64) -> tuple[SparseRows, Int64]:
    """The rows over those columns that occur in some documents, and these columns; n_columns stays."""
    labelled = np.bincount(documents, minlength=rows.n_rows) > 0
    indices = rows.indices if labelled.all() else rows.indices[np.repeat(labelled, np.diff(rows.indptr))]
    used = np.zeros(rows.n_columns, dtype=bool)
    for begin in range(0, len(indices), _BLOCK):
        used[indices[begin : begin + _BLOCK]] = True
    columns = np.flatnonzero(used)
    if 0 < len(columns) < rows.n_columns:
        numbers = np.cumsum(used, dtype=np.int32) - np.int32(1)
        return rows._replace(indices=numbers[rows.indices]), columns
    return rows, np.arange(rows.n_columns)


def class_counts(
    by_class: sparse.csr_array, labels: Labels, codes: Int32, columns: Int64, n_columns: int
) -> ClassCounts:
    """Counts of used columns by class, as counts of all columns by word."""
    by_word = by_class.tocsc()
    by_word.eliminate_zeros()
    per_word = np.zeros(n_columns, dtype=np.int64)
    per_word[columns] = np.diff(by_word.indptr)
    documents = np.bincount(codes, minlength=len(labels)).astype(np.int64)
    return ClassCounts(
        labels, documents, documents * ONE, np.zeros(len(labels), dtype=bool),
        np.concatenate(([0], np.cumsum(per_word))), by_word.indices.astype(np.int32), by_word.data,
    )  # fmt: skip


def most_frequent(counts: ClassCounts, n: int) -> ClassCounts:
    """Each class's n words with the highest counts, the first of equal ones."""
    words = np.repeat(np.arange(counts.n_words), np.diff(counts.indptr))
    order = np.lexsort((words, -counts.counts, counts.classes))
    starts = np.concatenate(([0], np.cumsum(np.bincount(counts.classes, minlength=counts.n_classes))))
    rank = np.arange(len(order)) - starts[counts.classes[order]]
    keep = np.sort(order[rank < n])
    indptr = np.searchsorted(keep, counts.indptr)
    return ClassCounts(
        counts.labels, counts.documents, counts.weights, counts.declared,
        indptr, counts.classes[keep], counts.counts[keep],
    )  # fmt: skip
