"""Likelihood ratios of several labels: scores as defined, thresholds that hold, sets in every form."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import KFold, LeaveOneOut
from sklearn.naive_bayes import MultinomialNB as SklearnNB

from genus import HierarchicalMixture, LikelihoodRatioMultilabel, MultinomialNB, load, save
from genus.multilabel.calibration import Calibration, Candidates
from genus.multilabel.decoding import scut_thresholds
from genus.multilabel.likelihood_ratio import scut_of
from genus.multilabel.metrics import set_scores
from reference.matrices import identity

DECISIONS = ["macro_f1", "micro_f1", "example_f1", "thresholds"]
LABELS = np.array(["corn", "gold", "wheat", "zinc"])
TREE = {"corn": "grain", "wheat": "grain", "gold": "metal", "zinc": "metal"}


def problem(n=160, n_words=60, seed=0):
    """Documents whose words come from their labels in equal parts."""
    rng = np.random.default_rng(seed)
    words = rng.dirichlet(np.full(n_words, 0.1), 4)
    Y = np.zeros((n, 4), dtype=int)
    for d in range(n):
        Y[d, rng.choice(4, rng.choice([1, 2], p=[0.7, 0.3]), replace=False)] = 1
    X = np.array([rng.multinomial(rng.integers(10, 60), y @ words / y.sum()) for y in Y])
    return X, Y


def as_sets(Y):
    return [set(LABELS[np.flatnonzero(row)].tolist()) for row in Y]


def test_scores_are_the_papers():
    X, Y = problem()
    clf = LikelihoodRatioMultilabel(MultinomialNB(0.5), decide="thresholds", length_power=0).fit(X, Y)
    counts = (Y / Y.sum(axis=1, keepdims=True)).T @ X + 0.5  # equal fractions of each document, Lidstone
    log_p = np.log(counts / counts.sum(axis=1, keepdims=True))
    pooled = X.sum(axis=0)
    seen = pooled > 0
    log_pooled = np.log(pooled[seen] / pooled.sum())
    expected = X @ log_p.T - (X[:, seen] @ log_pooled)[:, np.newaxis]
    np.testing.assert_allclose(clf.decision_function(X), expected, atol=1e-9)
    root = LikelihoodRatioMultilabel(SklearnNB(alpha=0.5), decide="thresholds").fit(X, Y)
    np.testing.assert_allclose(root.decision_function(X), expected / np.sqrt(X.sum(axis=1, keepdims=True)), atol=1e-9)


@pytest.mark.parametrize("decide", DECISIONS)
@pytest.mark.parametrize("estimator", [MultinomialNB(0.1), HierarchicalMixture("flat")])
def test_labels_are_found(estimator, decide):
    X, Y = problem()
    clf = LikelihoodRatioMultilabel(estimator, decide=decide).fit(X[:100], Y[:100])
    found = set_scores(Y[100:], clf.predict(X[100:]))
    assert found["miF1"] > 0.8
    assert found["maF1"] > 0.8


@pytest.mark.parametrize("decide", DECISIONS)
def test_every_form_of_labels_gives_the_same_answers(decide):
    X, Y = problem()
    dense = LikelihoodRatioMultilabel(MultinomialNB(), decide=decide).fit(X, Y)
    answers = dense.predict(X)
    assert isinstance(answers, np.ndarray)
    matrix = LikelihoodRatioMultilabel(MultinomialNB(), decide=decide).fit(sparse.csr_array(X), sparse.csr_matrix(Y))
    assert isinstance(matrix.predict(X), sparse.csr_matrix)
    np.testing.assert_array_equal(matrix.predict(X).toarray(), answers)
    sets = LikelihoodRatioMultilabel(MultinomialNB(), decide=decide).fit(X, as_sets(Y))
    assert sets.predict(X) == as_sets(answers)
    assert sets.score(X, as_sets(Y)) == pytest.approx(np.mean((answers == Y).all(axis=1)))
    assert sets.score(X, as_sets(Y)) > 0.7


def test_with_a_tree_of_the_labels():
    X, Y = problem()
    clf = LikelihoodRatioMultilabel(HierarchicalMixture(TREE)).fit(X, as_sets(Y))
    assert clf.estimator_.tree_.path("corn") == ("corn", "grain")
    assert clf.score(X, as_sets(Y)) > 0.7


@pytest.mark.parametrize("cv", [KFold(4), LeaveOneOut(), 2, 1000])
def test_any_folds_will_do(cv):
    X, Y = problem(40)
    clf = LikelihoodRatioMultilabel(MultinomialNB(), cv=cv).fit(X, Y)
    assert clf.score(X, Y) > 0.5


def test_probabilities_are_calibrated():
    X, Y = problem(600)
    clf = LikelihoodRatioMultilabel(MultinomialNB(0.1)).fit(X[:300], Y[:300])
    P = clf.predict_proba(X[300:])
    assert ((P >= 0) & (P <= 1)).all()
    assert abs(P.sum() / Y[300:].sum() - 1) < 0.05
    sure = P > 0.9
    assert Y[300:][sure].mean() > 0.9
    with pytest.raises(AttributeError, match="decision_function"):
        LikelihoodRatioMultilabel(MultinomialNB(), decide="thresholds").fit(X, Y).predict_proba(X)


def test_the_calibration_is_the_maximum_of_its_likelihood():
    rng = np.random.default_rng(0)
    scores, Y = rng.normal(size=(300, 5)), sparse.csr_array(rng.integers(0, 2, (300, 5)).astype(float))
    candidates = Candidates.from_scores(scores, np.arange(5, dtype=np.int32), 5)
    fitted = Calibration.fit(candidates, Y)
    p, truth = fitted.proba(candidates), candidates.truth(Y)
    assert abs((truth - p).sum()) < 1e-2
    assert abs(((truth - p) * candidates.scores).sum()) < 1e-1


def test_fewer_candidates_keep_the_best():
    X, Y = problem()
    all_labels = LikelihoodRatioMultilabel(MultinomialNB()).fit(X, Y)
    two = LikelihoodRatioMultilabel(MultinomialNB(), n_candidates=2).fit(X, Y)
    assert (two.predict_proba(X) > 0).sum(axis=1).max() == 2
    assert (two.predict(X) == all_labels.predict(X)).mean() > 0.95


def test_candidates_are_the_best_in_order():
    scores = np.array([[1.0, 3.0, 2.0], [-np.inf, 0.0, -1.0]])
    found = Candidates.from_scores(scores, np.array([10, 11, 12], dtype=np.int32), 2)
    assert found.labels.tolist() == [[11, 12], [11, 12]]
    assert found.contrast().tolist() == [[1.0, -1.0], [1.0, -1.0]]
    assert found.matrix(found.scores, 13).toarray()[0, [11, 12]].tolist() == [3.0, 2.0]


def test_thresholds_of_candidates_are_those_of_all_scores():
    rng = np.random.default_rng(0)
    scores, Y = rng.normal(size=(80, 3)), rng.integers(0, 2, (80, 3))
    np.testing.assert_array_equal(
        scut_of(sparse.csr_array(scores), sparse.csr_array(Y), 0.1), scut_thresholds(scores, Y, 0.1)
    )


@pytest.mark.parametrize("decide", DECISIONS)
def test_a_saved_model_gives_the_same_answers(decide, tmp_path):
    X, Y = problem()
    clf = LikelihoodRatioMultilabel(HierarchicalMixture(TREE), decide=decide).fit(X, as_sets(Y))
    save(clf, tmp_path / "m.genus")
    opened = load(tmp_path / "m.genus")
    assert opened.predict(X) == clf.predict(X)
    np.testing.assert_array_equal(opened.decision_function(X), clf.decision_function(X))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "heap"}, "kind of labels"),
        ({"estimator": 3}, "generative estimator"),
        ({"labels": LABELS[::-1].copy()}, "sorted"),
        ({"labels": LABELS[:2].copy()}, "not among the labels"),
        ({"thresholds": np.zeros(3)}, "thresholds must be"),
        ({"own": np.zeros(9)}, "own must be"),
        ({"pooled": np.zeros(2)}, "pooled must be"),
    ],
)
def test_damaged_states_are_refused(change, message):
    X, Y = problem()
    clf = LikelihoodRatioMultilabel(MultinomialNB()).fit(X, as_sets(Y))
    with pytest.raises(ValueError, match=message):
        LikelihoodRatioMultilabel(MultinomialNB())._set_state(clf._get_state() | change)


# Bad input


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"decide": "luck"}, "decide must be one of"),
        ({"length_power": 2}, "length_power must be"),
        ({"guard": -1}, "guard must be"),
        ({"cv": 1}, "cv must be a number of folds"),
        ({"n_candidates": 0}, "n_candidates must be"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    X, Y = problem()
    with pytest.raises(ValueError, match=message):
        LikelihoodRatioMultilabel(MultinomialNB(), **settings).fit(X, Y)


def test_bad_labels_are_refused():
    X, Y = problem()
    with pytest.raises(ValueError, match="every document's set is empty"):
        LikelihoodRatioMultilabel(MultinomialNB()).fit(X, 0 * Y)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        LikelihoodRatioMultilabel(MultinomialNB()).fit(X, Y[:5])
    with pytest.raises(ValueError, match="not in the tree"):
        LikelihoodRatioMultilabel(HierarchicalMixture({"corn": "grain"})).fit(X, as_sets(Y))
    with pytest.raises(ValueError, match="two documents at least"):
        LikelihoodRatioMultilabel(MultinomialNB()).fit(X[:1], Y[:1])


@pytest.mark.parametrize("decide", DECISIONS)
@pytest.mark.parametrize("estimator", [MultinomialNB(), HierarchicalMixture("flat"), HierarchicalMixture("learn")])
def test_a_label_that_a_fold_leaves_empty(estimator, decide):
    # The last label has one document: whichever fold holds it out has no model of it.
    X, Y = problem()
    Y = np.column_stack([Y, np.zeros(len(Y), dtype=int)])
    Y[0, 4] = 1
    clf = LikelihoodRatioMultilabel(estimator, decide=decide).fit(X, Y)
    assert clf.predict(X).shape == Y.shape
    if decide == "thresholds":
        assert clf.thresholds_[4] > clf.thresholds_[:4].max()  # no held-out document to set it by


@pytest.mark.parametrize("decide", ["macro_f1", "thresholds"])
def test_a_label_without_documents(decide):
    X, Y = problem()
    Y = np.column_stack([Y, np.zeros(len(Y), dtype=int)])
    clf = LikelihoodRatioMultilabel(MultinomialNB(), decide=decide).fit(X, Y)
    assert not clf.predict(X)[:, 4].any()


def test_documents_without_labels_are_held_out_only():
    X, Y = problem()
    Y[:40] = 0
    clf = LikelihoodRatioMultilabel(MultinomialNB(), decide="example_f1").fit(X, Y)
    assert clf.predict(X).shape == Y.shape
    np.testing.assert_array_equal(clf.estimator_.class_count_.sum(), 120)


def test_words_never_seen_say_nothing():
    X, Y = problem()
    wide = np.hstack([X, np.zeros((len(X), 2), dtype=int)])
    clf = LikelihoodRatioMultilabel(MultinomialNB()).fit(wide, Y)
    strange = wide.copy()
    strange[:, -1] = 9
    np.testing.assert_allclose(clf.decision_function(strange), clf.decision_function(wide))


@pytest.mark.slow
def test_thirty_thousand_labels_with_one_document_each():
    n = 30_000
    rng = np.random.default_rng(0)
    X = sparse.csr_array((np.ones(4 * n), (np.repeat(np.arange(n), 4), rng.integers(0, 20_000, 4 * n))), (n, 20_000))
    Y = identity(n)
    clf = LikelihoodRatioMultilabel(MultinomialNB(0.01), cv=2, decide="example_f1").fit(X, Y)
    answers = clf.predict(X[:100])
    assert (answers.toarray()[np.arange(100), np.arange(100)] == 1).mean() > 0.9


def test_a_measure_has_one_spelling_and_files_with_the_old_one_open(tmp_path):
    X, Y = problem()
    with pytest.raises(ValueError, match=r"'macro_f1'.*got 'macro-f1'"):
        LikelihoodRatioMultilabel(MultinomialNB(), decide="macro-f1").fit(X, Y)
    clf = LikelihoodRatioMultilabel(MultinomialNB(), decide="example_f1").fit(X, Y)
    expected = clf.predict(X)
    clf.decide = "example-f1"
    save(clf, tmp_path / "old.genus")
    again = load(tmp_path / "old.genus")
    np.testing.assert_array_equal(again.predict(X), expected)
    assert again.decide == "example_f1"
