"""``python -m benchmarks.accuracy``: `TextClassifier()` against linear classifiers and naive Bayes, each tuned.

Everybody sees the training part only. Peers get TF-IDF (sublinear) of words and of words and pairs, and choose
features and settings by five folds; their time includes counting and choosing, as ours does. Every cell is kept in
results/accuracy.json as it is finished, and is not measured again unless ``--again`` is given.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import ComplementNB
from sklearn.svm import LinearSVC

from benchmarks.measure import cores
from genus import TextClassifier
from genus.calibration import expected_calibration_error
from genus.datasets import Dataset, load_dataset
from genus.errors import DataError

RESULTS = Path(__file__).with_name("results") / "accuracy.json"
WEKA = (
    "fbis", "la1s", "la2s", "oh0", "oh10", "oh15", "oh5", "re0", "re1", "tr11", "tr12", "tr23", "tr31", "tr41", "tr45",
    "wap",
)  # fmt: skip
SETS = (
    "webkb-stemmed", "r8-stemmed", "r52-stemmed", "20ng-stemmed", "sentence_polarity", "trec-questions", "ohsumed23",
    "sms_spam", "spamassassin", "ag_news", "cora-abstracts", "gnad10_de", *(f"weka19/{name}" for name in WEKA),
    "imdb", "arxiv_titles",
)  # fmt: skip
N_FOLDS = 5
MOST = {"imdb": 10_000, "arxiv_titles": 60_000}  # documents of a part


@dataclass(frozen=True)
class Task:
    """Texts and classes to learn from, others to be asked, and perhaps texts without labels."""

    name: str
    texts: list[str]
    labels: np.ndarray[Any, Any]
    test_texts: list[str]
    test_labels: np.ndarray[Any, Any]
    unlabeled: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    labels: np.ndarray[Any, Any]
    probabilities: np.ndarray[Any, Any] | None = None  # in the order of the sorted training labels


class NBSVM(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Presence of words times their log-count ratios, one class against the rest (Wang and Manning, 2012)."""

    def __init__(self, C: float = 1.0, beta: float = 0.25) -> None:
        self.C = C
        self.beta = beta

    def fit(self, X: Any, y: Any) -> NBSVM:
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

    def predict(self, X: Any) -> Any:
        scores = (X > 0).astype(np.float64) @ self.weights_.T + self.bias_
        best = (scores[:, 0] > 0).astype(int) if len(self.classes_) == 2 else scores.argmax(axis=1)
        return self.classes_[best]


PEERS: dict[str, tuple[Any, dict[str, list[float]]]] = {
    "LinearSVC": (LinearSVC(random_state=0), {"C": [0.03, 0.1, 0.3, 1, 3, 10]}),
    "LogisticRegression": (
        OneVsRestClassifier(LogisticRegression(solver="liblinear")),
        {"estimator__C": [1, 10, 100]},
    ),
    "ComplementNB": (ComplementNB(), {"alpha": [0.03, 0.1, 0.3, 1, 3]}),
    "NBSVM": (NBSVM(), {"C": [0.1, 1], "beta": [0.25, 1]}),
}


def ask_genus(task: Task) -> Answer:
    clf = TextClassifier(n_jobs=len(cores())).fit(task.texts, task.labels, unlabeled=list(task.unlabeled) or None)
    probabilities = clf.predict_proba(task.test_texts)
    return Answer(clf.classes_[probabilities.argmax(axis=1)], probabilities)


def ask_peer(name: str) -> Callable[[Task], Answer]:
    def ask(task: Task) -> Answer:
        best, labels = -np.inf, task.labels
        for ngrams in ((1, 1), (1, 2)):
            words = TfidfVectorizer(sublinear_tf=True, ngram_range=ngrams, min_df=1 if ngrams == (1, 1) else 2)
            try:
                X, T = words.fit_transform(task.texts), words.transform(task.test_texts)
            except ValueError:  # nothing is left
                continue
            estimator, grid = PEERS[name]
            folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
            search = GridSearchCV(estimator, grid, cv=folds, n_jobs=len(cores())).fit(X, labels)
            if search.best_score_ > best:
                best, answer = search.best_score_, search.predict(T)
                if task.unlabeled:
                    answer = _self_trained(search, words, X, T, task)
        return Answer(answer)

    return ask


def _self_trained(search: Any, words: Any, X: Any, T: Any, task: Task) -> Any:
    """The peer's own labels for the unlabelled texts, learned with the others."""
    more = words.transform(task.unlabeled)
    labels = np.concatenate([task.labels, search.predict(more)])
    return search.best_estimator_.fit(sparse.vstack([X, more]).tocsr(), labels).predict(T)


CONTESTANTS: dict[str, Callable[[Task], Answer]] = {"genus": ask_genus} | {name: ask_peer(name) for name in PEERS}


