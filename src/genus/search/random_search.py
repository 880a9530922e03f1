"""Parameters by Gaussian random search, as Puurula and Myaeng tuned the tied document mixture.

Iteration 0 spreads its points over the space; iteration t takes Gaussian steps from the best points so far,

    u' = reflect(u_parent + width_t * N(0, 1)),   width_t = .25 * (.005 / .25)^((t - 1) / (T - 2)),

on the unit scale of each parameter (`genus.search.space`): a (µ + λ) evolution strategy with µ = 3 parents,
λ = ``n_points`` and a width that shrinks on a schedule (S. Luke, Essentials of Metaheuristics, 2009, which
the paper cites for its own search without giving further detail).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring, get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state, indexable
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import assert_all_finite

from genus.base.arrays import Float64
from genus.base.progress import progress_line
from genus.base.protocol import Params, Samples, Targets
from genus.base.samples import n_samples, split_params
from genus.search.best_estimator import BestEstimator
from genus.search.evaluation import (
    Fold,
    FoldScore,
    LeaveOneOutScore,
    PosteriorScorer,
    Run,
    SharedFits,
    Trial,
    evaluate,
    fit_estimator,
    has_leave_one_out,
    posterior_metric,
)
from genus.search.results import Table, best_index, results_table
from genus.search.space import Choice, Integer, Linear, Log, Logit, Scale, Share, Space

__all__ = ["Choice", "GaussianRandomSearchCV", "Integer", "Linear", "Log", "Logit", "Share"]


class GaussianRandomSearchCV(BestEstimator):
    """Finds the parameters with the best cross-validated score, by Gaussian random search.

    The first iteration spreads ``n_points`` points over the space (a Latin hypercube) and includes ``start``. Each
    later one takes ``n_points`` steps: each from one of the 3 best points so far (with odds 3 : 2 : 1), Gaussian
    in every numeric parameter and reflected at the ends of its range; a `Choice` is drawn anew with a probability
    of twice the width. The steps' standard deviation shrinks geometrically from .25 to .005 of the range. No
    point is evaluated twice; the search ends early where a space of choices and integers has no others left.

    Parameters
    ----------
    estimator : estimator
        A genus model, a `TextClassifier`, or any estimator of scikit-learn.
    param_space : dict of str to scale
        Parameter names (nested ones with ``__``) and where to look: `Linear`, `Log`, `Logit`, `Integer`,
        `Choice`, `Share`.
    n_iterations, n_points : int, default=40 and 20
        The budget: ``n_iterations * n_points`` points.
    start : dict or list of dict, default=None
        Points to begin with. A parameter that is not named, and by default every one, has the estimator's own
        value, or the middle of its range where that value lies outside.
    scoring : str or callable, default=None
        As in scikit-learn; one metric. With ``cv="loo"``: "accuracy" (the default), "balanced_accuracy",
        "f1_macro", "f1_micro", "f1_weighted", "neg_log_loss", or a function of (y, log_proba, classes).
    cv : int, splitter, iterable or "loo", default=None
        The folds, as in scikit-learn. "loo" takes the model's own exact ``leave_one_out_log_proba``: one fit on
        all documents. What comes before the model (a vectorizer) is then fitted on all documents, too.
    refit : bool or callable, default=True
        Fit the best parameters on all documents. A callable chooses the best index, given ``cv_results_``.
    time_budget : float, default=None
        Seconds after which no further point is begun. One point at least is evaluated.
    warm_start : bool, default=False
        Go on where the last `fit` (interrupted, out of time, or with fewer iterations) has stopped, with the
        points that an uninterrupted run would have evaluated. Give it the same data.
    error_score : "raise" or float, default=nan
        The score of a point whose evaluation fails, with a warning.
    n_jobs : int, default=None
        Points evaluated at a time, as in scikit-learn. None is 1: genus models use every core by themselves.
        The points do not depend on it.
    random_state : int, RandomState or None, default=None
        Makes the search reproducible.
    verbose : int, default=0
        Above 0, a progress bar, if standard error is a terminal.

    Attributes
    ----------
    best_params_, best_score_, best_index_, best_estimator_, refit_time_, scorer_, n_splits_
        As in scikit-learn.
    cv_results_ : dict of arrays
        As in scikit-learn, a row for each point, ``iter`` being its iteration; ready for ``pandas.DataFrame``.
        ``fit_time`` leaves out what points share (see Notes).
    n_iterations_ : int
        Iterations begun.

    Notes
    -----
    A model says by two methods which of its parameters act without the documents: ``_prediction_parameters()``
    names them, ``_retuned(**params)`` gives a fitted model with other values that shares what was learned. Such
    models are fitted once for each fold and each combination of their other parameters, provided that these are
    choices or integers, and only retuned for each point; the scores are the same. Steps before a model are
    then applied once, too, unless ``scoring`` is a function, which sees the estimator as a whole.

    Ctrl-C during `fit` ends the search with a warning: what was evaluated is kept, and the best of it refitted.

    See Also
    --------
    sklearn.model_selection.RandomizedSearchCV : draws all points without learning from the first ones.

    References
    ----------
    A. Puurula and S.-H. Myaeng, Integrated Instance- and Class-based Generative Modeling for Text Classification,
    section 3.2: "a parallelized Gaussian random search using 40 iterations of 20 sampled points".
    S. Luke, Essentials of Metaheuristics, Lulu, 2009.

    Examples
    --------
    >>> from genus import GaussianRandomSearchCV, MultinomialNB
    >>> from genus.search import Log
    >>> X = np.array([[2, 1, 0], [1, 0, 0], [0, 1, 3], [0, 0, 1]])
    >>> search = GaussianRandomSearchCV(
    ...     MultinomialNB(), {"alpha": Log(0.01, 10)}, n_iterations=3, n_points=4,
    ...     cv="loo", scoring="neg_log_loss", random_state=0,
    ... ).fit(X, ["ham", "ham", "spam", "spam"])
    >>> len(search.cv_results_["params"])
    12
    >>> search.predict([[0, 0, 2]])
    array(['spam'], dtype='<U4')
    """

    _run: Run

    def __init__(
        self,
        estimator: Any,
        param_space: Mapping[str, Scale],
        *,
        n_iterations: int = 40,
        n_points: int = 20,
        start: Mapping[str, object] | Sequence[Mapping[str, object]] | None = None,
        scoring: str | Callable[..., float] | None = None,
        cv: object = None,
        refit: bool | Callable[[Table], int] = True,
        time_budget: float | None = None,
        warm_start: bool = False,
        error_score: float | str = np.nan,
        n_jobs: int | None = None,
        random_state: object = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.param_space = param_space
        self.n_iterations = n_iterations
        self.n_points = n_points
        self.start = start
        self.scoring = scoring
        self.cv = cv
        self.refit = refit
        self.time_budget = time_budget
        self.warm_start = warm_start
        self.error_score = error_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Samples, y: Targets = None, groups: object = None, **fit_params: object) -> Self:
        """Search, and fit the best parameters on all documents.

        Parameters
        ----------
        X, y
            What the estimator's ``fit`` takes.
        groups : array of shape (n_documents,), default=None
            For splitters that keep groups together.
        **fit_params
            Passed on to the estimator's ``fit``; arrays with a value for each document are cut into folds.
            ``sample_weight`` also weighs the scores, where the scorer takes it.

        Returns
        -------
        self
        """
        deadline = self._check_settings(y) + time.monotonic()
        X, y = indexable(X, y)
        if y is not None and is_classifier(self.estimator) and not callable(self.scoring):
            assert_all_finite(np.asarray(y), input_name="y")
            type_of_target(y, raise_unknown=True)  # metrics would say so of every point
        space = self._space()
        fit_params = split_params(fit_params, n_samples(X))
        run = self._begin(X, y, groups)
        folds = self._folds(run, X, y, fit_params)
        try:
            self._search(run, space, folds, deadline)
        except KeyboardInterrupt:
            if not run.trials:
                raise
            warnings.warn(
                f"interrupted after {len(run.trials)} of {self.n_iterations * self.n_points} points; the best so "
                "far is kept. fit with warm_start=True goes on.",
                stacklevel=2,
            )
        self._conclude(run, X, y, fit_params)
        return self

    # Before the search

    def _check_settings(self, y: Targets) -> float:
        """The seconds there are."""
        for name in ("n_iterations", "n_points"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
                raise ValueError(f"{name} must be a positive integer, got {value!r}.")
        if not (self.scoring is None or isinstance(self.scoring, str) or callable(self.scoring)):
            raise ValueError(f"scoring must be one metric: a name, a function or None, got {self.scoring!r}.")
        if self.error_score != "raise" and not isinstance(self.error_score, (int, float, np.number)):
            raise ValueError(f"error_score must be 'raise' or a number, got {self.error_score!r}.")
        if self._loo:
            if not has_leave_one_out(self.estimator):
                kind = type(self.estimator).__name__
                raise ValueError(f"cv='loo' needs a model with leave_one_out_log_proba; {kind} has none: give folds.")
            if y is None:
                raise ValueError("cv='loo' requires y to be passed, but the target y is None.")
        elif isinstance(self.cv, str):
            raise ValueError(f"cv must be a number of folds, a splitter, an iterable or 'loo', got {self.cv!r}.")
        if self.time_budget is None:
            return float("inf")
        if isinstance(self.time_budget, bool) or not self.time_budget > 0:
            raise ValueError(f"time_budget must be a positive number of seconds or None, got {self.time_budget!r}.")
        return float(self.time_budget)

    @property
    def _loo(self) -> bool:
        return isinstance(self.cv, str) and self.cv == "loo"

    def _space(self) -> Space:
        own = self.estimator.get_params()
        space = Space(self.param_space, own)
        unknown = [name for name in space.scales if name not in own]
        if unknown:
            kind = type(self.estimator).__name__
            raise ValueError(f"param_space names {unknown[0]!r}, but {kind} has only {', '.join(sorted(own))}.")
        return space

    def _begin(self, X: Samples, y: Targets, groups: object) -> Run:
        """A new run, or the last one to go on with."""
        search = repr((self.param_space, self.n_points, self.start, self.scoring, self.cv, n_samples(X)))
        if self.warm_start and hasattr(self, "_run"):
            if self._run.search != search:
                raise ValueError(
                    "warm_start goes on with the same param_space, n_points, start, scoring, cv and data; "
                    "set warm_start=False to begin anew."
                )
            return self._run
        splits: list[tuple[object, object]] = [(None, None)]
        if not self._loo:
            splits = list(check_cv(self.cv, y, classifier=is_classifier(self.estimator)).split(X, y, groups))
        if not splits:
            raise ValueError("cv gives no folds.")
        self._run = Run(search, check_random_state(self.random_state).randint(2**31), splits)
        return self._run

    def _folds(self, run: Run, X: Samples, y: Targets, fit_params: Params) -> list[Fold]:
        self.n_splits_ = len(run.splits)
        score: Callable[..., float]
        if self._loo:
            metric = posterior_metric(self.scoring)
            self.scorer_ = PosteriorScorer(metric) if callable(self.scoring) else get_scorer(self.scoring or "accuracy")
            score = LeaveOneOutScore(metric)
        else:
            self.scorer_ = check_scoring(self.estimator, self.scoring)
            score = FoldScore(self.scorer_)
        estimator = clone(self.estimator)
        return [Fold(estimator, X, y, train, test, fit_params, score) for train, test in run.splits]

    def _start_points(self, space: Space) -> Float64:
        given = [{}] if self.start is None else [self.start] if isinstance(self.start, Mapping) else list(self.start)
        own = self.estimator.get_params()
        points = []
        for params in given:
            unknown = params.keys() - space.scales.keys()
            if unknown:
                raise ValueError(f"start names {min(unknown)!r}, which param_space does not.")
            point = space.point({**own, **params})
            outside = [name for name, u in zip(space.scales, point, strict=True) if name in params and np.isnan(u)]
            if outside:
                name = outside[0]
                raise ValueError(f"start has {name}={params[name]!r}, outside {space.scales[name]!r}.")
            points.append(np.where(np.isnan(point), 0.5, point))
        return np.array(points).reshape(-1, len(space.scales))

    # The search

    def _search(self, run: Run, space: Space, folds: list[Fold], deadline: float) -> None:
        start = self._start_points(space)
        fits = SharedFits(self.estimator, space, folds, whole=callable(self.scoring) and not self._loo)
        # Shared models are not to be copied into processes, and their kernels run without the GIL.
        parallel = Parallel(n_jobs=self.n_jobs, prefer="threads" if fits.late else None, return_as="generator")
        n_points = self.n_iterations * self.n_points
        with parallel, progress_line("searching", n_points, shown=bool(self.verbose)) as progress:
            progress.update(advance=len(run.trials))  # those of a run that is continued

            def show(run: Run) -> None:
                progress.update(f"best score {run.best_score():.4g}", advance=1)

            for t in range(self.n_iterations):
                points = run.propose(t, space, self.n_points, self.n_iterations, start)
                waiting = points[run.n_done(t) :]
                if not self._evaluate(run, t, waiting, space, fits, parallel, deadline, show):
                    return
                run.check_any_success()
                if not len(points):
                    return  # the space has no others

    def _evaluate(
        self,
        run: Run,
        t: int,
        points: Float64,
        space: Space,
        fits: SharedFits,
        parallel: Any,
        deadline: float,
        show: Callable[[Run], None],
    ) -> bool:
        """Evaluate points of iteration t; False if there was not enough time."""
        if not len(points):
            return True
        if run.trials and time.monotonic() >= deadline:
            return False
        candidates = [space.params(point) for point in points]
        fits.prepare(candidates, parallel)
        n_done, outcomes = 0, []
        for outcome in parallel(self._tasks(candidates, fits, deadline, begun=bool(run.trials))):
            outcomes.append(outcome)
            if len(outcomes) == len(run.splits):
                score = sum(outcome.test_scores for outcome in outcomes) / len(outcomes)
                run.trials.append(Trial(t, points[n_done], candidates[n_done], outcomes, score))
                n_done, outcomes = n_done + 1, []
                show(run)
        return n_done == len(points)

    def _tasks(self, candidates: list[Params], fits: SharedFits, deadline: float, begun: bool) -> Iterator[object]:
        """What is to be evaluated, asked for when a worker is free: nothing more once time is up."""
        for params in candidates:
            if begun and time.monotonic() >= deadline:
                return
            begun = True
            for fold, fitted in fits.for_params(params):
                yield delayed(evaluate)(fold, fitted, params, self.error_score)

    # After the search

    def _conclude(self, run: Run, X: Samples, y: Targets, fit_params: Params) -> None:
        run.warn_of_failures(self.error_score)
        self.n_iterations_ = run.trials[-1].iteration + 1
        self.cv_results_ = results = results_table(run.trials)
        self.best_index_ = best_index(results, self.refit)
        self.best_score_ = float(results["mean_test_score"][self.best_index_])
        self.best_params_ = results["params"][self.best_index_]
        if not self.refit:
            return
        best = clone(self.estimator).set_params(**clone(self.best_params_, safe=False))
        begin = time.perf_counter()
        self.best_estimator_ = fit_estimator(best, X, y, fit_params)
        self.refit_time_ = time.perf_counter() - begin
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_
