"""Points of a search and their evaluation, without fitting again where a model allows it.

A model says by two methods which of its parameters act without the documents: ``_prediction_parameters()`` names
them, ``_retuned(**params)`` gives a fitted model with other values of them that shares what was learned.
A chain of steps may have ``_last_step(X)``: the prefix of its model's parameters, the model, and X as it takes it.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from traceback import format_exc
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score
from sklearn.pipeline import Pipeline
from sklearn.utils.parallel import delayed

from genus.base.arrays import Float64
from genus.base.labels import Labels
from genus.base.protocol import EndsInModel, Estimator, LeavesOneOut, Params, Retunes, Samples, Targets, offers
from genus.base.samples import n_samples, split_params, split_samples
from genus.search.space import Choice, Integer, Space

_KEPT = 8  # combinations of fitting parameters whose fold models are kept from one iteration to the next

Weights: TypeAlias = Float64 | None
Metric = Callable[[Labels, Float64, Labels, Weights], float]  # of labels, log posteriors, classes, sample weights


class Outcome(NamedTuple):
    """A point on one fold."""

    test_scores: float
    fit_time: float
    score_time: float
    fit_error: str | None


@dataclass(frozen=True)
class Fitted:
    """A fitted model with the documents to score it on."""

    model: Any
    X: Samples
    y: Targets
    weights: Any
    prefix: str = ""

    def retuned(self, params: Mapping[str, object]) -> Fitted:
        return replace(self, model=_retune(self.model, _strip(params, self.prefix)))

    def last_step(self) -> Fitted:
        """The same without the steps before the model: its documents have been through them."""
        if isinstance(self.model, Pipeline):
            head, (name, model) = self.model[:-1], self.model.steps[-1]
            step = f"{name}__", model, head.transform(self.X) if len(head) else self.X
        elif offers(self.model, EndsInModel):
            step = self.model._last_step(self.X)
        else:
            return self
        prefix, model, X = step
        return replace(self, model=model, X=X, prefix=self.prefix + prefix).last_step()


@dataclass(frozen=True)
class Fold:
    """An estimator, its training documents and those to score it on: all of them where no indices are given."""

    estimator: Estimator
    X: Samples
    y: Targets
    train: Any
    test: Any
    fit_params: Params
    score: Callable[[Fitted], float]

    def fit(self, params: Mapping[str, object]) -> Fitted:
        # Parameters may be estimators themselves, which are not to be shared.
        estimator = clone(self.estimator).set_params(**clone(dict(params), safe=False))
        weights = self.fit_params.get("sample_weight")
        if self.train is None:
            fit_estimator(estimator, self.X, self.y, self.fit_params)
            return Fitted(estimator, self.X, self.y, weights)
        X, y = split_samples(estimator, self.X, self.y, self.train, self.train)
        fit_estimator(estimator, X, y, split_params(self.fit_params, n_samples(self.X), self.train))
        X, y = split_samples(estimator, self.X, self.y, self.test, self.train)
        return Fitted(estimator, X, y, None if weights is None else np.asarray(weights)[self.test])


class SharedFits:
    """Fold models for points that differ in prediction parameters only.

    ``late`` names the parameters that act without the documents. It is empty where the others vary continuously,
    so that no two points would share a fit.
    """

    def __init__(self, estimator: Estimator, space: Space, folds: list[Fold], whole: bool) -> None:
        late = _prediction_parameters(estimator) & space.scales.keys()
        self._early = {name: scale for name, scale in space.scales.items() if name not in late}
        self.late = late if all(isinstance(s, (Choice, Integer)) for s in self._early.values()) else set()
        self._folds, self._whole = folds, whole
        self._kept: dict[tuple[object, ...], list[Fitted | None]] = {}

    def prepare(self, candidates: list[Params], parallel: Any) -> None:
        """Fit what these candidates need."""
        if not self.late:
            return
        needed = {self._key(params): params for params in reversed(candidates)}
        fresh = {key: params for key, params in needed.items() if key not in self._kept}
        tasks = (delayed(_try_fit)(fold, params, self._whole) for params in fresh.values() for fold in self._folds)
        fitted = iter(list(parallel(tasks)))
        self._kept |= {key: [next(fitted) for _ in self._folds] for key in fresh}
        older = [key for key in self._kept if key not in needed]
        self._kept = {key: self._kept[key] for key in [*older[-_KEPT:], *needed]}

    def for_params(self, params: Params) -> list[tuple[Fold, _Shared | None]]:
        """Each fold with a model to retune; None where a point fits its own."""
        if not self.late:
            return [(fold, None) for fold in self._folds]
        late = {name: params[name] for name in self.late}
        models = self._kept[self._key(params)]
        return [(f, None if m is None else _Shared(m, late)) for f, m in zip(self._folds, models, strict=True)]

    def _key(self, params: Params) -> tuple[object, ...]:
        return tuple(s.unit(params[n]) if isinstance(s, Choice) else params[n] for n, s in self._early.items())


class _Shared(NamedTuple):
    fitted: Fitted
    late: Params


def evaluate(fold: Fold, shared: _Shared | None, params: Params, error_score: str | float) -> Outcome:
    """The score of one point on one fold."""
    begin = fitted_at = time.perf_counter()
    try:
        model = fold.fit(params) if shared is None else shared.fitted.retuned(shared.late)
        fitted_at = time.perf_counter()
        score, error = float(fold.score(model)), None
    except Exception:
        if isinstance(error_score, str):
            raise
        score, error = float(error_score), format_exc()
    return Outcome(score, fitted_at - begin, time.perf_counter() - fitted_at, error)


def _try_fit(fold: Fold, params: Params, whole: bool) -> Fitted | None:
    try:
        fitted = fold.fit(params)
        return fitted if whole else fitted.last_step()
    except Exception:  # it may be this point's prediction parameters; each point finds out for itself
        return None


def fit_estimator(estimator: Any, X: Samples, y: Targets, fit_params: Params) -> Any:
    return estimator.fit(X, **fit_params) if y is None else estimator.fit(X, y, **fit_params)


class Trial(NamedTuple):
    """An evaluated point."""

    iteration: int
    point: Float64
    params: Params
    outcomes: list[Outcome]  # one for each fold
    score: float


@dataclass
class Run:
    """What has been evaluated so far, and what decides how it goes on."""

    search: str
    seed: int
    splits: list[tuple[object, object]]
    trials: list[Trial] = field(default_factory=list)

    def propose(self, t: int, space: Space, n_points: int, n_iterations: int, start: Float64) -> Float64:
        """The points of iteration t: they depend on the seed, t and earlier iterations only."""
        before = [trial for trial in self.trials if trial.iteration < t]
        tried = np.array([trial.point for trial in before]).reshape(-1, len(space.scales))
        scores = np.array([trial.score for trial in before])
        progress = (t - 1) / max(n_iterations - 2, 1)
        return space.propose(tried, scores, n_points, progress, start, np.random.default_rng([self.seed, t]))

    def n_done(self, t: int) -> int:
        return sum(trial.iteration == t for trial in self.trials)

    def best_score(self) -> float:
        return max((trial.score for trial in self.trials if not math.isnan(trial.score)), default=math.nan)

    def _errors(self) -> tuple[list[str], int]:
        outcomes = [outcome for trial in self.trials for outcome in trial.outcomes]
        return [outcome.fit_error for outcome in outcomes if outcome.fit_error], len(outcomes)

    def check_any_success(self) -> None:
        errors, n = self._errors()
        if len(errors) == n:
            raise ValueError(f"all {n} evaluations failed, the first of them with\n{errors[0]}")

    def warn_of_failures(self, error_score: str | float) -> None:
        errors, n = self._errors()
        if errors:
            warnings.warn(
                f"{len(errors)} of {n} evaluations failed; their score is {error_score}. The first failed with\n"
                + errors[0],
                FitFailedWarning,
                stacklevel=4,
            )


# The protocol of models


def _prediction_parameters(estimator: object) -> set[str]:
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return {f"{name}__{parameter}" for parameter in _prediction_parameters(last)}
    return estimator._prediction_parameters() if offers(estimator, Retunes) else set()


def _retune(model: Any, params: Mapping[str, object]) -> Any:
    if not isinstance(model, Pipeline):
        return model._retuned(**params)
    name, last = model.steps[-1]
    other = copy(model)
    other.steps = [*model.steps[:-1], (name, _retune(last, _strip(params, f"{name}__")))]
    return other


def _strip(params: Mapping[str, object], prefix: str) -> Params:
    return {name.removeprefix(prefix): value for name, value in params.items()}


def has_leave_one_out(estimator: object) -> bool:
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return offers(estimator, LeavesOneOut)


# Scores


@dataclass(frozen=True)
class FoldScore:
    """A scorer of scikit-learn."""

    scorer: Callable[..., float]

    def __call__(self, fitted: Fitted) -> float:
        if fitted.weights is not None:
            try:
                return float(self.scorer(fitted.model, fitted.X, fitted.y, sample_weight=fitted.weights))
            except TypeError as error:  # scorers do not say beforehand whether their metric takes weights
                if "unexpected keyword argument 'sample_weight'" not in str(error):
                    raise
        return float(self.scorer(fitted.model, fitted.X, fitted.y))


@dataclass(frozen=True)
class LeaveOneOutScore:
    """A metric of each document's posterior without the document."""

    metric: Metric

    def __call__(self, fitted: Fitted) -> float:
        fitted = fitted.last_step()
        log_proba = fitted.model.leave_one_out_log_proba(fitted.X, fitted.y, sample_weight=fitted.weights)
        return self.metric(np.asarray(fitted.y), log_proba, fitted.model.classes_, fitted.weights)


