"""Choosing a model: what is tried is judged on texts left out, and the answer keeps every promise of a classifier."""

import math
import time

import numpy as np
import pytest
from sklearn.base import clone

from genus import RefinedNB, TermWeighting, TextClassifier, Vectorizer
from genus.auto.candidates import CANDIDATES, default_feature_sets, written_from_counts
from genus.auto.cross_validation import CrossValidation
from genus.auto.features import Features
from genus.auto.search import Search
from genus.base.rows import take_rows
from genus.calibration import Temperature
from genus.errors import ModelFileError
from genus.models.naive_bayes import MultinomialNB
from genus.pipeline.pool import Pool
from genus.pipeline.rejection import Rejection
from helpers.tickets import KINDS, tickets

TEXTS, LABELS = tickets()


@pytest.fixture(scope="module")
def fitted():
    return TextClassifier().fit(TEXTS, LABELS)


def pooled():
    """Words and characters together, in fixed parts."""
    members = [
        TextClassifier("tdm").fit(TEXTS, LABELS),
        TextClassifier(
            RefinedNB(), vectorizer=Vectorizer(analyzer="char_wb", ngram_range=(2, 4)), weighting="tfidf"
        ).fit(TEXTS, LABELS),
    ]
    rejection = Rejection.fit(np.random.default_rng(0).normal(size=(50, 3)), np.linspace(0.5, 1, 50))
    pool = Pool.from_members(
        [m._pipeline for m in members],
        [Temperature(-1.0, -0.2), Temperature(0.5, 0.1)],
        np.array([0.4, 0.7]),
        rejection,
    )
    clf = TextClassifier()
    clf._pipeline, clf.leaderboard_, clf.search_cut_short_ = pool, [], False
    return clf


# What is chosen


def test_answers_are_right_and_probabilities_are_met(fitted):
    texts, labels = tickets(300, seed=1)
    p = fitted.predict_proba(texts)
    right = fitted.predict(texts) == labels
    assert right.mean() > 0.9
    assert abs(p.max(axis=1).mean() - right.mean()) < 0.08
    np.testing.assert_allclose(p.sum(axis=1), 1)


def test_the_leaderboard_tells_what_was_tried(fitted):
    board = fitted.leaderboard_
    assert {row["candidate"] for row in board} >= {"naive Bayes", "refined", "refined, characters", "tied documents"}
    assert sum(row["weight"] > 0 for row in board) == len(fitted.model_.members)
    assert board[0]["weight"] > 0
    assert all(0 <= row["accuracy"] <= 1 and row["log_loss"] >= 0 and row["seconds"] > 0 for row in board)
    assert not fitted.search_cut_short_


def test_the_same_seed_gives_the_same_model(fitted):
    texts, _ = tickets(40, seed=2)
    for n_jobs in (1, 2, 5):
        again = TextClassifier(n_jobs=n_jobs).fit(TEXTS, LABELS)
        np.testing.assert_array_equal(again.predict_log_proba(texts), fitted.predict_log_proba(texts))


@pytest.mark.parametrize(
    ("objective", "best"),
    [
        ("accuracy", "naive Bayes"),
        ("micro_f1", "naive Bayes"),  # the same thing, where each text has one label
        ("macro_f1", "refined"),
        ("log_loss", "tied documents"),
    ],
)
def test_the_objective_decides_what_is_chosen(objective, best, monkeypatch):
    codes = np.repeat([0, 1, 2], [360, 20, 20])
    near = np.eye(3)[codes] * 8.0
    near[320:] = [0.0, 0.0, -5.0]  # a fifth is undecided between two classes, and the first of them is answered
    near[320:360, 1] = near[380:, 1] = 0.01
    near[360:380, 0] = 0.01
    scores = {
        "MultinomialNB": 3.0 * np.eye(3)[np.zeros(400, dtype=int)],  # right for the frequent class, and only for it
        "RefinedNB": 3.0 * np.eye(3)[[0] * 300 + [1] * 30 + [2] * 30 + [1] * 20 + [2] * 20],  # right for all rare ones
        "TiedDocumentMixture": near,  # wrong most often, and then hardly
    }

    def given(self, model, settings, rows, new_rows, fixed):
        return [scores[type(model).__name__][self.chosen] for _ in settings]

    monkeypatch.setattr(CrossValidation, "out_of_fold_scores", given)
    three = tuple(c for c in CANDIDATES if c.name in ("naive Bayes", "refined", "tied documents"))
    monkeypatch.setattr("genus.auto.choose.CANDIDATES", three)
    texts = [f"{'abc'[c]}{c} word{i % 7}" for i, c in enumerate(codes.tolist())]
    board = TextClassifier(objective=objective, vectors=None).fit(texts, codes).leaderboard_
    assert board[0]["candidate"] == best


