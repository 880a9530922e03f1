"""Mixtures over documents against their definition, against naive Bayes, and against their own promises."""

import pickle
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import NotFittedError

from genus import _core
from genus.base.rows import SparseRows, to_rows
from genus.classifier.text_classifier import TextClassifier
from genus.io.model_file import load, save
from genus.models.document_mixture.models import (
    KernelDensityClassifier,
    NearestNeighborsClassifier,
    TiedDocumentMixture,
)
from genus.models.naive_bayes import MultinomialNB
from helpers.corpora import assert_same_model, collections, corpus
from reference import document_mixture as reference
from reference.naive_bayes import normalize

pytestmark = pytest.mark.kernel

MODELS = [TiedDocumentMixture, KernelDensityClassifier, NearestNeighborsClassifier]

options = st.sampled_from(
    [
        {"class_smoothing": 0.3, "background_smoothing": 0.2, "prior_scale": 0.5},
        {"class_smoothing": 0.0, "background_smoothing": 0.01, "prior_scale": 1.0},
        {"class_smoothing": 0.75, "background_smoothing": 0.25, "prior_scale": 0.0},
        {"class_smoothing": 0.9, "background_smoothing": 1e-6, "prior_scale": 1.0},
    ]
)


def large_corpus(n=9000, n_words=60, n_classes=5, seed=0):
    """Several blocks, with classes of all sizes and runs that are full, half full and short."""
    rng = np.random.default_rng(seed)
    y = rng.choice(n_classes, n, p=np.geomspace(1, 0.01, n_classes) / np.geomspace(1, 0.01, n_classes).sum())
    rates = np.geomspace(3, 0.001, n_words) * rng.uniform(0.5, 2, (n_classes, n_words))
    X = sparse.csr_array(rng.poisson(rates[y]))
    return X, np.array([f"class {c}" for c in y])


# Against the definition


@given(collections(), options)
@settings(deadline=None, max_examples=150)
def test_scores_are_the_definitions(collection, settings_):
    X, y, weights = collection
    clf = TiedDocumentMixture(**settings_).fit(X, y, weights)
    expected = reference.joint_log_likelihood(X, y, X, sample_weight=weights, **settings_)
    np.testing.assert_allclose(clf.predict_joint_log_proba(X), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(clf.predict_log_proba(X), normalize(expected), rtol=1e-9, atol=1e-5)
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1, rtol=1e-12)


def test_an_example_by_hand():
    clf = TiedDocumentMixture(0.25, 0.25).fit([[1, 1], [2, 0], [0, 1]], ["a", "a", "b"])
    # Class a averages (3/4, 1/4); its documents give the first word 1/4 + 3/16 + 1/8 and 1/2 + 3/16 + 1/8.
    a, b = 2 / 3 * (9 / 16 + 13 / 16) / 2, 1 / 3 * (1 / 8)
    np.testing.assert_allclose(clf.predict_proba([[1, 0]]), [[a / (a + b), b / (a + b)]], rtol=1e-14)


@pytest.mark.parametrize("times", [1, 3, 40, 0.37])  # products, powers, sums of logarithms
def test_many_blocks_change_nothing(times):
    X, y = large_corpus(18000)
    queries = X[::2000]
    expected = reference.joint_log_likelihood(
        X.toarray(), list(y), times * queries.toarray(), class_smoothing=0.3, background_smoothing=0.2
    )
    clf = TiedDocumentMixture(0.3, 0.2).fit(X, y)
    assert len(clf._index.block_starts) > 3
    np.testing.assert_allclose(clf.predict_joint_log_proba(times * queries), expected, rtol=1e-12)


@given(collections(), st.sampled_from([0.01, 0.3, 1.0]), st.sampled_from([0.0, 1.0]))
@settings(deadline=None, max_examples=80)
def test_without_the_documents_own_weight_it_is_naive_bayes(collection, a2, a3):
    X, y, weights = collection
    weights = None if weights is None else np.floor(np.array(weights) * 4) / 4 + 0.25
    ours = TiedDocumentMixture(1 - a2, a2, a3).fit(X, y, weights)
    bayes = MultinomialNB(background_smoothing=a2, prior_scale=a3, document_weights="equal").fit(X, y, weights)
    np.testing.assert_allclose(ours.predict_joint_log_proba(X), bayes.predict_joint_log_proba(X), rtol=1e-9, atol=1e-9)


