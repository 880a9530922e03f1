"""All papers on one page: how many of their figures were reproduced, and every system on every data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from genus.experiments.harness.table import NEAR, Experiment, Results, blocks, verdicts
from genus.experiments.pages.frame import STYLE, settings, table
from genus.report.page import _e, _frame

Runs = Sequence[tuple[str, Experiment, Results]]  # a paper's short name, what was planned, what was found

_HEAT = """<style>
.heat td { min-width: 52px; } .heat .none { color: var(--soft); }
.papers td, .papers th { text-align: left; white-space: normal; } .papers th:first-child { min-width: 150px; }
</style>
"""


def make_overview(runs: Runs, quick: bool, around: Mapping[str, str]) -> str:
    """The front page, as text. Each paper has a page of its own beside it."""
    minutes = sum(results.seconds for *_, results in runs) / 60
    kind = "A quick run: some of the data sets, shorter searches, fewer splits. " if quick else ""
    spent = {"measured in": f"{minutes:.1f} minutes, summed over cells"}
    return _frame(
        "genus: the papers, measured again",
        f"{STYLE}{_HEAT}<header><h1>The papers, measured again</h1><p>{kind}Parameters are tuned on training "
        f"documents only. A figure is the same within {NEAR:g} point of the paper's.</p></header>"
        f"<section><h2>What came out</h2>{_papers(runs)}</section>"
        f"<section><h2>Every system on every data set</h2><p class='note'>In percent; darker is better within a row. "
        f"Systems without a figure were not tried there.</p>{''.join(_heat(*run) for run in runs)}</section>"
        f"<section><h2>Training and prediction</h2><p class='note'>Medians over the data sets, with the parameters "
        f"found: seconds of training, and microseconds to predict a document.</p>"
        f"{''.join(_times(*run) for run in runs)}</section>"
        f"<section><h2>How this was made</h2>{settings({**spent, **around})}</section>",
    )


def _papers(runs: Runs) -> str:
    rows = []
    for name, experiment, results in runs:
        found = verdicts(experiment, results)
        failed = sum(cell.error is not None for cell in results.cells.values())
        numbers = (found["same"], found["better"], found["below"], len(results.cells), failed, len(results.absent))
        cells = "".join(f"<td>{number}</td>" for number in numbers)
        title = f'<a href="{_e(name)}/index.html">{_e(experiment.title)}</a><small>{_e(experiment.source)}</small>'
        rows.append(f'<tr><th scope="row">{title}</th>{cells}<td>{results.seconds / 60:.1f}</td></tr>')
    head = ["paper", "same", "better", "below", "cells", "failed", "data sets absent", "minutes"]
    return table("plain papers", head, f"<tbody>{''.join(rows)}</tbody>")


def _heat(name: str, experiment: Experiment, results: Results) -> str:
    """Rows of data sets and columns of systems, each row shaded from its worst to its best score."""
    page = f"<h3>{_e(experiment.title)}</h3>"
    for rows, names in blocks(experiment):
        body = []
        for row in rows:
            scores = results.scores(row.name)
            shown = [scores[n] for n in names if n in scores]
            if not shown:
                continue
            low, span = min(shown), max(max(shown) - min(shown), 1e-9)
            cells = "".join(_shade(scores.get(n), low, span) for n in names)
            body.append(f'<tr><th scope="row">{_e(row.name)}</th>{cells}</tr>')
        if body:
            page += table("cells heat", ["data set", *names], f"<tbody>{''.join(body)}</tbody>")
    return page


def _shade(score: float | None, low: float, span: float) -> str:
    if score is None:
        return '<td class="none">·</td>'
    strength = 0.06 + 0.44 * (score - low) / span
    return f'<td style="background: rgb(var(--blue) / {strength:.2f})">{score:.1f}</td>'


def _times(name: str, experiment: Experiment, results: Results) -> str:
    """The systems' median times."""
    rows = []
    for system in experiment.systems:
        cells = [c for (_, s), c in results.cells.items() if s == system.name and c.fit_seconds is not None]
        if cells:
            fit = median(c.fit_seconds or 0.0 for c in cells)
            predict = median(c.predict_seconds or 0.0 for c in cells)
            numbers = f"<td>{len(cells)}</td><td>{fit:.3g}</td><td>{1e6 * predict:,.0f}</td>"
            rows.append(f'<tr><th scope="row">{_e(system.name)}</th>{numbers}</tr>')
    if not rows:
        return ""
    head = ["system", "data sets", "training, s", "prediction, µs"]
    return f"<h3>{_e(experiment.title)}</h3>" + table("plain", head, f"<tbody>{''.join(rows)}</tbody>")
