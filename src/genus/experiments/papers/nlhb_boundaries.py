"""Figures of non-linear hierarchical Bayes: what classifiers of points learned, and accuracy over training sizes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from genus.base.arrays import Float64, Int64
from genus.base.labels import Labels
from genus.experiments.papers import nlhb_shapes as _shapes
from genus.models.naive_bayes import MultinomialNB
from genus.models.nonlinear.multinomial import GaussianNonlinearBayes, NonlinearBayes
from genus.report.page import _e

_STYLE = """<style>
.plots { display: flex; flex-wrap: wrap; gap: 16px; } .plots figure { margin: 0; } .plots svg { width: 200px; }
.area { fill: rgb(var(--blue) / .35); } .edge { fill: none; stroke: var(--soft); }
.one { fill: var(--ink); } .zero { fill: var(--card); stroke: var(--ink); stroke-width: 1.5; }
.curve { fill: none; stroke-width: 2; }
</style>
"""
_SIZE, _CELLS = 200, 80
_COLOURS = ("rgb(var(--blue))", "rgb(var(--red))", "var(--soft)", "var(--ink)", "#2a9d5c", "#b8860b", "#8a5cc2")


def figure_2(X: Int64, y: Int64) -> str:
    """The exclusive or of figure 1, as three classifiers have learned it."""
    models: dict[str, MultinomialNB | NonlinearBayes | GaussianNonlinearBayes] = {
        "naive Bayes": MultinomialNB(),
        "multinomial NLHB": NonlinearBayes(2, min_documents=2, n_iterations=20, random_state=0),
        "Gaussian NLHB": GaussianNonlinearBayes(2, min_documents=2, random_state=0),
    }
    plots = "".join(boundary(name, model.fit(X, y).predict, 6.0, (X, y)) for name, model in models.items())
    note = (
        "Shaded: what is taken for class 1; filled points are of class 1. To naive Bayes both classes look the same: "
        "it answers with the first everywhere."
    )
    return _section("Figure 2: exclusive or", note, plots)


def figure_4() -> str:
    """The shapes, each beside the predictions of a Gaussian model with 10 nodes per class from 1,000 points."""
    plots = []
    for name, inside in _shapes.SHAPES.items():
        X, y = _shapes.draw(name, 1000, seed=0)
        model = GaussianNonlinearBayes(random_state=0).fit(X, y)
        plots.append(boundary(name, partial(_pipeline, inside), _shapes.WIDTH))
        plots.append(boundary(f"{name}, learned", model.predict, _shapes.WIDTH))
    return _section("Figure 4: shapes", "Shaded: the shape, and what is taken for it.", "".join(plots))


def _pipeline(shape: Callable[[Float64, Float64], NDArray[np.bool_]], points: Float64) -> NDArray[np.bool_]:
    return shape(points[:, 0], points[:, 1])


def boundary(
    name: str, predict: Callable[[Float64], Labels], width: float, points: tuple[Int64, Int64] | None = None
) -> str:
    """A square [0, width]² in which the cells that are predicted as class 1 are shaded."""
    middles = (np.arange(_CELLS) + 0.5) * width / _CELLS
    x, y = np.meshgrid(middles, middles[::-1])  # the first row is the upper one
    answers = np.asarray(predict(np.column_stack([x.ravel(), y.ravel()]))).reshape(_CELLS, _CELLS).astype(bool)
    cell = _SIZE / _CELLS
    runs = []
    for row, marks in enumerate(answers):
        edges = np.flatnonzero(np.diff(np.concatenate(([0], marks.astype(int), [0]))))
        for begin, end in edges.reshape(-1, 2).tolist():
            runs.append(f"M{begin * cell:g} {row * cell:g}h{(end - begin) * cell:g}v{cell:g}h{(begin - end) * cell:g}Z")
    drawn = f'<path class="area" d="{"".join(runs)}"/>'
    for (px, py), label in zip(*points, strict=True) if points is not None else ():
        kind = "one" if label else "zero"
        drawn += f'<circle class="{kind}" cx="{px / width * _SIZE:g}" cy="{(1 - py / width) * _SIZE:g}" r="5"/>'
    frame = f'<path class="edge" d="M0 0h{_SIZE}v{_SIZE}h-{_SIZE}Z"/>'
    svg = f'<svg viewBox="-1 -1 {_SIZE + 2} {_SIZE + 2}" role="img" aria-label="{_e(name)}">{drawn}{frame}</svg>'
    return f"<figure>{svg}<figcaption>{_e(name)}</figcaption></figure>"


def figure_3(lines: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """Accuracy over the number of training reviews, on a logarithmic scale: plots A, B and C in one."""
    every = [point for line in lines.values() for point in line]
    if len(every) < 2:
        return ""
    left, top, width, height = 50, 12, 860, 320
    ends = [math.log10(f(n for n, _ in every)) for f in (min, max)]
    low, high = 5 * math.floor(min(s for _, s in every) / 5), 5 * math.ceil(max(s for _, s in every) / 5)

    def place(n: float, score: float) -> str:
        along = (math.log10(n) - ends[0]) / max(ends[1] - ends[0], 1e-9)
        return f"{left + width * along:.1f} {top + height * (high - score) / (high - low):.1f}"

    grid = "".join(
        f'<path class="grid" d="M{left} {top + height * (high - v) / (high - low):.1f}h{width}"/>'
        f'<text x="{left - 8}" y="{top + height * (high - v) / (high - low) + 4:.1f}" text-anchor="end">{v}</text>'
        for v in range(low, high + 1, 5)
    )
    for n in sorted({n for n, _ in every}):
        x = place(n, low).split()[0]
        grid += f'<text x="{x}" y="{top + height + 18}" text-anchor="middle">{n:,.0f}</text>'
    curves = ""
    for i, (name, line) in enumerate(lines.items()):
        colour = _COLOURS[i % len(_COLOURS)]
        path = "L".join(place(*point) for point in sorted(line))
        curves += f'<path class="curve" style="stroke:{colour}" d="M{path}"><title>{_e(name)}</title></path>'
        curves += f'<text x="{left + 12}" y="{top + 16 + 16 * i}" style="fill:{colour}">{_e(name)}</text>'
    svg = (
        f'<svg viewBox="0 0 {left + width + 30} {top + height + 28}" role="img" '
        f'aria-label="Accuracy over training reviews">{grid}{curves}</svg>'
    )
    return _section("Figure 3: accuracy over training reviews", "NLHB has 2 nodes; naive Bayes is one node.", svg)


def _section(title: str, note: str, body: str) -> str:
    plots = f'<div class="plots">{body}</div>' if body.startswith("<figure>") else body
    return f"{_STYLE}<section><h2>{_e(title)}</h2><p class='note'>{_e(note)}</p>{plots}</section>"
