"""Figure 3 of the tied document mixture, for any table: relative error reductions over documents per class."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from genus.experiments.harness.table import Experiment, Results
from genus.experiments.pages.frame import table
from genus.experiments.pages.statements import Point, error_reductions, figure, logarithmic_fit
from genus.report.page import _e


def reductions(experiment: Experiment, results: Results) -> str:
    def shown(value: float | None, n: int) -> str:
        return "" if value is None else f"{value:.1f} % <span class='who'>({n} sets)</span>"

    lines = "".join(
        f'<tr><th scope="row">{_e(r.task)}</th><td>{shown(r.paper, r.n_paper)}</td>'
        f"<td>{shown(r.genus, r.n_genus)}</td></tr>"
        for r in error_reductions(experiment, results)
    )
    what = f"{experiment.improved} over {experiment.baseline}"
    note = (
        f"1 - error of {experiment.improved} / error of {experiment.baseline}, over training documents per class. "
        "Filled: genus; hollow: the paper. Lines: least squares on the logarithm"
    )
    fits = {who: logarithmic_fit(points) for who, points in figure(experiment, results).items()}
    note += ", ".join([""] + [f"R² {fit[2]:.2f} ({who})" for who, fit in fits.items() if fit]) + "."
    return (
        f"<section><h2>Relative error reductions, {_e(what)}</h2><p class='note'>{_e(note)}</p>"
        f"{_figure(figure(experiment, results))}<h3>Means by task</h3>"
        f"{table('plain', ['task', 'paper', 'genus'], f'<tbody>{lines}</tbody>')}</section>"
    )


_SHAPES = {  # of a data set's task, around (0, 0)
    "spam": "M-5 -5H5V5H-5Z",
    "sentiment": "M0 -6L6 5H-6Z",
    "multi-class": "M-5 0A5 5 0 1 1 5 0A5 5 0 1 1 -5 0Z",
    "multi-label": "M0 -6.5L6.5 0L0 6.5L-6.5 0Z",
}


def _figure(points: dict[str, list[Point]]) -> str:
    """Figure 3: error reductions over documents per class, on a logarithmic scale."""
    every = [p for side in points.values() for p in side]
    if not every:
        return "<p>Nothing to show yet.</p>"
    left, top, width, height = 56, 12, 900, 380
    decades = max(math.ceil(max(math.log10(p.documents_per_class) for p in every)), 1)
    low = 20 * math.floor(min(0, *(p.reduction for p in every)) / 20)
    high = 20 * math.ceil(max(20, *(p.reduction for p in every)) / 20)

    def x(documents: float) -> float:
        return left + width * math.log10(max(documents, 1)) / decades

    def y(reduction: float) -> float:
        return top + height * (high - reduction) / (high - low)

    grid = "".join(
        f'<path class="grid" d="M{left} {y(v):.1f}h{width}"/>'
        f'<text x="{left - 8}" y="{y(v) + 4:.1f}" text-anchor="end">{v} %</text>'
        for v in range(low, high + 1, 20)
    ) + "".join(
        f'<path class="grid" d="M{x(10**k):.1f} {top}v{height}"/>'
        f'<text x="{x(10**k):.1f}" y="{top + height + 18}" text-anchor="middle">{10**k:,}</text>'
        for k in range(decades + 1)
    )
    drawn = "".join(_fit_line(who, side, x, y) for who, side in points.items())
    drawn = f'<clipPath id="plot"><path d="M{left} {top}h{width}v{height}h{-width}Z"/></clipPath>{drawn}'
    marks = [(who, p, x(p.documents_per_class), y(p.reduction)) for who in ("genus", "paper") for p in points[who]]
    sides = _label_sides([(p.name, at, up) for _, p, at, up in marks])
    drawn += "".join(_mark(*mark, side) for mark, side in zip(marks, sides, strict=True))
    tasks = list(dict.fromkeys(p.task for p in every))
    legend = "".join(
        f'<g transform="translate({left + 14} {top + 18 + 20 * i})"><path class="p" d="{_shape(task)}"/>'
        f'<text x="14" y="4">{_e(task)}</text></g>'
        for i, task in enumerate(tasks)
    )
    base = top + height
    return (
        f'<svg viewBox="0 0 {left + width + 40} {base + 44}" role="img" '
        'aria-label="Relative error reductions over training documents per class">'
        f'{grid}{drawn}{legend}<text x="{left + width / 2}" y="{base + 38}" text-anchor="middle">'
        "training documents per class</text></svg>"
    )


def _fit_line(who: str, points: Sequence[Point], x: Callable[[float], float], y: Callable[[float], float]) -> str:
    fit = logarithmic_fit(points)
    if fit is None:
        return ""
    a, b, r2 = fit
    ends = [f(math.log10(p.documents_per_class) for p in points) for f in (min, max)]
    first, last = (f"{x(10**k):.1f} {y(a + b * k):.1f}" for k in ends)
    return (
        f'<path class="fit {who}" clip-path="url(#plot)" d="M{first}L{last}">'
        f"<title>{who}: {a:.1f} {b:+.1f} log10(documents per class), R² {r2:.4f}</title></path>"
    )


_SIDES = [(9, -4), (9, 12), (-9, -4), (-9, 12), (9, -16), (9, 24), (-9, -16), (-9, 24)]  # where a name may stand


def _label_sides(marks: Sequence[tuple[str, float, float]]) -> list[tuple[int, int]]:
    """Where each name stands, beside its mark: the first place where it covers no mark and no earlier name."""
    taken = [(x - 6, y - 6, x + 6, y + 6) for _, x, y in marks]
    sides = []
    for name, x, y in marks:
        for dx, dy in _SIDES:
            reach = x + dx + math.copysign(6.2 * len(name), dx)
            box = min(x + dx, reach), y + dy - 10, max(x + dx, reach), y + dy + 2
            if (
                not any(a < box[2] and box[0] < c and b < box[3] and box[1] < d for a, b, c, d in taken)
                and 56 < box[0] < box[2] < 996
            ):
                break
        else:
            (dx, dy), box = _SIDES[0], (x, y, x, y)
        taken.append(box)
        sides.append((dx, dy))
    return sides


def _mark(who: str, point: Point, x: float, y: float, side: tuple[int, int]) -> str:
    told = f"{point.name}, {who}: {point.reduction:.1f} %, {point.documents_per_class:,.1f} documents per class"
    kind, name = ("g", "name own") if who == "genus" else ("p", "name")
    anchor = "start" if side[0] > 0 else "end"
    return (
        f'<g transform="translate({x:.1f} {y:.1f})"><title>{_e(told)}</title>'
        f'<path class="{kind}" d="{_shape(point.task)}"/>'
        f'<text class="{name}" x="{side[0]}" y="{side[1]}" text-anchor="{anchor}">{_e(point.name)}</text></g>'
    )


def _shape(task: str) -> str:
    return _SHAPES.get(task, _SHAPES["multi-class"])
