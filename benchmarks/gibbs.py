"""Sampled tokens per second, and memory: genus's relevance-based topic model beside tomotopy's LDA (k = 20).

    python -m benchmarks.gibbs COUNTS

fits the model to counts in an .npz file and prints the bytes that it needs above them. Both samplers draw the topic of
every token once in a sweep; LDA chooses among 20 topics, the other among 3, by tables made anew for each sweep.
"""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.bench import Bench
from benchmarks.measure import Entry, pinned, race, significant
from benchmarks.memory import _status
from benchmarks.report import Table, Target
from genus import RelevanceTopicModel, Vectorizer
from genus.base.rows import to_rows
from genus.models.relevance.sampler import Chains, LabelledRows

PEER = "tomotopy"
SWEEPS = 5
SPEED, SCALING, MEMORY = Target(5), Target(1.7), Target(3, "×", below=True)


def run(bench: Bench) -> Table:
    table = Table(
        "gibbs",
        "Sampled tokens of 20news: relevance-based topic model against tomotopy's LDA, k = 20 (one thread)",
        ("task", "threads", "peer", "genus", "ratio"),
        "Sweeps after ten that are not measured. Of two threads, the ratio is to one. Memory: peak of fit beyond the\n"
        "counts (float32), in a fresh process, to the counts' own size.",
    )
    corpus = bench.corpus("20news-bydate-raw") or next(bench.corpora(), None)
    if corpus is None:
        return table
    bench.say(f"sampling {corpus.name}")
    counts = Vectorizer(dtype=np.float32).fit_transform(corpus.train.texts)
    labels = np.unique(np.array(corpus.train.labels), return_inverse=True)[1].astype(np.int32)
    ours = {n: f"genus, {n}" for n in bench.thread_counts}
    entries = {name: Entry(_sampler(counts, labels, n), n) for n, name in ours.items()}
    peer = _peer(counts)
    if peer is None:
        bench.absent[PEER] = "not installed"
    else:
        entries = {PEER: Entry(peer), **entries}
    times = race(entries, bench.repeat)
    n_tokens = SWEEPS * float(counts.sum())
    for n, name in ours.items():
        against = PEER if n == 1 else ours[1]
        if against not in entries:
            continue
        ratio = times.ratio(against, name)
        rates = [n_tokens / times.median(system) / 1e6 for system in (against, name)]
        table.add(
            ("million tokens/s", str(n), *map(significant, rates), str(ratio)),
            {"threads": n, "against": against, "million_tokens_per_second": rates, "ratio": ratio},
            ratio.median,
            SPEED if n == 1 else SCALING,
        )
    _add_memory(table, bench, counts, labels)
    return table


def _sampler(counts: Any, labels: Any, n_threads: int) -> Callable[[], None]:
    rows = to_rows(counts)
    documents = LabelledRows.from_rows(rows, np.arange(rows.n_rows), labels, int(labels.max()) + 1)
    chains = Chains(documents, rows.n_columns, alpha=50.0, beta=0.1, n_chains=1, seed=0, n_threads=n_threads)

    def sweep(n: int = SWEEPS) -> None:
        for _ in range(n):
            chains.sweep()

    sweep(10)
    return sweep


def _peer(counts: Any) -> Callable[[], None] | None:
    try:
        import tomotopy
    except ImportError:
        return None
    model = tomotopy.LDAModel(k=20, seed=0)
    words = [str(w) for w in range(counts.shape[1])]
    for d in range(counts.shape[0]):
        row = slice(counts.indptr[d], counts.indptr[d + 1])
        tokens = np.repeat(counts.indices[row], counts.data[row].astype(int)).tolist()
        if tokens:
            model.add_doc([words[w] for w in tokens])
    model.train(10, workers=1)
    return lambda: model.train(SWEEPS, workers=1)


def _add_memory(table: Table, bench: Bench, counts: Any, labels: Any) -> None:
    size = counts.data.nbytes + counts.indices.nbytes + counts.indptr.nbytes
    n_threads = bench.thread_counts[-1]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "counts.npz"
        sparse.save_npz(file, counts, compressed=False)
        np.save(file.with_suffix(".npy"), labels)
        bench.say("memory of sampling")
        command = [sys.executable, "-m", "benchmarks.gibbs", str(file)]
        with pinned(n_threads):
            done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=True)
    added = int(done.stdout)
    table.add(
        (
            "memory MB",
            str(n_threads),
            significant(size / 1e6),
            significant(added / 1e6),
            f"{significant(added / size)}×",
        ),
        {"task": "memory", "counts_bytes": size, "genus_bytes": added},
        added / size,
        MEMORY,
    )


def peak_bytes(file: Path) -> int:
    """What fitting adds to the peak."""
    counts, labels = sparse.load_npz(file), np.load(file.with_suffix(".npy"))
    RelevanceTopicModel(n_sweeps=1).fit(counts[:20], labels[:20])  # what is imported and kept anyway
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5", "ascii")
    before = _status("VmRSS")
    RelevanceTopicModel(n_sweeps=3).fit(counts, labels)
    return _status("VmHWM") - before


if __name__ == "__main__":
    print(peak_bytes(Path(sys.argv[1])))
