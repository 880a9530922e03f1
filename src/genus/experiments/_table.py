"""A paper's table, measured again: data sets (rows) x systems (columns), one metric, one protocol.

Each cell is measured on its own and stored as it is done: a run that was stopped goes on where it was, and a cell
that fails says so in its place.
"""

from __future__ import annotations

import json
import math
import os
import platform
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from genus.errors import DataError

Numbers = dict[str, float]
Marks = Mapping[tuple[str, str], str]  # signs beside scores, by row and system


@dataclass(frozen=True)
class Measured:
    """What a system did on a data set."""

    score: float
    development: float | None  # the best score of the search, on training documents; None without a search
    params: dict[str, Any]
    n_points: int
    spread: float | None = None  # the standard deviation, where the score is a mean over splits or seeds
    folds: Sequence[float] = ()  # the score of each fold, where there are folds


@dataclass(frozen=True)
class Plot:
    """A figure of a paper: lines through points, ours and the paper's own where it prints them."""

    title: str
    note: str
    x: str
    y: str
    lines: Mapping[str, Sequence[tuple[float, float]]]
    logarithmic: bool = False  # both axes


@dataclass(frozen=True)
class Row:
    """A data set, and what the paper says of it.

    ``load`` gives its documents; without it, the set is one of the paper's that is not to be had. ``sizes`` are the
    paper's words, classes, training and test documents. ``note`` says what differs from the paper.
    """

    name: str
    task: str
    load: Callable[[], Any] | None = None
    paper: Mapping[str, float] = field(default_factory=dict)
    sizes: tuple[int, int, int, int] | None = None
    note: str = ""


@dataclass(frozen=True)
class System:
    """A column: how a system is tuned on training documents and measured on test documents."""

    name: str
    measure: Callable[[Any, Any], Measured]  # of a problem and the settings
    tasks: frozenset[str] | None = None  # None for all


@dataclass
class Cell:
    row: str
    system: str
    score: float | None = None
    development: float | None = None
    params: dict[str, Any] = field(default_factory=dict)
    n_points: int = 0
    spread: float | None = None
    seconds: float = 0.0
    error: str | None = None
    sizes: tuple[int, ...] = ()  # words, classes, training and test documents
    folds: Sequence[float] = ()


@dataclass
class Results:
    """The cells there are, by row and system; of absent data sets, why there are none."""

    cells: dict[tuple[str, str], Cell] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)

    def scores(self, row: str) -> Numbers:
        """In per cent, as papers print them."""
        return {s: 100 * c.score for (r, s), c in self.cells.items() if r == row and c.score is not None}

    def spreads(self, row: str) -> Numbers:
        """Standard deviations of the scores, in per cent, where there are any."""
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
    settings: Any  # a dataclass
    baseline: str  # the system that `improved` is compared with
    improved: str
    draw: Callable[[Results], str] | None = None  # figures of its own instead of error reductions, as a section
    tested: frozenset[str] | None = None  # tasks that paired tests are made over; None for all
    marks: Callable[[Results], Marks] = lambda results: {}  # beside scores
    plots: Callable[[Results], Sequence[Plot]] = lambda results: ()

    def run(self, out: Path | None = None, tell: Callable[[Cell], None] = lambda cell: None) -> Results:
        """Measure every cell that is not yet in ``out``."""
        store = _Store(out, self)
        results = Results()
        for row in self.rows:
            if row.load is None:
                results.absent[row.name] = "not to be had"
                continue
            try:
                for cell in self._cells(row, store):
                    results.cells[cell.row, cell.system] = cell
                    tell(cell)
            except DataError as error:
                results.absent[row.name] = str(error)
        return results

    @property
    def n_cells(self) -> int:
        """Cells to measure where every data set is there."""
        return sum(
            system.tasks is None or row.task in system.tasks
            for row in self.rows
            if row.load is not None
            for system in self.systems
        )

    def _cells(self, row: Row, store: _Store) -> Iterator[Cell]:
        problem = None
        for system in self.systems:
            if system.tasks is not None and row.task not in system.tasks:
                continue
            cell = store.get(row.name, system.name)
            if cell is None:
                if problem is None:
                    problem = row.load()  # type: ignore[misc]
                cell = store.put(_measure(row, system, problem, self.settings))
            yield cell


