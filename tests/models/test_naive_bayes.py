"""MultinomialNB against the textbook, against scikit-learn, and against its own promises."""

import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import MultinomialNB as SklearnNB

from genus.base.rows import SparseRows, to_rows
from genus.models.naive_bayes import MultinomialNB
from helpers.corpora import assert_same_model, collections, corpus
from reference import naive_bayes as reference

pytestmark = pytest.mark.kernel

options = st.fixed_dictionaries(
    {
        "alpha": st.sampled_from([1e-3, 0.5, 1.0, 10.0]),
        "background_smoothing": st.sampled_from([None, None, 0.01, 0.5, 1.0]),
        "prior_scale": st.sampled_from([0.0, 0.5, 1.0]),
        "document_weights": st.sampled_from(["length", "equal"]),
        "fit_prior": st.booleans(),
    }
)


# Against the textbook and scikit-learn


@given(collections(), options)
@settings(deadline=None, max_examples=150)
def test_scores_are_the_textbooks(collection, settings_):
    X, y, weights = collection
    clf = MultinomialNB(**settings_).fit(X, y, weights)
    expected = reference.joint_log_likelihood(X, y, X, sample_weight=weights, **settings_)
    np.testing.assert_allclose(clf.predict_joint_log_proba(X), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(clf.predict_log_proba(X), reference.normalize(expected), rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1, rtol=1e-12)


def test_a_textbook_example_by_hand():
    # Two classes, three words, one added to every count.
    clf = MultinomialNB().fit([[2, 1, 0], [1, 0, 0], [0, 1, 3]], ["ham", "ham", "spam"])
    ham, spam = 2 / 3 * (1 / 7) * (2 / 7), 1 / 3 * (4 / 7) * (2 / 7)
    np.testing.assert_allclose(clf.predict_proba([[0, 1, 1]]), [[ham / (ham + spam), spam / (ham + spam)]])


@pytest.mark.parametrize("n_classes", [1, 2, 3, 7, 8, 20, 33, 61, 172])
@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.float64])
def test_equals_scikit_learn(n_classes, dtype):
    # The numbers of classes take every path through the vectorised rows.
    X, y = corpus(400, 60, n_classes, seed=n_classes)
    X = X.astype(dtype)
    weights = np.random.default_rng(1).integers(0, 8, 400) / 4
    for alpha in (0.01, 1.0):
        ours = MultinomialNB(alpha).fit(X, y, weights)
        theirs = SklearnNB(alpha=alpha).fit(X, y, weights)
        np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(ours.feature_log_prob_, theirs.feature_log_prob_, rtol=1e-12)
        np.testing.assert_allclose(ours.class_log_prior_, theirs.class_log_prior_, rtol=1e-12)
        np.testing.assert_array_equal(ours.feature_count_, theirs.feature_count_)
        np.testing.assert_array_equal(ours.class_count_, theirs.class_count_)
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_priors_may_be_given_or_uniform():
    X, y = corpus()
    given_prior = [0.1, 0.2, 0.3, 0.4]
    ours = MultinomialNB(class_prior=given_prior).fit(X, y)
    theirs = SklearnNB(class_prior=given_prior).fit(X, y)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), atol=1e-9)
    ours, theirs = MultinomialNB(fit_prior=False).fit(X, y), SklearnNB(fit_prior=False).fit(X, y)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), atol=1e-9)


def test_an_empty_document_gets_the_prior():
    X, y = corpus()
    clf = MultinomialNB(prior_scale=0.5).fit(X, y)
    np.testing.assert_allclose(clf.predict_joint_log_proba(0 * X[:1]), 0.5 * clf.class_log_prior_[np.newaxis])


def test_documents_that_count_equally():
    X = np.array([[8, 0], [0, 2], [0, 0]])
    clf = MultinomialNB(document_weights="equal").fit(X, ["a", "a", "a"])
    assert clf.feature_count_.tolist() == [[1, 1]]
    assert clf.class_count_.tolist() == [3]