def load_task(name: str) -> Task:
    """The set's own parts, or three tenths of it as the test part."""
    rng = np.random.default_rng(0)
    try:
        train, test = (_documents(load_dataset(name, part)) for part in ("train", "test"))
    except DataError:
        texts, labels = _documents(load_dataset(name, "all"))
        order = rng.permutation(len(labels))[: 4 * MOST.get(name, len(labels)) // 3]
        cut = int(len(order) * (0.75 if name in MOST else 0.7))
        train, test = ((([texts[i] for i in part]), labels[part]) for part in (order[:cut], order[cut:]))
    if name in MOST:
        train, test = (_some(part, MOST[name], rng) for part in (train, test))
    return Task(name, train[0], train[1], test[0], test[1])


def _documents(data: Dataset) -> tuple[list[str], np.ndarray[Any, Any]]:
    """Texts with one label; counts are words repeated."""
    if data.texts is not None:
        texts = data.texts
    else:
        texts = [" ".join(w for w, n in row.items() for _ in range(int(n))) for row in data.counts or []]
    labels = [label if isinstance(label, list) else [label] for label in data.labels]
    single = [i for i, label in enumerate(labels) if len(label) == 1]
    return [texts[i] for i in single], np.array([str(labels[i][0]) for i in single])


def _some(part: tuple[list[str], Any], n: int, rng: np.random.Generator) -> tuple[list[str], Any]:
    chosen = rng.permutation(len(part[0]))[:n]
    return [part[0][i] for i in chosen], part[1][chosen]


def few(task: Task, n: int, seed: int, n_unlabeled: int) -> Task:
    """So many documents of each class, and some of the others without their labels."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(task.labels))
    chosen = np.concatenate([order[task.labels[order] == c][:n] for c in np.unique(task.labels)])
    rest = np.setdiff1d(order, chosen)
    more = tuple(task.texts[i] for i in rng.permutation(rest)[:n_unlabeled])
    name = f"{task.name}, {n} each{', unlabelled' if more else ''}, draw {seed}"
    return Task(name, [task.texts[i] for i in chosen], task.labels[chosen], task.test_texts, task.test_labels, more)


def measure(task: Task, ask: Callable[[Task], Answer]) -> dict[str, float]:
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small classes, and solvers that stop early
        answer = ask(task)
    facts = {"seconds": time.perf_counter() - begin}
    right = answer.labels == task.test_labels
    facts["accuracy"] = float(right.mean())
    if answer.probabilities is not None:
        classes = np.unique(task.labels)
        known = np.isin(task.test_labels, classes)
        own = np.searchsorted(classes, task.test_labels[known])
        p = answer.probabilities[known, own]
        facts["calibration_error"] = expected_calibration_error(answer.probabilities.max(axis=1), right)
        facts["log_loss"] = float(-np.log(np.maximum(p, 1e-300)).mean())
    return facts


def tables(results: dict[str, dict[str, dict[str, float]]], names: Sequence[str], console: Console) -> None:
    """Accuracy and seconds of every task that all have done, their means, ranks and wins."""
    done = {task: cells for task, cells in results.items() if all(name in cells for name in names)}
    table = Table(title="accuracy (seconds, choosing included)", title_justify="left")
    table.add_column("task")
    for name in (*names, "calibration error"):
        table.add_column(name, justify="right")
    for task, cells in done.items():
        best = max(cells[name]["accuracy"] for name in names)
        shown = [
            f"{'[bold]' if cells[n]['accuracy'] == best else ''}{_cell(cells[n]['accuracy'], cells[n]['seconds'])}"
            for n in names
        ]
        table.add_row(task, *shown, f"{cells['genus'].get('calibration_error', np.nan):.3f}")
    if done:
        accuracy = np.array([[cells[n]["accuracy"] for n in names] for cells in done.values()])
        ranks = (accuracy[:, np.newaxis, :] > accuracy[:, :, np.newaxis] + 1e-9).sum(axis=2) + 1
        wins = (accuracy[:, :1] > accuracy).sum(axis=0)
        seconds = [sum(cells[n]["seconds"] for cells in done.values()) for n in names]
        table.add_section()
        table.add_row(
            "mean", *(f"{100 * a:.2f} ({s:.0f})" for a, s in zip(accuracy.mean(axis=0), seconds, strict=True))
        )
        table.add_row("mean rank", *(f"{r:.2f}" for r in ranks.mean(axis=0)))
        table.add_row("genus is better in", *(f"{w} of {len(done)}" for w in wins))
    console.print(table)


def _cell(accuracy: float, seconds: float) -> str:
    return f"{100 * accuracy:.2f} ({seconds:.0f})"


@click.command()
@click.option("--set", "sets", multiple=True, help="This data set (repeatable); by default all.")
@click.option("--each", multiple=True, type=int, help="So many documents of each class (repeatable), not all.")
@click.option("--draws", default=3, show_default=True, help="How often a few documents are drawn.")
@click.option("--unlabeled", default=0, show_default=True, help="With --each, texts without labels.")
@click.option("--peer", "peers", multiple=True, type=click.Choice(list(PEERS)), help="This peer; by default all.")
@click.option("--again", is_flag=True, help="Measure what was measured before.")
def main(
    sets: tuple[str, ...], each: tuple[int, ...], draws: int, unlabeled: int, peers: tuple[str, ...], again: bool
) -> None:
    """Compare accuracy and the time that choosing a model takes."""
    console = Console(width=None if Console().is_terminal else 160)
    names = ["genus", *(peers or PEERS)]
    results: dict[str, Any] = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    asked = []
    with console.status("") as status:
        for name in sets or SETS:
            status.update(f"loading {name}")
            try:
                whole = load_task(name)
            except DataError as error:
                console.print(f"[yellow]skipped {name}[/]: {error}")
                continue
            tasks = [few(whole, n, seed, unlabeled) for n in each for seed in range(draws)] if each else [whole]
            for task in tasks:
                asked.append(task.name)
                cells = results.setdefault(task.name, {})
                for contestant in names:
                    if again or contestant not in cells:
                        status.update(f"{task.name}: {contestant}")
                        cells[contestant] = measure(task, CONTESTANTS[contestant])
                        RESULTS.parent.mkdir(exist_ok=True)
                        RESULTS.write_text(json.dumps(results, indent=1), "utf-8")
    tables({name: results[name] for name in asked}, names, console)


if __name__ == "__main__":
    main()
