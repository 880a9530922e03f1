"""TermWeighting against its formulas, against scikit-learn, and against its own promises."""

import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline

import genus
from genus import ModelFileError, MultinomialNB, TermWeighting
from genus.base.rows import SparseRows, to_rows
from genus.text.weighting import _IDF, _NAMED, _TF
from reference import weighting as reference

pytestmark = pytest.mark.kernel

values = st.one_of(st.just(0.0), st.just(0.0), st.integers(1, 80).map(float), st.floats(0.25, 100, width=16))
options = st.fixed_dictionaries(
    {
        "tf": st.sampled_from(_TF),
        "idf": st.sampled_from([None, *_IDF]),
        "idf_power": st.sampled_from([0.0, 0.5, 1.0]),
        "norm": st.sampled_from([None, "l1", "l2"]),
        "scale": st.sampled_from([1.0, 10.0]),
        "k1": st.sampled_from([0.0, 1.2]),
        "b": st.sampled_from([0.0, 0.75, 1.0]),
    }
)


@st.composite
def counts(draw, min_documents=1):
    n, n_words = draw(st.integers(min_documents, 8)), draw(st.integers(1, 6))
    return np.array(draw(st.lists(st.lists(values, min_size=n_words, max_size=n_words), min_size=n, max_size=n)))


SKLEARN = list(product(*[[True, False]] * 3, [None, "l1", "l2"]))