def test_columns_that_were_not_trained_are_ignored_inside():
    X, y = corpus()
    clf = MultinomialNB().fit(X, y)
    wide = sparse.hstack([X, np.ones((X.shape[0], 3))]).tocsr()
    np.testing.assert_array_equal(clf._joint_log_likelihood(to_rows(wide)), clf._joint_log_likelihood(to_rows(X)))
    narrow = to_rows(X[:, :5].tocsr())
    padded = X.toarray()
    padded[:, 5:] = 0
    np.testing.assert_array_equal(clf._joint_log_likelihood(narrow), clf.predict_joint_log_proba(padded))


def test_matrices_over_arrays_with_gaps_are_taken():
    X, y = corpus()
    pairs = np.column_stack([X.data, X.indices])
    gappy = sparse.csr_array((pairs[:, 0], pairs[:, 1], X.indptr), shape=X.shape)
    assert not gappy.data.flags.c_contiguous
    assert_same_model(MultinomialNB().fit(gappy, y), MultinomialNB().fit(X, y))


# Additive learning


@given(collections(min_documents=2), options, st.data())
@settings(deadline=None, max_examples=100)
def test_merged_halves_equal_the_whole_and_unlearned_equals_never_seen(collection, settings_, data):
    X, y, weights = collection
    y = np.array(y)
    cut = data.draw(st.integers(1, len(y) - 1))
    w = None if weights is None else np.maximum(weights, 0.01)
    first, second = ((X[part], y[part], None if w is None else w[part]) for part in (slice(0, cut), slice(cut, None)))
    whole = MultinomialNB(**settings_).fit(X, y, w)
    halves = [MultinomialNB(**settings_).fit(*part) for part in (first, second)]
    streamed = MultinomialNB(**settings_).partial_fit(*first[:2], sample_weight=first[2])
    streamed.predict(X)
    streamed.partial_fit(*second[:2], sample_weight=second[2])
    assert_same_model(streamed, whole)
    assert_same_model(halves[1].merge(halves[0]), whole)
    assert_same_model(whole.unlearn(*second), halves[0])


def test_new_classes_and_columns_may_come_at_any_time():
    X, y = corpus(80)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    X = X.toarray()
    X[:40, 10:] = 0
    clf = MultinomialNB()
    clf.partial_fit(X[:40, :10], y[:40])
    assert len(clf.classes_) < 4
    assert clf.predict(X[:3, :10]).shape == (3,)
    clf.partial_fit(X[40:], y[40:])
    assert clf.n_features_in_ == 25
    assert_same_model(clf, MultinomialNB().fit(X, y))
    with pytest.raises(ValueError, match="X has 10 features, but MultinomialNB is expecting 25 features"):
        clf.partial_fit(X[:, :10], y)


def test_classes_may_be_announced():
    clf = MultinomialNB().partial_fit([[1, 0]], ["b"], classes=["a", "b", "c"])
    assert clf.classes_.tolist() == ["a", "b", "c"]
    assert clf.predict_proba([[1, 1]]).tolist() == [[0, 1, 0]]
    clf.partial_fit([[0, 3]], ["c"]).unlearn([[0, 3]], ["c"])
    assert clf.classes_.tolist() == ["a", "b", "c"]
    assert np.isfinite(MultinomialNB(prior_scale=0).partial_fit([[1]], ["b"], ["a"]).predict_log_proba([[1]])).all()


def test_a_class_goes_with_its_last_document():
    clf = MultinomialNB().fit([[1, 0], [0, 1], [1, 1]], ["long name", "b", "b"])
    clf.unlearn([[1, 0]], ["long name"])
    assert_same_model(clf, MultinomialNB().fit([[0, 1], [1, 1]], ["b", "b"]))


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1, 0]], ["z"], "class 'z', which was never learned"),
        ([[9, 0]], ["a"], "never learned"),
        ([[1, 0], [0, 1]], ["a", "b"], "nothing would be left"),
        ([[1, 0]], [1], "text; got numbers"),
    ],
)
def test_unlearning_what_was_never_learned_changes_nothing(X, y, message):
    data = [[1, 0], [0, 1]], ["a", "b"]
    clf = MultinomialNB().fit(*data)
    with pytest.raises(ValueError, match=message):
        clf.unlearn(X, y)
    assert_same_model(clf, MultinomialNB().fit(*data))


