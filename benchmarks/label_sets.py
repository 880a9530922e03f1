"""``python -m benchmarks.label_sets``: sets of labels by `TextClassifier()`, one LinearSVC for each label, and omikuji.

The peers get TF-IDF (sublinear) of words. LinearSVC chooses C and one threshold for all margins by five folds; omikuji,
three trees of labels as its authors set them, one threshold by a held-out fifth. Both give the best label where none
passes, all for the mean F1 of documents, as genus does. Seconds include counting and choosing.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.svm import LinearSVC

from benchmarks.measure import cores
from genus import TextClassifier
from genus.datasets import Dataset, load_dataset
from genus.errors import DataError
from genus.multilabel.metrics import ranking_scores, set_scores

SETS = (
    "mulan_medical", "mulan_enron", "eurlex_mini", "mulan_bibtex", "reuters21578-modapte90", "mulan_tmc2007_500",
    "ohsumed23", "arxiv_abstracts",
)  # fmt: skip
MOST = 10_000  # documents of a part
MEASURES = ("P@1", "miF1", "exF1", "maF1")
Cells = NDArray[np.bool_]
Scores = NDArray[np.floating]
Item = TypeVar("Item")


@dataclass(frozen=True)
class Task:
    """Texts and their labels to learn from, and others to be asked."""

    texts: list[str]
    labels: list[set[str]]
    test_texts: list[str]
    test_labels: list[set[str]]


def ask_genus(task: Task, labels: list[str]) -> tuple[Cells, Scores]:
    clf = TextClassifier(n_jobs=len(cores())).fit(task.texts, task.labels)
    known = clf.classes_.tolist()
    columns = [labels.index(label) for label in known]
    scores = np.full((len(task.test_texts), len(labels)), -np.inf)
    scores[:, columns] = clf.predict_log_proba(task.test_texts)
    return _indicator(clf.predict(task.test_texts), labels), scores


def ask_svm(task: Task, labels: list[str]) -> tuple[Cells, Scores]:
    words = TfidfVectorizer(sublinear_tf=True)
    X, T = words.fit_transform(task.texts), words.transform(task.test_texts)
    Y = _indicator(task.labels, labels)
    best: tuple[float, float, float] = (-1.0, 1.0, 0.0)
    for cost in (0.3, 1.0, 3.0, 10.0, 30.0):
        margins = np.empty(Y.shape)
        for held in _folds(X):
            others = np.setdiff1d(np.arange(len(Y)), held)
            margins[held] = _svm(X[others], Y[others], X[held], cost)
        best = max(best, *((f1, cost, at) for f1, at in _thresholds(Y, margins, np.linspace(-0.8, 0.2, 11))))
    margins = _svm(X, Y, T, best[1])
    return _cut(margins, best[2]), margins


def _folds(X: Any) -> list[NDArray[np.integer]]:
    return [held for _, held in KFold(5, shuffle=True, random_state=0).split(X)]


def _svm(X: Any, Y: Cells, T: Any, cost: float) -> Scores:
    """The margins of labels that some, not all documents have; others are never given."""
    learned = Y.any(axis=0) & ~Y.all(axis=0)
    margins = np.full((T.shape[0], Y.shape[1]), -np.inf)
    peer = OneVsRestClassifier(LinearSVC(C=cost), n_jobs=len(cores())).fit(X, Y[:, learned])
    margins[:, learned] = peer.decision_function(T).reshape(T.shape[0], -1)
    return margins


def ask_omikuji(task: Task, labels: list[str]) -> tuple[Cells, Scores]:
    words = TfidfVectorizer(sublinear_tf=True)
    X, T = words.fit_transform(task.texts), words.transform(task.test_texts)
    Y = _indicator(task.labels, labels)
    order = np.random.default_rng(0).permutation(len(Y))
    held, rest = np.split(order, [len(order) // 5])
    found = _thresholds(Y[held], _omikuji(X[rest], Y[rest], X[held]), np.linspace(0.02, 0.6, 30))
    scores = _omikuji(X, Y, T)
    return _cut(scores, max(found)[1]), scores


@contextmanager
def silence() -> Iterator[None]:
    """Native code writes to the terminal past Python's streams."""
    sys.stdout.flush()
    kept = {stream: os.dup(stream) for stream in (1, 2)}
    try:
        with open(os.devnull, "w") as nowhere:
            for stream in kept:
                os.dup2(nowhere.fileno(), stream)
        yield
    finally:
        for stream, copy in kept.items():
            os.dup2(copy, stream)
            os.close(copy)


