"""DiscriminativeNB against the plain loops of its reference, against WEKA, and against its own promises."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import genus
from genus import TextClassifier
from genus.base.rows import to_rows
from genus.errors import ModelFileError
from genus.models.discriminative.model import DiscriminativeNB
from genus.models.naive_bayes import MultinomialNB
from reference.discriminative import Learner
from reference.matrices import identity

pytestmark = pytest.mark.kernel

values = st.one_of(st.just(0.0), st.integers(0, 4).map(float), st.floats(0, 100, width=32), st.just(1e5))
options = st.fixed_dictionaries(
    {
        "binary": st.booleans(),
        "variant": st.sampled_from(["code", "code", "paper"]),
        "min_loss": st.sampled_from([0.0, 0.0, 0.123456, 0.387654]),
    }
).flatmap(
    lambda given: st.sampled_from([{}, {"average": True}, {"decay": 0.7}, {"decay": 30.0}]).map(lambda o: given | o)
)


@st.composite
def streams(draw, labels="abcdefghijkl"):
    n, n_words = draw(st.integers(1, 14)), draw(st.integers(1, 6))
    X = np.array(draw(st.lists(st.lists(values, min_size=n_words, max_size=n_words), min_size=n, max_size=n)))
    n_labels = draw(st.integers(1, len(labels)))
    y = draw(st.lists(st.sampled_from(labels[:n_labels]), min_size=n, max_size=n))
    weights = draw(st.none() | st.lists(st.sampled_from([0.0, 1.0, 0.1, 2.5]), min_size=n, max_size=n).filter(any))
    return X, y, weights


def corpus(n=300, n_words=40, n_classes=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.poisson(rng.random((n_classes, n_words))[y] ** 3 * 2)
    X[::13] = 0  # empty documents
    return sparse.csr_array(X), np.array([f"class {c:03}" for c in y])


def learned(reference, X, y, weights, order):
    for d in order:
        reference.learn(X[d], y[d], 1.0 if weights is None else weights[d])
    return reference


def scores_in_order(reference, X):
    """The reference's log odds by sorted label, all but a constant for each document."""
    order = sorted(range(len(reference.labels)), key=reference.labels.__getitem__)
    return np.array([[reference.scores(x)[i] for i in order] for x in X])


def assert_same_scores(clf, reference, X):
    got, expected = clf.predict_joint_log_proba(X), scores_in_order(reference, X)
    # Of two classes, either may be the one that has 0.
    size = max(1.0, np.abs(expected).max(initial=0))  # a sum is as exact as the largest of what it adds up
    np.testing.assert_allclose(got - got[:, :1], expected - expected[:, :1], rtol=1e-9, atol=1e-9 * size)


def assert_same_model(a, b):
    x, y = a._get_state(), b._get_state()
    assert x.keys() == y.keys()
    for name, value in x.items():
        np.testing.assert_array_equal(value, y[name], err_msg=name)


# Against the reference


@given(streams(), options, st.integers(1, 3), st.booleans())
@settings(deadline=None, max_examples=200)
def test_fit_is_the_plain_loop(stream, options_, n_passes, shuffle):
    X, y, weights = stream
    clf = DiscriminativeNB(n_passes, shuffle=shuffle, random_state=3, **options_).fit(X, y, weights)
    reference = Learner(X.shape[1], labels=sorted(set(y)), **options_)
    random = np.random.RandomState(3)
    for _ in range(n_passes):
        learned(reference, X, y, weights, random.permutation(len(y)) if shuffle else range(len(y)))
    assert_same_scores(clf, reference, X)
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1, rtol=1e-12)


@given(streams(), options, st.integers(1, 5))
@settings(deadline=None, max_examples=200)
def test_a_stream_is_the_plain_loop_and_classes_may_come_late(stream, options_, size):
    X, y, weights = stream
    clf = DiscriminativeNB(**options_)
    for begin in range(0, len(y), size):
        part = slice(begin, begin + size)
        clf.partial_fit(X[part], y[part], sample_weight=None if weights is None else weights[part])
    if clf._is_fitted():
        assert_same_scores(clf, learned(Learner(X.shape[1], **options_), X, y, weights, range(len(y))), X)


