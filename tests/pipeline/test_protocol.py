"""What fitted pipelines and models offer, asked at run time; mypy checks the signatures."""

import numpy as np
import pytest

from genus import TextClassifier
from genus._registry import MODELS, make_model
from genus.base import protocol
from genus.pipeline.vector_reader import VectorReader
from genus.text.vectorizer import Vectorizer
from helpers.tickets import tickets

TEXTS, LABELS = tickets(60)
ADDITIVE = {"nb", "tdm", "kdc", "knn", "hs", "hm", "refined", "plsa", "gaussian"}
MIXTURES = {"tdm", "kdc", "knn"}

# The models that have each capability; all others lack it.
WHO = {
    protocol.ScoresRows: set(MODELS),
    protocol.KeepsState: set(MODELS),
    protocol.LearnsMore: ADDITIVE | {"dmnb"},
    protocol.Unlearns: ADDITIVE,
    protocol.LearnsOnline: {"dmnb"},
    protocol.LearnsUnlabeled: {"nlhb"},
    protocol.RemembersDocuments: MIXTURES,
    protocol.LeavesOneOut: MIXTURES | {"nb", "gaussian"},
    protocol.LeavesRowsOut: MIXTURES | {"nb", "gaussian"},
    protocol.Retunes: ADDITIVE | {"dmnb", "rtm"},
    protocol.ScoresPath: {"refined"},
    protocol.TellsSources: MIXTURES,
    protocol.TellsDocuments: MIXTURES,
    protocol.HasTree: {"hs", "hm"},
    protocol.TellsNodes: {"nlhb"},
    protocol.MarksWords: {"rtm"},
}


@pytest.mark.parametrize("capability", WHO, ids=lambda c: c.__name__)
def test_models_offer_what_they_can_do_and_nothing_else(capability):
    assert {name for name in MODELS if protocol.offers(make_model(name), capability)} == WHO[capability]


@pytest.fixture(scope="module")
def pool():
    return TextClassifier(time_budget=60).fit(TEXTS, LABELS)


@pytest.fixture(scope="module")
def label_pool():
    return TextClassifier(time_budget=60).fit(TEXTS, [{label} for label in LABELS])


@pytest.mark.parametrize(
    ("ask", "match"),
    [
        (lambda clf: clf.neighbors(TEXTS[:1]), "keeps sums"),
        (lambda clf: clf.unlearn_documents([0]), "keeps sums"),
        (lambda clf: clf.predict_nodes(TEXTS[:1]), "no tree"),
        (lambda clf: clf.word_levels("invoice"), "words by node"),
        (lambda clf: clf.hidden_nodes("billing"), "no hidden nodes"),
        (lambda clf: clf.mark(TEXTS[0]), "words apart"),
        (lambda clf: clf.typicality(TEXTS[:1]), "empty set"),
        (lambda clf: clf.predict(TEXTS[:1], reject=True), "empty set"),
        (lambda clf: clf.unlearn(TEXTS[:1], LABELS[:1]), "all at once"),
    ],
)
def test_a_pool_for_sets_says_what_it_cannot_do(label_pool, ask, match):
    with pytest.raises(ValueError, match=match):
        ask(label_pool)


def test_a_pool_says_that_its_documents_have_no_common_numbers():
    members = [TextClassifier("tdm").fit(TEXTS, LABELS)._pipeline]
    pool = TextClassifier(time_budget=60).fit(TEXTS, LABELS)
    pool.model_.members = members
    with pytest.raises(ValueError, match="use unlearn"):
        pool.unlearn_documents([0])


# Texts are counted and scored once for each question


@pytest.fixture
def counted(monkeypatch):
    """The vectorizers that counted and the encoders that read, in order."""
    calls = []

    def note(cls, name):
        read = getattr(cls, name)

        def noted(self, texts):
            calls.append(id(self))
            return read(self, texts)

        monkeypatch.setattr(cls, name, noted)

    note(Vectorizer, "_transform_rows")
    note(VectorReader, "encode")
    return calls


QUESTIONS = {
    "explain": lambda clf: clf.explain("a word: my invoice"),
    "predict": lambda clf: clf.predict(TEXTS[:5]),
    "predict_proba": lambda clf: clf.predict_proba(TEXTS[:5]),
    "predict_top": lambda clf: clf.predict_top(TEXTS[:5], 2),
    "predict, reject": lambda clf: clf.predict(TEXTS[:5], reject=0.1),
    "predict_top, reject": lambda clf: clf.predict_top(TEXTS[:5], 2, reject=0.1),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_pool_counts_texts_once_for_each_vectorizer(pool, counted, question):
    QUESTIONS[question](pool)
    assert len(set(counted)) == len(pool.model_.vectorizers)
    if question != "explain":  # which counts words again one by one, to tell n-grams by word and new words from others
        assert len(counted) == len(set(counted))


@pytest.mark.parametrize("question", ["explain", "predict", "predict_top"])
@pytest.mark.parametrize("model", ["nb", "tdm"])
def test_a_model_counts_texts_once(counted, model, question):
    clf = TextClassifier(model).fit(TEXTS, LABELS)
    QUESTIONS[question](clf)
    assert len(counted) == 1


def test_a_pool_scores_a_text_once_to_explain_it(pool, monkeypatch):
    sums, calls = type(pool.model_)._sums, []

    def noted(self, texts):
        calls.append(texts)
        return sums(self, texts)

    monkeypatch.setattr(type(pool.model_), "_sums", noted)
    pool.explain(TEXTS[0])
    pool.predict(TEXTS, reject=0.1)
    assert len(calls) == 2


def test_rejection_leaves_other_answers_as_they_are(pool):
    texts = [*TEXTS, "quarterly violin concerto"]
    labels, strange = pool.predict(texts), pool.typicality(texts) < 0.1
    assert strange[-1]
    assert not strange.all()
    rejected = pool.predict(texts, reject=0.1)
    assert rejected.tolist() == [None if s else label for s, label in zip(strange, labels.tolist(), strict=True)]
    top, probabilities = pool.predict_top(texts, 2)
    first, same = pool.predict_top(texts, 2, reject=0.1)
    np.testing.assert_array_equal(same, probabilities)
    np.testing.assert_array_equal(first[:, 1], top[:, 1])
    assert [label is None for label in first[:, 0]] == strange.tolist()
