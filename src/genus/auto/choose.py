"""Choosing a model: a portfolio judged on documents left out, within a time budget, and a pool of the best.

Every candidate (see `genus.auto.candidates`) gives scores of documents that it was not trained on: models with exact
leave-one-out give those, `RefinedNB` follows a path of settings over folds, others are fitted once for each fold
and setting. The best settings of different candidates are then pooled, with weights learned on the same scores.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from genus.auto.candidates import CANDIDATES, MOST_SCORES, Candidate, own_view, own_weighting, usual_views
from genus.auto.cross_validation import OBJECTIVES, CrossValidation, Scores
from genus.auto.label_search import choose_labels
from genus.auto.request import ClassTree, Request, prior_shift
from genus.auto.search import Member, Search
from genus.auto.self_training import SELF_TRAINING_SCHEDULES, SelfTrainingSchedule, self_train
from genus.base.arrays import Float64, Int64
from genus.base.labels import encode_labels
from genus.base.rows import take_rows
from genus.base.validation import check_weights
from genus.pipeline.label_pool import LabelPool
from genus.pipeline.pool import Pool
from genus.pipeline.single import TextPipeline
from genus.text.vectorizer import Vectorizer


@dataclass(frozen=True)
class Choice:
    """The pool that was chosen, and how."""

    pool: Pool | LabelPool
    leaderboard: list[dict[str, Any]]
    cut_short: bool

    @classmethod
    def of(cls, pool: Any, leaderboard: Any, cut_short: Any) -> Choice:
        """What a file holds, checked."""
        kinds = isinstance(pool, (Pool, LabelPool)), isinstance(leaderboard, list), isinstance(cut_short, bool)
        if not all(kinds):
            raise ValueError("a pool and its leaderboard were expected")
        return cls(pool, leaderboard, cut_short)


def choose(
    texts: list[str],
    labels: NDArray[Any],
    request: Request,
    *,
    unlabeled: list[str],
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
    progress: Callable[[str, float], None],
) -> Choice:
    """Search the portfolio and pool the best."""
    if request.objective not in OBJECTIVES:
        raise ValueError(f"objective must be one of {', '.join(map(repr, OBJECTIVES))}, got {request.objective!r}.")
    request.check_budget()
    deadline = time.monotonic() + request.time_budget
    classes, codes = encode_labels(labels)
    weights = check_weights(sample_weight, len(codes))
    if weights is not None and not weights.any():
        raise ValueError("sample_weight must be above zero for at least one document.")
    group = None if groups is None else np.asarray(groups)
    if group is not None and group.shape != codes.shape:
        raise ValueError(f"groups must have one entry for each text ({len(codes)}), got shape {group.shape}.")
    tree = ClassTree.of(request.tree, classes)
    shift = prior_shift(request.class_prior, classes, codes, weights)
    jury = CrossValidation.of(
        codes, len(classes), weights, group, request.objective, request.random_state, request.n_jobs, shift
    )
    every_text = [*texts, *unlabeled]
    candidates, views = _candidates_for(every_text, len(codes), len(classes), request, tree)
    search = Search(every_text, jury, candidates, views, deadline, progress, tree)
    search.run()
    members = search.members()
    counted = np.ones(len(codes)) if weights is None else weights
    if unlabeled:
        members, models = _with_unlabeled(search, members, labels, counted, classes, request.n_jobs)
    else:
        models = [search.fitted(member, labels, counted, request.n_jobs) for member in members]
    sharpness = search.sharpness(members)
    pool = Pool.of(
        [TextPipeline(*search.parts(member), model) for member, model in zip(members, models, strict=True)],
        [member.temperature for member in members],
        np.array([member.weight for member in members]),
        search.rejection(members, sharpness),
        sharpness=sharpness,
        shifts=dict(zip(classes.tolist(), shift.tolist(), strict=True)) if shift.any() else None,
        tree=tree.named if tree is not None and tree.given else None,
    )
    return Choice(pool, search.leaderboard(members), search.cut_short)


def choose_sets(texts: list[str], labels: Any, request: Request, *, sample_weight: Any, groups: Any) -> Choice:
    """The same for sets of labels."""
    return Choice(*choose_labels(texts, labels, request, sample_weight=sample_weight, groups=groups))


def _candidates_for(
    texts: Any, n_labelled: int, n_classes: int, request: Request, tree: ClassTree | None
) -> tuple[Sequence[Candidate], dict[str, Vectorizer]]:
    if request.vectorizer is not None:
        views = {"given": clone(request.vectorizer)}
        candidates = own_view(request.weighting)
    else:
        views = usual_views(texts, n_classes)
        candidates = CANDIDATES if request.weighting is None else own_weighting(request.weighting)
    for vectorizer in views.values():
        vectorizer.set_params(n_jobs=request.n_jobs)
    if n_labelled * n_classes > MOST_SCORES:
        candidates = tuple(c for c in candidates if not c.every_class_learns_all)
    if tree is None:
        candidates = tuple(c for c in candidates if not c.uses_tree)
    return candidates, views


def _with_unlabeled(
    search: Search,
    members: Sequence[Member],
    labels: NDArray[Any],
    weights: Float64,
    classes: NDArray[Any],
    n_jobs: int | None,
) -> tuple[list[Member], list[Any]]:
    """The members as they do best with unlabelled texts, by labelled ones left out, and their models."""
    jury = search.jury
    unlabelled = np.arange(len(labels), len(search.texts))
    students = [search.student(m, as_new=False, n_jobs=1, coded=True) for m in members]
    readers = [search.student(m, as_new=True, n_jobs=1, coded=True) for m in members]
    numbers = np.arange(jury.n_classes, dtype=np.int32)

    def scores_by(scheme: SelfTrainingSchedule) -> list[Scores]:
        def fold(train: Int64, test: Int64) -> list[Scores]:
            given = jury.chosen[train], jury.codes[train], jury.weights[train]
            models = self_train(students, *given, unlabelled, numbers, scheme)
            new = [take_rows(reader.rows, jury.chosen[test]) for reader in readers]
            return [m._joint_log_likelihood(rows) for m, rows in zip(models, new, strict=True)]

        return jury.joined(fold, len(members))

    tried: list[tuple[float, SelfTrainingSchedule, list[Member]]] = []
    try:
        for scheme in SELF_TRAINING_SCHEDULES:
            if tried and time.monotonic() > search.deadline:
                search.cut_short = True
                break
            begin = time.monotonic()
            found = scores_by(scheme)
            seconds = (time.monotonic() - begin) / len(members)
            retried = [search.retried(m, s, scheme.name, seconds) for m, s in zip(members, found, strict=True)]
            weighed = search.reweighted(retried)
            tried.append((search.judged(weighed, scheme.prior), scheme, weighed))
    except KeyboardInterrupt:
        if not tried:
            raise
        search.cut_short = True
    _, scheme, chosen = max(tried, key=lambda trial: trial[0])
    students = [search.student(m, as_new=False, n_jobs=n_jobs, coded=False) for m in members]
    models = self_train(students, np.arange(len(labels)), labels, weights, unlabelled, classes, scheme)
    return chosen, models
