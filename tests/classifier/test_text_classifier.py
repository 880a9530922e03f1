"""TextClassifier: raw text in, label and evidence out."""

from __future__ import annotations

import json
import multiprocessing
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import MultinomialNB as SklearnNB
from sklearn.pipeline import make_pipeline

import genus
from genus import ModelFileError, MultinomialNB, TermWeighting, TextClassifier, Vectorizer

pytestmark = pytest.mark.kernel

GOLDEN = Path(__file__).parents[1] / "golden" / "format-1.genus"

TEXTS = [
    "my card was charged twice", "refund the wrong charge please", "the invoice shows a double charge",
    "the printer is out of paper", "printer jams on every page", "paper stuck in the printer again",
    "cannot log in to my account", "password reset does not arrive", "my account is locked",
]  # fmt: skip
LABELS = ["billing"] * 3 + ["printer"] * 3 + ["login"] * 3

DOCUMENTS = st.lists(st.text("abc ", max_size=12), min_size=2, max_size=12)


@pytest.fixture
def clf() -> TextClassifier:
    return TextClassifier("nb").fit(TEXTS, LABELS)


def test_it_agrees_with_the_pipeline_of_scikit_learn(clf: TextClassifier) -> None:
    peer = make_pipeline(CountVectorizer(), SklearnNB()).fit(TEXTS, LABELS)
    new = ["the printer charged my card", "", "unheard of things", "account"]
    assert clf.classes_.tolist() == peer.classes_.tolist()
    np.testing.assert_allclose(clf.predict_log_proba(new), peer.predict_log_proba(new), rtol=0, atol=1e-9)
    np.testing.assert_allclose(clf.predict_proba(new).sum(axis=1), 1)
    assert clf.predict(new).tolist() == peer.predict(new).tolist()


def test_top_labels_come_best_first(clf: TextClassifier) -> None:
    labels, probabilities = clf.predict_top(["printer paper", "refund my card"], k=2)
    assert labels[:, 0].tolist() == ["printer", "billing"]
    assert (probabilities[:, 0] >= probabilities[:, 1]).all()
    np.testing.assert_allclose(probabilities[:, 0], clf.predict_proba(["printer paper", "refund my card"]).max(axis=1))


@given(texts=DOCUMENTS, question=st.text("abcd ", max_size=12), n_hash=st.sampled_from([None, 7, 2**20]))
@settings(deadline=None)
def test_evidence_adds_up_to_the_log_odds(texts: list[str], question: str, n_hash: int | None) -> None:
    vectorizer = Vectorizer(token_pattern=r"\w+", ngram_range=(1, 2), n_hash=n_hash)
    labels = ["x", "y", *("xyz"[len(text) % 3] for text in texts)]
    clf = TextClassifier("nb", vectorizer=vectorizer).fit(["a", "b", *texts], labels)
    why = clf.explain(question)
    log_proba = clf.predict_log_proba([question])[0]
    place = clf.classes_.tolist().index
    assert why.label == clf.predict([question])[0]
    assert why.probability == pytest.approx(np.exp(log_proba.max()))
    assert why.log_odds == pytest.approx(log_proba[place(why.label)] - log_proba[place(why.against)], abs=1e-9)
    assert why.prior + sum(w.contribution for w in why.words) == pytest.approx(why.log_odds, abs=1e-9)


def test_an_explanation_names_words_counts_and_what_is_unknown(clf: TextClassifier) -> None:
    why = clf.explain("Printer, printer: zyzzyva!", against="login")
    assert (why.label, why.against) == ("printer", "login")
    assert [(w.word, w.count) for w in why.words] == [("printer", 2)]
    assert (why.n_unknown, why.n_words) == (1, 3)
    assert clf.explain("printer", label="billing").label == "billing"
    with pytest.raises(ValueError, match="'ghost' is not one of the 3 classes"):
        clf.explain("printer", label="ghost")
    with pytest.raises(ValueError, match="one text"):
        clf.explain(["printer"])  # type: ignore[arg-type]