def test_without_the_class_it_is_the_kernel_density_and_all_neighbors():
    X, y = corpus()
    tied = TiedDocumentMixture(0.0, 0.2, 0.7).fit(X, y).predict_log_proba(X)
    np.testing.assert_array_equal(KernelDensityClassifier(0.2, 0.7).fit(X, y).predict_log_proba(X), tied)
    for k in (60, 10**6):
        every = NearestNeighborsClassifier(k, 0.2, 0.7).fit(X, y)
        np.testing.assert_array_equal(every.predict_log_proba(X), tied)
    almost = NearestNeighborsClassifier(55, 0.2, 0.7).fit(X, y)  # five documents of 60 are empty
    np.testing.assert_allclose(almost.predict_log_proba(X), tied, rtol=1e-12)


@pytest.mark.parametrize("k", [1, 3, 10])
def test_neighbors_are_the_most_probable_documents(k):
    rng = np.random.default_rng(1)
    X, y = rng.random((50, 12)) * (rng.random((50, 12)) < 0.6), list(rng.choice(list("abc"), 50))  # no ties
    clf = NearestNeighborsClassifier(k, 0.2).fit(X, y)
    expected = reference.joint_log_likelihood(X, y, X, background_smoothing=0.2, n_neighbors=k)
    np.testing.assert_allclose(clf.predict_joint_log_proba(X), expected, rtol=1e-10)
    loo = reference.leave_one_out(X, y, background_smoothing=0.2, n_neighbors=k)
    np.testing.assert_allclose(clf.leave_one_out_log_proba(X, y), loo, rtol=1e-9, atol=1e-9)
    documents, shares = clf.neighbors(X, 50)
    assert documents.shape == (50, k)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-10)


def test_equally_near_documents_are_taken_alike_in_whatever_order_they_came():
    X, y = np.array([[1, 0], [0, 1], [1, 0], [1, 0]]), np.array(["b", "b", "a", "a"])
    taken = [NearestNeighborsClassifier(2).fit(X[order], y[order]) for order in map(list, permutations(range(4)))]
    assert len({str(clf.predict_proba([[1, 0]]).tolist()) for clf in taken}) == 1
    alike = NearestNeighborsClassifier(3).fit(X[[0, 1, 2, 3]], ["b", "b", "b", "b"])
    assert alike.neighbors([[1, 0]], 3)[0].tolist() == [[0, 2, 3]]  # equal documents, as they came


@pytest.mark.parametrize("model", MODELS)
def test_an_empty_document_gets_the_prior(model):
    X, y = corpus()
    clf = model(prior_scale=1.0).fit(X, y)
    np.testing.assert_allclose(clf.predict_log_proba(0 * X[:1]), clf.class_log_prior_[np.newaxis], rtol=1e-12)
    assert clf.class_count_.sum() == 60  # empty training documents count in it


def test_a_class_of_empty_documents_is_uniform_over_words():
    X, y = [[2, 0, 1], [0, 0, 0], [1, 1, 0]], ["a", "void", "b"]
    clf = TiedDocumentMixture(0.5, 0.2).fit(X, y)
    expected = np.log(1 / 3) + 3 * np.log(1 / 3)
    np.testing.assert_allclose(clf.predict_joint_log_proba([[2, 1, 0]])[0, 2], expected)
    assert KernelDensityClassifier().fit([[0, 0]], ["void"]).predict([[1, 0]]).tolist() == ["void"]


def test_weights_are_repetitions():
    X, y = corpus()
    weights = np.random.default_rng(0).integers(1, 4, 60)
    again = np.repeat(np.arange(60), weights)
    for model in (TiedDocumentMixture, KernelDensityClassifier):
        weighted, repeated = model().fit(X, y, weights), model().fit(X[again], y[again])
        np.testing.assert_allclose(weighted.predict_log_proba(X), repeated.predict_log_proba(X), rtol=1e-9)


# Queries that share their words


def titles(n, seed):
    """Short documents of four classes, of which a few words are common and most are rare."""
    rng = np.random.default_rng(seed)
    rates = np.hstack([[0.9, 0.6, 0.4, 0.3], 2 / np.arange(2, 60)])
    y = rng.integers(0, 4, n)
    tilt = 1 + 3 * (np.arange(len(rates)) % 4 == y[:, np.newaxis])
    return sparse.csr_array(rng.poisson(0.3 * rates * tilt)), y


