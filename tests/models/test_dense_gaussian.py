"""DenseGaussian against the textbook, against scikit-learn, and against its own promises."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.covariance import oas
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from genus import DenseGaussian, load, save
from genus.base.moments import ClassMoments, MomentAccumulator
from genus.base.rows import SparseRows, dense_rows, full_rows, to_rows
from genus.base.statistics import ONE, Batch
from helpers.corpora import assert_same_model
from reference import dense_gaussian as reference

pytestmark = pytest.mark.kernel

LABELS = ["a", "bb", "ccc"]
eighths = st.integers(-24, 24).map(lambda i: i / 8)
anything = st.one_of(eighths, st.floats(-2, 2, width=32), st.floats(-(2.0**20), 2.0**20), st.just(2.0**-30))
some_weights = st.sampled_from([0.0, 1.0, 1.0, 0.1, 2.5, 1 / 3])
parameters = st.fixed_dictionaries(
    {
        "shrinkage": st.sampled_from(["oas", "oas", 0.1, 0.5, 1.0]),
        "mean_shrinkage": st.sampled_from([0.5, 1.0, 3.0]),
        "prior_scale": st.sampled_from([0.0, 0.5, 1.0]),
        "fit_prior": st.booleans(),
    }
)


@st.composite
def vectors(draw, values=eighths, least=1, most=12):
    n, d = draw(st.integers(least, most)), draw(st.integers(1, 4))
    X = np.array(draw(st.lists(st.lists(values, min_size=d, max_size=d), min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.sampled_from(LABELS), min_size=n, max_size=n)))
    weights = draw(st.none() | st.lists(some_weights, min_size=n, max_size=n).filter(any).map(np.array))
    return X, y, weights


def sample(n=90, d=6, n_classes=3, seed=0):
    """Correlated Gaussian classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.normal(size=(n_classes, d))[y]
    return X, np.array([f"class {c}" for c in y])


def parts_of(weights, rows):
    return None if weights is None else weights[rows]


def moments_of(X, y, weights):
    scales = np.full(len(y), float(ONE))
    return ClassMoments.of(Batch.from_labels(full_rows(X), scales, y, weights))


def wide(digits):
    """Wide numbers as Python's."""
    return sum(digit.astype(object) << (52 * i) for i, digit in enumerate(digits))


# Against the textbook and scikit-learn


@given(vectors(), parameters)
@settings(deadline=None, max_examples=150)
def test_scores_are_the_textbooks(collection, params):
    X, y, weights = collection
    clf = DenseGaussian(**params).fit(X, y, weights)
    expected = reference.joint_log_likelihood(X, y, X, sample_weight=weights, **params)
    np.testing.assert_allclose(clf.predict_joint_log_proba(X), expected, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1, rtol=1e-12)


