"""``model="auto"`` with what a user knows of the classes: a tree, and how probable they are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genus import TextClassifier
from genus.auto.request import ClassTree, log_prior_correction
from genus.errors import ModelFileError
from genus.pipeline.pool import Pool
from genus.tree.label_tree import LabelTree

WORDS = {
    "pets/cat": ["purr", "meow", "whisker", "fur", "tail"],
    "pets/dog": ["bark", "leash", "bone", "fur", "tail"],
    "cars": ["engine", "wheel", "road", "drive", "fuel"],
}
COMMON = ["the", "a", "and", "it", "was", "with"]


def stories(n=90, seed=0, names=tuple(WORDS)):
    rng = np.random.default_rng(seed)
    labels = [names[i % 3] for i in range(n)]
    texts = [
        " ".join([*rng.choice(WORDS[k], 3), *rng.choice(COMMON, 4)])
        for k in map(list(WORDS).__getitem__, np.arange(n) % 3)
    ]
    return texts, labels


TEXTS, LABELS = stories()
PLAIN = stories(names=("cat", "dog", "cars"))[1]
TREE = {"cat": "pets", "dog": "pets", "fish": "pets", "cars": None, "pets": None}


@pytest.fixture(scope="module")
def paths():
    return TextClassifier().fit(TEXTS, LABELS)


# Trees


def test_labels_that_are_paths_bring_models_of_trees_into_the_search(paths):
    assert "tree" in {row["candidate"] for row in paths.leaderboard_}
    assert "tree" not in {row["candidate"] for row in TextClassifier().fit(TEXTS, PLAIN).leaderboard_}


def test_a_pool_answers_at_any_level(paths):
    nodes, proba = paths.predict_nodes(["fur and tail", "road and fuel"], level=1)
    assert nodes.tolist() == ["pets", "cars"]
    classes = paths.predict_proba(["fur and tail"])[0]
    assert proba[0] == pytest.approx(classes[1:].sum())
    assert paths.predict(["fur and tail"], min_proba=0.99).tolist() in (["pets"], ["(all)"])


def test_a_tree_that_is_given_holds_for_plain_labels(tmp_path):
    clf = TextClassifier(tree=TREE).fit(TEXTS, PLAIN)
    assert clf.classes_.tolist() == ["cars", "cat", "dog"]  # fish has no text
    assert clf.predict(["fur and tail"], level=1).tolist() == ["pets"]
    clf.save(tmp_path / "m.genus")
    opened = TextClassifier.load(tmp_path / "m.genus")
    assert opened.model_.tree_ == clf.model_.tree_
    assert opened.predict(["fur and tail"], level=1).tolist() == ["pets"]


def test_a_class_may_stand_above_others():
    names = ("pets", "dog", "cars")
    clf = TextClassifier(tree={"dog": "pets", "pets": None, "cars": None}).fit(TEXTS, stories(names=names)[1])
    assert clf.predict(["meow whisker", "bark leash"]).tolist() == ["pets", "dog"]
    assert clf.predict(["meow whisker", "bark leash"], level=1).tolist() == ["pets", "pets"]


def test_new_classes_need_a_place_in_a_given_tree(paths):
    clf = TextClassifier(tree=TREE).fit(TEXTS, PLAIN)
    before = clf.predict_proba(TEXTS[:3])
    with pytest.raises(ValueError, match="'bird' is a new class, and tree was given without it"):
        clf.partial_fit(["tweet"], ["bird"])
    np.testing.assert_array_equal(clf.predict_proba(TEXTS[:3]), before)
    grown = TextClassifier().fit(TEXTS, LABELS).partial_fit(["tweet tweet feather"], ["pets/bird"])
    assert "pets/bird" in grown.model_.tree_


@given(st.permutations(["a", "b", "c", "d", "e"]), st.lists(st.integers(0, 4), min_size=5, max_size=5))
def test_a_tree_by_numbers_is_the_same_tree(order, above):
    parents = {node: (order[above[i] % i] if i else None) for i, node in enumerate(order)}
    classes = np.array(sorted(order[-3:]))
    tree = ClassTree.from_labels(parents, classes)
    assert tree is not None
    for c, label in enumerate(classes.tolist()):
        by_name, by_number = tree.named.path(label), tree.coded.path(c)
        assert len(by_name) == len(by_number)
        for name, number in zip(by_name, by_number, strict=True):
            assert (number >= 0) == (name in classes)
            assert number < 0 or classes[number] == name


def test_without_a_tree_there_are_no_nodes():
    clf = TextClassifier().fit(TEXTS, PLAIN)
    assert not hasattr(clf.model_, "tree_")
    with pytest.raises(ValueError, match="no tree of classes"):
        clf.predict(["fur"], level=1)


@pytest.mark.parametrize(
    ("tree", "match"),
    [
        ({"cat": "pets"}, "'cars', which is not in the tree"),
        ({"cat": "dog", "dog": "cat", "cars": None}, "cycle"),
        (7, "tree must be"),
    ],
)
def test_trees_that_do_not_fit_are_refused(tree, match):
    with pytest.raises(ValueError, match=match):
        TextClassifier(tree=tree).fit(TEXTS, PLAIN)


# Priors


def test_a_stated_prior_moves_the_odds_by_its_own():
    usual = TextClassifier().fit(TEXTS, PLAIN)
    stated = {"cars": 0.8, "cat": 0.15, "dog": 0.05}
    clf = TextClassifier(class_prior=stated).fit(TEXTS, PLAIN)
    clf.model_.members, clf.model_.temperatures = usual.model_.members, usual.model_.temperatures
    clf.model_.weights, clf.model_.pool_temperature = usual.model_.weights, usual.model_.pool_temperature
    moved = clf.predict_log_proba(TEXTS[:9]) - usual.predict_log_proba(TEXTS[:9])
    aim = np.log(3 * np.array(list(stated.values())))
    np.testing.assert_allclose(moved - moved[:, :1], np.tile(aim - aim[0], (9, 1)), atol=1e-9)
    assert clf.predict(["the"]).tolist() == ["cars"]


def test_uniform_priors_undo_unequal_training_shares():
    few = [i for i, label in enumerate(PLAIN) if label != "cat" or i < 12]
    texts, labels = [TEXTS[i] for i in few], [PLAIN[i] for i in few]
    learned = TextClassifier().fit(texts, labels).predict_proba(["it"])[0]
    uniform = TextClassifier(class_prior="uniform").fit(texts, labels).predict_proba(["it"])[0]
    assert uniform[1] > learned[1]


def test_evidence_adds_up_and_files_keep_priors(tmp_path):
    clf = TextClassifier(class_prior={"cars": 0.8, "cat": 0.15, "dog": 0.05}).fit(TEXTS, PLAIN)
    proba = clf.predict_proba(["fur and road"])[0]
    why = clf.explain("fur and road", label="cars", against="cat")
    assert why.log_odds == pytest.approx(np.log(proba[0] / proba[1]))
    clf.save(tmp_path / "m.genus")
    opened = TextClassifier.load(tmp_path / "m.genus")
    np.testing.assert_array_equal(opened.predict_proba(TEXTS[:5]), clf.predict_proba(TEXTS[:5]))
    with pytest.raises(ValueError, match="class_prior was given without it"):
        clf.partial_fit(["tweet"], ["bird"])


def test_candidates_are_judged_by_the_stated_priors():
    shift = log_prior_correction({0: 0.9, 1: 0.1}, np.array([0, 1]), np.array([0, 0, 1, 1]), None)
    np.testing.assert_allclose(shift, np.log([1.8, 0.2]))
    weighted = log_prior_correction("uniform", np.array([0, 1]), np.array([0, 1]), np.array([3.0, 1.0]))
    np.testing.assert_allclose(weighted, np.log([2 / 3, 2.0]))


@pytest.mark.parametrize(
    ("prior", "match"),
    [
        ("equal", "'learned', 'uniform' or a dict"),
        (0.5, "'learned', 'uniform' or a dict"),
        ({"cat": 0.5, "dog": 0.5}, "every label, got none for 'cars'"),
        ({"cat": 0.3, "dog": 0.3, "cars": 0.3, "bird": 0.1}, "labels of texts only, got 'bird'"),
        ({"cat": 0.5, "dog": 0.5, "cars": 0}, "above 0, got 0 for 'cars'"),
        ({"cat": 0.5, "dog": 0.5, "cars": "much"}, "above 0, got 'much' for 'cars'"),
        ({"cat": 0.5, "dog": 0.2, "cars": 0.2}, "add up to 1, got 0.9"),
    ],
)
def test_priors_that_make_no_sense_are_refused(prior, match):
    with pytest.raises(ValueError, match=match):
        TextClassifier(class_prior=prior).fit(TEXTS, PLAIN)


def test_only_auto_takes_trees_and_priors():
    with pytest.raises(ValueError, match="tree is for model='auto'"):
        TextClassifier("nb", tree=TREE).fit(TEXTS, PLAIN)
    with pytest.raises(ValueError, match="class_prior is for model='auto'"):
        TextClassifier("nb", class_prior="uniform").fit(TEXTS, PLAIN)
    for stated in ({"tree": TREE}, {"class_prior": "uniform"}):
        with pytest.raises(ValueError, match="for one label per text"):
            TextClassifier(**stated).fit(TEXTS, [{label} for label in PLAIN])


@pytest.mark.parametrize(
    "change",
    [{"tree": "pets"}, {"tree": LabelTree({"cat": None})}, {"shifts": np.zeros(2)}, {"shifted": "cat"}],
)
def test_damaged_files_are_refused(change, tmp_path, monkeypatch):
    clf = TextClassifier(tree=TREE, class_prior="uniform").fit(TEXTS, PLAIN)
    state = clf.model_._get_state() | change
    monkeypatch.setattr(Pool, "_get_state", lambda self: state)
    clf.save(tmp_path / "m.genus")
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match="cannot be restored"):
        TextClassifier.load(tmp_path / "m.genus")
