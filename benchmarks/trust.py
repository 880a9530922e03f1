"""``python -m benchmarks.trust``: do probabilities mean what they say, and are strangers told from the known?

`TextClassifier()` as it comes beside classifiers on TF-IDF (sublinear) whose probabilities are calibrated: LinearSVC on
words and pairs by a sigmoid over five folds, logistic regression on words with its cost chosen for log loss by three.
Strangers are texts of newsgroups that were hidden in training; the peer goes by its largest probability.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from benchmarks.measure import cores
from genus import TextClassifier
from genus.calibration import expected_calibration_error
from genus.experiments.papers.peers import Task, load_task

SETS = (
    "webkb-stemmed", "r8-stemmed", "r52-stemmed", "20ng-stemmed", "ohsumed23", "sentence_polarity", "sms_spam",
    "spamassassin", "ag_news", "gnad10_de", "imdb", "arxiv_titles",
)  # fmt: skip
LEAST = 1_000  # test documents, below which a calibration error says little
NEWSGROUPS = "20ng-stemmed"
N_HIDDEN = 5
N_FOLDS = 5  # of the SVM's sigmoid


def contestants(unordered: bool) -> dict[str, Any]:
    def on_words(classifier: Any, longest: int = 1) -> Any:
        counter = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, longest), token_pattern=r"\w+")
        return make_pipeline(counter, classifier)

    return {
        "genus": TextClassifier(n_jobs=len(cores())),
        "LinearSVC, sigmoid": on_words(
            CalibratedClassifierCV(LinearSVC(random_state=0), cv=N_FOLDS), 1 if unordered else 2
        ),
        "LogisticRegression": GridSearchCV(
            on_words(LogisticRegression(max_iter=300)),
            {"logisticregression__C": [3, 30, 300]}, scoring="neg_log_loss", cv=3, n_jobs=len(cores()),
        ),
    }  # fmt: skip


def trust(task: Task, clf: Any) -> dict[str, float]:
    begin = time.perf_counter()
    probabilities = clf.fit(task.texts, task.labels).predict_proba(task.test_texts)
    classes = np.unique(task.labels)
    right = classes[probabilities.argmax(axis=1)] == task.test_labels
    known = np.isin(task.test_labels, classes)
    own = probabilities[known, np.searchsorted(classes, task.test_labels[known])]
    return {
        "ECE": expected_calibration_error(probabilities.max(axis=1), right),
        "log loss": float(-np.log(np.maximum(own, 1e-15)).mean()),
        "accuracy": float(right.mean()),
        "seconds": time.perf_counter() - begin,
    }


def calibratable(task: Task) -> Task:
    """Without the classes that have fewer than five documents to learn from: the peers take none of them."""
    classes, sizes = np.unique(task.labels, return_counts=True)
    train, test = (np.isin(part, classes[sizes >= N_FOLDS]) for part in (task.labels, task.test_labels))
    return replace(
        task,
        texts=[text for text, kept in zip(task.texts, train, strict=True) if kept],
        labels=task.labels[train],
        test_texts=[text for text, kept in zip(task.test_texts, test, strict=True) if kept],
        test_labels=task.test_labels[test],
    )


def strangers(seed: int, most: int) -> dict[str, float]:
    """The area under the curve of the known among the strangers, where five newsgroups are hidden."""
    task = load_task(NEWSGROUPS)
    rng = np.random.default_rng(seed)
    hidden = rng.permutation(np.unique(task.labels))[:N_HIDDEN]
    train = rng.permutation(np.flatnonzero(~np.isin(task.labels, hidden)))[:most]
    test = rng.permutation(len(task.test_labels))[: most * 3 // 5]
    texts, labels = [task.texts[i] for i in train], task.labels[train]
    asked, is_known = [task.test_texts[i] for i in test], ~np.isin(task.test_labels[test], hidden)
    genus, peer = (contestants(unordered=False)[name] for name in ("genus", "LinearSVC, sigmoid"))
    return {
        "genus": roc_auc_score(is_known, genus.fit(texts, labels).typicality(asked)),
        "LinearSVC, sigmoid": roc_auc_score(is_known, peer.fit(texts, labels).predict_proba(asked).max(axis=1)),
    }


def show(console: Console, title: str, rows: dict[str, Sequence[float]], columns: Sequence[str]) -> None:
    table = Table("", *columns, title=title, title_justify="left")
    for name, numbers in rows.items():
        table.add_row(name, *(f"{number:.4f}" for number in numbers))
    if rows:
        table.add_section()
        table.add_row("mean", *(f"{number:.4f}" for number in np.mean(list(rows.values()), axis=0)))
    console.print(table)


@click.command(help=__doc__.split("\n", maxsplit=1)[0].partition(": ")[2])
@click.option("--only", multiple=True, help="This set (repeatable).")
@click.option("--most", default=5_000, help="Documents of a part.", show_default=True)
@click.option("--seeds", default="0,1,2,3", help="Draws of hidden newsgroups.", show_default=True)
def main(only: tuple[str, ...], most: int, seeds: str) -> None:
    console = Console()
    found: dict[str, dict[str, dict[str, float]]] = {}
    warnings.simplefilter("ignore")  # small classes, and solvers that stop early
    for name in only or SETS:
        task = calibratable(load_task(name, most))
        if len(task.test_labels) < LEAST:
            console.print(f"{name}: {len(task.test_labels)} test documents, left out")
            continue
        found[name] = {who: trust(task, clf) for who, clf in contestants(task.unordered).items()}
        told = "; ".join(f"{who} {facts['ECE']:.3f}, {facts['log loss']:.3f}" for who, facts in found[name].items())
        console.print(f"{name}: ECE and log loss: {told}")
    for measure in ("ECE", "log loss", "accuracy", "seconds"):
        rows = {name: [facts[measure] for facts in cells.values()] for name, cells in found.items()}
        show(console, measure, rows, list(contestants(False)))
    areas = {f"draw {seed}": list(strangers(int(seed), most).values()) for seed in seeds.split(",") if seed}
    show(console, "strangers: area under the curve", areas, ["genus", "LinearSVC, sigmoid"])


if __name__ == "__main__":
    main()
