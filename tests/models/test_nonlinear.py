"""Non-linear hierarchical Bayes: against slow EM, the paper's theorem and exclusive or, and its own promises."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

import genus
from genus import GaussianNonlinearBayes, ModelFileError, MultinomialNB, NonlinearBayes, TextClassifier, _core
from genus.base.rows import SparseRows, to_rows
from genus.experiments import experiment
from genus.experiments.pages.page import make_page
from genus.experiments.papers.nlhb_shapes import SHAPES, draw
from genus.models.nonlinear.repeated_em import hold_out
from reference import nonlinear as reference

pytestmark = pytest.mark.kernel

XOR_X, XOR_Y = np.array([[1, 1], [5, 5], [5, 1], [1, 5]]), np.array([0, 0, 1, 1])
HOW = st.fixed_dictionaries(
    {
        "alpha": st.sampled_from([1e-100, 0.01, 0.1, 1.0, 10.0]),
        "smoothing": st.sampled_from(["node", "proportional"]),
        "node_prior": st.sampled_from(["documents", "words"]),
    }
)
values = st.one_of(
    st.just(0.0), st.integers(0, 4).map(float), st.floats(0, 20, width=32).filter(lambda x: x > 1e-3 or not x)
)


@st.composite
def tasks(draw, values=values, unlabeled=True):
    """Documents, classes (-1 for none), weights, and nodes; every class has a document with weight."""
    n_classes = draw(st.integers(1, 3))
    n, n_words = draw(st.integers(n_classes, 9)), draw(st.integers(1, 6))
    X = np.array(draw(st.lists(st.lists(values, min_size=n_words, max_size=n_words), min_size=n, max_size=n)))
    lowest = -1 if unlabeled and draw(st.booleans()) else 0
    rest = n - n_classes
    codes = [*range(n_classes), *draw(st.lists(st.integers(lowest, n_classes - 1), min_size=rest, max_size=rest))]
    weights = [1.0] * n_classes + draw(st.lists(st.sampled_from([0.0, 1.0, 0.1, 2.5]), min_size=rest, max_size=rest))
    sizes = draw(st.lists(st.integers(1, 3), min_size=n_classes, max_size=n_classes))
    return X, np.array(codes, dtype=np.int32), np.array(weights), np.concatenate(([0], np.cumsum(sizes)))


def fit_nodes(
    X,
    codes,
    weights,
    node_starts,
    *,
    held_out=(),
    n_iterations=3,
    n_repetitions=5,
    seed=3,
    hard=False,
    init="near-uniform",
    alpha=0.1,
    smoothing="node",
    node_prior="documents",
    n_threads=1,
    first=0,
):
    rows = to_rows(sparse.csr_array(X))
    return _core.fit_multinomial_nodes(
        rows.indptr, rows.indices, rows.data, rows.n_columns, codes, weights, node_starts,
        np.array(held_out, dtype=np.int32), alpha=alpha, proportional=smoothing == "proportional",
        by_words=node_prior == "words", first_repetition=first, n_repetitions=n_repetitions,
        n_iterations=n_iterations, seed=seed, hard=hard, start=init, n_threads=n_threads,
    )  # fmt: skip


def corpus(n=120, n_words=30, n_classes=3, seed=0):
    """Each class has two kinds of document."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    kinds = rng.random((n_classes, 2, n_words)) ** 3
    X = rng.poisson(3 * kinds[y, rng.integers(0, 2, n)])
    X[::17] = 0  # empty documents
    return sparse.csr_array(X), np.array([f"class {c}" for c in y])


# Against slow EM


@given(tasks(), HOW, st.booleans(), st.sampled_from(["near-uniform", "random"]), st.integers(0, 4))
@settings(deadline=None, max_examples=150)
def test_the_kernel_is_em(task, how, hard, init, n_iterations):
    X, codes, weights, node_starts = task
    shares, objective, _ = fit_nodes(*task, n_iterations=n_iterations, hard=hard, init=init, **how)
    may = reference.allowed(codes, node_starts)
    for r in (0, 4):  # of the first block of repetitions, and alone in the second
        expected, expected_objective, _ = reference.em(
            X, codes, weights, node_starts, n_iterations=n_iterations, seed=3, repetition=r, hard=hard, init=init, **how
        )
        if hard and not _is_decided(X, codes, weights, node_starts, n_iterations, r, init, how):
            continue
        np.testing.assert_allclose(shares[:, r], expected[may], rtol=1e-6, atol=1e-7)
        prior = 0.0 if (codes < 0).any() else _log_class_priors(codes, weights, node_starts)
        np.testing.assert_allclose(objective[:, r] + prior, expected_objective, rtol=1e-9, atol=1e-7)


