"""The folds of cross-validation, and out-of-fold scores."""

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
        """The scores of each document by models that were trained on the other folds.

        ``score`` gets the positions of training and test documents among the chosen ones. Folds run in threads; the
        result does not depend on their number.
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
    """A random sample of up to ``most`` of n documents, in order, and the fold of each.

    Documents of one group are in one fold. Without groups, folds are stratified by class (``codes``).
    scikit-learn's StratifiedGroupKFold would assign other folds, and other models would be chosen.
    """
    rng = np.random.default_rng(seed)
    chosen = np.sort(rng.permutation(n)[:most])
    if groups is not None:
        return chosen, _grouped(np.asarray(groups)[chosen], rng)
    order = rng.permutation(len(chosen))
    n_folds = min(TUNED.n_folds, len(chosen))
    if codes is None:
        return chosen, np.asarray(order % n_folds)
    folds = np.empty(len(chosen), dtype=np.int64)
    folds[order] = stratified_folds(codes[chosen][order], n_folds)
    return chosen, folds


def stratified_folds(codes: Int32 | Int64, n_folds: int) -> Int64:
    """Folds with nearly equal numbers of each class: its items go to one fold after the other, as they are ordered.

    >>> stratified_folds(np.array([0, 1, 0, 0, 1]), 2).tolist()
    [0, 1, 1, 0, 0]
    """
    folds = np.empty(len(codes), dtype=np.int64)
    folds[np.argsort(codes, kind="stable")] = np.arange(len(codes)) % n_folds
    return folds


def _grouped(groups: Labels, rng: np.random.Generator) -> Int64:
    """Large groups first, each into the fold that has the fewest documents."""
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
