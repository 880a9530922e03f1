"""How candidates are judged: scores of documents by models that were not trained on them, and what they are worth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from genus.base.arrays import Float64, Int32, Int64, n_threads
from genus.base.rows import SparseRows, take_rows
from genus.base.tuning import TUNED

Scores = NDArray[np.floating]
Settings = Sequence[dict[str, Any]]

OBJECTIVES = ("accuracy", "macro_f1", "micro_f1", "log_loss")


class Metrics(NamedTuple):
    """What scores are worth. ``value`` is what trials are compared by: larger is better."""

    value: float
    accuracy: float
    macro_f1: float
    log_loss: float


@dataclass(frozen=True)
class CrossValidation:
    """The documents to judge by (``chosen``, numbers among all of them), their classes and their folds."""

    chosen: Int64
    codes: Int32
    weights: Float64
    folds: Int64
    n_classes: int
    grouped: bool
    objective: str
    n_jobs: int | None
    prior_correction: Float64  # what is added to the classes' scores, where texts to come have other priors

    @classmethod
    def from_labels(
        cls,
        codes: Int32,
        n_classes: int,
        weights: Float64 | None,
        groups: NDArray[Any] | None,
        objective: str,
        seed: int,
        n_jobs: int | None,
        prior_correction: Float64 | None = None,
    ) -> CrossValidation:
        rng = np.random.default_rng(seed)
        most = max(min(TUNED.most_documents, TUNED.most_table_cells // n_classes), 100)
        chosen = np.sort(rng.permutation(len(codes))[:most])
        own = codes[chosen]
        folds = _stratified(own, rng) if groups is None else _grouped(np.asarray(groups)[chosen], rng)
        counted = np.ones(len(chosen)) if weights is None else weights[chosen]
        prior_correction = np.zeros(n_classes) if prior_correction is None else prior_correction
        return cls(chosen, own, counted, folds, n_classes, groups is not None, objective, n_jobs, prior_correction)

    @property
    def n_folds(self) -> int:
        return int(self.folds.max()) + 1

    @cached_property
    def _findable(self) -> NDArray[np.bool_]:
        """Whether other folds have documents of the same class. Where they have none, no model can know of it."""
        sizes = np.zeros((self.n_classes, self.n_folds), dtype=np.int64)
        np.add.at(sizes, (self.codes, self.folds), 1)
        found: NDArray[np.bool_] = sizes.sum(axis=1)[self.codes] > sizes[self.codes, self.folds]
        return found

    def out_of_fold_scores(
        self, model: Any, settings: Settings, rows: SparseRows, new_rows: SparseRows
    ) -> list[Scores]:
        """Scores of all documents for each setting. ``new_rows`` are the rows as they look when they are new."""
        rows, new_rows = take_rows(rows, self.chosen), take_rows(new_rows, self.chosen)
        if hasattr(model, "_path_scores"):
            return self._along_paths(model, settings, rows, new_rows)
        if hasattr(model, "_leave_one_out") and not self.grouped:
            model.set_params(**settings[0], n_jobs=self.n_jobs)
            fitted = self._fitted(model, rows, np.arange(len(self.codes)))
            return [fitted._retuned(**s)._leave_one_out(rows, self.codes, self.weights) for s in settings]
        return self._over_folds(model, settings, rows, new_rows)

    def _along_paths(self, model: Any, settings: Settings, rows: SparseRows, new_rows: SparseRows) -> list[Scores]:
        def fold(train: Int64, test: Int64) -> list[Scores]:
            fitted = self._fitted(clone(model), rows, train)
            scores: list[Scores] = fitted._path_scores(take_rows(new_rows, test), settings)
            return scores

        return self.joined(fold, len(settings))

    def _over_folds(self, model: Any, settings: Settings, rows: SparseRows, new_rows: SparseRows) -> list[Scores]:
        def fold(train: Int64, test: Int64) -> list[Scores]:
            found: list[Scores] = []
            for setting in settings:
                fitted = self._fitted(clone(model).set_params(**setting), rows, train)
                scores = np.full((len(test), self.n_classes), -np.inf)
                scores[:, fitted.classes_] = fitted._joint_log_likelihood(take_rows(new_rows, test))
                found.append(scores)
            return found

        return self.joined(fold, len(settings))

    def joined(self, fold: Callable[[Int64, Int64], list[Scores]], n_settings: int) -> list[Scores]:
        """What each fold says of its documents, put together. Folds run in threads; results do not depend on them."""
        tests = [np.flatnonzero(self.folds == f) for f in range(self.n_folds)]
        trains = [np.flatnonzero(self.folds != f) for f in range(self.n_folds)]
        joined: list[Scores] = [
            np.empty((len(self.codes), self.n_classes), dtype=np.float32) for _ in range(n_settings)
        ]
        with ThreadPoolExecutor(min(n_threads(self.n_jobs), self.n_folds)) as threads:
            for test, found in zip(tests, threads.map(fold, trains, tests), strict=True):
                for whole, part in zip(joined, found, strict=True):
                    whole[test] = part
        return joined

    def _fitted(self, model: Any, rows: SparseRows, train: Int64) -> Any:
        """A model of these documents that knows all classes, also those that have none here."""
        every = np.arange(self.n_classes, dtype=np.int32)
        if hasattr(model, "_partial_fit_rows"):
            return model._partial_fit_rows(take_rows(rows, train), self.codes[train], self.weights[train], every)
        return model._fit_rows(take_rows(rows, train), self.codes[train], self.weights[train])

    def measure(self, scores: Scores) -> Metrics:
        """What scores, at the right temperature, are worth among texts of the stated priors."""
        counted = self.weights * np.exp(self.prior_correction)[self.codes]
        weights = counted / max(counted.sum(), 1e-300)
        scores = scores + self.prior_correction
        best = scores.argmax(axis=1)
        accuracy = float(weights @ (best == self.codes))
        above = scores.astype(np.float64) - scores[np.arange(len(best)), best, np.newaxis]
        log_p = above[np.arange(len(best)), self.codes] - np.log(np.exp(above).sum(axis=1))
        loss = float(self._findable * weights @ np.minimum(-log_p, 50.0) / max(self._findable @ weights, 1e-300))
        macro = _macro_f1(self.codes, best, counted, self.n_classes)
        value = {"macro_f1": macro - TUNED.log_loss_weight * loss, "log_loss": -loss}.get(
            self.objective, accuracy - TUNED.log_loss_weight * loss
        )
        return Metrics(value, accuracy, macro, loss)

    def shrunk(self, measured: float, handicap: float) -> float:
        """What to believe of a model's value, where ``handicap`` is by how much it is thought to fall short."""
        trust = len(self.codes) / (len(self.codes) + TUNED.handicap_documents)
        return trust * measured - (1 - trust) * handicap


def assign_folds(numbers: Int64, groups: Any, rng: np.random.Generator) -> Int64:
    """A fold for each of these documents, whatever their labels; groups stay together."""
    if groups is not None:
        return _grouped(np.asarray(groups)[numbers], rng)
    return np.asarray(rng.permutation(len(numbers)) % min(TUNED.n_folds, len(numbers)))


def _stratified(codes: Int32, rng: np.random.Generator) -> Int64:
    """A fold for each document: every class is dealt out in turn, so that small ones are spread too."""
    order = rng.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    folds = np.empty(len(codes), dtype=np.int64)
    folds[order] = np.arange(len(codes)) % min(TUNED.n_folds, len(codes))
    return folds


def _grouped(groups: NDArray[Any], rng: np.random.Generator) -> Int64:
    """A fold for each document, documents of one group together: large groups first, to the emptiest fold."""
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


def _macro_f1(truth: Int32, answers: Int64, weights: Float64, n_classes: int) -> float:
    hits, support, named = (
        np.bincount(c, weights=w, minlength=n_classes)
        for c, w in ((truth, weights * (truth == answers)), (truth, weights), (answers, weights))
    )
    present = support + named > 0
    return float(np.mean(2 * hits[present] / (support + named)[present])) if present.any() else 0.0