def _log_class_priors(codes, weights, node_starts):
    """What the kernel leaves out of the objective where classes are fitted apart: it never changes."""
    sums = np.bincount(codes, weights, len(node_starts) - 1)
    return float(sums[sums > 0] @ np.log(sums[sums > 0] / sums.sum()))


def _is_decided(X, codes, weights, node_starts, n_iterations, r, init, how):
    """Whether hard EM never had to choose between nodes that differ by rounding alone."""
    may = reference.allowed(codes, node_starts)
    shares = reference.start(len(X), codes, node_starts, seed=3, repetition=r, start=init)
    for _ in range(n_iterations):
        log_prior, log_p, _ = reference.maximize(X, shares, weights, node_starts, **how)
        scores = np.where(may, reference.joint(X, log_prior, log_p), -np.inf)
        ordered = -np.sort(-scores, axis=1)
        if ordered.shape[1] > 1 and (ordered[:, 0] - ordered[:, 1] < 1e-9 * np.abs(ordered[:, 0]) + 1e-9).any():
            return False
        shares, _ = reference.expect(scores, may, hard=True)
    return True


@given(tasks(), HOW)
@settings(deadline=None, max_examples=60)
def test_held_out_documents_are_scored_by_every_class_and_teach_nothing(task, how):
    X, codes, weights, node_starts = task
    held_out = np.flatnonzero((weights == 0) & (codes >= 0))
    _, _, scores = fit_nodes(*task, held_out=held_out, **how)
    _, _, (log_prior, log_p) = reference.em(X, codes, weights, node_starts, n_iterations=3, seed=3, repetition=2, **how)
    for c in range(len(node_starts) - 1):
        inside = slice(node_starts[c], node_starts[c + 1])
        expected = [
            reference.log_sum_exp(row) - reference.log_sum_exp(log_prior[inside])
            for row in reference.joint(X[held_out], log_prior[inside], log_p[inside])
        ]
        found = scores.reshape(len(held_out), len(node_starts) - 1, 5)[:, c, 2]
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-7)


@given(tasks(), HOW, st.sampled_from(["sum-of-products", "product-of-sums"]))
@settings(deadline=None, max_examples=80)
def test_the_model_is_the_m_step_of_the_best_repetition(task, how, posterior):
    X, codes, weights, _ = task
    if not weights[codes >= 0].any():
        return
    labels = np.array([None if c < 0 else f"c{c}" for c in codes], dtype=object)
    clf = NonlinearBayes(
        2, 3, 4, n_averaged=1, posterior=posterior, min_documents=0, validation_fraction=0, unlabeled_weight=1.0,
        random_state=5, **how,
    ).fit(X, labels, weights)  # fmt: skip
    node_starts = np.concatenate(([0], np.cumsum(clf.n_hidden_)))
    seed = int(np.random.RandomState(5).randint(np.iinfo(np.int32).max))
    shares, _, _ = reference.em(
        X, codes, weights, node_starts, n_iterations=4, seed=seed, repetition=int(clf.repetitions_[0]), **how
    )
    log_prior, log_p, _ = reference.maximize(X, shares, weights, node_starts, **how)
    expected = reference.log_posterior(X, log_prior, log_p, node_starts, posterior)
    np.testing.assert_allclose(np.concatenate(clf.feature_log_prob_), log_p, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(clf.predict_proba(X), np.exp(expected), atol=1e-5)


@given(tasks(st.floats(-3, 3, width=32), unlabeled=True), st.booleans(), st.integers(1, 4))
@settings(deadline=None, max_examples=100)
def test_the_gaussian_kernel_is_em(task, hard, n_iterations):
    X, codes, weights, node_starts = task
    floor = np.full((len(node_starts) - 1, X.shape[1]), 0.01)
    shares, objective, _ = _core.fit_gaussian_nodes(
        X, codes, weights, node_starts, np.zeros(0, np.int32), floor, first_repetition=0, n_repetitions=5,
        n_iterations=n_iterations, seed=3, hard=hard, start="points", n_threads=2,
    )  # fmt: skip
    for r in (0, 4):
        expected, expected_objective, _ = reference.gaussian_em(
            X, codes, weights, node_starts, n_iterations=n_iterations, floor=floor, seed=3, repetition=r, hard=hard
        )
        prior = 0.0 if (codes < 0).any() else _log_class_priors(codes, weights, node_starts)
        if hard:  # ties of equal points are decided by rounding
            assert np.isin(shares, (0, 1)).all()
        else:
            np.testing.assert_allclose(shares[:, r], expected[reference.allowed(codes, node_starts)], atol=1e-6)
            np.testing.assert_allclose(objective[:, r] + prior, expected_objective, rtol=1e-8, atol=1e-6)


@pytest.mark.parametrize("n_nodes", [1, 2, 3, 5, 7, 11])
@pytest.mark.parametrize("n_lanes", [4, 8, 12, 16])
@pytest.mark.parametrize("hard", [False, True])
def test_every_machine_gives_the_same_bits(n_nodes, n_lanes, hard):
    rng = np.random.default_rng(0)
    table = rng.normal(0, 30, (9, n_nodes * n_lanes))
    rows, x = rng.integers(0, 9, 7).astype(np.int32), rng.random(7)
    shares, *others = (_core.em_shares(rows, x, table, n_lanes, hard, level) for level in _core.simd_levels())
    for other in others:
        np.testing.assert_array_equal(shares, other)
    scores = (x @ table[rows]).reshape(n_nodes, n_lanes)
    expected, _ = reference.expect(scores.T, np.ones((n_lanes, n_nodes), dtype=bool), hard=hard)
    np.testing.assert_allclose(shares.reshape(n_nodes, n_lanes), expected.T, atol=1e-12)


# What EM promises


@given(tasks(), st.booleans(), st.sampled_from([1e-100, 0.1, 2.0]))
@settings(deadline=None, max_examples=100)
def test_the_objective_never_falls(task, hard, alpha):
    _, objective, _ = fit_nodes(*task, n_iterations=8, hard=hard, alpha=alpha)
    assert (np.diff(objective, axis=0) >= -1e-9 * np.abs(objective[:-1]) - 1e-9).all()


def test_the_gaussian_likelihood_never_falls():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(m, s, (60, 3)) for m, s in ((0, 1), (4, 0.1), (-3, 2))])
    clf = GaussianNonlinearBayes(4, n_iterations=40, random_state=0).fit(X, np.arange(180) % 2)
    assert (np.diff(clf.objective_, axis=0) >= -1e-9 * np.abs(clf.objective_[:-1])).all()
    assert (clf.objective_[-1] > clf.objective_[0]).all()


