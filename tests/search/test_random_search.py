"""GaussianRandomSearchCV: it finds optima, repeats itself exactly, and does not fit more often than it must."""

from __future__ import annotations

import math
import pickle
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, LeaveOneOut, RandomizedSearchCV, cross_val_predict
from sklearn.naive_bayes import MultinomialNB as SklearnNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import LinearSVC

from genus import GaussianRandomSearchCV, MultinomialNB, TextClassifier, Vectorizer
from genus.search.evaluation import Outcome, Trial
from genus.search.random_search import Choice, Integer, Linear, Log, Logit, Share
from genus.search.results import results_table
from genus.search.space import Space

pytestmark = pytest.mark.kernel

ALPHA = {"alpha": Log(1e-3, 10)}
TEXTS = [
    "my card was charged twice", "refund the wrong charge please", "the invoice shows a double charge",
    "the printer is out of paper", "printer jams on every page", "paper stuck in the printer again",
    "cannot log in to my account", "password reset does not arrive", "my account is locked",
]  # fmt: skip
LABELS = ["billing"] * 3 + ["printer"] * 3 + ["login"] * 3


def corpus(n: int = 80, n_words: int = 25, n_classes: int = 4) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n)
    X = rng.poisson(rng.random((n_classes, n_words))[y] * 0.7)
    return sparse.csr_array(X), np.array([f"class {c}" for c in y])


def search(estimator: Any = None, space: Any = None, **options: Any) -> GaussianRandomSearchCV:
    options = {"n_iterations": 4, "n_points": 5, "cv": 3, "random_state": 0, **options}
    return GaussianRandomSearchCV(estimator or MultinomialNB(), space or ALPHA, **options)


def results(fitted: GaussianRandomSearchCV) -> pd.DataFrame:
    frame = pd.DataFrame(fitted.cv_results_)
    return frame[[name for name in frame if "time" not in name]]


def assert_same_search(a: GaussianRandomSearchCV, b: GaussianRandomSearchCV) -> None:
    pd.testing.assert_frame_equal(results(a), results(b), check_exact=True)
    assert a.best_params_ == b.best_params_


class Surface(ClassifierMixin, BaseEstimator):
    """Scores as a function of its parameters says."""

    calls = 0

    def __init__(self, function: Any = None, a: float = 0.5, b: float = 0.5, c: Any = None) -> None:
        self.function, self.a, self.b, self.c = function, a, b, c

    def fit(self, X: Any, y: Any) -> Surface:
        self.classes_ = np.unique(y)
        return self

    def score(self, X: Any, y: Any) -> float:
        Surface.calls += 1
        return float(self.function(self.a, self.b, self.c))


class Refitted(MultinomialNB):
    """The same model, without a word on which parameters need no fitting."""

    def _prediction_parameters(self) -> set[str]:
        return set()


def on_surface(function: Callable[..., float], space: Any, **options: Any) -> GaussianRandomSearchCV:
    options = {"cv": [([0, 1], [0, 1])], "refit": False, "random_state": 0, **options}
    return GaussianRandomSearchCV(Surface(function), space, **options).fit([[0], [1]], [0, 1])


def logit(p: float) -> float:
    return math.log(p / (1 - p))


# Scales

bounds = st.tuples(st.floats(1e-6, 0.4), st.floats(0.5, 1 - 1e-6))
numeric = st.one_of(
    bounds.map(lambda b: Linear(*b)),
    bounds.map(lambda b: Log(*b)),
    bounds.map(lambda b: Logit(*b)),
    st.tuples(st.integers(1, 9), st.integers(10, 99), st.booleans()).map(lambda b: Integer(*b)),
)


@given(numeric, st.floats(0, 1))
def test_scales_stay_in_bounds_and_round_trip(scale: Any, u: float) -> None:
    value = scale.value(u)
    assert scale.low <= value <= scale.high
    assert scale.value(scale.unit(value)) == pytest.approx(value, rel=1e-9)
    assert scale.unit(scale.low - 1) is None
    assert scale.unit("x") is None


