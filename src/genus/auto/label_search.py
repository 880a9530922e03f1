"""Choosing how to give sets of labels: feature sets, costs and neighbours, scored on documents left out."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.base import clone

from genus.auto.candidates import default_feature_sets
from genus.auto.features import Features
from genus.auto.label_cross_validation import LabelCrossValidation
from genus.auto.label_stacking import Stack, fit_stack, log_loss
from genus.auto.leaderboard import Leaderboard, leaderboard_row
from genus.auto.request import Request
from genus.base.arrays import Float64, n_threads
from genus.base.label_sets import read_target
from genus.base.protocol import Params, Scores
from genus.base.tuning import TUNED
from genus.base.validation import check_weights
from genus.models.refined.solver import score_table
from genus.multilabel.decoding import OBJECTIVES, LabelDecoder, best_decoder
from genus.multilabel.metrics import label_scores
from genus.pipeline.label_neighbors import LabelNeighbors
from genus.pipeline.label_pool import LabelMember, LabelPool
from genus.text.inputs import GivenLabels
from genus.text.vectorizer import Vectorizer

_WEIGHTING = {"tf": "log", "idf": "smooth", "norm": "l2"}


@dataclass(frozen=True)
class LabelTrial:
    """A source of evidence: what it says of documents left out, and how surprising their labels are to it alone."""

    kind: str
    feature_set: str
    settings: Params
    scores: Scores
    odds: Float64
    log_loss: float
    seconds: float

    @classmethod
    def from_scores(
        cls,
        validation: LabelCrossValidation,
        kind: str,
        feature_set: str,
        settings: Params,
        scores: Scores,
        seconds: float,
    ) -> LabelTrial:
        odds = fit_stack([scores], validation.truth, validation.learnable, validation.log_prior).log_odds([scores])
        return cls(
            kind, feature_set, settings, scores, odds, log_loss(odds, validation.truth, validation.learnable), seconds
        )

    def row(self, validation: LabelCrossValidation, objective: str, weight: float) -> dict[str, object]:
        """What the leaderboard says of it."""
        p, truth = expit(self.odds), validation.truth
        decoder = LabelDecoder(objective).fit(p, truth)
        measures = label_scores(decoder.predict(p), truth) | {"log_loss": self.log_loss}
        return leaderboard_row(f"{self.kind}, {self.feature_set}", self.settings, measures, self.seconds, weight)


def choose_labels(
    texts: list[str],
    labels: GivenLabels,
    request: Request,
    *,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
) -> tuple[LabelPool, Leaderboard, bool]:
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
    validation = LabelCrossValidation.from_sets(
        target.rows, weights, len(target.labels), groups, request.random_state, request.n_jobs
    )
    search = _Search(validation, _WEIGHTING if request.weighting is None else request.weighting.get_params(), deadline)
    search.run(
        default_feature_sets(texts) if request.vectorizer is None else {"given": clone(request.vectorizer)}, texts
    )
    best = search.best()
    stack = fit_stack([trial.scores for trial in best], validation.truth, validation.learnable, validation.log_prior)
    pool = search.pool(best, stack)
    pool.labels, pool.n_jobs = target.labels, request.n_jobs
    pool.decoder = best_decoder(expit(stack.log_odds([trial.scores for trial in best])), validation.truth, objective)
    mean_slopes = {id(trial): float(slopes.mean()) for trial, slopes in zip(best, stack.slopes[1:], strict=True)}
    ranked = sorted(search.trials, key=lambda trial: trial.log_loss)
    return pool, [t.row(validation, objective, mean_slopes.get(id(t), 0.0)) for t in ranked], search.cut_short


def _objective(request: Request) -> str:
    """What is looked for; the accuracy of sets is the mean F1 of documents."""
    objective = "example_f1" if request.objective == "accuracy" else request.objective
    if objective not in OBJECTIVES:
        listed = ", ".join(map(repr, OBJECTIVES))
        raise ValueError(f"objective must be one of {listed} for sets of labels, got {request.objective!r}.")
    request.check_budget()
    return objective


class _Search:
    """The feature sets in turn, each at all costs, and the neighbours in the first, as long as there is time."""

    def __init__(self, validation: LabelCrossValidation, weighting: Params, deadline: float) -> None:
        self.validation, self.weighting, self.deadline = validation, weighting, deadline
        self.features: dict[str, Features] = {}
        self.trials: list[LabelTrial] = []
        self.cut_short = False

    def run(self, feature_sets: dict[str, Vectorizer], texts: list[str]) -> None:
        rate = judging = 0.0  # seconds for each entry, and for all so far
        for feature_set, vectorizer in feature_sets.items():
            begin = time.monotonic()
            try:
                made = Features.from_texts(vectorizer.set_params(n_jobs=self.validation.n_jobs), texts)
            except ValueError:
                if not self.trials:
                    raise
                continue  # no feature is left, but other feature sets have some
            expected = rate * len(made.counts.data)
            if self.trials and begin + expected + TUNED.label_fit_share * (judging + expected) > self.deadline:
                self.cut_short = True
                return
            self.features[feature_set] = made
            self._refine(feature_set)
            seconds = time.monotonic() - begin
            judging += seconds
            rate = max(rate, seconds / max(len(made.counts.data), 1))
            if len(self.features) == 1:
                self._look_around(feature_set)

    def _refine(self, feature_set: str) -> None:
        begin = time.monotonic()
        _, rows, new = self.features[feature_set].weighted(self.weighting)
        found = self.validation.refined(rows, new)
        seconds = (time.monotonic() - begin) / len(TUNED.label_costs)
        for cost, scores in zip(TUNED.label_costs, found, strict=True):
            self.trials.append(
                LabelTrial.from_scores(self.validation, "refined", feature_set, {"cost": cost}, scores, seconds)
            )

    def _look_around(self, feature_set: str) -> None:
        begin = time.monotonic()
        if begin > self.deadline:
            self.cut_short = True
            return
        _, rows, new = self.features[feature_set].weighted(self.weighting)
        scores, settings = self.validation.neighbors(rows, new), {"n_neighbors": TUNED.n_neighbors}
        seconds = time.monotonic() - begin
        self.trials.append(
            LabelTrial.from_scores(self.validation, "neighbours", feature_set, settings, scores, seconds)
        )

    def best(self) -> list[LabelTrial]:
        """Each feature set at its best cost, and the neighbours behind them."""
        refined = [t for t in self.trials if t.kind == "refined"]
        best = [
            min((t for t in refined if t.feature_set == feature_set), key=lambda t: t.log_loss)
            for feature_set in self.features
        ]
        return best + [t for t in self.trials if t.kind == "neighbours"]

    def pool(self, best: list[LabelTrial], stack: Stack) -> LabelPool:
        """What was found best, learned from all documents."""
        pool = LabelPool()
        pool.members = [self._learned(t) for t in best if t.kind == "refined"]
        pool.neighbors = next((self._near(t) for t in best if t.kind == "neighbours"), None)
        pool.offsets, pool.weights = stack.offsets, stack.slopes[1:]
        return pool

    def _learned(self, trial: LabelTrial) -> LabelMember:
        validation, features = self.validation, self.features[trial.feature_set]
        fitted, rows, _ = features.weighted(self.weighting)
        assert fitted is not None
        problem = validation.problem(rows, np.arange(rows.n_rows))
        threads = n_threads(validation.n_jobs)
        words, bias = problem.solve(trial.settings["cost"], TUNED.label_tolerance, threads, TUNED.least_word)
        assert isinstance(features.vectorizer, Vectorizer)
        return LabelMember(features.vectorizer, fitted, score_table(words, bias, np.zeros(validation.n_labels)))

    def _near(self, trial: LabelTrial) -> LabelNeighbors:
        _, rows, _ = self.features[trial.feature_set].weighted(self.weighting)
        return LabelNeighbors.from_documents(
            rows, self.validation.sets, self.validation.weights, self.validation.n_labels
        )
