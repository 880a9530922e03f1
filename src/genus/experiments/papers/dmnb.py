"""Tables 5 to 7 and figures 2, 4 and 5 of discriminative multinomial naive Bayes, measured again.

Discriminative Multinominal Naive Bayes for Text Classification. Five systems on the two largest classes of the 19
text sets of WEKA, of which 16 are available, and on all classes of the same sets. Every score is a mean over k
repetitions and folds of stratified cross-validation. Two systems are compared by the corrected resampled t-test on the
differences of their scores, with mean m and variance s²:

    t = m / sqrt((1/k + n_test / n_train) * s²)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from typing import Any, Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, StratifiedShuffleSplit
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import ComplementNB
from sklearn.svm import LinearSVC

from genus.base.arrays import Int64
from genus.base.protocol import Samples
from genus.datasets import load_dataset
from genus.experiments.harness.settings import Classifier, Trials
from genus.experiments.harness.table import Experiment, Measured, Row, System
from genus.experiments.pages.findings import DMNB
from genus.experiments.papers.dmnb_figures import plots
from genus.experiments.papers.dmnb_paper import FEW, FOLDERS, SYSTEMS, TABLE_1, TABLE_5, TABLE_6, TABLE_7
from genus.models.discriminative.model import DiscriminativeNB
from genus.models.naive_bayes import MultinomialNB
from genus.text.vectorizer import Vectorizer


@dataclass(frozen=True)
class Settings:
    seed: int = 0
    repeats: int = 5  # of cross-validation with two classes; once with all
    folds: int = 10
    samples: int = 50  # of a few training documents, for figure 4; the paper has 1000


QUICK = Settings(repeats=1, folds=5, samples=5)
QUICK_SETS = ("Oh5", "Re0", "Tr23")
GROWTH = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 700_000)


# Systems

# What DMNB* chooses from, on training documents alone.
CHOICES = {"n_passes": [1, 5], "binary": [True, False]}

MAKERS: Mapping[str, Callable[[], Classifier]] = {
    "DMNB": lambda: DiscriminativeNB(random_state=0),
    "DMNB*": lambda: GridSearchCV(DiscriminativeNB(random_state=0), CHOICES, cv=3),
    "text": lambda: DiscriminativeNB(variant="paper", binary=False, random_state=0),
    "MNB": lambda: MultinomialNB(),
    "CNB": lambda: ComplementNB(),
    "LR": lambda: OneVsRestClassifier(LogisticRegression(solver="liblinear", tol=0.01)),
    "SMO": lambda: LinearSVC(C=1.0, random_state=0),
}
TABLES = frozenset({"accuracy", "F-measure", "AUC", "all classes"})


def systems() -> list[System]:
    quick_ones = {"DMNB": None, "MNB": None}
    few = {"DMNB", "MNB", "LR", "SMO"}
    return [
        System(
            name, partial(_measure, name), quick_ones.get(name, TABLES | ({"few documents"} if name in few else set()))
        )
        for name in MAKERS
    ]


def _measure(system: str, problem: Problem, settings: Settings) -> Measured:
    return problem.measure(system, settings)


# Problems


class Problem(Protocol):
    @property
    def sizes(self) -> tuple[int, int, int, int]: ...

    def measure(self, system: str, settings: Settings) -> Measured: ...


@dataclass(frozen=True)
class Documents:
    """Counts, the number of each document's class, and which of two classes is the positive one."""

    X: Samples
    y: Int64
    positive: int

    @property
    def n_classes(self) -> int:
        return int(self.y.max()) + 1

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        return self.X.shape[1], self.n_classes, self.X.shape[0], 0


@cache
def load(name: str, two: bool) -> Documents:
    """A set with its two largest classes, or with all that have a document for every fold."""
    data = load_dataset(*_data(name))
    labels = np.array(data.labels)
    classes, sizes = np.unique(labels, return_counts=True)
    classes = classes[np.sort(np.argsort(-sizes, kind="stable")[:2])] if two else classes[sizes >= 10]
    kept = np.flatnonzero(np.isin(labels, classes))
    y = np.searchsorted(classes, labels[kept]).astype(np.int64)
    # The paper does not name its positive class, but how large it is.
    positive = int(np.argmin(np.abs(np.bincount(y)[:2] / len(y) - TABLE_1[name][3])))
    return Documents(data.matrix()[0][kept], y, positive)


@dataclass(frozen=True)
class Validation:
    """A row of tables 5, 6 or 7: one of three scores by cross-validation."""

    name: str
    two: bool
    score: str

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        return load(self.name, self.two).sizes

    def measure(self, system: str, settings: Settings) -> Measured:
        return _validated(system, self.name, self.two, settings)[self.score].measured()


@cache
def _validated(system: str, name: str, two: bool, settings: Settings) -> dict[str, Trials]:
    """All three scores of a system, measured once."""
    documents = load(name, two)
    seeds = range(settings.seed, settings.seed + (settings.repeats if two else 1))
    splits = (StratifiedKFold(settings.folds, shuffle=True, random_state=seed) for seed in seeds)
    return _tried(system, documents, (pair for split in splits for pair in split.split(documents.X, documents.y)))


