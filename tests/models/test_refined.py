"""Refined naive Bayes against its definition, against a support vector machine, and against its own promises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.svm import LinearSVC

from genus import _core
from genus.base.rows import to_rows
from genus.io.model_file import load, save
from genus.models.naive_bayes import MultinomialNB
from genus.models.refined.model import RefinedNB
from genus.models.refined.solver import HingeProblem, likeliest_temperature
from helpers.corpora import assert_same_model, corpus
from reference import refined as reference
from reference.naive_bayes import normalize

pytestmark = pytest.mark.kernel

options = st.sampled_from(
    [
        {"cost": 1.0, "base_weight": 0.0},
        {"cost": 1.0, "base_weight": 0.25},
        {"cost": 0.1, "base_weight": 1.0, "background_smoothing": 0.9},
        {"cost": 5.0, "base_weight": 0.5, "background_smoothing": 0.01},
        {"cost": 1.0, "base_weight": 0.25, "focus": 1.0},
        {"cost": 0.3, "base_weight": 0.0, "focus": 0.5},
    ]
)
values = st.sampled_from([0.0, 0.0, 0.25, 0.5, 1.0])


@st.composite
def collections(draw):
    n, n_words = draw(st.integers(2, 9)), draw(st.integers(1, 6))
    X = np.array(draw(st.lists(st.lists(values, min_size=n_words, max_size=n_words), min_size=n, max_size=n)))
    y = draw(st.lists(st.sampled_from(["a", "bb", "ccc", "d"]), min_size=n, max_size=n))
    weights = draw(st.none() | st.lists(st.sampled_from([0.0, 1.0, 0.25, 2.0]), min_size=n, max_size=n).filter(any))
    return X, y, weights


def unit_rows(X):
    X = sparse.csr_array(X, dtype=np.float64)
    norms = np.sqrt(X.multiply(X).sum(axis=1))
    return X.multiply(1 / np.maximum(norms, 1e-9)[:, None]).tocsr()


# Against the definition


def test_focus_is_on_words_that_tell_classes_apart():
    X = np.array([[3, 0, 1], [2, 0, 1], [0, 2, 1], [0, 3, 1]])
    factors = RefinedNB(focus=1.0).fit(X, ["a", "a", "b", "b"])._parameters.factors
    assert factors[0] == pytest.approx(factors[1])
    assert factors[2] < 0.2 * factors[0]
    assert not len(RefinedNB().fit(X, ["a", "a", "b", "b"])._parameters.factors)


@given(collections(), options)
@settings(deadline=None, max_examples=100)
def test_scores_are_the_definitions(collection, settings_):
    X, y, weights = collection
    clf = RefinedNB(tolerance=1e-10, **settings_).fit(X, y, weights)
    expected = normalize(reference.scores(X, y, X, sample_weight=weights, **settings_))
    np.testing.assert_allclose(clf.predict_log_proba(X), expected, rtol=1e-4, atol=1e-4)


def test_large_values_are_kept_in_double_precision():
    X, y = corpus(seed=2)
    assert RefinedNB().fit(unit_rows(X), y)._parameters.values.dtype == np.float32
    sure = RefinedNB(base_weight=1e4).fit(unit_rows(X), y)
    assert sure._parameters.values.dtype == np.float64
    expected = normalize(reference.scores(unit_rows(X).toarray(), y, unit_rows(X).toarray(), cost=1.0, base_weight=1e4))
    np.testing.assert_allclose(sure.predict_log_proba(unit_rows(X)), expected, rtol=1e-4, atol=1e-4)


@given(collections(), st.integers(0, 3))
@settings(deadline=None, max_examples=60)
def test_temperature_is_the_likeliest(collection, seed):
    _, y, weights = collection
    codes = np.unique(y, return_inverse=True)[1]
    z = np.random.default_rng(seed).normal(size=(len(y), codes.max() + 2))
    weights = np.ones(len(y)) if weights is None else np.array(weights)
    found = likeliest_temperature(z, codes.astype(np.int32), weights)
    assert np.log(found) == pytest.approx(np.log(reference.temperature(z, codes, weights)), abs=1e-3)


def test_a_temperature_at_its_end_is_not_looked_for_any_longer(monkeypatch):
    """Where no document could be told, as when every class has one, the scores count for nothing."""
    z, codes = np.tile([[5.0, 3.0, 0.0]], (40, 1)), np.full(40, 2, dtype=np.int32)
    sizes = []
    exp = np.exp
    monkeypatch.setattr(np, "exp", lambda x: sizes.append(np.size(x)) or exp(x))
    assert likeliest_temperature(z, codes, np.ones(40)) == pytest.approx(exp(-12))
    assert sum(size > 1 for size in sizes) <= 15


def test_a_temperature_is_found_with_some_of_the_documents_where_classes_are_many(monkeypatch):
    rng = np.random.default_rng(0)
    codes = np.arange(2000, dtype=np.int32) % 1000
    z = rng.normal(size=(2000, 1000))
    z[np.arange(2000), codes] += 3
    some = likeliest_temperature(z, codes, np.ones(2000))
    monkeypatch.setattr("genus.models.refined.solver._ENOUGH_SCORES", 10**9)
    assert some == pytest.approx(likeliest_temperature(z, codes, np.ones(2000)), rel=0.05)


def test_two_classes_without_a_base_are_a_support_vector_machine():
    X, y = corpus(n_classes=2, seed=3)
    X = unit_rows(X)
    ours = RefinedNB(2.0, base_weight=0, tolerance=1e-10).fit(X, y)
    svm = LinearSVC(C=2.0, tol=1e-10, max_iter=100_000, random_state=0).fit(X, y)
    odds = ours.predict_joint_log_proba(X) @ [-1, 1]
    np.testing.assert_allclose(odds, 2 * svm.decision_function(X), rtol=1e-5, atol=1e-6)


def test_more_classes_without_a_base_are_one_machine_each():
    X, y = corpus(n_classes=11, n=150, seed=4)  # more than one block of models
    X = unit_rows(X)
    ours = RefinedNB(0.5, base_weight=0, tolerance=1e-10).fit(X, y)
    svm = LinearSVC(C=0.5, tol=1e-10, max_iter=100_000, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.coef_, 2 * svm.coef_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, 2 * svm.intercept_, rtol=1e-4, atol=1e-5)


def test_words_weigh_what_documents_count_by_their_mistakes():
    X, y = corpus(n_classes=3, seed=5)
    X = unit_rows(X)
    clf = RefinedNB(0.7, base_weight=0, tolerance=1e-10).fit(X, y)
    signs = np.where(y[:, np.newaxis] == clf.classes_, 1, -1)
    losses = np.maximum(0, 1 - signs * clf.predict_joint_log_proba(X) / 2)
    F_minus_G = X.T @ (2 * 0.7 * losses * signs)
    np.testing.assert_allclose(clf.coef_.T / 2, F_minus_G, atol=1e-6)  # documents are read in single precision


def test_without_mistakes_that_count_it_is_naive_bayes():
    X, y = corpus(seed=6)
    clf = RefinedNB(1e-6, base_weight=1.0, background_smoothing=0.5).fit(X, y)
    nb = MultinomialNB(background_smoothing=0.5, prior_scale=0).fit(X, y)
    refined, plain = (m.predict_joint_log_proba(X) for m in (clf, nb))
    refined, plain = (scores - scores.mean(axis=1, keepdims=True) for scores in (refined, plain))
    scale = (refined * plain).sum() / (plain * plain).sum()
    np.testing.assert_allclose(refined, scale * plain, atol=1e-2)


# Promises


@pytest.mark.parametrize("n_classes", [2, 3, 20])
def test_equal_for_any_number_of_threads(n_classes):
    X, y = corpus(n=200, n_classes=n_classes, seed=7)
    models = [RefinedNB(focus=1.0, n_jobs=n).fit(unit_rows(X), y) for n in (1, 2, 7)]
    for other in models[1:]:
        assert_same_model(models[0], other)


@pytest.mark.parametrize("n_classes", [3, 20, 70])
def test_the_best_class_is_that_of_the_exact_scores(n_classes):
    rng = np.random.default_rng(n_classes)
    X = sparse.csr_array(rng.poisson(0.3, (300, 80)).astype(float))
    clf = RefinedNB().fit(X, rng.permutation(np.arange(300) % n_classes))
    exact = clf.classes_[clf.predict_joint_log_proba(X).argmax(axis=1)]
    np.testing.assert_array_equal(clf.predict(X), exact)
    clf._parameters._quantized.make(1)
    for n_jobs in (1, 3):
        np.testing.assert_array_equal(clf.set_params(n_jobs=n_jobs).predict(X), exact)


def test_unlearned_document_leaves_no_trace():
    X, y = corpus(seed=8)
    clf = RefinedNB().fit(X, y).unlearn(X[14:20], y[14:20])
    keep = np.r_[0:14, 20 : len(y)]
    assert_same_model(clf, RefinedNB().fit(X[keep], y[keep]))


def test_merged_halves_are_the_whole():
    X, y = corpus(seed=9)
    halves = [RefinedNB().fit(X[part], y[part]) for part in (slice(0, 25), slice(25, None))]
    assert_same_model(halves[0].merge(halves[1]), RefinedNB().fit(X, y))


def test_learning_in_parts_is_learning_at_once():
    X, y = corpus(seed=10)
    clf = RefinedNB().partial_fit(X[:7, :20], y[:7])
    clf.partial_fit(X[7:], y[7:])
    whole = RefinedNB().fit(sparse.vstack([sparse.csr_array((X[:7, :20].toarray()), shape=(7, 20)).tocsr()]), y[:7])
    whole.partial_fit(X[7:], y[7:])
    assert_same_model(clf, whole)
    assert clf.n_features_in_ == X.shape[1]


@pytest.mark.parametrize("n_classes", [2, 5])
def test_a_path_of_costs_gives_what_each_fit_gives(n_classes):
    X, y = corpus(n=300, n_classes=n_classes, seed=11)
    X = unit_rows(X)
    train, test = slice(0, 200), slice(200, None)
    points = ((1.0, 0.25, 0.0), (0.1, 0.25, 0.0), (1.0, 0.0, 0.0), (1.0, 0.25, 1.0), (0.3, 0.25, 1.0))
    settings_ = [{"cost": c, "base_weight": b, "focus": f} for c, b, f in points]
    model = RefinedNB(background_smoothing=0.3).fit(X[train], y[train])
    found = model._path_scores(to_rows(X[test]), settings_)
    for setting, scores in zip(settings_, found, strict=True):
        clf = RefinedNB(**setting, background_smoothing=0.3, tolerance=1e-6)
        exact = clf.fit(X[train], y[train]).predict_joint_log_proba(X[test])
        exact, scores = (s - s.mean(axis=1, keepdims=True) for s in (exact, scores))
        assert np.abs(exact - scores).max() < 0.2  # a search stops at a twentieth of a margin


@pytest.mark.parametrize("focus", [0.0, 1.0])
def test_a_saved_model_answers_the_same(tmp_path, focus):
    X, y = corpus(seed=12)
    clf = RefinedNB(0.5, focus=focus).fit(X, y)
    save(clf, tmp_path / "model.genus")
    other = load(tmp_path / "model.genus")
    np.testing.assert_array_equal(clf.predict_log_proba(X), other.predict_log_proba(X))
    assert_same_model(other.unlearn(X[40:], y[40:]), RefinedNB(0.5, focus=focus).fit(X[:40], y[:40]))


@given(st.data())
@settings(deadline=None, max_examples=60)
def test_hostile_arrays_do_no_harm(data):
    X, y = corpus(n=20, n_classes=3, seed=13)
    state = RefinedNB(focus=1.0).fit(X, y)._get_state()
    name = data.draw(st.sampled_from(sorted(n for n in state if n != "labels" and not n.startswith("receipt_"))))
    array = state[name].copy()
    if not array.size or array.dtype == bool:
        return
    info = np.iinfo(array.dtype) if array.dtype.kind == "i" else None
    extremes = [info.min, info.max, -1] if info else [np.nan, np.inf, np.finfo(array.dtype).min]
    array[data.draw(st.integers(0, len(array) - 1))] = data.draw(st.sampled_from(extremes))
    clf = RefinedNB(focus=1.0)
    try:
        clf._set_state(state | {name: array})
        assert np.isin(clf.predict(X), state["labels"]).all()
        assert np.isin(clf.partial_fit(X, y).predict(X), state["labels"]).all()
    except (ValueError, OverflowError):
        pass
    assert_same_model(clf.fit(X, y), RefinedNB(focus=1.0).fit(X, y))


def test_state_that_does_not_fit_is_refused():
    X, y = corpus(n=20, seed=14)
    state = RefinedNB().fit(X, y)._get_state()
    for name in state.keys() - {"receipt_documents", "receipt_sum"}:  # which older files lack
        with pytest.raises(ValueError, match="lacks"):
            RefinedNB()._set_state({key: value for key, value in state.items() if key != name})
    with pytest.raises(ValueError, match="table_indptr must rise from 0 to"):
        RefinedNB()._set_state(state | {"table_indptr": state["table_indptr"][:-1]})
    with pytest.raises(ValueError, match="different numbers of words"):
        RefinedNB()._set_state(state | {"table_factors": np.ones(1)})
    with pytest.raises(ValueError, match="table_classes must hold numbers from"):
        RefinedNB()._set_state(state | {"table_bias": state["table_bias"][:-1]})


def test_the_kernel_refuses_what_does_not_belong_together():
    good = {
        "rows": np.array([0, 1, 2]), "columns": np.array([0, 1], np.int32), "values": np.ones(2, np.float32),
        "indptr": np.array([0, 1, 2]), "models": np.array([0, 1], np.int32), "weights": np.ones(2),
        "offsets": np.zeros((0, 0), np.float32), "n_words": 2, "n_models": 2,
        "cost": 1.0, "tolerance": 0.1, "max_passes": 5, "seed": 0, "least": 0.0, "n_threads": 1,
    }  # fmt: skip
    assert len(_core.solve_hinge(**good)[0]) == 4
    for bad in (
        {"columns": np.array([0, 2], np.int32)},
        {"columns": np.array([0, -1], np.int32)},
        {"models": np.array([0, 2], np.int32)},
        {"weights": np.ones(3)},
        {"indptr": np.array([0, 2])},
        {"indptr": np.array([0, 3, 2])},
        {"offsets": np.zeros((2, 3), np.float32)},
        {"n_models": 0},
    ):
        with pytest.raises(ValueError, match="hinge solver"):
            _core.solve_hinge(**(good | bad))


def test_words_that_add_little_are_left_out_and_the_bias_stays():
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.random((60, 30)) * (rng.random((60, 30)) < 0.3))
    problem = HingeProblem.of_classes(to_rows(X), rng.integers(0, 3, 60).astype(np.int32), np.ones(60), 3)
    words, bias = problem.solve(1.0, 0.01, 2)
    kept, same_bias = problem.solve(1.0, 0.01, 2, least=0.2)
    assert 0 < kept.nnz < words.nnz
    np.testing.assert_array_equal(kept.toarray(), np.where(np.abs(words.toarray()) > 0.2, words.toarray(), 0))
    np.testing.assert_array_equal(same_bias, bias)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("cost", 0), ("cost", "1"), ("base_weight", -1), ("focus", -1), ("background_smoothing", 0), ("tolerance", 0)],
)
def test_a_wrong_parameter_is_named(parameter, value):
    with pytest.raises(ValueError, match=parameter):
        RefinedNB(**{parameter: value}).fit([[1, 0], [0, 1]], ["a", "b"])


@pytest.mark.parametrize("focus", [0.0, 1.0])
def test_the_words_that_speak_for_a_class(focus):
    X = sparse.csr_array(np.array([[3, 0, 1], [2, 0, 1], [0, 2, 1], [0, 3, 1]]))
    clf = RefinedNB(focus=focus).fit(X, ["a", "a", "b", "b"])
    words, weights = clf._top_words(0, 2)
    assert words[0] == 0
    assert weights[0] > 0
    bias, evidence = clf._log_evidence(to_rows(X[[0]]), [0, 1])
    np.testing.assert_allclose(bias + evidence.sum(axis=0), clf.predict_joint_log_proba(X[[0]])[0], rtol=1e-12)