@pytest.mark.parametrize("n_classes", [1, 2, 3, 7, 8, 9, 17, 40])
@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.float64])
@pytest.mark.parametrize("binary", [True, False])
def test_every_number_of_classes(n_classes, dtype, binary):
    X, y = corpus(120, 30, n_classes, seed=n_classes)
    clf = DiscriminativeNB(shuffle=False, binary=binary).fit(X.astype(dtype), y)
    reference = Learner(X.shape[1], binary=binary, labels=sorted(set(y)))
    assert_same_scores(clf, learned(reference, X.toarray(), y, None, range(len(y))), X.toarray())


@pytest.mark.parametrize("n_columns", [12, 80, 300, 2000])
@pytest.mark.parametrize("n_classes", [2, 11])
def test_words_among_many_columns_that_never_occur(n_columns, n_classes):
    X, y = corpus(80, 12, n_classes)
    X.indices = np.sort(np.random.default_rng(1).permutation(n_columns)[:12])[X.indices]
    X = sparse.csr_array((X.data, X.indices, X.indptr), shape=(80, n_columns))
    clf = DiscriminativeNB(shuffle=False).fit(X, y)
    reference = learned(Learner(n_columns, labels=sorted(set(y))), X.toarray(), y, None, range(80))
    assert_same_scores(clf, reference, X.toarray())
    assert_same_model(pickle.loads(pickle.dumps(clf)), clf)  # noqa: S301


@pytest.mark.parametrize("n_columns", [30, 59, 61, 239, 241, 5000])
@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 12])
def test_few_and_many_of_the_words_may_have_rows(n_columns, n_classes):
    """Rows for all words, for those that came, or for all from some document on: the same model."""
    X, y = corpus(300, 30, n_classes, seed=n_classes)
    X.indices = np.sort(np.random.default_rng(1).permutation(n_columns)[:30])[X.indices]
    X = sparse.csr_array((X.data, X.indices, X.indptr), shape=(300, n_columns))
    reference = learned(Learner(n_columns, labels=sorted(set(y))), X.toarray(), y, None, range(300))
    whole, pieces, single = (
        DiscriminativeNB().partial_fit(X[:1], y[:1], classes=sorted(set(y)), sample_weight=[0.0]) for _ in range(3)
    )
    whole.partial_fit(X, y)
    for begin in range(0, 300, 50):
        pieces.partial_fit(X[begin : begin + 50], y[begin : begin + 50])
    for d in range(300):
        single._learn_one(to_rows(X[d : d + 1].astype(float)), str(y[d]))
    assert_same_scores(whole, reference, X[:30].toarray())
    for other in (pieces, single, pickle.loads(pickle.dumps(whole))):  # noqa: S301
        assert_same_model(whole, other)
        np.testing.assert_array_equal(whole.predict_joint_log_proba(X), other.predict_joint_log_proba(X))


@pytest.mark.parametrize("n_later", [31, 120, 121, 3000])
@pytest.mark.parametrize("n_classes", [2, 3, 12])
@pytest.mark.parametrize("options_", [{}, {"average": True}, {"binary": False}])
def test_a_little_or_many_more_words(n_later, n_classes, options_):
    X, y = corpus(60, 30, n_classes)
    X = X.toarray()
    wider = np.zeros((60, n_later))
    wider[:, np.random.default_rng(2).permutation(n_later)[:30]] = X
    clf = DiscriminativeNB(**options_).partial_fit(X, y).partial_fit(wider, y)
    loaded = pickle.loads(pickle.dumps(clf)).partial_fit(wider, y)  # noqa: S301
    reference = learned(Learner(30, **options_), X, y, None, range(60))
    reference.n_words = n_later
    learned(reference, wider, y, None, range(60))
    assert_same_scores(clf, reference, wider[:2])
    assert_same_model(clf.partial_fit(wider, y), loaded)


@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [2, 3, 20])
def test_zeros_that_are_kept_do_not_count(dtype, n_classes):
    X, y = corpus(150, 30, n_classes)
    zeros = X.astype(dtype)
    zeros.data[::5] = 0
    clean = zeros.copy()
    clean.eliminate_zeros()
    a, b = (DiscriminativeNB(random_state=0).fit(matrix, y) for matrix in (zeros, clean))
    assert_same_model(a, b)
    np.testing.assert_array_equal(a.predict_joint_log_proba(zeros), b.predict_joint_log_proba(clean))


