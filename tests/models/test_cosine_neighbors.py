"""The paper's nearest neighbours against scikit-learn's search and the equation."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from genus import CosineNeighborsClassifier, load, save
from genus.multilabel.decoding import scut_thresholds
from genus.multilabel.metrics import set_scores
from genus.text.weighting import TermWeighting

pytestmark = pytest.mark.kernel


def corpus(n=150, n_words=60, seed=0):
    rng = np.random.default_rng(seed)
    words = rng.dirichlet(np.full(n_words, 0.1), 4)
    Y = np.zeros((n, 4), dtype=int)
    for d in range(n):
        Y[d, rng.choice(4, rng.choice([1, 2]), replace=False)] = 1
    X = np.array([rng.multinomial(40, y @ words / y.sum()) for y in Y])
    return sparse.csr_array(X.astype(float)), Y


def weighted(X, Z):
    weighting = TermWeighting("log", idf="plain", norm="l2").fit(X)
    return weighting.transform(X), weighting.transform(Z)


def test_neighbours_are_scikit_learns():
    X, Y = corpus()
    clf = CosineNeighborsClassifier(7).fit(X[:100], Y[:100])
    A, B = weighted(X[:100], X[100:])
    distances, documents = NearestNeighbors(n_neighbors=7, metric="cosine").fit(A).kneighbors(B)
    cosines, found = clf.kneighbors(X[100:])
    np.testing.assert_array_equal(found, documents)
    np.testing.assert_allclose(cosines, 1 - distances, atol=1e-12)


def test_votes_and_thresholds_are_the_papers():
    X, Y = corpus(60)
    clf = CosineNeighborsClassifier(5).fit(X, Y)
    A, _ = weighted(X, X)
    cosines = (A @ A.T).toarray()
    np.fill_diagonal(cosines, -1)
    votes = np.zeros(Y.shape)
    for d, row in enumerate(cosines):
        for m in np.argsort(-row, kind="stable")[:5]:
            votes[d] += row[m] * Y[m]
    thresholds = scut_thresholds(votes, Y)
    np.testing.assert_allclose(clf.thresholds_, thresholds)
    own = CosineNeighborsClassifier(60).fit(X, Y)  # of all documents, so that scores are plain sums
    np.testing.assert_allclose(own.decision_function(X) + own.thresholds_, (A @ A.T).toarray() @ Y, atol=1e-9)


def test_one_label_or_several_in_every_form():
    X, Y = corpus()
    names = np.array(["corn", "gold", "wheat", "zinc"])
    dense = CosineNeighborsClassifier(10).fit(X[:100], Y[:100])
    answers = dense.predict(X[100:])
    assert set_scores(Y[100:], answers)["miF1"] > 0.8
    sets = CosineNeighborsClassifier(10).fit(X[:100], [set(names[np.flatnonzero(row)]) for row in Y[:100]])
    assert sets.predict(X[100:]) == [set(names[np.flatnonzero(row)]) for row in answers]
    single = Y.sum(axis=1) == 1
    one = CosineNeighborsClassifier(10).fit(X[single], names[Y[single].argmax(axis=1)])
    assert (one.predict(X[single]) == names[Y[single].argmax(axis=1)]).mean() > 0.9
    assert one.decision_function(X[:3]).shape == (3, 4)


def test_more_neighbours_than_documents_and_documents_without_words():
    X, Y = corpus(20)
    clf = CosineNeighborsClassifier(50).fit(X, Y.argmax(axis=1))
    assert clf.predict(0 * X[:2]).shape == (2,)
    assert clf.kneighbors(X[:2], 3)[1].shape == (2, 3)
    CosineNeighborsClassifier(1).fit(X[:1], Y[:1])


def test_a_label_without_documents_is_never_given():
    X, Y = corpus()
    Y[:, 3] = 0
    assert not CosineNeighborsClassifier().fit(X, Y).predict(X)[:, 3].any()


def test_a_saved_model_is_the_same(tmp_path):
    X, Y = corpus()
    for y in (Y, Y.argmax(axis=1)):
        clf = CosineNeighborsClassifier(5).fit(X, y)
        save(clf, tmp_path / "m.genus")
        np.testing.assert_array_equal(load(tmp_path / "m.genus").predict(X), clf.predict(X))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "heap"}, "kind of labels"),
        ({"labels": np.arange(4)[::-1]}, "sorted"),
        ({"thresholds": np.zeros(2)}, "thresholds must be"),
        ({"members": np.full(9, 7, dtype=np.int32)}, "do not fit"),
        ({"document_words": np.full(3, 99, dtype=np.int32)}, "."),
    ],
)
def test_damaged_states_are_refused(change, message):
    X, Y = corpus()
    state = CosineNeighborsClassifier().fit(X, Y)._get_state()
    with pytest.raises(ValueError, match=message):
        CosineNeighborsClassifier()._set_state(state | change)


def test_bad_settings_and_labels_are_refused():
    X, Y = corpus()
    with pytest.raises(ValueError, match="n_neighbors must be"):
        CosineNeighborsClassifier(0).fit(X, Y)
    with pytest.raises(ValueError, match="inconsistent"):
        CosineNeighborsClassifier().fit(X, Y[:3])
    with pytest.raises(ValueError, match="Negative"):
        CosineNeighborsClassifier().fit(-X, Y)
