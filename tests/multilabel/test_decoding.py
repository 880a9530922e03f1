"""Sets of labels for a named measure, thresholds, and the measures themselves."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn import metrics

from genus import LabelDecoder
from genus.multilabel.decoding import scut_thresholds
from genus.multilabel.metrics import ranking_scores, set_scores

probabilities = arrays(float, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.floats(0.01, 0.99))
pairs = st.tuples(st.integers(1, 8), st.integers(2, 5)).flatmap(
    lambda shape: st.tuples(*[arrays(int, shape, elements=st.integers(0, 1))] * 2)
)


def expected_f1(p, chosen):
    """2 * expected hits / (given + expected labels), which all three rules make as large as can be."""
    return 2 * p[chosen].sum() / (chosen.sum() + p.sum())


def best(p):
    choices = (np.array(c, dtype=bool) for c in itertools.product([False, True], repeat=p.size) if any(c))
    return max(expected_f1(p.ravel(), chosen) for chosen in choices)


@given(probabilities)
@settings(deadline=None, max_examples=60)
def test_no_other_set_of_a_document_can_expect_more(P):
    given_ = LabelDecoder("example_f1").fit(P).predict(P)
    for p, chosen in zip(P, given_, strict=True):
        assert expected_f1(p, chosen) == pytest.approx(best(p))


@given(probabilities)
@settings(deadline=None, max_examples=60)
def test_no_other_documents_of_a_label_can_expect_more(P):
    given_ = LabelDecoder("macro_f1", at_least_one=False).fit(P).predict(P)
    for p, chosen in zip(P.T, given_.T, strict=True):
        assert expected_f1(p, chosen) == pytest.approx(best(p))


@given(arrays(float, st.tuples(st.integers(1, 3), st.integers(1, 3)), elements=st.floats(0.01, 0.99)))
@settings(deadline=None, max_examples=60)
def test_no_other_pairs_can_expect_more(P):
    given_ = LabelDecoder("micro_f1", at_least_one=False).fit(P).predict(P)
    assert expected_f1(P.ravel(), given_.ravel()) == pytest.approx(best(P))


@pytest.mark.parametrize("objective", ["example_f1", "micro_f1", "macro_f1"])
def test_sparse_and_dense_agree_and_one_label_is_given(objective):
    P = np.random.default_rng(0).random((40, 7)) ** 4
    decoder = LabelDecoder(objective).fit(P)
    dense = decoder.predict(P)
    np.testing.assert_array_equal(decoder.predict(sparse.csr_array(P)).toarray(), dense)
    assert dense.any(axis=1).all()
    assert dense[np.arange(40), P.argmax(axis=1)].all()


def test_a_document_that_has_hardly_any_label_gets_none():
    P = np.array([[0.01, 0.02], [0.9, 0.1]])
    assert LabelDecoder("example_f1", at_least_one=False).fit(P).predict(P).tolist() == [[False, False], [True, False]]
    empty = sparse.csr_array((2, 2))
    assert LabelDecoder("macro_f1").fit(empty).predict(empty).nnz == 0


def test_wrong_probabilities_and_objectives_are_refused():
    with pytest.raises(ValueError, match="objective must be one of"):
        LabelDecoder("accuracy").fit([[0.5]])
    with pytest.raises(ValueError, match="from 0 to 1"):
        LabelDecoder().fit([[1.5]])
    with pytest.raises(ValueError, match="2 columns"):
        LabelDecoder().fit([[0.5, 0.5]]).predict([[0.5]])


@given(arrays(float, 8, elements=st.integers(0, 4).map(float)), arrays(int, 8, elements=st.integers(0, 1)))
@settings(deadline=None)
def test_no_other_threshold_does_better(scores, truth):
    threshold = scut_thresholds(scores[:, np.newaxis], truth[:, np.newaxis], guard=0.0)[0]
    if not truth.any():
        assert threshold == np.inf
        return
    found = metrics.f1_score(truth, scores >= threshold)
    assert found == pytest.approx(max(metrics.f1_score(truth, scores >= t, zero_division=0) for t in scores))


def test_a_bad_threshold_is_the_highest_score():
    scores, truth = np.arange(100.0)[:, np.newaxis], np.zeros((100, 1))
    truth[0] = 1  # the lowest score of all
    assert scut_thresholds(scores, truth)[0] == 99
    assert scut_thresholds(scores, truth, guard=0.0)[0] == 0
    with pytest.raises(ValueError, match="of one shape"):
        scut_thresholds(scores, truth[:5])


@given(pairs)
@settings(deadline=None, max_examples=100)
def test_measures_are_scikit_learns(pair):
    y, given_ = pair
    found = set_scores(sparse.csr_array(y), given_)
    for name, average in (("mi", "micro"), ("ma", "macro")):
        for letter, measure in (("P", metrics.precision_score), ("R", metrics.recall_score), ("F1", metrics.f1_score)):
            expected = measure(y, given_, average=average, zero_division=0)
            assert found[name + letter] == pytest.approx(expected)
    assert found["exF1"] == pytest.approx(metrics.f1_score(y, given_, average="samples", zero_division=0))
    assert found["acc"] == pytest.approx((y == given_).mean())


def test_rankings_are_scikit_learns():
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 2, (30, 6)), rng.random((30, 6))
    y[0] = 0
    found = ranking_scores(y, scores, ks=[1, 3, 9])
    has = y.any(axis=1)
    assert found["nDCG@3"] == pytest.approx(metrics.ndcg_score(y[has], scores[has], k=3))
    assert found["nDCG@9"] == pytest.approx(metrics.ndcg_score(y[has], scores[has]))
    assert found["P@1"] == pytest.approx(y[has][np.arange(has.sum()), scores[has].argmax(axis=1)].mean())
    with pytest.raises(ValueError, match="of one shape"):
        ranking_scores(y, scores[:3])


def test_with_the_truth_one_threshold_has_the_best_micro_f1():
    rng = np.random.default_rng(0)
    P = rng.random((200, 5))
    truth = rng.random((200, 5)) < P**2  # less probable than is said

    def f1(decoder):
        chosen = decoder.predict(P)
        return 2 * (chosen & truth).sum() / (chosen.sum() + truth.sum())

    told = LabelDecoder("micro_f1", at_least_one=False).fit(P, truth)
    other = LabelDecoder("micro_f1", at_least_one=False).fit(P)
    for cut in np.linspace(0, 1, 50):
        other.thresholds_ = np.full(5, cut)
        assert f1(told) >= f1(other)
    with pytest.raises(ValueError, match="of one shape"):
        LabelDecoder("micro_f1").fit(P, truth[:5])