@pytest.mark.parametrize("n_classes", [2, 5, 20])
def test_words_without_room_are_passed_over(n_classes):
    X, y = corpus(150, 30, n_classes)
    clf = DiscriminativeNB(random_state=0).fit(X, y)
    wider = sparse.hstack([X, sparse.csr_array(np.ones((150, 4)))]).tocsr()
    scores = [clf._score(to_rows(matrix.astype(float)), 1) for matrix in (X, wider)]
    np.testing.assert_array_equal(*scores)


def test_words_that_come_later_change_where_counts_begin():
    X, y = corpus(100, 30, 3)
    clf = DiscriminativeNB().partial_fit(X[:50, :20], y[:50])
    clf.partial_fit(X[50:], y[50:])
    reference = Learner(20)
    learned(reference, X.toarray()[:, :20], y, None, range(50))
    reference.n_words = 30
    assert_same_scores(clf, learned(reference, X.toarray(), y, None, range(50, 100)), X.toarray())
    assert clf.n_features_in_ == 30


def test_odds_beyond_the_range_of_numbers():
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.random((60, 5000)) < 0.9).astype(float)
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, 60)]
    clf = DiscriminativeNB(shuffle=False, n_passes=3).fit(X, y)
    reference = Learner(5000, labels="abc")
    for _ in range(3):
        learned(reference, X.toarray(), y, None, range(60))
    expected = scores_in_order(reference, X[:5].toarray())
    np.testing.assert_allclose(clf.predict_joint_log_proba(X[:5]), expected, rtol=1e-9)

    apart = np.kron(np.eye(2), np.ones((1, 2500)))  # two documents without a word in common
    for binary in (True, False):
        heavy = DiscriminativeNB(shuffle=False, binary=binary).fit(apart, ["a", "b"], [1e6, 1e6])
        odds = heavy.predict_joint_log_proba(apart)[:, 0]
        assert odds[0] > 1500
        assert odds[1] < -1500
        heavy.partial_fit(apart, ["b", "a"])  # with a loss of one
        assert heavy.class_loss_[1] == pytest.approx(1.0)


# Promises


def test_equal_for_any_number_of_threads():
    X, y = corpus(400, 60, 40)
    models = [DiscriminativeNB(2, random_state=0, n_jobs=n).fit(X, y) for n in (1, 2, 7)]
    for model in models[1:]:
        assert_same_model(models[0], model)
        np.testing.assert_array_equal(models[0].predict_log_proba(X), model.predict_log_proba(X))


@pytest.mark.parametrize("options_", [{}, {"decay": 20.0}, {"average": True}, {"min_loss": 0.01}, {"variant": "paper"}])
def test_a_stream_may_come_in_pieces_of_any_size(options_):
    X, y = corpus(200, 30, 12)
    whole = DiscriminativeNB(**options_).partial_fit(X, y)
    pieces, single = DiscriminativeNB(**options_), DiscriminativeNB(**options_)
    for begin in range(0, 200, 7):
        pieces.partial_fit(X[begin : begin + 7], y[begin : begin + 7])
    for d in range(200):
        single._learn_one(to_rows(X[d : d + 1].astype(float)), str(y[d]))
    assert_same_model(whole, pieces)
    assert_same_model(whole, single)


def test_a_seed_makes_the_order():
    X, y = corpus()
    a, b, c = (DiscriminativeNB(random_state=seed).fit(X, y) for seed in (0, 0, 1))
    assert_same_model(a, b)
    assert (a.predict_joint_log_proba(X) != c.predict_joint_log_proba(X)).any()


def test_documents_of_weight_zero_leave_no_trace():
    X, y = corpus(100, 30, 5)
    weights = np.ones(100)
    weights[::3] = 0
    clf = DiscriminativeNB(decay=50).partial_fit(X, y, sample_weight=weights)
    kept = weights > 0
    other = DiscriminativeNB(decay=50).partial_fit(X[:1], y[:1], sample_weight=[0.0])
    other = other.partial_fit(X[np.flatnonzero(kept)], y[kept])
    np.testing.assert_array_equal(clf.predict_joint_log_proba(X), other.predict_joint_log_proba(X))


