"""Automatic model selection: candidates are cross-validated within a time budget, and the best are pooled.

Every candidate (see `genus.auto.candidates`) gives scores of documents that it was not trained on: models with exact
leave-one-out give those, `RefinedNB` follows a path of settings over folds, others are fitted once for each fold
and setting. The best settings of different candidates are then pooled, with weights learned on the same scores.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from genus._registry import make_model
from genus.auto.candidates import (
    CANDIDATES,
    VECTORS,
    Candidate,
    default_feature_sets,
    vector_candidates,
    with_given_vectorizer,
    with_given_weighting,
)
from genus.auto.cross_validation import OBJECTIVES, CrossValidation
from genus.auto.descriptions import Descriptions
from genus.auto.label_search import choose_labels
from genus.auto.leaderboard import Leaderboard
from genus.auto.request import ClassTree, Request, log_prior_correction
from genus.auto.search import Member, Search
from genus.auto.self_training import SELF_TRAINING_SCHEDULES, SelfTrainingSchedule, self_train
from genus.base.arrays import Float64, Int64
from genus.base.labels import Labels, encode_labels, positions
from genus.base.protocol import Model, Scores
from genus.base.rows import take_rows
from genus.base.tuning import TUNED
from genus.base.validation import check_weights
from genus.calibration import Temperature
from genus.pipeline.label_pool import LabelPool
from genus.pipeline.pool import Pool
from genus.pipeline.single import TextPipeline
from genus.pipeline.vector_reader import Reader
from genus.text.inputs import GivenLabels


@dataclass(frozen=True)
class ChosenPool:
    """The pool that was chosen, and how."""

    pool: Pool | LabelPool
    leaderboard: Leaderboard
    cut_short: bool

    @classmethod
    def from_state(cls, pool: object, leaderboard: object, cut_short: object) -> ChosenPool:
        """What a file holds, checked."""
        if isinstance(pool, (Pool, LabelPool)) and isinstance(leaderboard, list) and isinstance(cut_short, bool):
            return cls(pool, leaderboard, cut_short)
        raise ValueError("a pool and its leaderboard were expected")


def choose(
    texts: list[str],
    labels: Labels,
    request: Request,
    *,
    unlabeled: list[str],
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
    progress: Callable[[str, float], None],
) -> ChosenPool:
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
    tree = ClassTree.from_labels(request.tree, classes)
    correction = log_prior_correction(request.class_prior, classes, codes, weights)
    validation = CrossValidation.from_labels(
        codes, len(classes), weights, group, request.objective, request.random_state, request.n_jobs, correction
    )
    every_text = [*texts, *unlabeled]
    candidates, feature_sets = _candidates_for(every_text, len(codes), len(classes), request, tree)
    search = Search(every_text, validation, candidates, feature_sets, deadline, progress, tree)
    if request.encoder is not None:
        search.feature_sets[VECTORS] = request.encoder
        search.descriptions = Descriptions.from_request(request.descriptions, classes, request.encoder)
        search.candidates = (*candidates, *vector_candidates(search.description_lift(codes)))
    search.run()
    members = sorted(search.members(), key=search.place_of)
    counted = np.ones(len(codes)) if weights is None else weights
    if unlabeled:
        members, models = _with_unlabeled(search, members, labels, counted, classes, request.n_jobs)
    else:
        models = [search.fitted(member, labels, counted, classes, request.n_jobs) for member in members]
    pool_temperature = search.pool_temperature(members)
    pool = Pool.from_members(
        [TextPipeline(*search.parts(member), model) for member, model in zip(members, models, strict=True)],
        [member.temperature for member in members],
        np.array([member.weight for member in members]),
        search.rejection(members, pool_temperature),
        pool_temperature=pool_temperature,
        prior_corrections=dict(zip(classes.tolist(), correction.tolist(), strict=True)) if correction.any() else None,
        tree=tree.named if tree is not None and tree.given else None,
        **search.described_by(members, classes),
    )
    return ChosenPool(pool, search.leaderboard(members), search.cut_short)


def choose_described(
    texts: list[str], labels: Labels, request: Request, classes: Labels, *, unlabeled: list[str]
) -> ChosenPool:
    """A pool for classes of which some, or all, have a description but no labeled text: by vectors alone."""
    if request.encoder is None:
        raise ValueError(
            "classes without labeled texts need word vectors that know the language: give vectors=, or label texts."
        )
    descriptions = Descriptions.from_request(request.descriptions, classes, request.encoder)
    if len(classes) < 2:
        raise ValueError(f"classes must name at least two classes, got {len(classes)}.")
    described = [] if descriptions is None else descriptions.known.tolist()
    codes = positions(labels, classes) if len(labels) else np.zeros(0, dtype=np.int32)
    for c in np.setdiff1d(np.arange(len(classes)), [*described, *codes.tolist()]).tolist():
        raise ValueError(
            f"class {classes[c].item()!r} has neither labeled texts nor a description whose words are known: "
            "describe it in classes={label: text}."
        )
    rows = request.encoder._transform_rows(texts)[0]
    learned = rows, classes[codes], np.ones(len(codes))
    if descriptions is not None:
        learned = descriptions.documents(TUNED.lone_description_weight).beside(*learned, classes)
    model = make_model("gaussian").set_params(n_jobs=request.n_jobs)._fit_rows(*learned)
    member = TextPipeline(request.encoder, None, model)
    temperature = Temperature(TUNED.description_log_scale)
    pool = Pool.from_members([member], [temperature], np.ones(1), None, tree=request.tree)
    return ChosenPool(pool, [], cut_short=False)


def choose_sets(
    texts: list[str],
    labels: GivenLabels,
    request: Request,
    *,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
) -> ChosenPool:
    """The same for sets of labels."""
    return ChosenPool(*choose_labels(texts, labels, request, sample_weight=sample_weight, groups=groups))


def _candidates_for(
    texts: Sequence[str],
    n_labeled: int,
    n_classes: int,
    request: Request,
    tree: ClassTree | None,
) -> tuple[Sequence[Candidate], dict[str, Reader]]:
    feature_sets: dict[str, Reader]
    if request.vectorizer is not None:
        feature_sets = {"given": clone(request.vectorizer)}
        candidates = with_given_vectorizer(request.weighting)
    else:
        feature_sets = {**default_feature_sets(texts, n_classes)}
        candidates = CANDIDATES if request.weighting is None else with_given_weighting(request.weighting)
    for vectorizer in feature_sets.values():
        vectorizer.set_params(n_jobs=request.n_jobs)
    if n_labeled * n_classes > TUNED.most_scores:
        candidates = tuple(c for c in candidates if not c.every_class_learns_all)
    if tree is None:
        candidates = tuple(c for c in candidates if not c.uses_tree)
    return candidates, feature_sets


def _with_unlabeled(
    search: Search,
    members: Sequence[Member],
    labels: Labels,
    weights: Float64,
    classes: Labels,
    n_jobs: int | None,
) -> tuple[list[Member], list[Model]]:
    """The members as they do best with unlabeled texts, by labeled ones left out, and their models."""
    validation = search.validation
    unlabeled = np.arange(len(labels), len(search.texts))
    learners = [search.learner(m, as_new=False, n_jobs=1, coded=True) for m in members]
    readers = [search.learner(m, as_new=True, n_jobs=1, coded=True) for m in members]
    numbers = np.arange(validation.n_classes, dtype=np.int32)

    def scores_by(schedule: SelfTrainingSchedule) -> list[Scores]:
        def fold(train: Int64, test: Int64) -> list[Scores]:
            given = validation.chosen[train], validation.codes[train], validation.weights[train]
            models = self_train(learners, *given, unlabeled, numbers, schedule)
            new = [take_rows(reader.rows, validation.chosen[test]) for reader in readers]
            return [m._joint_log_likelihood(rows) for m, rows in zip(models, new, strict=True)]

        return validation.out_of_fold(fold, len(members), validation.n_classes)

    tried: list[tuple[float, SelfTrainingSchedule, list[Member]]] = []
    try:
        for schedule in SELF_TRAINING_SCHEDULES:
            if tried and time.monotonic() > search.deadline:
                search.cut_short = True
                break
            begin = time.monotonic()
            found = scores_by(schedule)
            seconds = (time.monotonic() - begin) / len(members)
            retried = [search.retried(m, s, schedule.name, seconds) for m, s in zip(members, found, strict=True)]
            weighed = search.reweighted(retried)
            tried.append((search.pool_value(weighed, schedule.handicap), schedule, weighed))
    except KeyboardInterrupt:
        if not tried:
            raise
        search.cut_short = True
    _, schedule, chosen = max(tried, key=lambda trial: trial[0])
    learners = [search.learner(m, as_new=False, n_jobs=n_jobs, coded=False) for m in members]
    models = self_train(learners, np.arange(len(labels)), labels, weights, unlabeled, classes, schedule)
    return chosen, models
