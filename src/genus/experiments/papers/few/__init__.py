"""A few labels of each class, or none: `TextClassifier()` with and without vectors of words, beside what people use.

No paper's table. Accuracy is the mean over random draws, the same for everybody; texts to test with are a fixed sample.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from genus.experiments.harness.table import Experiment, System
from genus.experiments.pages.findings import FEW
from genus.experiments.papers.few.contestants import (
    fine_tuned,
    readers_of_names,
    readers_of_texts,
    told_no_names,
)
from genus.experiments.papers.few.encodings import encoder_checksum
from genus.experiments.papers.few.measures import WHATS, Settings, measure, relative_time
from genus.experiments.papers.few.plan import EIGHT, FOREIGN, NAMED, OTHERS, TIME, TUNED, UNLABELED, ZERO, rows
from genus.experiments.papers.few.summary import means, summary
from genus.experiments.papers.few.texts import POOL, TEST

QUICK = Settings(draws=2, rounds=2)

_WITHOUT_ENCODER = ("genus", "genus without vectors", "LinearSVC", "LR")


def experiment(quick: bool = False) -> Experiment:
    s = replace(QUICK if quick else Settings(), encoder=encoder_checksum())
    found = systems()
    measured = frozenset(task for system in found for task in system.tasks or ())
    return Experiment(
        name="few",
        title="A few labels of each class, or none" + (", quick: some of the sets" if quick else ""),
        source="genus",
        metric="Accuracy in percent; times in percent of those without vectors",
        protocol=f"Means and standard deviations over {s.draws} random draws of a few texts of each class, from at "
        f"most {POOL} of each; a class that has fewer gives all. At most {TEST:,} texts to test with, a fixed random "
        "sample. genus: TextClassifier() with its defaults. LinearSVC (C = 1) and LR (logistic regression, C = 10): "
        "sublinear TF-IDF of words. table: the vectors that ship with genus; encoder: all-MiniLM-L6-v2; tokens: the "
        "mean of what the encoder says of each token alone. All three give vectors of unit length, with LR on top.",
        rows=[row for row in rows(quick) if row.task in measured],
        systems=found,
        settings=s,
        baseline="LinearSVC",
        improved="genus",
        draw=summary,
        tested=frozenset({EIGHT, OTHERS}),
        plots=means,
        shared=lambda row, system: row.data,
        findings=FEW,
    )


def systems() -> list[System]:
    """Everybody where there are labels; those who read names; genus with unlabeled texts; and what vectors cost."""
    tasks: dict[str, set[str]] = {name: {EIGHT, OTHERS} for name in readers_of_texts()}
    tasks |= {name: {NAMED} for name in told_no_names()}
    tasks |= {name: {ZERO, NAMED} for name in readers_of_names()}
    tasks |= {name: {TUNED} for name in fine_tuned()}
    for name in tasks.keys() & set(_WITHOUT_ENCODER):
        tasks[name].add(FOREIGN)
    for name in tasks.keys() & {"genus", "genus without vectors"}:
        tasks[name].add(UNLABELED)
    for name in tasks.keys() & {"genus", "encoder + LR"} if fine_tuned() else ():
        tasks[name].add(TUNED)
    found = [System(name, partial(measure, name), frozenset(own)) for name, own in tasks.items()]
    return found + [System(what, partial(relative_time, what), frozenset({TIME})) for what in WHATS]
