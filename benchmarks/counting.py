"""Text to counts: `genus.Vectorizer` against scikit-learn's `CountVectorizer`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.bench import Bench
from benchmarks.measure import Entry, Race, race, significant
from benchmarks.report import Table, Target
from genus import Vectorizer

PEER = "CountVectorizer"
TARGETS = {((1, 1), 1): Target(12), ((1, 1), 2): Target(20), ((1, 2), 1): Target(12)}


def run(bench: Bench) -> Table:
    table = Table(
        "counting",
        "Text to counts: genus.Vectorizer against CountVectorizer (one thread)",
        ("data", "task", "threads", "peer s", "genus s", "peer MB/s", "genus MB/s", "ratio", "equal"),
        "fit_transform on the training part, transform on the test part with the words of the former.",
        n_keys=3,
    )
    for corpus in bench.corpora():
        for ngrams in ((1, 1), (1, 2)):
            what = f"{corpus.name}, n-grams {ngrams}"
            bench.say(f"counting {what}")
            fitted = race(_entries(bench, ngrams, corpus.train.texts), bench.repeat)
            equal = {name: _same_fit(fitted.results[PEER], fitted.results[name]) for name in _ours(bench)}
            _rows(bench, table, corpus.name, "fit_transform", ngrams, corpus.train.megabytes, fitted, equal)

            bench.say(f"transforming {what}")
            models = {name: vectorizer for name, (vectorizer, _) in fitted.results.items()}
            fitted.results.clear()
            calls = {
                name: Entry(_transform(model, corpus.test.texts), getattr(model, "n_jobs", 1))
                for name, model in models.items()
            }
            applied = race(calls, bench.repeat)
            got = applied.results
            equal = {name: _same_counts(got[PEER], got[name]) for name in _ours(bench)}
            _rows(bench, table, corpus.name, "transform", ngrams, corpus.test.megabytes, applied, equal)
    return table


def _ours(bench: Bench) -> dict[str, int]:
    return {f"genus, {n}": n for n in bench.thread_counts}


def _entries(bench: Bench, ngrams: tuple[int, int], texts: list[str]) -> dict[str, Entry]:
    entries = {PEER: Entry(_fit(CountVectorizer, texts, ngram_range=ngrams))}
    for name, n in _ours(bench).items():
        entries[name] = Entry(_fit(Vectorizer, texts, ngram_range=ngrams, n_jobs=n), n)
    return entries


def _fit(make: Callable[..., Any], texts: list[str], **options: Any) -> Callable[[], Any]:
    def call() -> Any:
        vectorizer = make(**options)
        return vectorizer, vectorizer.fit_transform(texts)

    return call


def _transform(vectorizer: Any, texts: list[str]) -> Callable[[], Any]:
    return lambda: vectorizer.transform(texts)


def _same_fit(peer: Any, ours: Any) -> bool:
    names = [vectorizer.get_feature_names_out() for vectorizer, _ in (peer, ours)]
    return np.array_equal(*names) and _same_counts(peer[1], ours[1])


def _same_counts(peer: Any, ours: Any) -> bool:
    peer = peer.sorted_indices()  # CountVectorizer leaves the rows of fit_transform unsorted
    return peer.shape == ours.shape and all(
        np.array_equal(getattr(peer, part), getattr(ours, part)) for part in ("indptr", "indices", "data")
    )


def _rows(
    bench: Bench,
    table: Table,
    data: str,
    task: str,
    ngrams: tuple[int, int],
    megabytes: float,
    times: Race,
    equal: dict[str, bool],
) -> None:
    label = task if ngrams == (1, 1) else f"{task} {ngrams}"
    peer = times.median(PEER)
    for name, n in _ours(bench).items():
        ours, ratio = times.median(name), times.ratio(PEER, name)
        table.add(
            (
                data, label, str(n), significant(peer), significant(ours), significant(megabytes / peer),
                significant(megabytes / ours), str(ratio), "yes" if equal[name] else "[bold red]NO[/]",
            ),
            {
                "data": data, "task": label, "threads": n, "megabytes": megabytes, "equal": equal[name],
                "peer_seconds": times.seconds[PEER], "genus_seconds": times.seconds[name], "ratio": ratio,
            },
            ratio.median,
            TARGETS.get((ngrams, n)),
        )  # fmt: skip