@given(numeric, st.floats(0, 1), st.floats(0, 1), st.integers(0, 99))
def test_scales_grow_and_steps_stay_inside(scale: Any, u: float, v: float, seed: int) -> None:
    assert (scale.value(min(u, v)) <= scale.value(max(u, v))) is True
    assert 0 <= scale.step(u, 2 * v, np.random.default_rng(seed)) <= 1


def test_every_integer_and_every_choice_can_be_reached() -> None:
    units = np.linspace(0, 1, 2001)
    assert {Integer(-2, 3).value(u) for u in units} == set(range(-2, 4))
    assert {Integer(1, 30, log=True).value(u) for u in units} == set(range(1, 31))
    assert {Choice(["a", (1, 2), None]).value(u) for u in units} == {"a", (1, 2), None}
    assert [Choice(["a", (1, 2), None]).unit(x) for x in ("a", None, "b")] == [1 / 6, 5 / 6, None]


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_share_and_its_other_never_exceed_one(u: float, v: float) -> None:
    space = Space({"a1": Share(of="a2"), "a2": Logit(1e-6, 1 - 1e-6)})
    params = space.params(np.array([u, v]))
    assert params["a1"] >= 0
    assert params["a1"] + params["a2"] <= 1
    np.testing.assert_allclose(space.point(params), [u, v], atol=1e-6)


def test_a_share_of_a_fixed_parameter_takes_its_value() -> None:
    found = on_surface(lambda a, b, c: a, {"a": Share(of="b", low=0.2)}, n_iterations=3, n_points=4)
    assert all(0.1 <= a <= 0.5 for a in found.cv_results_["param_a"])


@pytest.mark.parametrize(
    "make",
    [
        lambda: Linear(2, 1), lambda: Linear(0, math.inf), lambda: Linear("a", "b"), lambda: Log(0, 1),
        lambda: Log(1, 1), lambda: Logit(0, 0.5), lambda: Logit(0.5, 1), lambda: Integer(3, 3),
        lambda: Integer(0.5, 3), lambda: Integer(0, 3, log=True), lambda: Choice([]), lambda: Choice("abc"),
        lambda: Share(of="a", low=-1), lambda: Share(of="a", low=0.5, high=0.5),
    ],
)  # fmt: skip
def test_scales_without_sense_are_refused(make: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match="got "):
        make()


# Finding


@pytest.mark.parametrize("optimum", [4e-4, 0.03, 0.92])
def test_optima_near_the_edge_of_a_logit_scale_are_found(optimum: float) -> None:
    space = {"a": Share(of="b"), "b": Logit(1e-4, 1 - 1e-4)}

    def surface(a: float, b: float, c: Any) -> float:
        assert a + b <= 1
        return -((logit(b) - logit(optimum)) ** 2) - (a / (1 - b) - 0.7) ** 2

    for seed in range(3):
        best = on_surface(surface, space, random_state=seed).best_params_
        assert logit(best["b"]) == pytest.approx(logit(optimum), abs=0.05)
        assert best["a"] / (1 - best["b"]) == pytest.approx(0.7, abs=0.05)


def test_it_beats_random_points_at_equal_budget() -> None:
    def surface(a: float, b: float, c: Any) -> float:
        return -((a - 0.9) ** 2) - (b - 0.2) ** 2 - (c != "right")

    space = {"a": Linear(0, 1), "b": Linear(0, 1), "c": Choice(["wrong", "right", "left"])}
    wins = 0
    for seed in range(10):
        ours = on_surface(surface, space, n_iterations=10, n_points=10, random_state=seed).best_score_
        rng = np.random.default_rng(seed)
        theirs = max(surface(*rng.random(2), rng.choice(["wrong", "right", "left"])) for _ in range(100))
        wins += ours > theirs
    assert wins >= 9


def test_the_start_comes_first_and_defaults_to_the_estimators_own_values() -> None:
    X, y = corpus()
    assert search(MultinomialNB(alpha=0.7)).fit(X, y).cv_results_["param_alpha"][0] == pytest.approx(0.7)
    starts = [{"alpha": 0.2}, {"alpha": 3.0}]
    np.testing.assert_allclose(search(start=starts).fit(X, y).cv_results_["param_alpha"][:2], [0.2, 3.0])


