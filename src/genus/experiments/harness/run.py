"""Measures experiments: cells one after the other, or in worker processes that share the cores.

Each cell is stored when it is done, so that an interrupted run continues where it stopped. A cell that fails, or whose
process is killed, is recorded as failed, and the others are measured nevertheless.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from genus.errors import DataError
from genus.experiments.harness.store import Store, data_checksum
from genus.experiments.harness.table import Cell, Experiment, Problem, Results, Row, System


@dataclass(frozen=True)
class Task:
    """Cells of an experiment that one process measures, in this order."""

    experiment: int
    cells: tuple[tuple[Row, System], ...]
    settings: object


@dataclass(frozen=True)
class Absent:
    """A row whose data set is not available."""

    row: str
    why: str


def run(
    planned: Sequence[tuple[Experiment, Path | None]],
    tell: Callable[[Cell], None] = lambda cell: None,
    jobs: int = 1,
) -> list[Results]:
    """Measure the cells that are not yet in the experiments' folders, `jobs` at a time."""
    from genus.experiments.harness.workers import in_workers

    stores = [Store(out, experiment) for experiment, out in planned]
    rows = [{row.name: row for row in experiment.rows} for experiment, _ in planned]
    results, tasks = [], []
    for number, (experiment, _) in enumerate(planned):
        found = _stored(experiment, stores[number])
        for cell in found.cells.values():
            tell(cell)
        results.append(found)
        tasks += _tasks(number, experiment, found)
    for number, said in one_by_one(tasks) if jobs == 1 else in_workers(tasks, jobs):
        if isinstance(said, Absent):
            results[number].absent[said.row] = said.why
            continue
        stores[number].put(rows[number][said.row], said)
        results[number].cells[said.row, said.system] = said
        tell(said)
    return [_in_order(experiment, found) for (experiment, _), found in zip(planned, results, strict=True)]


def is_here(row: Row) -> bool:
    """Whether the data sets of the row are available."""
    try:
        data_checksum(row.data)
    except DataError:
        return False
    return True


def _stored(experiment: Experiment, store: Store) -> Results:
    """The stored cells, and the rows whose data set is not available."""
    results = Results()
    for row in experiment.rows:
        if row.load is None:
            results.absent[row.name] = row.note or "not to be had"
            continue
        if not is_here(row):
            names = " and ".join(map(repr, row.data))
            results.absent[row.name] = f"no data set {names} in the folders that GENUS_DATA names"
            continue
        stored = (store.get(row, system.name) for system in experiment.systems if system.has(row))
        results.cells |= {(cell.row, cell.system): cell for cell in stored if cell is not None}
    return results


def _tasks(number: int, experiment: Experiment, found: Results) -> list[Task]:
    shared: dict[Hashable, list[tuple[Row, System]]] = {}
    for row, system in experiment.cells:
        if row.name not in found.absent and (row.name, system.name) not in found.cells:
            shared.setdefault(experiment.shared(row, system), []).append((row, system))
    return [Task(number, tuple(cells), experiment.settings) for cells in shared.values()]


def _in_order(experiment: Experiment, found: Results) -> Results:
    """The same, in the order of the table."""
    order = [(row.name, system.name) for row, system in experiment.cells]
    absent = {row.name: found.absent[row.name] for row in experiment.rows if row.name in found.absent}
    return Results({key: found.cells[key] for key in order if key in found.cells}, absent)


def one_by_one(tasks: Sequence[Task]) -> Iterator[tuple[int, Cell | Absent]]:
    bench = Bench()
    for task in tasks:
        for said in bench.measure(task):
            yield task.experiment, said


class Bench:
    """Measures tasks; keeps the data of the last row, as the next task is often about the same."""

    def __init__(self) -> None:
        self._row: tuple[int, str] | None = None
        self._problem: Any = None

    def measure(self, task: Task) -> Iterator[Cell | Absent]:
        for row, system in task.cells:
            try:
                problem = self._load(task.experiment, row)
            except DataError as error:
                yield Absent(row.name, str(error))
            except Exception as error:
                yield Cell(row.name, system.name, error=_said(error))
            else:
                yield _measure(row, system, problem, task.settings)

    def _load(self, experiment: int, row: Row) -> Any:
        if self._row != (experiment, row.name):
            self._row = self._problem = None
            self._problem = row.load()  # type: ignore[misc]
            self._row = experiment, row.name
        return self._problem


def _measure(row: Row, system: System, problem: Problem, settings: object) -> Cell:
    begin = time.perf_counter()
    cell = Cell(row.name, system.name, sizes=problem.sizes)
    try:
        for name, value in asdict(system.measure(problem, settings)).items():
            setattr(cell, name, value)
    except Exception as error:  # the other cells do not depend on this one
        cell.error = _said(error)
    cell.seconds = round(time.perf_counter() - begin, 2)
    return cell


def _said(error: Exception) -> str:
    return (f"{type(error).__name__}: {error}".splitlines() or [""])[0]
