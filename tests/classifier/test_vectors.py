"""Word vectors and descriptions of classes in `TextClassifier`: words it was never shown, classes without a label."""

from itertools import pairwise

import numpy as np
import pytest

from genus import TextClassifier
from genus.errors import DataError, ModelFileError
from genus.vectors import WordVectors
from helpers.meaning import DESCRIPTIONS, N_DIMENSIONS, SYNONYMS, table
from helpers.tickets import KINDS, tickets

TABLE = table()
TEXTS, LABELS = tickets(30)
UNSEEN = [(f"{a} {b}", kind) for kind, words in SYNONYMS.items() for a, b in pairwise(words)]


@pytest.fixture(scope="module")
def fitted():
    return TextClassifier(vectors=TABLE).fit(TEXTS, LABELS)


def right(clf, pairs=UNSEEN):
    texts, labels = zip(*pairs, strict=True)
    return float(np.mean(clf.predict(list(texts)) == np.array(labels)))


# Words that no training text has


def test_texts_of_unseen_words_are_understood(fitted):
    without = TextClassifier(vectors=None).fit(TEXTS, LABELS)
    assert right(fitted) == 1.0
    assert right(without) < 0.7


def test_vectors_are_a_candidate_beside_the_others(fitted):
    board = {row["candidate"] for row in fitted.leaderboard_}
    assert {"vectors", "refined", "naive Bayes"} <= board
    assert sum(row["weight"] > 0 for row in fitted.leaderboard_ if row["candidate"].startswith("vectors")) == 1


def test_none_leaves_vectors_out():
    clf = TextClassifier(vectors=None).fit(TEXTS, LABELS)
    assert not any(row["candidate"].startswith("vectors") for row in clf.leaderboard_)


def test_answers_do_not_depend_on_threads_or_company(fitted):
    texts = [text for text, _ in UNSEEN] + TEXTS
    expected = fitted.predict_log_proba(texts)
    alone = np.concatenate([fitted.predict_log_proba([text]) for text in texts])
    np.testing.assert_array_equal(alone, expected)
    one = TextClassifier(vectors=TABLE, n_jobs=1).fit(TEXTS, LABELS)
    np.testing.assert_array_equal(one.predict_log_proba(texts), expected)


def test_texts_of_no_known_word_are_answered(fitted):
    p = fitted.predict_proba(["", "qwerty uiop", "ｚ"])
    np.testing.assert_allclose(p.sum(axis=1), 1)


# Reasons


def test_contributions_of_counts_and_vectors_add_up(fitted):
    for text in [UNSEEN[0][0], TEXTS[0], "the printer needs euros", "", "unknown words"]:
        why = fitted.explain(text)
        p = fitted.predict_log_proba([text])[0]
        chosen, rival = (int(np.flatnonzero(fitted.classes_ == c)[0]) for c in (why.label, why.against))
        assert why.log_odds == pytest.approx(p[chosen] - p[rival], abs=1e-4)
        assert why.prior + sum(w.contribution for w in why.words) + sum(why.terms.values()) == pytest.approx(
            why.log_odds
        )


def test_a_new_word_is_shown_with_the_training_words_it_is_like(fitted):
    why = fitted.explain("the copier is slow")
    words = {word.word: word for word in why.words}
    assert set(words["copier"].like) <= set(KINDS["printer"])
    assert len(words["copier"].like) == 3
    assert words["slow"].like == ()
    assert why.n_unknown == 0
    assert "like " in str(why)
    assert why.to_dict()["words"][[w.word for w in why.words].index("copier")]["like"] == list(words["copier"].like)


def test_words_without_a_vector_are_counted_as_unknown(fitted):
    why = fitted.explain("the copier and a qwerty")
    assert why.n_unknown == 1  # "qwerty"; "and" has a vector, though no training text has it
    assert why.n_words == 4


def test_an_encoder_of_whole_texts_is_one_term():
    clf = TextClassifier(vectors=lambda texts: TABLE.encode(texts).vectors).fit(TEXTS, LABELS)
    why = clf.explain("copier cartridge")
    assert "the text's vector" in why.terms
    assert why.prior + sum(w.contribution for w in why.words) + sum(why.terms.values()) == pytest.approx(why.log_odds)


# Similar texts


def test_similar_texts_share_words_or_meaning(fitted):
    best = fitted.similar(TEXTS[4], 3)
    assert best[0].number == 4
    assert best[0].similarity == pytest.approx(1, abs=0.15)
    assert best[0].label == LABELS[4]
    near = fitted.similar("copier cartridge", 5)
    assert {found.label for found in near} == {"printer"}
    assert [found.similarity for found in near] == sorted((found.similarity for found in near), reverse=True)


def test_similar_texts_by_words_alone_without_vectors():
    clf = TextClassifier("tdm").fit(TEXTS, LABELS)
    assert clf.similar(TEXTS[7], 1)[0].number == 7


def test_models_of_sums_have_no_similar_texts():
    with pytest.raises(ValueError, match="keeps sums, not documents"):
        TextClassifier("nb").fit(TEXTS, LABELS).similar("paper")
    with pytest.raises(ValueError, match="similar takes one text"):
        TextClassifier("tdm").fit(TEXTS, LABELS).similar(["paper"])