def test_no_point_is_evaluated_twice_and_small_spaces_end() -> None:
    before = Surface.calls
    found = on_surface(lambda a, b, c: a + b, {"a": Integer(0, 3), "b": Choice([1, 2])})
    assert found.best_params_ == {"a": 3, "b": 2}
    assert Surface.calls - before == len(found.cv_results_["params"]) <= 8


# Repeating


@pytest.mark.parametrize("estimator", [MultinomialNB(), SklearnNB()])
def test_the_points_do_not_depend_on_the_number_of_workers(estimator: Any) -> None:
    X, y = corpus()
    assert_same_search(search(estimator, n_jobs=1).fit(X, y), search(estimator, n_jobs=2).fit(X, y))


def test_seeds_make_the_search() -> None:
    X, y = corpus()
    assert_same_search(search().fit(X, y), search().fit(X, y))
    first, other = (search(random_state=seed).fit(X, y).cv_results_["param_alpha"] for seed in (0, 1))
    assert (first[1:] != other[1:]).all()


class Interrupted(Refitted):
    """Ctrl-C comes while the n-th fit is under way."""

    left = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Interrupted:
        Interrupted.left -= 1
        if Interrupted.left == 0:
            raise KeyboardInterrupt
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("n_fits", [4, 17, 30, 59])
def test_a_resumed_search_equals_an_uninterrupted_one(n_fits: int) -> None:
    X, y = corpus()
    folds = KFold(3, shuffle=True, random_state=np.random.RandomState(3))  # other folds at every call
    Interrupted.left = 0
    whole = search(Interrupted(), cv=KFold(3, shuffle=True, random_state=np.random.RandomState(3))).fit(X, y)
    stopped = search(Interrupted(), cv=folds, warm_start=True)
    Interrupted.left = n_fits
    with pytest.warns(UserWarning, match="interrupted after"):
        stopped.fit(X, y)
    n_kept = (n_fits - 1) // 3
    assert len(stopped.cv_results_["params"]) == n_kept
    assert stopped.predict(X).shape == y.shape  # refitted with the best so far
    assert_same_search(stopped.fit(X, y), whole)


def test_an_interrupt_before_anything_is_known_goes_through() -> None:
    Interrupted.left = 1
    with pytest.raises(KeyboardInterrupt):
        search(Interrupted()).fit(*corpus())


def test_a_finished_search_can_be_prolonged_but_not_changed() -> None:
    X, y = corpus()
    prolonged = search(warm_start=True).fit(X, y)
    n = len(results(prolonged))
    first = results(prolonged)["mean_test_score"]
    prolonged.set_params(n_iterations=6).fit(X, y)
    assert len(results(prolonged)) == n + 10
    pd.testing.assert_series_equal(results(prolonged)["mean_test_score"][:n], first)
    with pytest.raises(ValueError, match="warm_start goes on with the same"):
        prolonged.set_params(n_points=7).fit(X, y)
    with pytest.raises(ValueError, match="warm_start goes on with the same"):
        prolonged.set_params(n_points=5).fit(X[:-1], y[:-1])


def test_a_time_budget_cuts_the_same_search_short() -> None:
    def slow(a: float, b: float, c: Any) -> float:
        time.sleep(0.02)
        return -abs(a - 0.3)

    space = {"a": Linear(0, 1)}
    cut = on_surface(slow, space, time_budget=0.2)
    n = len(cut.cv_results_["params"])
    assert 1 <= n <= 11
    whole = on_surface(lambda a, b, c: -abs(a - 0.3), space)
    assert cut.cv_results_["params"] == whole.cv_results_["params"][:n]
    assert len(on_surface(slow, space, time_budget=1e-9).cv_results_["params"]) == 1


# Without fitting again