def _measure(row: Row, system: System, problem: Any, settings: Any) -> Cell:
    begin = time.perf_counter()
    cell = Cell(row.name, system.name, sizes=problem.sizes)
    try:
        for name, value in asdict(system.measure(problem, settings)).items():
            setattr(cell, name, value)
    except Exception as error:  # the other cells do not depend on this one
        cell.error = f"{type(error).__name__}: {error}".splitlines()[0]
    cell.seconds = round(time.perf_counter() - begin, 2)
    return cell


class _Store:
    """Cells as files. A cell measured otherwise (settings, protocol, version) does not count; nor does a failed one."""

    def __init__(self, out: Path | None, experiment: Experiment) -> None:
        how = [experiment.name, experiment.protocol, asdict(experiment.settings), versions()]
        self._how = json.loads(json.dumps(how))
        self._folder = None if out is None else out / "cells"
        if self._folder:
            self._folder.mkdir(parents=True, exist_ok=True)

    def get(self, row: str, system: str) -> Cell | None:
        file = self._file(row, system)
        if file is None or not file.is_file():
            return None
        try:
            stored = json.loads(file.read_text("utf-8"))
            cell = Cell(**stored["cell"]) if stored["how"] == self._how else None
        except (ValueError, TypeError, KeyError):  # cut off by a full disk, or of another form: measured again
            return None
        return None if cell is None or cell.error else cell

    def put(self, cell: Cell) -> Cell:
        file = self._file(cell.row, cell.system)
        if file:
            write_whole(file, json.dumps({"how": self._how, "cell": asdict(cell)}, indent=1, default=_plain))
        return cell

    def _file(self, row: str, system: str) -> Path | None:
        if self._folder is None:
            return None
        name = f"{row}-{system}".replace("+", "plus")
        return self._folder / f"{''.join(c if c.isalnum() or c in '-_' else '_' for c in name)}.json"


NEAR = 1.0  # points within which a figure counts as reproduced


def verdict(paper: float, ours: float) -> str:
    """What to say of our score beside the paper's, both in per cent."""
    return "same" if abs(ours - paper) <= NEAR else "better" if ours > paper else "below"


def verdicts(experiment: Experiment, results: Results) -> Counter[str]:
    """How many of the paper's figures came out."""
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


def to_dict(experiment: Experiment, results: Results) -> dict[str, Any]:
    """Everything there is to know of a run, for programs."""
    rows = []
    for row in experiment.rows:
        cells = {s: asdict(c) for (r, s), c in results.cells.items() if r == row.name}
        for system, cell in cells.items():
            cell["paper"] = row.paper.get(system)
        rows.append(
            {
                "name": row.name,
                "task": row.task,
                "note": row.note,
                "absent": results.absent.get(row.name),
                "paper": dict(row.paper),
                "sizes": results.sizes(row.name),
                "paper_sizes": row.sizes,
                "cells": cells,
            }
        )
    return {
        "experiment": experiment.name,
        "title": experiment.title,
        "source": experiment.source,
        "metric": experiment.metric,
        "protocol": experiment.protocol,
        "settings": asdict(experiment.settings),
        "versions": versions(),
        "cores": os.cpu_count(),
        "seconds": round(results.seconds, 1),
        "rows": rows,
        "error_reductions": [asdict(e) for e in error_reductions(experiment, results)],
        "tests": {k: [asdict(t) for t in paired_tests(experiment, s)] for k, s in both(experiment, results).items()},
        "figure": {k: [asdict(p) for p in points] for k, points in figure(experiment, results).items()},
        "marks": [[*cell, mark] for cell, mark in experiment.marks(results).items()],
        "plots": [asdict(plot) for plot in experiment.plots(results)],
    }


# What papers say about tables


