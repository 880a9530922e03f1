"""Peak memory of fit_transform, each in a fresh process.

    python -m benchmarks.memory {genus,scikit-learn} TEXTS MAX_N

counts the texts of a JSON file and prints the bytes needed above what the texts and libraries take.
"""

from __future__ import annotations

import ctypes
import gc
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.bench import Bench
from benchmarks.measure import pinned, significant
from benchmarks.report import Table, Target
from genus import Vectorizer

SYSTEMS = {"scikit-learn": CountVectorizer, "genus": Vectorizer}
TARGET = Target(1, "×", below=True)


def run(bench: Bench) -> Table:
    table = Table(
        "memory",
        "Peak memory of fit_transform beyond the texts, in a fresh process",
        ("data", "n-grams", "threads", "CountVectorizer MB", "genus MB", "genus / peer"),
        "The result counts too: int64 counts in scikit-learn, float64 in genus.",
    )
    n_threads = bench.thread_counts[-1]
    for corpus in bench.corpora():
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "texts.json"
            file.write_text(json.dumps(corpus.train.texts), "ascii")
            for max_n in (1, 2) if corpus.name.startswith("20news") else (1,):
                bench.say(f"memory of {corpus.name}, n-grams (1, {max_n})")
                peer, ours = (_in_child(name, file, max_n, n_threads) for name in SYSTEMS)
                table.add(
                    (
                        corpus.name, f"(1, {max_n})", str(n_threads), significant(peer / 1e6),
                        significant(ours / 1e6), f"{significant(ours / peer)}×",
                    ),
                    {"data": corpus.name, "max_n": max_n, "peer_bytes": peer, "genus_bytes": ours},
                    ours / peer,
                    TARGET,
                )  # fmt: skip
    return table


def _in_child(name: str, file: Path, max_n: int, n_threads: int) -> int:
    command = [sys.executable, "-m", "benchmarks.memory", name, str(file), str(max_n)]
    root = Path(__file__).parents[1]
    with pinned(n_threads):
        return int(subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout)


def peak_bytes(name: str, file: Path, max_n: int) -> int:
    """What counting adds to the peak. The peak is set back first: reading the texts must not hide it."""
    texts = json.loads(file.read_text("ascii"))
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # memory that reading left free would be used without being seen
    Path("/proc/self/clear_refs").write_text("5", "ascii")
    before = _status("VmRSS")
    result = SYSTEMS[name](ngram_range=(1, max_n)).fit_transform(texts)
    assert result.nnz
    return _status("VmHWM") - before


def _status(key: str) -> int:
    """Bytes as the kernel tells them. Not ``ru_maxrss``, in which a child inherits its parent's peak."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{key}:"))


if __name__ == "__main__":
    print(peak_bytes(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