def test_what_the_user_gives_is_kept():
    clf = TextClassifier(vectorizer=Vectorizer(binary=True), weighting="tfidf", vectors=None).fit(TEXTS, LABELS)
    for member in clf.model_.members:
        assert member.vectorizer.binary
        assert member.weighting.get_params() == TermWeighting.named("tfidf").get_params()
    assert len({row["candidate"] for row in clf.leaderboard_}) == 3


def test_weights_count():
    heavy = TextClassifier().fit(TEXTS, LABELS, sample_weight=np.where(np.array(LABELS) == "billing", 5.0, 1.0))
    even = TextClassifier().fit(TEXTS, LABELS)
    assert heavy.predict_proba(["today"])[0, 0] > even.predict_proba(["today"])[0, 0]


def test_time_cuts_the_search_and_says_so():
    clf = TextClassifier(time_budget=0.001).fit(TEXTS, LABELS)
    assert clf.search_cut_short_
    assert {row["candidate"] for row in clf.leaderboard_} == {"naive Bayes"}
    assert clf.predict(["my invoice was charged"]) == ["billing"]


def test_ctrl_c_keeps_the_best_so_far(monkeypatch):
    judge, calls = CrossValidation.out_of_fold_scores, []

    def stopped(self, *args):
        calls.append(args)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return judge(self, *args)

    monkeypatch.setattr(CrossValidation, "out_of_fold_scores", stopped)
    clf = TextClassifier().fit(TEXTS, LABELS)
    assert clf.search_cut_short_
    assert len({row["candidate"] for row in clf.leaderboard_}) == 2


def test_progress_is_shown_on_request(capsys):
    TextClassifier(verbose=1).fit(TEXTS[:20], LABELS[:20])
    assert capsys.readouterr().out == ""


# How candidates are judged


def validation(groups=None, seed=0, labels=LABELS):
    codes = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    return CrossValidation.from_labels(codes, codes.max() + 1, None, groups, "accuracy", seed, 2)


def test_classes_are_spread_over_folds():
    judged = validation(labels=["a"] * 50 + ["b"] * 7 + ["c"] * 2)
    for c in range(3):
        counts = np.bincount(judged.folds[judged.codes == c], minlength=5)
        assert np.ptp(counts) <= 1


def test_groups_are_left_out_together():
    groups = np.arange(len(LABELS)) // 4
    judged = validation(groups)
    assert all(len(set(judged.folds[groups == g])) == 1 for g in set(groups))
    assert np.ptp(np.bincount(judged.folds)) <= 4


def test_folds_give_what_models_of_the_other_folds_say():
    judged = validation()
    features = Features.from_texts(Vectorizer(), TEXTS)
    _, rows, new = features.weighted(None)
    found = judged._over_folds(MultinomialNB(), [{"alpha": 0.5}], rows, new)[0]
    for f in range(judged.n_folds):
        train, test = np.flatnonzero(judged.folds != f), np.flatnonzero(judged.folds == f)
        model = MultinomialNB(0.5)._fit_rows(take_rows(rows, train), judged.codes[train])
        expected = model._joint_log_likelihood(take_rows(new, test))
        np.testing.assert_allclose(found[test], expected, rtol=1e-6)


def test_a_document_left_out_does_not_know_words_of_its_own():
    features = Features.from_texts(Vectorizer(), ["one two two", "one three", "one"])
    assert features.lengths.tolist() == [1, 1, 1]
    np.testing.assert_allclose(features.shares, [1 / 3, 1 / 2, 1])
    pruned = Features.from_texts(Vectorizer(min_df=2), ["one two", "one two", "one four"])
    np.testing.assert_allclose(pruned.shares, [1 / 2, 1 / 2, 1 / 2])


def test_texts_written_from_counts_have_no_pairs():
    counted = ["paper paper jam tray", "card card card refund"] * 20
    assert written_from_counts(counted)
    assert list(default_feature_sets(counted)) == ["words"]
    assert not written_from_counts(["a rose is a rose is a rose", "very very good, and good value"])
    assert not written_from_counts(["every word once", "", "here too"])
    assert not written_from_counts(["bye bye", "very very good"] * 3)  # too few to tell
    assert {"words", "pairs", "characters"} == set(default_feature_sets(TEXTS))