@pytest.mark.parametrize(
    "estimator", [NonlinearBayes(), NonlinearBayes(em="hard", n_hidden="auto"), GaussianNonlinearBayes(3)]
)
@pytest.mark.parametrize("n_unlabeled", [0, 20])
def test_results_do_not_depend_on_the_number_of_threads(estimator, n_unlabeled):
    X, y = corpus()
    X, y = X.toarray(), y.astype(object)
    y[:n_unlabeled] = None
    found = []
    for n_jobs in (1, 2, 7):
        clf = estimator.set_params(random_state=0, min_documents=5, n_jobs=n_jobs).fit(X, y)
        found.append((clf.predict_joint_log_proba(X), clf.objective_, clf.repetitions_))
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_repetitions_in_parts_are_the_same_repetitions(monkeypatch):
    X, y = corpus()
    whole = NonlinearBayes(n_repetitions=11, random_state=0).fit(X, y)
    monkeypatch.setattr("genus.models.nonlinear.repeated_em._MEMORY", 1)
    parts = NonlinearBayes(n_repetitions=11, random_state=0).fit(X, y)
    np.testing.assert_array_equal(whole.repetitions_, parts.repetitions_)
    np.testing.assert_array_equal(whole.objective_, parts.objective_)
    np.testing.assert_array_equal(whole.predict_log_proba(X), parts.predict_log_proba(X))


# Section 3.2: the product of sums is naive Bayes


@pytest.mark.parametrize("em", ["soft", "hard"])
@pytest.mark.parametrize(("alpha", "smoothing"), [(1e-100, "node"), (0.7, "proportional")])
def test_the_product_of_sums_is_naive_bayes(em, alpha, smoothing):
    X, y = corpus()
    clf = NonlinearBayes(
        3, 8, 5, alpha, em=em, smoothing=smoothing, node_prior="words", posterior="product-of-sums",
        min_documents=0, random_state=0,
    ).fit(X, y)  # fmt: skip
    naive = MultinomialNB(alpha).fit(X, y)
    assert clf.n_hidden_.tolist() == [3, 3, 3]
    # Without smoothing the theorem is about words that the class has: any other has probability 0.
    seen = naive.feature_count_ > 0 if smoothing == "node" else np.ones((3, X.shape[1]), dtype=bool)
    for c in range(3):  # eq. 19, word by word
        p = np.exp(clf.node_log_prior_[c]) @ np.exp(clf.feature_log_prob_[c])
        np.testing.assert_allclose(p[seen[c]], np.exp(naive.feature_log_prob_[c])[seen[c]], rtol=1e-12)
        known = X @ ~seen[c] == 0  # eq. 18, document by document
        assert known.sum() > 30
        expected = naive.predict_joint_log_proba(X[known])[:, c]
        np.testing.assert_allclose(clf.predict_joint_log_proba(X[known])[:, c], expected, rtol=1e-12)


