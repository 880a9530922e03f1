"""Sets of labels through `TextClassifier`: margins that add up, sets that fit the objective, one file."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genus import TextClassifier, Vectorizer
from genus.errors import ModelFileError
from genus.multilabel.decoding import OBJECTIVES, LabelDecoder, best_decoder
from genus.multilabel.metrics import label_scores
from helpers.tickets import KINDS, tagged, tickets


@pytest.fixture(scope="module")
def fitted():
    return TextClassifier().fit(*tagged())


def cells(clf, sets):
    return np.array([[label in given for label in clf.classes_] for given in sets])


def test_sets_are_found(fitted):
    texts, labels = tagged(seed=1)
    scores = label_scores(cells(fitted, fitted.predict(texts)), cells(fitted, labels))
    assert scores["example_f1"] > 0.85
    assert scores["micro_f1"] > 0.9
    p = fitted.predict_proba(texts)
    assert p.shape == (150, 3)
    assert abs(p.mean() - cells(fitted, labels).mean()) < 0.05


@pytest.mark.parametrize("objective", ["example_f1", "micro_f1", "macro_f1"])
def test_every_objective_is_decoded(objective):
    clf = TextClassifier(objective=objective).fit(*tagged())
    assert {row["candidate"] for row in clf.leaderboard_} == {
        "refined, words",
        "refined, pairs",
        "refined, characters",
        "neighbours, words",
    }
    assert clf.predict(["printer paper tray"]) == [frozenset({"printer"})]


def test_indicator_matrices_are_sets_too():
    texts, labels = tagged()
    matrix = np.array([[kind in given for kind in KINDS] for given in labels]).astype(int)
    clf = TextClassifier().fit(texts, matrix)
    assert clf.predict(["printer paper tray"]) == [frozenset({list(KINDS).index("printer")})]


def test_words_add_up_to_a_labels_log_odds(fitted):
    for label in KINDS:
        explained = fitted.explain("My invoice, and the printer again!", label=label)
        p = fitted.predict_proba(["My invoice, and the printer again!"])[0, fitted.classes_.tolist().index(label)]
        assert explained.log_odds == pytest.approx(math.log(p / (1 - p)), abs=1e-6)
        assert explained.against == f"not {label}"
        assert explained.remainder == pytest.approx(explained.to_dict()["remainder"])
        assert all(0 < near.share <= 1 for near in explained.documents)
    assert dict(fitted.top_words("printer", 8)).keys() & set(KINDS["printer"])


def test_the_nearest_texts_are_shown_with_their_labels(fitted):
    texts, labels = tagged()
    explained = fitted.explain(texts[3])
    near = explained.documents[0]
    assert texts[near.number] == texts[3]
    assert set(near.label.split(" + ")) == (labels[3] or {""})
    stranger = fitted.explain("zzz")
    assert stranger.documents == ()
    assert stranger.remainder == 0


def test_a_saved_pool_answers_the_same(fitted, tmp_path):
    texts, _ = tagged(seed=2)
    fitted.save(tmp_path / "labels.genus")
    other = TextClassifier.load(tmp_path / "labels.genus")
    assert other.predict(texts) == fitted.predict(texts)
    np.testing.assert_array_equal(other.predict_log_proba(texts), fitted.predict_log_proba(texts))


@pytest.mark.parametrize(
    "change",
    [{"decoder": "guess"}, {"weights": np.ones(9)}, {"members": []}, {"thresholds": np.ones(1)}, {"neighbors": None}],
)
def test_a_damaged_pool_is_refused(fitted, change, tmp_path, monkeypatch):
    state = fitted.model_._get_state() | change
    monkeypatch.setattr(type(fitted.model_), "_get_state", lambda self: state)
    fitted.save(tmp_path / "damaged.genus")
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match="cannot be restored"):
        TextClassifier.load(tmp_path / "damaged.genus")


def test_equal_for_any_number_of_threads(fitted):
    texts, _ = tagged(seed=3)
    other = TextClassifier(n_jobs=3).fit(*tagged())
    np.testing.assert_array_equal(other.predict_log_proba(texts), fitted.predict_log_proba(texts))


@pytest.mark.parametrize(
    ("parameters", "texts", "labels", "arguments", "match"),
    [
        ({}, ["one", "two"], [set(), set()], {}, "no label"),
        ({}, ["one", "two"], [{"a"}], {}, "2 texts but 1"),
        ({}, ["one", "two"], [{"a"}, "b"], {}, "row 1"),
        ({}, ["", ""], [{"a"}, {"b"}], {}, "Empty vocabulary"),
        ({"objective": "log_loss"}, ["one", "two"], [{"a"}, {"b"}], {}, "objective"),
        ({"model": "nb"}, ["one", "two"], [["a"], ["b"]], {}, "LabelPowerset"),
        ({}, ["one", "two"], [{"a"}, {"b"}], {"unlabeled": ["more"]}, "unlabeled"),
        ({"time_budget": -1}, ["one", "two"], [{"a"}, {"b"}], {}, "time_budget"),
    ],
)
def test_what_makes_no_sense_is_named(parameters, texts, labels, arguments, match):
    with pytest.raises(ValueError, match=match):
        TextClassifier(**parameters).fit(texts, labels, **arguments)


def test_sets_are_learned_at_once(fitted):
    for method in (fitted.partial_fit, fitted.unlearn):
        with pytest.raises(ValueError, match="fit again"):
            method(["one text"], ["billing"])
    with pytest.raises(ValueError, match="predict_proba"):
        fitted.typicality(["one text"])


def test_time_cuts_the_search_and_says_so(tmp_path):
    clf = TextClassifier(time_budget=0.001).fit(*tagged())
    assert clf.search_cut_short_
    assert {row["candidate"] for row in clf.leaderboard_} == {"refined, words"}
    assert clf.model_.neighbors is None
    assert clf.predict(["printer paper tray"]) == [frozenset({"printer"})]
    assert clf.explain("printer paper tray").documents == ()
    clf.save(tmp_path / "cut.genus")
    assert TextClassifier.load(tmp_path / "cut.genus").predict(["printer paper tray"]) == [frozenset({"printer"})]


def test_a_given_vectorizer_is_the_only_view():
    clf = TextClassifier(vectorizer=Vectorizer(binary=True)).fit(*tagged())
    assert [member.vectorizer.binary for member in clf.model_.members] == [True]


def test_texts_without_a_common_n_gram_have_words():
    clf = TextClassifier().fit(["abc", "xyz", "klm"], [{"a"}, {"b"}, {"a", "b"}])
    assert not any("characters" in row["candidate"] for row in clf.leaderboard_)


# Decoding against its definition


@given(st.integers(0, 10**6), st.sampled_from(["example_f1", "micro_f1", "macro_f1"]))
@settings(deadline=None, max_examples=30)
def test_the_best_decoder_is_taken(seed, objective):
    rng = np.random.default_rng(seed)
    p = rng.random((60, 4))
    truth = rng.random((60, 4)) < p**2
    best = label_scores(best_decoder(p, truth, objective).predict(p), truth)[objective]
    for name, at_least_one in product(OBJECTIVES, (True, False)):
        other = LabelDecoder(name, at_least_one=at_least_one).fit(p, truth)
        assert best >= label_scores(other.predict(p), truth)[objective]


def test_one_label_in_a_set_is_almost_a_class():
    texts, labels = tickets(90)
    clf = TextClassifier().fit(texts, [{label} for label in labels])
    right = [given == {label} for given, label in zip(clf.predict(texts), labels, strict=True)]
    assert np.mean(right) > 0.9


def test_labels_of_one_document_each_are_found_again():
    texts = [f"subject{i} told to user{i} by agent{i}" for i in range(40)]
    clf = TextClassifier().fit(texts, [{f"case {i}"} for i in range(40)])
    found, _ = clf.predict_top(texts, 1)
    assert [label for (label,) in found.tolist()] == [f"case {i}" for i in range(40)]