def test_many_short_texts_have_edges_and_n_grams_from_word_to_word():
    short = ["who was it?"] * 1200
    feature_sets = default_feature_sets(short)
    assert (feature_sets["pairs"].edges, feature_sets["characters"].analyzer) == (True, "char")
    for texts in (short[:900], ["who was it? " * 30] * 1200):
        feature_sets = default_feature_sets(texts)
        assert (feature_sets["pairs"].edges, feature_sets["characters"].analyzer) == (False, "char_wb")


@pytest.mark.parametrize(("seconds", "affordable"), [(1, 5), (1.9, 4), (4, 1), (6, 0), (20, 0)])
def test_a_setting_is_tried_where_there_is_time_for_it_and_for_the_last_fit(monkeypatch, seconds, affordable):
    monkeypatch.setattr("genus.auto.search.time.monotonic", lambda: 0.0)
    naive, refined = CANDIDATES[:2]
    search = Search(TEXTS, validation(), [naive, refined], default_feature_sets(TEXTS), 10.0, lambda *_: None)
    assert search._affordable(naive, 4) == 4  # the first, whatever it takes
    search._try(naive, naive.settings)
    search._rates["refined"] = seconds / search._work(refined)
    assert search._affordable(refined, 5) == affordable
    assert search.cut_short == (affordable < 5)


def test_further_views_try_one_path_of_costs():
    feature_sets = default_feature_sets(TEXTS)
    refined = [c for c in CANDIDATES if c.model == "refined"]
    search = Search(TEXTS, validation(), refined, feature_sets, time.monotonic() + 60, lambda *_: None)
    assert len(search._probes(refined[0])) == len(refined[0].settings)
    search.run()
    best = search._promising(refined[1])[0]
    for probe in search._probes(refined[1]):
        assert probe | {"cost": 0} == best | {"cost": 0}


@pytest.mark.parametrize("candidate", CANDIDATES, ids=lambda c: c.name)
def test_every_candidate_can_be_judged(candidate):

    search = Search(
        TEXTS, validation(), [candidate], default_feature_sets(TEXTS), time.monotonic() + 60, lambda *_: None
    )
    search.run()
    assert len(search.trials) == min(len(candidate.settings), candidate.n_probes + candidate.n_more)
    assert max(trial.accuracy for trial in search.trials) > 0.8


# Promises of a classifier


def test_word_contributions_add_up_to_the_log_odds():
    clf = pooled()
    for text in (*TEXTS[:5], "My PRINTER, again! is (not) charged... unheard-of", "zzz qqq"):
        explained = clf.explain(text)
        p = clf.predict_proba([text])[0]
        top = np.sort(p)[-2:]
        # The table of refined scores is in single precision, 6e-8 of a score.
        assert explained.log_odds == pytest.approx(math.log(top[1] / top[0]), rel=1e-6, abs=1e-6)
        parts = explained.prior + explained.remainder + sum(w.contribution for w in explained.words)
        assert parts == pytest.approx(explained.log_odds)
    assert {"printer", "again"} <= {w.word for w in clf.explain("My PRINTER, again!").words}
    assert explained.to_dict()["typicality"] == clf.typicality(["zzz qqq"])[0]


def test_a_pool_is_saved_and_opened(tmp_path):
    clf = pooled()
    clf.save(tmp_path / "pool.genus")
    other = TextClassifier.load(tmp_path / "pool.genus")
    np.testing.assert_array_equal(other.predict_log_proba(TEXTS), clf.predict_log_proba(TEXTS))
    np.testing.assert_array_equal(other.typicality(TEXTS), clf.typicality(TEXTS))
    assert str(other.explain(TEXTS[0])) == str(clf.explain(TEXTS[0]))


def test_what_was_chosen_is_saved_with_its_leaderboard(fitted, tmp_path):
    fitted.save(tmp_path / "auto.genus")
    other = TextClassifier.load(tmp_path / "auto.genus")
    assert other.leaderboard_ == fitted.leaderboard_
    np.testing.assert_array_equal(other.predict_log_proba(TEXTS), fitted.predict_log_proba(TEXTS))


@pytest.mark.parametrize(
    "change",
    [
        {"members": []},
        {"members": ["text"]},
        {"weights": np.ones(3)},
        {"temperatures": np.ones(2)},
        {"rejection": {"parts": "x", "familiarities": np.ones(2)}},
    ],
)
def test_a_damaged_pool_is_refused(change, tmp_path, monkeypatch):
    clf = pooled()
    state = clf.model_._get_state() | change
    monkeypatch.setattr(Pool, "_get_state", lambda self: state)
    clf.save(tmp_path / "damaged.genus")
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match="cannot be restored"):
        TextClassifier.load(tmp_path / "damaged.genus")


