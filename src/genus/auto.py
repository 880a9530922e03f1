"""Choosing a model: a portfolio judged on documents left out, within a time budget, and a pool of the best.

Every candidate (see `genus._portfolio`) gives scores of documents that it was not trained on: models with exact
leave-one-out give those, `RefinedNB` follows a path of settings over folds, others are fitted once for each fold
and setting. The best settings of different candidates are then pooled, with weights learned on the same scores.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from genus._arrays import Float64, Int32, SparseRows
from genus._base import _check_number, _check_weights
from genus._documents import row_sums
from genus._jury import OBJECTIVES, Jury, Scores, Settings
from genus._pool import Pool, known_shares
from genus._portfolio import MOST_SCORES, PORTFOLIO, Candidate, own_view, own_weighting, usual_views
from genus._registry import make_model
from genus.calibration import Temperature, pool_weights
from genus.rejection import Rejection
from genus.statistics import encode_labels
from genus.text import Vectorizer
from genus.weighting import TermWeighting

_MOST_MEMBERS = 3


@dataclass(frozen=True)
class Wishes:
    """What the user asked for."""

    objective: str
    time_budget: float
    vectorizer: Vectorizer | None
    weighting: TermWeighting | None
    random_state: int
    n_jobs: int | None

    def check(self) -> None:
        if self.objective not in OBJECTIVES:
            raise ValueError(f"objective must be one of {', '.join(map(repr, OBJECTIVES))}, got {self.objective!r}.")
        _check_number("time_budget", self.time_budget, 1e-3, 1e9, "a positive number of seconds")


@dataclass(frozen=True)
class Choice:
    """The pool that was chosen, and how."""

    pool: Pool
    leaderboard: list[dict[str, Any]]
    cut_short: bool


def choose(
    texts: Any,
    labels: NDArray[Any],
    wishes: Wishes,
    *,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
    make_member: Callable[..., Any],
    progress: Callable[[str, float], None],
) -> Choice:
    """Search the portfolio and pool the best. ``make_member(vectorizer, weighting, model)`` wraps fitted parts."""
    wishes.check()
    deadline = time.monotonic() + wishes.time_budget
    classes, codes = encode_labels(labels)
    weights = _check_weights(sample_weight, len(codes))
    if weights is not None and not weights.any():
        raise ValueError("sample_weight must be above zero for at least one document.")
    group = None if groups is None else np.asarray(groups)
    if group is not None and group.shape != codes.shape:
        raise ValueError(f"groups must have one entry for each text ({len(codes)}), got shape {group.shape}.")
    jury = Jury.of(codes, len(classes), weights, group, wishes.objective, wishes.random_state, wishes.n_jobs)
    candidates, views = _portfolio_for(texts, len(codes) * len(classes), wishes)
    search = Search(texts, jury, codes, weights, candidates, views, deadline, progress)
    search.run()
    members = search.members()
    fitted = [make_member(*search.fitted(member, labels, wishes.n_jobs)) for member in members]
    pool = Pool.of(
        fitted, [m.temperature for m in members], np.array([m.weight for m in members]), search.rejection(members)
    )
    return Choice(pool, search.leaderboard(members), search.cut_short)


def _portfolio_for(texts: Any, n_scores: int, wishes: Wishes) -> tuple[Sequence[Candidate], dict[str, Vectorizer]]:
    if wishes.vectorizer is not None:
        views = {"given": clone(wishes.vectorizer)}
        candidates = own_view(wishes.weighting)
    else:
        views = usual_views(len(texts), sum(map(len, texts)))
        candidates = PORTFOLIO if wishes.weighting is None else own_weighting(wishes.weighting)
    for vectorizer in views.values():
        vectorizer.set_params(n_jobs=wishes.n_jobs)
    if n_scores > MOST_SCORES:
        candidates = tuple(c for c in candidates if not c.every_class_learns_all)
    return candidates, views


@contextmanager
def searching(verbose: int) -> Iterator[Callable[[str, float], None]]:
    """Shows, if asked to, what is tried and the best accuracy so far."""
    if not verbose:
        yield lambda name, best: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("choosing a model", total=None)

        def show(name: str, best: float) -> None:
            shown.update(task, description=f"choosing a model: {name} tried, best accuracy so far {best:.3f}")

        yield show


@dataclass
class Materials:
    """Documents as one view counts them."""

    vectorizer: Vectorizer
    counts: SparseRows
    unknown: Int32  # tokens of each document that the vocabulary does not have
    _weighted: dict[str, tuple[TermWeighting | None, SparseRows, SparseRows]] = field(default_factory=dict)

    @classmethod
    def of(cls, vectorizer: Vectorizer, texts: Any) -> Materials:
        counts = vectorizer._fit_rows(texts)
        pruned = vectorizer._grows and not vectorizer._keeps_every_word
        unknown = vectorizer._transform_rows(texts)[1] if pruned else np.zeros(counts.n_rows, dtype=np.int32)
        return cls(vectorizer, counts, unknown)

    @cached_property
    def new(self) -> SparseRows:
        """Each document as it would be counted had it not been there to bring its words into the vocabulary."""
        counts = self.counts
        if not self.vectorizer._grows or not isinstance(self.vectorizer.min_df, int):
            return counts
        frequency = np.bincount(counts.indices[counts.data > 0], minlength=counts.n_columns)
        keep = (frequency > self.vectorizer.min_df)[counts.indices]
        indptr = np.concatenate(([0], np.cumsum(keep)))[counts.indptr]
        return SparseRows(indptr, counts.indices[keep], counts.data[keep], counts.n_columns)

    @cached_property
    def lengths(self) -> Float64:
        """Of the documents as if they were new."""
        return row_sums(self.new.indptr, self.new.data)

    @cached_property
    def shares(self) -> Float64:
        """Of the words that a document would know if it were new."""
        lost = row_sums(self.counts.indptr, self.counts.data) - self.lengths
        return known_shares(self.lengths, lost + self.unknown)

    def weighted(self, settings: dict[str, Any] | None) -> tuple[TermWeighting | None, SparseRows, SparseRows]:
        """The weighting, the documents to learn from, and the same documents as if they were new."""
        key = str(settings)
        if key not in self._weighted:
            if settings is None:
                self._weighted[key] = None, self.counts, self.new
            else:
                weighting = TermWeighting(**settings)
                rows = weighting._fit_rows(self.counts)
                self._weighted[key] = weighting, rows, weighting._transform_rows(self.new)
        return self._weighted[key]


@dataclass(frozen=True)
class Trial:
    """A setting of a candidate, and how it did on documents left out."""

    candidate: Candidate
    setting: dict[str, Any]
    scores: Scores
    temperature: Temperature
    value: float
    accuracy: float
    macro_f1: float
    log_loss: float
    seconds: float


@dataclass(frozen=True)
class Member:
    """A trial that was chosen, with its weight in the pool."""

    trial: Trial
    temperature: Temperature
    weight: float


@dataclass
class Search:
    """One search: its documents, its rules, and what was found."""

    texts: Any
    jury: Jury
    codes: Int32
    weights: Float64 | None
    candidates: Sequence[Candidate]
    views: dict[str, Vectorizer]
    deadline: float
    progress: Callable[[str, float], None]
    trials: list[Trial] = field(default_factory=list)
    cut_short: bool = False
    _materials: dict[str, Materials] = field(default_factory=dict)
    _seconds: dict[str, float] = field(default_factory=dict)  # that a setting of a model took

    def run(self) -> None:
        """Probe every candidate, then look closer at the best two. Ctrl-C ends it with what was found."""
        try:
            probed = [c for c in self.candidates if self._try(c, c.settings[: c.n_probes])]
            probed.sort(key=lambda c: -self.best_of(c).value)
            for candidate in probed[:2]:
                self._try(candidate, candidate.settings[candidate.n_probes :])
        except KeyboardInterrupt:
            if not self.trials:
                raise
            self.cut_short = True

    def best_of(self, candidate: Candidate) -> Trial:
        return max((t for t in self.trials if t.candidate is candidate), key=lambda t: t.value)

    def materials(self, view: str) -> Materials:
        if view not in self._materials:
            self._materials[view] = Materials.of(self.views[view], self.texts)
        return self._materials[view]

    def _try(self, candidate: Candidate, settings: Settings) -> bool:
        """Judge these settings, unless there is no time for it."""
        if not settings or candidate.view not in self.views:
            return False
        if self.trials and time.monotonic() + self._expected(candidate, settings) > self.deadline:
            self.cut_short = True
            return False
        begin = time.monotonic()
        materials = self.materials(candidate.view)
        _, rows, new_rows = materials.weighted(candidate.weighting)
        model = make_model(candidate.model).set_params(n_jobs=1)
        found = self.jury.judge(model, settings, rows, new_rows)
        seconds = (time.monotonic() - begin) / len(settings)
        self._seconds[candidate.model] = seconds
        for setting, scores in zip(settings, found, strict=True):
            self.trials.append(self._trial(candidate, setting, scores, seconds))
        self.progress(candidate.name, max(t.accuracy for t in self.trials))
        return True

    def _expected(self, candidate: Candidate, settings: Settings) -> float:
        return len(settings) * self._seconds.get(candidate.model, max(self._seconds.values(), default=0.0))

    def _trial(self, candidate: Candidate, setting: dict[str, Any], scores: Scores, seconds: float) -> Trial:
        lengths = self.materials(candidate.view).lengths[self.jury.chosen]
        temperature = Temperature.fit(scores, self.jury.codes, lengths)
        verdict = self.jury.measure(temperature.scaled(scores, lengths))
        return Trial(candidate, setting, scores, temperature, *verdict, seconds)

    # What was chosen

    def members(self) -> list[Member]:
        """The best trial and, where they help, others beside it: their weights are learned on their scores."""
        best = sorted(
            {id(c): self.best_of(c) for c in (t.candidate for t in self.trials)}.values(), key=lambda t: -t.value
        )
        chosen, weights, value = [best[0]], np.ones(1), best[0].value
        for trial in best[1:]:
            if len(chosen) == _MOST_MEMBERS:
                break
            scores = [self._calibrated(t) for t in (*chosen, trial)]
            tried = pool_weights(scores, self.jury.codes)
            gained = self.jury.measure(sum(w * s for w, s in zip(tried, scores, strict=True))).value
            if gained > value and tried.min() > 0:
                chosen, weights, value = [*chosen, trial], tried, gained
        return [Member(t, t.temperature, float(w)) for t, w in zip(chosen, weights, strict=True)]

    def _calibrated(self, trial: Trial) -> Scores:
        lengths = self.materials(trial.candidate.view).lengths[self.jury.chosen]
        return trial.temperature.scaled(trial.scores, lengths)

    def rejection(self, members: Sequence[Member]) -> Rejection:
        """What is usual among documents left out."""
        pooled = sum(m.weight * self._calibrated(m.trial) for m in members)
        return Rejection.fit(pooled, self.materials(members[0].trial.candidate.view).shares[self.jury.chosen])

    def fitted(
        self, member: Member, labels: NDArray[Any], n_jobs: int | None
    ) -> tuple[Vectorizer, TermWeighting | None, Any]:
        """The member's parts, learned from all documents."""
        candidate = member.trial.candidate
        materials = self.materials(candidate.view)
        weighting, rows, _ = materials.weighted(candidate.weighting)
        model = make_model(candidate.model).set_params(**member.trial.setting, n_jobs=n_jobs)
        model._fit_rows(rows, labels, self.weights)
        return materials.vectorizer, None if weighting is None else weighting, model

    def leaderboard(self, members: Sequence[Member]) -> list[dict[str, Any]]:
        """What was tried, the best first."""
        weights = {id(m.trial): m.weight for m in members}
        return [
            {
                "candidate": t.candidate.name,
                "settings": dict(t.setting),
                "accuracy": t.accuracy,
                "macro_f1": t.macro_f1,
                "log_loss": t.log_loss,
                "seconds": t.seconds,
                "weight": weights.get(id(t), 0.0),
            }
            for t in sorted(self.trials, key=lambda t: -t.value)
        ]
