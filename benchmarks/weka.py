"""Posteriors and training times of DiscriminativeNB beside those of WEKA's DMNBtext, its authors' own code.

    python -m benchmarks.weka [--jar /usr/share/java/weka.jar]

Needs a Java development kit, the data folder (GENUS_DATA) and WEKA 3.6, which Debian has as the package `weka`; where
one is missing it says so and ends. Both learn the same documents in the same order, and predict the other half.

Timed is training alone, from documents in memory, one thread each: WEKA's buildClassifier, and fit with all its checks
of what it is given, of which scikit-learn's take a third of a millisecond. Reading files is in neither, nor the start
of Java. Two columns compare them: what training costs who starts WEKA for it, as its command line does (the first round
in a new Java machine, the median of three, by the median of genus), and what it costs once Java's compiler has seen it
often (the fastest of many rounds, by the fastest of genus, which compiles nothing).
"""

from __future__ import annotations

import shutil
import statistics
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
from genus.models.discriminative.model import DiscriminativeNB
from genus.text.vectorizer import Vectorizer

SETS = (
    "tr11", "tr12", "tr23", "tr31", "tr41", "tr45", "oh0", "oh5", "oh10", "oh15", "re0", "re1", "fbis", "wap", "la1s",
    "la2s",
)  # fmt: skip
LARGE = ("imdb", "20news-bydate-raw")  # for the time: in the others, both take a millisecond
DIGITS = 5e-4  # WEKA prints three; from inside it gives all
MACHINES = 3  # of Java, of which the first round counts
ROUNDS = 25  # in the last of them: Java compiles in the first ones


@dataclass(frozen=True)
class Result:
    """Posteriors, and the seconds of training: in first rounds, and in all rounds of one process."""

    posteriors: NDArray[np.float64]
    first: list[float]
    rounds: list[float]


@dataclass(frozen=True)
class Halves:
    """Documents in a random but fixed order: the first half to learn, the other to predict."""

    X: Any
    codes: NDArray[np.int64]
    n_classes: int

    @classmethod
    def from_name(cls, name: str, *, two: bool) -> Halves:
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


def run_weka(jar: str, halves: Halves, options: Sequence[str]) -> Result:
    program = str(Path(__file__).with_name("Dmnb.java"))
    first: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        train, test = Path(folder, "train.arff"), Path(folder, "test.arff")
        halves.write(train, slice(None, halves.middle))
        halves.write(test, slice(halves.middle, None))
        for machine in range(1, MACHINES + 1):
            n_rounds = ROUNDS if machine == MACHINES else 1
            command = ["java", "-cp", jar, program, str(train), str(test), str(n_rounds), *options]
            lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
            rounds = [float(line) for line in lines if not line.startswith("=")]
            first.append(rounds[0])
    posteriors = [[float(p) for p in line.split()[1:]] for line in lines if line.startswith("=")]
    return Result(np.array(posteriors), first, rounds)


def run_genus(halves: Halves, **options: Any) -> Result:
    middle, rounds = halves.middle, []
    X, codes, classes = halves.X[:middle], halves.codes[:middle], np.arange(halves.n_classes)
    all_occur = len(np.unique(codes)) == len(classes)
    for _ in range(ROUNDS):
        clf = DiscriminativeNB(shuffle=False, n_jobs=1, **options)
        begin = time.perf_counter()
        if all_occur:
            clf.fit(X, codes)
        else:  # all classes are known beforehand, as in a file of WEKA's
            clf.partial_fit(X, codes, classes=classes)
        rounds.append(time.perf_counter() - begin)
    return Result(clf.predict_proba(halves.X[middle:]), rounds, rounds)


def compare(theirs: Result, ours: Result) -> dict[str, tuple[float, float]]:
    """Their milliseconds and ours, in first rounds and at best."""
    return {
        "first": (1e3 * statistics.median(theirs.first), 1e3 * statistics.median(ours.first)),
        "fastest": (1e3 * min(theirs.rounds), 1e3 * min(ours.rounds)),
    }


def describe(times: dict[str, tuple[float, float]]) -> str:
    return "  ".join(
        f"{significant(theirs):>9} {significant(ours):>8} {significant(theirs / ours):>8}×"
        for theirs, ours in times.values()
    )


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
    ratios: dict[str, list[list[float]]] = {}
    click.echo(f"{'milliseconds: WEKA, genus':30} {'difference':>10}  {'first round':>28}  {'fastest round':>28}")
    for name in only or [*SETS, *LARGE]:
        for two, what, weka_options, options in settings[:1] if name == "imdb" else settings:
            halves = Halves.from_name(name, two=two)
            with pinned(1):
                theirs, ours = run_weka(jar, halves, weka_options), run_genus(halves, **options)
            difference = float(np.abs(ours.posteriors - theirs.posteriors).max())
            largest = max(largest, difference)
            times = compare(theirs, ours)
            click.echo(f"{name:17} {halves.n_classes:2} {what:11} {difference:8.1e}  {describe(times)}")
            of_setting = ratios.setdefault(f"{'two' if two else 'all'} classes, {what}", [])
            of_setting.append([theirs / ours for theirs, ours in times.values()])
    for setting, found in ratios.items():
        first, fastest = np.median(found, axis=0)
        click.echo(f"median of {len(found):2}, {setting:24} {significant(first):>33}×  {significant(fastest):>27}×")
    click.echo(f"largest difference {largest:.1e}")
    if not largest < DIGITS:
        sys.exit("the posteriors differ")


if __name__ == "__main__":
    main()