@dataclass(frozen=True)
class PairedTest:
    """A one-sided paired t-test over data sets: is the first system better than the second (or worse)?"""

    first: str
    second: str
    n: int
    difference: float  # of the means, in points
    p: float

    @property
    def mark(self) -> str:
        return "‡" if self.p < 0.005 else "†" if self.p < 0.05 else ""


def paired_tests(experiment: Experiment, scores: Mapping[str, Numbers]) -> list[PairedTest]:
    """The improved system against every other, in the direction that the means have."""
    from scipy.stats import ttest_rel

    tests = []
    for system in experiment.systems:
        if system.name == experiment.improved:
            continue
        pairs = [
            (s[experiment.improved], s[system.name])
            for s in scores.values()
            if {experiment.improved, system.name} <= s.keys()
        ]
        if len(pairs) < 2:
            continue
        first, second = zip(*pairs, strict=True)
        difference = (sum(first) - sum(second)) / len(pairs)
        p = 1.0
        if len({round(a - b, 12) for a, b in pairs}) > 1:  # without any spread there is no test
            p = float(ttest_rel(first, second, alternative="greater" if difference > 0 else "less").pvalue)
        tests.append(PairedTest(experiment.improved, system.name, len(pairs), difference, p))
    return tests


def both(experiment: Experiment, results: Results) -> dict[str, dict[str, Numbers]]:
    """The scores by row: all of the paper's, and ours."""
    rows = [row for row in experiment.rows if experiment.tested is None or row.task in experiment.tested]
    ours = {row.name: results.scores(row.name) for row in rows}
    return {
        "paper": {row.name: dict(row.paper) for row in rows if row.paper},
        "genus": {name: scores for name, scores in ours.items() if scores},
    }


def error_reduction(baseline: float, improved: float) -> float:
    """1 - error / error of the baseline, in per cent, of scores in per cent.

    >>> error_reduction(90.0, 95.0)
    50.0
    """
    return 100 * (1 - (100 - improved) / (100 - baseline)) if baseline < 100 else math.nan


@dataclass(frozen=True)
class Reduction:
    """The mean of a task's relative error reductions, in per cent, and over how many sets."""

    task: str
    paper: float | None
    n_paper: int
    genus: float | None
    n_genus: int


def error_reductions(experiment: Experiment, results: Results) -> list[Reduction]:
    points = figure(experiment, results)
    reductions = []
    for task in dict.fromkeys(row.task for row in experiment.rows):
        paper, genus = ([p.reduction for p in points[who] if p.task == task] for who in ("paper", "genus"))
        reductions.append(Reduction(task, _mean(paper), len(paper), _mean(genus), len(genus)))
    return reductions


@dataclass(frozen=True)
class Point:
    """A data set: training documents per class, and by how much the error is reduced."""

    name: str
    task: str
    documents_per_class: float
    reduction: float


def figure(experiment: Experiment, results: Results) -> dict[str, list[Point]]:
    """Error reductions over documents per class, the paper's and ours."""
    points: dict[str, list[Point]] = {"paper": [], "genus": []}
    for row in experiment.rows:
        sides = ("paper", row.paper, row.sizes or ()), ("genus", results.scores(row.name), results.sizes(row.name))
        for who, scores, sizes in sides:
            if sizes and {experiment.baseline, experiment.improved} <= scores.keys():
                reduction = error_reduction(scores[experiment.baseline], scores[experiment.improved])
                if math.isfinite(reduction):
                    points[who].append(Point(row.name, row.task, sizes[2] / sizes[1], reduction))
    return points


def logarithmic_fit(points: Sequence[Point]) -> tuple[float, float, float] | None:
    """Least squares: reduction = a + b * log10(documents per class); a, b and R²."""
    import numpy as np

    x = np.log10([p.documents_per_class for p in points])
    y = np.array([p.reduction for p in points])
    if len(points) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    b, a = np.polyfit(x, y, 1)
    return float(a), float(b), float(np.corrcoef(x, y)[0, 1] ** 2)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)


def write_whole(file: Path, text: str) -> None:
    """Whole or not at all: what is there when a run is stopped can be read."""
    temporary = file.with_name(f".{file.name}.tmp")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, file)
