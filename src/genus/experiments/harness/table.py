"""A paper's table to reproduce: data sets (rows) x systems (columns), one metric, one protocol."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Numbers = dict[str, float]
Marks = Mapping[tuple[str, str], str]  # signs beside scores, by row and system


class Problem(Protocol):
    """A data set as its systems take it."""

    @property
    def sizes(self) -> tuple[int, int, int, int]: ...


@dataclass(frozen=True)
class Measured:
    """What a system did on a data set."""

    score: float
    development: float | None  # the best score of the search, on training documents; None without a search
    params: Mapping[str, object]
    n_points: int
    spread: float | None = None  # the standard deviation, where the score is a mean over splits or seeds
    folds: Sequence[float] = ()  # the score of each split, fold or seed, where there are several
    fit_seconds: float | None = None  # of training with the parameters found, the mean over splits
    predict_seconds: float | None = None  # of a test document


@dataclass(frozen=True)
class Plot:
    """A figure of a paper: lines through points, ours and the paper's own where it prints them."""

    title: str
    note: str
    x: str
    y: str
    lines: Mapping[str, Sequence[tuple[float, float]]]
    logarithmic: str = ""  # "x" or "xy": the axes that are


@dataclass(frozen=True)
class Row:
    """A data set, and what the paper says of it.

    ``load`` gives its documents; without it, the set is one of the paper's that is not here, and ``note`` says where it
    is to be had. ``data`` names the data sets that it reads. ``sizes`` are the paper's words, classes, training and
    test documents. ``note`` says what differs from the paper.
    """

    name: str
    task: str
    load: Callable[[], Problem] | None = None
    paper: Mapping[str, float] = field(default_factory=dict)
    sizes: tuple[int, int, int, int] | None = None
    note: str = ""
    data: tuple[str, ...] = ()


@dataclass(frozen=True)
class System:
    """A column: how a system is tuned on training documents and measured on test documents."""

    name: str
    measure: Callable[[Any, Any], Measured]  # of a problem and the settings
    tasks: frozenset[str] | None = None  # None for all

    def has(self, row: Row) -> bool:
        return self.tasks is None or row.task in self.tasks


@dataclass
class Cell:
    row: str
    system: str
    score: float | None = None
    development: float | None = None
    params: Mapping[str, object] = field(default_factory=dict)
    n_points: int = 0
    spread: float | None = None
    seconds: float = 0.0
    error: str | None = None
    sizes: tuple[int, ...] = ()  # words, classes, training and test documents
    folds: Sequence[float] = ()
    fit_seconds: float | None = None
    predict_seconds: float | None = None


@dataclass
class Results:
    """The cells there are, by row and system; of absent data sets, why there are none."""

    cells: dict[tuple[str, str], Cell] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)

    def scores(self, row: str) -> Numbers:
        """In percent, as papers print them."""
        return {s: 100 * c.score for (r, s), c in self.cells.items() if r == row and c.score is not None}

    def spreads(self, row: str) -> Numbers:
        """Standard deviations of the scores, in percent, where there are any."""
        return {s: 100 * c.spread for (r, s), c in self.cells.items() if r == row and c.spread is not None}

    def sizes(self, row: str) -> tuple[int, ...]:
        return next((tuple(c.sizes) for (r, _), c in self.cells.items() if r == row and c.sizes), ())

    @property
    def seconds(self) -> float:
        return sum(cell.seconds for cell in self.cells.values())


@dataclass(frozen=True)
class Experiment:
    """A table of a paper."""

    name: str
    title: str
    source: str
    metric: str
    protocol: str
    rows: Sequence[Row]
    systems: Sequence[System]
    settings: DataclassInstance
    baseline: str  # the system that `improved` is compared with
    improved: str
    draw: Callable[[Results], str] | None = None  # figures of its own instead of error reductions, as a section
    tested: frozenset[str] | None = None  # tasks that paired tests are made over; None for all
    plots: Callable[[Results], Sequence[Plot]] = lambda results: ()
    shared: Callable[[Row, System], Hashable] = lambda row, system: (row.name, system.name)
    """Cells for which this is the same have work in common: one process measures them."""
    tests_by_training: float | None = None  # test documents for each training document, where sizes do not say
    findings: Sequence[str] = ()  # what differs from the paper, and why

    def run(self, out: Path | None = None, tell: Callable[[Cell], None] = lambda cell: None, jobs: int = 1) -> Results:
        """Measure every cell that is not yet in ``out``, so many at a time."""
        from genus.experiments.harness.run import run

        return run([(self, out)], tell, jobs)[0]

    @property
    def cells(self) -> list[tuple[Row, System]]:
        """All there are to measure where every data set is there."""
        rows = [row for row in self.rows if row.load is not None]
        return [(row, system) for row in rows for system in self.systems if system.has(row)]


NEAR = 1.0  # points within which a figure counts as reproduced


def verdict(paper: float, ours: float) -> str:
    """Our score compared with the published one, both in percent: same, better or below."""
    return "same" if abs(ours - paper) <= NEAR else "better" if ours > paper else "below"


def verdicts(experiment: Experiment, results: Results) -> Counter[str]:
    """How many of the published figures were reproduced."""
    found: Counter[str] = Counter()
    for row in experiment.rows:
        ours = results.scores(row.name)
        found.update(verdict(row.paper[name], ours[name]) for name in row.paper if name in ours)
    return found


def versions() -> dict[str, str]:
    names = ("genus", "numpy", "scipy", "scikit-learn")
    return {"python": platform.python_version(), **{name: version(name) for name in names}}


def blocks(experiment: Experiment) -> list[tuple[list[Row], list[str]]]:
    """The table in parts: rows that have the same systems, or some of another part's, and the systems' names."""

    def systems_of(task: str) -> list[str]:
        return [s.name for s in experiment.systems if s.tasks is None or task in s.tasks]

    of_task = {row.task: systems_of(row.task) for row in experiment.rows}
    wide = [names for names in of_task.values() if not any(set(names) < set(other) for other in of_task.values())]
    parts = []
    for names in dict.fromkeys(map(tuple, wide)):
        rows = [row for row in experiment.rows if set(of_task[row.task]) <= set(names)]
        parts.append((rows, list(names)))
    return parts
