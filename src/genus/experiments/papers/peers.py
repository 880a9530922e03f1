"""Tuned text classifiers in common use, and tasks to compare them on."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import ComplementNB
from sklearn.svm import LinearSVC

from genus.base.arrays import Int64
from genus.base.labels import Labels
from genus.base.protocol import Samples, Targets
from genus.datasets import Dataset, load_dataset
from genus.errors import DataError
from genus.experiments.harness.settings import Classifier

_TEST_SHARE = 0.3  # of a set that has no test part
_FEW_DOCUMENTS = 4_000  # of a set without a test part: below, it is drawn several times
_N_DRAWS = 5


@dataclass(frozen=True)
class Task:
    """Training texts with labels, test texts, and optionally unlabeled texts.

    Texts made of counts are ``unordered``: their neighbouring words say nothing.
    """

    name: str
    texts: list[str]
    labels: Labels
    test_texts: list[str]
    test_labels: Labels
    unordered: bool = False
    unlabeled: tuple[str, ...] = ()

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """The numbers of words, classes, training and test documents."""
        words = len({word for text in self.texts for word in text.split()})
        return words, len(np.unique(self.labels)), len(self.texts), len(self.test_texts)


def load_tasks(name: str, most: int | None = None) -> list[Task]:
    """The data set's own split; or three tenths drawn for the test, several times if the set is small."""
    try:
        parts = [load_dataset(name, part) for part in ("train", "test")]
        drawn = [tuple(_documents(part) for part in parts)]
    except DataError:
        parts = [load_dataset(name, "all")]
        texts, labels = _documents(parts[0])
        drawn = [
            tuple(([texts[i] for i in part], labels[part]) for part in _drawn(labels, seed))
            for seed in range(_N_DRAWS if len(labels) < _FEW_DOCUMENTS else 1)
        ]
    if most is not None:
        rng = np.random.default_rng(0)
        drawn = [tuple(_some(part, most, rng) for part in pair) for pair in drawn]
        name = f"{name}, {most:,} documents"
    names = [name] if len(drawn) == 1 else [f"{name}, draw {seed}" for seed in range(len(drawn))]
    unordered = parts[0].texts is None
    return [Task(own, *train, *test, unordered) for own, (train, test) in zip(names, drawn, strict=True)]


def load_task(name: str, most: int | None = None) -> Task:
    """The first of them."""
    return load_tasks(name, most)[0]


def _drawn(labels: Labels, seed: int) -> tuple[Int64, Int64]:
    """A stratified split into training and test documents."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    tested = np.diff(np.floor(_TEST_SHARE * np.arange(len(order) + 1) + rng.random())) > 0
    return order[~tested], order[tested]


def _documents(data: Dataset) -> tuple[list[str], Labels]:
    """Texts with one label; counts are words repeated."""
    if data.texts is not None:
        texts = data.texts
    else:
        texts = [" ".join(w for w, n in row.items() for _ in range(int(n))) for row in data.counts or []]
    labels = [label if isinstance(label, list) else [label] for label in data.labels]
    single = [i for i, label in enumerate(labels) if len(label) == 1]
    return [texts[i] for i in single], np.array([str(labels[i][0]) for i in single])


def _some(part: tuple[list[str], Labels], n: int, rng: np.random.Generator) -> tuple[list[str], Labels]:
    chosen = rng.permutation(len(part[0]))[:n]
    return [part[0][i] for i in chosen], part[1][chosen]


def few(task: Task, n: int, seed: int, n_unlabeled: int = 0) -> Task:
    """A number of documents per class, and some of the others without their labels."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(task.labels))
    chosen = np.concatenate([order[task.labels[order] == c][:n] for c in np.unique(task.labels)])
    rest = np.setdiff1d(order, chosen)
    more = tuple(task.texts[i] for i in rng.permutation(rest)[:n_unlabeled])
    name = f"{task.name.partition(', draw ')[0]}, {n} each{', unlabelled' if more else ''}, draw {seed}"
    texts = [task.texts[i] for i in chosen]
    return Task(name, texts, task.labels[chosen], task.test_texts, task.test_labels, task.unordered, more)