def corpus(n=200, n_words=50, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.poisson(rng.random(n_words) * 1.2, (n, n_words))
    X[::13] = 0  # empty documents
    X[:, 0] = np.arange(n) % 90  # counts on both sides of the table of logarithms
    return sparse.csr_array(X)


def assert_same(a, b):
    x, y = a._get_state(), b._get_state()
    np.testing.assert_array_equal(x.pop("frequency"), y.pop("frequency"))
    assert x == y


# Against the formulas and scikit-learn


@given(counts(), counts(), options)
@settings(deadline=None, max_examples=200)
def test_weights_follow_the_formulas(X_train, X, settings_):
    X = np.resize(X, (len(X), X_train.shape[1]))
    got = TermWeighting(**settings_).fit(X_train).transform(X).toarray()
    np.testing.assert_allclose(got, reference.weigh(X_train, X, **settings_), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("sublinear", "smooth", "use_idf", "norm"), SKLEARN)
def test_equals_scikit_learn(sublinear, smooth, use_idf, norm):
    X = corpus()
    peer = TfidfTransformer(sublinear_tf=sublinear, smooth_idf=smooth, use_idf=use_idf, norm=norm)
    expected = peer.fit_transform(X.astype(np.float64))
    idf = ("smooth" if smooth else "plus_one") if use_idf else None
    ours = TermWeighting("log" if sublinear else "raw", idf=idf, norm=norm)
    got = ours.fit_transform(X)
    np.testing.assert_allclose(got.toarray(), expected.toarray(), rtol=1e-12, atol=0)
    if use_idf:
        np.testing.assert_allclose(ours.idf_, peer.idf_, rtol=1e-12)


def test_the_paper_s_weights_by_hand():
    X = np.array([[3, 1, 0], [0, 2, 0], [0, 1, 5], [0, 0, 1]])
    got = TermWeighting.named("log_share").fit_transform(X).toarray()
    np.testing.assert_allclose(got[0], [np.log(1 + 3 / 2 * np.log(4)), np.log(1 + 1 / 2 * np.log(4 / 3)), 0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int32, np.uint8, bool])
@pytest.mark.parametrize("name", _NAMED)
def test_every_type_of_count_weighs_the_same(name, dtype):
    X = corpus().astype(dtype)
    got = TermWeighting.named(name).fit(X).transform(X)
    expected = TermWeighting.named(name).fit(X.astype(np.float64)).transform(X.astype(np.float64))
    assert got.dtype == (np.float32 if dtype == np.float32 else np.float64)
    np.testing.assert_allclose(got.toarray(), expected.toarray(), rtol=1e-6 if dtype == np.float32 else 0)


@pytest.mark.parametrize("name", _NAMED)
def test_threads_change_nothing(name):
    X = corpus(3000)
    one = TermWeighting.named(name, n_jobs=1).fit(X)
    for n_jobs in (2, 7):
        other = TermWeighting.named(name, n_jobs=n_jobs).fit(X)
        assert_same(other, one)
        np.testing.assert_array_equal(other.transform(X).data, one.transform(X).data)


def test_rows_get_the_norm_asked_for():
    X = corpus()
    weights = TermWeighting.named("log_l2").fit_transform(X)
    lengths = np.sqrt(weights.multiply(weights).sum(axis=1))
    np.testing.assert_allclose(lengths[X.sum(axis=1) > 0], 10)
    assert (lengths[X.sum(axis=1) == 0] == 0).all()


@pytest.mark.parametrize("count", [1e-310, 1e-300, 1e-200, 2.0**53, 1e200, 1e300])
@pytest.mark.parametrize("name", _NAMED)
def test_tiny_and_huge_counts_have_finite_weights(name, count):
    X = np.array([[count, count, 0], [1, 0, 0]])
    weighting = TermWeighting.named(name).fit(X)
    weights = weighting.transform(X).toarray()
    assert np.isfinite(weights).all()
    if weighting.norm:
        np.testing.assert_allclose(np.sqrt((weights**2).sum(axis=1)), weighting.scale)
    assert_same(weighting.partial_fit(X[:1]).unlearn(X[:1]), TermWeighting().fit(X))


def test_documents_without_words_and_columns_without_documents():
    X = sparse.csr_array((3, 4))
    for tf, idf in product(_TF, [None, *_IDF]):
        weighting = TermWeighting(tf, idf=idf, norm="l2").fit(X)
        assert weighting.transform(X).nnz == 0
        assert np.isfinite(weighting.transform(np.ones((1, 4))).toarray()).all()
    assert weighting.document_frequency_.tolist() == [0] * 4


def test_stored_zeros_and_repeated_entries_are_read_as_what_they_mean():
    repeated = sparse.csr_array((np.array([1, 2, 0]), np.array([0, 0, 1]), np.array([0, 3, 3])), shape=(2, 2))
    plain = np.array([[3, 0], [0, 0]])
    for dtype in (np.int64, np.float64):
        got, expected = TermWeighting("log").fit(repeated.astype(dtype)), TermWeighting("log").fit(plain)
        assert_same(got, expected)
        np.testing.assert_array_equal(got.transform(repeated).toarray(), expected.transform(plain).toarray())
    assert repeated.nnz == 3, "the caller's matrix is left alone"


def test_columns_beyond_the_known_weigh_as_unseen_words_inside():
    X = corpus(60, 8)
    for idf in _IDF:
        weighting = TermWeighting(idf=idf).fit(X)
        padded = TermWeighting(idf=idf).fit(sparse.hstack([X, sparse.csr_array((60, 2))]).tocsr())
        wide = to_rows(sparse.csr_array(np.ones((2, 10))))
        np.testing.assert_array_equal(weighting._transform_rows(wide).data, padded._transform_rows(wide).data)


def test_wild_columns_are_refused():
    rows = SparseRows(np.array([0, 1]), np.array([7], dtype=np.int32), np.ones(1), 3)
    with pytest.raises(ValueError, match="outside"):
        TermWeighting()._fit_rows(rows)


# Query-side idf


def test_idf_may_be_for_queries_only():
    X = corpus()
    weighting = TermWeighting.named("query_idf")
    np.testing.assert_array_equal(weighting.fit_transform(X).toarray(), X.toarray())
    np.testing.assert_allclose(weighting.transform(X).toarray(), X.toarray() * weighting.idf_)
    y = np.arange(X.shape[0]) % 3
    pipeline = make_pipeline(weighting, MultinomialNB()).fit(X, y)
    by_hand = MultinomialNB().fit(X, y).predict_joint_log_proba(X.toarray() * weighting.idf_)
    np.testing.assert_allclose(pipeline[-1].predict_joint_log_proba(pipeline[:-1].transform(X)), by_hand)


# Additive learning


@given(counts(min_documents=2), options, st.data())
@settings(deadline=None, max_examples=100)
def test_merged_halves_equal_the_whole_and_unlearned_equals_never_seen(X, settings_, data):
    cut = data.draw(st.integers(1, len(X) - 1))
    whole = TermWeighting(**settings_).fit(X)
    halves = [TermWeighting(**settings_).fit(part) for part in (X[:cut], X[cut:])]
    streamed = TermWeighting(**settings_).partial_fit(X[:cut])
    streamed.transform(X)
    streamed.partial_fit(X[cut:])
    expected = whole.transform(X).toarray()
    for same in (streamed, halves[1].merge(halves[0])):
        assert_same(same, whole)
        np.testing.assert_array_equal(same.transform(X).toarray(), expected)
    whole.unlearn(X[cut:])
    assert_same(whole, halves[0])
    np.testing.assert_array_equal(whole.transform(X).toarray(), halves[0].transform(X).toarray())


def test_new_columns_come_at_any_time():
    X = corpus(40, 9)
    grown = TermWeighting(idf="smooth").partial_fit(X[:20, :4]).partial_fit(X[20:])
    padded = X.toarray()
    padded[:20, 4:] = 0
    assert_same(grown, TermWeighting().fit(padded))
    narrow = TermWeighting().fit(X[:20, :4])
    assert_same(narrow.merge(TermWeighting().fit(X[20:])), grown)
    assert narrow.n_features_in_ == 9


def test_idf_follows_the_counts_and_the_parameters():
    X = corpus()
    weighting = TermWeighting(idf="smooth").fit(X)
    before = weighting.idf_
    np.testing.assert_array_equal(weighting.partial_fit(X[:50]).unlearn(X[:50]).idf_, before)
    assert (weighting.partial_fit(X[:50]).idf_ != before).any()
    np.testing.assert_allclose(weighting.unlearn(X[:50]).set_params(idf_power=0.5).idf_, before**0.5)
    assert (weighting.set_params(idf=None).idf_ == 1).all()


@pytest.mark.parametrize("rows", [[[1, 0, 9]], [[0, 0, 0]] * 4, [[0, 1, 0], [0, 1, 0]], [[99, 0, 0]]])
def test_what_was_never_learned_cannot_be_unlearned(rows):
    weighting = TermWeighting().fit([[1, 0, 0], [1, 1, 0], [2, 0, 0]])
    with pytest.raises(ValueError, match="cannot unlearn documents that were never learned"):
        weighting.unlearn(rows)
    assert weighting.n_documents_ == 3
    assert weighting.document_frequency_.tolist() == [3, 1, 0]
    with pytest.raises(ValueError, match="nothing would be left"):
        weighting.unlearn([[1, 0, 0], [1, 1, 0], [2, 0, 0]])


# Bad input


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"tf": "tf"}, "tf must be one of 'raw', 'binary'.* got 'tf'"),
        ({"tf": None}, "tf must be one of"),
        ({"idf": True}, "idf must be one of None, 'smooth'.* got True"),
        ({"idf_on": "documents"}, "idf_on must be one of 'all', 'queries', got 'documents'"),
        ({"norm": "max"}, "norm must be one of None, 'l1', 'l2', got 'max'"),
        ({"idf_power": -1}, "idf_power must be a number that is not negative, got -1"),
        ({"scale": 0}, "scale must be a positive number, got 0"),
        ({"k1": float("nan")}, "k1 must be a number that is not negative, got nan"),
        ({"k1": float("inf")}, "k1 must be a number"),
        ({"b": 1.5}, "b must be a number from 0 to 1, got 1.5"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        TermWeighting(**params).fit([[1, 2]])
    fitted = TermWeighting().fit([[1, 2]]).set_params(**params)
    with pytest.raises(ValueError, match=message):
        fitted.transform([[1, 2]])


def test_wrong_input_is_named():
    weighting = TermWeighting().fit([[1, 2], [0, 1]])
    with pytest.raises(ValueError, match="Negative values in data passed to TermWeighting"):
        weighting.transform([[-1, 2]])
    with pytest.raises(ValueError, match="NaN"):
        weighting.partial_fit([[np.nan, 2]])
    with pytest.raises(ValueError, match="3 features, but TermWeighting is expecting 2"):
        weighting.transform([[1, 2, 3]])
    with pytest.raises(ValueError, match="other must be a TermWeighting, got MultinomialNB"):
        weighting.merge(MultinomialNB())
    with pytest.raises(NotFittedError):
        weighting.merge(TermWeighting())
    with pytest.raises(OverflowError, match="row sums"):
        weighting.fit([[1e308, 1e308]])
    with pytest.raises(ValueError, match=r"weighting must be one of 'raw', .* got 'tfdif'"):
        TermWeighting.named("tfdif")
    assert TermWeighting.named("tfidf", norm="l1").norm == "l1"


# Shapes and files


def test_sparse_arrays_give_arrays_and_all_else_matrices():
    X = corpus(20, 5)
    assert isinstance(TermWeighting().fit_transform(X), sparse.csr_array)
    for other in (X.toarray(), sparse.csr_matrix(X), sparse.csc_matrix(X)):
        weights = TermWeighting().fit(other).transform(other)
        assert isinstance(weights, sparse.csr_matrix)
        np.testing.assert_array_equal(weights.toarray(), X.toarray())


def test_columns_keep_their_names():
    import pandas as pd

    frame = pd.DataFrame([[1, 2], [0, 1]], columns=["red", "blue"])
    weighting = TermWeighting().fit(frame)
    assert weighting.get_feature_names_out().tolist() == ["red", "blue"]
    assert weighting.merge(TermWeighting().fit([[1, 2, 3]])).get_feature_names_out().tolist() == ["x0", "x1", "x2"]


def test_a_saved_weighting_weighs_the_same(tmp_path):
    X = corpus()
    weighting = TermWeighting("bm25", idf="bm25", norm="l2").fit(X)
    genus.save(weighting, tmp_path / "w.genus")
    loaded = genus.load(tmp_path / "w.genus")
    assert loaded.get_params() == weighting.get_params()
    for again in (loaded, pickle.loads(pickle.dumps(weighting))):  # noqa: S301 (scikit-learn users pickle)
        np.testing.assert_array_equal(again.transform(X).data, weighting.transform(X).data)
        assert_same(again.partial_fit(X).unlearn(X), weighting)
    assert not hasattr(clone(weighting), "n_features_in_")


@pytest.mark.parametrize(
    "damage",
    [
        {"frequency": np.array([1.5])},
        {"frequency": np.array([5])},
        {"frequency": np.array([-1])},
        {"n_documents": 0},
        {"n_documents": "3"},
        {"length": -1},
    ],
)
def test_damaged_files_are_refused(damage, tmp_path):
    weighting = TermWeighting().fit([[1], [2], [0]])
    state = weighting._get_state() | damage
    weighting._get_state = lambda: state
    genus.save(weighting, tmp_path / "w.genus")
    with pytest.raises(ModelFileError, match="TermWeighting that cannot be restored"):
        genus.load(tmp_path / "w.genus")