@pytest.mark.parametrize("cv", [4, "loo"])
@pytest.mark.parametrize("scoring", [None, "neg_log_loss", "f1_macro"])
def test_scores_are_the_same_without_fitting_again(cv: Any, scoring: Any) -> None:
    X, y = corpus()
    space = {"alpha": Log(1e-3, 10), "prior_scale": Linear(0, 2), "document_weights": Choice(["length", "equal"])}
    shared, refitted = (search(m, space, cv=cv, scoring=scoring).fit(X, y) for m in (MultinomialNB(), Refitted()))
    assert_same_search(shared, refitted)
    np.testing.assert_array_equal(shared.predict_log_proba(X), refitted.predict_log_proba(X))


class Counted(MultinomialNB):
    fits = 0

    def _fit_rows(self, *args: Any, **options: Any) -> Counted:
        Counted.fits += 1
        return super()._fit_rows(*args, **options)


@pytest.mark.parametrize(
    ("space", "cv", "n_fits"),
    [
        (ALPHA, 3, 3),
        (ALPHA, "loo", 1),
        ({**ALPHA, "document_weights": Choice(["length", "equal"])}, 3, 6),
    ],
)
def test_a_fold_is_fitted_once(space: Any, cv: Any, n_fits: int) -> None:
    Counted.fits = 0
    search(Counted(), space, cv=cv, n_points=8, refit=False).fit(*corpus())
    assert Counted.fits == n_fits


@pytest.mark.parametrize("scoring", [None, lambda est, X, y: est.score(X, y)])
@pytest.mark.parametrize("cv", [3, "loo"])
@pytest.mark.parametrize("chain", ["classifier", "weighted", "pipeline"])
def test_texts_are_counted_once_and_the_scores_are_the_same(chain: str, cv: Any, scoring: Any) -> None:
    if cv == "loo" and scoring:
        scoring = lambda y, log_proba, classes: float((classes[log_proba.argmax(1)] == y).mean())  # noqa: E731

    def make(model: Any) -> tuple[Any, str]:
        if chain != "pipeline":
            return TextClassifier(model, weighting="tfidf" if chain == "weighted" else None), "model"
        return make_pipeline(Vectorizer(), model), type(model).__name__.lower()

    found = []
    for model in (MultinomialNB(), Refitted()):
        estimator, step = make(model)
        space = {f"{step}__alpha": Log(1e-2, 10), f"{step}__prior_scale": Linear(0, 1)}
        found.append(search(estimator, space, cv=cv, scoring=scoring).fit(TEXTS, LABELS))
    np.testing.assert_array_equal(*(f.cv_results_["mean_test_score"] for f in found))
    np.testing.assert_array_equal(*(f.predict_proba(TEXTS) for f in found))


def test_the_steps_before_a_model_are_searched_too() -> None:
    space = {
        "model__alpha": Log(1e-2, 10),
        "vectorizer__ngram_range": Choice([(1, 1), (1, 2)]),
        "model__document_weights": Choice(["length", "equal"]),
    }
    found = search(TextClassifier(MultinomialNB(), vectorizer=Vectorizer()), space, cv="loo").fit(TEXTS, LABELS)
    assert {params["vectorizer__ngram_range"] for params in found.cv_results_["params"]} == {(1, 1), (1, 2)}
    assert found.best_estimator_.vectorizer_.ngram_range == found.best_params_["vectorizer__ngram_range"]
    assert found.best_estimator_.model_.alpha == found.best_params_["model__alpha"]


def test_a_bad_value_harms_no_other_point() -> None:
    X, y = corpus()
    space = {"alpha": Log(1e-3, 10), "prior_scale": Choice([-1.0, 1.0])}
    with pytest.warns(FitFailedWarning, match="prior_scale must be"):
        found = search(MultinomialNB(prior_scale=-1.0), space, error_score=0.0).fit(X, y)
    failed = found.cv_results_["param_prior_scale"] == -1
    assert failed.any()
    assert (found.cv_results_["mean_test_score"][failed] == 0).all()
    assert (found.cv_results_["mean_test_score"][~failed] > 0).all()
    assert found.best_params_["prior_scale"] == 1


# Leave-one-out


