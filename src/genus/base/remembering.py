"""Models that remember their documents, not only sums of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from genus.base.additive import AdditiveClassifier
from genus.base.arrays import Float64, n_threads
from genus.base.documents import DocumentAccumulator, Documents
from genus.base.rows import SparseRows, canonical
from genus.base.statistics import ONE, Accumulator, Batch


class DocumentClassifier(AdditiveClassifier):
    """Base of models that keep their documents: what they learn, merge and unlearn are these."""

    _accumulator: DocumentAccumulator

    def _new_accumulator(self) -> Accumulator:
        return DocumentAccumulator()

    def _scales(self, rows: SparseRows, weights: Float64 | None) -> Float64:
        # Weights are rounded to fixed point first, so that a document adds what is kept of it.
        return float(ONE) * np.ones(rows.n_rows) if weights is None else np.floor(weights * ONE + 0.5)

    def _batch(
        self, rows: SparseRows, y: ArrayLike, sample_weight: ArrayLike | None, classes: ArrayLike | None = None
    ) -> Batch:
        return super()._batch(canonical(rows), y, sample_weight, classes)

    @property
    def _documents(self) -> Documents:
        return self._accumulator.documents(n_threads(self.n_jobs))