def test_old_evidence_fades_at_its_half_life():
    X, y = np.array([[1.0, 0.0], [0.0, 1.0]]), ["a", "b"]
    clf = DiscriminativeNB(decay=10, shuffle=False).fit(X, y)
    before = clf._accumulator.learner.evidence(0, np.array([0]))[0][0]
    for _ in range(10):
        clf.partial_fit(0 * X[:1], ["a"])  # empty documents teach no words
    assert clf._accumulator.learner.evidence(0, np.array([0]))[0][0] == pytest.approx(before / 2, rel=1e-12)


def test_forgetting_follows_a_drift():
    X, y = corpus(3200, 40, 2)
    swapped = np.where(y == "class 000", "class 001", "class 000")
    noisy = np.where(np.random.default_rng(0).random(3200) < 0.3, swapped, y)
    scores = {}
    for decay in (None, 50.0):
        clf = DiscriminativeNB(decay=decay)
        # From document 3000 on, the labels mean the opposite.
        clf.partial_fit(X[:3000], noisy[:3000]).partial_fit(X[3000:3040], swapped[3000:3040])
        scores[decay] = np.mean(clf.predict(X[3040:]) == swapped[3040:])
    assert scores[50.0] > scores[None] + 0.2


def test_fading_never_leaves_the_range_of_numbers():
    X, y = corpus(2000, 20, 3)
    clf = DiscriminativeNB(decay=1.0, shuffle=False).fit(X, y)  # 2**2000 in all
    reference = Learner(20, decay=1.0, labels=sorted(set(y)))
    assert_same_scores(clf, learned(reference, X.toarray(), y, None, range(2000)), X[:50].toarray())


def test_classes_without_losses_take_no_room():
    X, y = corpus(2000, 60, 64)
    X = sparse.hstack([X, identity(2000)]).tocsr()  # each document has a word of its own
    everything = DiscriminativeNB(random_state=0).fit(X, y)
    little = DiscriminativeNB(random_state=0, min_loss=0.1).fit(X, y)
    assert len(everything._get_state()["evidence"]) > 2000 * 64 * 2
    assert len(little._get_state()["evidence"]) < 0.6 * len(everything._get_state()["evidence"])
    assert little.score(X, y) > everything.score(X, y) - 0.01


def test_memory_is_in_proportion_to_what_was_touched():
    n_classes, n_columns = 100_000, 1 << 20
    X = sparse.csr_array(([1, 1, 1], [7, 900_000, 1_048_575], [0, 2, 3]), shape=(2, n_columns))
    clf = DiscriminativeNB(shuffle=False).partial_fit(X, [5, 99_999], classes=np.arange(n_classes))
    assert clf.predict(X).tolist() == [5, 99_999]
    size = sum(array.nbytes for array in clf._get_state().values() if isinstance(array, np.ndarray))
    assert size < n_classes * (6 * 2 * 8 + 100)  # six rows of two sides; one number per column would take 52 GB


def test_several_passes_and_averages_learn_better_than_chance():
    X, y = corpus(600, 60, 4)
    for options_ in ({}, {"n_passes": 5}, {"average": True}, {"binary": False}, {"variant": "paper", "binary": False}):
        clf = DiscriminativeNB(random_state=0, **options_).fit(X[:400], y[:400])
        assert clf.score(X[400:], y[400:]) > 0.6, options_


def test_sorted_documents_teach_little_unless_shuffled():
    X, y = corpus(600, 60, 8)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    assert DiscriminativeNB(shuffle=False).fit(X, y).score(X, y) < DiscriminativeNB(random_state=0).fit(X, y).score(
        X, y
    )


def test_declared_classes_are_known_from_the_beginning():
    X, y = corpus(100, 30, 5)
    labels = sorted(set(y))
    declared = DiscriminativeNB().partial_fit(X, y, classes=labels)
    np.testing.assert_array_equal(
        declared.predict_joint_log_proba(X), DiscriminativeNB(shuffle=False).fit(X, y).predict_joint_log_proba(X)
    )


