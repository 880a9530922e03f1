"""Hierarchical shrinkage and mixture against the paper's equations, and against their own promises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from genus import load, save
from genus.errors import ModelFileError
from genus.models.hierarchical.choose_iterations import folds_of, held_out_log_proba
from genus.models.hierarchical.models import HierarchicalMixture, HierarchicalShrinkage
from genus.tree.label_tree import LabelTree
from genus.tree.paths import TreePaths
from reference import hierarchical as reference

pytestmark = pytest.mark.kernel

TREE = {"cat": "pets", "dog": "pets", "car": "(top)", "pets": "(top)", "cow": "farm", "farm": "(top)"}
LABELS = ["cat", "dog", "car", "pets"]  # "pets" is a class with others below it; "cow" has no documents

values = st.one_of(st.just(0.0), st.integers(0, 4).map(float), st.floats(0, 50, width=32), st.just(1e4))


@st.composite
def collections(draw):
    n, n_words = draw(st.integers(1, 8)), draw(st.integers(1, 6))
    X = np.array(draw(st.lists(st.lists(values, min_size=n_words, max_size=n_words), min_size=n, max_size=n)))
    y = draw(st.lists(st.sampled_from(LABELS), min_size=n, max_size=n))
    weights = draw(st.none() | st.lists(st.sampled_from([0.0, 1.0, 0.5, 2.5]), min_size=n, max_size=n).filter(any))
    return X, y, weights


def corpus(n=80, n_words=30, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(LABELS, n)
    rates = {label: rng.random(n_words) for label in LABELS}
    X = rng.poisson(np.array([rates[label] for label in y]))
    X[::13] = 0
    return sparse.csr_array(X.astype(float)), y


def expected_probabilities(X, y, weights, clf):
    """By the reference."""
    labels = clf.classes_.tolist()
    paths = TreePaths.from_tree(clf.tree_, labels)
    groups, _ = paths.weight_groups(clf.weights == "tied")
    scales = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
    times = np.maximum(scales, 1)
    if clf.document_weights == "equal":
        lengths = np.floor(X * 2.0**36 + 0.5).sum(axis=1) / 2.0**36
        scales = np.divide(scales, lengths, out=np.zeros(len(y)), where=lengths > 0)
    iterations = getattr(clf, "n_iterations", 0)
    fitted = reference.fit(
        X, [labels.index(label) for label in y], scales, times, [paths.path(c).tolist() for c in range(len(labels))],
        groups.tolist(), paths.n_nodes, iterations, clf.n_weight_steps, getattr(clf, "tempering", 1.0),
    )  # fmt: skip
    every = [paths.path(c).tolist() for c in range(len(labels))]
    seen = reference.counted(X, scales).any(axis=0)
    return reference.word_probabilities(*fitted, every, groups.tolist(), seen)


# Against the paper


@given(collections(), st.sampled_from(["tied", "per-class"]), st.sampled_from(["equal", "length"]))
@settings(deadline=None, max_examples=80)
def test_shrinkage_is_the_papers(collection, tied, document_weights):
    X, y, weights = collection
    clf = HierarchicalShrinkage(TREE, weights=tied, document_weights=document_weights, n_weight_steps=4)
    clf.fit(X, y, weights)
    expected = expected_probabilities(X, y, weights, clf)
    np.testing.assert_allclose(np.exp(clf.feature_log_prob_), expected, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(np.exp(clf.feature_log_prob_).sum(axis=1), float(expected.any()), rtol=1e-9)


@given(collections(), st.sampled_from(["tied", "per-class"]), st.integers(1, 3), st.sampled_from([1.0, 0.7]))
@settings(deadline=None, max_examples=80)
def test_the_mixture_is_the_papers(collection, tied, n_iterations, tempering):
    X, y, weights = collection
    clf = HierarchicalMixture(TREE, weights=tied, n_iterations=n_iterations, tempering=tempering, n_weight_steps=3)
    clf.fit(X, y, weights)
    expected = expected_probabilities(X, y, weights, clf)
    np.testing.assert_allclose(np.exp(clf.feature_log_prob_), expected, rtol=1e-4, atol=1e-8)
    seen = expected.any(axis=0)
    scores = X[:, seen] @ clf.feature_log_prob_[:, seen].T + clf.class_log_prior_
    np.testing.assert_allclose(clf.predict_joint_log_proba(X), scores, rtol=1e-9, atol=1e-9)


# How often words are moved


def special_words(seed):
    """Classes that are general words and, apart from these, words of their own: the mixture's own picture."""
    rng = np.random.default_rng(seed)
    general, own = rng.dirichlet(np.full(300, 0.3)), rng.dirichlet(np.full(300, 0.03), 12)
    y = np.repeat(np.arange(12), 6)
    return np.array([rng.multinomial(40, 0.8 * general + 0.2 * own[c]) for c in y], dtype=float), y