def test_with_laplace_in_every_node_the_product_of_sums_is_not_naive_bayes():
    X, y = corpus()
    clf = NonlinearBayes(3, 8, 5, 0.7, node_prior="words", posterior="product-of-sums", min_documents=0,
                         random_state=0).fit(X, y)  # fmt: skip
    naive = MultinomialNB(0.7).fit(X, y)
    assert np.abs(clf.predict_joint_log_proba(X) - naive.predict_joint_log_proba(X)).max() > 0.1


def test_one_node_is_naive_bayes():
    X, y = corpus()
    clf = NonlinearBayes(1, alpha=0.3, random_state=0).fit(X, y)
    naive = MultinomialNB(0.3).fit(X, y)
    np.testing.assert_allclose(clf.predict_joint_log_proba(X), naive.predict_joint_log_proba(X), rtol=1e-12)
    np.testing.assert_allclose(clf.class_log_prior_, naive.class_log_prior_, rtol=1e-12)


# Section 3.4: exclusive or


@pytest.mark.parametrize("estimator", [
    NonlinearBayes(2, n_repetitions=1, n_iterations=20, min_documents=2),
    NonlinearBayes(2, min_documents=2),
    GaussianNonlinearBayes(2, n_repetitions=1, min_documents=2),
])  # fmt: skip
def test_exclusive_or_is_learned_from_every_start(estimator):
    solved = sum(
        estimator.set_params(random_state=seed).fit(XOR_X, XOR_Y).score(XOR_X, XOR_Y) == 1 for seed in range(200)
    )
    assert solved == 200
    assert MultinomialNB().fit(XOR_X, XOR_Y).score(XOR_X, XOR_Y) < 1
    assert LogisticRegression().fit(XOR_X, XOR_Y).score(XOR_X, XOR_Y) < 1


# Choosing


def test_averaging_is_of_posteriors():
    X, y = corpus()
    options = {"n_repetitions": 4, "random_state": 0, "validation_fraction": 0, "min_documents": 5}
    averaged = NonlinearBayes(n_averaged=4, **options).fit(X, y)
    single = NonlinearBayes(n_averaged=1, **options).fit(X, y)
    assert averaged.repetitions_[0] == single.repetitions_[0]
    assert sorted(averaged.repetitions_.tolist()) == [0, 1, 2, 3]
    table = averaged._nodes
    scores = table.component_scores(to_rows(X), 1).reshape(X.shape[0], -1, 4)
    posteriors = []
    for r in range(4):
        joint = (
            np.stack(
                [
                    np.logaddexp.reduce(part, axis=1)
                    for part in np.split(scores[:, :, r], table.node_starts[1:-1], axis=1)
                ],
                axis=1,
            )
            + table.log_prior[:, r]
        )
        posteriors.append(np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)))
    np.testing.assert_allclose(posteriors[0], single.predict_proba(X), atol=1e-12)
    np.testing.assert_allclose(np.mean(posteriors, axis=0), averaged.predict_proba(X), atol=1e-12)


def test_the_best_on_held_out_documents_are_kept():
    X, y = corpus(400)
    clf = NonlinearBayes(n_repetitions=12, n_averaged=3, random_state=0).fit(X, y)
    kept = clf.validation_scores_[clf.repetitions_]
    assert (np.diff(kept) <= 0).all()
    assert kept.min() >= np.delete(clf.validation_scores_, clf.repetitions_).max()


def test_hold_out_is_stratified_and_leaves_every_class_a_document():
    codes = np.repeat([0, 1, 2], [100, 30, 1]).astype(np.int32)
    held = hold_out(codes, np.ones(131), None, 0.1, 0)
    assert np.bincount(codes[held], minlength=3).tolist() == [10, 3, 0]
    assert len(set(held.tolist())) == 13


def test_groups_are_held_out_whole():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 300).astype(np.int32)
    groups = np.arange(300) // 5
    held = hold_out(codes, np.ones(300), groups, 0.2, 0)
    assert 50 <= len(held) <= 60
    assert (np.bincount(groups[held]) % 5 == 0).all()
    assert len(hold_out(codes, np.ones(300), codes.astype(np.int64), 0.9, 0)) == 0  # no class is given away