def test_what_depends_on_order_cannot_be_taken_apart():
    assert not hasattr(DiscriminativeNB(), "unlearn")
    assert not hasattr(DiscriminativeNB(), "merge")
    clf = TextClassifier("dmnb").fit(["red", "blue"], ["r", "b"])
    with pytest.raises(ValueError, match="cannot unlearn"):
        clf.unlearn(["red"], ["r"])


def test_threads_may_learn_and_predict_at_once():
    X, y = corpus(200, 50, 20)
    clf = DiscriminativeNB(n_jobs=2).fit(X[:2], y[:2])
    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(clf.partial_fit, X, y) for _ in range(20)]
        futures += [pool.submit(clf._score, to_rows(X), 2) for _ in range(20)]
        for future in futures:
            future.result()
    assert clf.class_count_.sum() == 2 + 20 * 200


# Looking inside


@given(streams("abcd"), options)
@settings(deadline=None, max_examples=60)
def test_evidence_adds_up_to_the_scores(stream, options_):
    X, y, weights = stream
    clf = DiscriminativeNB(random_state=0, **options_).fit(X, y, weights)
    scores = clf.predict_joint_log_proba(X)
    classes = range(len(clf.classes_))
    for x, expected in zip(X, scores, strict=True):
        prior, words = clf._log_evidence(to_rows(x[np.newaxis]), classes)
        np.testing.assert_allclose(prior + words.sum(axis=0), expected, rtol=1e-9, atol=1e-9)
    values = (X > 0).astype(float) if options_["binary"] else X
    dense = clf.class_log_odds_ + values @ clf.feature_log_odds_.T
    np.testing.assert_allclose(dense, scores, rtol=1e-9, atol=1e-9)


def test_the_words_that_mistakes_taught():
    texts = ["cheap pills now", "cheap pills", "lunch now", "lunch on friday"] * 5
    for model in (DiscriminativeNB(random_state=0), DiscriminativeNB(random_state=0, variant="paper")):
        clf = TextClassifier(model).fit(texts, ["spam", "spam", "ham", "ham"] * 5)
        assert {word for word, _ in clf.top_words("spam", 2)} == {"cheap", "pills"}
        assert clf.top_words("ham", 1)[0][0] == "lunch"
        explanation = clf.explain("cheap lunch, cheap pills!")
        assert explanation.label == "spam"
        odds = clf.predict_log_proba([explanation.text])[0]
        assert explanation.log_odds == pytest.approx(odds[1] - odds[0])
        assert sorted(w.word for w in explanation.words if w.contribution > 0) == ["cheap", "pills"]


def test_counts_and_losses_of_classes():
    X, y = corpus(300, 40, 3)
    clf = DiscriminativeNB(random_state=0).fit(X, y)
    assert clf.class_count_.tolist() == [np.sum(y == label) for label in clf.classes_]
    assert (clf.class_loss_ > 0).all()
    assert (clf.class_loss_ < clf.class_count_).all()


# Keeping


@pytest.mark.parametrize("options_", [{}, {"average": True}, {"decay": 50.0}, {"variant": "paper"}])
@pytest.mark.parametrize("n_classes", [2, 12])
def test_a_saved_model_goes_on_where_it_was(tmp_path, options_, n_classes):
    X, y = corpus(200, 30, n_classes)
    clf = DiscriminativeNB(**options_).partial_fit(X[:100], y[:100])
    genus.save(clf, tmp_path / "m.genus")
    written = (tmp_path / "m.genus").read_bytes()
    loaded = genus.load(tmp_path / "m.genus")
    np.testing.assert_array_equal(loaded.predict_log_proba(X), clf.predict_log_proba(X))
    assert_same_model(loaded, clf)
    assert_same_model(loaded.partial_fit(X[100:], y[100:]), clf.partial_fit(X[100:], y[100:]))
    assert (tmp_path / "m.genus").read_bytes() == written