class NBSVM(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A linear SVM on the presence of words times their log-count ratios, one class against the rest.

        r = log((p / |p|) / (q / |q|)),    score = sum over words w in d of r_w * ((1 - beta) * mean |v| + beta * v_w)

    with p and q one more than the number of documents in and outside the class that have a word, and v the weights of
    the SVM (Wang and Manning, 2012).
    """

    def __init__(self, C: float = 1.0, beta: float = 0.25) -> None:
        self.C = C
        self.beta = beta

    def fit(self, X: Samples, y: Targets) -> NBSVM:
        X = (X > 0).astype(np.float64)
        self.classes_ = np.unique(y)
        weights, bias = [], []
        for c in self.classes_[-1:] if len(self.classes_) == 2 else self.classes_:
            own = y == c
            p, q = (1 + np.asarray(X[side].sum(axis=0)).ravel() for side in (own, ~own))
            ratio = np.log(p / p.sum()) - np.log(q / q.sum())
            svm = LinearSVC(C=self.C, random_state=0).fit(X @ sparse.diags(ratio), own)
            w = svm.coef_[0]
            weights.append(ratio * ((1 - self.beta) * np.abs(w).mean() + self.beta * w))
            bias.append(svm.intercept_[0])
        self.weights_, self.bias_ = np.array(weights), np.array(bias)
        return self

    def predict(self, X: Samples) -> Labels:
        scores = (X > 0).astype(np.float64) @ self.weights_.T + self.bias_
        best = (scores[:, 0] > 0).astype(int) if len(self.classes_) == 2 else scores.argmax(axis=1)
        answers: Labels = self.classes_[best]
        return answers


Grid = Mapping[str, Sequence[float]]

PEERS: dict[str, tuple[Classifier, Grid]] = {  # and what is chosen of each
    "LinearSVC": (LinearSVC(random_state=0), {"C": [0.03, 0.1, 0.3, 1, 3, 10]}),
    "LogisticRegression": (
        OneVsRestClassifier(LogisticRegression(solver="liblinear")),
        {"estimator__C": [1, 10, 100]},
    ),
    "ComplementNB": (ComplementNB(), {"alpha": [0.03, 0.1, 0.3, 1, 3]}),
    "NBSVM": (NBSVM(), {"C": [0.1, 1], "beta": [0.25, 1]}),
}


class TunedPeer(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A peer on sublinear TF-IDF of words or, for ordered texts, of words and bigrams: chosen by cross-validation."""

    def __init__(self, peer: Classifier, grid: Grid, n_folds: int, n_jobs: int = 1, unordered: bool = False) -> None:
        self.peer = peer
        self.grid = grid
        self.n_folds = n_folds
        self.n_jobs = n_jobs
        self.unordered = unordered

    def fit(self, texts: Sequence[str], labels: Labels, unlabeled: Sequence[str] = ()) -> TunedPeer:
        self.best_score_ = -np.inf
        for ngrams in ((1, 1),) if self.unordered else ((1, 1), (1, 2)):
            words = TfidfVectorizer(sublinear_tf=True, ngram_range=ngrams, min_df=1 if ngrams == (1, 1) else 2)
            try:
                X = words.fit_transform(texts)
            except ValueError:  # nothing is left
                continue
            folds = StratifiedKFold(self.n_folds, shuffle=True, random_state=0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # small classes, and solvers that stop early
                search = GridSearchCV(clone(self.peer), self.grid, cv=folds, n_jobs=self.n_jobs).fit(X, labels)
            if search.best_score_ > self.best_score_:
                self.best_score_, self.best_params_ = (
                    search.best_score_,
                    {"pairs": ngrams[1] - 1, **search.best_params_},
                )
                self.words_, self.model_ = words, search.best_estimator_
        if unlabeled:
            self._learn_own_answers(texts, labels, unlabeled)
        return self

    def _learn_own_answers(self, texts: Sequence[str], labels: Labels, unlabeled: Sequence[str]) -> None:
        """One round of self-training: learn the peer's predictions for unlabeled texts with the others."""
        X, more = self.words_.transform(texts), self.words_.transform(unlabeled)
        answers = np.concatenate([labels, self.model_.predict(more)])
        self.model_.fit(sparse.vstack([X, more]).tocsr(), answers)

    def predict(self, texts: Sequence[str]) -> Labels:
        answers: Labels = self.model_.predict(self.words_.transform(texts))
        return answers