# Classes without labeled texts


def test_names_and_descriptions_classify_without_any_label():
    clf = TextClassifier(vectors=TABLE).fit([], [], classes=DESCRIPTIONS)
    assert clf.classes_.tolist() == sorted(DESCRIPTIONS)
    assert right(clf) > 0.9
    assert clf.leaderboard_ == []
    by_names = TextClassifier(vectors=TABLE).fit([], [], classes=["billing", "network", "printer"])
    assert right(by_names) > 0.8


def test_learning_goes_on_from_descriptions():
    clf = TextClassifier(vectors=TABLE).fit([], [], classes=["billing", "network"])
    clf.partial_fit(["copier and cartridge", "scanner prints"], ["printer", "printer"])
    assert clf.classes_.tolist() == ["billing", "network", "printer"]
    assert clf.predict(["toner and ink"]).tolist() == ["printer"]


def test_a_class_without_labeled_texts_joins_labeled_ones():
    texts, labels = zip(*[(t, c) for t, c in zip(TEXTS, LABELS, strict=True) if c != "printer"], strict=True)
    clf = TextClassifier(vectors=TABLE).fit(texts, labels, classes=DESCRIPTIONS)
    assert clf.classes_.tolist() == sorted(DESCRIPTIONS)
    assert right(clf) > 0.9


def test_classes_may_be_declared_beside_labels_of_all():
    clf = TextClassifier(vectors=TABLE).fit(TEXTS, LABELS, classes=DESCRIPTIONS)
    assert clf.leaderboard_
    assert right(clf) == 1.0


def test_descriptions_help_where_labels_are_few():
    texts, labels = ["the printer jam", "wifi signal", "card refund"], ["a", "b", "c"]
    described = TextClassifier(
        vectors=TABLE, descriptions={"a": "copier, scanner", "b": "modem, internet", "c": "bank, fee"}
    ).fit(texts, labels)
    named = {"printer": "a", "network": "b", "billing": "c"}
    pairs = [(text, named[kind]) for text, kind in UNSEEN]
    assert right(described, pairs) == 1.0
    rows = [row for row in described.leaderboard_ if row["candidate"] == "vectors, descriptions"]
    assert sum(row["weight"] for row in rows) > 0


def test_false_leaves_names_out():
    clf = TextClassifier(vectors=TABLE, descriptions=False).fit(TEXTS, LABELS)
    assert not any("descriptions" in row["candidate"] for row in clf.leaderboard_)


@pytest.mark.parametrize(
    ("parameters", "classes", "message"),
    [
        ({"descriptions": {"spam": "prizes"}}, None, "'spam', which is not one of the 3 classes"),
        ({"descriptions": {"billing": " "}}, None, "description of 'billing' must be a text that is not empty"),
        ({"descriptions": {"billing": 3}}, None, "description of 'billing' must be a text that is not empty, got 3"),
        ({}, "billing,printer", "classes must be a dict or a list of labels"),
        ({"vectors": None}, ["billing", "sport"], "need word vectors"),
        ({}, ["billing", "C01"], "class 'C01' has neither labeled texts nor a description whose words are known"),
    ],
)
def test_wrong_descriptions_are_refused(parameters, classes, message):
    with pytest.raises(ValueError, match=message):
        TextClassifier(**{"vectors": TABLE} | parameters).fit(TEXTS, LABELS, classes=classes)


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="at least two classes"):
        TextClassifier(vectors=TABLE).fit([], [], classes=["billing"])
    with pytest.raises(ValueError, match="at least two classes"):
        TextClassifier(vectors=TABLE).fit([], [], classes=[])


def test_classes_and_descriptions_are_for_auto():
    for parameters, more in (({"descriptions": DESCRIPTIONS}, {}), ({}, {"classes": DESCRIPTIONS})):
        with pytest.raises(ValueError, match="is for model='auto'"):
            TextClassifier("nb", **parameters).fit(TEXTS, LABELS, **more)


def test_sets_of_labels_refuse_descriptions():
    with pytest.raises(ValueError, match="not for sets"):
        TextClassifier(vectors=TABLE).fit(TEXTS, [{label} for label in LABELS], classes=DESCRIPTIONS)


# Learning more, unlearning, unlabeled texts


def test_unlearned_texts_leave_no_trace(fitted, tmp_path):
    texts, labels = tickets(6, seed=5)
    file = tmp_path / "m.genus"
    fitted.save(file)
    clf = TextClassifier.load(file)
    before = clf.predict_log_proba(TEXTS)
    clf.partial_fit(texts, labels)
    assert not np.array_equal(clf.predict_log_proba(TEXTS), before)
    clf.unlearn(texts, labels)
    np.testing.assert_allclose(clf.predict_log_proba(TEXTS), before, atol=1e-6)


