"""Information gain against the paper's equation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.feature_selection import mutual_info_classif

from genus import InformationGain, load, save
from reference import selection as reference
from reference.matrices import random_rows

pytestmark = pytest.mark.kernel


@st.composite
def problems(draw):
    n, n_words, n_labels = draw(st.integers(1, 9)), draw(st.integers(1, 5)), draw(st.integers(1, 4))
    X = draw(arrays(float, (n, n_words), elements=st.sampled_from([0.0, 0.0, 1.0, 2.5])))
    Y = draw(arrays(int, (n, n_labels), elements=st.integers(0, 1)).filter(lambda y: y.any()))
    return X, Y


@given(problems())
@settings(deadline=None, max_examples=150)
def test_gains_are_the_papers(problem):
    X, Y = problem
    expected = reference.information_gain(X, Y)
    for x, y in ((X, Y), (sparse.csr_array(X), sparse.csr_matrix(Y)), (X, [set(np.flatnonzero(r)) for r in Y])):
        np.testing.assert_allclose(InformationGain(1).fit(x, y).scores_, expected, atol=1e-12)


def test_with_one_label_each_it_is_mutual_information():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (200, 10)), rng.choice(["a", "b", "c"], 200)
    expected = mutual_info_classif(X, y, discrete_features=True)
    np.testing.assert_allclose(InformationGain().fit(X, y).scores_, expected, atol=1e-12)


def test_the_best_words_are_kept_in_their_order(tmp_path):
    X = np.array([[1, 1, 0, 2], [1, 1, 0, 1], [1, 0, 1, 0], [1, 0, 0, 0]])
    selector = InformationGain(2).fit(X, ["a", "a", "b", "b"])
    assert selector.get_support(indices=True).tolist() == [1, 3]
    assert selector.transform(sparse.csr_array(X)).toarray().tolist() == X[:, [1, 3]].tolist()
    assert InformationGain(9).fit(X, ["a", "a", "b", "b"]).transform(X).shape == (4, 4)
    save(selector, tmp_path / "s.genus")
    np.testing.assert_array_equal(load(tmp_path / "s.genus").transform(X), selector.transform(X))


def test_a_stored_zero_is_no_occurrence():
    X = sparse.csr_array(np.array([[1.0, 1.0], [1.0, 1.0]]))
    X.data[1] = 0
    assert InformationGain().fit(X, ["a", "b"]).scores_.tolist() == pytest.approx([0, np.log(2)])


def test_threads_do_not_matter():
    rng = np.random.default_rng(0)
    X, y = random_rows((500, 5000), 0.02, rng), rng.integers(0, 9, 500)
    one, two, seven = (InformationGain(n_jobs=n).fit(X, y).scores_ for n in (1, 2, 7))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, seven)


@pytest.mark.parametrize(
    ("k", "y", "message"), [(0, "ab", "k must be"), (2, "abc", "inconsistent numbers"), (2, [{1.5}, {"a"}], "one kind")]
)
def test_bad_input_is_refused(k, y, message):
    with pytest.raises(ValueError, match=message):
        InformationGain(k).fit([[1, 0], [0, 1]], list(y))