def shared_words(seed):
    """Classes that differ a little in the words they share, and documents that repeat some of these."""
    rng = np.random.default_rng(seed)
    general = rng.dirichlet(np.full(400, 0.5))
    own = np.array([rng.dirichlet(300 * general + 1e-6) for _ in range(20)])
    y = np.repeat(np.arange(20), 5)
    return np.array([rng.multinomial(60, rng.dirichlet(30 * own[c] + 1e-6)) for c in y], dtype=float), y


@pytest.mark.parametrize("seed", range(3))
def test_words_are_moved_where_that_tells_held_out_documents(seed):
    assert HierarchicalMixture("flat", n_iterations="auto").fit(*special_words(seed)).n_iterations_ > 0
    assert HierarchicalMixture("flat", n_iterations="auto").fit(*shared_words(seed)).n_iterations_ == 0


def test_the_choice_is_by_log_probabilities_of_folds_at_the_best_temperature():
    X, y = special_words(1)
    clf = HierarchicalMixture("flat", n_iterations="auto").fit(X, y)
    folds = folds_of(clf._documents)
    order = np.lexsort(np.column_stack([X, y]).T)  # by labels, then words: the documents beside those kept
    kept = np.column_stack([_dense(clf._documents), clf._documents.codes])
    folds = folds[np.lexsort(kept.T)][np.argsort(order)]
    found = []
    for n_iterations in (0, 1, 2):
        scores = np.zeros((len(y), 12))
        for fold in range(5):
            fitted = HierarchicalMixture("flat", n_iterations=n_iterations).fit(X[folds != fold], y[folds != fold])
            scores[folds == fold] = fitted.predict_joint_log_proba(X[folds == fold])
        sums = []
        for temperature in (0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3, 0.5, 1.0):
            p = np.exp(temperature * (scores - scores.max(axis=1, keepdims=True)))
            sums.append(np.log(p[np.arange(len(y)), y] / p.sum(axis=1)).sum())
        found.append(max(sums))
    assert clf.n_iterations_ == int(np.argmax(found))
    weights = np.ones(len(y))
    measured = held_out_log_proba(HierarchicalMixture("flat", n_iterations=1), sparse.csr_array(X), y, weights, folds)
    assert measured == pytest.approx(found[1])


def _dense(documents):
    rows = documents.rows
    return sparse.csr_array(
        (documents.values, rows.indices, rows.indptr), shape=(rows.n_rows, rows.n_columns)
    ).toarray()


def test_folds_spread_classes_and_keep_equal_documents_together():
    X, y = special_words(0)
    clf = HierarchicalMixture("flat").fit(np.vstack([X, X[:30]]), np.append(y, (y[:30] + 1) % 12))
    documents = clf._documents
    folds = folds_of(documents)
    together = {}
    for row, fold in zip(_dense(documents), folds.tolist(), strict=True):
        assert together.setdefault(row.tobytes(), fold) == fold
    assert np.bincount(folds).min() >= 12
    other = HierarchicalMixture("flat").fit(np.vstack([X[:30], X])[::-1], np.append((y[:30] + 1) % 12, y)[::-1])
    again = {
        row.tobytes(): fold for row, fold in zip(_dense(other._documents), folds_of(other._documents), strict=True)
    }
    assert again == together


