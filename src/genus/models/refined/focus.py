"""Words that tell classes apart count for more: rows multiplied by how far naive Bayes finds each word from chance.

    focus_n = max over the classes c that have word n of |ln p(n | c) - ln p(n | not c)|

with p(n | c) = (count_nc + 1) / (T_c + N), counts in units of the documents' mean entry. The log-count ratios are
those of Wang and Manning (2012); one number for each word, not one for each class, so that rows stay rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from genus import _core
from genus.base.arrays import Float64, Int64
from genus.base.documents import Documents
from genus.base.rows import SparseRows
from genus.base.statistics import ONE, Batch, ClassCounts

_LEAST = 0.01  # of a word that is equally frequent in all classes, or unseen


@dataclass(frozen=True)
class LogRatioScaling:
    """What each word's entries are multiplied by. Without factors, rows stay as they are."""

    factors: Float64

    @classmethod
    def from_documents(cls, documents: Documents, power: float) -> LogRatioScaling:
        return cls(_log_ratios(documents) ** power if power > 0 else np.empty(0))

    def rows(self, rows: SparseRows, n_threads: int) -> SparseRows:
        """Rows with their entries multiplied, of length one."""
        if not len(self.factors):
            return rows
        weights = _core.weigh(
            rows.indptr, rows.indices, rows.data, "raw", self.factors, _LEAST, 1.0, 0.0, 1.0, "l2", 1.0, n_threads
        )
        return rows._replace(data=weights)

    def of_words(self, words: Int64) -> Float64:
        """What entries of these words are multiplied by, before rows are brought to length one."""
        return self.factors[words] if len(self.factors) else np.ones(len(words))

    def documents(self, documents: Documents, n_threads: int) -> Documents:
        """The same documents with such rows, and their sums."""
        if not len(self.factors):
            return documents
        counts, weights = documents.counts, documents.weights
        rows = self.rows(documents.rows, n_threads)
        declared = counts.labels[counts.declared]
        batch = Batch(rows, weights.astype(np.float64), counts.labels, documents.codes, weights, declared)
        return replace(documents, counts=ClassCounts.from_batch(batch, n_threads), rows=rows)


def _log_ratios(documents: Documents) -> Float64:
    """focus_n of each word."""
    counts = documents.counts
    n_entries = float(documents.weights / ONE @ np.diff(documents.rows.indptr))
    unit = float(counts.totals.sum()) / n_entries if counts.totals.any() else 1.0
    in_class = counts.counts / ONE / unit
    word = np.repeat(np.arange(counts.n_words), np.diff(counts.indptr))
    elsewhere = np.bincount(word, weights=in_class, minlength=counts.n_words)[word] - in_class
    totals = counts.totals / unit
    own, others = totals + counts.n_words, totals.sum() - totals + counts.n_words
    ratios = np.log((in_class + 1) / own[counts.classes]) - np.log((elsewhere + 1) / others[counts.classes])
    largest = np.full(counts.n_words, _LEAST)
    known = np.diff(counts.indptr) > 0
    if known.any():
        largest[known] = np.maximum(np.maximum.reduceat(np.abs(ratios), counts.indptr[:-1][known]), _LEAST)
    return largest
