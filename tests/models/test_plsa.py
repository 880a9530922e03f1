"""PLSA as a classifier against its equations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from genus import PLSAClassifier, TextClassifier, load, save
from reference import plsa as reference

pytestmark = pytest.mark.kernel

values = st.one_of(st.just(0.0), st.integers(0, 4).map(float), st.integers(1, 400).map(lambda i: i / 8), st.just(1e4))
options = st.fixed_dictionaries(
    {
        "alpha": st.sampled_from([0.01, 1.0]),
        "n_iterations": st.integers(0, 3),
        "tempering": st.sampled_from([0.7, 1.0]),
        "other_share": st.sampled_from([0.01, 0.5]),
    }
)


@st.composite
def collections(draw):
    n, n_words = draw(st.integers(1, 7)), draw(st.integers(1, 5))
    X = np.array(draw(st.lists(st.lists(values, min_size=n_words, max_size=n_words), min_size=n, max_size=n)))
    y = draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n))
    weights = draw(st.none() | st.lists(st.sampled_from([0.0, 1.0, 0.5]), min_size=n, max_size=n).filter(any))
    return X, y, weights


def corpus(n=90, n_words=40, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.poisson(rng.dirichlet(np.full(n_words, 0.2), 3)[y] * 30)
    return sparse.csr_array(X.astype(float)), np.array(["a", "b", "c"])[y]


@given(collections(), options, st.integers(1, 4))
@settings(deadline=None, max_examples=100)
def test_shares_are_the_papers(collection, settings_, n_fold_in):
    X, y, weights = collection
    clf = PLSAClassifier(**settings_, n_fold_in=n_fold_in).fit(X, y, weights)
    codes = [clf.classes_.tolist().index(label) for label in y]
    scales = np.ones(len(y)) if weights is None else weights
    table = reference.train(X, codes, scales, len(clf.classes_), **settings_)
    np.testing.assert_allclose(np.exp(clf.feature_log_prob_.T), table, rtol=1e-8)
    expected = [reference.fold_in(table, row, settings_["tempering"], n_fold_in) for row in X]
    np.testing.assert_allclose(clf.predict_proba(X), expected, rtol=1e-7, atol=1e-12)


def test_likelihood_never_falls_without_tempering():
    X, y = corpus()
    likelihoods = []
    for n in range(6):
        table = np.exp(PLSAClassifier(1e-9, n_iterations=3, tempering=1.0).fit(X, y).feature_log_prob_)
        clf = PLSAClassifier(1e-9, n_iterations=3, tempering=1.0, n_fold_in=n + 1).fit(X, y)
        likelihoods.append((X.toarray() * np.log(np.maximum(clf.predict_proba(X) @ table, 1e-300))).sum())
    assert (np.diff(likelihoods) >= -1e-6).all()


def test_a_document_about_two_classes_has_a_share_of_both():
    X, y = corpus()
    clf = PLSAClassifier().fit(X, y)
    a, b = X[y == "a"][:10].sum(axis=0), X[y == "b"][:10].sum(axis=0)
    shares = clf.predict_proba(sparse.csr_array(np.atleast_2d(a + b)))[0]
    assert shares[2] < 0.1
    assert abs(shares[0] - shares[1]) < 0.35
    assert (clf.predict(X) == y).mean() > 0.9


def test_empty_documents_have_equal_shares():
    X, y = corpus()
    np.testing.assert_allclose(PLSAClassifier().fit(X, y).predict_proba(0 * X[:2]), 1 / 3)


def test_learned_in_parts_merged_unlearned_and_threaded_is_learned_at_once():
    X, y = corpus()
    whole = PLSAClassifier(n_jobs=1).fit(X, y)
    others = [
        PLSAClassifier(n_jobs=7).fit(X, y),
        PLSAClassifier().fit(X[:30], y[:30]).partial_fit(X[30:], y[30:]),
        PLSAClassifier().fit(X[:30], y[:30]).merge(PLSAClassifier().fit(X[30:], y[30:])),
        PLSAClassifier().fit(sparse.vstack([X, X[:9]]), np.append(y, y[:9])).unlearn(X[:9], y[:9]),
    ]
    for other in others:
        np.testing.assert_array_equal(other.predict_log_proba(X), whole.predict_log_proba(X))


def test_a_saved_model_is_the_same(tmp_path):
    X, y = corpus()
    clf = PLSAClassifier().fit(X, y)
    save(clf, tmp_path / "m.genus")
    opened = load(tmp_path / "m.genus")
    np.testing.assert_array_equal(opened.predict_proba(X), clf.predict_proba(X))
    state = clf._get_state()
    with pytest.raises(ValueError, match="table must be an array of 40 x 3"):
        PLSAClassifier()._set_state(state | {"table": state["table"][:3]})
    del state["table"]
    with pytest.raises(ValueError, match="lacks 'table'"):
        PLSAClassifier()._set_state(state)


def test_an_explanation_adds_up():
    texts = ["the cat purrs", "a cat eats", "the dog barks", "a dog eats", "the car brakes", "a fast car"]
    clf = TextClassifier("plsa").fit(texts, ["cat", "cat", "dog", "dog", "car", "car"])
    why = clf.explain("a dog barks at the cat")
    proba = dict(zip(clf.classes_.tolist(), clf.predict_proba(["a dog barks at the cat"])[0], strict=True))
    assert why.log_odds == pytest.approx(np.log(proba[why.label] / proba[why.against]))
    assert {w.word: w.contribution for w in why.words}["barks"] > 0
    assert clf.top_words("dog", 1)[0][0] in ("dog", "barks")
    assert clf.explain("unheard of").log_odds == pytest.approx(0)


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"alpha": 0}, "alpha must be"),
        ({"tempering": 0}, "tempering must be"),
        ({"other_share": 1}, "other_share must be"),
        ({"n_iterations": -1}, "n_iterations must be"),
        ({"n_fold_in": 0}, "n_fold_in must be"),
    ],
)
def test_bad_settings_are_refused(settings_, message):
    X, y = corpus()
    with pytest.raises(ValueError, match=message):
        PLSAClassifier(**settings_).fit(X, y)


def test_too_large_a_table_is_refused():
    X = sparse.csr_array((np.ones(30_000), (np.arange(30_000), np.arange(30_000))), (30_000, 30_000))
    with pytest.raises(ValueError, match="30,000 x 30,000 are too many"):
        PLSAClassifier().fit(X, np.arange(30_000))
