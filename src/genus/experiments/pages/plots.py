"""Line plots as SVG: a paper's figure, reproduced."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from genus.experiments.harness.table import Plot
from genus.report.page import _e

_COLOURS = ("#1f6feb", "#d1242f", "#2da44e", "#bf8700", "#8250df", "#57606a")
_PAPER = ", paper"  # how the names of a paper's own lines end
_LEFT, _TOP, _WIDTH, _HEIGHT = 64, 12, 640, 300


def draw(plot: Plot) -> str:
    """The plot, or a sentence where there is nothing to plot."""
    points = [point for line in plot.lines.values() for point in line]
    if not points:
        return "<p>Nothing to show yet.</p>"
    x_ticks, x_at = _axis([x for x, _ in points], "x" in plot.logarithmic)
    y_ticks, y_at = _axis([y for _, y in points], "y" in plot.logarithmic)

    def x(value: float) -> float:
        return _LEFT + _WIDTH * x_at(value)

    def y(value: float) -> float:
        return _TOP + _HEIGHT * (1 - y_at(value))

    base = _TOP + _HEIGHT
    grid = "".join(
        f'<path class="grid" d="M{x(v):.1f} {_TOP}v{_HEIGHT}"/>'
        f'<text x="{x(v):.1f}" y="{base + 18}" text-anchor="middle">{_number(v)}</text>'
        for v in x_ticks
    ) + "".join(
        f'<path class="grid" d="M{_LEFT} {y(v):.1f}h{_WIDTH}"/>'
        f'<text x="{_LEFT - 8}" y="{y(v) + 4:.1f}" text-anchor="end">{_number(v)}</text>'
        for v in y_ticks
    )
    strokes = _strokes(list(plot.lines))
    lines = "".join(
        _line(name, line, strokes[name], x, y) + _legend(name, strokes[name], i)
        for i, (name, line) in enumerate(plot.lines.items())
    )
    return (
        f'<svg viewBox="0 0 {_LEFT + _WIDTH + 180} {base + 44}" role="img" aria-label="{_e(plot.title)}">{grid}{lines}'
        f'<text x="{_LEFT + _WIDTH / 2}" y="{base + 38}" text-anchor="middle">{_e(plot.x)}</text>'
        f'<text x="14" y="{_TOP + _HEIGHT / 2}" text-anchor="middle" '
        f'transform="rotate(-90 14 {_TOP + _HEIGHT / 2})">{_e(plot.y)}</text></svg>'
    )


def _strokes(names: Sequence[str]) -> dict[str, str]:
    """A colour for each system; the paper's line of a system is dashed."""
    systems = list(dict.fromkeys(name.removesuffix(_PAPER) for name in names))
    colours = {system: _COLOURS[i % len(_COLOURS)] for i, system in enumerate(systems)}
    return {
        name: f'stroke="{colours[name.removesuffix(_PAPER)]}"' + ' stroke-dasharray="5 4"' * name.endswith(_PAPER)
        for name in names
    }


def _axis(values: Sequence[float], logarithmic: bool) -> tuple[list[float], Callable[[float], float]]:
    """Ticks, and where a value stands between 0 and 1."""
    if logarithmic:
        low, high = math.log10(min(values)), math.log10(max(values))
        if high - low < 2.5:  # few decades: also ticks within them
            ticks = [m * 10.0**k for k in range(math.floor(low), math.ceil(high) + 1) for m in (1, 2, 5)]
        else:
            ticks = [10.0**k for k in range(math.floor(low), math.ceil(high) + 1)]
        first = max((t for t in ticks if t <= min(values)), default=ticks[0])
        last = min((t for t in ticks if t >= max(values) and t > first), default=10 * first)
        low, high = math.log10(first), math.log10(last)
        return [t for t in ticks if first <= t <= last], lambda v: (math.log10(v) - low) / (high - low)
    span = max(max(values) - min(values), 1e-9)
    step = 10.0 ** math.floor(math.log10(span))
    step = next(s for s in (step / 5, step / 2, step, 2 * step) if span / s <= 6)
    first, last = math.floor(min(values) / step), math.ceil(max(values) / step)
    last = max(last, first + 1)
    return [step * k for k in range(first, last + 1)], lambda v: (v / step - first) / (last - first)


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.4g}"


def _line(
    name: str,
    points: Sequence[tuple[float, float]],
    stroke: str,
    x: Callable[[float], float],
    y: Callable[[float], float],
) -> str:
    places = [(x(a), y(b)) for a, b in points]
    fill = stroke.split()[0].replace("stroke", "fill")
    path = "L".join(f"{a:.1f} {b:.1f}" for a, b in places)
    marks = "".join(
        f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3" {fill}><title>{_e(name)}: {a:g}, {b:.4g}</title></circle>'
        for (px, py), (a, b) in zip(places, points, strict=True)
    )
    return f'<path d="M{path}" fill="none" {stroke} stroke-width="1.5"/>{marks}'


def _legend(name: str, stroke: str, i: int) -> str:
    y = _TOP + 14 + 20 * i
    return (
        f'<path d="M{_LEFT + _WIDTH + 12} {y - 4}h18" {stroke} stroke-width="2"/>'
        f'<text x="{_LEFT + _WIDTH + 36}" y="{y}">{_e(name)}</text>'
    )
