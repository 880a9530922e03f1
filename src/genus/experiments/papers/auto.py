"""`TextClassifier()` with its defaults, which selects a model, compared with tuned linear classifiers and naive Bayes.

This table is not from a paper. Every system sees the training documents only. The peers get sublinear TF-IDF,

    x_dw = (1 + ln count_dw) * idf_w,    idf_w = ln((1 + M) / (1 + df_w)) + 1,    rows of norm 1,

of words or of words and bigrams, and choose features and settings by cross-validation. Times include counting and
selection, for the peers as for genus.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from genus.classifier.text_classifier import TextClassifier
from genus.experiments.harness.settings import Trials
from genus.experiments.harness.table import Experiment, Measured, Row, System
from genus.experiments.pages.findings import AUTO
from genus.experiments.papers.peers import PEERS, Task, TunedPeer, few, load_tasks


@dataclass(frozen=True)
class Settings:
    folds: int = 5  # of the peers' choice, as of ours
    parts: int = 5  # drawn for the test from a small set
    draws: int = 3  # of a few documents of each class


QUICK = Settings(parts=2, draws=1)

TEXTS = (
    "webkb-stemmed", "r8-stemmed", "r52-stemmed", "20ng-stemmed", "sentence_polarity", "trec-questions", "ohsumed23",
    "sms_spam", "spamassassin", "ag_news", "cora-abstracts", "gnad10_de", "imdb", "arxiv_titles",
)  # fmt: skip
COUNTS = tuple(
    f"weka19/{name}"
    for name in (
        "fbis", "la1s", "la2s", "oh0", "oh10", "oh15", "oh5", "re0", "re1", "tr11", "tr12", "tr23", "tr31", "tr41",
        "tr45", "wap",
    )
)  # fmt: skip
MOST = {"20ng-stemmed": 5_000, "imdb": 5_000, "arxiv_titles": 6_000, "ohsumed23": 4_000}  # documents of a part
FEW = (5, 10, 20)
FEW_SETS = (
    "webkb-stemmed",
    "r8-stemmed",
    "sentence_polarity",
    "trec-questions",
    "ag_news",
    "cora-abstracts",
    "gnad10_de",
)
QUICK_SETS = ("trec-questions", "cora-abstracts", "weka19/oh5")


@dataclass(frozen=True)
class Problem:
    """The tasks of a data set: one for each drawn test part, or several draws of a few documents per class."""

    whole: tuple[Task, ...]
    each: int | None = None

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        return next(self.tasks(Settings())).sizes

    def tasks(self, settings: Settings) -> Iterator[Task]:
        if self.each is None:
            yield from self.whole[: settings.parts]
            return
        for seed in range(settings.draws):
            yield few(self.whole[0], self.each, seed)


@lru_cache(maxsize=1)
def _tasks(name: str) -> tuple[Task, ...]:
    return tuple(load_tasks(name, MOST.get(name)))


def load(name: str, each: int | None = None) -> Problem:
    return Problem(_tasks(name), each)


def measure(name: str, problem: Problem, settings: Settings) -> Measured:
    trials = Trials()
    for task in problem.tasks(settings):
        texts, asked = (np.array(part, dtype=object) for part in (task.texts, task.test_texts))
        model = _make(name, task, settings)
        trials.add(model, texts, task.labels, asked, task.test_labels)
    if name == "genus":
        return trials.measured(None, {"search cut short": int(model.search_cut_short_)})
    params = {setting.split("__")[-1]: value for setting, value in model.best_params_.items()}
    return trials.measured(model.best_score_, params)


def _make(name: str, task: Task, settings: Settings) -> Any:
    if name == "genus":
        return TextClassifier()
    return TunedPeer(*PEERS[name], settings.folds, unordered=task.unordered)


def rows(quick: bool) -> list[Row]:
    names = QUICK_SETS if quick else TEXTS + COUNTS
    made = [Row(name, "all documents", partial(load, name), note=_note(name), data=(name,)) for name in names]
    return made + [
        Row(f"{name}, {n} of each class", "few documents", partial(load, name, n), data=(name,))
        for name in FEW_SETS
        if name in names
        for n in FEW
    ]


def _note(name: str) -> str:
    return f"{MOST[name]:,} documents of each part drawn" if name in MOST else ""


def experiment(quick: bool = False) -> Experiment:
    s = QUICK if quick else Settings()
    return Experiment(
        name="auto",
        title="TextClassifier() compared with tuned classifiers" + (", quick: some of the sets" if quick else ""),
        source="genus",
        metric="Accuracy in percent",
        protocol="The published split, or a random test set of three tenths of each class; for sets below 4,000 "
        f"documents {s.parts} random splits, with means and standard deviations. Documents with one label. genus: "
        "TextClassifier() with its defaults. Rivals: sublinear TF-IDF of words, or of words and word pairs, chosen "
        f"together with C or alpha by {s.folds}-fold cross-validation on the training set: LinearSVC and "
        "one-versus-rest logistic regression (liblinear), complement naive Bayes, NBSVM. A few documents of each "
        f"class: means over {s.draws} random draws.",
        rows=rows(quick),
        systems=[System(name, partial(measure, name)) for name in ("genus", *PEERS)],
        settings=s,
        baseline="LinearSVC",
        improved="genus",
        findings=AUTO,
    )
