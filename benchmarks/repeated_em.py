"""Twenty repetitions of EM, against the same EM in scipy.sparse and numpy, and against one fit of a linear SVM."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from benchmarks.bench import Bench
from benchmarks.measure import Entry, race, significant
from benchmarks.report import Table, Target
from genus import NonlinearBayes, TextClassifier, Vectorizer

N_HIDDEN, N_REPETITIONS, N_ITERATIONS, ALPHA = 2, 20, 5, 0.1
SCIPY, SVM = "scipy, one repetition", "TF-IDF + LinearSVC, from texts"
TOLERANCE = 1e-9  # relative, of the objective


def run(bench: Bench) -> Table:
    table = Table(
        "repeated_em",
        f"NonlinearBayes, {N_REPETITIONS} repetitions of {N_ITERATIONS} iterations, {N_HIDDEN} nodes per class",
        ("data", "peer", "threads", "peer s", "genus s", "ratio", "difference"),
        "scipy: seconds of one repetition; the ratio is per repetition. SVM: one fit from texts to model, on one core, "
        "and so is\ngenus there. difference: the largest, relative, of the objective to scipy's first repetition.",
        n_keys=3,
    )
    corpus = bench.corpus("imdb") or next(bench.corpora(), None)
    if corpus is None:
        return table
    bench.say(f"repeated EM of {corpus.name}")
    X, y = Vectorizer(dtype=np.float32).fit_transform(corpus.train.texts), np.array(corpus.train.labels)
    slow = ScipyEM.from_documents(X, y)
    entries = {SCIPY: Entry(slow.run)}
    entries[SVM] = Entry(lambda: make_pipeline(TfidfVectorizer(), LinearSVC()).fit(corpus.train.texts, y))
    entries["texts"] = Entry(lambda: TextClassifier(_model(1), n_jobs=1).fit(corpus.train.texts, y))
    for n in bench.thread_counts:
        entries[f"{n}"] = Entry(lambda n=n: _model(n, validation_fraction=0).fit(X, y), n)
    times = race(entries, bench.repeat)
    for n in bench.thread_counts:
        objective = times.results[f"{n}"].objective_[:, 0]
        gap = float(np.abs(objective / times.results[SCIPY] - 1).max())
        per_repetition = [N_REPETITIONS * seconds for seconds in times.seconds[SCIPY]]
        times.seconds["scipy, all"] = per_repetition
        _row(table, times, corpus.name, SCIPY, "scipy, all", f"{n}", n, Target(5) if n == 1 else None, gap)
    _row(table, times, corpus.name, SVM, SVM, "texts", 1, Target(1), None)
    return table


def _model(n_jobs: int, **options: Any) -> NonlinearBayes:
    return NonlinearBayes(
        N_HIDDEN, N_REPETITIONS, N_ITERATIONS, ALPHA, min_documents=0, random_state=0, n_jobs=n_jobs, **options
    )


def _row(
    table: Table, times: Any, data: str, peer: str, seconds: str, ours: str, n: int, target: Target | None, gap: Any
) -> None:
    ratio = times.ratio(seconds, ours)
    shown = "" if gap is None else f"{gap:.1e}"
    table.add(
        (data, peer, str(n), significant(times.median(peer)), significant(times.median(ours)), str(ratio), shown),
        {
            "data": data, "peer": peer, "threads": n, "difference": gap, "equal": gap is None or gap < TOLERANCE,
            "peer_seconds": times.seconds[peer], "genus_seconds": times.seconds[ours], "ratio": ratio,
        },
        ratio.median,
        target,
    )  # fmt: skip


class ScipyEM(NamedTuple):
    """The same EM, one repetition at a time, as one would write it with scipy.sparse: a product for each step."""

    classes: list[tuple[Any, Any, Any]]  # of each: its documents, the same by words, and their initial shares

    @classmethod
    def from_documents(cls, X: Any, y: Any) -> ScipyEM:
        seed = int(np.random.RandomState(0).randint(np.iinfo(np.int32).max))
        shares = initial_shares(len(y), seed, 0)
        classes = []
        for label in np.unique(y):
            rows = np.flatnonzero(y == label)
            part = X[rows].tocsr().astype(np.float64)
            classes.append((part, part.T.tocsr(), shares[rows]))
        return cls(classes)

    def run(self) -> Any:
        """The objective before each M-step."""
        return sum(self._fit(*documents) for documents in self.classes)

    def _fit(self, X: Any, by_words: Any, shares: Any) -> Any:
        objective = []
        for step in range(N_ITERATIONS + 1):
            counts = by_words @ shares + ALPHA
            log_p = np.log(counts / counts.sum(axis=0))
            log_prior = np.log(shares.mean(axis=0))
            if step == N_ITERATIONS:
                break
            joint = X @ log_p + log_prior
            log_sums = logsumexp(joint, axis=1)
            objective.append(log_sums.sum() + ALPHA * log_p.sum())
            shares = np.exp(joint - log_sums[:, np.newaxis])
        return np.array(objective)


def initial_shares(n: int, seed: int, repetition: int) -> Any:
    """About equal shares of the nodes: the numbers of cpp/random.h."""
    gamma = 0x9E3779B97F4A7C15
    documents = np.arange(n, dtype=np.uint64)

    def mix(x: Any) -> Any:
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))

    with np.errstate(over="ignore"):
        outer = mix(np.array([(seed + gamma) % 2**64], dtype=np.uint64)) ^ np.uint64(repetition)
        keys = mix((mix(outer) + np.uint64(gamma)) ^ documents)
        numbers = [mix(keys + np.uint64(gamma * (h + 1) % 2**64)) >> np.uint64(11) for h in range(N_HIDDEN)]
    draws = 1 + np.stack(numbers, axis=1) * 2.0**-53
    return draws / draws.sum(axis=1, keepdims=True)
