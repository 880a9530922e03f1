"""Choosing how to give sets of labels: views of the texts and costs, judged on documents left out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone

from genus._arrays import Float64, Int64, n_threads
from genus._base import _check_weights
from genus._documents import take_rows
from genus._jury import deal_out
from genus._label_pool import LabelMember, LabelPool
from genus._label_sets import SetRows, read_target
from genus._label_sets import take_rows as take_sets
from genus._materials import Materials
from genus._portfolio import Wishes, usual_views
from genus._refinement import Lessons, score_table
from genus.decoding import OBJECTIVES, best_decoder
from genus.label_metrics import label_scores

_COSTS = (0.3, 1.0, 3.0)
_WEIGHTING = {"tf": "log", "idf": "smooth", "norm": "l2"}
_MOST_CELLS = 4_000_000  # documents times labels that are judged at once
_ENOUGH = 400_000  # cells, to find a few numbers
_TOLERANCE = 0.01

Cells = NDArray[np.bool_]


@dataclass(frozen=True)
class LabelTrial:
    """A view at a cost: the margins of documents left out, and how surprising their labels are to it."""

    view: str
    cost: float
    margins: Float64
    coefficients: Float64
    log_loss: float
    seconds: float


def choose_labels(
    texts: list[str], labels: Any, wishes: Wishes, *, sample_weight: Any, groups: Any
) -> tuple[LabelPool, list[dict[str, Any]], bool]:
    """The pool, the leaderboard, and whether time cut the search short."""
    objective = _objective(wishes)
    deadline = time.monotonic() + wishes.time_budget
    target = read_target(labels)
    n_labels = len(target.labels)
    if len(target.rows) != len(texts):
        raise ValueError(f"Got {len(texts)} texts but {len(target.rows)} sets of labels.")
    if n_labels < 1:
        raise ValueError("Found no label: every set is empty.")
    given_weights = _check_weights(sample_weight, len(texts))
    weights = np.ones(len(texts)) if given_weights is None else given_weights
    rng = np.random.default_rng(wishes.random_state)
    chosen = np.sort(rng.permutation(len(texts))[: max(_MOST_CELLS // n_labels, 200)])
    folds = deal_out(chosen, groups, rng)
    truth = _indicator(take_sets(target.rows, chosen), n_labels)
    prior = _log_prior(target.rows, n_labels)
    views = usual_views(texts) if wishes.vectorizer is None else {"given": clone(wishes.vectorizer)}
    weighting = _WEIGHTING if wishes.weighting is None else wishes.weighting.get_params()
    materials: dict[str, Materials] = {}
    trials: list[LabelTrial] = []
    cut_short = False
    rate = 0.0  # seconds for each entry
    for view, vectorizer in views.items():
        begin = time.monotonic()
        made = Materials.of(vectorizer.set_params(n_jobs=wishes.n_jobs), texts)
        if trials and time.monotonic() + rate * len(made.counts.data) > deadline:
            cut_short = True
            break
        materials[view] = made
        found = _left_out(materials[view], weighting, target.rows, weights, chosen, folds, n_labels, wishes.n_jobs)
        seconds = time.monotonic() - begin
        rate = max(rate, seconds / max(len(made.counts.data), 1))
        for cost, margins in zip(_COSTS, found, strict=True):
            trials.append(LabelTrial(view, cost, margins, *_stacked([margins], truth, prior), seconds / len(_COSTS)))
    best = [min((t for t in trials if t.view == view), key=lambda t: t.log_loss) for view in materials]
    coefficients, _ = _stacked([t.margins for t in best], truth, prior)
    pool = LabelPool()
    pool.members = [
        _learned(materials[t.view], weighting, target.rows, weights, t.cost, n_labels, wishes.n_jobs) for t in best
    ]
    pool.labels, pool.n_jobs = target.labels, wishes.n_jobs
    pool.offsets, pool.weights = coefficients[0] + coefficients[1] * prior, coefficients[2:]
    odds = pool.offsets + np.add.reduce([w * t.margins for w, t in zip(pool.weights, best, strict=True)])
    pool.decoder = best_decoder(expit(odds), truth, objective)
    weights_of = {id(t): float(w) for t, w in zip(best, pool.weights, strict=True)}
    trials.sort(key=lambda t: t.log_loss)
    return pool, [_row(t, truth, prior, objective, weights_of.get(id(t), 0.0)) for t in trials], cut_short


def _objective(wishes: Wishes) -> str:
    """What is looked for; the accuracy of sets is the mean F1 of documents."""
    objective = "example_f1" if wishes.objective == "accuracy" else wishes.objective
    names = [name.replace("-", "_") for name in OBJECTIVES]
    if objective not in names:
        listed = ", ".join(map(repr, names))
        raise ValueError(f"objective must be one of {listed} for sets of labels, got {wishes.objective!r}.")
    wishes.check_budget()
    return objective


def _left_out(
    materials: Materials,
    weighting: dict[str, Any],
    sets: SetRows,
    weights: Float64,
    chosen: Int64,
    folds: Int64,
    n_labels: int,
    n_jobs: int | None,
) -> list[Float64]:
    """Margins of the chosen documents at each cost, by models without their fold."""
    _, rows, new = materials.weighted(weighting)
    margins = np.empty((len(_COSTS), len(chosen), n_labels), dtype=np.float32)

    def fold(f: int) -> None:
        train, test = chosen[folds != f], np.flatnonzero(folds == f)
        lessons = _lessons(take_rows(rows, train), take_sets(sets, train), weights[train], n_labels)
        margins[:, test] = lessons.scores(_COSTS, take_rows(new, chosen[test]), 1)

    with ThreadPoolExecutor(n_threads(n_jobs)) as threads:
        list(threads.map(fold, range(int(folds.max()) + 1)))
    return list(margins)


def _lessons(rows: Any, sets: SetRows, weights: Float64, n_labels: int) -> Lessons:
    return Lessons(rows._replace(data=rows.data.astype(np.float32)), sets.indptr, sets.members, weights, n_labels)


def _learned(
    materials: Materials,
    weighting: dict[str, Any],
    sets: SetRows,
    weights: Float64,
    cost: float,
    n_labels: int,
    n_jobs: int | None,
) -> LabelMember:
    fitted, rows, _ = materials.weighted(weighting)
    assert fitted is not None
    words, bias = _lessons(rows, sets, weights, n_labels).solve(cost, _TOLERANCE, n_threads(n_jobs))
    return LabelMember(materials.vectorizer, fitted, score_table(words, bias, np.zeros(n_labels)))


def _indicator(sets: SetRows, n_labels: int) -> Cells:
    cells = sparse.csr_array((np.ones(len(sets.members), dtype=bool), sets.members, sets.indptr), (len(sets), n_labels))
    return np.asarray(cells.toarray())


def _log_prior(sets: SetRows, n_labels: int) -> Float64:
    n = np.bincount(sets.members, minlength=n_labels)
    return np.log((n + 0.5) / (len(sets) - n + 0.5))


def _stacked(margins: Sequence[Float64], truth: Cells, prior: Float64) -> tuple[Float64, float]:
    """The likeliest (w_0, w_prior, w_k ...) of a logistic regression over all cells, and its mean surprise.

    Newton's method; a little ridge keeps it finite where the margins tell everything.
    """
    features = np.stack([np.ones_like(margins[0]), np.broadcast_to(prior, margins[0].shape), *margins]).astype(
        np.float64
    )
    features = features.reshape(len(features), -1)
    y = truth.ravel().astype(np.float64)
    ridge = 1e-6 * np.eye(len(features))
    w = np.concatenate([[0.0, 0.5], np.full(len(margins), 1.0 / len(margins))])
    for _ in range(30):
        p = expit(w @ features)
        slope = features @ (p - y) / len(y) + ridge @ w
        curvature = (features * (p * (1 - p))) @ features.T / len(y) + ridge
        step = np.linalg.solve(curvature, slope)
        w = w - step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300))
        if np.abs(step).max() < 1e-8:
            break
    odds = w @ features
    return w, float(np.mean(np.logaddexp(0, odds) - y * odds))


def _row(trial: LabelTrial, truth: Cells, prior: Float64, objective: str, weight: float) -> dict[str, Any]:
    """What the leaderboard says of a trial."""
    w = trial.coefficients
    p = expit(w[0] + w[1] * prior + w[2] * trial.margins)
    scores = label_scores(best_decoder(p, truth, objective).predict(p), truth)
    return {
        "candidate": f"refined, {trial.view}",
        "settings": {"cost": trial.cost},
        **scores,
        "log_loss": trial.log_loss,
        "seconds": trial.seconds,
        "weight": weight,
    }
