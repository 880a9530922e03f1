"""What the relevance-based topic model samples, documents over used columns, and what it makes of it, class counts."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from genus.base.arrays import Int32, Int64, SparseRows
from genus.base.documents import canonical
from genus.base.statistics import ONE, ClassCounts, Labels

_BLOCK = 1 << 16  # columns looked at in one go, since numpy widens them to 64 bits


def in_one_form(rows: SparseRows) -> SparseRows:
    """The same documents in their one form, so that equal ones are drawn alike; mostly they are in it already."""
    shape = (rows.n_rows, rows.n_columns)
    matrix = sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=shape, copy=False)
    return rows if matrix.has_canonical_format and rows.data.all() else canonical(rows)


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