@pytest.mark.parametrize(
    "scoring", ["accuracy", "balanced_accuracy", "f1_macro", "f1_micro", "f1_weighted", "neg_log_loss"]
)
def test_leave_one_out_equals_fitting_without_each_document(scoring: str) -> None:
    X, y = corpus(40)
    found = search(cv="loo", scoring=scoring).fit(X, y)
    for params, score in zip(found.cv_results_["params"][:5], found.cv_results_["mean_test_score"], strict=False):
        proba = cross_val_predict(MultinomialNB(**params), X, y, cv=LeaveOneOut(), method="predict_proba")
        told = _Told(np.unique(y), proba)
        assert score == pytest.approx(get_scorer(scoring)(told, X, y), rel=1e-9)


class _Told(ClassifierMixin, BaseEstimator):
    """Answers what it was told, for the sake of scorers."""

    def __init__(self, classes: Any, proba: Any) -> None:
        self.classes_, self.proba = classes, proba

    def predict_proba(self, X: Any) -> Any:
        return self.proba

    def predict(self, X: Any) -> Any:
        return self.classes_[self.proba.argmax(axis=1)]


def likelihood(y: Any, log_proba: Any, classes: Any) -> float:
    return float(log_proba[np.arange(len(y)), np.searchsorted(classes, y)].mean())


def test_leave_one_out_takes_functions_of_the_posterior() -> None:
    X, y = corpus()
    found = search(cv="loo", scoring=likelihood).fit(X, y)
    assert found.best_score_ == pytest.approx(search(cv="loo", scoring="neg_log_loss").fit(X, y).best_score_)
    expected = likelihood(y, found.predict_log_proba(X), found.classes_)
    assert found.score(X, y) == expected
    assert pickle.loads(pickle.dumps(found)).score(X, y) == expected  # noqa: S301


def test_leave_one_out_ignores_documents_without_weight() -> None:
    X, y = corpus()
    weights = np.where(np.arange(len(y)) % 3, 1.0, 0.0)
    kept = weights > 0
    a = search(cv="loo", scoring="neg_log_loss").fit(X, y, sample_weight=weights)
    b = search(cv="loo", scoring="neg_log_loss").fit(X[kept], y[kept])
    np.testing.assert_allclose(a.cv_results_["mean_test_score"], b.cv_results_["mean_test_score"])


def test_text_classifiers_leave_texts_out_exactly() -> None:
    words = Vectorizer().fit(TEXTS).get_feature_names_out().tolist()
    clf = TextClassifier("nb", vectorizer=Vectorizer(vocabulary=words))  # words keep their columns when left out
    log_proba = clf.fit(TEXTS, LABELS).leave_one_out_log_proba(TEXTS, LABELS)
    for i in range(len(TEXTS)):
        without = clone(clf).fit(TEXTS, LABELS).unlearn([TEXTS[i]], [LABELS[i]])
        np.testing.assert_allclose(log_proba[i], without.predict_log_proba([TEXTS[i]])[0])


# As scikit-learn has it


def test_other_estimators_and_their_columns() -> None:
    X, y = corpus()
    found = search(LinearSVC(), {"C": Log(0.01, 10)}).fit(X, y)
    peer = RandomizedSearchCV(LinearSVC(), {"C": [0.1, 1]}, cv=3, n_iter=2).fit(X, y)
    assert set(found.cv_results_) == set(peer.cv_results_) | {"iter"}
    assert found.decision_function(X).shape == (80, 4)
    assert found.score(X, y) == found.best_estimator_.score(X, y)
    assert not hasattr(found, "predict_proba")
    assert found.best_score_ == found.cv_results_["mean_test_score"].max()
    assert found.cv_results_["params"][found.best_index_] == found.best_params_


def test_the_table_is_that_of_scikit_learn() -> None:
    X, y = corpus()
    space = {"alpha": Choice([0.1, 1, 10.0]), "fit_prior": Choice([True, False])}
    found = search(SklearnNB(), space).fit(X, y).cv_results_
    grid = {"alpha": [0.1, 1, 10.0], "fit_prior": [True, False]}
    peer = GridSearchCV(SklearnNB(), grid, cv=3).fit(X, y).cv_results_
    assert len(found["params"]) == len(peer["params"])
    order = [found["params"].index(params) for params in peer["params"]]
    for name in peer:
        if name != "params" and "time" not in name:
            assert type(found[name]) is type(peer[name])
            assert found[name].dtype == peer[name].dtype
            np.testing.assert_array_equal(found[name][order], peer[name])