def test_a_class_that_is_unlearned_goes_with_its_description():
    clf = TextClassifier(vectors=TABLE).fit(TEXTS, LABELS, classes=DESCRIPTIONS)
    gone = [(t, c) for t, c in zip(TEXTS, LABELS, strict=True) if c == "printer"]
    clf.unlearn(*map(list, zip(*gone, strict=True)))
    assert clf.classes_.tolist() == ["billing", "network"]
    assert clf.predict_proba(["the copier"]).shape == (1, 2)
    clf.partial_fit(*map(list, zip(*gone, strict=True)))
    assert clf.predict(["toner and ink"]).tolist() == ["printer"]


def test_unlabeled_texts_and_vectors_together():
    unlabeled, _ = tickets(60, seed=9)
    clf = TextClassifier(vectors=TABLE).fit(TEXTS[:9], LABELS[:9], unlabeled=unlabeled)
    assert right(clf) > 0.9


# Files


def test_a_users_table_is_stored_in_the_file(fitted, tmp_path):
    file = tmp_path / "m.genus"
    fitted.save(file)
    loaded = TextClassifier.load(file)
    texts = [text for text, _ in UNSEEN]
    np.testing.assert_array_equal(loaded.predict_log_proba(texts), fitted.predict_log_proba(texts))
    assert isinstance(loaded.vectors, WordVectors)
    assert isinstance(fitted.vectors, WordVectors)
    assert right(loaded.fit(TEXTS, LABELS)) == 1.0  # with the table that the file held


def test_an_encoder_that_a_file_cannot_hold_is_given_again(tmp_path):
    def encode(texts):
        return TABLE.encode(texts).vectors

    clf = TextClassifier(vectors=encode).fit(TEXTS, LABELS)
    file = tmp_path / "m.genus"
    clf.save(file)
    texts = [text for text, _ in UNSEEN]
    with pytest.raises(DataError, match=r"encoder encode .* cannot hold"):
        TextClassifier.load(file).predict(texts)
    again = TextClassifier.load(file, vectors=encode)
    np.testing.assert_array_equal(again.predict_log_proba(texts), clf.predict_log_proba(texts))
    with pytest.raises(ValueError, match=f"{N_DIMENSIONS} dimensions .* gives 3"):
        TextClassifier.load(file, vectors=lambda texts: np.ones((len(texts), 3)))


def test_vectors_for_a_model_without_are_refused(tmp_path):
    file = tmp_path / "m.genus"
    TextClassifier("nb").fit(TEXTS, LABELS).save(file)
    with pytest.raises(ValueError, match="trained without"):
        TextClassifier.load(file, vectors=TABLE)


def test_a_classifier_of_descriptions_is_saved(tmp_path):
    clf = TextClassifier(vectors=TABLE).fit([], [], classes=DESCRIPTIONS)
    file = tmp_path / "m.genus"
    clf.save(file)
    texts = [text for text, _ in UNSEEN]
    np.testing.assert_array_equal(TextClassifier.load(file).predict_proba(texts), clf.predict_proba(texts))


def test_a_damaged_reader_of_vectors_is_refused(fitted, tmp_path, monkeypatch):
    from genus.pipeline.vector_reader import VectorReader

    monkeypatch.setattr(VectorReader, "_get_state", lambda self: {"source": 3})
    file = tmp_path / "m.genus"
    fitted.save(file)
    with pytest.raises(ModelFileError, match="an encoder of texts was expected"):
        TextClassifier.load(file)


# One model of vectors


def test_the_gaussian_reads_texts_as_vectors(tmp_path):
    clf = TextClassifier("gaussian", vectors=TABLE).fit(TEXTS, LABELS)
    assert right(clf) == 1.0
    why = clf.explain("copier toner")
    assert {word.word for word in why.words} == {"copier", "toner"}
    assert why.prior + sum(w.contribution for w in why.words) == pytest.approx(why.log_odds)
    file = tmp_path / "m.genus"
    clf.save(file)
    np.testing.assert_array_equal(TextClassifier.load(file).predict_proba(TEXTS), clf.predict_proba(TEXTS))
    before = clf.predict_log_proba(TEXTS)
    clf.partial_fit(["internet modem"], ["network"]).unlearn(["internet modem"], ["network"])
    np.testing.assert_array_equal(clf.predict_log_proba(TEXTS), before)


def test_the_gaussian_refuses_what_is_for_counts():
    for parameters in ({"vectors": None}, {"vectors": TABLE, "weighting": "tfidf"}):
        with pytest.raises(ValueError, match="model='gaussian'"):
            TextClassifier("gaussian", **parameters).fit(TEXTS, LABELS)


# Encoders that go wrong


@pytest.mark.parametrize(
    ("encode", "error", "message"),
    [
        (lambda texts: np.ones((1, 4)), DataError, "shape"),
        (lambda texts: np.full((len(texts), 4), np.nan), DataError, "finite"),
        (lambda texts: 1 / 0, RuntimeError, "ZeroDivisionError"),
    ],
)
def test_an_encoder_that_goes_wrong_is_named(encode, error, message):
    with pytest.raises(error, match=message):
        TextClassifier(vectors=encode).fit(TEXTS, LABELS)


def test_vectors_of_another_kind_are_refused():
    with pytest.raises(ValueError, match="vectors must be a path"):
        TextClassifier(vectors=3).fit(TEXTS, LABELS)