@dataclass(frozen=True)
class PosteriorScorer:
    """The same metric of new documents, as a scorer of scikit-learn."""

    metric: Metric

    def __call__(self, estimator: Any, X: Samples, y: Targets) -> float:
        return self.metric(np.asarray(y), estimator.predict_log_proba(X), estimator.classes_, None)


@dataclass(frozen=True)
class _Unweighted:
    """A user's function of labels, log posteriors and classes."""

    function: Callable[..., float]

    def __call__(self, y: Labels, log_proba: Float64, classes: Labels, weights: Weights) -> float:
        return float(self.function(y, log_proba, classes))


def _of_labels(metric: Callable[..., float], **options: object) -> Metric:
    def score(y: Labels, log_proba: Float64, classes: Labels, weights: Weights) -> float:
        return float(metric(y, classes[log_proba.argmax(axis=1)], sample_weight=weights, **options))

    return score


def _neg_log_loss(y: Labels, log_proba: Float64, classes: Labels, weights: Weights) -> float:
    own = log_proba[np.arange(len(y)), np.searchsorted(classes, y)]
    smallest = np.log(np.finfo(np.float64).eps)  # as scikit-learn has it: one hopeless document is not the end
    return float(np.average(np.maximum(own, smallest), weights=weights))


_METRICS = {
    "accuracy": _of_labels(accuracy_score),
    "balanced_accuracy": _of_labels(balanced_accuracy_score),
    "f1_macro": _of_labels(f1_score, average="macro"),
    "f1_micro": _of_labels(f1_score, average="micro"),
    "f1_weighted": _of_labels(f1_score, average="weighted"),
    "neg_log_loss": _neg_log_loss,
}


def posterior_metric(scoring: str | Callable[..., float] | None) -> Metric:
    """The metric behind ``scoring`` for leave-one-out."""
    if callable(scoring):
        return _Unweighted(scoring)
    if (name := scoring or "accuracy") not in _METRICS:
        raise ValueError(f"scoring must be one of {', '.join(_METRICS)} or a function with cv='loo', got {scoring!r}.")
    return _METRICS[name]