@pytest.mark.parametrize(
    ("scores", "ranks"),
    [
        ([0.5, 0.9, 0.5, 0.1], [2, 1, 2, 4]),
        ([0.5, math.nan, -math.inf], [1, 2, 2]),
        ([math.nan, math.nan], [1, 1]),
    ],
)
def test_equal_scores_have_equal_ranks_and_missing_ones_the_last(scores: list[float], ranks: list[int]) -> None:
    outcomes = [[Outcome(score, 0.0, 0.0, None)] for score in scores]
    trials = [Trial(0, np.zeros(1), {"a": (1, 2)}, outcome, outcome[0].test_scores) for outcome in outcomes]
    warned = pytest.warns(UserWarning, match="non-finite") if not np.isfinite(scores).all() else nullcontext()
    with warned:
        table = results_table(trials)
    assert table["rank_test_score"].tolist() == ranks
    assert table["param_a"].tolist() == [(1, 2)] * len(scores)  # not an array of two columns


def test_weights_go_to_the_scorers_that_take_them() -> None:
    X, y = corpus()
    weights = np.where(np.arange(len(y)) % 3, 1.0, 0.0)
    plain, weighted = (
        search(scoring=scoring, refit=False).fit(X, y, sample_weight=weights).cv_results_["mean_test_score"]
        for scoring in (
            lambda est, X, y: est.score(X, y),
            lambda est, X, y, sample_weight: est.score(X, y, sample_weight),
        )
    )
    assert (plain != weighted).any()
    for scoring in (None, "accuracy"):
        found = search(scoring=scoring, refit=False).fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(found.cv_results_["mean_test_score"], weighted)
    found = search(scoring="rand_score", refit=False).fit(X, y, sample_weight=weights)  # a metric without weights
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()

    def faulty(est: Any, X: Any, y: Any, sample_weight: Any) -> float:
        raise TypeError("sample_weight is not to its liking")

    with pytest.raises(TypeError, match="not to its liking"):
        search(scoring=faulty, error_score="raise").fit(X, y, sample_weight=weights)


def test_parameters_of_fit_are_routed_through_a_pipeline() -> None:
    X, y = corpus()
    weights, groups = np.linspace(0, 1, len(y)), np.arange(len(y)) // 8
    with config_context(enable_metadata_routing=True):
        inner = search(SklearnNB().set_fit_request(sample_weight=True), cv=GroupKFold(4))
        pipe = Pipeline([("search", inner)]).fit(X, y, sample_weight=weights, groups=groups)
    direct = search(SklearnNB(), cv=GroupKFold(4)).fit(X, y, sample_weight=weights, groups=groups)
    assert_same_search(pipe["search"], direct)


def test_without_refitting_there_is_nothing_to_predict_with() -> None:
    found = search(refit=False).fit(*corpus())
    for name in ("predict", "predict_proba", "classes_", "n_features_in_", "transform"):
        assert not hasattr(found, name)
    with pytest.raises(AttributeError, match=r"score needs a fitted estimator.*refit=False"):
        found.score(*corpus())
    with pytest.raises(TypeError, match="refit must return the index of a point, got 'best'"):
        search(refit=lambda results: "best").fit(*corpus())
    with pytest.raises(IndexError, match="refit must return an index below 20, got 20"):
        search(refit=lambda results: 20).fit(*corpus())


def test_groups_stay_together() -> None:
    X, y = corpus()
    groups = np.arange(len(y)) // 8
    found = search(cv=GroupKFold(4)).fit(X, y, groups=groups)
    assert found.n_splits_ == 4
    for train, test in found._run.splits:
        assert not set(groups[train]) & set(groups[test])


