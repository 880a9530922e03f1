"""From raw texts to a trained model to labels for the test part, every system as its users run it."""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.markup import escape
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from benchmarks.bench import Bench
from benchmarks.corpora import Corpus, Part
from benchmarks.measure import Spread, pinned, significant
from benchmarks.report import Table, Target
from genus import TextClassifier

ROOT = Path(__file__).parents[1]
ENVIRONMENT = ROOT / ".venv-peers"
LABEL_PREFIX = {"fasttext": "__label__{} ", "vowpalwabbit": "{} | ", "river": "{} "}
TITLES = {
    "genus": "genus TextClassifier",
    "scikit-learn": "scikit-learn pipeline",
    "fasttext": "fastText, 5 epochs",
    "vowpalwabbit": "Vowpal Wabbit, 1 pass",
}
TARGETS = {"scikit-learn": Target(12), "fasttext": Target(1), "vowpalwabbit": Target(1)}

Facts = dict[str, Any]  # seconds of write, train and predict; accuracy


def run(bench: Bench) -> Table:
    n_threads = bench.thread_counts[-1]
    table = Table(
        "end_to_end",
        f"Raw texts to model to labels, {n_threads} cores for everybody",
        ("data", "system", "write s", "train s", "predict s", "total s", "accuracy", "ratio", "no write"),
        "ratio: time of the system by that of genus. scikit-learn pipeline: CountVectorizer, MultinomialNB.\n"
        "write: the peer's input files, words in lower case between spaces. Targets are judged without it.\n"
        "fastText and Vowpal Wabbit are timed from inside, without the start of an interpreter.",
    )
    versions: dict[str, Any] = {}
    trouble = peer_environment(bench)
    if trouble:
        table.note += f"\nfastText and Vowpal Wabbit could not be installed: {escape(trouble)}"
    for corpus in bench.corpora():
        with tempfile.TemporaryDirectory() as folder:
            systems = _systems(corpus, Path(folder), n_threads)
            if trouble:
                for name in LABEL_PREFIX:
                    systems.pop(name, None)
            facts: dict[str, list[Facts]] = {name: [] for name in systems}
            for number in range(_rounds(bench)):
                for name, system in systems.items():
                    bench.say(f"end to end, {corpus.name}: {TITLES[name]}, round {number + 1}")
                    with pinned(n_threads):
                        facts[name].append(system())
        versions = {TITLES[name]: rounds[0].get("version") for name, rounds in facts.items()}
        for name in TITLES:
            if name in facts:
                _row(table, corpus.name, name, facts)
            else:
                record = {"data": corpus.name, "system": name, "error": trouble}
                table.add((corpus.name, TITLES[name], *[""] * 7), record)
    table.note += "".join(f"\n{title}: version {v}" for title, v in versions.items() if v)
    return table


def peer_environment(bench: Bench) -> str:
    """Make the peers' environment if it is missing. Returns why that failed, or nothing."""
    done = ENVIRONMENT / "installed"
    requirements = Path(__file__).with_name("peers.txt")
    if done.is_file() and done.read_text("utf-8") == requirements.read_text("utf-8"):
        return ""
    bench.say("installing fastText and Vowpal Wabbit")
    pip = [
        str(ENVIRONMENT / "bin" / "python"),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    for command in (
        [sys.executable, "-m", "venv", str(ENVIRONMENT)],
        [*pip, "--requirement", str(requirements)],
    ):
        outcome = subprocess.run(command, capture_output=True, text=True, check=False)
        if outcome.returncode != 0:
            lines = (outcome.stderr or outcome.stdout).strip().splitlines()
            return lines[-1] if lines else f"exit status {outcome.returncode}"
    done.write_text(requirements.read_text("utf-8"), "utf-8")
    return ""


def _rounds(bench: Bench) -> int:
    return min(bench.repeat, 3)  # the peers need a minute a round


def _systems(corpus: Corpus, folder: Path, n_threads: int) -> dict[str, Callable[[], Facts]]:
    def in_process(make: Callable[[], Any]) -> Callable[[], Facts]:
        return lambda: _in_process(make(), corpus)

    def peer(name: str) -> Callable[[], Facts]:
        return lambda: run_peer(name, corpus, folder, n_threads)

    return {
        "genus": in_process(lambda: TextClassifier("nb", n_jobs=n_threads)),
        "scikit-learn": in_process(lambda: make_pipeline(CountVectorizer(), MultinomialNB())),
        "fasttext": peer("fasttext"),
        "vowpalwabbit": peer("vowpalwabbit"),
    }


def _in_process(model: Any, corpus: Corpus) -> Facts:
    begin = time.perf_counter()
    model.fit(corpus.train.texts, corpus.train.labels)
    trained = time.perf_counter()
    predicted = model.predict(corpus.test.texts)
    done = time.perf_counter()
    accuracy = float(np.mean(predicted == np.array(corpus.test.labels)))
    return {"write": 0.0, "train": trained - begin, "predict": done - trained, "accuracy": accuracy}


def run_peer(name: str, corpus: Corpus, folder: Path, n_threads: int) -> Facts:
    """Train and predict in the peers' own environment, after writing their input."""
    begin = time.perf_counter()
    classes = sorted({*corpus.train.labels, *corpus.test.labels})
    numbers = {label: number for number, label in enumerate(classes, start=1)}
    files = [folder / f"{name}.{part}" for part in ("train", "test")]
    for file, part in zip(files, (corpus.train, corpus.test), strict=True):
        write_input(file, part, numbers, LABEL_PREFIX[name])
    written = time.perf_counter() - begin
    return call_peer(name, files, len(classes), n_threads) | {"write": written}


def call_peer(name: str, files: Sequence[Path], n_classes: int, n_threads: int) -> Facts:
    """What a peer says of the files of a training and a test part."""
    worker = Path(__file__).with_name("peers.py")
    python = ENVIRONMENT / "bin" / "python"
    command = [*map(str, (python, worker, name, *files, n_classes, n_threads))]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    if outcome.returncode != 0:
        raise RuntimeError(f"{name} failed: {outcome.stderr.strip()}")
    facts: Facts = json.loads(outcome.stdout.splitlines()[-1])
    return facts


def write_input(file: Path, part: Part, numbers: dict[str, int], prefix: str) -> None:
    """One text a line, its class number before it. The words are those that the others find by themselves."""
    no_words = re.compile(r"\W+")
    with open(file, "w", encoding="utf-8", errors="replace") as out:
        for text, label in zip(part.texts, part.labels, strict=True):
            out.write(f"{prefix.format(numbers[label])}{no_words.sub(' ', text.lower())}\n")


def _row(table: Table, data: str, name: str, facts: dict[str, list[Facts]]) -> None:
    rounds = facts[name]
    write, train, predict, accuracy = (
        statistics.median(f[key] for f in rounds) for key in ("write", "train", "predict", "accuracy")
    )
    ours = [_total(f) for f in facts["genus"]]
    whole = Spread.of_ratios([_total(f) for f in rounds], ours)
    pure = Spread.of_ratios([_total(f) - f["write"] for f in rounds], ours)
    table.add(
        (
            data, TITLES[name], significant(write) if write else "", significant(train), significant(predict),
            significant(statistics.median(map(_total, rounds))), f"{accuracy:.4f}",
            str(whole) if name != "genus" else "", str(pure) if write else "",
        ),
        {"data": data, "system": name, "rounds": rounds, "ratio": whole, "ratio_without_write": pure},
        pure.median,
        TARGETS.get(name),
    )  # fmt: skip


def _total(facts: Facts) -> float:
    return float(facts["write"] + facts["train"] + facts["predict"])