def test_copies_learn_on_their_own():
    X, y = corpus(200, 30, 5)
    clf = DiscriminativeNB(random_state=0).fit(X, y)
    for other in (copy.deepcopy(clf), pickle.loads(pickle.dumps(clf))):  # noqa: S301
        assert_same_model(clf, other)
        before = clf.predict_log_proba(X)
        other.partial_fit(X, y)
        np.testing.assert_array_equal(clf.predict_log_proba(X), before)


@pytest.mark.parametrize(
    "change",
    [
        {"words": np.zeros(3, np.int32)},
        {"words": np.zeros(3)},
        {"words": lambda words: words + 10**6},
        {"words": lambda words: words - 7},
        {"words": lambda words: np.minimum(words, 5)},
        {"starts": np.array([0, -5])},
        {"starts": np.array([5])},
        {"evidence": np.zeros(1)},
        {"sums": np.zeros(5)},
        {"fading": float("nan")},
        {"n_learned": -1.0},
        {"n_words": 10**12},
        {"n_words": -1},
        {"labels": np.array(["a", "a", "b", "c", "d"])},
        {"labels": np.array([["a"]])},
        {"weights": np.zeros(2)},
        {"binary": "yes", "variant": "no"},
        {"decay": -1},
    ],
)
def test_damaged_states_are_refused(change):
    X, y = corpus(50, 20, 5)
    state = DiscriminativeNB().fit(X, y)._get_state()
    changed = {name: value(state[name]) if callable(value) else value for name, value in change.items()}
    with pytest.raises(ValueError):
        DiscriminativeNB()._set_state(state | changed)


def test_damaged_numbers_do_no_harm_and_are_found_when_learning_goes_on():
    X, y = corpus(50, 20, 5)
    state = DiscriminativeNB().fit(X, y)._get_state()
    clf = DiscriminativeNB()
    clf._set_state(state | {"evidence": -1 - state["evidence"]})
    clf.predict_log_proba(X)
    with pytest.raises(ValueError, match="damaged"):
        clf.partial_fit(X, y)


def test_a_file_of_another_kind(tmp_path):
    X, y = corpus()
    genus.save(DiscriminativeNB().fit(X, y), tmp_path / "bare.genus")
    with pytest.raises(ModelFileError, match="holds a DiscriminativeNB, not a TextClassifier"):
        TextClassifier.load(tmp_path / "bare.genus")


# Bad input


