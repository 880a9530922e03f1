"""Posteriors and training times of DiscriminativeNB beside those of WEKA's DMNBtext, its authors' own code.

    python -m benchmarks.weka [--jar /usr/share/java/weka.jar]

Needs a Java development kit, the data folder (GENUS_DATA) and WEKA 3.6, which Debian has as the package `weka`; where
one is missing it says so and ends. Both learn the same documents in the same order, and predict the other half.

Timed is training alone, from documents in memory: WEKA's buildClassifier, and partial_fit with all its checks of what
it is given, which take a third of a millisecond. Reading files is in neither, nor is the start of Java; its compiler is
in the first round, and hardly in the fastest.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import pinned, significant
from genus.datasets import data_folders, load_dataset
from genus.discriminative import DiscriminativeNB
from genus.text import Vectorizer

SETS = (
    "tr11", "tr12", "tr23", "tr31", "tr41", "tr45", "oh0", "oh5", "oh10", "oh15", "re0", "re1", "fbis", "wap", "la1s",
    "la2s",
)  # fmt: skip
LARGE = ("imdb", "20news-bydate-raw")  # for the time: in the others, both take a millisecond
DIGITS = 5e-4  # WEKA prints three; from inside it gives all
ROUNDS = 9  # Java compiles in the first ones


@dataclass(frozen=True)
class Halves:
    """Documents in a random but fixed order: the first half to learn, the other to predict."""

    X: Any
    codes: NDArray[np.int64]
    n_classes: int

    @classmethod
    def of(cls, name: str, *, two: bool) -> Halves:
        """A data set with all its classes, or with its two largest, as the paper has it."""
        data = load_dataset(name if name in LARGE else f"weka19/{name}", "train" if name in LARGE else "all")
        counts = data.matrix()[0] if data.texts is None else Vectorizer().fit_transform(data.texts)
        labels = np.array(data.labels)
        classes, sizes = np.unique(labels, return_counts=True)
        if two:
            classes = np.sort(classes[np.argsort(-sizes, kind="stable")[:2]])
        kept = np.flatnonzero(np.isin(labels, classes))
        kept = kept[np.random.default_rng(0).permutation(len(kept))]
        return cls(counts[kept], np.searchsorted(classes, labels[kept]), len(classes))

    @property
    def middle(self) -> int:
        return len(self.codes) // 2

    def write(self, file: Path, part: slice) -> None:
        """As WEKA's sparse ARFF, the class last. Class 0 is the first value, which sparse rows leave out."""
        X, codes = self.X[part], self.codes[part]
        with open(file, "w", encoding="utf-8") as out:
            out.write("@relation documents\n")
            out.writelines(f"@attribute w{w} numeric\n" for w in range(X.shape[1]))
            out.write(f"@attribute class {{{','.join(f'c{c}' for c in range(self.n_classes))}}}\n@data\n")
            for d, code in enumerate(codes.tolist()):
                row = slice(X.indptr[d], X.indptr[d + 1])
                pairs = [f"{w} {x:g}" for w, x in zip(X.indices[row].tolist(), X.data[row].tolist(), strict=True)]
                out.write(f"{{{','.join([*pairs, f'{X.shape[1]} c{code}'])}}}\n")


def run_weka(jar: str, halves: Halves, options: Sequence[str]) -> tuple[list[float], NDArray[np.float64]]:
    """The seconds of its first and of its fastest round, and its posteriors."""
    with tempfile.TemporaryDirectory() as folder:
        train, test = Path(folder, "train.arff"), Path(folder, "test.arff")
        halves.write(train, slice(None, halves.middle))
        halves.write(test, slice(halves.middle, None))
        program = Path(__file__).with_name("Dmnb.java")
        command = ["java", "-cp", jar, str(program), str(train), str(test), str(ROUNDS), *options]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    seconds = [float(line) for line in lines if not line.startswith("=")]
    return [seconds[0], min(seconds)], np.array(
        [[float(p) for p in line.split()[1:]] for line in lines if line.startswith("=")]
    )


def run_genus(halves: Halves, n_passes: int = 1, **options: Any) -> tuple[list[float], NDArray[np.float64]]:
    middle, seconds = halves.middle, []
    X, codes = halves.X[:middle], halves.codes[:middle]
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        clf = DiscriminativeNB(n_jobs=1, **options)
        for _ in range(n_passes):  # all classes are known beforehand, as in a file of WEKA's
            clf.partial_fit(X, codes, classes=np.arange(halves.n_classes))
        seconds.append(time.perf_counter() - begin)
    return [seconds[0], min(seconds)], clf.predict_proba(halves.X[middle:])


@click.command()
@click.option("--jar", default="/usr/share/java/weka.jar", show_default=True, help="WEKA's classes.")
@click.option("--only", multiple=True, type=click.Choice([*SETS, *LARGE]), help="This data set (repeatable).")
def main(jar: str, only: tuple[str, ...]) -> None:
    """Compare DiscriminativeNB with WEKA's DMNBtext."""
    for missing, there in (
        (f"no {jar}: apt-get install weka, or name it with --jar", Path(jar).is_file()),
        ("no Java", shutil.which("java")),
        ("no data folder: set GENUS_DATA", data_folders()),
    ):
        if not there:
            click.echo(f"skipped: {missing}")
            return
    settings: list[tuple[bool, str, list[str], dict[str, Any]]] = [
        (True, "one pass", [], {}),
        (True, "five passes", ["-I", "5"], {"n_passes": 5}),
        (True, "counts", ["-M"], {"binary": False}),
        (False, "one pass", [], {}),
    ]
    largest = 0.0
    click.echo(f"{'':30} {'difference':>10}  {'WEKA, genus ms: first round':>28}  {'fastest of 9':>28}")
    for name in only or [*SETS, *LARGE]:
        for two, what, weka_options, options in settings[:1] if name == "imdb" else settings:
            halves = Halves.of(name, two=two)
            with pinned(1):
                theirs, expected = run_weka(jar, halves, weka_options)
                ours, got = run_genus(halves, **options)
            difference = float(np.abs(got - expected).max())
            largest = max(largest, difference)
            times = "  ".join(
                f"{significant(1e3 * t):>9} {significant(1e3 * o):>8} {significant(t / o):>8}×"
                for t, o in zip(theirs, ours, strict=True)
            )
            click.echo(f"{name:17} {halves.n_classes:2} {what:11} {difference:8.1e}  {times}")
    click.echo(f"largest difference {largest:.1e}")
    if not largest < DIGITS:
        sys.exit("the posteriors differ")


if __name__ == "__main__":
    main()