def test_small_classes_keep_one_node():
    X, y = corpus(150)
    y[:3] = "rare"
    clf = NonlinearBayes(3, random_state=0).fit(X, y)
    assert dict(zip(clf.classes_.tolist(), clf.n_hidden_.tolist(), strict=True)) == {
        "class 0": 3, "class 1": 3, "class 2": 3, "rare": 1,
    }  # fmt: skip


def test_nodes_may_be_given_for_each_class():
    X, y = corpus()
    assert NonlinearBayes([1, 2, 3], min_documents=0).fit(X, y).n_hidden_.tolist() == [1, 2, 3]
    assert NonlinearBayes({"class 1": 4}, min_documents=0).fit(X, y).n_hidden_.tolist() == [1, 4, 1]


def test_the_number_of_nodes_is_chosen_on_held_out_documents():
    # An exclusive or in words: each half of a document says nothing, and one node per class knows no more.
    rng = np.random.default_rng(0)
    y, first = rng.integers(0, 2, (2, 600))
    halves = np.stack([first, first ^ y], axis=1)
    X = rng.poisson(np.where(np.repeat(halves, 10, axis=1) == np.tile(np.arange(10) % 2, 2), 3.0, 0.3))
    clf = NonlinearBayes("auto", n_iterations=20, random_state=0).fit(X[:400], y[:400])
    assert clf.n_hidden_[0] > 1
    assert clf.score(X[400:], y[400:]) > 0.95
    assert NonlinearBayes(1).fit(X[:400], y[:400]).score(X[400:], y[400:]) < 0.7


def test_sample_weights_are_counts():
    X, y = corpus(90)
    weights = np.random.default_rng(9).integers(0, 3, 90)
    clf = NonlinearBayes(1, random_state=0).fit(X, y, weights)
    repeated = NonlinearBayes(1, random_state=0).fit(X[np.repeat(np.arange(90), weights)], np.repeat(y, weights))
    np.testing.assert_allclose(clf.predict_log_proba(X), repeated.predict_log_proba(X), atol=1e-9)


# Documents without labels


@pytest.mark.parametrize("estimator", [NonlinearBayes(), GaussianNonlinearBayes(2)])
def test_documents_without_labels_help(estimator):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 900)
    X = rng.poisson(rng.random((2, 60))[y]).astype(float)
    few = y.astype(object)
    few[8:600] = None
    alone = clone(estimator).set_params(random_state=0, unlabeled_weight=0.0).fit(X[:600], few[:600])
    joined = clone(estimator).set_params(random_state=0, unlabeled_weight=1.0).fit(X[:600], few[:600])
    assert joined.score(X[600:], y[600:]) > alone.score(X[600:], y[600:]) + 0.05
    np.testing.assert_array_equal(alone.class_count_, np.bincount(y[:8]))


def test_unlabeled_documents_without_weight_change_nothing():
    X, y = corpus()
    more = np.concatenate([y.astype(object), [None] * 60])
    clf = NonlinearBayes(min_documents=5, random_state=0).fit(X, y)
    other = clf.__class__(min_documents=5, random_state=0, unlabeled_weight=0).fit(sparse.vstack([X, X[:60]]), more)
    np.testing.assert_allclose(clf.predict_proba(X), other.predict_proba(X), atol=1e-9)


def test_a_value_may_stand_for_no_label():
    X, y = corpus()
    numbers = np.array([int(label[-1]) for label in y])
    numbers[::4] = -1
    assert NonlinearBayes(random_state=0).fit(X, numbers).classes_.tolist() == [-1, 0, 1, 2]
    assert NonlinearBayes(unlabeled=-1, random_state=0).fit(X, numbers).classes_.tolist() == [0, 1, 2]


# Bad and unusual input


@pytest.mark.parametrize(("params", "message"), [
    ({"n_hidden": 0}, "n_hidden must be"), ({"n_hidden": "many"}, "n_hidden must be 'auto'"),
    ({"n_hidden": [1, 2]}, "one for each of the 3 classes"), ({"n_hidden": {"no": 2}}, "names the class 'no'"),
    ({"n_hidden": 1.5}, "n_hidden must be"), ({"alpha": 0}, "alpha must be a positive"),
    ({"n_repetitions": 0}, "n_repetitions must be a whole number of at least 1"),
    ({"n_iterations": -1}, "n_iterations must be a whole number of at least 0"),
    ({"em": "medium"}, "em must be 'soft' or 'hard'"), ({"posterior": "x"}, "posterior must be"),
    ({"node_prior": "x"}, "node_prior must be"), ({"smoothing": "x"}, "smoothing must be"),
    ({"init": "points"}, "init must be"), ({"validation_fraction": 1.0}, "validation_fraction must be"),
    ({"unlabeled_weight": -1}, "unlabeled_weight must be"), ({"n_averaged": 0}, "n_averaged must be"),
    ({"prior_scale": float("nan")}, "prior_scale must be"), ({"n_jobs": 0}, "n_jobs must be"),
])  # fmt: skip
def test_parameters_are_checked(params, message):
    X, y = corpus()
    with pytest.raises(ValueError, match=message):
        NonlinearBayes(**params).fit(X, y)