@pytest.mark.parametrize(
    ("options_", "said"),
    [
        ({"n_passes": 0}, "n_passes must be a positive integer, got 0"),
        ({"n_passes": True}, "n_passes must be a positive integer"),
        ({"decay": 0}, "decay must be None or a positive number"),
        ({"decay": float("inf")}, "decay must be None or a positive number"),
        ({"decay": 5.0, "average": True}, "average and decay exclude one another"),
        ({"min_loss": 1.0}, "min_loss must be a number from 0 to below 1"),
        ({"min_loss": -0.1}, "min_loss must be"),
        ({"variant": "weka"}, "variant must be 'code' or 'paper', got 'weka'"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_parameters_that_make_no_sense(options_, said):
    X, y = corpus()
    with pytest.raises(ValueError, match=said):
        DiscriminativeNB(**options_).fit(X, y)
    with pytest.raises(ValueError, match=said):
        DiscriminativeNB(**options_).partial_fit(X, y)


@pytest.mark.parametrize("weight", [-1.0, float("inf"), float("nan")])
def test_weights_that_make_no_sense(weight):
    X, y = corpus()
    weights = np.ones(len(y))
    weights[7] = weight
    clf = DiscriminativeNB(random_state=0).fit(X, y)
    before = clf.predict_log_proba(X)
    with pytest.raises(ValueError, match="sample_weight must be finite and not negative"):
        clf.partial_fit(X, y, sample_weight=weights)
    bad = X.astype(float)
    bad.data[0] = weight
    with pytest.raises(ValueError, match=r"[Nn]egative|infinity|NaN"):
        clf.partial_fit(bad, y)
    np.testing.assert_array_equal(clf.predict_log_proba(X), before)


def test_settings_of_counting_cannot_change_later():
    X, y = corpus()
    clf = DiscriminativeNB(random_state=0).fit(X, y)
    before = clf.predict_log_proba(X)
    clf.set_params(binary=False)
    np.testing.assert_array_equal(clf.predict_log_proba(X), before)
    with pytest.raises(ValueError, match="binary was True when the documents were learned"):
        clf.partial_fit(X, y)


def test_labels_of_another_kind_are_refused_and_nothing_is_learned():
    X, y = corpus()
    clf = DiscriminativeNB(random_state=0).fit(X, y)
    before = clf.predict_log_proba(X)
    with pytest.raises(ValueError, match="labels of the kind learned so far, which is text"):
        clf.partial_fit(X[:2], [1, 2])
    np.testing.assert_array_equal(clf.predict_log_proba(X), before)


def test_words_that_occur_twice_in_a_row_of_the_matrix_are_one_word():
    X = sparse.csr_array((np.array([1, 1, 1]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    clf = DiscriminativeNB(shuffle=False).fit(X, ["a", "b"])
    plain = DiscriminativeNB(shuffle=False).fit([[2, 0], [0, 1]], ["a", "b"])
    assert_same_model(clf, plain)
    np.testing.assert_array_equal(clf.predict_joint_log_proba(X), plain.predict_joint_log_proba([[2, 0], [0, 1]]))


# The paper


def test_the_illustrative_example_of_section_6():
    # naive, bayes, svm, classifier, performance; "NB" of figure 1 is the two dependent words.
    train = np.array([[1, 1, 0, 1, 1], [0, 0, 1, 1, 1], [1, 1, 0, 1, 0]])
    labels, test = ["evaluation", "classification", "classification"], [[1, 1, 0, 0, 0]]
    unsmoothed = MultinomialNB(1e-12).fit(train, labels)
    assert unsmoothed.predict_proba(test)[0, 1] == pytest.approx(9 / 17)  # naive Bayes is wrong, as in figure 2
    for variant in ("code", "paper"):
        clf = DiscriminativeNB(50, variant=variant, shuffle=False).fit(train, labels)
        assert clf.predict_proba(test)[0, 1] < 0.5, variant


# WEKA 3.6.14, DMNBtext: `python -m benchmarks.weka` compares whole data sets where Java and WEKA are there.

# For (classes, options of WEKA, our settings): the posteriors of documents 12, 17 and 23, trained on the first 12.
GOLDEN = [
    (2, "", {}, [[0.623748036, 0.376251964], [0.66579049, 0.33420951], [0.4564366, 0.5435634]]),
    (2, "-I 3", {"n_passes": 3}, [[0.660081781, 0.339918219], [0.71943057, 0.28056943], [0.382344955, 0.617655045]]),
    (2, "-M", {"binary": False}, [[0.706959337, 0.293040663], [0.780161896, 0.219838104], [0.316064801, 0.683935199]]),
    (
        4, "", {},
        [[0.312424651, 0.13405065, 0.321885419, 0.23163928], [0.266347072, 0.087754613, 0.394949862, 0.250948453],
         [0.163998723, 0.328825569, 0.302160263, 0.205015445]],
    ),
    (
        4, "-I 3", {"n_passes": 3},
        [[0.405702814, 0.091719861, 0.297068141, 0.205509184], [0.294572043, 0.039077622, 0.421968972, 0.244381363],
         [0.115504205, 0.469152854, 0.257848229, 0.157494712]],
    ),
    (
        4, "-M", {"binary": False},
        [[0.255488306, 0.036379805, 0.543221132, 0.164910757], [0.046632362, 0.00408304, 0.779871582, 0.169413016],
         [0.050419696, 0.707393082, 0.207982424, 0.034204798]],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("n_classes", "weka_options", "options_", "expected"), GOLDEN)
def test_posteriors_are_wekas(n_classes, weka_options, options_, expected):
    d, w = np.arange(24)[:, np.newaxis], np.arange(9)
    counts = np.maximum((7 * d + 11 * w + d * w * (w + d % 4)) % 7 - 3, 0)
    y = (np.arange(24) * 5 // 3) % n_classes
    clf = DiscriminativeNB(shuffle=False, **options_).fit(counts[:12], y[:12])
    np.testing.assert_allclose(clf.predict_proba(counts[[12, 17, 23]]), expected, atol=1e-9)
