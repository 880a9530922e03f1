"""Texts to vectors: `genus.WordVectors` against the same in Python and NumPy, and against hashing and counting."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import HashingVectorizer

from benchmarks.bench import Bench
from benchmarks.corpora import Corpus
from benchmarks.measure import Entry, race, significant, timed
from benchmarks.report import Table, Target
from genus import Vectorizer, WordVectors

N_WORDS, N_PAIRS, N_DIMENSIONS = 50_000, 10_000, 128
PATTERN = r"\w+"
PEERS = ("Python and NumPy", "HashingVectorizer", "genus.Vectorizer")
SPEED, OPENED = Target(50, " MB/s"), Target(20, " ms", below=True)


def run(bench: Bench) -> Table:
    table = Table(
        "vectors",
        f"Texts to vectors: genus.WordVectors, {N_WORDS + N_PAIRS:,} words and pairs of {N_DIMENSIONS} bytes",
        ("data", "task", "threads", "peer", "peer MB/s", "genus MB/s", "ratio", "equal"),
        "Frequent words and pairs of the training part, pieces of the others, random numbers; texts of the test part. "
        "Python and NumPy do the same; the other peers count words.",
        n_keys=4,
    )
    for corpus in bench.corpora():
        bench.say(f"vectors of {corpus.name}")
        vectors = _vectors(corpus)
        _encoding(bench, table, corpus, vectors)
        _opening(table, corpus, vectors)
    return table


def _vectors(corpus: Corpus) -> WordVectors:
    names: list[str] = []
    for n, most in ((1, N_WORDS), (2, N_PAIRS)):
        frequent = Vectorizer(token_pattern=PATTERN, ngram_range=(n, n), max_features=most).fit(corpus.train.texts)
        names += frequent.get_feature_names_out().tolist()
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    pieces = [*letters, *map("##".__add__, letters), "##ing", "##ed", "##er", "##s", "##tion", "##ly"]
    names = list(dict.fromkeys([*names, *pieces]))
    random = np.random.default_rng(0)
    random.shuffle(names)
    numbers = random.integers(-127, 128, (len(names), N_DIMENSIONS), dtype=np.int8)
    return WordVectors.from_words(names, numbers, random.random(len(names), dtype=np.float32))


def _encoding(bench: Bench, table: Table, corpus: Corpus, vectors: WordVectors) -> None:
    texts, megabytes = corpus.test.texts, corpus.test.megabytes
    counter = Vectorizer(token_pattern=PATTERN, n_jobs=1).fit(corpus.train.texts)
    hashing = HashingVectorizer(token_pattern=PATTERN)
    numbers = {name: i for i, name in enumerate(vectors.words)}
    rows = np.array([vectors.vector(name) for name in vectors.words])
    entries = {
        PEERS[0]: Entry(lambda: in_numpy(numbers, rows, texts)),
        PEERS[1]: Entry(lambda: hashing.transform(texts)),
        PEERS[2]: Entry(lambda: counter.transform(texts)),
    }
    entries |= {f"genus, {n}": Entry(_encode(vectors, texts, n), n) for n in bench.thread_counts}
    times = race(entries, bench.repeat)
    expected = times.results[PEERS[0]]
    for n in bench.thread_counts:
        ours = f"genus, {n}"
        equal = np.allclose(times.results[ours], expected, atol=1e-5)
        for peer in PEERS:
            speed, ratio = megabytes / times.median(ours), times.ratio(peer, ours)
            table.add(
                (
                    corpus.name, "encode", str(n), peer, significant(megabytes / times.median(peer)),
                    significant(speed), str(ratio), "yes" if equal else "[bold red]NO[/]",
                ),
                {
                    "data": corpus.name, "task": "encode", "threads": n, "peer": peer, "megabytes": megabytes,
                    "equal": equal, "peer_seconds": times.seconds[peer], "genus_seconds": times.seconds[ours],
                    "ratio": ratio,
                },
                speed,
                SPEED if (n, peer) == (1, PEERS[0]) else None,
            )  # fmt: skip


def _encode(vectors: WordVectors, texts: list[str], n: int) -> Callable[[], Any]:
    return lambda: vectors.encode(texts, n_jobs=n).vectors


def _opening(table: Table, corpus: Corpus, vectors: WordVectors) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.safetensors"
        vectors.save(path)
        ms = 1e3 * timed(lambda: WordVectors.load(path))[0]
    cells = (corpus.name, "open", "1", "", "", f"{significant(ms)} ms", "", "")
    table.add(cells, {"data": corpus.name, "task": "open", "ms": ms}, ms, OPENED)


def in_numpy(numbers: dict[str, int], rows: NDArray[np.float32], texts: list[str]) -> NDArray[np.float32]:
    """What a library without native code does: a dict from words to rows, and rows added by NumPy."""
    find_all = re.compile(PATTERN).findall

    @cache
    def of_word(word: str) -> tuple[int, ...]:
        return (numbers[word],) if word in numbers else _pieces(word, numbers)

    found = np.zeros((len(texts), rows.shape[1]), dtype=np.float32)
    for i, text in enumerate(texts):
        words = find_all(text.lower())
        added = [number for word in words for number in of_word(word)]
        added += [numbers[pair] for pair in map(" ".join, pairwise(words)) if pair in numbers]
        if added:
            total = rows[added].sum(axis=0)
            found[i] = total / np.linalg.norm(total)
    return found


def _pieces(word: str, numbers: dict[str, int]) -> tuple[int, ...]:
    found, begin = [], 0
    while begin < len(word):
        names = (("##" if begin else "") + word[begin:end] for end in range(len(word), begin, -1))
        name = next((name for name in names if name in numbers), None)
        if name is None or len(word) > 100:
            return ()
        found.append(numbers[name])
        begin += len(name) - (2 if begin else 0)
    return tuple(found)