def test_it_works_in_a_pipeline_and_clones() -> None:
    pipe = make_pipeline(CountVectorizer(), search()).fit(TEXTS, LABELS)
    assert pipe.predict(["the printer"]).tolist() == ["printer"]
    copied = clone(search(n_points=7, space={"alpha": Choice([1.0, 2.0])}))
    assert copied.get_params()["n_points"] == 7
    assert copied.get_params()["param_space"] == {"alpha": Choice([1.0, 2.0])}
    with pytest.raises(NotFittedError):
        copied.predict(corpus()[0])
    unrefitted = search(refit=False).fit(*corpus())
    assert not hasattr(unrefitted, "best_estimator_")
    assert search(refit=lambda results: 3).fit(*corpus()).best_index_ == 3


def test_failures_are_told_as_scikit_learn_does() -> None:
    X, y = corpus()
    space = {"alpha": Linear(-1, 1)}
    with pytest.warns() as record:
        found = search(space=space, start={"alpha": 0.5}).fit(X, y)
    assert {w.category for w in record} == {FitFailedWarning, UserWarning}  # the second: scores that are nan
    assert found.best_params_["alpha"] > 0
    with pytest.raises(ValueError, match="alpha must be a positive number"):
        search(space=space, error_score="raise").fit(X, y)
    with pytest.raises(ValueError, match=r"all .* evaluations failed(.|\n)*alpha must be"):
        search(space={"alpha": Linear(-2, -1)}).fit(X, y)


def test_nothing_is_shown_where_there_is_no_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    search(verbose=1).fit(*corpus())
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"space": {"beta": Log(1, 2)}}, "param_space names 'beta', but MultinomialNB has only alpha"),
        ({"space": {"alpha": [1, 2]}}, "must be a scale"),
        ({"n_points": 0}, "n_points must be a positive integer, got 0"),
        ({"n_iterations": 2.5}, "n_iterations must be a positive integer, got 2.5"),
        ({"time_budget": -1}, "time_budget must be a positive number"),
        ({"cv": "five"}, "cv must be .*, got 'five'"),
        ({"cv": []}, "cv gives no folds"),
        ({"cv": "loo", "estimator": SklearnNB()}, "cv='loo' needs a model with leave_one_out_log_proba; MultinomialNB"),
        ({"cv": "loo", "scoring": "roc_auc"}, "scoring must be one of accuracy, .*, got 'roc_auc'"),
        ({"scoring": ["accuracy"]}, "scoring must be one metric"),
        ({"error_score": "nan"}, "error_score must be 'raise' or a number"),
        ({"start": {"beta": 1}}, "start names 'beta', which param_space does not"),
        ({"start": {"alpha": 11}}, "start has alpha=11, outside Log"),
        ({"space": {"alpha": Share(of="prior_scales")}}, "'alpha' is a share of 'prior_scales', which must be"),
        ({"space": {"alpha": Share(of="prior_scale"), "prior_scale": Linear(0, 2)}}, "must be a number from 0 to 1"),
    ],
)
def test_what_cannot_be_meant_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        search(**options).fit(*corpus())


def test_an_empty_space_is_refused() -> None:
    with pytest.raises(ValueError, match="param_space must name at least one parameter"):
        GaussianRandomSearchCV(MultinomialNB(), {}).fit(*corpus())


# Real documents


@pytest.mark.data
def test_smoothing_is_found_within_seconds_on_real_documents(load: Callable[..., Any]) -> None:
    train, test = load("webkb-stemmed", "train"), load("webkb-stemmed", "test")
    vectorizer = Vectorizer()
    X, X_test = vectorizer.fit_transform(train.texts), vectorizer.transform(test.texts)
    begin = time.perf_counter()
    found = search(cv="loo", n_iterations=10, n_points=10).fit(X, train.labels)
    assert time.perf_counter() - begin < 20  # about one second
    plain = MultinomialNB().fit(X, train.labels)
    assert found.score(X_test, test.labels) > plain.score(X_test, test.labels) - 0.01
    assert found.best_score_ > found.cv_results_["mean_test_score"].min()
