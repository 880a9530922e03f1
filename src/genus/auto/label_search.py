"""Choosing how to give sets of labels: views of the texts, costs and neighbours, judged on documents left out."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import clone

from genus.auto.candidates import usual_views
from genus.auto.features import Features
from genus.auto.label_cross_validation import COSTS, LabelCrossValidation
from genus.auto.label_stacking import Scores, Stack, fit_stack, surprise
from genus.auto.request import Request
from genus.base.arrays import Float64, n_threads
from genus.base.label_sets import read_target
from genus.base.validation import check_weights
from genus.models.refined.solver import score_table
from genus.multilabel.decoding import OBJECTIVES, LabelDecoder, best_decoder
from genus.multilabel.metrics import label_scores
from genus.pipeline.label_neighbors import N_NEIGHBORS, LabelNeighbors
from genus.pipeline.label_pool import LabelMember, LabelPool

_WEIGHTING = {"tf": "log", "idf": "smooth", "norm": "l2"}
_TOLERANCE = 0.05  # of a margin, as documents left out are judged
_LEAST = 0.005  # what a word must add to a margin, to be kept: there are as many as words times labels
_LEARNING = 0.5  # of the time of judging, to learn from all documents in the end


@dataclass(frozen=True)
class LabelTrial:
    """A source of evidence: what it says of documents left out, and how surprising their labels are to it alone."""

    kind: str
    view: str
    settings: dict[str, Any]
    scores: Scores
    odds: Float64
    log_loss: float
    seconds: float

    @classmethod
    def of(
        cls, jury: LabelCrossValidation, kind: str, view: str, settings: dict[str, Any], scores: Scores, seconds: float
    ) -> LabelTrial:
        odds = fit_stack([scores], jury.truth, jury.learnable, jury.log_prior).log_odds([scores])
        return cls(kind, view, settings, scores, odds, surprise(odds, jury.truth, jury.learnable), seconds)

    def row(self, jury: LabelCrossValidation, objective: str, weight: float) -> dict[str, Any]:
        """What the leaderboard says of it."""
        p, truth = expit(self.odds), jury.truth
        decoder = LabelDecoder(objective.replace("_", "-")).fit(p, truth)
        return {
            "candidate": f"{self.kind}, {self.view}",
            "settings": self.settings,
            **label_scores(decoder.predict(p), truth),
            "log_loss": self.log_loss,
            "seconds": self.seconds,
            "weight": weight,
        }


def choose_labels(
    texts: list[str], labels: Any, request: Request, *, sample_weight: Any, groups: Any
) -> tuple[LabelPool, list[dict[str, Any]], bool]:
    """The pool, the leaderboard, and whether time cut the search short."""
    objective = _objective(request)
    deadline = time.monotonic() + request.time_budget
    target = read_target(labels)
    if len(target.rows) != len(texts):
        raise ValueError(f"Got {len(texts)} texts but {len(target.rows)} sets of labels.")
    if len(target.labels) < 1:
        raise ValueError("Found no label: every set is empty.")
    given_weights = check_weights(sample_weight, len(texts))
    weights = np.ones(len(texts)) if given_weights is None else given_weights
    jury = LabelCrossValidation.of(
        target.rows, weights, len(target.labels), groups, request.random_state, request.n_jobs
    )
    search = _Search(jury, _WEIGHTING if request.weighting is None else request.weighting.get_params(), deadline)
    search.run(usual_views(texts) if request.vectorizer is None else {"given": clone(request.vectorizer)}, texts)
    best = search.best()
    stack = fit_stack([trial.scores for trial in best], jury.truth, jury.learnable, jury.log_prior)
    pool = search.pool(best, stack)
    pool.labels, pool.n_jobs = target.labels, request.n_jobs
    pool.decoder = best_decoder(expit(stack.log_odds([trial.scores for trial in best])), jury.truth, objective)
    mean_slopes = {id(trial): float(slopes.mean()) for trial, slopes in zip(best, stack.slopes[1:], strict=True)}
    ranked = sorted(search.trials, key=lambda trial: trial.log_loss)
    return pool, [t.row(jury, objective, mean_slopes.get(id(t), 0.0)) for t in ranked], search.cut_short


def _objective(request: Request) -> str:
    """What is looked for; the accuracy of sets is the mean F1 of documents."""
    objective = "example_f1" if request.objective == "accuracy" else request.objective
    names = [name.replace("-", "_") for name in OBJECTIVES]
    if objective not in names:
        listed = ", ".join(map(repr, names))
        raise ValueError(f"objective must be one of {listed} for sets of labels, got {request.objective!r}.")
    request.check_budget()
    return objective


class _Search:
    """The views in turn, each at all costs, and the neighbours in the first, as long as there is time."""

    def __init__(self, jury: LabelCrossValidation, weighting: dict[str, Any], deadline: float) -> None:
        self.jury, self.weighting, self.deadline = jury, weighting, deadline
        self.materials: dict[str, Features] = {}
        self.trials: list[LabelTrial] = []
        self.cut_short = False

    def run(self, views: dict[str, Any], texts: list[str]) -> None:
        rate = judging = 0.0  # seconds for each entry, and for all so far
        for view, vectorizer in views.items():
            begin = time.monotonic()
            try:
                made = Features.of(vectorizer.set_params(n_jobs=self.jury.n_jobs), texts)
            except ValueError:
                if not self.trials:
                    raise
                continue  # no feature is left, but other views have some
            expected = rate * len(made.counts.data)
            if self.trials and begin + expected + _LEARNING * (judging + expected) > self.deadline:
                self.cut_short = True
                return
            self.materials[view] = made
            self._refine(view)
            seconds = time.monotonic() - begin
            judging += seconds
            rate = max(rate, seconds / max(len(made.counts.data), 1))
            if len(self.materials) == 1:
                self._look_around(view)

    def _refine(self, view: str) -> None:
        begin = time.monotonic()
        _, rows, new = self.materials[view].weighted(self.weighting)
        found = self.jury.refined(rows, new)
        seconds = (time.monotonic() - begin) / len(COSTS)
        for cost, scores in zip(COSTS, found, strict=True):
            self.trials.append(LabelTrial.of(self.jury, "refined", view, {"cost": cost}, scores, seconds))

    def _look_around(self, view: str) -> None:
        begin = time.monotonic()
        if begin > self.deadline:
            self.cut_short = True
            return
        _, rows, new = self.materials[view].weighted(self.weighting)
        scores, settings = self.jury.neighbors(rows, new), {"n_neighbors": N_NEIGHBORS}
        seconds = time.monotonic() - begin
        self.trials.append(LabelTrial.of(self.jury, "neighbours", view, settings, scores, seconds))

    def best(self) -> list[LabelTrial]:
        """Each view at its best cost, and the neighbours behind them."""
        refined = [t for t in self.trials if t.kind == "refined"]
        best = [min((t for t in refined if t.view == view), key=lambda t: t.log_loss) for view in self.materials]
        return best + [t for t in self.trials if t.kind == "neighbours"]

    def pool(self, best: list[LabelTrial], stack: Stack) -> LabelPool:
        """What was found best, learned from all documents."""
        pool = LabelPool()
        pool.members = [self._learned(t) for t in best if t.kind == "refined"]
        pool.neighbors = next((self._near(t) for t in best if t.kind == "neighbours"), None)
        pool.offsets, pool.weights = stack.offsets, stack.slopes[1:]
        return pool

    def _learned(self, trial: LabelTrial) -> LabelMember:
        jury, materials = self.jury, self.materials[trial.view]
        fitted, rows, _ = materials.weighted(self.weighting)
        assert fitted is not None
        problem = jury.problem(rows, np.arange(rows.n_rows))
        words, bias = problem.solve(trial.settings["cost"], _TOLERANCE, n_threads(jury.n_jobs), _LEAST)
        return LabelMember(materials.vectorizer, fitted, score_table(words, bias, np.zeros(jury.n_labels)))

    def _near(self, trial: LabelTrial) -> LabelNeighbors:
        _, rows, _ = self.materials[trial.view].weighted(self.weighting)
        return LabelNeighbors.of(rows, self.jury.sets, self.jury.weights, self.jury.n_labels)
