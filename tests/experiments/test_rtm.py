"""The relevance-based topic model's tables: what is measured, on documents made here."""

from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import sparse

from genus.experiments import experiment
from genus.experiments.harness.table import Cell, Results, blocks
from genus.experiments.pages.page import make_page
from genus.experiments.papers import rtm as rtm
from genus.experiments.papers.rtm_illustration import TOPICS, measure_overlap
from genus.models.relevance.model import RelevanceTopicModel
from reference.relevance import word_probabilities

SCORES = {
    ("News5 r=0, 25", "RTM"): 0.63, ("News5 r=0, 25", "NB"): 0.48,
    ("News5 r=0, 100", "RTM"): 0.68, ("News5 r=0, 100", "NB"): 0.58,
}  # fmt: skip


def collection():
    rng = np.random.default_rng(0)
    y = np.array([f"comp.{c}" for c in np.arange(60) % 3])
    X = rng.poisson(0.3, (60, 30))
    for d in range(60):
        X[d, d % 3 : 9 : 3] += rng.poisson(4, 3)
    others = rng.poisson(0.6, (50, 30))
    others[:, :9] = 0
    return rtm.Collection(sparse.csr_matrix(X, dtype=float), y, sparse.csr_matrix(others, dtype=float))


@pytest.fixture(params=[0, 2])
def problem(request):
    rtm.noisy_folds.cache_clear()
    return rtm.load_problem(collection, request.param, 3, rtm.Settings())


def test_training_documents_are_noisy_and_test_documents_are_not(problem):
    noise = 0 if problem.folds[0].X.sum() < 1000 else 2
    clean = rtm.noisy_folds(collection, 0, rtm.Settings())
    for fold, without in zip(problem.folds, clean, strict=True):
        assert (fold.X.sum() > 1.5 * without.X.sum()) == (noise > 0)
        assert fold.X_test.sum() <= without.X_test.sum() * 1.2
        assert ((fold.X > 0).sum(axis=0) >= 5).all()
    assert sum(fold.X_test.shape[0] for fold in problem.folds) == 60
    assert problem.sizes[1:] == (3, 40, 20)


def test_noise_is_added_to_each_document():
    X = sparse.csr_matrix(np.eye(4))
    others = sparse.csr_matrix(np.full((3, 4), 10.0))
    noisy = rtm.with_noise(X, others, 2, np.random.default_rng(0)).toarray()
    np.testing.assert_array_equal(noisy, np.eye(4) + 20)


@pytest.mark.parametrize("smoothing", ["proportional", "printed"])
def test_naive_bayes_has_the_models_smoothing(problem, smoothing):
    fold = problem.folds[0]
    counts = np.stack([fold.X[fold.y == label].sum(axis=0).A1 for label in np.unique(fold.y)])
    expected = np.log(word_probabilities(counts, 3, smoothing, 0.1))
    np.testing.assert_allclose(rtm.naive_bayes_features(fold, 3, smoothing, 0.1), expected)


def test_every_system_learns(problem):
    for system in rtm.systems():
        if rtm._FEW in system.tasks:
            assert system.measure(problem, rtm.Settings()).score > 0.6, system.name
    every = rtm.Problem(problem.folds, None)
    for system in rtm.systems():
        if rtm._ALL in system.tasks:
            assert system.measure(every, rtm.Settings()).score > 0.6, system.name


def test_the_model_is_fitted_once_for_all_numbers_of_features(problem, monkeypatch):
    problem.folds[0].model  # noqa: B018
    monkeypatch.setattr(RelevanceTopicModel, "fit", None)
    few = rtm.Problem(problem.folds[:1], 1)
    assert rtm.measure_relevance("proportional", few, rtm.Settings()).score >= 0


def test_table_2_agrees_with_the_parameters_that_fit():
    settings = rtm.Settings()
    fitted = [measure_overlap(0.5, 0.005, topic, settings).score for topic in TOPICS.values()]
    printed = [measure_overlap(0.005, 0.1, topic, settings).score for topic in TOPICS.values()]
    assert np.mean(fitted) > 0.85
    assert np.mean(printed) < np.mean(fitted)
    for topic in TOPICS.values():
        assert sum(topic.printed.values()) == pytest.approx(1, abs=0.07)


def test_the_experiment_is_complete():
    full, quick = experiment("rtm"), experiment("rtm", quick=True)
    names = [row.name for row in full.rows]
    assert len(set(names)) == len(names) == 6 + 3 * (7 + 3 * 4)
    assert {row.name for row in quick.rows} < set(names)
    printed = {row.name: row.paper for row in full.rows if row.paper}
    assert len(printed) == 25
    assert printed["Cora r=4, 500"] == {"NB": 53.1, "RTM": 67}
    assert {full.baseline, full.improved} <= {system.name for system in full.systems}


def test_the_tables_parts_have_their_own_systems():
    parts = blocks(experiment("rtm", quick=True))
    assert [(rows[0].task, names[:2]) for rows, names in parts] == [
        ("table 2", ["printed", "fitted"]),
        ("few words", ["NB", "RTM"]),
        ("all words", ["NB", "RTM"]),
    ]
    assert len(blocks(experiment("tdm"))) == 1


def test_the_page_draws_figures_5_and_6():
    planned = experiment("rtm", quick=True)
    results = Results({(r, s): Cell(r, s, score) for (r, s), score in SCORES.items()})
    page = make_page(planned, results)
    ElementTree.fromstring(page[page.index("<svg") : page.index("</svg>") + len("</svg>")])
    assert page.count("<title>RTM, genus: ") == 3  # two in figure 6, one over noise
    assert "<title>NB, paper: 48.0</title>" in page
    assert "Relative error reductions" not in page