def test_the_choice_is_kept_and_made_again(tmp_path):
    (X, y), (Z, z) = special_words(0), shared_words(0)
    clf = HierarchicalMixture("flat", n_iterations="auto").fit(X, y)
    fixed = HierarchicalMixture("flat", n_iterations=clf.n_iterations_).fit(X, y)
    np.testing.assert_array_equal(clf.predict_log_proba(X), fixed.predict_log_proba(X))
    save(clf, tmp_path / "m.genus")
    assert load(tmp_path / "m.genus").n_iterations_ == clf.n_iterations_ > 0
    clf.partial_fit(Z[:, :300], z + 100).unlearn(X, y)
    assert clf.n_iterations_ == HierarchicalMixture("flat", n_iterations="auto").fit(Z[:, :300], z + 100).n_iterations_


def test_documents_that_cannot_tell_leave_the_papers_choice():
    assert HierarchicalMixture("flat", n_iterations="auto").fit(np.eye(4), list("abcd")).n_iterations_ == 2
    assert HierarchicalMixture("flat", n_iterations="auto").fit(np.zeros((4, 3)), list("aabb")).n_iterations_ == 2


def test_without_moving_words_the_mixture_is_shrinkage():
    X, y = corpus()
    mixture = HierarchicalMixture(TREE, n_iterations=0).fit(X, y)
    shrinkage = HierarchicalShrinkage(TREE).fit(X, y)
    np.testing.assert_array_equal(mixture.predict_joint_log_proba(X), shrinkage.predict_joint_log_proba(X))


def test_a_document_under_several_labels_does_not_vouch_for_itself():
    # Documents without a word in common: nothing is left of one elsewhere, whether it comes once or under two labels.
    X = np.eye(12)
    once = HierarchicalShrinkage({"a": "x", "b": "x"}).fit(X, ["a", "b"] * 6)
    twice = HierarchicalShrinkage({"a": "x", "b": "x"}).fit(np.vstack([X, X]), ["a"] * 12 + ["b"] * 12)
    for clf in (once, twice):
        assert clf.path_weights("a")["(uniform)"] > 0.999


def test_equal_documents_of_a_class_vouch_for_one_another():
    X = np.repeat(np.eye(3), 4, axis=0)
    clf = HierarchicalMixture().fit(X, np.repeat(["a", "b", "c"], 4))
    assert clf.predict(np.eye(3)).tolist() == ["a", "b", "c"]