def test_documents_are_checked():
    X, y = corpus()
    with pytest.raises(ValueError, match="Negative values"):
        NonlinearBayes().fit(-X, y)
    for clf in (NonlinearBayes(), GaussianNonlinearBayes()):
        with pytest.raises(ValueError, match="NaN"):
            clf.fit([[np.nan, 1.0], [1.0, 2.0]], ["a", "b"])
        with pytest.raises(ValueError, match="at least one document"):
            clf.fit(X.toarray(), np.full(X.shape[0], None, dtype=object))
        with pytest.raises(ValueError, match="groups must have shape"):
            clf.fit(X.toarray(), y, groups=[1, 2])
        with pytest.raises(ValueError, match="sample_weight must be above zero"):
            clf.fit(X.toarray(), y, np.zeros(len(y)))
        with pytest.raises(NotFittedError):
            clf.predict(X.toarray())
    with pytest.raises(ValueError, match="var_floor must be"):
        GaussianNonlinearBayes(var_floor=0).fit(X.toarray(), y)


@pytest.mark.parametrize("clf", [NonlinearBayes(5, min_documents=0), GaussianNonlinearBayes(5, min_documents=0)])
def test_a_class_never_has_more_nodes_than_documents(clf):
    X, y = np.array([[1.0, 2.0], [2.0, 0.0], [0.0, 3.0]]), ["a", "a", "b"]
    assert clf.fit(X, y).n_hidden_.tolist() == [2, 1]
    assert clf.predict(X).tolist() == y


@pytest.mark.parametrize("clf", [NonlinearBayes(2, min_documents=0), GaussianNonlinearBayes(2, min_documents=0)])
def test_constant_features_and_duplicated_rows_do_no_harm(clf):
    X, y = np.tile([[3.0, 1.0, 0.0], [3.0, 0.0, 2.0]], (30, 1)), np.tile(["a", "b"], 30)
    clf = clf.set_params(random_state=0).fit(X, y)
    assert np.isfinite(clf.predict_log_proba(X)).all()
    assert clf.predict(X).tolist() == y.tolist()
    constant = clf.fit(np.ones((10, 3)), np.tile(["a", "b"], 5))
    np.testing.assert_allclose(constant.predict_proba(np.ones((2, 3))), 0.5)


def test_zero_iterations_keep_the_random_start():
    X, y = corpus()
    clf = NonlinearBayes(n_iterations=0, random_state=0).fit(X, y)
    assert clf.objective_.shape == (0, 20)
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1)
    gaussian = GaussianNonlinearBayes(2, n_iterations=0, random_state=0).fit(X.toarray(), y)
    np.testing.assert_allclose(gaussian.predict_proba(X.toarray()).sum(axis=1), 1)


def test_one_repetition_and_no_validation_documents():
    X, y = corpus()
    clf = NonlinearBayes(n_repetitions=1, validation_fraction=0, random_state=0).fit(X, y)
    assert np.isnan(clf.validation_scores_).all()
    assert clf.repetitions_.tolist() == [0]


def test_an_empty_document_gets_the_prior():
    X, y = corpus()
    clf = NonlinearBayes(random_state=0, min_documents=5).fit(X, y)
    np.testing.assert_allclose(clf.predict_log_proba(0 * X[:1])[0], clf.class_log_prior_, atol=1e-12)


def test_features_units_do_not_matter():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    clf = GaussianNonlinearBayes(3, random_state=0).fit(X, y)
    scaled = X * [1e-6, 1.0, 1e6] + [1.0, -5.0, 1e7]
    other = GaussianNonlinearBayes(3, random_state=0).fit(scaled, y)
    np.testing.assert_allclose(other.predict_proba(scaled), clf.predict_proba(X), atol=1e-6)


