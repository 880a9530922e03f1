"""Choosing a model: a portfolio judged on documents left out, within a time budget, and a pool of the best.

Every candidate (see `genus.auto.candidates`) gives scores of documents that it was not trained on: models with exact
leave-one-out give those, `RefinedNB` follows a path of settings over folds, others are fitted once for each fold
and setting. The best settings of different candidates are then pooled, with weights learned on the same scores.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from genus.auto.candidates import MOST_SCORES, PORTFOLIO, Candidate, Wishes, own_view, own_weighting, usual_views
from genus.auto.class_prior import prior_shift
from genus.auto.class_tree import ClassTree
from genus.auto.cross_validation import OBJECTIVES, Jury, Scores
from genus.auto.label_search import choose_labels
from genus.auto.search import Member, Search
from genus.auto.self_training import SCHEMES, Scheme, teach
from genus.base.arrays import Float64, Int64
from genus.base.documents import take_rows
from genus.base.estimator import _check_weights
from genus.base.statistics import encode_labels
from genus.pipeline.label_pool import LabelPool
from genus.pipeline.pool import Pool
from genus.pipeline.single import Parts
from genus.text.plan import as_texts
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


class Given(NamedTuple):
    """Labelled texts with what belongs to them, and texts without labels."""

    texts: Any
    labels: Any
    sample_weight: Any
    groups: Any
    unlabeled: list[str]


def choose(
    texts: list[str],
    labels: NDArray[Any],
    wishes: Wishes,
    *,
    unlabeled: list[str],
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
    progress: Callable[[str, float], None],
) -> Choice:
    """Search the portfolio and pool the best."""
    if wishes.objective not in OBJECTIVES:
        raise ValueError(f"objective must be one of {', '.join(map(repr, OBJECTIVES))}, got {wishes.objective!r}.")
    wishes.check_budget()
    deadline = time.monotonic() + wishes.time_budget
    classes, codes = encode_labels(labels)
    weights = _check_weights(sample_weight, len(codes))
    if weights is not None and not weights.any():
        raise ValueError("sample_weight must be above zero for at least one document.")
    group = None if groups is None else np.asarray(groups)
    if group is not None and group.shape != codes.shape:
        raise ValueError(f"groups must have one entry for each text ({len(codes)}), got shape {group.shape}.")
    tree = ClassTree.of(wishes.tree, classes)
    shift = prior_shift(wishes.class_prior, classes, codes, weights)
    jury = Jury.of(codes, len(classes), weights, group, wishes.objective, wishes.random_state, wishes.n_jobs, shift)
    every_text = [*texts, *unlabeled]
    candidates, views = _portfolio_for(every_text, len(codes), len(classes), wishes, tree)
    search = Search(every_text, jury, candidates, views, deadline, progress, tree)
    search.run()
    members = search.members()
    counted = np.ones(len(codes)) if weights is None else weights
    if unlabeled:
        members, models = _with_unlabelled(search, members, labels, counted, classes, wishes.n_jobs)
    else:
        models = [search.fitted(member, labels, counted, wishes.n_jobs) for member in members]
    sharpness = search.sharpness(members)
    pool = Pool.of(
        [Parts(*search.parts(member), model) for member, model in zip(members, models, strict=True)],
        [member.temperature for member in members],
        np.array([member.weight for member in members]),
        search.rejection(members, sharpness),
        sharpness=sharpness,
        shifts=dict(zip(classes.tolist(), shift.tolist(), strict=True)) if shift.any() else None,
        tree=tree.named if tree is not None and tree.given else None,
    )
    return Choice(pool, search.leaderboard(members), search.cut_short)


def choose_sets(texts: list[str], labels: Any, wishes: Wishes, *, sample_weight: Any, groups: Any) -> Choice:
    """The same for sets of labels."""
    return Choice(*choose_labels(texts, labels, wishes, sample_weight=sample_weight, groups=groups))


def holds_sets(labels: Any) -> bool:
    """Whether each text is given several labels, or none, rather than one."""
    if getattr(labels, "ndim", 1) == 2:
        return True
    first = next(iter(labels), None) if isinstance(labels, (list, tuple, np.ndarray)) else None
    return isinstance(first, (set, frozenset, list, tuple))


def plain_texts(texts: Any) -> list[str]:
    """Texts as a list of str, whatever held them."""
    given = as_texts(texts)
    found = list(given.to_pylist() if hasattr(given, "to_pylist") else given)
    for i, text in enumerate(found):
        if not isinstance(text, str):
            raise ValueError(f"Expected texts (str), got {type(text).__name__} in row {i}.")
    return found


def split_unlabeled(texts: Any, labels: Any, sample_weight: Any, groups: Any, unlabeled: Any) -> Given:
    """Texts whose label is None put to the unlabelled ones; what belongs to them goes."""
    more = [] if unlabeled is None else plain_texts(unlabeled)
    given = list(labels)
    lost = np.array([label is None for label in given], dtype=bool)
    if not lost.any() or len(texts) != len(given):
        return Given(texts, labels, sample_weight, groups, more)
    if lost.all():
        raise ValueError("labels must not all be None: nothing could be learned.")
    every, known = plain_texts(texts), np.flatnonzero(~lost)
    more = [*(every[i] for i in np.flatnonzero(lost)), *more]
    weight, group = (None if value is None else np.asarray(value)[known] for value in (sample_weight, groups))
    return Given([every[i] for i in known], [given[i] for i in known], weight, group, more)


def _portfolio_for(
    texts: Any, n_labelled: int, n_classes: int, wishes: Wishes, tree: ClassTree | None
) -> tuple[Sequence[Candidate], dict[str, Vectorizer]]:
    if wishes.vectorizer is not None:
        views = {"given": clone(wishes.vectorizer)}
        candidates = own_view(wishes.weighting)
    else:
        views = usual_views(texts, n_classes)
        candidates = PORTFOLIO if wishes.weighting is None else own_weighting(wishes.weighting)
    for vectorizer in views.values():
        vectorizer.set_params(n_jobs=wishes.n_jobs)
    if n_labelled * n_classes > MOST_SCORES:
        candidates = tuple(c for c in candidates if not c.every_class_learns_all)
    if tree is None:
        candidates = tuple(c for c in candidates if not c.uses_tree)
    return candidates, views


def _with_unlabelled(
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

    def scores_by(scheme: Scheme) -> list[Scores]:
        def fold(train: Int64, test: Int64) -> list[Scores]:
            given = jury.chosen[train], jury.codes[train], jury.weights[train]
            models = teach(students, *given, unlabelled, numbers, scheme)
            new = [take_rows(reader.rows, jury.chosen[test]) for reader in readers]
            return [m._joint_log_likelihood(rows) for m, rows in zip(models, new, strict=True)]

        return jury.joined(fold, len(members))

    tried: list[tuple[float, Scheme, list[Member]]] = []
    try:
        for scheme in SCHEMES:
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
    models = teach(students, np.arange(len(labels)), labels, weights, unlabelled, classes, scheme)
    return chosen, models


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