def test_weights_find_where_the_words_come_from():
    # Words of class documents are drawn from the class, the group or the root, in known proportions.
    rng = np.random.default_rng(1)
    n_words, truth = 400, np.array([0.5, 0.3, 0.2])
    root, *groups = rng.dirichlet(np.full(n_words, 0.1), 3)
    own = rng.dirichlet(np.full(n_words, 0.1), 6)
    X, y = [], []
    for c in range(6):
        p = truth @ np.stack([own[c], groups[c // 3], root])
        X += list(rng.multinomial(200, p, size=40))
        y += [f"{c // 3}/{c}"] * 40
    weights = HierarchicalMixture(n_iterations=100).fit(np.array(X), y).path_weights("0/0")
    assert abs(weights["0/0"] - 0.5) < 0.1
    assert abs(weights["0"] - 0.3) < 0.1
    assert abs(weights["(all)"] - 0.2) < 0.1
    assert weights["(uniform)"] < 0.02


# Additive learning


def assert_same_model(a, b):
    x, y = a._get_state(), b._get_state()
    assert x.keys() == y.keys()
    for name, value in x.items():
        if isinstance(value, LabelTree):
            assert value == y[name]
        else:
            np.testing.assert_array_equal(value, y[name], err_msg=name)


@pytest.mark.parametrize("clf", [HierarchicalShrinkage(TREE), HierarchicalMixture(TREE), HierarchicalMixture("learn")])
def test_learned_in_parts_merged_and_unlearned_is_learned_at_once(clf):
    from sklearn.base import clone

    X, y = corpus()
    whole = clone(clf).fit(X, y)
    parts = clone(clf).fit(X[:30], y[:30]).partial_fit(X[30:], y[30:])
    merged = clone(clf).fit(X[:30], y[:30]).merge(clone(clf).fit(X[30:], y[30:]))
    assert_same_model(parts, whole)
    assert_same_model(merged, whole)
    assert_same_model(whole.unlearn(X[30:], y[30:]), clone(clf).fit(X[:30], y[:30]))


def test_results_do_not_depend_on_threads():
    X, y = corpus(600, 80)
    models = [HierarchicalMixture(TREE, n_jobs=n).fit(X, y) for n in (1, 2, 7)]
    for other in models[1:]:
        assert_same_model(models[0], other)
        np.testing.assert_array_equal(models[0].predict_joint_log_proba(X), other.predict_joint_log_proba(X))


# Levels


@pytest.mark.parametrize("weights", ["tied", "per-class"])
def test_words_that_were_never_seen_say_nothing(weights):
    X, y = corpus()
    wide = sparse.csr_array(sparse.hstack([X, sparse.csr_array((X.shape[0], 20))]))
    asked = sparse.csr_array(sparse.hstack([X, np.ones((X.shape[0], 20))]))
    narrow, clf = (HierarchicalMixture(TREE, weights=weights).fit(matrix, y) for matrix in (X, wide))
    np.testing.assert_array_equal(clf.predict_joint_log_proba(asked), narrow.predict_joint_log_proba(X))
    np.testing.assert_array_equal(clf.predict(asked), narrow.predict(X))
    assert clf.path_weights("cat") == narrow.path_weights("cat")
    assert np.isneginf(clf.feature_log_prob_[:, 30:]).all()
    assert clf.word_levels(35) == clf.word_levels(35, "cat") == {}
    np.testing.assert_allclose(clf.node_words("pets", 50), narrow.node_words("pets", 50))
    np.testing.assert_array_equal(clf._top_words(0, 10)[0], narrow._top_words(0, 10)[0])
    prior, words = clf._log_evidence(clf._check_rows(asked[:1]), [0, 1])
    np.testing.assert_allclose(prior + words.sum(axis=0), clf.predict_joint_log_proba(asked[:1])[0, :2])


@pytest.mark.parametrize("n_classes", [3, 9, 40])
@pytest.mark.parametrize("weights", ["tied", "per-class"])
@pytest.mark.parametrize("spread", [1.0, 1e-7, 1e-9])
def test_the_best_class_is_that_of_the_exact_scores_however_near_another_comes(n_classes, weights, spread):
    """Many documents are scored roughly first: with a small spread that decides nothing."""
    rng = np.random.default_rng(n_classes)
    words = rng.poisson(2.0, (400, 60)) * (rng.random((400, 60)) < rng.random(60))
    X, y = sparse.csr_array(words.astype(float)), rng.permutation(np.arange(400) % n_classes)
    once = rng.poisson(2.0, (1, 60)) + 1.0  # every class the same, but for the spread
    alike = sparse.csr_array(once + spread * rng.random((n_classes, 60)))
    tree = {c: "left" if c % 4 == 0 else "deep" if c % 4 == 1 else None for c in range(n_classes)}
    tree |= {"left": None, "deep": "left"}
    clf = HierarchicalMixture(tree, weights=weights, document_weights="length", prior_scale=0)
    clf.fit(sparse.vstack([X * spread, alike]), np.append(y, range(n_classes)))
    many = sparse.csr_array(sparse.vstack([X, X * 1e-3, X * 1e39, sparse.csr_array((3, 60))]))
    exact = clf.classes_[clf.predict_joint_log_proba(many).argmax(axis=1)]
    clf._parameters.scores._quantized.make(1)  # so that it is used
    for n_jobs in (1, 3):
        np.testing.assert_array_equal(clf.set_params(n_jobs=n_jobs).predict(many), exact)


@pytest.mark.parametrize("kind", [HierarchicalShrinkage, HierarchicalMixture])
def test_shrinking_to_the_root_is_the_flat_model_with_answers_at_every_level(kind, tmp_path):
    X, y = corpus()
    clf = kind(TREE, shrink_to="root").fit(X, y)
    flat = kind("flat").partial_fit(X, y, classes=LabelTree.from_any(TREE).leaves)
    np.testing.assert_array_equal(clf.predict_joint_log_proba(X), flat.predict_joint_log_proba(X))
    assert clf.tree_ == LabelTree.from_any(TREE)
    whole = kind(TREE).fit(X, y)
    assert set(clf.predict(X, level=1)) == set(whole.predict(X, level=1)) == {"car", "pets"}
    assert set(clf.path_weights(y[0])) < set(whole.path_weights(y[0]))
    save(clf, tmp_path / "m.genus")
    np.testing.assert_array_equal(load(tmp_path / "m.genus").predict_node_proba(X), clf.predict_node_proba(X))


def test_probabilities_are_coherent_at_every_level():
    X, y = corpus()
    clf = HierarchicalMixture(TREE).fit(X, y)
    nodes, proba = clf.tree_.nodes, clf.predict_node_proba(X)
    place = {node: i for i, node in enumerate(nodes)}
    own = dict(zip(clf.classes_.tolist(), clf.predict_proba(X).T, strict=True))
    for node in nodes:
        below = sum(proba[:, place[child]] for child in clf.tree_.children(node))
        np.testing.assert_allclose(proba[:, place[node]], below + own.get(node, 0), atol=1e-12)
    np.testing.assert_allclose(proba[:, place["(top)"]], 1)


def test_answers_at_a_level_are_the_most_probable_nodes_there():
    X, y = corpus()
    clf = HierarchicalMixture(TREE).fit(X, y)
    proba = dict(zip(clf.tree_.nodes, clf.predict_node_proba(X).T, strict=True))
    top = ["car", "pets", "farm"]
    best = [top[i] for i in np.array([proba[node] for node in top]).argmax(axis=0)]
    assert clf.predict(X, level=1).tolist() == best
    assert set(clf.predict(X, level=0)) == {"(top)"}
    assert set(clf.predict(X, level=9)) <= set(clf.classes_)


def test_unsure_answers_go_up():
    X, y = corpus()
    clf = HierarchicalMixture(TREE).fit(X, y)
    place = {node: i for i, node in enumerate(clf.tree_.nodes)}
    proba = clf.predict_node_proba(X)
    for least in (0.0, 0.6, 0.99, 1.0):
        answers = clf.predict(X, min_proba=least)
        assert (proba[np.arange(80), [place[node] for node in answers]] >= least - 1e-9).all()
        for answer, label in zip(answers, clf.predict(X), strict=True):
            assert answer in clf.tree_.path(label)
    np.testing.assert_array_equal(clf.predict(X, min_proba=0.0), clf.predict(X))


def test_labels_that_are_paths_make_the_tree():
    X, y = corpus()
    paths = np.array([{"cat": "pets/cat", "dog": "pets/dog", "car": "car", "pets": "pets"}[label] for label in y])
    clf = HierarchicalMixture().fit(X, paths)
    assert clf.tree_.path("pets/cat") == ("pets/cat", "pets")
    assert set(clf.predict(X, level=1)) == {"pets", "car"}
    assert HierarchicalMixture("flat").fit(X, paths).tree_ == LabelTree.flat(sorted(set(paths)))
    assert clf.partial_fit(X[:1], ["farm/cow"]).tree_.parent("farm/cow") == "farm"


def test_an_unnamed_root_among_numbers():
    X, y = corpus()
    codes = np.unique(y, return_inverse=True)[1]
    clf = HierarchicalShrinkage().fit(X, codes)
    assert clf.predict(X).dtype.kind == "i"
    assert set(clf.predict(X, min_proba=1.0)) <= {0, 1, 2, 3, "(all)"}


def test_a_class_without_documents_is_predicted_by_its_ancestors():
    tree = {"cat": "pets", "dog": "pets", "hamster": "pets", "car": "things", "lorry": "things"}
    X = [[5, 1, 0, 0], [1, 5, 0, 0], [0, 0, 5, 3], [4, 2, 0, 0], [2, 4, 0, 0], [0, 0, 3, 5]]
    clf = HierarchicalMixture(tree).fit(X, ["cat", "dog", "car", "cat", "dog", "car"])
    assert clf.classes_.tolist() == ["car", "cat", "dog", "hamster", "lorry"]
    pets, things = clf.predict_proba([[1, 1, 0, 0], [0, 0, 1, 1]])[:, 3:]
    assert pets[0] > pets[1] > 0
    assert things[1] > things[0] > 0
    assert sum(clf.path_weights("hamster").values()) == pytest.approx(1)
    assert clf.path_weights("hamster")["hamster"] == 0


# Looking inside


def test_words_find_their_level():
    # Word 0 is in every class, word 1 in both pets, words 2 to 4 in one class each.
    rows = {"cat": [4, 4, 4, 0, 0], "dog": [4, 4, 0, 4, 0], "car": [4, 0, 0, 0, 8]}
    X = np.array([rows[label] for label in ["cat", "dog", "car"] * 6]) + np.random.default_rng(0).integers(
        0, 2, (18, 5)
    )
    tree = {"cat": "pets", "dog": "pets", "pets": None, "car": None}
    clf = HierarchicalMixture(tree, n_iterations=4).fit(X, ["cat", "dog", "car"] * 6)
    for word in range(5):
        for label in (None, "cat"):
            assert sum(clf.word_levels(word, label).values()) == pytest.approx(1)
    levels = [clf.word_levels(word, "cat") for word in range(3)]
    assert levels[0]["(all)"] > levels[1]["(all)"] > levels[2]["(all)"]
    assert levels[2]["cat"] > levels[1]["cat"] > levels[0]["cat"]
    assert clf.node_words("pets", 1)[0][0] == 1
    assert clf.node_words("cat", 1)[0][0] == 2
    assert clf.node_words("(all)", 1)[0][0] == 0
    with pytest.raises(ValueError, match="not one of the"):
        clf.word_levels(0, "cow")
    with pytest.raises(ValueError, match="word must be a column number below 5"):
        clf.word_levels(5)


def test_a_class_that_has_others_below_it_is_told_from_them():
    X, y = corpus()
    clf = HierarchicalMixture(TREE).fit(X, y)
    assert list(clf.path_weights("pets")) == ["pets (itself)", "pets", "(top)", "(uniform)"]
    assert clf.predict_proba(X)[:, clf.classes_.tolist().index("pets")].max() > 0.5


# Files


@pytest.mark.parametrize("clf", [HierarchicalShrinkage(TREE), HierarchicalMixture("learn", weights="per-class")])
def test_a_saved_model_is_the_same(clf, tmp_path):
    X, y = corpus()
    save(clf.fit(X, y), tmp_path / "m.genus")
    opened = load(tmp_path / "m.genus")
    assert opened.tree_ == clf.tree_
    np.testing.assert_array_equal(opened.predict_log_proba(X), clf.predict_log_proba(X))
    assert opened.word_levels(3) == clf.word_levels(3)
    opened.unlearn(X[:5], y[:5])
    np.testing.assert_array_equal(
        opened.predict_log_proba(X), type(clf)(**clf.get_params()).fit(X[5:], y[5:]).predict_log_proba(X)
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.update(column_parents=s["column_parents"][::-1].copy()), "do not form a tree"),
        (lambda s: s.update(column_nodes=s["column_nodes"] + 99), "do not belong to the tree's nodes"),
        (lambda s: s.update(column_weights=s["column_weights"][:-1]), "weights must be an array"),
        (lambda s: s.update(tree=LabelTree.flat(["cat"])), "not in the tree"),
        (lambda s: s.update(tree=3), "a tree was expected"),
        (lambda s: s.update(n_iterations=-1), "n_iterations must be a whole number"),
        (lambda s: s.pop("table_values"), "lacks"),
        (lambda s: s.update(document_codes=s["document_codes"][:-1]), "do not belong together"),
    ],
)
def test_damaged_states_are_refused(change, message):
    X, y = corpus()
    state = HierarchicalMixture(TREE).fit(X, y)._get_state()
    change(state)
    with pytest.raises(ValueError, match=message):
        HierarchicalMixture(TREE)._set_state(state)


def test_a_file_with_a_cycle_is_refused(tmp_path):
    X, y = corpus()
    clf = HierarchicalShrinkage(LabelTree(TREE)).fit(X, y)
    save(clf, tmp_path / "m.genus")
    raw = (tmp_path / "m.genus").read_bytes()
    assert raw.count(rb"\"farm\":\"(top)\"") == 2  # as a parameter, and in the state
    (tmp_path / "m.genus").write_bytes(raw.replace(rb"\"farm\":\"(top)\"", rb"\"farm\":\"farm\" "))
    with pytest.raises(ModelFileError, match="cycle"):
        load(tmp_path / "m.genus")


# Bad input


@pytest.mark.parametrize(
    ("clf", "message"),
    [
        (HierarchicalMixture({"cat": "pets"}), "label 'car', which is not in the tree"),
        (HierarchicalMixture({"cat": "dog", "dog": "cat"}), "cycle"),
        (HierarchicalMixture("deep"), "tree must be None, 'flat', 'learn' or a tree"),
        (HierarchicalMixture(weights="free"), "weights must be"),
        (HierarchicalMixture(shrink_to="leaf"), "shrink_to must be 'path' or 'root', got 'leaf'"),
        (HierarchicalMixture(document_weights=2), "document_weights must be"),
        (HierarchicalMixture(n_iterations=-1), "n_iterations must be 'auto' or a whole number of at least 0"),
        (HierarchicalMixture(n_weight_steps=0), "n_weight_steps must be a whole number of at least 1"),
        (HierarchicalMixture(tempering=0), "tempering must be"),
        (HierarchicalShrinkage(prior_scale=-1), "prior_scale must be"),
    ],
)
def test_bad_settings_are_refused(clf, message):
    X, y = corpus()
    with pytest.raises(ValueError, match=message):
        clf.fit(X, y)


def test_a_table_that_would_be_too_large_is_refused(monkeypatch):
    monkeypatch.setattr("genus.models.hierarchical.path_table._MOST_CELLS", 150)
    X, y = corpus()
    with pytest.raises(ValueError, match=r"scores would be too large.*use weights='tied'"):
        HierarchicalShrinkage(TREE, weights="per-class").fit(X, y)


def test_bad_questions_are_refused():
    X, y = corpus()
    clf = HierarchicalMixture(TREE).fit(X, y)
    with pytest.raises(ValueError, match="level must be a whole number"):
        clf.predict(X, level=-1)
    with pytest.raises(ValueError, match="min_proba must be"):
        clf.predict(X, min_proba=2)
    with pytest.raises(ValueError, match="not in the tree"):
        clf.partial_fit(X[:1], ["cactus"])
    assert "cactus" not in clf.classes_


def test_thirty_thousand_labels_with_one_document_each():
    # Every document has a word of its group and seven of any kind.
    n, rng = 30_000, np.random.default_rng(0)
    words = np.column_stack([np.arange(n) % 170, rng.integers(170, 5000, (n, 7))])
    X = sparse.csr_array((np.ones(8 * n), (np.repeat(np.arange(n), 8), words.ravel())), (n, 5000))
    y = np.array([f"{i % 170}/{i}" for i in range(n)])
    clf = HierarchicalMixture().fit(X, y)
    assert len(clf.classes_) == n
    assert np.mean(clf.predict(X[:100], level=1) == [str(i) for i in range(100)]) > 0.9
