"""What labels the nearest training documents have.

With q_m the shares of the k training documents nearest to d by the cosine, and p_l the share of all documents that
have label l,

    q_m = c_m exp(s cos(d, m)) / sum over the k nearest,   v_l(d) = sum over m with label l of q_m,

    log ratio_l(d) = ln((v_l(d) + f) / (p_l + f))

with c_m the weight of document m; k, s and f are in `genus.base.tuning`. Documents that share no word with d have no
part in it; where there are no others, v_l = p_l.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from genus.base.arrays import Float64, Int64
from genus.base.inverted_index import CosineIndex
from genus.base.label_sets import SetRows
from genus.base.protocol import State
from genus.base.rows import SparseRows, slice_rows, unit_rows
from genus.base.tuning import TUNED

_BLOCK = 1 << 21  # votes held at once: 16 MB


class LabelNeighbors:
    """Training documents, their sets of labels and their weights."""

    def __init__(self, index: CosineIndex, sets: SetRows, weights: Float64, n_labels: int) -> None:
        self.index, self.sets, self.weights = index, sets, weights
        ones = np.ones(len(sets.members))
        self._members = sparse.csr_array((ones, sets.members, sets.indptr), shape=(len(sets), n_labels))
        self._frequencies = np.asarray(weights @ self._members) / max(float(weights.sum()), 1e-300)

    @classmethod
    def from_documents(cls, rows: SparseRows, sets: SetRows, weights: Float64, n_labels: int) -> LabelNeighbors:
        return cls(CosineIndex(unit_rows(rows)), sets, weights, n_labels)

    def nearest(self, rows: SparseRows, n_threads: int) -> tuple[Int64, Float64]:
        """The nearest documents and their shares q_m: (n_rows, k), zeros in a row that has none."""
        documents, cosines = self.index.nearest(unit_rows(rows), TUNED.n_neighbors, n_threads)
        shares = np.where(cosines > 0, self.weights[documents] * np.exp(TUNED.neighbor_sharpness * (cosines - 1)), 0.0)
        total = shares.sum(axis=1, keepdims=True)
        return documents, np.divide(shares, total, out=shares, where=total > 0)

    def log_ratios(self, rows: SparseRows, n_threads: int) -> Float64:
        """Of each label: (n_rows, n_labels)."""
        out = np.empty((rows.n_rows, len(self._frequencies)))
        size = max(1, _BLOCK // max(out.shape[1], TUNED.n_neighbors))
        for begin in range(0, rows.n_rows, size):
            out[begin : begin + size] = self.votes(*self.nearest(slice_rows(rows, begin, begin + size), n_threads))
        return self.ratios(out)

    def votes(self, documents: Int64, shares: Float64) -> Float64:
        """v_l: the share of each label among the nearest documents, which `nearest` gives."""
        ends = np.arange(len(documents) + 1) * documents.shape[1]
        near = sparse.csr_array((shares.ravel(), documents.ravel(), ends), shape=(len(documents), len(self.sets)))
        votes: Float64 = (near @ self._members).toarray()
        votes[~shares.any(axis=1)] = self._frequencies
        return votes

    def ratios(self, votes: Float64) -> Float64:
        """The log ratio of each label, from its votes."""
        floor = TUNED.neighbor_floor
        return np.asarray(np.log((votes + floor) / (self._frequencies + floor)))

    # Keeping

    def to_state(self) -> State:
        rows, sets = self.index.rows, self.sets
        return {
            "indptr": rows.indptr, "words": rows.indices, "values": rows.data,
            "set_indptr": sets.indptr, "set_members": sets.members, "weights": self.weights,
        }  # fmt: skip

    @classmethod
    def from_state(cls, state: State, n_words: int, n_labels: int) -> LabelNeighbors:
        indptr, words, values, weights = (state[name] for name in ("indptr", "words", "values", "weights"))
        sets = SetRows(state["set_indptr"], state["set_members"])
        sets.check(n_labels)
        sparse.csr_array((values, words, indptr), shape=(len(sets), n_words)).check_format(full_check=True)
        for array, size in ((values, len(words)), (weights, len(sets))):
            if array.dtype != np.float64 or array.shape != (size,) or not np.isfinite(array).all():
                raise ValueError("documents and their weights must be finite float64 numbers")
        rows = SparseRows(indptr.astype(np.int64), words.astype(np.int32), values, n_words)
        return cls(CosineIndex(rows), sets, weights, n_labels)