def test_members_must_know_the_same_classes(tmp_path):
    clf = pooled()
    clf.model_.members[0] = TextClassifier("nb").fit(["one text", "another"], ["x", "y"])._pipeline
    clf.save(tmp_path / "odd.genus")
    with pytest.raises(ModelFileError, match="different classes"):
        TextClassifier.load(tmp_path / "odd.genus")


def test_what_is_learned_later_can_be_taken_back():
    clf = pooled()
    before = clf.predict_log_proba(TEXTS)
    more = ["where is my parcel", "the parcel came late"]
    clf.partial_fit(more, ["shipping"] * 2)
    assert clf.predict(["a parcel"]) == ["shipping"]
    clf.unlearn(more, ["shipping"] * 2)
    np.testing.assert_allclose(clf.predict_log_proba(TEXTS), before, atol=1e-9)


def test_members_that_read_alike_learn_and_unlearn():
    clf = TextClassifier(vectorizer=Vectorizer(), weighting="tfidf").fit(*tickets(400, seed=12))
    texts, _ = tickets(50, seed=13)
    before = clf.predict_log_proba(texts)
    clf.partial_fit(["where is my parcel"], ["shipping"]).unlearn(["where is my parcel"], ["shipping"])
    np.testing.assert_allclose(clf.predict_log_proba(texts), before, atol=1e-9)
    weightings = [id(m.weighting) for m in clf.model_.members]
    assert len(set(weightings)) == len(weightings) > 1


def test_unlearning_what_was_never_learned_changes_nothing():
    clf = pooled()
    before = clf.predict_log_proba(TEXTS)
    with pytest.raises(ValueError, match="never learned"):
        clf.unlearn(["a text of strangers"], ["billing"])
    np.testing.assert_array_equal(clf.predict_log_proba(TEXTS), before)


def test_texts_that_begin_as_a_stream_are_naive_bayes():
    clf = TextClassifier().partial_fit(["one text"], ["a"]).partial_fit(["another"], ["b"])
    assert isinstance(clf.model_, MultinomialNB)


def test_the_rest_of_the_interface(fitted):
    labels, probabilities = fitted.predict_top(["my invoice"], k=2)
    assert labels[0, 0] == "billing"
    assert probabilities[0, 0] == pytest.approx(fitted.predict_proba(["my invoice"]).max())
    assert {word for word, _ in fitted.top_words("printer", 5)} <= set(KINDS["printer"])
    numbers, shares = pooled().neighbors(["my printer"], k=3)
    assert numbers.shape == shares.shape == (1, 3)
    assert clone(fitted).get_params() == fitted.get_params()


# None of these


def test_texts_of_no_class_are_rejected(fitted):
    strangers = ["goal match referee whistle", "quarterly violin concerto"]
    assert fitted.predict([*strangers, TEXTS[0]], reject=True).tolist() == [None, None, LABELS[0]]
    refused = fitted.typicality(tickets(300, seed=3)[0]) < 0.1
    assert refused.mean() < 0.25
    assert "none of the classes" in str(fitted.explain(strangers[0]))


@pytest.mark.parametrize("reject", [-0.1, 1.5])
def test_a_share_to_reject_lies_between_0_and_1(fitted, reject):
    with pytest.raises(ValueError, match="reject"):
        fitted.predict(TEXTS, reject=reject)


def test_only_what_was_judged_can_tell_strangers():
    with pytest.raises(ValueError, match="auto"):
        TextClassifier("nb").fit(TEXTS, LABELS).typicality(TEXTS)


# Bad input


def test_two_documents_are_enough():
    for texts in (["alpha beta", "gamma delta"], ["abc", "xyz"]):  # which have not one n-gram in common
        clf = TextClassifier().fit(texts, ["x", "y"])
        assert clf.predict([text.split()[-1] for text in texts]).tolist() == ["x", "y"]


def test_one_class_is_not():
    with pytest.raises(ValueError, match="one class only"):
        TextClassifier().fit(["alpha", "beta"], ["x", "x"])


def test_empty_texts_are_refused():
    with pytest.raises(ValueError, match="Empty vocabulary"):
        TextClassifier().fit(["", " ", ""], ["x", "y", "x"])


