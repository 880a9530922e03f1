"""Means over sets, beside what was to be reached."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import mean

from genus.experiments.harness.table import Cell, Plot, Results
from genus.experiments.pages.frame import table
from genus.experiments.papers.few.measures import CALIBRATION
from genus.experiments.papers.few.plan import EIGHT, FEWEST, FOREIGN, OTHERS, SIZES, UNLABELED, row_name
from genus.experiments.papers.few.texts import ENGLISH, LANGUAGES, MORE
from genus.report.page import _e

# Means of all eight sets, before there were vectors.
TARGET = dict(zip(SIZES, (60.0, 65.5, 71.5, 75.0), strict=True))
ENCODER = dict(zip(SIZES, (57.8, 63.9, 68.4, 70.7), strict=True))
LARGEST_ERROR = 6.0
GAIN = 2.0

Value = Callable[[Cell], float | None]
Means = dict[str, dict[int, float]]  # by system and labels of each class


def means(results: Results) -> list[Plot]:
    """Those that have a target, and those of sets that nothing was chosen by."""
    eight = _means(results, EIGHT, ENGLISH, _accuracy)
    error = _means(results, EIGHT, ENGLISH, _error)
    gain = _gain(eight, _means(results, UNLABELED, ENGLISH, _accuracy))
    others = [
        (f"Mean accuracy, {task}", sets, _means(results, task, sets, _accuracy))
        for task, sets in ((OTHERS, MORE), (FOREIGN, LANGUAGES))
    ]
    made = [
        ("Mean accuracy", ENGLISH, eight | {"target, eight sets": TARGET, "MiniLM + LR before, eight sets": ENCODER}),
        *others,
        ("Expected calibration error", ENGLISH, error | {"target, at most": {10: LARGEST_ERROR}}),
        ("Points that unlabeled texts add", ENGLISH, gain | {"target, at least": dict.fromkeys(FEWEST, GAIN)}),
    ]
    return [_plot(title, _named(results, sets), lines) for title, sets, lines in made if "genus" in lines]


def summary(results: Results) -> str:
    """The means as tables, for the page."""
    return "".join(_table(plot) for plot in means(results))


def _plot(title: str, sets: str, lines: Means) -> Plot:
    points = {name: tuple((float(n), value) for n, value in line.items()) for name, line in lines.items()}
    return Plot(title, f"Means of {sets}, in percent.", "labels of each class", "percent", points, "x")


def _table(plot: Plot) -> str:
    sizes = sorted({x for line in plot.lines.values() for x, _ in line})

    def row(name: str) -> str:
        values = dict(plot.lines[name])
        cells = "".join(f"<td>{format(values[n], '.1f') if n in values else ''}</td>" for n in sizes)
        return f'<tr><th scope="row">{_e(name)}</th>{cells}</tr>'

    body = "".join(map(row, plot.lines))
    shown = table("plain", [plot.x, *(f"{n:g}" for n in sizes)], f"<tbody>{body}</tbody>")
    return f"<section><h2>{_e(plot.title)}</h2><p class='note'>{_e(plot.note)}</p>{shown}</section>"


def _named(results: Results, names: Iterable[str]) -> str:
    """The sets that were measured."""
    here = {row.partition(", ")[0] for row, _ in results.cells}
    return ", ".join(name for name in names if name in here)


def _accuracy(cell: Cell) -> float | None:
    return None if cell.score is None else 100 * cell.score


def _error(cell: Cell) -> float | None:
    value = cell.params.get(CALIBRATION)
    return 100 * value if isinstance(value, float) else None


def _means(results: Results, task: str, sets: Iterable[str], value: Value) -> Means:
    """Over the sets that were measured; of a system that has a value for each of them."""
    found: Means = {}
    names = [name for name in sets if any(row.startswith(f"{name}, ") for row, _ in results.cells)]
    for system in dict.fromkeys(system for _, system in results.cells):
        for n in SIZES:
            cells = [results.cells.get((row_name(task, name, n), system)) for name in names]
            values = [shown for cell in cells if cell is not None and (shown := value(cell)) is not None]
            if values and len(values) == len(names):
                found.setdefault(system, {})[n] = mean(values)
    return found


def _gain(without: Means, with_unlabeled: Means) -> Means:
    """By how much a system's mean with unlabeled texts is above its mean without."""
    return {
        system: {n: value - without[system][n] for n, value in line.items() if n in without[system]}
        for system, line in with_unlabeled.items()
        if system in without
    }
