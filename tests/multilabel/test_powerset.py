"""LabelPowerset: sets of labels as classes, in any form that y may have."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import MultinomialNB as SklearnNB
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.svm import LinearSVC

import genus
from genus import LabelPowerset, ModelFileError, MultinomialNB, TextClassifier
from reference.matrices import random_rows

pytestmark = pytest.mark.kernel

X = np.array([[2, 0, 1], [0, 3, 0], [1, 2, 0], [0, 0, 4], [1, 2, 1], [0, 0, 0]])
Y = [{"sport"}, {"money"}, {"money", "sport"}, set(), {"sport", "money"}, {"art"}]
INDICATOR = MultiLabelBinarizer().fit_transform(Y)

label_sets = st.sets(st.sampled_from("abcd"), max_size=3)


@st.composite
def collections(draw, min_documents=1):
    n = draw(st.integers(min_documents, 8))
    rows = st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=n, max_size=n)
    y = draw(st.lists(label_sets, min_size=n, max_size=n).filter(any))
    return np.array(draw(rows)), y


# What it means


@given(collections())
@settings(deadline=None, max_examples=60)
def test_marginals_are_sums_over_the_sets_that_hold_a_label(collection):
    X, y = collection
    clf = LabelPowerset(MultinomialNB()).fit(X, y)
    keys = ["".join(sorted(labels)) for labels in y]
    plain = MultinomialNB().fit(X, keys)  # the same classes, by name
    proba = plain.predict_proba(X)
    expected = [[sum(p for p, key in zip(row, plain.classes_, strict=True) if label in key) for label in clf.classes_]
                for row in proba]  # fmt: skip
    np.testing.assert_allclose(clf.predict_proba(X), expected, atol=1e-9)
    assert clf.label_sets_ == [frozenset(key) for key in sorted(plain.classes_, key=list)]
    assert clf.predict(X) == [set(key) for key in plain.predict(X)]
    sets, top = clf.predict_top_sets(X, k=100)
    np.testing.assert_allclose(top, np.sort(proba, axis=1)[:, ::-1], atol=1e-9)
    assert [row[0] for row in sets] == clf.predict(X)
    assert all(set(row) == set(clf.label_sets_) for row in sets)


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        (INDICATOR, np.ndarray),
        (INDICATOR.astype(bool), np.ndarray),
        (INDICATOR.astype(float), np.ndarray),
        (pd.DataFrame(INDICATOR), np.ndarray),
        (sparse.csr_matrix(INDICATOR), sparse.csr_matrix),
        (sparse.csc_matrix(INDICATOR), sparse.csr_matrix),
        (sparse.coo_array(INDICATOR), sparse.csr_array),
    ],
    ids=["int", "bool", "float", "frame", "csr", "csc", "array"],
)
def test_an_indicator_is_answered_by_an_indicator(y, kind):
    clf = LabelPowerset(MultinomialNB()).fit(X, y)
    predicted = clf.predict(X)
    assert type(predicted) is kind
    dense = predicted if kind is np.ndarray else predicted.toarray()
    named = LabelPowerset(MultinomialNB()).fit(X, Y)
    np.testing.assert_array_equal(dense, MultiLabelBinarizer(classes=named.classes_).fit_transform(named.predict(X)))
    np.testing.assert_array_equal(clf.predict_proba(X), named.predict_proba(X))
    assert clf.classes_.tolist() == [0, 1, 2]
    assert clf.label_sets_ == [frozenset(), {0}, {1}, {1, 2}, {2}]
    assert clf.score(X, y) == named.score(X, Y)


@pytest.mark.parametrize("make", [set, frozenset, list, tuple, sorted, lambda s: [*s, *s], lambda s: np.array([*s])])
def test_collections_are_answered_by_sets(make):
    y = [make(labels) for labels in Y]
    clf = LabelPowerset(MultinomialNB()).fit(X, y)
    assert clf.classes_.tolist() == ["art", "money", "sport"]
    predicted = clf.predict(X)
    assert [type(labels) for labels in predicted] == [set] * len(X)
    assert predicted == LabelPowerset(MultinomialNB()).fit(X, Y).predict(X)
    assert {type(label) for label in set().union(*predicted)} == {str}
    assert LabelPowerset(MultinomialNB()).fit(X, pd.Series(y)).predict(X) == predicted


def test_labels_may_be_numbers():
    clf = LabelPowerset(MultinomialNB()).fit(X, [[7], [3], [3, 7], [], [7, 3], [5]])
    assert clf.classes_.tolist() == [3, 5, 7]
    assert clf.predict(X[:1]) == [{7}]


def test_labels_that_never_occur_keep_their_column():
    y = np.hstack([INDICATOR, np.zeros((6, 2), dtype=int)])
    clf = LabelPowerset(MultinomialNB()).fit(X, y)
    assert clf.predict(X).shape == (6, 5)
    assert (clf.predict_proba(X)[:, 3:] == 0).all()


def test_the_score_is_the_share_of_sets_that_are_exactly_right():
    clf = LabelPowerset(MultinomialNB(alpha=0.01)).fit(X[:5], Y[:5])
    assert clf.score(X[:5], Y[:5]) == 1
    assert clf.score(X[:2], [{"sport"}, {"sport", "ballet"}]) == 0.5
    assert clf.score(X[:2], [{"sport"}, {"sport"}], sample_weight=[3, 1]) == 0.75


# Other estimators


def test_scikit_learn_classifiers_work_inside():
    ours = LabelPowerset(MultinomialNB()).fit(X, INDICATOR)
    theirs = LabelPowerset(SklearnNB()).fit(X, INDICATOR)
    np.testing.assert_allclose(theirs.predict_proba(X), ours.predict_proba(X))
    np.testing.assert_array_equal(theirs.predict(X), ours.predict(X))
    asked = [[3, 1, 1], [1, 4, 0], [2, 3, 2], [1, 0, 5], [0, 1, 4]]  # no two sets are equally probable
    sets, top = ours.predict_top_sets(asked, k=2)
    their_sets, their_top = theirs.predict_top_sets(asked, k=2)
    assert sets == their_sets
    np.testing.assert_allclose(top, their_top)
    assert LabelPowerset(LogisticRegression(C=1e4)).fit(X[:5], Y[:5]).predict(X[:5]) == Y[:5]
    assert theirs.n_features_in_ == 3


def test_methods_are_there_if_the_estimator_has_them():
    svm = LabelPowerset(LinearSVC())
    for method in ("predict_proba", "predict_top_sets", "partial_fit", "unlearn"):
        assert not hasattr(svm, method)
    assert hasattr(LabelPowerset(MultinomialNB()), "unlearn")
    assert hasattr(LabelPowerset(SklearnNB()), "partial_fit")
    assert not hasattr(LabelPowerset(SklearnNB()), "unlearn")
    assert svm.fit(X, Y).predict(X[:1]) == [{"sport"}]


def test_text_goes_in_where_the_estimator_takes_text():
    texts = ["goal and match", "shares of banks", "shares of the club after the match", "nothing"]
    clf = LabelPowerset(TextClassifier("nb", weighting="tfidf")).fit(texts, Y[:4])
    assert clf.predict(texts) == Y[:4]
    assert clf.predict_top_sets(texts[:1], k=1)[0] == [[frozenset({"sport"})]]
    clf.partial_fit(["paint and canvas"], [{"art"}])
    assert clf.predict(["canvas of paint"]) == [{"art"}]


def test_it_is_a_scikit_learn_estimator():
    nested = LabelPowerset(MultinomialNB()).set_params(estimator__alpha=0.5)
    assert clone(nested).fit(X, Y).estimator_.alpha == 0.5
    scores = cross_val_score(nested, np.tile(X, (3, 1)), np.tile(INDICATOR, (3, 1)), cv=3, scoring="f1_micro")
    assert (scores > 0.5).all()
    weighted = LabelPowerset(MultinomialNB()).fit(X[:3], Y[:3], sample_weight=[1, 0, 0])
    assert weighted.predict([[0, 0, 0]]) == [{"sport"}]
    with pytest.raises(NotFittedError):
        nested.predict(X)


# Additive learning


@given(collections(min_documents=2), st.data())
@settings(deadline=None, max_examples=60)
def test_streamed_equals_whole_and_unlearned_equals_never_seen(collection, data):
    X, y = collection
    cut = data.draw(st.integers(1, len(y) - 1))
    whole = LabelPowerset(MultinomialNB()).fit(X, y)
    grown = LabelPowerset(MultinomialNB()).partial_fit(X[:cut], y[:cut]).partial_fit(X[cut:], y[cut:])
    assert set(grown.label_sets_) == set(whole.label_sets_)
    assert grown.classes_.tolist() == whole.classes_.tolist()
    np.testing.assert_allclose(grown.predict_proba(X), whole.predict_proba(X), rtol=1e-12)

    first = LabelPowerset(MultinomialNB()).partial_fit(X[:cut], y[:cut])
    grown.unlearn(X[cut:], y[cut:])
    assert grown.label_sets_ == first.label_sets_
    columns = np.isin(grown.classes_, first.classes_)
    np.testing.assert_array_equal(grown.predict_proba(X)[:, columns], first.predict_proba(X))
    assert (grown.predict_proba(X)[:, ~columns] == 0).all()
    assert grown.predict(X) == first.predict(X)


def test_labels_that_come_later_are_sorted_in():
    clf = LabelPowerset(MultinomialNB()).partial_fit(X[:1], [{"m"}]).partial_fit(X[1:3], [{"a", "z"}, {"m", "a"}])
    assert clf.classes_.tolist() == ["a", "m", "z"]
    assert clf.label_sets_ == [{"m"}, {"a", "m"}, {"a", "z"}]


def test_sets_may_be_announced():
    clf = LabelPowerset(SklearnNB()).partial_fit(X[:2], Y[:2], label_sets=Y)
    clf.partial_fit(X[2:], Y[2:])
    np.testing.assert_allclose(clf.predict_proba(X), LabelPowerset(SklearnNB()).fit(X, Y).predict_proba(X))
    ours = LabelPowerset(MultinomialNB()).partial_fit(X[:2], Y[:2], label_sets=[{"opera"}])
    assert frozenset({"opera"}) in ours.label_sets_
    with pytest.raises(ValueError, match="classes must be passed"):
        LabelPowerset(SklearnNB()).partial_fit(X, Y)


def test_what_was_never_learned_cannot_be_unlearned():
    clf = LabelPowerset(MultinomialNB()).fit(X, Y)
    before = clf.predict_proba(X)
    for x, labels in ((X[:1], {"sport", "art"}), (X[:1], {"opera"}), (9 * X[:1], {"sport"})):
        with pytest.raises(ValueError, match="cannot unlearn"):
            clf.unlearn(x, [labels])
    np.testing.assert_array_equal(clf.predict_proba(X), before)


# Bad input


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["sport"] * 6, "row 0 is 'sport'. For one label per document, use the estimator itself"),
        ([1, 0, 1, 0, 1, 0], "row 0 is 1"),
        ([{"a"}, None, {"a"}, {"a"}, {"a"}, {"a"}], "row 1 is None"),
        ([{"a"}, {1}, {"a"}, {"a"}, {"a"}, {"a"}], "labels of one kind .* got int, str"),
        ([[["a"]]] * 6, "labels that are text or numbers"),
        ([set()] * 6, "at least one label"),
        ("sport", "got str"),
        (7, "got int"),
        (2 * INDICATOR, "zeros and ones where it is a matrix, got .*2"),
        (-1.0 * INDICATOR, "zeros and ones"),
        (INDICATOR.astype(str), "zeros and ones"),
        (np.where(INDICATOR, np.nan, 0), "zeros and ones where it is a matrix, got .*nan"),
        (INDICATOR[:, :, np.newaxis], "3 dimensions"),
        (INDICATOR[:5], r"inconsistent numbers of samples: \[6, 5\]"),
        (Y[:5], r"inconsistent numbers of samples: \[6, 5\]"),
    ],
)
def test_wrong_labels_are_named(y, message):
    with pytest.raises(ValueError, match=message):
        LabelPowerset(MultinomialNB()).fit(X, y)


def test_labels_must_be_of_the_form_learned():
    named, marked = (LabelPowerset(MultinomialNB()).fit(X, y) for y in (Y, INDICATOR))
    with pytest.raises(ValueError, match="as they were learned, as sets; got an indicator"):
        named.partial_fit(X, INDICATOR)
    with pytest.raises(ValueError, match="as they were learned, as an indicator; got sets"):
        marked.unlearn(X, Y)
    with pytest.raises(ValueError, match="y must have 3 columns, one for each label learned, got 2"):
        marked.partial_fit(X, INDICATOR[:, :2])
    with pytest.raises(ValueError, match="learned so far, which is text; got numbers"):
        named.score(X, [{1}] * 6)
    for k in (0, 1.5, True):
        with pytest.raises(ValueError, match="k must be a positive integer"):
            named.predict_top_sets(X, k=k)


def test_the_caller_s_indicator_is_left_alone():
    y = sparse.csr_matrix(INDICATOR)
    y.data[0] = 0
    nnz = y.nnz
    LabelPowerset(MultinomialNB()).fit(X, y)
    assert y.nnz == nnz


# Size and files


def test_twenty_thousand_label_sets():
    rng = np.random.default_rng(0)
    n, n_labels = 20_000, 60
    y = sparse.csr_array(np.unpackbits(np.arange(n, dtype=">u4").view(np.uint8).reshape(n, 4), axis=1))
    y = sparse.hstack([y, sparse.csr_array((n, n_labels - 32), dtype=np.uint8)]).tocsr()
    words = random_rows((n, 500), 0.02, rng)
    words.data = np.ceil(words.data * 3)
    clf = LabelPowerset(MultinomialNB(alpha=0.1)).fit(words, y)
    assert len(clf.label_sets_) == n
    tracemalloc.start()
    sets, top = clf.predict_top_sets(words[:1000], k=3)
    marginals = clf.predict_proba(words[:1000])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1000 * n * 8 / 1.5, "less than the matrix of documents and sets"
    assert (len(sets), top.shape, marginals.shape) == (1000, (1000, 3), (1000, n_labels))
    assert (marginals >= 0).all()
    assert marginals.max() <= 1
    assert clf.score(words[:1000], y[:1000]) > 0.9


@pytest.mark.parametrize("y", [Y, INDICATOR, sparse.csr_matrix(INDICATOR)], ids=["sets", "dense", "sparse"])
def test_a_saved_powerset_answers_the_same(y, tmp_path):
    clf = LabelPowerset(MultinomialNB(alpha=0.3)).fit(X, y)
    genus.save(clf, tmp_path / "m.genus")
    loaded = genus.load(tmp_path / "m.genus")
    assert loaded.estimator.alpha == 0.3
    assert type(loaded.predict(X)) is type(clf.predict(X))
    np.testing.assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))
    assert loaded.label_sets_ == clf.label_sets_
    np.testing.assert_array_equal(loaded.partial_fit(X, y).unlearn(X, y).predict_proba(X), clf.predict_proba(X))


def test_a_powerset_of_another_library_cannot_be_saved(tmp_path):
    with pytest.raises(ModelFileError, match="not saved"):
        genus.save(LabelPowerset(SklearnNB()).fit(X, Y), tmp_path / "m.genus")


@pytest.mark.parametrize(
    "damage",
    [
        {"kind": "list"},
        {"estimator": None},
        {"labels": np.array(["b", "a", "c"])},
        {"labels": np.array(["a"])},
        {"members": np.array([0, 1], dtype=np.int32)},
        {"members": np.array([0.5])},
        {"indptr": np.array([0, 1])},
        {"indptr": np.array([0], dtype=np.int64)},
    ],
)
def test_damaged_files_are_refused(damage, tmp_path):
    clf = LabelPowerset(MultinomialNB()).fit(X, Y)
    state = clf._get_state() | damage
    clf._get_state = lambda: state
    genus.save(clf, tmp_path / "m.genus")
    with pytest.raises(ModelFileError, match="LabelPowerset that cannot be restored"):
        genus.load(tmp_path / "m.genus")


@pytest.mark.data
@pytest.mark.parametrize(("name", "least"), [("mulan_medical", 0.65), ("mulan_enron", 0.4)])
def test_real_label_sets(load, name, least):
    train, test = load(name, "train"), load(name, "test")
    words, vocabulary = train.matrix()
    clf = LabelPowerset(MultinomialNB(alpha=0.1)).fit(words, train.labels)
    unseen = {label for labels in test.labels for label in labels} - set(clf.classes_.tolist())
    binarizer = MultiLabelBinarizer(classes=[*clf.classes_.tolist(), *sorted(unseen)])
    truth = binarizer.fit_transform(test.labels)
    micro = f1_score(truth, binarizer.transform(clf.predict(test.matrix(vocabulary)[0])), average="micro")
    assert micro > least