@pytest.mark.parametrize("shrinkage", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("priors", [{}, {"class_prior": [0.2, 0.3, 0.5]}])
def test_equals_scikit_learn_where_means_are_not_shrunk(shrinkage, priors):
    X, y = sample(200)
    y[:50] = "class 1"
    prior = priors.get("class_prior")
    theirs = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage, priors=prior).fit(X, y)
    ours = DenseGaussian(shrinkage, mean_shrinkage=0, **priors).fit(X, y)
    if prior is None:  # given ones also weigh scikit-learn's covariances of the classes
        np.testing.assert_allclose(ours.covariance_, theirs.covariance_, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(ours.means_, theirs.means_, atol=1e-8)
    np.testing.assert_allclose(np.exp(ours.class_log_prior_), theirs.priors_)


def test_oracle_shrinkage_is_that_of_the_paper():
    """scikit-learn leaves 2/d out of both terms; here n is less by the number of classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 200)) * np.linspace(0.5, 2, 200)
    ours = DenseGaussian(mean_shrinkage=0).fit(X, np.full(40, "one")).shrinkage_
    assert ours == pytest.approx(oas(X)[1], rel=0.05)
    E = (X - X.mean(axis=0)).T @ (X - X.mean(axis=0))
    assert ours == pytest.approx(reference.oracle_shrinkage(E, 39), rel=1e-6)


def test_a_score_is_linear_in_the_vector():
    X, y = sample()
    clf = DenseGaussian().fit(X, y)
    scores = (X - clf.center_) @ clf.coef_.T + clf.intercept_
    np.testing.assert_allclose(clf.predict_joint_log_proba(X), scores, atol=1e-7)
    shifts = clf.means_ - clf.center_
    np.testing.assert_allclose(clf.coef_ @ clf.covariance_, shifts, atol=1e-10)
    lack = 3 / (clf.class_count_ + 3) ** 2 * _mean_square(clf, X, y)
    b = clf.class_log_prior_ - 0.5 * ((shifts * clf.coef_).sum(axis=1) + lack)
    np.testing.assert_allclose(clf.intercept_, b, atol=1e-10)


def _mean_square(clf, X, y):
    """v, of vectors less the mean of their class."""
    off = X - np.stack([X[y == label].mean(axis=0) for label in y])
    return (off @ np.linalg.inv(clf.covariance_) * off).sum() / (len(y) - len(clf.classes_))


def test_small_classes_do_not_attract_what_is_far_from_their_means():
    """As they would if their means were drawn to the middle, and nothing else."""
    rng = np.random.default_rng(0)
    y = np.concatenate([np.repeat(np.arange(4), 50), np.arange(4, 34)])
    means = rng.normal(size=(34, 40))
    X = rng.normal(size=(230, 40)) + means[y]
    asked = rng.normal(size=(500, 40)) + 0.5 * means[np.arange(500) % 4]  # between large classes and the middle
    clf = DenseGaussian(fit_prior=False).fit(X, y)
    scores = clf.predict_joint_log_proba(asked)
    without = scores + 0.5 * 3 / (clf.class_count_ + 3) ** 2 * _mean_square(clf, X, y)
    assert (scores.argmax(axis=1) < 4).mean() > (without.argmax(axis=1) < 4).mean() + 0.2


# Sums


@given(vectors(anything))
@settings(deadline=None, max_examples=150)
def test_moments_are_exact(collection):
    X, y, weights = collection
    moments = moments_of(X, y, weights)
    sums, products = reference.exact_moments(X, y, np.ones(len(y)) if weights is None else weights)
    found = wide(moments.sums)
    for c, label in enumerate(moments.counts.labels):
        assert [Fraction(int(value), 2**66) for value in found[c]] == sums[label]
    assert [[Fraction(int(value), 2**96) for value in row] for row in wide(moments.products)] == products


@pytest.mark.parametrize("scale", [1.0, 1000.0, 2.0**19])
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_of_many_vectors_are_exact(scale, weighted):
    """More than are handled at once, and as large as they may be."""
    rng = np.random.default_rng(0)
    n, d = 5000, 64
    X = rng.uniform(-scale, scale, size=(n, d))
    y, weights = np.full(n, "a"), rng.choice([0.1, 1 / 3, 700.0], n) if weighted else None
    fixed = np.full(n, ONE) if weights is None else (weights * ONE + 0.5).astype(np.int64)
    whole = np.rint(X * 2.0**30).astype(np.int64)
    moments, column = moments_of(X, y, weights), whole[:, 3].astype(object)
    expected = [int((whole[:, j].astype(object) * column * fixed).sum()) for j in range(d)]
    assert wide(moments.products)[3].tolist() == expected
    assert int(wide(moments.sums)[0, 3]) == int((column * fixed).sum())


@given(vectors(anything, least=2), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=150)
def test_any_way_to_learn_gives_the_same_bits(collection, random):
    X, y, weights = collection
    weights = np.ones(len(y)) if weights is None else weights
    whole = DenseGaussian().fit(X, y, weights)
    order = random.sample(range(len(y)), len(y))
    cuts = sorted(random.sample(range(1, len(y)), random.randint(1, min(3, len(y) - 1))))
    batches = np.split(np.array(order), cuts)

    streamed = DenseGaussian()
    for rows in batches:
        streamed.partial_fit(X[rows], y[rows], sample_weight=weights[rows])
    assert_same_model(streamed, whole)

    learned = [DenseGaussian().partial_fit(X[rows], y[rows], sample_weight=weights[rows]) for rows in batches]
    merged = learned[0]
    for other in learned[1:]:
        merged.merge(other)
    assert_same_model(merged, whole)

    first, rest = batches[0], np.concatenate(batches[1:])
    if weights[first].any():
        whole.unlearn(X[rest], y[rest], weights[rest])
        assert_same_model(whole, DenseGaussian().fit(X[first], y[first], weights[first]))


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8])
def test_kinds_of_numbers_and_forms_do_not_matter(dtype):
    X, y = sample()
    X = np.rint(X * 4).astype(dtype)
    expected = DenseGaussian().fit(X.astype(np.float64), y)
    for form in (X, np.asfortranarray(X), X.tolist(), sparse.csr_array(X), sparse.csc_matrix(X)):
        clf = DenseGaussian().fit(form, y)
        assert_same_model(clf, expected)
        np.testing.assert_array_equal(clf.predict_joint_log_proba(form), expected.predict_joint_log_proba(X))


def test_full_rows_are_read_without_a_copy():
    X = np.arange(12.0).reshape(3, 4)
    rows = full_rows(X)
    assert np.shares_memory(dense_rows(rows, 4), X)
    np.testing.assert_array_equal(dense_rows(to_rows(sparse.csr_array(X)), 4), X)
    np.testing.assert_array_equal(dense_rows(rows, 6), np.pad(X, ((0, 0), (0, 2))))
    np.testing.assert_array_equal(dense_rows(rows, 2), X[:, :2])
    twice = SparseRows(np.array([0, 4, 4]), np.array([0, 1, 0, 1], np.int32), np.ones(4), 2)
    np.testing.assert_array_equal(dense_rows(twice, 2), [[2, 2], [0, 0]])


def test_new_columns_and_classes_may_come():
    X, y = sample()
    padded = np.where(np.arange(6) < 4, X, 0)
    late = y == "class 2"
    grown = DenseGaussian().fit(padded[~late][:, :4], y[~late]).partial_fit(X[late], y[late])
    together = np.concatenate([padded[~late], X[late]])
    assert_same_model(grown, DenseGaussian().fit(together, np.concatenate([y[~late], y[late]])))
    assert grown.n_features_in_ == 6


def test_columns_without_values_can_go():
    X, y = sample()
    X[:, 2] = 0
    clf = DenseGaussian().fit(X, y)
    keep = clf._has_counts(np.arange(6, dtype=np.int32))
    assert keep.tolist() == [True, True, False, True, True, True]
    clf._keep_columns(keep)
    assert_same_model(clf, DenseGaussian().fit(X[:, keep], y))


def test_a_class_goes_with_its_last_document_unless_it_was_announced():
    X, y = sample(12)
    clf = DenseGaussian().partial_fit(X, y, classes=["class 0"])
    for label in ("class 0", "class 1"):
        clf.unlearn(X[y == label], y[y == label])
    assert clf.classes_.tolist() == ["class 0", "class 2"]
    np.testing.assert_allclose(clf.predict_proba(X), [[0, 1]] * 12)


@pytest.mark.parametrize(
    "change",
    [
        lambda X, y: (X * 100, y),
        lambda X, y: (np.repeat(X, 9, axis=0), np.repeat(y, 9)),
        lambda X, y: (X, np.full(len(y), "other")),
    ],
)
def test_what_was_never_learned_is_refused_and_changes_nothing(change):
    X, y = sample(12)
    clf = DenseGaussian().fit(X, y)
    with pytest.raises(ValueError, match="never learned"):
        clf.unlearn(*change(X[:2], y[:2]))
    assert_same_model(clf, DenseGaussian().fit(X, y))


def test_waiting_vectors_that_do_not_fit_leave_the_model_as_it_was():
    X, y = sample(12)
    clf, expected = (DenseGaussian().partial_fit(X, y) for _ in range(2))
    clf.partial_fit(X[:1], y[:1])
    expected.partial_fit(X[:1], y[:1])
    for bad in (X[:1] * 1e300, np.zeros((1, 5000))):
        with pytest.raises(ValueError, match="X must"):
            clf.partial_fit(bad, y[:1])
    assert_same_model(clf, expected)


# Leaving out


@given(vectors(least=2), parameters)
@settings(deadline=None, max_examples=200)
def test_leaving_out_equals_unlearning(collection, params):
    X, y, weights = collection
    weights = np.ones(len(y)) if weights is None else weights
    clf = DenseGaussian(**params).fit(X, y, weights)
    left_out = clf.leave_one_out_log_proba(X, y, weights)
    for i in range(len(y)):
        rest = DenseGaussian(**params).fit(X, y, weights).unlearn(X[[i]], y[[i]], weights[[i]])
        expected = np.full(len(clf.classes_), -np.inf)
        expected[np.isin(clf.classes_, rest.classes_)] = rest.predict_log_proba(X[[i]])[0]
        assert not np.isnan(left_out[i]).any()
        np.testing.assert_allclose(np.exp(left_out[i]), np.exp(expected), rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(left_out[i], expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("params", [{}, {"shrinkage": 0.3}, {"mean_shrinkage": 0.0}, {"class_prior": [0.2, 0.3, 0.5]}])
def test_leaving_out_is_as_exact_as_unlearning(params):
    X, y = sample(3000, 40)
    weights = np.random.default_rng(1).choice([1.0, 0.25, 2.0], 3000)
    X[5], weights[6] = 0, 0
    left_out = DenseGaussian(**params).fit(X, y, weights).leave_one_out_log_proba(X, y, weights)
    for i in (0, 5, 6, 1500, 2999):
        rest = DenseGaussian(**params).fit(X, y, weights).unlearn(X[[i]], y[[i]], weights[[i]])
        np.testing.assert_allclose(left_out[i], rest.predict_log_proba(X[[i]])[0], rtol=1e-9, atol=1e-9)


def test_leaving_out_needs_documents_that_were_learned():
    X, y = sample()
    clf = DenseGaussian().fit(X, y)
    with pytest.raises(ValueError, match="documents that were learned"):
        clf.leave_one_out_log_proba(X * 100, y)
    with pytest.raises(ValueError, match="never learned"):
        clf.leave_one_out_log_proba(X, np.full(len(y), "other"))


def test_other_parameters_need_no_other_fit():
    X, y = sample()
    clf = DenseGaussian().fit(X, y)
    other = {"shrinkage": 0.7, "mean_shrinkage": 4.0, "prior_scale": 0.5, "fit_prior": False}
    assert clf._prediction_parameters() >= set(other)
    retuned, fitted = clf._retuned(**other), DenseGaussian(**other).fit(X, y)
    assert_same_model(retuned, fitted)
    np.testing.assert_array_equal(retuned.leave_one_out_log_proba(X, y), fitted.leave_one_out_log_proba(X, y))


# Little to learn from, and nothing to read


def test_a_vector_of_zeros_has_the_prior():
    X, y = sample(12)
    y[:6] = "class 0"
    clf = DenseGaussian().fit(X, y)
    zeros = np.zeros((2, 6))
    np.testing.assert_allclose(clf.predict_log_proba(zeros), np.tile(clf.class_log_prior_, (2, 1)))
    empty = SparseRows(np.zeros(3, np.int64), np.zeros(0, np.int32), np.zeros(0), 6)
    np.testing.assert_array_equal(clf._log_proba_rows(empty), clf.predict_log_proba(zeros))
    unknown = SparseRows(np.array([0, 1]), np.array([9], np.int32), np.ones(1), 10)
    np.testing.assert_array_equal(clf._log_proba_rows(unknown), clf.predict_log_proba(zeros[:1]))


def test_vectors_of_zeros_count_in_the_prior_only():
    X, y = sample(12)
    more = DenseGaussian().fit(np.vstack([X, np.zeros((6, 6))]), [*y, *["class 1"] * 6])
    plain = DenseGaussian().fit(X, y)
    np.testing.assert_array_equal(more.coef_, plain.coef_)
    np.testing.assert_allclose(np.exp(more.class_log_prior_), np.array([4, 10, 4]) / 18)


@pytest.mark.parametrize(
    "X",
    [
        np.eye(3),  # one vector in each class
        np.ones((3, 4)),  # all alike
        np.full((3, 4), 2.0**20),
        np.zeros((3, 4)),
        np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]),  # on a line
        np.full((3, 1), 2.0**-30) * [[1.0], [2.0], [3.0]],
        np.array([[1e6, 1.0], [1e6, -1.0], [1e6, 0.0]]),
    ],
)
@pytest.mark.parametrize("params", [{}, {"shrinkage": 0.0}, {"shrinkage": 0.0, "mean_shrinkage": 0.0}])
@pytest.mark.parametrize("copies", [1, 2])
def test_degenerate_vectors_have_finite_scores(X, params, copies):
    X, y = np.repeat(X, copies, axis=0), np.repeat(["a", "b", "c"], copies)
    clf = DenseGaussian(**params).fit(X, y)
    asked = np.vstack([X, -X, np.full((1, X.shape[1]), 2.0**20)])
    assert np.isfinite(clf.predict_joint_log_proba(asked)).all()
    assert np.isfinite(clf.predict_log_proba(asked)).all()
    left_out = clf.leave_one_out_log_proba(X, y)
    assert not np.isnan(left_out).any()
    np.testing.assert_allclose(np.exp(left_out).sum(axis=1), 1)
    if copies == 1:
        assert np.isneginf(np.diagonal(left_out)).all()
    if len(np.unique(X, axis=0)) == 3:
        assert clf.predict(X).tolist() == y.tolist() or not X[0].any()


def test_one_class_is_the_answer():
    X, _ = sample(5)
    clf = DenseGaussian().fit(X, ["only"] * 5)
    np.testing.assert_array_equal(clf.predict_proba(X), np.ones((5, 1)))
    assert clf.predict(X).tolist() == ["only"] * 5


def test_a_large_mean_does_not_hide_a_small_spread():
    X, y = sample(300)
    moved = DenseGaussian().fit(X + 1000.0, y)
    np.testing.assert_allclose(moved.predict_proba(X + 1000.0), DenseGaussian().fit(X, y).predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("value", [1e300, -1e300, 2.0**20 * 1.001, np.nan, np.inf])
def test_numbers_out_of_range_are_refused(value):
    X, y = sample(12)
    clf, bad = DenseGaussian().fit(X, y), X.copy()
    bad[3, 2] = value
    rows, match = full_rows(bad), r"numbers from -2\*\*20 to 2\*\*20"
    with np.errstate(all="ignore"):
        for ask in (clf._log_proba_rows, clf._predict_rows, lambda rows: clf._fit_rows(rows, y)):
            with pytest.raises(ValueError, match=match):
                ask(rows)
    with pytest.raises(ValueError, match=match if np.isfinite(value) else r"NaN|infinity"):
        clf.predict(bad)


def test_too_many_columns_are_refused():
    with pytest.raises(ValueError, match="at most 4096 columns"):
        DenseGaussian().fit(sparse.csr_array((2, 5000)), ["a", "b"])


def test_weights_that_are_too_large_are_refused():
    X, y = sample(12)
    with pytest.raises(OverflowError, match=r"scale the weights down|scale them down"):
        DenseGaussian().fit(X, y, np.full(12, 2.0**25))


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"shrinkage": "auto"}, "shrinkage must be 'oas' or a number from 0 to 1, got 'auto'"),
        ({"shrinkage": 1.5}, "shrinkage must be 'oas' or a number from 0 to 1, got 1.5"),
        ({"mean_shrinkage": -1}, "mean_shrinkage must be a number that is not negative"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(params, match):
    with pytest.raises(ValueError, match=match):
        DenseGaussian(**params).fit(*sample(12))


# Evidence


def test_evidence_adds_up_to_the_score():
    X, y = sample()
    X[3, 2:] = 0
    X[4] = 0
    clf = DenseGaussian().fit(X, y)
    scores = clf.predict_joint_log_proba(X)
    for form in (full_rows, lambda x: to_rows(sparse.csr_array(x))):
        for i in (0, 3, 4):
            bias, parts = clf._log_evidence(form(X[i : i + 1]), [2, 0])
            np.testing.assert_allclose(bias + parts.sum(axis=0), scores[i, [2, 0]], rtol=1e-12)
    bias, parts = clf._log_evidence(full_rows(X[:1]), [1])
    np.testing.assert_allclose(parts[:, 0], (X[0] - clf.center_) * clf.coef_[1], atol=1e-7)
    np.testing.assert_allclose(bias, clf.intercept_[1], atol=1e-7)


def test_columns_that_set_a_class_apart_come_first():
    X, y = sample(300)
    X[:, 4] += 20 * (y == "class 1")
    columns, parts = DenseGaussian().fit(X, y)._top_words(1, 3)
    assert columns[0] == 4
    assert (np.diff(parts) <= 0).all()


# Keeping


@pytest.mark.parametrize("name", ["sums", "products", "table_coef"])
def test_a_damaged_state_is_refused(name):
    X, y = sample(12)
    state = DenseGaussian().fit(X, y)._get_state()
    for damaged in (state[name][:1], state[name].astype(np.float32)):
        with pytest.raises(ValueError, match=r"must be|do not belong"):
            DenseGaussian()._set_state(state | {name: damaged})


def test_inconsistent_moments_are_refused_before_they_are_built_upon():
    X, y = sample(12)
    state = DenseGaussian().fit(X, y)._get_state()
    clf = DenseGaussian()
    clf._set_state(state | {"products": -state["products"]})
    with pytest.raises(ValueError, match="the file is damaged"):
        clf.partial_fit(X, y)


def test_a_loaded_model_learns_and_unlearns(tmp_path):
    X, y = sample()
    save(DenseGaussian(0.3, mean_shrinkage=2.0).fit(X[:50], y[:50]), tmp_path / "m.genus")
    loaded = load(tmp_path / "m.genus").partial_fit(X[50:], y[50:]).unlearn(X[:50], y[:50])
    assert_same_model(loaded, DenseGaussian(0.3, mean_shrinkage=2.0).fit(X[50:], y[50:]))


# Cost


def test_memory_does_not_grow_with_the_vectors():
    """Beyond one number for the column of each component, and a few for each vector."""
    X = np.random.default_rng(0).normal(size=(60_000, 64)).astype(np.float32)
    y = np.arange(60_000) % 5
    tracemalloc.start()
    clf = DenseGaussian().fit(X, y)
    clf.predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.5 * X.nbytes


def test_many_small_batches_wait_for_each_other():
    X, y = sample(300)
    accumulator = MomentAccumulator()
    for i in range(300):
        accumulator.add(Batch.from_labels(full_rows(X[i : i + 1]), np.full(1, float(ONE)), y[i : i + 1], None), 1)
    assert len(accumulator._waiting) == 300
    assert_same_model(DenseGaussian().fit(X, y), _over(accumulator))


def _over(accumulator):
    clf = DenseGaussian()
    clf._fitted_counting_params = {}
    clf._set_statistics(accumulator)
    return clf
