"""`TextClassifier()` beside the grid search of a linear SVM: the time to choose, and the time to answer."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from benchmarks.bench import Bench
from benchmarks.corpora import Corpus
from benchmarks.measure import Entry, race, significant
from benchmarks.report import Table, Target
from genus import TextClassifier

MOST = 5_000  # texts to learn from, and to answer for
N_FOLDS = 5
GRID = {"tfidfvectorizer__ngram_range": [(1, 1), (1, 2)], "linearsvc__C": [0.03, 0.1, 0.3, 1, 3, 10]}
PEER, OURS = "LinearSVC", "genus"


def run(bench: Bench) -> Table:
    table = Table(
        "choosing",
        "TextClassifier() against the grid search of TF-IDF and LinearSVC over the same folds, from texts",
        ("data", "task", "texts", "peer s", "genus s", "ratio", "peer right", "genus right"),
        f"{MOST:,} texts of a part at most, {N_FOLDS} folds, all cores. The search is timed once, answering in rounds.",
        n_keys=2,
    )
    for corpus in bench.corpora():
        _compare(bench, table, corpus)
    return table


def _compare(bench: Bench, table: Table, corpus: Corpus) -> None:
    texts, labels = corpus.train.texts[:MOST], np.array(corpus.train.labels[:MOST])
    asked, truth = corpus.test.texts[:MOST], np.array(corpus.test.labels[:MOST])
    n_cores = bench.thread_counts[-1]
    bench.say(f"choosing: {corpus.name}")
    ours = TextClassifier(n_jobs=n_cores)
    contestants = {PEER: partial(_search, texts, labels, n_cores), OURS: partial(ours.fit, texts, labels)}
    chosen = race({name: Entry(fit, n_cores) for name, fit in contestants.items()}, 1)
    bench.say(f"choosing: answers of {corpus.name}")
    models = chosen.results
    entries = {name: Entry(partial(model.predict, asked), n_cores) for name, model in models.items()}
    answered = race(entries, bench.repeat)
    right = {name: float((answers == truth).mean()) for name, answers in answered.results.items()}
    for task, n, times in (("choose", len(texts), chosen), ("answer", len(asked), answered)):
        ratio = times.ratio(PEER, OURS)
        seconds = [significant(times.median(name)) for name in (PEER, OURS)]
        accuracies = [f"{100 * right[name]:.1f}" for name in (PEER, OURS)] if task == "answer" else ["", ""]
        record = {"data": corpus.name, "task": task, "texts": n, "ratio": ratio, "seconds": times.seconds}
        cells = (corpus.name, task, f"{n:,}", *seconds, str(ratio), *accuracies)
        table.add(cells, record | {"right": right}, ratio.median, Target(1))


def _search(texts: list[str], labels: Any, n_cores: int) -> Any:
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    pipeline = make_pipeline(TfidfVectorizer(sublinear_tf=True), LinearSVC(random_state=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small classes, and solvers that stop early
        return GridSearchCV(pipeline, GRID, cv=folds, n_jobs=n_cores).fit(texts, labels)
