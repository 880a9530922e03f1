"""How sources of evidence for labels are judged: scores of documents by models that were not trained on them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from genus.auto.cross_validation import assign_folds
from genus.base.arrays import Float64, Int64, n_threads
from genus.base.label_sets import SetRows, take_sets
from genus.base.rows import SparseRows, in_single_precision, take_rows
from genus.base.tuning import TUNED
from genus.models.refined.solver import HingeProblem
from genus.pipeline.label_neighbors import LabelNeighbors

Cells = NDArray[np.bool_]
Float32 = NDArray[np.float32]


@dataclass(frozen=True)
class LabelCrossValidation:
    """All documents' sets of labels and weights; those to judge by (``chosen``) and their folds."""

    sets: SetRows
    weights: Float64
    n_labels: int
    chosen: Int64
    folds: Int64
    n_jobs: int | None

    @classmethod
    def from_sets(
        cls, sets: SetRows, weights: Float64, n_labels: int, groups: Any, seed: Any, n_jobs: int | None
    ) -> LabelCrossValidation:
        rng = np.random.default_rng(seed)
        chosen = np.sort(rng.permutation(len(sets))[: max(TUNED.most_label_cells // n_labels, 200)])
        return cls(sets, weights, n_labels, chosen, assign_folds(chosen, groups, rng), n_jobs)

    @cached_property
    def truth(self) -> Cells:
        """Which labels the chosen documents have."""
        sets = take_sets(self.sets, self.chosen)
        ones = np.ones(len(sets.members), dtype=bool)
        return np.asarray(sparse.csr_array((ones, sets.members, sets.indptr), (len(sets), self.n_labels)).toarray())

    @cached_property
    def learnable(self) -> Cells:
        """Which labels the documents of other folds have, for each of the chosen documents."""
        known = [self.truth[self.folds != f].any(axis=0) for f in range(self.n_folds)]
        return np.stack(known)[self.folds]

    @cached_property
    def log_prior(self) -> Float64:
        n = np.bincount(self.sets.members, minlength=self.n_labels)
        return np.log((n + 0.5) / (len(self.sets) - n + 0.5))

    @property
    def n_folds(self) -> int:
        return int(self.folds.max()) + 1

    def refined(self, rows: SparseRows, new_rows: SparseRows) -> list[Float32]:
        """Margins at each cost. ``new_rows`` are the rows as they look when they are new."""

        def fold(train: Int64, test: Int64) -> Float32:
            return self.problem(rows, train).scores(TUNED.label_costs, take_rows(new_rows, test), 1)

        return list(self._joined(fold, len(TUNED.label_costs)))

    def neighbors(self, rows: SparseRows, new_rows: SparseRows) -> Float32:
        """What the nearest documents say."""

        def fold(train: Int64, test: Int64) -> Float64:
            sets, weights = take_sets(self.sets, train), self.weights[train]
            near = LabelNeighbors.from_documents(take_rows(rows, train), sets, weights, self.n_labels)
            return near.log_ratios(take_rows(new_rows, test), 1)

        joined: Float32 = self._joined(fold, 1)[0]
        return joined

    def problem(self, rows: SparseRows, numbers: Int64) -> HingeProblem:
        """Some documents, to learn from."""
        sets = take_sets(self.sets, numbers)
        taken = in_single_precision(take_rows(rows, numbers))
        return HingeProblem(taken, sets.indptr, sets.members, self.weights[numbers], self.n_labels)

    def _joined(self, fold: Callable[[Int64, Int64], NDArray[Any]], n_settings: int) -> Float32:
        """What models without a fold say of its documents; results do not depend on the number of threads."""
        joined = np.empty((n_settings, len(self.chosen), self.n_labels), dtype=np.float32)

        def fill(f: int) -> None:
            held = self.folds == f
            joined[:, held] = fold(self.chosen[~held], self.chosen[held])

        with ThreadPoolExecutor(min(n_threads(self.n_jobs), self.n_folds)) as threads:
            list(threads.map(fill, range(self.n_folds)))
        return joined
