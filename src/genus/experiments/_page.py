"""A table measured again, as one page: the paper's figures beside ours, and both in one picture."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from genus.experiments._plots import draw
from genus.experiments._table import (
    NEAR,
    Experiment,
    Marks,
    Point,
    Results,
    Row,
    blocks,
    both,
    error_reductions,
    figure,
    logarithmic_fit,
    paired_tests,
    verdict,
    versions,
)
from genus.report.page import _e, _frame

_STYLE = """<style>
main { max-width: 1080px; }
svg { max-width: none; }
.cells { width: 100%; }
.cells, .plain { font-size: 14px; }
.cells th, .cells td, .plain th, .plain td { padding: 3px 8px; text-align: right; white-space: nowrap; }
.cells th:first-child, .plain th:first-child, .cells .who { text-align: left; }
.cells th, .plain th { font-weight: normal; }
.cells thead th, .plain thead th { color: var(--soft); border-bottom: 1px solid var(--line); }
.cells tbody th { vertical-align: top; white-space: normal; max-width: 190px; }
.cells tbody, .plain tbody { border-bottom: 1px solid var(--line); }
.cells .paper, .cells .who, .who { color: var(--soft); }
.cells .best { font-weight: 600; }
.cells .up { color: rgb(var(--blue)); } .cells .down { color: rgb(var(--red)); }
.cells .error { color: rgb(var(--red)); white-space: normal; text-align: left; }
.plain.wrap :is(th, td):last-child { width: 100%; white-space: normal; text-align: left; }
small { display: block; line-height: 1.3; }
.p { fill: none; stroke: var(--soft); stroke-width: 1.5; } .g { fill: rgb(var(--blue)); stroke: var(--card); }
.fit { fill: none; stroke-width: 1.5; } .fit.paper { stroke: var(--soft); stroke-dasharray: 5 4; }
.fit.genus { stroke: rgb(var(--blue)); } svg .own { fill: var(--ink); } svg text.name { font-size: 11px; }
</style>
"""


def make_page(experiment: Experiment, results: Results) -> str:
    """The page, as text."""
    minutes = results.seconds / 60
    figures = experiment.draw(results) if experiment.draw else _reductions(experiment, results)
    used = ", ".join(f"{name} {number}" for name, number in versions().items())
    return _frame(
        experiment.title,
        f"{_STYLE}<header><h1>{_e(experiment.title)}</h1><p>{_e(experiment.source)}</p></header>"
        f"<section><h2>Scores</h2><p class='note'>{_e(experiment.metric)}. {_e(experiment.protocol)} "
        f"Measured in {minutes:.1f} minutes. Verdict: same within {NEAR:g} point.</p>"
        f"{_scores(experiment, results)}</section>"
        f"{_plots(experiment, results)}{figures}{_tests(experiment, results)}{_parameters(experiment, results)}"
        f"<p class='note'>{_e(used)}</p>",
    )


def _table(kind: str, head: Sequence[str], body: str, frame: str = "scroll") -> str:
    columns = "".join(f'<th scope="col">{_e(name)}</th>' for name in head)
    return f'<div class="{frame}"><table class="{kind}"><thead><tr>{columns}</tr></thead>{body}</table></div>'


def _scores(experiment: Experiment, results: Results) -> str:
    marks = experiment.marks(results)
    return "".join(_block(rows, names, results, marks) for rows, names in blocks(experiment))


def _block(rows: Sequence[Row], names: Sequence[str], results: Results, marks: Marks) -> str:
    bodies = "".join(_row(row, names, results, marks) for row in rows if row.name not in results.absent)
    absent = "".join(
        f'<tr><th scope="row">{_e(row.name)}</th>{_numbers(names, row.paper, "paper")}</tr>'
        for row in rows
        if row.name in results.absent
    )
    page = _table("cells", ["data set", "", *names], bodies)
    if absent:
        head = ["the paper's figures", *names]
        page += "<h3>Data sets of the paper that are not here</h3>" + _table("cells", head, f"<tbody>{absent}</tbody>")
    return page


def _row(row: Row, names: Sequence[str], results: Results, marks: Marks) -> str:
    scores = results.scores(row.name)
    sizes = results.sizes(row.name)
    words = f"{sizes[2]:,} + {sizes[3]:,} documents, {sizes[1]:,} classes" if sizes else ""
    lines = []
    if row.paper:
        lines.append(("paper", _numbers(names, row.paper, "paper")))
    lines.append(("genus", _numbers(names, scores, marks={name: marks.get((row.name, name), "") for name in names})))
    spreads = results.spreads(row.name)
    if spreads:
        shown = [f"{spreads[name]:.2f}" if name in spreads else "" for name in names]
        lines.append(("±", "".join(f'<td class="paper">{text}</td>' for text in shown)))
    if row.paper:
        cells = []
        for name in names:
            change = round(scores[name] - row.paper[name], 2) + 0.0 if name in scores and name in row.paper else None
            kind = "" if not change else "up" if change > 0 else "down"
            cells.append(f'<td class="{kind}">{"" if change is None else f"{change:+.2f}"}</td>')
        lines.append(("difference", "".join(cells)))
        said = [verdict(row.paper[n], scores[n]) if n in scores and n in row.paper else "" for n in names]
        lines.append(("verdict", "".join(f'<td class="paper">{word}</td>' for word in said)))
    title = f'<th scope="row" rowspan="{len(lines)}">{_e(row.name)}<small>{_e(words)}</small>'
    title += f"<small>{_e(row.note)}</small></th>" if row.note else "</th>"
    body = "".join(
        f'<tr>{title if i == 0 else ""}<td class="who">{who}</td>{cells}</tr>' for i, (who, cells) in enumerate(lines)
    )
    errors = "".join(
        f'<tr><td></td><td class="error" colspan="{len(names) + 1}">{_e(c.system)} failed: {_e(c.error)}</td></tr>'
        for (name, _), c in results.cells.items()
        if name == row.name and c.error
    )
    return f"<tbody>{body}{errors}</tbody>"


def _numbers(names: Sequence[str], scores: Any, kind: str = "", marks: Mapping[str, str] | None = None) -> str:
    best = max(scores.values(), default=math.nan)
    return "".join(
        f'<td class="{kind}{" best" if scores.get(name) == best else ""}">'
        f"{format(scores[name], '.2f') if name in scores else ''}{_e((marks or {}).get(name, ''))}</td>"
        for name in names
    )


def _plots(experiment: Experiment, results: Results) -> str:
    return "".join(
        f"<section><h2>{_e(plot.title)}</h2><p class='note'>{_e(plot.note)}</p>{draw(plot)}</section>"
        for plot in experiment.plots(results)
    )


def _reductions(experiment: Experiment, results: Results) -> str:
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
        f"{_table('plain', ['task', 'paper', 'genus'], f'<tbody>{lines}</tbody>')}</section>"
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


def _fit_line(who: str, points: Sequence[Point], x: Any, y: Any) -> str:
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
            if not any(a < box[2] and box[0] < c and b < box[3] and box[1] < d for a, b, c, d in taken) and box[0] > 56:
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


def _tests(experiment: Experiment, results: Results) -> str:
    found = {
        who: {t.second: t for t in paired_tests(experiment, scores)}
        for who, scores in both(experiment, results).items()
    }

    def shown(who: str, system: str) -> str:
        t = found.get(who, {}).get(system)
        if t is None:
            return "<td></td>"
        return f"<td>{t.difference:+.2f}{t.mark} <span class='who'>p {t.p:.3f}, {t.n} sets</span></td>"

    lines = "".join(
        f'<tr><th scope="row">{_e(experiment.improved)} - {_e(s.name)}</th>'
        f"{shown('paper', s.name)}{shown('genus', s.name)}</tr>"
        for s in experiment.systems
        if any(s.name in tests for tests in found.values())
    )
    note = "Mean differences over data sets, with one-sided paired t-tests as in the paper: ‡ p < .005, † p < .05."
    table = _table("plain", ["", "the paper's table", "genus"], f"<tbody>{lines}</tbody>")
    return f"<section><h2>Paired tests</h2><p class='note'>{note}</p>{table}</section>"


def _parameters(experiment: Experiment, results: Results) -> str:
    lines = "".join(
        f'<tr><th scope="row">{_e(c.row)}</th><td>{_e(c.system)}</td>'
        f"<td>{'' if c.development is None else f'{100 * c.development:.2f}'}</td><td>{c.seconds:.1f}</td>"
        f"<td>{c.n_points}</td><td>{_e(c.error or show_params(c.params))}</td></tr>"
        for c in results.cells.values()
    )
    head = ["data set", "system", "development", "seconds", "points", "parameters found"]
    table = _table("plain wrap", head, f"<tbody>{lines}</tbody>", "scroll tall")
    return f"<section><h2>Parameters found</h2>{table}</section>"


def show_params(params: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value:.4g}" for name, value in params.items())
