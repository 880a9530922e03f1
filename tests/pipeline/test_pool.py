"""Members of a pool that read texts alike: one vectorizer counts, learns and forgets for all of them."""

from collections import Counter
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest

from genus import MultinomialNB, RefinedNB, TermWeighting, TextClassifier, Vectorizer
from genus.calibration import Temperature, margin
from genus.errors import ModelFileError
from genus.io.model_file import describe_file
from genus.models.document_mixture.models import TiedDocumentMixture
from genus.pipeline.pool import Pool
from genus.pipeline.rejection import Rejection
from genus.pipeline.single import TextPipeline

LABELS = ["billing", "printer", "network"] * 20
WORDS = {
    "billing": ["card", "charged", "invoice", "refund"],
    "printer": ["printer", "paper", "toner", "jam"],
    "network": ["wifi", "router", "signal", "cable"],
}
_RNG = np.random.default_rng(0)
TEXTS = [" ".join([*_RNG.choice(WORDS[label], 3), *_RNG.choice(["my", "is", "not", "the"], 3)]) for label in LABELS]
NEW = ["where is my parcel", "the parcel came late"], ["shipping", "shipping"]


def shared_pool():
    """Three members that count words, each weighing them in its own way, and one that counts characters."""
    words, characters = Vectorizer(), Vectorizer(analyzer="char_wb", ngram_range=(2, 3))
    members = []
    for vectorizer, weighting, model in [
        (words, TermWeighting(tf="log", idf="smooth", norm="l2"), RefinedNB()),
        (characters, TermWeighting(idf="smooth", norm="l2"), RefinedNB()),
        (words, TermWeighting(tf="sqrt", idf="smooth"), TiedDocumentMixture()),
        (words, None, MultinomialNB()),
    ]:
        counts = vectorizer._fit_rows(TEXTS)
        model._fit_rows(counts if weighting is None else weighting._fit_rows(counts), np.array(LABELS), None)
        members.append(TextPipeline(vectorizer, weighting, model))
    temperatures = [Temperature(0.1 * k, -0.1 * k) for k in range(4)]
    rejection = Rejection.fit(np.random.default_rng(0).normal(size=(50, 3)), np.linspace(0.5, 1, 50))
    return Pool.from_members(
        members, temperatures, np.array([0.5, 0.2, 0.1, 0.4]), rejection, pool_temperature=Temperature(0.2, 0.1)
    )


def apart(pool):
    """The same, with a vectorizer for each member."""
    pool = deepcopy(pool)
    pool.members = [replace(member, vectorizer=deepcopy(member.vectorizer)) for member in pool.members]
    return pool


def classifier(pool):
    clf = TextClassifier()
    clf._pipeline, clf.leaderboard_, clf.search_cut_short_ = pool, [], False
    return clf


@pytest.fixture
def calls(monkeypatch):
    """How often texts are counted, and learned, by vectorizers."""
    counted = Counter()
    for name in ("_count", "_add_words"):
        method = getattr(Vectorizer, name)

        def counting(self, *args, name=name, method=method):
            counted[name] += 1
            return method(self, *args)

        monkeypatch.setattr(Vectorizer, name, counting)
    return counted


def test_texts_are_counted_once_for_all_members_that_read_alike(calls):
    clf = classifier(shared_pool())
    calls.clear()
    for n, ask in enumerate((clf.predict, clf.predict_proba, clf.predict_top, clf.typicality), start=1):
        ask(TEXTS)
        assert calls == {"_count": 2 * n}
    clf.partial_fit(*NEW)
    assert calls == {"_count": 10, "_add_words": 2}
    clf.unlearn(*NEW)
    assert calls == {"_count": 12, "_add_words": 2}


@pytest.mark.parametrize("change", ["nothing", "partial_fit", "unlearn", "saved"])
def test_members_answer_as_if_each_had_a_vectorizer_of_its_own(change, tmp_path):
    shared = classifier(shared_pool())
    own = classifier(apart(shared_pool()))
    for clf in (shared, own):
        if change != "nothing":
            clf.partial_fit(*NEW)
        if change == "unlearn":
            clf.unlearn(*NEW)
    if change == "saved":
        shared.save(tmp_path / "pool.genus")
        shared = TextClassifier.load(tmp_path / "pool.genus")
        assert len(shared.model_.vectorizers) == 2
        for clf in (shared, own):
            clf.partial_fit(["another parcel of toner"], ["shipping"])
    texts = [*TEXTS, *NEW[0], "", "unheard"]
    np.testing.assert_array_equal(shared.predict_log_proba(texts), own.predict_log_proba(texts))
    np.testing.assert_array_equal(shared.predict(texts), own.predict(texts))
    np.testing.assert_array_equal(shared.typicality(texts), own.typicality(texts))
    assert str(shared.explain(texts[0])) == str(own.explain(texts[0]))
    for mine, theirs in zip(shared.model_.members, own.model_.members, strict=True):
        assert mine.vectorizer.vocabulary_ == theirs.vectorizer.vocabulary_
        assert mine.model.n_features_in_ == len(mine.vectorizer.vocabulary_)