def _omikuji(X: Any, Y: Cells, T: Any) -> Scores:
    """The probabilities of labels, 0 where it gives none. It cannot read documents without words or without labels."""
    import omikuji

    readable = np.flatnonzero((np.diff(X.indptr) > 0) & Y.any(axis=1))
    X, Y = X[readable], Y[readable]
    lines = [f"{len(Y)} {X.shape[1]} {Y.shape[1]}"]
    for i, own in enumerate(Y):
        row = X[[i]]
        features = " ".join(f"{w}:{x:.6g}" for w, x in zip(row.indices.tolist(), row.data.tolist(), strict=True))
        lines.append(f"{','.join(map(str, np.flatnonzero(own).tolist()))} {features}")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "data"
        file.write_text("\n".join(lines) + "\n", "utf-8")
        with silence():
            model = omikuji.Model.train_on_data(str(file), omikuji.Model.default_hyper_param(), n_threads=len(cores()))
    scores = np.zeros((T.shape[0], Y.shape[1]))
    for i in range(T.shape[0]):
        row = T[[i]]
        for label, score in model.predict(list(zip(row.indices.tolist(), row.data.tolist(), strict=True)), top_k=50):
            scores[i, label] = score
    return scores


def _thresholds(Y: Cells, scores: Scores, thresholds: Scores) -> list[tuple[float, float]]:
    """What each threshold is worth."""
    return [(set_scores(Y, _cut(scores, at))["exF1"], at) for at in thresholds.tolist()]


def _cut(margins: Scores, threshold: float) -> Cells:
    """The labels above a threshold, the best where none is."""
    given = np.asarray(margins >= threshold)
    given[np.arange(len(given)), margins.argmax(axis=1)] = True
    return given


def _indicator(sets: list[set[str]], labels: list[str]) -> Cells:
    cells: Cells = MultiLabelBinarizer(classes=labels).fit_transform(sets).astype(bool)
    return cells


CONTESTANTS: dict[str, Callable[[Task, list[str]], tuple[Cells, Scores]]] = {
    "genus": ask_genus,
    "LinearSVC": ask_svm,
    "omikuji": ask_omikuji,
}


def load_task(name: str) -> Task:
    """The set's own parts, or three tenths of it as the test part."""
    try:
        train, test = (_documents(load_dataset(name, part, "labels")) for part in ("train", "test"))
    except DataError:
        texts, labels = _documents(load_dataset(name, "all", "labels"))
        cut = int(0.7 * len(texts))
        order = np.random.default_rng(0).permutation(len(texts))
        train, test = (([texts[i] for i in p], [labels[i] for i in p]) for p in (order[:cut], order[cut:]))
    return Task(*map(_spread, (*train, *test)))


def _spread(part: list[Item]) -> list[Item]:
    """As many as are wanted, from all over a part: some are sorted by date."""
    return part if len(part) <= MOST else [part[i] for i in np.linspace(0, len(part) - 1, MOST).astype(int)]


def _documents(data: Dataset) -> tuple[list[str], list[set[str]]]:
    """Texts and all their labels; counts are words repeated."""
    texts = data.texts or [" ".join(w for w, n in row.items() for _ in range(int(n))) for row in data.counts or []]
    return texts, [set(map(str, labels)) for labels in data.labels]


def measure(task: Task, contestant: str) -> dict[str, float]:
    labels = sorted(set().union(*task.labels, *task.test_labels))
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # labels without documents
        given, scores = CONTESTANTS[contestant](task, labels)
    seconds = time.perf_counter() - begin
    truth = _indicator(task.test_labels, labels).astype(np.int8)
    facts: dict[str, Any] = set_scores(truth, given.astype(np.int8)) | ranking_scores(truth, scores, ks=[1])
    return {name: facts[name] for name in MEASURES} | {"seconds": seconds}


@click.command()
@click.option("--set", "sets", multiple=True, help="This data set (repeatable); by default all.")
@click.option("--only", type=click.Choice(list(CONTESTANTS)), help="This contestant alone.")
def main(sets: tuple[str, ...], only: str | None) -> None:
    """Compare sets of labels, and the time that choosing a model takes."""
    console = Console(width=None if Console().is_terminal else 120)
    names = [only] if only else list(CONTESTANTS)
    table = Table("set", "", *MEASURES, "seconds", title="sets of labels, in percent", title_justify="left")
    found: dict[str, list[list[float]]] = {name: [] for name in names}
    for name in sets or SETS:
        try:
            task = load_task(name)
        except DataError as error:
            console.print(f"[yellow]skipped {name}[/]: {error}")
            continue
        for contestant in names:
            facts = measure(task, contestant)
            found[contestant].append([facts[m] for m in MEASURES])
            shown = [f"{100 * facts[m]:.1f}" for m in MEASURES]
            table.add_row(name, contestant, *shown, f"{facts['seconds']:.0f}")
            console.print(f"{name}, {contestant}: {', '.join(shown)}", highlight=False)
    table.add_section()
    for contestant in names:
        if found[contestant]:
            table.add_row("mean", contestant, *(f"{100 * m:.1f}" for m in np.mean(found[contestant], axis=0)), "")
    console.print(table)


if __name__ == "__main__":
    main()
