"""Counts to model to labels: genus's MultinomialNB against scikit-learn's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB as PeerNB

from benchmarks.bench import Bench
from benchmarks.measure import Entry, Race, race, significant
from benchmarks.report import Table, Target
from genus import MultinomialNB, Vectorizer

PEER = "scikit-learn"
FIT_TARGETS = {"arxiv_titles": Target(5), "20news-bydate-raw": Target(3)}
PREDICT_TARGET = Target(2)
TOLERANCE = 1e-9  # relative: a log probability grows with the length of the text


def run(bench: Bench) -> Table:
    table = Table(
        "models",
        "MultinomialNB from counts, against scikit-learn's (one thread)",
        ("data", "task", "counts", "threads", "peer s", "genus s", "ratio", "difference"),
        "int64: the matrix that scikit-learn gets, by CountVectorizer. float64: that of genus.Vectorizer.\n"
        f"difference: the largest, relative, of log probabilities in the test part; below {TOLERANCE:g}.",
        n_keys=4,
    )
    for corpus in bench.corpora():
        bench.say(f"naive Bayes of {corpus.name}: counting")
        vectorizers = {"int64": CountVectorizer(), "float64": Vectorizer()}
        train = {kind: words.fit_transform(corpus.train.texts) for kind, words in vectorizers.items()}
        test = {kind: words.transform(corpus.test.texts) for kind, words in vectorizers.items()}
        labels = np.array(corpus.train.labels)

        bench.say(f"naive Bayes of {corpus.name}: fit")
        fits = {PEER: Entry(_fit(PeerNB, train["int64"], labels))}
        for name, kind, n in _ours(bench):
            fits[name] = Entry(_fit(MultinomialNB, train[kind], labels, n_jobs=n), n)
        fitted = race(fits, bench.repeat)
        _rows(bench, table, corpus.name, "fit", fitted, None, FIT_TARGETS.get(corpus.name))

        bench.say(f"naive Bayes of {corpus.name}: predict")
        models = dict(fitted.results)
        predicts = {PEER: Entry(_predict(models[PEER], test["int64"]))}
        for name, kind, n in _ours(bench):
            predicts[name] = Entry(_predict(models[name], test[kind]), n)
        predicted = race(predicts, bench.repeat)
        peer, peer_test = models[PEER], test["int64"]
        difference = {name: _difference(peer, peer_test, models[name], test[kind]) for name, kind, _ in _ours(bench)}
        _rows(bench, table, corpus.name, "predict", predicted, difference, PREDICT_TARGET)
    return table


def _ours(bench: Bench) -> list[tuple[str, str, int]]:
    return [(f"{kind}, {n}", kind, n) for kind in ("int64", "float64") for n in bench.thread_counts]


def _fit(make: Callable[..., Any], counts: Any, labels: Any, **options: Any) -> Callable[[], Any]:
    return lambda: make(**options).fit(counts, labels)


def _predict(model: Any, counts: Any) -> Callable[[], Any]:
    return lambda: model.predict(counts)


def _difference(peer: Any, peer_counts: Any, ours: Any, counts: Any) -> float:
    """In blocks, since all rows by all classes would take gigabytes."""
    largest = 0.0
    for begin in range(0, counts.shape[0], 10_000):
        rows = slice(begin, begin + 10_000)
        expected = peer.predict_log_proba(peer_counts[rows])
        gaps = np.abs(expected - ours.predict_log_proba(counts[rows]))
        largest = max(largest, float((gaps / np.maximum(1, np.abs(expected))).max()))
    return largest


def _rows(
    bench: Bench,
    table: Table,
    data: str,
    task: str,
    times: Race,
    difference: dict[str, float] | None,
    target: Target | None,
) -> None:
    for name, kind, n in _ours(bench):
        ratio = times.ratio(PEER, name)
        gap = None if difference is None else difference[name]
        shown = "" if gap is None else f"{gap:.1e}" if gap < TOLERANCE else f"[bold red]{gap:.1e}[/]"
        table.add(
            (
                data, task, kind, str(n), significant(times.median(PEER)), significant(times.median(name)),
                str(ratio), shown,
            ),
            {
                "data": data, "task": task, "counts": kind, "threads": n, "difference": gap,
                "equal": gap is None or gap < TOLERANCE, "peer_seconds": times.seconds[PEER],
                "genus_seconds": times.seconds[name], "ratio": ratio,
            },
            ratio.median,
            target,
        )  # fmt: skip
