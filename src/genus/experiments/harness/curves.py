"""Scores as curves: a panel for each data set, the paper's points hollow and dashed, ours filled."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from genus.report.page import _e

_LEFT, _TOP, _WIDTH, _HEIGHT = 44, 26, 400, 240
_COLOURS = ("--blue", "--red")

Points = Sequence[tuple[float, float]]  # of something positive, and a score in percent


@dataclass(frozen=True)
class Curve:
    """A system's scores, ours and the paper's."""

    name: str
    genus: Points
    paper: Points = ()


def curves(title: str, note: str, x_name: str, panels: Mapping[str, Sequence[Curve]]) -> str:
    """A section with a panel for each data set that has any points."""
    drawn = "".join(_panel(name, x_name, given) for name, given in panels.items() if any(c.genus for c in given))
    return f"<section><h2>{_e(title)}</h2><p class='note'>{_e(note)}</p><div class='beside'>{drawn}</div></section>"


def _panel(name: str, x_name: str, given: Sequence[Curve]) -> str:
    points = [point for curve in given for point in (*curve.genus, *curve.paper)]
    low, high = (math.log10(f(x for x, _ in points)) for f in (min, max))
    bottom, top = 10 * math.floor(min(y for _, y in points) / 10), 10 * math.ceil(max(y for _, y in points) / 10)

    def at(x: float, y: float) -> tuple[float, float]:
        across = (math.log10(x) - low) / (high - low or 1)
        return _LEFT + _WIDTH * across, _TOP + _HEIGHT * (1 - (y - bottom) / (top - bottom or 1))

    grid = "".join(
        f'<path class="grid" d="M{_LEFT} {at(10**low, y)[1]:.1f}h{_WIDTH}"/>'
        f'<text x="{_LEFT - 6}" y="{at(10**low, y)[1] + 4:.1f}" text-anchor="end">{y}</text>'
        for y in range(bottom, top + 1, 10)
    )
    ticks = "".join(
        f'<text x="{at(x, bottom)[0]:.1f}" y="{_TOP + _HEIGHT + 18}" text-anchor="middle">{x:g}</text>'
        for x in sorted({x for x, _ in points})
    )
    lines = "".join(_lines(curve, f"rgb(var({colour}))", at) for curve, colour in zip(given, _COLOURS, strict=False))
    legend = "".join(
        f'<text x="{_LEFT + 12 + 70 * i}" y="14" style="fill:rgb(var({colour}))">{_e(curve.name)}</text>'
        for i, (curve, colour) in enumerate(zip(given, _COLOURS, strict=False))
    )
    foot = f'<text x="{_LEFT + _WIDTH / 2}" y="{_TOP + _HEIGHT + 38}" text-anchor="middle">{_e(x_name)}</text>'
    size = f"0 0 {_LEFT + _WIDTH + 24} {_TOP + _HEIGHT + 46}"
    picture = f'<svg viewBox="{size}" role="img" aria-label="{_e(name)}">{grid}{ticks}{legend}{lines}{foot}</svg>'
    return f"<div style='flex:1 1 400px;max-width:470px'><h3>{_e(name)}</h3>{picture}</div>"


def _lines(curve: Curve, colour: str, at: Callable[[float, float], tuple[float, float]]) -> str:
    parts = []
    for points, ours in ((curve.paper, False), (curve.genus, True)):
        places = [at(x, y) for x, y in points]
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        dashes = "" if ours else ";stroke-dasharray:5 4"
        if len(places) > 1:
            parts.append(f'<path d="{path}" style="fill:none;stroke:{colour};stroke-width:1.5{dashes}"/>')
        who, fill = ("genus", colour) if ours else ("paper", "var(--card)")
        parts += (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" style="fill:{fill};stroke:{colour};stroke-width:1.5">'
            f"<title>{_e(curve.name)}, {who}: {score:.1f}</title></circle>"
            for (x, y), (_, score) in zip(places, points, strict=True)
        )
    return "".join(parts)