@pytest.mark.parametrize("weighting", ["counts", "powers", "weighted documents"])
def test_an_answer_does_not_depend_on_the_other_questions(weighting):
    X, y = titles(9000, 0)
    queries = titles(300, 1)[0].astype(float)
    if weighting == "powers":
        queries.data **= 0.7
    weights = np.linspace(0.5, 2, 9000) if weighting == "weighted documents" else None
    clf = TiedDocumentMixture(0.4, 0.2).fit(X, y, weights)
    together = clf.predict_log_proba(queries)
    np.testing.assert_array_equal(together, np.vstack([clf.predict_log_proba(queries[[i]]) for i in range(300)]))
    for n_jobs in (2, 3):  # threads divide the blocks, or the queries where classes are too large for that
        np.testing.assert_array_equal(together, clf.set_params(n_jobs=n_jobs).predict_log_proba(queries))
    some = np.r_[0:300:60]
    kwargs = {"class_smoothing": 0.4, "background_smoothing": 0.2}
    expected = reference.joint_log_likelihood(
        X.toarray(), y.tolist(), queries[some].toarray(), sample_weight=weights, **kwargs
    )
    expected -= np.logaddexp.reduce(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(together[some], expected, rtol=1e-9, atol=1e-9)


# Additive learning


@given(collections(min_documents=2), options, st.data())
@settings(deadline=None, max_examples=80)
def test_merged_halves_equal_the_whole_and_unlearned_equals_never_seen(collection, settings_, data):
    X, y, weights = collection
    y = np.array(y)
    cut = data.draw(st.integers(1, len(y) - 1))
    w = None if weights is None else np.maximum(weights, 0.01)
    first, second = ((X[part], y[part], None if w is None else w[part]) for part in (slice(0, cut), slice(cut, None)))
    whole = TiedDocumentMixture(**settings_).fit(X, y, w)
    halves = [TiedDocumentMixture(**settings_).fit(*part) for part in (first, second)]
    streamed = TiedDocumentMixture(**settings_).partial_fit(*first[:2], sample_weight=first[2])
    streamed.predict(X)
    streamed.partial_fit(*second[:2], sample_weight=second[2])
    assert_same_model(streamed, whole)
    assert_same_model(halves[0].merge(halves[1]), whole)
    assert_same_model(whole.unlearn(*second), TiedDocumentMixture(**settings_).fit(*first))


def test_new_classes_and_columns_may_come_at_any_time():
    X, y = corpus(80)
    order = np.argsort(y, kind="stable")[::-1]
    X, y = X[order].toarray(), y[order]
    X[:40, 10:] = 0
    clf = TiedDocumentMixture().partial_fit(X[:40, :10], y[:40])
    assert len(clf.classes_) < 4
    assert clf.predict(X[:3, :10]).shape == (3,)
    assert_same_model(clf.partial_fit(X[40:], y[40:]), TiedDocumentMixture().fit(X, y))


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1, 0]], ["z"], "class 'z', which was never learned"),
        ([[0, 1]], ["a"], "never learned"),
        ([[2, 0]], ["a"], "never learned"),  # the same frequencies, other counts
        ([[1, 0], [1, 0]], ["a", "a"], "never learned"),
        ([[1, 0], [0, 1], [1, 1]], ["a", "b", "a"], "nothing would be left"),
        ([[1, 0]], [1], "text; got numbers"),
    ],
)
def test_unlearning_what_was_never_learned_changes_nothing(X, y, message):
    data = [[1, 0], [0, 1], [1, 1]], ["a", "b", "a"]
    clf = KernelDensityClassifier().fit(*data)
    with pytest.raises(ValueError, match=message):
        clf.unlearn(X, y)
    assert_same_model(clf, KernelDensityClassifier().fit(*data))


def test_a_class_goes_with_its_last_document():
    clf = TiedDocumentMixture().fit([[1, 0], [0, 1], [1, 1]], ["long name", "b", "b"]).unlearn([[1, 0]], ["long name"])
    assert_same_model(clf, TiedDocumentMixture().fit([[0, 1], [1, 1]], ["b", "b"]))


