"""``python -m benchmarks.accuracy``: `TextClassifier()` against linear classifiers, naive Bayes, fastText, each tuned.

Everybody sees the training part only. Peers get TF-IDF (sublinear) of words and of words and pairs, and choose
features and settings by five folds; fastText gets words, and chooses n-grams, epochs and rate by a held-out fifth.
Their time includes counting and choosing, as ours does. Every cell is kept in
results/accuracy.json as it is finished, and is not measured again unless ``--again`` is given.
"""

from __future__ import annotations

import json
import re
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.bench import Bench
from benchmarks.end_to_end import call_peer, peer_environment
from benchmarks.measure import cores
from genus import TextClassifier
from genus.calibration import expected_calibration_error
from genus.errors import DataError
from genus.experiments.papers.auto import COUNTS, TEXTS
from genus.experiments.papers.auto import MOST as MOST_REPORTED
from genus.experiments.papers.peers import PEERS, Task, TunedPeer, few, load_tasks

RESULTS = Path(__file__).with_name("results") / "accuracy.json"
N_FOLDS = 5
MOST = {"imdb": 10_000, "arxiv_titles": 60_000}  # documents of a part


@dataclass(frozen=True)
class Answer:
    labels: np.ndarray[Any, Any]
    probabilities: np.ndarray[Any, Any] | None = None  # in the order of the sorted training labels


def ask_genus(task: Task) -> Answer:
    clf = TextClassifier(n_jobs=len(cores())).fit(task.texts, task.labels, unlabeled=list(task.unlabeled) or None)
    probabilities = clf.predict_proba(task.test_texts)
    return Answer(clf.classes_[probabilities.argmax(axis=1)], probabilities)


def ask_peer(name: str) -> Callable[[Task], Answer]:
    def ask(task: Task) -> Answer:
        peer = TunedPeer(*PEERS[name], N_FOLDS, n_jobs=len(cores()), unordered=task.unordered)
        return Answer(peer.fit(task.texts, task.labels, task.unlabeled).predict(task.test_texts))

    return ask


def ask_fasttext(task: Task) -> Answer:
    """In an environment of its own. Its training depends on the order in which its threads come."""
    if trouble := peer_environment(Bench()):
        raise click.ClickException(f"fastText could not be installed: {trouble}")
    labels = np.unique(task.labels)
    codes = np.searchsorted(labels, task.labels)
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / part for part in ("train", "test")]
        numbers = [codes + 1, np.zeros(len(task.test_texts), dtype=int)]
        for file, texts, part in zip(files, (task.texts, task.test_texts), numbers, strict=True):
            words = (" ".join(re.findall(r"\w+", text.lower())) for text in texts)
            lines = (f"__label__{n} {text}\n" for n, text in zip(part.tolist(), words, strict=True))
            file.write_text("".join(lines), "utf-8")
        peer = "fasttext-tuned-unordered" if task.unordered else "fasttext-tuned"
        answers = call_peer(peer, files, len(labels), len(cores()))["answers"]
    return Answer(labels[np.maximum(answers, 1) - 1])


CONTESTANTS: dict[str, Callable[[Task], Answer]] = {
    "genus": ask_genus,
    **{name: ask_peer(name) for name in PEERS},
    "fastText": ask_fasttext,
}
OTHERS = [name for name in CONTESTANTS if name != "genus"]


def measure(task: Task, ask: Callable[[Task], Answer]) -> dict[str, float]:
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small classes, and solvers that stop early
        answer = ask(task)
    facts = {"seconds": time.perf_counter() - begin}
    right = answer.labels == task.test_labels
    facts["accuracy"] = float(right.mean())
    if answer.probabilities is not None:
        classes = np.unique(task.labels)
        known = np.isin(task.test_labels, classes)
        own = np.searchsorted(classes, task.test_labels[known])
        p = answer.probabilities[known, own]
        facts["calibration_error"] = expected_calibration_error(answer.probabilities.max(axis=1), right)
        facts["log_loss"] = float(-np.log(np.maximum(p, 1e-300)).mean())
    return facts