def test_words_that_nobody_else_has_are_forgotten_by_all():
    pool = shared_pool()
    before = [member.vectorizer.vocabulary_ for member in pool.members]
    clf = classifier(pool).partial_fit(*NEW)
    assert "parcel" in clf.vectorizer_.vocabulary_
    clf.unlearn(*NEW)
    assert [member.vectorizer.vocabulary_ for member in clf.model_.members] == before
    assert [member.vectorizer.vocabulary_ for member in pool.members] == before  # as it was for those who ask it


def test_a_refused_text_is_unlearned_by_nobody():
    clf = classifier(shared_pool())
    before = clf.predict_log_proba(TEXTS)
    for text, label in (("strangers", "billing"), (TEXTS[0], "printer")):
        with pytest.raises(ValueError, match=r"never learned|was not learned|not learned"):
            clf.unlearn([text], [label])
    np.testing.assert_array_equal(clf.predict_log_proba(TEXTS), before)


def test_texts_may_come_one_by_one():
    clf = classifier(shared_pool())
    np.testing.assert_array_equal(clf.predict(iter(TEXTS)), clf.predict(TEXTS))


def test_a_file_holds_each_vocabulary_once(tmp_path):
    classifier(shared_pool()).save(tmp_path / "pool.genus")
    arrays = describe_file(tmp_path / "pool.genus")["arrays"]
    assert sum(name.endswith("/words.utf8") for name in arrays) == 2


def test_choosing_gives_members_of_one_view_one_vectorizer():
    clf = TextClassifier(vectorizer=Vectorizer(), vectors=None).fit(TEXTS, LABELS)
    assert len(clf.model_.members) > 1
    assert len(clf.model_.vectorizers) == 1


def test_the_order_of_classes_does_not_hang_on_sharpness():
    pool = shared_pool()
    sharp = pool.scores(TEXTS)[0]
    np.testing.assert_array_equal(pool.answers(TEXTS), pool.classes_[sharp.argmax(axis=1)])
    pool.prior_corrections = {"billing": 50.0}
    assert set(pool.answers(TEXTS)) == {"billing"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda state: state.pop("views"), "counted texts anew for each member; train it again"),
        (lambda state: state["members"][0].update(vectorizer=2), "do not belong together"),
        (lambda state: state["members"][0].update(vectorizer=-1), "do not belong together"),
        (lambda state: state["members"][0].update(vectorizer=True), "do not belong together"),
        (lambda state: state["members"][0].pop("vectorizer"), "no 'vectorizer'"),
        (lambda state: state.update(views="x"), "do not belong together"),
        (lambda state: state.update(views=["x", "y"]), "a vectorizer and a model were expected"),
    ],
)
def test_a_pool_whose_vectorizers_are_missing_is_refused(change, message, tmp_path, monkeypatch):
    clf = classifier(shared_pool())
    state = clf.model_._get_state()
    change(state)
    monkeypatch.setattr(Pool, "_get_state", lambda self: state)
    clf.save(tmp_path / "damaged.genus")
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match=message):
        TextClassifier.load(tmp_path / "damaged.genus")


def test_impossible_classes_have_no_part_in_a_lead():
    np.testing.assert_array_equal(margin(np.array([[3.0, 1.0, 2.0], [0.0, 4.0, 2.0]])), [1.0, 2.0])
    np.testing.assert_array_equal(margin(np.array([[3.0, 1.0, 2.0], [0.0, 4.0, -np.inf]])), [1.0, 2.0])


def test_answers_from_rough_scores_are_those_of_the_exact_ones(monkeypatch):
    pool = shared_pool()
    texts = TEXTS * 3 + ["", "the", "is not", "card printer wifi"] * 5
    exact = pool.classes_[pool._sums(pool._counted(texts)).argmax(axis=1)]
    for member in pool.members:
        if not isinstance(member.model, TiedDocumentMixture):
            member.model._parameters._quantized.make(2)
    scored, sums = [], Pool._sums

    def counting(self, counted):
        scored.append(counted[0].rows.n_rows)
        return sums(self, counted)

    monkeypatch.setattr(Pool, "_sums", counting)
    np.testing.assert_array_equal(pool.answers(texts), exact)
    assert sum(scored) < len(texts)  # not all a second time


def test_texts_whose_classes_are_too_near_for_rough_scores_are_scored_again():
    """Two classes of the same documents: every answer is a draw, but for rounding."""
    pool = shared_pool()
    member = pool.members[0]
    labels = np.array(LABELS + ["also " + label for label in LABELS])
    counts = member.vectorizer._transform_rows(TEXTS * 2)[0]
    refined, plain = RefinedNB(tolerance=1e-9), MultinomialNB()
    for model in (refined, plain):
        model._fit_rows(counts, labels, None)
    pool.members = [TextPipeline(member.vectorizer, None, refined), TextPipeline(member.vectorizer, None, plain)]
    pool.temperatures, pool.weights = pool.temperatures[:2], pool.weights[:2]
    exact = pool._sums(pool._counted(TEXTS))
    for part in pool.members:
        part.model._parameters._quantized.make(2)
    total, distances = np.zeros_like(exact), np.zeros(len(TEXTS))
    refined._add_scores(pool._counted(TEXTS)[0].rows, np.ones(len(TEXTS)), total, distances)
    assert (np.diff(np.sort(total), axis=1)[:, -1] <= distances).all()
    np.testing.assert_array_equal(pool.answers(TEXTS), pool.classes_[exact.argmax(axis=1)])