def test_the_latest_of_equal_documents_goes_first():
    X, y = [[1, 0], [0, 1], [1, 0]], ["a", "a", "a"]
    clf = TiedDocumentMixture().fit(X, y).unlearn([[1, 0]], ["a"])
    assert_same_model(clf, TiedDocumentMixture().fit(X[:2], y[:2]))


def test_zeros_order_and_repeated_entries_do_not_matter():
    plain = sparse.csr_array(np.array([[1.0, 0, 2], [0, 3, 0]]))
    other = sparse.csr_array(([2.0, 0.5, 0.5, 0.0, 3.0], [2, 0, 0, 1, 1], [0, 4, 5]), shape=(2, 3))
    clf = TiedDocumentMixture().fit(other, ["a", "b"])
    assert_same_model(clf, TiedDocumentMixture().fit(plain, ["a", "b"]))
    assert_same_model(clf.unlearn(plain[1:], ["b"]), TiedDocumentMixture().fit(plain[:1], ["a"]))


def test_smoothing_may_change_without_indexing_again(monkeypatch):
    X, y = corpus()
    clf = TiedDocumentMixture().fit(X, y)
    monkeypatch.setattr(_core, "build_index", None)
    clf.set_params(class_smoothing=0.1, background_smoothing=0.05, prior_scale=0.3).predict(X)
    monkeypatch.undo()
    assert_same_model(clf, TiedDocumentMixture(0.1, 0.05, 0.3).fit(X, y))


# Leave one out


@given(collections(min_documents=2), options)
@settings(deadline=None, max_examples=120)
def test_leave_one_out_equals_refitting(collection, settings_):
    X, y, weights = collection
    clf = TiedDocumentMixture(**settings_).fit(X, y, weights)
    expected = reference.leave_one_out(X, y, weights, **settings_)
    np.testing.assert_allclose(clf.leave_one_out_log_proba(X, y, weights), expected, rtol=1e-9, atol=1e-5)


