"""The hierarchical mixture's tables: what is drawn, what is measured, and what the paper says."""

import numpy as np
import pytest
from scipy import sparse

from genus.experiments import experiment
from genus.experiments.harness.table import Cell, Results
from genus.experiments.pages.statements import split_tests
from genus.experiments.papers import hier as hierarchy
from genus.experiments.papers.hier import LabelSets, OneMeasure, Settings, Splits
from genus.multilabel.metrics import set_scores
from genus.tree.label_tree import LabelTree

SETTINGS = Settings(splits=3, test_documents=50)


@pytest.fixture
def splits() -> Splits:
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 40)
    words = rng.dirichlet(np.full(50, 0.1), 3)
    X = np.array([rng.multinomial(20, words["abc".index(label)]) for label in y])
    return Splits(
        sparse.csr_array(X.astype(float)), y, LabelTree.from_any({"g": ["a", "b"], "c": []}), 5, np.arange(120)
    )


@pytest.fixture
def labelled() -> LabelSets:
    rng = np.random.default_rng(0)
    words = rng.dirichlet(np.full(50, 0.1), 3)
    Y = (rng.random((150, 3)) < [0.6, 0.4, 0.3]).astype(int)
    Y[~Y.any(axis=1), 0] = 1
    X = sparse.csr_matrix([rng.multinomial(30, y @ words / y.sum()) for y in Y], dtype=float)
    return LabelSets(X[:100], Y[:100], X[100:], Y[100:])


def test_splits_have_so_many_documents_of_each_class_and_no_document_twice(splits):
    seen = []
    for number in range(3):
        train, test = splits.split(number, SETTINGS)
        assert np.unique(splits.y[train], return_counts=True)[1].tolist() == [5, 5, 5]
        assert not set(train) & set(test)
        assert len(test) == 50
        np.testing.assert_array_equal(train, splits.split(number, SETTINGS)[0])
        seen.append(tuple(train))
    assert len(set(seen)) == 3
    assert splits.sizes == (50, 3, 15, 105)


@pytest.mark.parametrize("system", [s for s in hierarchy.systems() if s.name != "SVM"], ids=lambda s: s.name)
def test_every_system_learns_the_splits(system, splits):
    found = system.measure(splits, SETTINGS)
    assert 0.6 < found.score <= 1
    assert len(found.folds) == 3
    assert found.spread is not None


def test_paired_tests_over_splits_are_told(splits):
    planned = experiment("hier", quick=True)
    row = next(row for row in planned.rows if row.task == "newsgroups")
    cells = {}
    for name in ("NB", "HS", "HM"):
        done = splits.measure(name, SETTINGS)
        cells[row.name, name] = Cell(row.name, name, done.score, sizes=splits.sizes, folds=done.folds)
    tests = {test.second: test for test in split_tests(planned, Results(cells))}
    assert tests.keys() == {"NB", "HS"}
    assert all(test.n == 3 and test.corrected_p >= test.p for test in tests.values())


@pytest.mark.parametrize("name", ["NB", "HS", "HM", "kNN", "SVM"])
def test_every_system_finds_labels(name, labelled):
    scores, *_ = labelled.scores(name, SETTINGS)
    assert scores["miF1"] > 0.7
    assert OneMeasure(labelled, "miF1").measure(name, SETTINGS).score == scores["miF1"]
    assert np.isnan(scores["1-10"])  # no label has so few documents


def test_settings_are_chosen_on_training_documents_only(labelled):
    model, params = hierarchy.several_labels("HM", labelled.X, labelled.Y, SETTINGS)
    assert params["by length"] in (0, 1)
    assert model.estimator.tree == "learn"
    assert hierarchy.tuned_naive_bayes(labelled.X, labelled.Y[:, 0]).alpha <= 1


def test_f1_by_label_is_what_the_macro_average_is_made_of():
    rng = np.random.default_rng(0)
    Y, answers = rng.integers(0, 2, (2, 20, 5))
    assert hierarchy.set_scores_by_label(Y, answers).mean() == pytest.approx(set_scores(Y, answers)["maF1"])


def test_rows_are_those_of_the_paper():
    whole, quick = experiment("hier"), experiment("hier", quick=True)
    names = [row.name for row in whole.rows]
    assert len(set(names)) == len(names) == 8 + 7 + 5 + 6 + 3
    assert whole.rows[0].paper == {"NB": 46.7, "PLSA": 52.7, "HS": 53.3, "kNN": 51.1, "HM": 58.5}
    assert {row.name for row in quick.rows} < set(names)
    for row in whole.rows:
        systems = [s for s in whole.systems if s.tasks is None or row.task in s.tasks]
        assert {"NB", "HS", "HM"} <= {s.name for s in systems}
        assert ("SVM" in {s.name for s in systems}) == (row.task not in ("newsgroups", "abstracts"))


def test_what_is_kept_of_a_message():
    assert hierarchy._subject_and_body("From: me\nSubject: hi there\n\nbody\n\nmore") == " hi there\nbody\n\nmore"


@pytest.mark.data
def test_few_documents_go_further_in_a_tree(load):
    """Table 3: HM > HS > NB at 14 documents per class."""
    load("20news-bydate-raw", "test")
    problem = hierarchy.newsgroups(14)
    nb, hs, hm = (problem.measure(name, Settings(splits=3)).score for name in ("NB", "HS", "HM"))
    assert hm > hs > nb
    assert hm > 0.631  # the paper's