def test_equal_texts_with_different_labels_are_undecided():
    clf = TextClassifier().fit(["same text"] * 10, ["x", "y"] * 5)
    assert clf.predict_proba(["same text"]) == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    "time_budget", [0.01, pytest.param(0.8, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.slow), 3]
)
@pytest.mark.slow
def test_thousands_of_classes_have_an_answer(time_budget):
    rng = np.random.default_rng(5)
    names = [f"class{i}" for i in range(3000)]
    texts = [f"word{i} word{i}b {' '.join(rng.choice(['of', 'the', 'and'], 3))}" for i in range(3000)]
    clf = TextClassifier(time_budget=time_budget).fit(texts, names)
    assert (clf.predict(texts[:200]) == names[:200]).mean() > 0.95


def test_words_of_one_text_count_where_classes_have_but_a_few():
    texts = ["some words"] * 1200
    assert [feature_set.min_df for feature_set in default_feature_sets(texts, 400).values()] == [1, 1, 2]
    assert [feature_set.min_df for feature_set in default_feature_sets(texts, 20).values()] == [1, 2, 3]


def test_documents_that_nothing_is_known_of_have_no_say():
    codes = np.array([0, 0, 1, 1, 2], dtype=np.int32)
    alone = CrossValidation.from_labels(codes, 3, None, None, "accuracy", 0, 1)
    scores = np.log(np.array([[8, 1, 1], [8, 1, 1], [1, 8, 1], [1, 8, 1], [5, 5, 1e-9]]) / 10)
    verdict = alone.measure(scores)
    assert verdict.accuracy == 0.8
    assert verdict.log_loss == pytest.approx(-np.log(0.8))


@pytest.mark.parametrize(
    ("parameters", "arguments", "match"),
    [
        ({"objective": "f2"}, {}, "objective"),
        ({"time_budget": 0}, {}, "time_budget"),
        ({"time_budget": "long"}, {}, "time_budget"),
        ({"n_jobs": 0}, {}, "n_jobs"),
        ({}, {"groups": [1, 2]}, "groups"),
        ({}, {"groups": [1] * len(TEXTS)}, "groups"),
        ({}, {"sample_weight": np.zeros(len(TEXTS))}, "sample_weight"),
        ({}, {"sample_weight": [1.0]}, "sample_weight"),
    ],
)
def test_what_makes_no_sense_is_named(parameters, arguments, match):
    with pytest.raises(ValueError, match=match):
        TextClassifier(**parameters).fit(TEXTS, LABELS, **arguments)


# Texts without labels


def test_unlabeled_texts_teach_new_words():
    few, more = tickets(9, seed=6), tickets(400, seed=7)
    test = tickets(300, seed=8)
    alone = TextClassifier().fit(*few)
    helped = TextClassifier().fit(*few, unlabeled=more[0])
    right = [np.mean(clf.predict(test[0]) == np.array(test[1])) for clf in (alone, helped)]
    assert right[1] > right[0] + 0.02
    assert any("unlabeled texts" in row["candidate"] and row["weight"] > 0 for row in helped.leaderboard_)


def test_a_label_of_none_is_no_label():
    few, more = tickets(9, seed=6), tickets(60, seed=7)
    apart = TextClassifier().fit(*few, unlabeled=more[0])
    weights = [1.0] * (len(few[0]) + len(more[0]))
    mixed = TextClassifier().fit([*few[0], *more[0]], [*few[1], *[None] * len(more[0])], sample_weight=weights)
    np.testing.assert_array_equal(apart.predict_log_proba(TEXTS), mixed.predict_log_proba(TEXTS))


@pytest.mark.slow
def test_unlabeled_texts_that_mislead_are_left_out():
    rng = np.random.default_rng(9)
    words = [word for kind in KINDS.values() for word in kind]
    noise = [" ".join(rng.choice(words, 30)) for _ in range(300)]
    texts, labels = tickets(600, seed=10)
    clf = TextClassifier(time_budget=30).fit(texts, labels, unlabeled=noise)
    test = tickets(300, seed=11)
    plain = TextClassifier(time_budget=30).fit(texts, labels)
    assert (
        np.mean(clf.predict(test[0]) == np.array(test[1]))
        >= np.mean(plain.predict(test[0]) == np.array(test[1])) - 0.02
    )


@pytest.mark.parametrize("model", ["nb", "refined"])
def test_only_auto_learns_from_unlabeled_texts(model):
    with pytest.raises(ValueError, match="auto"):
        TextClassifier(model).fit(TEXTS, LABELS, unlabeled=["more"])


def test_labels_that_are_all_none_are_refused():
    with pytest.raises(ValueError, match="None"):
        TextClassifier().fit(["one", "two"], [None, None])
