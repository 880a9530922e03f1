"""Cross-validation of sources of evidence for labels: out-of-fold scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from genus.base.arrays import Float64, Int64
from genus.base.folds import Float32, Folds, deal_folds
from genus.base.label_sets import SetRows, take_sets
from genus.base.protocol import Scores
from genus.base.rows import SparseRows, in_single_precision, take_rows
from genus.base.tuning import TUNED
from genus.models.refined.solver import HingeProblem
from genus.pipeline.label_neighbors import LabelNeighbors

Cells = NDArray[np.bool_]


@dataclass(frozen=True)
class LabelCrossValidation(Folds):
    """The documents to score by, and all documents' sets of labels and weights."""

    sets: SetRows
    weights: Float64
    n_labels: int

    @classmethod
    def from_sets(
        cls,
        sets: SetRows,
        weights: Float64,
        n_labels: int,
        groups: ArrayLike | None,
        seed: int,
        n_jobs: int | None,
    ) -> LabelCrossValidation:
        most = max(TUNED.most_label_cells // n_labels, 200)
        return cls(*deal_folds(len(sets), most, seed, groups=groups), n_jobs, sets, weights, n_labels)

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

    def refined(self, rows: SparseRows, new_rows: SparseRows) -> list[Float32]:
        """Margins at each cost. ``new_rows`` are the rows as they look when they are new."""

        def fold(train: Int64, test: Int64) -> Sequence[Scores]:
            learned = self.problem(rows, self.chosen[train])
            return list(learned.scores(TUNED.label_costs, take_rows(new_rows, self.chosen[test]), 1))

        return self.out_of_fold(fold, len(TUNED.label_costs), self.n_labels)

    def neighbors(self, rows: SparseRows, new_rows: SparseRows) -> Float32:
        """Log ratios from the nearest documents."""

        def fold(train: Int64, test: Int64) -> Sequence[Scores]:
            others = self.chosen[train]
            sets, weights = take_sets(self.sets, others), self.weights[others]
            near = LabelNeighbors.from_documents(take_rows(rows, others), sets, weights, self.n_labels)
            return [near.log_ratios(take_rows(new_rows, self.chosen[test]), 1)]

        return self.out_of_fold(fold, 1, self.n_labels)[0]

    def problem(self, rows: SparseRows, numbers: Int64) -> HingeProblem:
        """Some documents, to learn from."""
        sets = take_sets(self.sets, numbers)
        taken = in_single_precision(take_rows(rows, numbers))
        return HingeProblem(taken, sets.indptr, sets.members, self.weights[numbers], self.n_labels)
