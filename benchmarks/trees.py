"""Hierarchical mixtures: fitting against the time that counting words takes, predicting against naive Bayes.

Then how the time to fit grows with documents, classes and the depth of the tree.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB as PeerNB

from benchmarks.bench import Bench
from benchmarks.corpora import Corpus
from benchmarks.measure import Entry, race, significant
from benchmarks.report import Table, Target
from genus import HierarchicalMixture, MultinomialNB, Vectorizer
from genus.datasets import list_datasets
from genus.tree.label_tree import LabelTree

COUNTING, PEER, OURS = "CountVectorizer", "scikit-learn NB", "genus NB"
TARGET = Target(1)


def run(bench: Bench) -> Table:
    table = Table(
        "trees",
        "HierarchicalMixture: fit from counts against CountVectorizer on the texts, predict against naive Bayes",
        ("data", "task", "threads", "peer", "peer s", "genus s", "ratio", "ns an entry"),
        "ns an entry: of the time to fit, for each word of each document. Depth: nodes between root and class.",
        n_keys=4,
    )
    corpus = bench.corpus("arxiv_abstracts") or next(bench.corpora(), None)
    if corpus is None:
        return table
    bench.say(f"trees of {corpus.name}: counting")
    vectorizer = Vectorizer(dtype=np.float64)
    X, labels = vectorizer.fit_transform(corpus.train.texts), np.array(corpus.train.labels)
    tree = _tree(corpus)
    models = _fit(bench, table, corpus, X, labels, tree)
    _predict(bench, table, corpus.name, vectorizer.transform(corpus.test.texts), X, labels, models)
    _growth(bench, table, corpus.name, X, labels, tree)
    return table


def _tree(corpus: Corpus) -> LabelTree:
    for info in list_datasets():
        if info.name == corpus.name and info.has_hierarchy:
            return LabelTree.from_any(json.loads((info.folder / "hierarchy.json").read_text("utf-8")))
    return LabelTree.flat(sorted(set(corpus.train.labels)))


def _fit(bench: Bench, table: Table, corpus: Corpus, X: Any, labels: Any, tree: LabelTree) -> dict[int, Any]:
    bench.say(f"trees of {corpus.name}: fit")
    entries = {COUNTING: Entry(partial(CountVectorizer().fit_transform, corpus.train.texts))}
    for n in bench.thread_counts:
        entries[str(n)] = Entry(partial(HierarchicalMixture(tree, n_jobs=n).fit, X, labels), n)
    times = race(entries, bench.repeat)
    for n in bench.thread_counts:
        ratio, seconds = times.ratio(COUNTING, str(n)), times.median(str(n))
        table.add(
            (
                corpus.name, "fit", str(n), COUNTING, significant(times.median(COUNTING)), significant(seconds),
                str(ratio), significant(1e9 * seconds / X.nnz),
            ),
            {"data": corpus.name, "task": "fit", "threads": n, "peer": COUNTING, "ratio": ratio, "entries": X.nnz,
             "peer_seconds": times.seconds[COUNTING], "genus_seconds": times.seconds[str(n)]},
            ratio.median,
            TARGET,
        )  # fmt: skip
    return {n: times.results[str(n)] for n in bench.thread_counts}


def _predict(bench: Bench, table: Table, data: str, queries: Any, X: Any, labels: Any, models: dict[int, Any]) -> None:
    bench.say(f"trees of {data}: predict")
    peer = PeerNB().fit(X, labels)
    for n, model in models.items():
        ours = MultinomialNB(n_jobs=n).fit(X, labels)
        contestants = {PEER: (peer, 1), OURS: (ours, n), "HM": (model, n)}
        entries = {name: Entry(partial(m.predict, queries), cores) for name, (m, cores) in contestants.items()}
        times = race(entries, bench.repeat)
        for name in (PEER, OURS):
            ratio = times.ratio(name, "HM")
            table.add(
                (
                    data, "predict", str(n), name, significant(times.median(name)), significant(times.median("HM")),
                    str(ratio), "",
                ),
                {"data": data, "task": "predict", "threads": n, "peer": name, "ratio": ratio,
                 "peer_seconds": times.seconds[name], "genus_seconds": times.seconds["HM"]},
                ratio.median,
                TARGET,
            )  # fmt: skip


def _growth(bench: Bench, table: Table, data: str, X: Any, labels: Any, tree: LabelTree) -> None:
    n = bench.thread_counts[-1]
    for task, rows, shape in _shapes(labels, tree):
        bench.say(f"trees of {data}: {task}")
        part, chosen = X[rows], labels[rows]
        fit = Entry(partial(HierarchicalMixture(shape, n_jobs=n).fit, part, chosen), n)
        seconds = race({"HM": fit}, 1 if bench.quick else 3).median("HM")
        cost = 1e9 * seconds / max(part.nnz, 1)
        table.add(
            (data, task, str(n), "", "", significant(seconds), "", significant(cost)),
            {"data": data, "task": task, "threads": n, "seconds": seconds, "entries": int(part.nnz)},
        )


def _shapes(labels: Any, tree: LabelTree) -> Iterator[tuple[str, Any, LabelTree]]:
    """More documents; more classes in as many documents; deeper trees of the same classes."""
    everything = np.arange(len(labels))
    for share in (8, 4, 2, 1):
        yield f"{len(labels) // share:,} documents", everything[: len(labels) // share], tree
    names, counts = np.unique(labels, return_counts=True)
    largest = names[np.argsort(-counts, kind="stable")]
    n_classes = [n for n in (4, 16, 64) if n < len(names)]
    size = min((np.isin(labels, largest[:n]).sum() for n in n_classes), default=0)
    for n in n_classes:
        rows = np.flatnonzero(np.isin(labels, largest[:n]))
        yield f"{n} classes, {size:,} documents", rows[:: max(1, len(rows) // max(size, 1))][:size], tree
    for depth in (0, 1, 2, 4):
        yield f"depth {depth}", everything, LabelTree(_halved(names.tolist(), depth))


def _halved(labels: Sequence[Any], depth: int, parent: str | None = None) -> dict[Any, Any]:
    """Parents of a tree that halves the classes, so many times over."""
    if depth == 0 or len(labels) < 2:
        return dict.fromkeys(labels, parent)
    parents: dict[Any, Any] = {}
    half = len(labels) // 2
    for side, part in enumerate((labels[:half], labels[half:])):
        node = f"{parent or 'node'}.{side}"
        parents |= {node: parent} | _halved(part, depth - 1, node)
    return parents