def test_densities_are_in_the_features_own_units():
    X, y = np.array([[0.0], [10.0], [30.0], [50.0]]), ["a", "a", "b", "b"]
    clf = GaussianNonlinearBayes(1, min_documents=0).fit(X, y)
    np.testing.assert_allclose([t[0, 0] for t in clf.theta_], [5, 40])
    np.testing.assert_allclose([v[0, 0] for v in clf.var_], [25, 100])
    expected = np.log(0.5) - 0.5 * np.log(2 * np.pi * 25)
    np.testing.assert_allclose(clf.predict_joint_log_proba([[5.0]])[0, 0], expected)


# Keeping


@pytest.mark.parametrize("posterior", ["sum-of-products", "product-of-sums"])
def test_a_saved_model_predicts_the_same(tmp_path, posterior):
    X, y = corpus()
    clf = NonlinearBayes(min_documents=5, posterior=posterior, random_state=0).fit(X, y)
    genus.save(clf, tmp_path / "m.genus")
    other = genus.load(tmp_path / "m.genus")
    np.testing.assert_array_equal(clf.predict_joint_log_proba(X), other.predict_joint_log_proba(X))
    np.testing.assert_array_equal(clf.objective_, other.objective_)
    assert clf.nearest_documents("class 1") == other.nearest_documents("class 1")


def test_a_saved_gaussian_model_predicts_the_same(tmp_path):
    X, y = corpus()
    clf = GaussianNonlinearBayes(2, random_state=0).fit(X.toarray(), y)
    genus.save(clf, tmp_path / "m.genus")
    other = genus.load(tmp_path / "m.genus")
    np.testing.assert_array_equal(clf.predict_joint_log_proba(X.toarray()), other.predict_joint_log_proba(X.toarray()))


@pytest.mark.parametrize("clf", [NonlinearBayes(min_documents=5), GaussianNonlinearBayes(2)])
def test_damaged_state_is_refused_or_harmless(tmp_path, clf):
    X, y = corpus()
    clf.set_params(random_state=0).fit(X.toarray(), y)
    state = clf._get_state()
    for name, value in state.items():
        for damaged in (value[:-1], value[..., :0], value.astype("S4"), np.zeros(3)):
            other = clf.__class__(**clf.get_params())
            try:
                other._set_state(state | {name: damaged})
            except (ValueError, KeyError, TypeError, IndexError):
                continue
            if other.n_features_in_ == X.shape[1]:
                assert np.isin(other.predict(X.toarray()), other.classes_).all()
        with pytest.raises(KeyError):
            clf.__class__()._set_state({key: item for key, item in state.items() if key != name})


def test_wild_cells_of_a_hostile_file_stay_inside(monkeypatch):
    X, y = corpus()
    clf = NonlinearBayes(min_documents=5, random_state=0).fit(X, y)
    for name, wild in (("table_classes", 2**30), ("table_indptr", 2**60)):
        other = NonlinearBayes()
        state = clf._get_state()
        hostile = state | {name: np.full_like(state[name], wild)}
        with pytest.raises(ValueError, match=f"{name} must"):
            other._set_state(hostile)
        with monkeypatch.context() as patch:
            patch.setattr("genus.base.score_table.CHECKED_AT_ONCE", 0)  # as if it were large
            other._set_state(hostile)
        np.testing.assert_allclose(other.predict_proba(X).sum(axis=1), 1)
        np.testing.assert_array_equal(np.isin(other.predict(X), np.unique(y)), True)


def test_a_model_file_of_other_nodes_is_refused(tmp_path):
    X, y = corpus()
    clf = NonlinearBayes(min_documents=5, random_state=0).fit(X, y)
    clf._learned = clf._learned.__class__(**{**clf._learned_state(), "node_starts": np.arange(4)})
    genus.save(clf, tmp_path / "m.genus")
    with pytest.raises(ModelFileError, match="do not belong together"):
        genus.load(tmp_path / "m.genus")


# Seeing the nodes


TEXTS = ["the striker scored a late goal", "goal after goal in the match", "the keeper saved the match",
         "rain stopped the cricket innings", "a wicket fell in the first innings", "the batsman hit the wicket"] * 4 + [
         "the bank raised its rates", "shares and bonds fell", "the bank sold bonds"] * 4  # fmt: skip
LABELS = ["sport"] * 24 + ["money"] * 12


@pytest.fixture
def clf():
    model = NonlinearBayes({"sport": 2}, min_documents=10, n_iterations=20, random_state=0)
    return TextClassifier(model).fit(TEXTS, LABELS)