@pytest.mark.parametrize("model", MODELS)
def test_leave_one_out_equals_unlearning(model):
    X, y = large_corpus(10000)
    X = X * np.random.default_rng(0).uniform(1, 2, X.shape[1])  # no ties among neighbors
    X = sparse.csr_array(X)
    clf = model().fit(X, y)
    some = [0, 77, 1234, 9999]
    scores = clf.leave_one_out_log_proba(X[some], y[some])
    for row, d in zip(scores, some, strict=True):
        without = model().fit(X, y).unlearn(X[[d]], y[[d]])
        np.testing.assert_allclose(row, without.predict_log_proba(X[[d]])[0], rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("model", MODELS)
def test_leaving_out_a_stranger_is_refused(model):
    clf = model().fit([[1, 0], [0, 1]], ["a", "b"])
    for X, y in (([[0, 3]], ["a"]), ([[2, 0]], ["a"]), ([[1, 0]], ["z"])):
        with pytest.raises(ValueError, match="learned"):
            clf.leave_one_out_log_proba(X, y)


# Threads


def test_results_do_not_depend_on_the_number_of_threads():
    X, y = large_corpus(9000)
    X = X * 0.37
    weights = np.random.default_rng(3).random(9000) + 0.01
    for model in MODELS:
        models = [model(n_jobs=n).fit(X, y, weights) for n in (1, 2, 7)]
        for other in models[1:]:
            assert_same_model(models[0], other)
            for method in ("predict_joint_log_proba", "predict_top", "neighbors"):
                mine, theirs = getattr(models[0], method)(X[:300]), getattr(other, method)(X[:300])
                for a, b in zip(np.atleast_2d(mine), np.atleast_2d(theirs), strict=True):
                    np.testing.assert_array_equal(a, b)
            args = X[:200], y[:200], weights[:200]
            np.testing.assert_array_equal(
                models[0].leave_one_out_log_proba(*args), other.leave_one_out_log_proba(*args)
            )


# Looking inside


@pytest.mark.parametrize("model", MODELS)
def test_shares_of_documents_add_up_to_the_class(model):
    X, y = corpus()
    weights = np.random.default_rng(0).uniform(0.5, 2, 60)
    clf = model().fit(X, y, weights)
    documents, shares = clf.neighbors(X, 100)
    assert (np.diff(shares, axis=1) <= 0).all()
    for d in (1, 5):
        sums = np.zeros(4)
        np.add.at(sums, np.searchsorted(clf.classes_, y[documents[d]]), shares[d])
        np.testing.assert_allclose(sums, clf.predict_proba(X[[d]])[0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_evidence_and_terms_add_up_to_the_score(model):
    X, y = large_corpus(9000)
    clf = model().fit(X, y)
    classes = [3, 0, 1]
    scores = clf.predict_joint_log_proba(X[:20])
    for d in (0, 5, 17):
        row = to_rows(X[[d]])
        row = SparseRows(
            np.array([0, len(row.indices) + 1]),
            np.append(row.indices, 99).astype(np.int32),
            np.append(row.data, 4),
            100,
        )
        prior, words = clf._log_evidence(row, classes)
        there = np.isfinite(scores[d, classes])
        total = prior + words.sum(axis=0) + clf._evidence_terms(row, classes)["choice of documents"]
        np.testing.assert_allclose(total[there], scores[d, classes][there], rtol=1e-9)
        assert (words[-1] == 0).all()
        sources = clf._sources(row, 0)
        np.testing.assert_allclose(sources[:-1].sum(axis=1), 1, rtol=1e-12)
        assert (sources >= 0).all()


def test_top_words_speak_for_their_class():
    X = np.array([[5, 0, 1, 0], [4, 1, 0, 0], [0, 6, 1, 0], [3, 0, 9, 0]])
    clf = TiedDocumentMixture().fit(X, ["a", "a", "b", "c"])
    assert [clf._top_words(c, 1)[0].tolist() for c in range(3)] == [[0], [1], [2]]


# Keeping


def reopened(clf):
    """A model from read-only arrays, as from a mapped file."""
    state = clf._get_state()
    for name, value in state.items():
        if isinstance(value, np.ndarray):
            state[name] = value.copy()
            state[name].flags.writeable = False
    other = type(clf)(**clf.get_params(deep=False))
    other._set_state(state)
    return other


@pytest.mark.parametrize("model", MODELS)
def test_a_reopened_model_predicts_and_learns_the_same(model, tmp_path):
    X, y = corpus()
    clf = model().fit(X[:40], y[:40])
    save(clf, tmp_path / "model.genus")
    for other in (reopened(clf), load(tmp_path / "model.genus")):
        np.testing.assert_array_equal(other.predict_log_proba(X), clf.predict_log_proba(X))
        assert_same_model(other, clf)
    assert_same_model(reopened(clf).unlearn(X[:9], y[:9]), model().fit(X[:40], y[:40]).unlearn(X[:9], y[:9]))
    assert_same_model(reopened(clf).partial_fit(X[40:], y[40:]), clf.partial_fit(X[40:], y[40:]))
    assert_same_model(pickle.loads(pickle.dumps(clf)), clf)  # noqa: S301


NAMES = [
    "indptr", "classes", "table_indptr", "table_classes", "document_indptr", "document_words", "document_codes",
    "index_words", "index_run_blocks", "index_run_starts", "index_slots", "index_block_starts",
    "index_class_starts", "index_order",
]  # fmt: skip


def test_bounds_whose_differences_wrap_around_are_refused():
    state = TiedDocumentMixture().fit(*corpus(60, 12, 5))._get_state()
    state["index_class_starts"][3:5] = -(2**63), -(2**31)
    with pytest.raises(ValueError, match="bounds do not rise"):
        TiedDocumentMixture()._set_state(state)


@given(st.data())
@settings(deadline=None, max_examples=300)
def test_hostile_arrays_do_no_harm(data):
    X, y = corpus(60, 12, 5)
    model = data.draw(st.sampled_from(MODELS))
    state = model(n_jobs=1).fit(X, y)._get_state()
    name = data.draw(st.sampled_from(NAMES))
    array = state[name].copy()
    wild = st.sampled_from([0, 3, 60, 2**16 - 1] if array.dtype == np.uint16 else [-1, 0, 3, 10**6, -(2**31)])
    if array.dtype == np.int64:
        wild |= st.sampled_from([2**63 - 1, -(2**63), 2**40])
    for _ in range(data.draw(st.integers(1, 4))):
        array[data.draw(st.integers(0, len(array) - 1))] = data.draw(wild)
    state[name] = array
    clf = model(n_jobs=1)
    row = to_rows(X[[1]])
    for use in (
        lambda: clf._set_state(state),
        lambda: clf.predict_log_proba(X),
        lambda: clf.neighbors(X),
        lambda: clf._log_evidence(row, [0, 4]),
        lambda: clf.leave_one_out_log_proba(X, y),
        lambda: clf.set_params(background_smoothing=0.07).predict(X),
        lambda: clf.partial_fit(X, y).predict(X),
    ):
        with np.errstate(all="ignore"):
            try:
                use()
            except (ValueError, OverflowError, IndexError, NotFittedError):
                assert not np.array_equal(array, model().fit(X, y)._get_state()[name])


@pytest.mark.parametrize("name", ["labels", "index_slots", "values", "largest", "table_bias", "document_values"])
def test_an_incomplete_or_misshapen_state_is_refused(name):
    X, y = corpus()
    state = TiedDocumentMixture().fit(X, y)._get_state()
    with pytest.raises(ValueError, match=r"must be|length|belong|words"):
        TiedDocumentMixture()._set_state(state | {name: state[name][:-1][np.newaxis]})
    del state[name]
    with pytest.raises(ValueError, match=f"lacks '{name}'"):
        TiedDocumentMixture()._set_state(state)


def test_a_file_that_stores_the_retired_tolerance_loads_and_answers_exactly():
    old = load(Path(__file__).parents[1] / "golden" / "format-2-tolerance.genus")  # tolerance=1e-3
    texts = ["cheap pills now", "win money now", "cheap money"]
    texts += ["meeting at noon", "lunch at noon tomorrow", "notes of the meeting"]
    new = TextClassifier(TiedDocumentMixture(0.3, 0.5)).fit(texts, ["spam"] * 3 + ["ham"] * 3)
    assert old.model.get_params() == new.model.get_params()
    questions = ["cheap meeting", "money at noon", ""]
    # Not to the bit: the file's logarithms are those of the NumPy that wrote it.
    np.testing.assert_allclose(old.predict_proba(questions), new.predict_proba(questions), rtol=1e-13)
    with pytest.raises(TypeError, match="tolerance"):
        TiedDocumentMixture(tolerance=1e-3)


# Bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"class_smoothing": 0.7, "background_smoothing": 0.4}, r"must be at most 1 .* got 0\.7 \+ 0\.4"),
        ({"background_smoothing": 0}, "background_smoothing must be above 0 .* would exclude it"),
        ({"background_smoothing": np.nan}, "background_smoothing must be"),
        ({"class_smoothing": -0.1}, "class_smoothing must be"),
        ({"prior_scale": -1}, "prior_scale must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        TiedDocumentMixture(**parameters).fit([[1, 0], [0, 1]], ["a", "b"])


@pytest.mark.parametrize("k", [0, -1, 2.5, True])
def test_counts_of_neighbors_are_positive_integers(k):
    with pytest.raises(ValueError, match="n_neighbors must be a positive integer"):
        NearestNeighborsClassifier(k).fit([[1, 0], [0, 1]], ["a", "b"])
    with pytest.raises(ValueError, match="k must be a positive integer"):
        KernelDensityClassifier().fit([[1, 0], [0, 1]], ["a", "b"]).neighbors([[1, 0]], k)


def test_weights_that_make_no_sense_are_refused():
    for weights in ([1, -1], [1, np.nan], [0, 0]):
        with pytest.raises(ValueError, match="sample_weight must be"):
            TiedDocumentMixture().fit([[1, 0], [0, 1]], ["a", "b"], weights)


# Fast mathematics


@pytest.mark.parametrize("level", _core.simd_levels())
def test_exponentials_and_logarithms_are_the_librarys(level):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-700, 700, 10001), rng.normal(0, 1, 1001), [0.0, -0.0, 1e-300]])
    np.testing.assert_allclose(_core.fast_math(x, "exp", level), np.exp(x), rtol=6e-16)
    x = np.concatenate([np.exp(rng.uniform(-80, 80, 10001)), rng.uniform(0, 1, 1001), [0.0, 1e-300]])
    np.testing.assert_allclose(_core.fast_math(x, "log1p", level), np.log1p(x), rtol=6e-16)
    np.testing.assert_allclose(_core.fast_math(x, "log", level)[x > 0], np.log(x[x > 0]), rtol=6e-16)
    assert _core.fast_math(np.zeros(5), "log", level).tolist() == [-np.inf] * 5
    for name in ("log", "log1p"):
        np.testing.assert_array_equal(_core.fast_math(x, name, level), _core.fast_math(x, name, "baseline"))