def tables(results: dict[str, dict[str, dict[str, float]]], names: Sequence[str], console: Console) -> None:
    """Accuracy and seconds of every task that all have done, means over its draws; their means, ranks and wins."""
    draws: dict[str, list[dict[str, dict[str, float]]]] = {}
    for task, cells in results.items():
        if all(name in cells for name in names):
            draws.setdefault(task.rpartition(", draw ")[0] or task, []).append(cells)
    done = {
        task: {name: _mean([cells[name] for cells in several]) for name in names} for task, several in draws.items()
    }
    table = Table(title="accuracy (seconds, choosing included)", title_justify="left")
    table.add_column("task")
    for name in (*names, "calibration error"):
        table.add_column(name, justify="right")
    for task, cells in done.items():
        best = max(cells[name]["accuracy"] for name in names)
        shown = [
            f"{'[bold]' if cells[n]['accuracy'] == best else ''}{_cell(cells[n]['accuracy'], cells[n]['seconds'])}"
            for n in names
        ]
        error = cells[names[0]].get("calibration_error")
        table.add_row(task, *shown, "" if error is None else f"{error:.3f}")
    if done:
        accuracy = np.array([[cells[n]["accuracy"] for n in names] for cells in done.values()])
        ranks = (accuracy[:, np.newaxis, :] > accuracy[:, :, np.newaxis] + 1e-9).sum(axis=2) + 1
        wins = (accuracy[:, :1] > accuracy).sum(axis=0)
        seconds = [sum(cells[n]["seconds"] for cells in done.values()) for n in names]
        table.add_section()
        table.add_row(
            "mean", *(f"{100 * a:.2f} ({s:.0f})" for a, s in zip(accuracy.mean(axis=0), seconds, strict=True))
        )
        if len(names) > 1:
            table.add_row("mean rank", *(f"{r:.2f}" for r in ranks.mean(axis=0)))
            table.add_row(f"{names[0]} is better in", *(f"{w} of {len(done)}" for w in wins))
    console.print(table)


def _mean(cells: Sequence[dict[str, float]]) -> dict[str, float]:
    return {fact: float(np.mean([cell[fact] for cell in cells])) for fact in cells[0]}


def _cell(accuracy: float, seconds: float) -> str:
    return f"{100 * accuracy:.2f} ({seconds:.0f})"


@click.command()
@click.option("--set", "sets", multiple=True, help="This data set (repeatable); by default all.")
@click.option("--each", multiple=True, type=int, help="So many documents of each class (repeatable), not all.")
@click.option("--draws", default=3, show_default=True, help="How often a few documents are drawn.")
@click.option("--parts", type=int, help="Of a set that is parted several times, only so many of them.")
@click.option("--unlabeled", default=0, show_default=True, help="With --each, texts without labels.")
@click.option(
    "--peer", "peers", multiple=True, type=click.Choice(list(CONTESTANTS)[1:]), help="This peer; by default all."
)
@click.option("--alone", is_flag=True, help="The peers without genus.")
@click.option("--as-reported", is_flag=True, help="Of big sets, the documents that `genus reproduce auto` draws.")
@click.option("--again", is_flag=True, help="Measure what was measured before.")
def main(
    sets: tuple[str, ...],
    each: tuple[int, ...],
    draws: int,
    parts: int | None,
    unlabeled: int,
    peers: tuple[str, ...],
    alone: bool,
    as_reported: bool,
    again: bool,
) -> None:
    """Compare accuracy and the time that choosing a model takes."""
    console = Console(width=None if Console().is_terminal else 160)
    names = [*([] if alone else ["genus"]), *(peers or OTHERS)]
    most = MOST_REPORTED if as_reported else MOST
    results: dict[str, Any] = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    asked = []
    with console.status("") as status:
        for name in sets or TEXTS + COUNTS:
            status.update(f"loading {name}")
            try:
                whole = load_tasks(name, most.get(name))
            except DataError as error:
                console.print(f"[yellow]skipped {name}[/]: {error}")
                continue
            tasks = (
                [few(whole[0], n, seed, unlabeled) for n in each for seed in range(draws)] if each else whole[:parts]
            )
            for task in tasks:
                asked.append(task.name)
                cells = results.setdefault(task.name, {})
                for contestant in names:
                    if again or contestant not in cells:
                        status.update(f"{task.name}: {contestant}")
                        cells[contestant] = measure(task, CONTESTANTS[contestant])
                        RESULTS.parent.mkdir(exist_ok=True)
                        RESULTS.write_text(json.dumps(results, indent=1), "utf-8")
    tables({name: results[name] for name in asked}, names, console)


if __name__ == "__main__":
    main()