def test_nodes_have_shares_words_and_documents(clf):
    first, second = clf.hidden_nodes("sport", 8)
    assert first.share + second.share == pytest.approx(1)
    football, cricket = sorted((first, second), key=lambda node: "innings" in dict(node.words))
    assert "goal" in dict(football.words)
    assert {"innings", "wicket"} <= dict(cricket.words).keys()
    assert all("goal" in TEXTS[d] or "match" in TEXTS[d] for d in football.nearest)
    assert all("innings" in TEXTS[d] or "wicket" in TEXTS[d] for d in cricket.nearest)
    assert len(clf.hidden_nodes("money")) == 1


def test_an_explanation_adds_up_and_says_which_kind(clf):
    why = clf.explain("a goal in the match")
    assert why.label == "sport"
    log_proba = clf.predict_log_proba(["a goal in the match"])[0]
    assert why.log_odds == pytest.approx(log_proba[1] - log_proba[0], abs=1e-9)
    assert why.prior + sum(w.contribution for w in why.words) + why.remainder == pytest.approx(why.log_odds)
    assert len(why.nodes) == 2
    assert why.nodes[0].share > 0.9
    assert "goal" in why.nodes[0].words
    assert "hidden nodes of sport: " in str(why)
    assert "hidden nodes of sport" in why._repr_html_()
    assert json.loads(json.dumps(why.to_dict()))["nodes"][0]["number"] == why.nodes[0].number
    assert clf.explain("the bank").nodes == ()  # one kind only


def test_texts_without_labels_are_learned_from(clf):
    labels = [None if i % 3 == 2 else label for i, label in enumerate(LABELS)]
    model = TextClassifier(NonlinearBayes(min_documents=5, random_state=0)).fit(TEXTS, labels)
    assert model.classes_.tolist() == ["money", "sport"]
    with pytest.raises(ValueError, match="labels are missing"):
        TextClassifier("nb").fit(TEXTS, labels)


def test_learning_more_asks_to_fit_again(clf):
    with pytest.raises(ValueError, match="train it again"):
        clf.partial_fit(["a goal"], ["sport"])
    with pytest.raises(ValueError, match="train it again"):
        clf.unlearn(TEXTS[:1], LABELS[:1])
    with pytest.raises(ValueError, match="no hidden nodes"):
        TextClassifier("nb").fit(TEXTS, LABELS).hidden_nodes("sport")


def test_weights_of_a_word_that_was_not_trained(clf):
    row = SparseRows(np.array([0, 1]), np.array([10**6], dtype=np.int32), np.array([1.0]), 10**6 + 1)
    _, words = clf.model_._log_evidence(row, [0, 1])
    assert words.tolist() == [[0.0, 0.0]]


# The paper's experiments


def test_the_experiment_holds_the_papers_tables():
    rows = {row.name: row for row in experiment("nlhb").rows}
    assert rows["IMDb 25,000"].paper == {"NB": 79.64, "MaxEnt": 83.55, "SVM": 78.30, "NLHB": 84.38}
    assert rows["R52, stemmed"].paper["NLHB"] == 92.1
    assert rows["1889 queries"].load is None
    assert rows["TREC questions"].paper == {}
    assert {"ring", "dots", "XOR", "S", "XOR, 4 points"} <= rows.keys()


def test_exclusive_or_and_a_shape_are_measured_and_drawn(tmp_path):
    planned = experiment("nlhb", quick=True)
    few = replace(planned.settings, draws=2, starts=3, folds=2)
    planned = replace(planned, settings=few, rows=[r for r in planned.rows if r.name in ("ring", "XOR, 4 points")])
    results = planned.run(tmp_path)
    assert not [cell.error for cell in results.cells.values() if cell.error]
    assert results.scores("XOR, 4 points") == {"NB": 50.0, "MaxEnt": 50.0, "SVM": 50.0, "NLHB": 100.0}
    assert results.scores("ring")["NLHB"] > 90 > results.scores("ring")["NB"]
    assert results.spreads("ring").keys() == {"NB", "MaxEnt", "SVM", "NLHB"}
    page = make_page(planned, results)
    assert page.count("<figure>") == 3 + 8  # figure 2, and the shapes with what was learned of them
    assert '<td class="who">±</td>' in page


@pytest.mark.parametrize(("shape", "inside", "outside"), [
    ("ring", (250, 400), (250, 250)), ("dots", (83, 83), (167, 167)),
    ("XOR", (100, 400), (100, 100)), ("S", (250, 450), (350, 310)),
])  # fmt: skip
def test_points_are_labelled_by_their_shape(shape, inside, outside):
    points, labels = draw(shape, 500, seed=1)
    assert points.min() >= 0
    assert points.max() <= 500
    assert 0.2 < labels.mean() < 0.6
    x, y = np.array([inside, outside], dtype=float).T
    assert SHAPES[shape](x, y).tolist() == [True, False]
