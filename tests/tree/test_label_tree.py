"""Trees of classes: every way to make one, every way to make a wrong one, and what they look like."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from genus.tree.label_tree import LabelTree, are_paths, learn_tree

PARENTS = {"cat": "pets", "dog": "pets", "car": None, "pets": None}


class Graph(SimpleNamespace):
    """What is used of a networkx graph."""

    def is_directed(self):
        return getattr(self, "directed", True)


def test_one_tree_in_every_form():
    tree = LabelTree(PARENTS)
    graph = Graph(nodes=["cat", "dog", "car", "pets"], edges=[("pets", "cat"), ("pets", "dog")])
    for other in (
        LabelTree.from_nested({"pets": {"cat": {}, "dog": None}, "car": {}}),
        LabelTree.from_nested({"pets": ["cat", "dog"], "car": ()}),
        LabelTree.from_graph(graph),
        LabelTree.from_any(tree),
        LabelTree.from_any(PARENTS),
        LabelTree.from_any(graph),
        LabelTree.from_any({"pets": ["cat", "dog"], "car": []}),
    ):
        assert other == tree
        assert set(other.leaves) == {"cat", "dog", "car"}
    assert tree != LabelTree.flat(["cat", "dog"])


def test_a_networkx_graph():
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph([("pets", "cat"), ("pets", "dog")])
    assert LabelTree.from_any(graph) == LabelTree({"cat": "pets", "dog": "pets", "pets": None})


def test_paths_may_differ_in_depth_and_inner_nodes_may_be_labels():
    tree = LabelTree.from_paths(["a/b/c", "a/b", "d"])
    assert tree.nodes == ("a", "a/b", "a/b/c", "d")
    assert tree.leaves == ("a/b/c", "d")
    assert tree.path("a/b/c") == ("a/b/c", "a/b", "a")
    assert [tree.depth(node) for node in tree.nodes] == [1, 2, 3, 1]
    assert tree.parent("d") is None
    assert tree.children("a") == ("a/b",)
    assert tree.children() == ("a", "d")
    assert tree.below("a") == ("a", "a/b", "a/b/c")


def test_a_single_top_is_the_root():
    tree = LabelTree({"cat": "animals", "dog": "animals"})
    assert tree.root == "animals"
    assert tree.depth("animals") == 0
    assert tree.depth("cat") == 1
    number, parents = tree.numbers()
    assert number["animals"] == 0
    assert parents.tolist() == [-1, 0, 0]


def test_nodes_may_be_numbers():
    assert LabelTree({1: 10, 2: 10, 3: 20}).path(1) == (1, 10)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LabelTree({"a": "b", "b": "c", "c": "a"}), "cycle: a -> b -> c -> a"),
        (lambda: LabelTree({"a": None, "b": "b"}), "cycle: b -> b"),
        (lambda: LabelTree({"a": None, "b": "zoo"}), "'zoo' is the parent of 'b', but is itself not in the tree"),
        (lambda: LabelTree({}), "at least one node"),
        (lambda: LabelTree({None: "a"}), "must not be None"),
        (lambda: LabelTree.from_nested({"x": ["a"], "y": ["a"]}), "'a' has two parents: '[xy]' and '[xy]'"),
        (lambda: LabelTree.from_graph(Graph(nodes="abc", edges=[("a", "c"), ("b", "c")])), "'c' has two parents"),
        (lambda: LabelTree.from_graph(Graph(nodes="ab", edges=[("a", "b"), ("b", "a")])), "cycle"),
        (lambda: LabelTree.from_graph(Graph(nodes="ab", edges=[], directed=False)), "must be directed"),
        (lambda: LabelTree.from_paths(["a//b"]), "without empty parts"),
        (lambda: LabelTree.from_paths([3]), "must be text"),
        (lambda: LabelTree.from_any(7), "tree must be a LabelTree"),
        (lambda: LabelTree(PARENTS).path("cow"), "'cow' is not a node"),
    ],
)
def test_wrong_trees_say_what_is_wrong(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map("/".join), min_size=1, max_size=12))
def test_every_node_stands_below_its_parent(paths):
    tree = LabelTree.from_paths(paths)
    assert set(paths) <= set(tree.nodes)
    place = {node: i for i, node in enumerate(tree.nodes)}
    for node in tree.nodes:
        assert all(place[above] < place[node] for above in tree.path(node)[1:])
        assert set(tree.below(node)) == {other for other in tree.nodes if node in tree.path(other)}
    assert LabelTree(tree.to_dict()) == tree
    assert len(str(tree).splitlines()) == len(tree) + (tree.root is None)
    assert tree._repr_html_().count("<li>") == len(tree) + (tree.root is None)
    number, parents = tree.numbers()
    assert all(parents[number[node]] < number[node] for node in tree.nodes)


def test_a_tree_with_notes_and_names_that_are_no_html():
    tree = LabelTree({"<b>": "x", "c": "x"})
    assert tree.render(lambda node: f"{node}!") == "x!\n├── <b>!\n└── c!"
    assert "&lt;b&gt;" in tree._repr_html_()
    assert repr(tree) == "LabelTree(3 nodes, 2 leaves)"


def test_a_tree_is_cloned_as_a_parameter():
    assert clone(LabelTree(PARENTS)) == LabelTree(PARENTS)


def test_labels_are_paths_only_if_they_share_nodes():
    assert are_paths(["a", "a/b"])
    assert not are_paths(["TCP/IP", "a"])
    assert not are_paths(["a/b", "a//c"])
    assert not are_paths([1, 2])


def test_classes_with_the_same_words_are_grouped():
    X = np.array([[4, 2, 0, 0], [3, 3, 0, 0], [0, 0, 2, 5], [0, 0, 4, 4], [0, 0, 0, 0]])
    tree = learn_tree(X, ["corn", "wheat", "gold", "zinc", "nothing"], n_groups=3)
    assert tree.path("corn")[1] == tree.path("wheat")[1] != tree.path("gold")[1] == tree.path("zinc")[1]
    assert tree.parent("nothing") is None
    assert learn_tree(X[:2], ["a", "b"]) == LabelTree.flat(["a", "b"])
    with pytest.raises(ValueError, match="n_groups must be"):
        learn_tree(X, list("abcde"), n_groups=0)
    with pytest.raises(ValueError, match=r"at most 10,000 classes, got 10,001"):
        learn_tree(np.ones((10_001, 1)), np.arange(10_001))


def test_names_of_groups_do_not_collide_with_labels():
    X = np.eye(4)[[0, 0, 1, 1]]
    assert set(learn_tree(X, ["a", "b", "group 1", "c"], n_groups=2).children()) == {"group 2", "group 3"}
