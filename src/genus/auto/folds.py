"""Documents dealt out to folds, and what models of the other folds say of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from genus.base.arrays import Int32, Int64, n_threads
from genus.base.labels import Labels
from genus.base.protocol import Scores
from genus.base.tuning import TUNED

Float32 = NDArray[np.float32]
ScoreFold = Callable[[Int64, Int64], Sequence[Scores]]  # from training and test documents: an array for each setting


@dataclass(frozen=True)
class Folds:
    """The documents to score by (``chosen``, numbers among all of them) and the fold of each."""

    chosen: Int64
    folds: Int64
    n_jobs: int | None

    @property
    def n_folds(self) -> int:
        return int(self.folds.max()) + 1

    def out_of_fold(self, score: ScoreFold, n_settings: int, n_columns: int) -> list[Float32]:
        """What each fold says of its documents, put together. Folds run in threads; results do not depend on them.

        Documents are given by their places among the chosen ones.
        """
        tests = [np.flatnonzero(self.folds == f) for f in range(self.n_folds)]
        trains = [np.flatnonzero(self.folds != f) for f in range(self.n_folds)]
        joined = [np.empty((len(self.chosen), n_columns), dtype=np.float32) for _ in range(n_settings)]
        with ThreadPoolExecutor(min(n_threads(self.n_jobs), self.n_folds)) as threads:
            for test, found in zip(tests, threads.map(score, trains, tests), strict=True):
                for whole, part in zip(joined, found, strict=True):
                    whole[test] = part
        return joined


def deal_folds(
    n: int,
    most: int,
    seed: int,
    *,
    codes: Int32 | None = None,
    groups: ArrayLike | None = None,
) -> tuple[Int64, Int64]:
    """Up to ``most`` of n documents, in order, and a fold for each.

    Documents of one group stay together. Without groups, those of a class (``codes``) are dealt out in turn, so that
    small classes are spread too.

    scikit-learn's StratifiedGroupKFold would deal them differently, and choose other models.
    """
    rng = np.random.default_rng(seed)
    chosen = np.sort(rng.permutation(n)[:most])
    if groups is not None:
        return chosen, _grouped(np.asarray(groups)[chosen], rng)
    order = rng.permutation(len(chosen))
    n_folds = min(TUNED.n_folds, len(chosen))
    if codes is None:
        return chosen, np.asarray(order % n_folds)
    order = order[np.argsort(codes[chosen][order], kind="stable")]
    folds = np.empty(len(chosen), dtype=np.int64)
    folds[order] = np.arange(len(chosen)) % n_folds
    return chosen, folds


def _grouped(groups: Labels, rng: np.random.Generator) -> Int64:
    """Large groups first, to the emptiest fold."""
    _, numbers, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    n_folds = min(TUNED.n_folds, len(sizes))
    if n_folds < 2:
        raise ValueError("groups must be two at least: one is left out while the others are learned.")
    filled, fold_of = np.zeros(n_folds), np.empty(len(sizes), dtype=np.int64)
    order = rng.permutation(len(sizes))
    for group in order[np.argsort(-sizes[order], kind="stable")]:
        fold_of[group] = filled.argmin()
        filled[fold_of[group]] += sizes[group]
    return np.asarray(fold_of[numbers])