def test_entries_of_one_cell_are_one_count():
    twice = sparse.csr_array(([0.1, 0.2, 1.0], [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    once = twice.copy()
    once.sum_duplicates()
    a, b = MultinomialNB().fit(twice, ["x", "y"]), MultinomialNB().fit(once, ["x", "y"])
    assert_same_model(a, b)
    np.testing.assert_array_equal(
        a.leave_one_out_log_proba(twice, ["x", "y"]), b.leave_one_out_log_proba(once, ["x", "y"])
    )


def test_only_models_alike_are_merged():
    X, y = corpus()
    clf = MultinomialNB(n_jobs=1).fit(X, y)
    with pytest.raises(ValueError, match=r"different alpha: 1\.0 and 0\.5"):
        clf.merge(MultinomialNB(0.5).fit(X, y))
    with pytest.raises(ValueError, match="other must be a MultinomialNB, got str"):
        clf.merge("model")
    with pytest.raises(NotFittedError):
        clf.merge(MultinomialNB())
    doubled = MultinomialNB().fit(sparse.vstack([X, X]).tocsr(), np.concatenate([y, y]))
    assert_same_model(clf.merge(MultinomialNB(n_jobs=2).fit(X, y)), doubled)


def test_smoothing_may_change_without_the_documents():
    X, y = corpus()
    clf = MultinomialNB().fit(X, y).set_params(alpha=0.1, prior_scale=0.3)
    assert_same_model(clf, MultinomialNB(0.1, prior_scale=0.3).fit(X, y))
    clf.set_params(document_weights="equal")
    with pytest.raises(ValueError, match="document_weights was 'length' when the documents were learned"):
        clf.partial_fit(X, y)


# Leave one out


@given(collections(min_documents=2), options)
@settings(deadline=None, max_examples=150)
def test_leave_one_out_equals_refitting(collection, settings_):
    X, y, weights = collection
    clf = MultinomialNB(**settings_).fit(X, y, weights)
    expected = reference.leave_one_out(X, y, weights, **settings_)
    actual = clf.leave_one_out_log_proba(X, y, weights)
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-5)


def test_leaving_out_nearly_all_of_a_class_is_exact():
    # 2e5 + 1e-6 - 2e5 is not 1e-6 in double precision, and the long document asks for what is left many times.
    X, y = np.array([[0, 1e5, 1e5], [0, 0, 1e-6], [1, 1, 1]]), ["a", "a", "b"]
    clf = MultinomialNB(1e-3, prior_scale=0).fit(X, y)
    expected = reference.leave_one_out(X, y, None, alpha=1e-3, prior_scale=0)
    np.testing.assert_allclose(clf.leave_one_out_log_proba(X, y), expected, rtol=1e-9, atol=1e-6)


def test_leave_one_out_equals_unlearning():
    X, y = corpus()
    clf = MultinomialNB(0.1).fit(X, y)
    scores = clf.leave_one_out_log_proba(X, y)
    for d in (0, 7, 31):
        without = MultinomialNB(0.1).fit(X, y).unlearn(X[[d]], y[[d]])
        np.testing.assert_allclose(scores[d], without.predict_log_proba(X[[d]])[0], rtol=1e-10)


def test_leaving_out_a_stranger_is_refused():
    clf = MultinomialNB().fit([[1, 0], [0, 1]], ["a", "b"])
    for X, y in (([[0, 3]], ["a"]), ([[2, 0]], ["a"])):
        with pytest.raises(ValueError, match="learned"):
            clf.leave_one_out_log_proba(X, y)
    with pytest.raises(ValueError, match="'z' was never learned"):
        clf.leave_one_out_log_proba([[1, 0]], ["z"])


# Threads, memory, many classes


def test_results_do_not_depend_on_the_number_of_threads():
    X, y = corpus(3000, 80, 40)
    X = X * 0.37
    weights = np.random.default_rng(3).random(3000)
    models = [MultinomialNB(0.1, n_jobs=n).fit(X, y, weights) for n in (1, 2, 7)]
    for other in models[1:]:
        assert_same_model(models[0], other)
        for method in ("predict_joint_log_proba", "predict_log_proba", "predict_top"):
            np.testing.assert_array_equal(getattr(models[0], method)(X)[0], getattr(other, method)(X)[0])
        np.testing.assert_array_equal(
            models[0].leave_one_out_log_proba(X, y, weights), other.leave_one_out_log_proba(X, y, weights)
        )


@pytest.mark.parametrize("n_classes", [3, 8, 20, 70])
@pytest.mark.parametrize("spread", [1.0, 1e-7, 0.0])
def test_the_best_class_is_that_of_the_exact_scores_however_near_another_comes(n_classes, spread):
    """Many documents are scored roughly first: with a small spread that decides nothing."""
    random = np.random.default_rng(n_classes)
    words = random.poisson(2.0, (400, 60)) * (random.random((400, 60)) < random.random(60))
    X, y = sparse.csr_matrix(words.astype(float)), random.permutation(np.arange(400) % n_classes)
    once = random.poisson(2.0, (1, 60)) + 1.0  # every class the same, but for the spread
    alike = sparse.csr_matrix(once + spread * random.random((n_classes, 60)))
    clf = MultinomialNB(prior_scale=0).fit(sparse.vstack([X * spread, alike]), np.append(y, range(n_classes)))
    clf._parameters._quantized.make(1)  # so that it is used
    many = sparse.vstack([X, X * 1e-3, X * 1e39, sparse.csr_matrix((3, 60))]).tocsr()
    exact = clf.predict_joint_log_proba(many)
    for n_jobs in (1, 3):
        np.testing.assert_array_equal(clf.set_params(n_jobs=n_jobs).predict(many), clf.classes_[exact.argmax(axis=1)])


def test_top_classes_are_those_of_predict_proba():
    X, y = corpus(300, 30, 12)
    clf = MultinomialNB().fit(X, y)
    labels, probabilities = clf.predict_top(X, 3)
    proba = clf.predict_proba(X)
    np.testing.assert_allclose(probabilities, -np.sort(-proba, axis=1)[:, :3], rtol=1e-12)
    np.testing.assert_array_equal(labels[:, 0], clf.predict(X))
    assert clf.predict_top(X, 99)[0].shape == (300, 12)
    np.testing.assert_allclose(clf.predict_top(X, 12)[1].sum(axis=1), 1)
    for k in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match="k must be a positive integer"):
            clf.predict_top(X, k)


def test_blocks_change_nothing(monkeypatch):
    X, y = corpus(100, 30, 12)
    clf = MultinomialNB().fit(X, y)
    whole = clf.predict(X), *clf.predict_top(X)
    monkeypatch.setattr("genus.base.posterior._BLOCK", 40)
    for a, b in zip(whole, (clf.predict(X), *clf.predict_top(X)), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_hundred_thousand_classes_need_no_dense_table():
    n, n_words = 200_000, 100_000
    rng = np.random.default_rng(4)
    y = np.arange(n) // 2
    indices = rng.integers(0, n_words, (n, 5))
    indices[:, 0] = y % n_words  # each class has a word of its own
    X = sparse.csr_array((np.ones(n * 5), indices.ravel(), np.arange(n + 1) * 5), shape=(n, n_words))
    tracemalloc.start()
    clf = MultinomialNB(0.01).fit(X, y)
    labels, probabilities = clf.predict_top(X[:300], 5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert labels.shape == probabilities.shape == (300, 5)
    assert (labels[:, 0] == y[:300]).mean() > 0.95
    assert peak < 200e6  # dense, the table alone would be 80 GB
    state = clf._get_state()
    assert sum(value.nbytes for value in state.values() if isinstance(value, np.ndarray)) < 100e6


# Looking inside


@pytest.mark.parametrize("n_classes", [2, 12])
def test_evidence_adds_up_to_the_score(n_classes):
    X, y = corpus(100, 30, n_classes)
    X = sparse.hstack([X, sparse.csr_array((100, 1))]).tocsr()
    clf = MultinomialNB(0.1).fit(X, y)
    classes = [n_classes - 1, 0, 1]
    scores = clf.predict_joint_log_proba(X)
    for d in (0, 5, 17):
        row = to_rows(X[[d]])
        row = SparseRows(
            np.array([0, len(row.indices) + 2]),
            np.append(row.indices, [30, 99]).astype(np.int32),
            np.append(row.data, [0.0, 4.0]),
            100,
        )  # a word no class has seen and one outside the table
        bias, words = clf._log_evidence(row, classes)
        np.testing.assert_allclose(bias + words.sum(axis=0), scores[d, classes], rtol=1e-12)
        assert (words[-1] == 0).all()


def test_top_words_speak_for_their_class():
    X = np.array([[5, 0, 1, 0], [4, 1, 0, 0], [0, 6, 1, 0], [3, 0, 9, 0]])
    clf = MultinomialNB().fit(X, ["a", "a", "b", "c"])
    words, weights = clf._top_words(0, 10)
    p = np.exp(clf.feature_log_prob_[0])
    rest = X[2:].sum(axis=0)
    expected = p * np.log(p / ((rest + 1) / (rest.sum() + 4)))
    assert words.tolist() == [w for w in np.argsort(-expected) if X[:2].sum(axis=0)[w]]
    np.testing.assert_allclose(weights, expected[words])
    assert clf._top_words(1, 1)[0].tolist() == [1]
    assert MultinomialNB().fit([[1, 3]], ["only"])._top_words(0, 5)[0].tolist() == [1, 0]


# Keeping


def reopened(clf):
    """A model from read-only arrays, as from a mapped file."""
    state = clf._get_state()
    for name, value in state.items():
        if isinstance(value, np.ndarray):
            state[name] = value.copy()
            state[name].flags.writeable = False
    other = MultinomialNB(**clf.get_params(deep=False))
    other._set_state(state)
    return other


def test_a_reopened_model_predicts_and_learns_the_same():
    X, y = corpus()
    clf = MultinomialNB(0.1, document_weights="equal").fit(X[:40], y[:40])
    other = reopened(clf)
    np.testing.assert_array_equal(other.predict_log_proba(X), clf.predict_log_proba(X))
    assert_same_model(other.partial_fit(X[40:], y[40:]), clf.partial_fit(X[40:], y[40:]))
    assert_same_model(reopened(clf).unlearn(X[:9], y[:9]), clf.unlearn(X[:9], y[:9]))
    assert_same_model(pickle.loads(pickle.dumps(clf)), clf)  # noqa: S301


@given(st.data())
@settings(deadline=None, max_examples=200)
def test_hostile_arrays_do_no_harm(data):
    X, y = corpus(60, 12, 5)
    state = MultinomialNB().fit(X, y)._get_state()
    name = data.draw(st.sampled_from(["indptr", "classes", "counts", "table_indptr", "table_classes"]))
    array = state[name].copy()
    wild = st.sampled_from([-1, 0, 3, 10**6, 2**31 - 1, -(2**31)])
    if array.dtype == np.int64:
        wild |= st.sampled_from([2**63 - 1, -(2**63), 2**40])
    for _ in range(data.draw(st.integers(1, 4))):
        array[data.draw(st.integers(0, len(array) - 1))] = data.draw(wild)
    state[name] = array
    clf = MultinomialNB()
    with pytest.MonkeyPatch.context() as patch:  # as if the tables were large: small ones are refused at once
        for module in ("statistics", "score_table"):
            patch.setattr(f"genus.base.{module}.CHECKED_AT_ONCE", 0)
        clf._set_state(state)
    assert clf.predict(X).shape == (60,)
    clf.predict_top(X)
    row = to_rows(X[[1]])
    clf._log_evidence(row, [0, 4])
    damaged = not np.array_equal(array, MultinomialNB().fit(X, y)._get_state()[name])
    for use in (
        lambda: clf.partial_fit(X, y).classes_,
        lambda: clf._top_words(0, 3),
        lambda: clf.feature_count_,
    ):
        try:
            use()
        except (ValueError, OverflowError):
            assert damaged


def test_offsets_whose_difference_wraps_around_are_refused():
    X, y = corpus(60, 12, 5)
    state = MultinomialNB().fit(X, y)._get_state()
    state["indptr"] = state["indptr"].copy()
    state["indptr"][2:4] = 2**63 - 1, -(2**63)  # their difference is 1 in 64 bits
    with pytest.raises(ValueError, match="damaged"):
        MultinomialNB()._set_state(state)


@pytest.mark.parametrize("name", ["labels", "indptr", "table_bias", "table_values", "document_weights"])
def test_an_incomplete_or_misshapen_state_is_refused(name):
    X, y = corpus()
    state = MultinomialNB().fit(X, y)._get_state()
    value = state.pop(name)
    with pytest.raises(ValueError, match="lacks"):
        MultinomialNB()._set_state(state)
    if isinstance(value, np.ndarray):
        for wrong in (value[:-1], value.reshape(1, -1)):
            with pytest.raises(ValueError, match=r"belong|length|must be|different|is damaged"):
                MultinomialNB()._set_state(state | {name: wrong})


# Errors


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 0}, "alpha must be a positive number, got 0"),
        ({"alpha": -1.0}, "alpha must be a positive number, got -1.0"),
        ({"alpha": "1"}, "alpha must be a positive number, got '1'"),
        ({"alpha": np.nan}, "alpha must be a positive number, got nan"),
        (
            {"background_smoothing": 0.0},
            "background_smoothing must be None or a number above 0, at most 1, got 0.0",
        ),
        ({"background_smoothing": 1.5}, "background_smoothing must be .* got 1.5"),
        ({"prior_scale": -0.1}, "prior_scale must be a number that is not negative, got -0.1"),
        ({"document_weights": "idf"}, "document_weights must be 'length' or 'equal', got 'idf'"),
        ({"class_prior": [0.5, 0.5]}, "class_prior must be 4 probabilities that sum to 1"),
        ({"class_prior": [0.5, 0.5, 0.5, 0.5]}, "class_prior must be 4 probabilities that sum to 1"),
        ({"n_jobs": 0}, "n_jobs must be None or a non-zero integer, got 0"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, message):
    X, y = corpus()
    with pytest.raises(ValueError, match=message):
        MultinomialNB(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1, -1]], ["a"]), "Negative values in data"),
        (([[1, 1]], ["a", "b"]), "inconsistent numbers of samples"),
        (([[1, 1]], [0.5]), "continuous"),
        (([[1, 1]], ["a"], [-1]), "sample_weight must be finite and not negative"),
        (
            ([[1, 1]], ["a"], [1, 2]),
            r"sample_weight must have shape \(1,\), one weight for each document, got \(2,\)",
        ),
    ],
)
def test_documents_that_make_no_sense_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        MultinomialNB().fit(*arguments)


def test_inner_doors_check_labels():
    X, y = corpus()
    rows = to_rows(X)
    with pytest.raises(ValueError, match="one label for each document"):
        MultinomialNB()._fit_rows(rows, y[:-1])
    assert_same_model(MultinomialNB()._fit_rows(rows, list(y)), MultinomialNB().fit(X, y))
    assert_same_model(
        MultinomialNB()._partial_fit_rows(rows, y)._partial_fit_rows(rows, y)._unlearn_rows(rows, y),
        MultinomialNB().fit(X, y),
    )


def test_weights_of_zero_are_refused_whole_and_leave_the_prior_uniform_in_parts():
    X, y = [[1, 0], [0, 1]], ["a", "b"]
    with pytest.raises(ValueError, match="sample_weight must be above zero for at least one document"):
        MultinomialNB().fit(X, y, [0, 0])
    clf = MultinomialNB().partial_fit(X, y, sample_weight=[0, 0])
    np.testing.assert_allclose(clf.predict_proba([[1, 0]]), [[0.5, 0.5]])
