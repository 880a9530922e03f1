"""Threads that ask while others learn: what is read is replaced, not changed, and nothing is lost."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import numpy as np
import pytest

from genus import TextClassifier, _registry

SUBJECTS = {"sport": "goal match team won cup", "money": "bank stock shares fell profit", "sea": "wave wind boat sail"}
FIRST = [(f"{words} {i}", label) for i in range(6) for label, words in SUBJECTS.items()]
MORE = [
    [(f"{' '.join(words.split()[k % 3 :])} new{k}{label} {k}", label) for k in range(w, 40, 2) for label, words in
     SUBJECTS.items()]
    for w in range(2)
]  # fmt: skip
ASKED = ["the team won a match", "the bank and its profit", "wind and wave", "unknown words alone"]


def _additive() -> list[str]:
    found = [name for name, cls in _registry.MODELS.items() if hasattr(_registry.load_class(cls), "unlearn")]
    return [name for name in found if hasattr(_registry.load_class(_registry.MODELS[name])(), "_unlearn_rows")]


ADDITIVE = [name for name in _additive() if name != "gaussian"]  # this one needs vectors


@pytest.fixture(autouse=True)
def threads_that_change_often() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def while_others_ask(clf: TextClassifier, writers: list[Callable[[], None]], n_readers: int = 8) -> int:
    """Run writers while readers ask; how often these were answered. Raises what any of them raises."""
    done = Event()

    def ask() -> int:
        n = 0
        while not done.is_set() or n == 0:
            log_proba = clf.predict_log_proba(ASKED)
            np.testing.assert_allclose(np.exp(log_proba).sum(axis=1), 1)
            answers = clf.predict(ASKED)
            assert set(answers.tolist()) <= {*SUBJECTS, "tea"}
            clf.explain(ASKED[0])
            clf.top_words("sport", 3)
            n += 1
        return n

    with ThreadPoolExecutor(n_readers + len(writers)) as threads:
        asking = [threads.submit(ask) for _ in range(n_readers)]
        try:
            for learning in [threads.submit(writer) for writer in writers]:
                learning.result()
        finally:
            done.set()
        return sum(reader.result() for reader in asking)


def learner(clf: TextClassifier, documents: list[tuple[str, str]]) -> Callable[[], None]:
    """Learns documents, some of them twice to unlearn them again, and a class that comes and goes."""

    def learn() -> None:
        for i in range(0, len(documents), 4):
            texts, labels = map(list, zip(*documents[i : i + 4], strict=True))
            clf.partial_fit(texts, labels)
            clf.partial_fit([*texts[:1], f"a cup of tea {texts[0]}"], [labels[0], "tea"])
            clf.unlearn([*texts[:1], f"a cup of tea {texts[0]}"], [labels[0], "tea"])

    return learn


def expected(make: Callable[[], Any]) -> TextClassifier:
    every = [*FIRST, *MORE[0], *MORE[1]]
    clf: TextClassifier = make().fit(*map(list, zip(*FIRST, strict=True)))
    return clf.partial_fit(*map(list, zip(*every[len(FIRST) :], strict=True)))


@pytest.mark.parametrize("model", ADDITIVE)
@pytest.mark.slow
def test_readers_and_writers_at_once_end_where_learning_in_turn_ends(model: str) -> None:
    clf = TextClassifier(model).fit(*map(list, zip(*FIRST, strict=True)))
    assert while_others_ask(clf, [learner(clf, documents) for documents in MORE]) >= 8
    turn = expected(lambda: TextClassifier(model))
    assert clf.receipt_ == turn.receipt_
    np.testing.assert_array_equal(clf.model_.class_count_, turn.model_.class_count_)
    # Words have other columns, in whose order scores are summed up: see the promise in the guide.
    tolerance = 0.2 if model == "refined" else 1e-9
    np.testing.assert_allclose(clf.predict_proba(ASKED), turn.predict_proba(ASKED), rtol=tolerance, atol=tolerance)


def test_a_pool_learns_while_others_ask() -> None:
    clf = TextClassifier(vectors=None).fit(*map(list, zip(*FIRST, strict=True)))
    assert while_others_ask(clf, [learner(clf, documents[:24]) for documents in MORE]) >= 8
    every = [*FIRST, *MORE[0][:24], *MORE[1][:24]]
    count = {label: sum(own == label for _, own in every) for label in SUBJECTS}
    for member in clf.model_.members:
        assert dict(zip(member.classes_.tolist(), member.model.class_count_.tolist(), strict=True)) == count
    assert clf.receipt_ is not None
    assert clf.receipt_.n_documents == len(every)


def test_an_online_model_loses_no_document() -> None:
    clf = TextClassifier("dmnb").fit(*map(list, zip(*FIRST, strict=True)))

    def stream(documents: list[tuple[str, str]]) -> Callable[[], None]:
        return lambda: [clf.learn_one(*document) for document in documents] and None

    while_others_ask(clf, [stream(documents) for documents in MORE])
    assert clf.model_.class_count_.sum() == len(FIRST) + len(MORE[0]) + len(MORE[1])


def test_a_refused_text_changes_nothing_for_others() -> None:
    clf = TextClassifier("nb").fit(*map(list, zip(*FIRST, strict=True)))
    before, words = clf.predict_log_proba(ASKED), clf.vectorizer_.n_columns_
    with pytest.raises(ValueError, match="kind learned so far"):
        clf.partial_fit(["words never heard before"], [1])
    assert clf.vectorizer_.n_columns_ == words
    np.testing.assert_array_equal(clf.predict_log_proba(ASKED), before)