def test_an_explanation_renders_everywhere(clf: TextClassifier) -> None:
    from rich.console import Console

    why = clf.explain("<b>printer</b> & card")
    assert json.loads(json.dumps(why.to_dict()))["label"] == "printer"
    assert "= log odds" in str(why)
    page = why._repr_html_()
    assert "<b>printer</b> & card" not in page
    assert "printer" in page
    console = Console(width=60, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(why)
    console.file.close()
    assert "printer" in console.export_text()


def test_new_words_and_classes_come_at_any_time() -> None:
    whole = TextClassifier("nb").fit(TEXTS, LABELS)
    grown = TextClassifier("nb")
    for text, label in zip(TEXTS, LABELS, strict=True):
        grown.partial_fit([text], [label])
    new = ["the printer charged my card", "account", ""]
    assert grown.classes_.tolist() == whole.classes_.tolist()
    np.testing.assert_array_equal(grown.predict_log_proba(new), whole.predict_log_proba(new))


@pytest.mark.parametrize("vectorizer", [None, Vectorizer(ngram_range=(1, 2)), Vectorizer(n_hash=2**16)])
@pytest.mark.parametrize("model", ["nb", "tdm", "kdc", "knn"])
def test_an_unlearned_text_leaves_no_trace(model: str, vectorizer: Vectorizer | None, tmp_path: Path) -> None:
    never = TextClassifier(model, vectorizer=vectorizer).fit(TEXTS, LABELS)
    once = clone(never).fit([*TEXTS, "a customer named Zyzzyva"], [*LABELS, "private"])
    assert "private" in once.classes_
    once.unlearn(["a customer named Zyzzyva"], ["private"])
    never.save(tmp_path / "never.genus")
    once.save(tmp_path / "once.genus")
    assert (tmp_path / "once.genus").read_bytes() == (tmp_path / "never.genus").read_bytes()
    later = clone(never).fit(TEXTS, LABELS).partial_fit(["a customer named Zyzzyva"], ["private"])
    later.unlearn(["a customer named Zyzzyva"], ["private"])
    new = ["the secret printer", "account"]
    np.testing.assert_array_equal(later.predict_log_proba(new), never.predict_log_proba(new))


@pytest.mark.parametrize("weighting", [None, "sqrt", "tfidf", "bm25"])
@pytest.mark.parametrize("model", ["nb", "tdm"])
def test_leaving_a_text_out_is_unlearning_it(model: str, weighting: str | None) -> None:
    """With fixed columns: otherwise a word that only the text has would go, and every probability with it."""
    clf = TextClassifier(model, weighting=weighting).fit(TEXTS, LABELS)
    left_out = clf.leave_one_out_log_proba(TEXTS, LABELS)
    clf.vectorizer_.vocabulary = clf.vectorizer_.vocabulary_  # no longer grows, nor shrinks
    clf.unlearn(TEXTS[:1], LABELS[:1])
    rows = clf.vectorizer_._transform_rows(TEXTS[:1])[0]
    if clf.weighting_ is not None:
        rows = clf.weighting_._document_rows(rows)
    np.testing.assert_allclose(left_out[0], clf.model_._log_proba_rows(rows)[0], atol=1e-9)


@pytest.mark.parametrize("model", ["tdm", "kdc", "knn"])
def test_documents_are_unlearned_by_number(model: str, tmp_path: Path) -> None:
    twice = "a customer named Zyzzyva"
    once = TextClassifier(model).fit([twice, *TEXTS, twice], ["private", *LABELS, "private"])
    never = TextClassifier(model).fit([*TEXTS, twice], [*LABELS, "private"])
    once.unlearn_documents([0])  # this one and not its equal, so that the others' numbers are one less
    once.save(tmp_path / "once.genus")
    never.save(tmp_path / "never.genus")
    assert (tmp_path / "once.genus").read_bytes() == (tmp_path / "never.genus").read_bytes()
    for numbers, message in (
        ([len(TEXTS) + 1], "There is no document"),
        ([-1], "There is no document"),
        ([2, 2], "named twice"),
        ([0.5], "whole numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            once.unlearn_documents(numbers)
    with pytest.raises(ValueError, match="keeps sums, not documents"):
        TextClassifier("nb").fit(TEXTS, LABELS).unlearn_documents([0])


@pytest.mark.parametrize(
    ("text", "label"), [("this was never there", "billing"), ("card card", "billing"), ("card", "x")]
)
def test_what_was_never_learned_cannot_be_unlearned(clf: TextClassifier, text: str, label: str) -> None:
    before = clf.predict_log_proba(TEXTS)
    with pytest.raises(ValueError, match="never learned"):
        clf.unlearn([text], [label])
    np.testing.assert_array_equal(clf.predict_log_proba(TEXTS), before)


def test_models_are_chosen_by_name_or_given(clf: TextClassifier) -> None:
    given_model = TextClassifier(MultinomialNB(alpha=0.1)).fit(TEXTS, LABELS)
    assert given_model.model_.alpha == 0.1
    assert clf.model_.alpha == 1.0
    with pytest.raises(ValueError, match="model must be one of 'nb'"):
        TextClassifier("svm").fit(TEXTS, LABELS)


def test_it_is_a_scikit_learn_estimator(clf: TextClassifier) -> None:
    assert clf.score(TEXTS, LABELS) == 1.0
    scores = cross_val_score(TextClassifier("nb"), np.array(TEXTS), LABELS, cv=3)
    assert (scores > 0.3).all()
    nested = TextClassifier(MultinomialNB(), vectorizer=Vectorizer()).set_params(model__alpha=0.5)
    assert clone(nested).fit(TEXTS, LABELS).model_.alpha == 0.5
    again = pickle.loads(pickle.dumps(clf))  # noqa: S301 (scikit-learn users pickle; genus itself never does)
    assert again.predict(["printer"]).tolist() == ["printer"]
    with pytest.raises(NotFittedError):
        TextClassifier("nb").predict(["text"])


def test_chinese_works_without_any_option() -> None:
    texts = ["很喜欢这本书", "非常喜欢", "不好看", "太不好了"]
    clf = TextClassifier("nb").fit(texts, [1, 1, 0, 0])
    assert clf.predict(["喜欢", "不好"]).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("texts", "labels", "message"),
    [
        (["a text", "more"], ["x"], "2 texts but 1 labels"),
        (["a text", "more"], ["x", "x"], "one class only"),
        (["a text", "more"], ["x", None], "1 of 2 labels are missing, the first in row 1"),
        (["a text", "more"], [1.0, float("nan")], "1 of 2 labels are missing"),
        (["a text", "more"], ["x", 1], None),
        (["a text", "more"], [["x"], ["y"]], "one label per text"),
        (["a text", None], ["x", "y"], "row 1: expected a text"),
        (["", " "], ["x", "y"], "Empty vocabulary"),
        ([], [], "one class only"),
        ("a text", ["x"], "single str"),
    ],
)
def test_wrong_training_data_is_named(texts: Any, labels: Any, message: str | None) -> None:
    if message is None:  # numpy makes one type of them: strings
        assert TextClassifier("nb").fit(texts, labels).classes_.tolist() == ["1", "x"]
        return
    with pytest.raises((ValueError, TypeError), match=message):
        TextClassifier("nb").fit(texts, labels)


def test_a_failed_fit_keeps_the_old_model(clf: TextClassifier) -> None:
    with pytest.raises(ValueError, match="one class only"):
        clf.fit(["new"], ["only"])
    assert clf.predict(["printer"]).tolist() == ["printer"]


# ---------------------------------------------------------------------- files


def test_a_saved_model_answers_the_same(clf: TextClassifier, tmp_path: Path) -> None:
    path = tmp_path / "tickets.genus"
    clf.save(path)
    loaded = TextClassifier.load(path)
    new = ["the printer charged my card", "nothing known"]
    np.testing.assert_array_equal(loaded.predict_log_proba(new), clf.predict_log_proba(new))
    assert loaded.explain(new[0]).to_dict() == clf.explain(new[0]).to_dict()
    loaded.partial_fit(["where is my parcel"], ["shipping"]).save(path)
    assert TextClassifier.load(path).predict(["where is my parcel"]).tolist() == ["shipping"]
    assert loaded.unlearn(["where is my parcel"], ["shipping"]).classes_.tolist() == clf.classes_.tolist()


@pytest.mark.parametrize(
    "vectorizer",
    [
        Vectorizer(n_hash=64),
        Vectorizer(stemmer="english", ngram_range=(1, 2), stop_words={"the", "my"}, dtype=np.float32),
        Vectorizer(analyzer="char_wb", ngram_range=(2, 3), strip_accents="unicode"),
        Vectorizer(ngram_range=(1, 2), edges=True),
        Vectorizer(vocabulary=["printer", "card"]),
        Vectorizer(token_pattern=r"[a-z]+"),
    ],
    ids=["hashed", "stemmed", "characters", "edges", "given", "pattern"],
)
def test_every_kind_of_vectorizer_is_saved(vectorizer: Vectorizer, tmp_path: Path) -> None:
    clf = TextClassifier(MultinomialNB(alpha=0.3), vectorizer=vectorizer).fit(TEXTS, LABELS)
    clf.save(tmp_path / "m.genus")
    loaded = genus.load(tmp_path / "m.genus")
    assert loaded.vectorizer.get_params() == vectorizer.get_params()
    assert loaded.model.get_params() == clf.model.get_params()
    np.testing.assert_array_equal(loaded.predict_proba(TEXTS), clf.predict_proba(TEXTS))


def test_functions_cannot_be_saved(tmp_path: Path) -> None:
    clf = TextClassifier("nb", vectorizer=Vectorizer(tokenizer=str.split)).fit(TEXTS, LABELS)
    with pytest.raises(ModelFileError, match="tokenizer"):
        clf.save(tmp_path / "m.genus")


def test_a_file_of_something_else_is_not_a_classifier(tmp_path: Path) -> None:
    genus.save(Vectorizer().fit(TEXTS), tmp_path / "v.genus")
    with pytest.raises(ModelFileError, match="holds a Vectorizer, not a TextClassifier"):
        TextClassifier.load(tmp_path / "v.genus")


def test_a_file_of_format_1_still_opens() -> None:
    """Written by version 0.1.0 from TEXTS and LABELS with the default settings."""
    loaded = TextClassifier.load(GOLDEN)
    fresh = TextClassifier("nb").fit(TEXTS, LABELS)
    new = ["the printer charged my card", "login"]
    np.testing.assert_allclose(loaded.predict_log_proba(new), fresh.predict_log_proba(new), rtol=0, atol=1e-12)
    assert loaded.partial_fit(["where is my parcel"], ["shipping"]).predict(["where is my parcel"]).tolist() == [
        "shipping"
    ]


def test_it_works_in_a_forked_child(clf: TextClassifier) -> None:
    clf.predict(TEXTS * 1000)  # threads have run before the fork
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply(_predict_many, (clf,)) == ["printer"]


def _predict_many(clf: TextClassifier) -> list[str]:
    return sorted(set(clf.predict(["printer"] * 10_000).tolist()))


@pytest.mark.data
def test_twenty_newsgroups_reach_what_naive_bayes_reaches(load: Any) -> None:
    train, test = load("20news-bydate-raw", "train"), load("20news-bydate-raw", "test")
    clf = TextClassifier(MultinomialNB(alpha=0.1)).fit(train.texts, train.labels)
    assert clf.score(test.texts, test.labels) > 0.79


# ---------------------------------------------------------------------- weighting


@pytest.mark.parametrize("name", ["binary", "log_l2", "sqrt", "tfidf", "log_share", "bm25"])
def test_a_weighting_stands_between_counts_and_model(name: str) -> None:
    clf = TextClassifier("nb", weighting=name).fit(TEXTS, LABELS)
    peer = make_pipeline(Vectorizer(dtype=np.float32), TermWeighting.named(name), MultinomialNB()).fit(TEXTS, LABELS)
    new = ["the printer charged my card card", "", "unheard of things", "account"]
    np.testing.assert_array_equal(clf.predict_log_proba(new), peer.predict_log_proba(new))


def test_idf_may_be_for_questions_only() -> None:
    clf = TextClassifier("nb", weighting="query_idf").fit(TEXTS, LABELS)
    plain = TextClassifier("nb").fit(TEXTS, LABELS)
    np.testing.assert_array_equal(clf.model_.feature_count_, plain.model_.feature_count_)
    assert (clf.predict_log_proba(TEXTS) != plain.predict_log_proba(TEXTS)).any()
    clf.unlearn(TEXTS[:1], LABELS[:1])
    plain.unlearn(TEXTS[:1], LABELS[:1])
    np.testing.assert_array_equal(clf.model_.feature_count_, plain.model_.feature_count_)


@pytest.mark.parametrize("name", ["tfidf", "sqrt", "bm25", "log_share"])
def test_a_text_unlearned_under_the_idf_of_fit_leaves_no_trace(name: str) -> None:
    clf = TextClassifier("nb", weighting=name).fit(TEXTS, LABELS)
    before = clf.predict_log_proba(TEXTS)
    secret = ["printer charge charge card", "paper paper account"]
    clf.partial_fit(secret, ["private", "billing"])
    assert "private" in clf.classes_
    np.testing.assert_array_equal(clf.weighting_.document_frequency_, TermWeighting().fit(_counts(TEXTS))._frequency)
    clf.unlearn(secret, ["private", "billing"])
    np.testing.assert_array_equal(clf.predict_log_proba(TEXTS), before)
    clf.partial_fit(["words yet unheard"], ["new"]).unlearn(["words yet unheard"], ["new"])
    assert clf.classes_.tolist() == ["billing", "login", "printer"]
    with pytest.raises(ValueError, match="never learned"):
        clf.unlearn(["card"], ["printer"])


def _counts(texts: list[str]) -> Any:
    return Vectorizer().fit_transform(texts)


def test_words_that_weigh_nothing_survive_unlearning() -> None:
    """A plain idf is zero for a word of every text: no count tells that others still have it."""
    texts = [f"ticket {text}" for text in TEXTS]
    clf = TextClassifier("nb", weighting=TermWeighting(idf="plain")).fit(texts, LABELS)
    clf.unlearn(texts[:1], LABELS[:1])
    words = clf.vectorizer_.get_feature_names_out()
    assert "ticket" in words
    assert "twice" not in words
    assert len(clf.weighting_.document_frequency_) == len(words) == clf.model_.n_features_in_


def test_a_stream_keeps_the_weighting_of_its_first_texts() -> None:
    clf = TextClassifier("nb", weighting="tfidf").partial_fit(TEXTS[:6], LABELS[:6])
    frequencies = clf.weighting_.document_frequency_.tolist()
    clf.partial_fit(TEXTS[6:], LABELS[6:])
    assert clf.weighting_.document_frequency_.tolist() == frequencies
    assert clf.predict(["account locked"]).tolist() == ["login"]


def test_weighted_evidence_adds_up_and_shows_counts() -> None:
    clf = TextClassifier("nb", weighting="tfidf").fit(TEXTS, LABELS)
    why = clf.explain("printer printer card zyzzyva")
    log_proba = np.sort(clf.predict_log_proba(["printer printer card zyzzyva"])[0])
    assert why.log_odds == pytest.approx(log_proba[-1] - log_proba[-2])
    assert why.prior + sum(w.contribution for w in why.words) == pytest.approx(why.log_odds)
    assert {(w.word, w.count) for w in why.words} == {("printer", 2), ("card", 1)}
    assert (why.n_unknown, why.n_words) == (1, 4)


@pytest.mark.parametrize("weighting", ["tfidf", TermWeighting("bm25", idf="plain", norm="l1")])
def test_the_weighting_is_saved_with_the_model(weighting: Any, tmp_path: Path) -> None:
    clf = TextClassifier("nb", weighting=weighting).fit(TEXTS, LABELS)
    clf.save(tmp_path / "m.genus")
    loaded = TextClassifier.load(tmp_path / "m.genus")
    assert loaded.weighting_.get_params() == clf.weighting_.get_params()
    new = ["the printer charged my card", "account"]
    np.testing.assert_array_equal(loaded.predict_log_proba(new), clf.predict_log_proba(new))
    loaded.partial_fit(new, ["printer", "login"]).unlearn(new, ["printer", "login"])
    np.testing.assert_array_equal(loaded.predict_log_proba(new), clf.predict_log_proba(new))


def test_wrong_weightings_are_named() -> None:
    with pytest.raises(ValueError, match=r"weighting must be one of 'raw', .* got 'idf'"):
        TextClassifier("nb", weighting="idf").fit(TEXTS, LABELS)
    with pytest.raises(ValueError, match="weighting must be a name, a TermWeighting or None, got 3"):
        TextClassifier("nb", weighting=3).fit(TEXTS, LABELS)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="norm must be one of"):
        TextClassifier("nb", weighting=TermWeighting(norm="max")).fit(TEXTS, LABELS)


# ---------------------------------------------------------------------- models that remember documents


@pytest.mark.parametrize("model", ["tdm", "kdc", "knn"])
def test_models_of_documents_name_the_documents(model):
    texts = ["the match was won late", "shares fell as the bank warned", "a late goal won the match", "bank shares"]
    clf = TextClassifier(model).fit(texts, ["sport", "money", "sport", "money"])
    explanation = clf.explain("who won the match?")
    log_proba = clf.predict_log_proba(["who won the match?"])[0]
    assert explanation.label == "sport"
    assert explanation.log_odds == pytest.approx(log_proba[1] - log_proba[0])
    total = explanation.prior + sum(w.contribution for w in explanation.words) + explanation.remainder
    assert explanation.log_odds == pytest.approx(total)
    assert sum(m.share for m in explanation.documents) == pytest.approx(1)
    assert {(m.number, m.label) for m in explanation.documents[:2]} == {(0, "sport"), (2, "sport")}
    for word in explanation.to_dict()["words"]:
        assert sum(word["sources"].values()) == pytest.approx(1)
    assert "nearest training documents: " in str(explanation)
    assert "(choice of documents)" in str(explanation)
    assert "nearest training documents" in explanation._repr_html_()
    numbers, shares = clf.neighbors(texts, 1)
    assert numbers[:, 0].tolist() == [0, 1, 2, 3]
    assert (shares > 0.25).all()


def test_models_of_sums_know_no_documents():
    clf = TextClassifier("nb").fit(["good", "bad"], ["+", "-"])
    with pytest.raises(ValueError, match="keeps sums, not documents"):
        clf.neighbors(["good"])
