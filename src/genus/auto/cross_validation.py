"""Cross-validation of candidates: out-of-fold scores, and metrics of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from genus.auto.descriptions import FixedDocuments
from genus.base.arrays import Float64, Int32, Int64
from genus.base.folds import Folds, deal_folds
from genus.base.protocol import LearnsMore, LeavesRowsOut, Model, Params, Scores, ScoresPath, offers
from genus.base.rows import SparseRows, take_rows
from genus.base.tuning import TUNED

Settings = Sequence[Params]
AnyModel = TypeVar("AnyModel", bound=Model)

OBJECTIVES = ("accuracy", "macro_f1", "micro_f1", "log_loss")


class Metrics(NamedTuple):
    """Metrics of scores. Trials are compared by ``value``: larger is better."""

    value: float
    accuracy: float
    macro_f1: float
    log_loss: float


@dataclass(frozen=True)
class CrossValidation(Folds):
    """The documents to score, their classes, and the objective."""

    codes: Int32
    weights: Float64
    n_classes: int
    grouped: bool
    objective: str
    prior_correction: Float64  # what is added to the classes' scores, where texts to come have other priors

    @classmethod
    def from_labels(
        cls,
        codes: Int32,
        n_classes: int,
        weights: Float64 | None,
        groups: ArrayLike | None,
        objective: str,
        seed: int,
        n_jobs: int | None,
        prior_correction: Float64 | None = None,
    ) -> CrossValidation:
        most = max(min(TUNED.most_documents, TUNED.most_table_cells // n_classes), 100)
        chosen, folds = deal_folds(len(codes), most, seed, codes=codes, groups=groups)
        counted = np.ones(len(chosen)) if weights is None else weights[chosen]
        correction = np.zeros(n_classes) if prior_correction is None else prior_correction
        return cls(chosen, folds, n_jobs, codes[chosen], counted, n_classes, groups is not None, objective, correction)

    @cached_property
    def _findable(self) -> NDArray[np.bool_]:
        """Whether other folds have documents of the same class. If they have none, no model can predict it."""
        sizes = np.zeros((self.n_classes, self.n_folds), dtype=np.int64)
        np.add.at(sizes, (self.codes, self.folds), 1)
        found: NDArray[np.bool_] = sizes.sum(axis=1)[self.codes] > sizes[self.codes, self.folds]
        return found

    def out_of_fold_scores(
        self,
        model: Model,
        settings: Settings,
        rows: SparseRows,
        new_rows: SparseRows,
        fixed: FixedDocuments | None = None,
    ) -> Sequence[Scores]:
        """Scores of all documents for each setting. ``new_rows`` are the rows as they look when they are new.

        ``fixed`` documents are learned from in every fold.
        """
        rows, new_rows = take_rows(rows, self.chosen), take_rows(new_rows, self.chosen)
        if offers(model, ScoresPath):
            return self._along_paths(model, settings, rows, new_rows)
        if offers(model, LeavesRowsOut) and not self.grouped:
            model.set_params(**settings[0], n_jobs=self.n_jobs)
            fitted = self._fitted(model, rows, np.arange(len(self.codes)), fixed)
            return [fitted._retuned(**s)._leave_one_out(rows, self.codes, self.weights) for s in settings]
        return self._over_folds(model, settings, rows, new_rows, fixed)

    def _along_paths(
        self, model: ScoresPath, settings: Settings, rows: SparseRows, new_rows: SparseRows
    ) -> Sequence[Scores]:
        def fold(train: Int64, test: Int64) -> Sequence[Scores]:
            fitted: ScoresPath = self._fitted(clone(model), rows, train)
            return fitted._path_scores(take_rows(new_rows, test), settings)

        return self.out_of_fold(fold, len(settings), self.n_classes)

    def _over_folds(
        self,
        model: Model,
        settings: Settings,
        rows: SparseRows,
        new_rows: SparseRows,
        fixed: FixedDocuments | None = None,
    ) -> Sequence[Scores]:
        def fold(train: Int64, test: Int64) -> Sequence[Scores]:
            found: list[Scores] = []
            for setting in settings:
                fitted = self._fitted(clone(model).set_params(**setting), rows, train, fixed)
                scores = np.full((len(test), self.n_classes), -np.inf)
                scores[:, fitted.classes_] = fitted._joint_log_likelihood(take_rows(new_rows, test))
                found.append(scores)
            return found

        return self.out_of_fold(fold, len(settings), self.n_classes)

    def _fitted(self, model: AnyModel, rows: SparseRows, train: Int64, fixed: FixedDocuments | None = None) -> AnyModel:
        """A model of these documents with all classes, including those without documents here."""
        every = np.arange(self.n_classes, dtype=np.int32)
        given = take_rows(rows, train), self.codes[train], self.weights[train]
        if fixed is not None:
            given = fixed.beside(*given)
        if offers(model, LearnsMore):
            return model._partial_fit_rows(*given, every)
        return model._fit_rows(*given)

    def measure(self, scores: Scores) -> Metrics:
        """Metrics of scores at their best temperature, for texts with the stated priors."""
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
        """A model's measured value, shrunk towards minus its ``handicap``, the expected gap to the best model."""
        trust = len(self.codes) / (len(self.codes) + TUNED.handicap_documents)
        return trust * measured - (1 - trust) * handicap


def _macro_f1(truth: Int32, answers: Int64, weights: Float64, n_classes: int) -> float:
    hits, support, named = (
        np.bincount(c, weights=w, minlength=n_classes)
        for c, w in ((truth, weights * (truth == answers)), (truth, weights), (answers, weights))
    )
    present = support + named > 0
    return float(np.mean(2 * hits[present] / (support + named)[present])) if present.any() else 0.0
