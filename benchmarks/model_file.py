"""Model files: how soon after opening the first answer comes."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB as PeerNB
from sklearn.pipeline import make_pipeline

from benchmarks.bench import Bench
from benchmarks.latency import long_text
from benchmarks.measure import pinned, significant
from benchmarks.report import Table, Target
from genus import MultinomialNB, TextClassifier, Vectorizer

TARGET = Target(100, " ms", below=True)
BYTES_PER_CELL = 24  # a (word, class) pair that occurs: class and count, class and score


def run(bench: Bench) -> Table:
    table = Table(
        "model_file",
        "Opening a model file, and the first answer after it, one core",
        ("model", "system", "file MB", "state", "open ms", "first predict ms"),
        "cold: the file was dropped from the page cache before.",
        n_keys=4,
    )
    with tempfile.TemporaryDirectory() as folder, pinned(1):
        corpus = bench.largest()
        if corpus is not None:
            bench.say(f"model file: training on {corpus.name}")
            text = long_text(corpus.test.texts)
            ours = TextClassifier("nb").fit(corpus.train.texts, corpus.train.labels)
            file = Path(folder) / "corpus.genus"
            ours.save(file)
            _rows(bench, table, corpus.name, "genus", file, TextClassifier.load, text)
            peer = make_pipeline(CountVectorizer(), PeerNB()).fit(corpus.train.texts, corpus.train.labels)
            file = Path(folder) / "corpus.joblib"
            joblib.dump(peer, file)
            _rows(bench, table, corpus.name, "scikit-learn (joblib)", file, joblib.load, text)
        megabytes = 50 if bench.quick else 1000
        bench.say(f"model file: making one of {megabytes} MB")
        file = Path(folder) / "synthetic.genus"
        synthetic_model(megabytes).save(file)
        text = " ".join(f"word{i}" for i in range(200))
        _rows(bench, table, "synthetic", "genus", file, TextClassifier.load, text)
    return table


def synthetic_model(megabytes: float) -> TextClassifier:
    """A classifier whose file is about so large: a thousand classes, every word in two hundred of them."""
    n_classes, per_word = 1000, 200
    n_words = int(megabytes * 1e6 / BYTES_PER_CELL / per_word)
    random = np.random.default_rng(0)
    vectorizer = Vectorizer(dtype=np.float32).fit([f"word{i}" for i in range(n_words)])
    words = random.integers(0, n_words, size=n_words * per_word, dtype=np.int32)
    # One document for each class.
    indptr = np.linspace(0, len(words), n_classes + 1).astype(np.int64)
    counts = sp.csr_matrix((np.ones(len(words), dtype=np.float32), words, indptr), shape=(n_classes, n_words))
    classifier = TextClassifier("nb")
    classifier._set_state({"vectorizer": vectorizer, "model": MultinomialNB().fit(counts, np.arange(n_classes))})
    return classifier


def _rows(
    bench: Bench, table: Table, model: str, system: str, file: Path, load: Callable[[Path], Any], text: str
) -> None:
    megabytes = file.stat().st_size / 1e6
    for state in ("cold", "warm"):
        times = [_open(file, load, text, state == "cold") for _ in range(bench.repeat)]
        opened, answered = (statistics.median(column) for column in zip(*times, strict=True))
        table.add(
            (model, system, significant(megabytes), state, significant(opened), significant(answered)),
            {"model": model, "system": system, "megabytes": megabytes, "state": state, "ms": times},
            opened,
            TARGET if system == "genus" else None,
        )


def _open(file: Path, load: Callable[[Path], Any], text: str, cold: bool) -> tuple[float, float]:
    """Milliseconds to open, and then to answer."""
    if cold:
        with open(file, "rb") as handle:
            os.posix_fadvise(handle.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    begin = time.perf_counter()
    model = load(file)
    opened = time.perf_counter()
    model.predict([text])
    return (opened - begin) * 1000, (time.perf_counter() - opened) * 1000
