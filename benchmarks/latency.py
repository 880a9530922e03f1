"""One text at a time: how long a single answer takes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from itertools import islice
from typing import Any

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from benchmarks.bench import Bench
from benchmarks.measure import Spread, pinned, significant
from benchmarks.report import Table, Target
from genus import TextClassifier

N_WORDS = 200
TARGET = Target(100, " µs", below=True)


def run(bench: Bench) -> Table:
    table = Table(
        "latency",
        f"One text of {N_WORDS} words: predict of a list with it alone, one core",
        ("data", "system", "median µs", "p99 µs", "ratio of medians"),
        "Turns of 100 calls each, both sides in the same process.",
    )
    corpus = bench.largest()
    if corpus is None:
        return table
    bench.say(f"latency: training on {corpus.name}")
    systems: dict[str, Any] = {
        "scikit-learn pipeline": make_pipeline(CountVectorizer(), MultinomialNB()),
        "genus TextClassifier": TextClassifier("nb"),
    }
    for model in systems.values():
        model.fit(corpus.train.texts, corpus.train.labels)
    text = long_text(corpus.test.texts)
    turns: dict[str, list[list[float]]] = {name: [] for name in systems}
    with pinned(1):
        for turn in range(1 + 4 * bench.repeat):
            bench.say(f"latency: turn {turn}")
            for name, model in systems.items():
                times = _calls(model.predict, text, 100)
                if turn:  # the first warms caches
                    turns[name].append(times)
    peer, ours = ([statistics.median(times) for times in turns[name]] for name in systems)
    ratio = Spread.of_ratios(peer, ours)
    for name in systems:
        times = sorted(time for turn in turns[name] for time in turn)
        median, p99 = statistics.median(times), times[len(times) * 99 // 100]
        is_ours = name.startswith("genus")
        table.add(
            (corpus.name, name, significant(median), significant(p99), str(ratio) if is_ours else ""),
            {"data": corpus.name, "system": name, "median_us": median, "p99_us": p99, "ratio": ratio},
            median,
            TARGET if is_ours else None,
        )
    return table


def long_text(texts: list[str]) -> str:
    """Texts one after another, up to `N_WORDS` words."""
    return " ".join(islice((word for text in texts for word in text.split()), N_WORDS))


def _calls(predict: Callable[[list[str]], object], text: str, n: int) -> list[float]:
    """Microseconds of each call."""
    taken = []
    for _ in range(n):
        begin = time.perf_counter_ns()
        predict([text])
        taken.append((time.perf_counter_ns() - begin) / 1000)
    return taken
