"""Learning online: one pass from raw texts, one from counts, and one text at a time."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from rich.markup import escape
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier

from benchmarks.bench import Bench
from benchmarks.corpora import Corpus, Part
from benchmarks.end_to_end import peer_environment, run_peer
from benchmarks.measure import Entry, Spread, pinned, race
from benchmarks.report import Table, Target
from genus import DiscriminativeNB, MultinomialNB, TextClassifier, Vectorizer

N_WORDS = 100  # of a text that is learned alone
N_HASH = 2**20
PEERS = {"vowpalwabbit": "Vowpal Wabbit --oaa, 1 pass", "fasttext": "fastText, 5 epochs"}
PEER_TARGETS = {"vowpalwabbit": Target(1), "fasttext": Target(3)}
FROM_COUNTS = Target(2.5, below=True)  # naive Bayes's own time
TWO_THREADS = Target(1.4)
ONE_BY_ONE = Target(20_000, " a second")


def run(bench: Bench) -> Table:
    table = Table(
        "online",
        "Learning online: DiscriminativeNB, one pass",
        ("data", "task", "system", "seconds", "documents/s", "ratio", "accuracy"),
        "ratio: time of the system by that of genus, one thread each; or as the task says. one by one: texts of\n"
        f"{N_WORDS} words, of which genus and scikit-learn hash the words to {N_HASH:,} columns.",
        n_keys=3,
    )
    trouble = peer_environment(bench)
    if trouble:
        table.note += f"\npeers could not be installed: {escape(trouble)}"
    for name in bench.given or ("20news-bydate-raw", "arxiv_titles"):
        corpus = bench.corpus(name)
        if corpus is not None:
            _one_pass(bench, table, corpus, [] if trouble else list(PEERS))
            _threads(bench, table, corpus)
    for name in bench.given or ("imdb",):
        corpus = bench.corpus(name)
        if corpus is not None:
            _from_counts(bench, table, corpus)
            _one_by_one(bench, table, corpus, with_river=not trouble)
    return table


def _one_pass(bench: Bench, table: Table, corpus: Corpus, peers: Sequence[str]) -> None:
    """From texts to a model, and its accuracy."""
    with tempfile.TemporaryDirectory() as folder, pinned(1):
        rounds: dict[str, list[dict[str, Any]]] = {name: [] for name in ("genus", *peers)}
        for number in range(min(bench.repeat, 3)):
            for name in rounds:
                bench.say(f"online, {corpus.name}: {name}, round {number + 1}")
                facts = _genus_pass(corpus) if name == "genus" else run_peer(name, corpus, Path(folder), 1)
                rounds[name].append(facts)
    seconds = {name: [facts["train"] for facts in found] for name, found in rounds.items()}
    for name, found in rounds.items():
        ratio = Spread.of_ratios(seconds[name], seconds["genus"])
        median = statistics.median(seconds[name])
        _add(
            table, (corpus.name, "texts, one pass", PEERS.get(name, "genus")), median, len(corpus.train.texts) / median,
            ratio if name != "genus" else None, found[0]["accuracy"], ratio.median, PEER_TARGETS.get(name),
        )  # fmt: skip


def _genus_pass(corpus: Corpus) -> dict[str, Any]:
    begin = time.perf_counter()
    clf = TextClassifier(DiscriminativeNB(random_state=0), n_jobs=1).fit(corpus.train.texts, corpus.train.labels)
    trained = time.perf_counter() - begin
    return {
        "train": trained,
        "accuracy": float(np.mean(clf.predict(corpus.test.texts) == np.array(corpus.test.labels))),
    }


def _threads(bench: Bench, table: Table, corpus: Corpus) -> None:
    if len(bench.thread_counts) < 2:
        return
    X, y = Vectorizer(dtype=np.float32).fit_transform(corpus.train.texts), np.array(corpus.train.labels)
    bench.say(f"online, {corpus.name}: two threads")
    times = race(
        {str(n): Entry(_fit(DiscriminativeNB, X, y, random_state=0, n_jobs=n), n) for n in (1, 2)}, bench.repeat
    )
    ratio = times.ratio("1", "2")
    target = TWO_THREADS if len(set(corpus.train.labels)) > 16 else None
    _add(
        table, (corpus.name, "counts, 2 threads by 1", "genus"), times.median("2"), X.shape[0] / times.median("2"),
        ratio, None, ratio.median, target,
    )  # fmt: skip


def _from_counts(bench: Bench, table: Table, corpus: Corpus) -> None:
    X, y = Vectorizer().fit_transform(corpus.train.texts), np.array(corpus.train.labels)
    bench.say(f"online, {corpus.name}: from counts")
    entries = {
        "MultinomialNB": Entry(_fit(MultinomialNB, X, y, n_jobs=1)),
        "DiscriminativeNB": Entry(_fit(DiscriminativeNB, X, y, random_state=0, n_jobs=1)),
    }
    times = race(entries, bench.repeat)
    ratio = times.ratio("DiscriminativeNB", "MultinomialNB")
    _add(
        table, (corpus.name, "counts, by MultinomialNB", "genus"), times.median("DiscriminativeNB"),
        X.shape[0] / times.median("DiscriminativeNB"), ratio, None, ratio.median, FROM_COUNTS,
    )  # fmt: skip


def _fit(make: Callable[..., Any], X: Any, y: Any, **options: Any) -> Callable[[], Any]:
    return lambda: make(**options).fit(X, y)


def _one_by_one(bench: Bench, table: Table, corpus: Corpus, *, with_river: bool) -> None:
    """Texts that are learned alone, in turns of a few hundred."""
    part = Part([" ".join(text.split()[:N_WORDS]) for text in corpus.train.texts], corpus.train.labels)
    learners: dict[str, Callable[[str, str], object]] = {
        "genus learn_one, hashed": _genus_learner(Vectorizer(n_hash=N_HASH, dtype=np.float32)),
        "genus learn_one, growing": _genus_learner(None),
        "scikit-learn partial_fit, SGD": _sklearn_learner(sorted(set(part.labels))),
    }
    turns: dict[str, list[float]] = {name: [] for name in learners}
    examples = {name: _pairs(part) for name in learners}
    with pinned(1):
        for turn in range(1 + 4 * bench.repeat):
            bench.say(f"online, one by one: turn {turn}")
            for name, learn in learners.items():
                chunk = list(islice(examples[name], 500))
                begin = time.perf_counter()
                for text, label in chunk:
                    learn(text, label)
                if turn:  # the first warms caches
                    turns[name].append((time.perf_counter() - begin) / len(chunk))
        if with_river:
            few = Part(part.texts[:2000], part.labels[:2000])
            with tempfile.TemporaryDirectory() as folder:
                facts = run_peer(
                    "river", Corpus(corpus.name, few, Part(part.texts[:1], part.labels[:1])), Path(folder), 1
                )
            turns["river learn_one, naive Bayes"] = [facts["train"] / len(few.texts)]
    ours = statistics.median(turns["genus learn_one, hashed"])
    for name, times in turns.items():
        median = statistics.median(times)
        is_ours = name.startswith("genus")
        _add(
            table, (corpus.name, "one by one", name), median, 1 / median,
            None if is_ours else Spread.from_values([median / ours]), None, 1 / median, ONE_BY_ONE if is_ours else None,
        )  # fmt: skip


def _pairs(part: Part) -> Iterator[tuple[str, str]]:
    """The texts and labels, again and again."""
    while True:
        yield from zip(part.texts, part.labels, strict=True)


def _genus_learner(vectorizer: Vectorizer | None) -> Callable[[str, str], object]:
    return TextClassifier(DiscriminativeNB(), vectorizer=vectorizer, n_jobs=1).learn_one


def _sklearn_learner(labels: Sequence[str]) -> Callable[[str, str], object]:
    vectorizer, model = HashingVectorizer(n_features=N_HASH), SGDClassifier(loss="log_loss")
    return lambda text, label: model.partial_fit(vectorizer.transform([text]), [label], classes=labels)


def _add(
    table: Table,
    keys: tuple[str, str, str],
    seconds: float,
    per_second: float,
    ratio: Spread | None,
    accuracy: float | None,
    value: float,
    target: Target | None,
) -> None:
    shown = (f"{seconds:.3g}", f"{per_second:,.0f}", str(ratio or ""), "" if accuracy is None else f"{accuracy:.4f}")
    record = dict(zip(("data", "task", "system"), keys, strict=True))
    record |= {"seconds": seconds, "documents_per_second": per_second, "ratio": ratio, "accuracy": accuracy}
    table.add((*keys, *shown), record, value, target)