def _tried(system: str, documents: Documents, pairs: Iterable[tuple[Int64, Int64]]) -> dict[str, Trials]:
    """Accuracy, and with two classes F-measure and AUC, over pairs of training and test documents."""
    X, y, positive = documents.X, documents.y, documents.positive
    timed = Trials()
    accuracy, f_measure, auc = (replace(timed, scores=[]) for _ in range(3))
    for train, test in pairs:
        estimator, truth = MAKERS[system](), y[test] == positive
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # liblinear may stop at its limit of iterations
            answers = timed.answers(estimator, X[train], y[train], X[test])
        accuracy.scores.append(float(np.mean(answers == y[test])))
        if documents.n_classes == 2:
            f_measure.scores.append(float(f1_score(truth, answers == positive, zero_division=0)))
        if documents.n_classes == 2 and truth.any() and not truth.all():
            auc.scores.append(float(roc_auc_score(truth, _scores(estimator, X[test], positive))))
    return {"accuracy": accuracy, "f_measure": f_measure, "auc": auc}


def _scores(estimator: Any, X: Samples, positive: int) -> Any:
    """Scores that increase with the odds of the positive class."""
    if hasattr(estimator, "decision_function"):
        return estimator.decision_function(X) * (1 if positive == 1 else -1)
    log_proba = estimator.predict_log_proba(X)
    return log_proba[:, positive] - log_proba[:, 1 - positive]


@dataclass(frozen=True)
class FewDocuments:
    """A point of figure 4: trained on a few documents, tested on all others, repeated many times."""

    name: str
    n: int

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        n_words, n_classes, n_documents, _ = load(self.name, True).sizes
        return n_words, n_classes, self.n, n_documents - self.n

    def measure(self, system: str, settings: Settings) -> Measured:
        documents = load(self.name, True)
        split = StratifiedShuffleSplit(settings.samples, train_size=self.n, random_state=settings.seed)
        return _tried(system, documents, split.split(documents.X, documents.y))["accuracy"].measured()


@dataclass(frozen=True)
class Growing:
    """How training grows with the documents: titles of articles in the arXiv, 172 classes."""

    n: int

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        X, y = _titles()
        return X.shape[1], int(y[: self.n].max()) + 1, self.n, 5000

    def measure(self, system: str, settings: Settings) -> Measured:
        X, y = _titles()
        trials = Trials()
        trials.add(MAKERS[system](), X[: self.n], y[: self.n], X[-5000:], y[-5000:])
        return trials.measured()


@lru_cache(maxsize=1)
def _titles() -> tuple[Samples, Int64]:
    data = load_dataset("arxiv_titles")
    assert data.texts is not None
    order = np.random.default_rng(0).permutation(len(data.texts))
    X = Vectorizer(dtype=np.float32).fit_transform([data.texts[i] for i in order])
    return X, np.unique(np.array(data.labels)[order], return_inverse=True)[1].astype(np.int64)


# The table


def rows(quick: bool) -> list[Row]:
    names = QUICK_SETS if quick else tuple(TABLE_1)
    tables = (
        ("", "accuracy", TABLE_5, "accuracy"),
        (" F", "F-measure", TABLE_6, "f_measure"),
        (" AUC", "AUC", TABLE_7, "auc"),
    )
    made = [
        Row(
            f"{name}{suffix}",
            task,
            partial(_checked, Validation(name, True, score)),
            dict(zip(SYSTEMS, table[name], strict=True)),
            _sizes(name),
            data=_data(name),
        )
        for suffix, task, table, score in tables
        for name in names
    ]
    made += [
        Row(f"{name} all", "all classes", partial(_checked, Validation(name, False, "accuracy")), data=_data(name))
        for name in names
    ]
    made += [
        Row(f"{name}, {n}", "few documents", partial(_checked, FewDocuments(name, n)), data=_data(name))
        for name in names
        for n in FEW
        if n < TABLE_1[name][0] - 1
    ]
    growth = () if quick else GROWTH
    return made + [
        Row(f"arXiv titles, {n:,}", "growth", partial(_checked, Growing(n)), data=("arxiv_titles",)) for n in growth
    ]


def _data(name: str) -> tuple[str]:
    return (f"weka19/{FOLDERS[name]}",)


def _sizes(name: str) -> tuple[int, int, int, int]:
    n_documents, n_words = TABLE_1[name][:2]
    return n_words - 1, 2, n_documents, 0


def _checked(problem: Problem) -> Problem:
    _ = problem.sizes  # raises where the data are not there
    return problem


def _shared(row: Row, system: System) -> tuple[str, str]:
    """The three scores of a data set are measured together."""
    return row.name.removesuffix(" F").removesuffix(" AUC"), system.name


def experiment(quick: bool = False) -> Experiment:
    settings = QUICK if quick else Settings()
    s = settings
    return Experiment(
        name="dmnb",
        title="Discriminative multinomial naive Bayes: tables 5 to 7" + (", quick: some of its sets" if quick else ""),
        source="Discriminative Multinominal Naive Bayes for Text Classification",
        metric="Accuracy, F-measure of the positive class (F) and area under the ROC curve (AUC), in percent",
        protocol=f"{s.repeats} x {s.folds}-fold stratified cross-validation over the two largest classes, once over "
        "all (all). DMNB*: passes, and "
        "words present or counted, chosen on training documents; text: the paper's Algorithm 1 to the letter; SMO: "
        f"LinearSVC with C = 1. Figure 4: {s.samples} samples (the paper: 1000). Seed {s.seed}.",
        rows=rows(quick),
        systems=systems(),
        settings=settings,
        baseline="MNB",
        improved="DMNB",
        tested=frozenset({"accuracy"}),
        plots=plots,
        shared=_shared,
        tests_by_training=1 / (s.folds - 1),
        findings=DMNB,
    )
