"""A reproduced table as one page: the published figures next to ours, and both in one plot."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from genus.experiments.harness.table import NEAR, Experiment, Marks, Results, Row, blocks, verdict
from genus.experiments.pages.frame import STYLE, settings, table
from genus.experiments.pages.plots import draw
from genus.experiments.pages.statements import both, marks, paired_tests, split_tests
from genus.experiments.papers.tdm_reductions import reductions
from genus.report.page import _e, _frame


def make_page(experiment: Experiment, results: Results, around: Mapping[str, str] | None = None) -> str:
    """The page, as text; `around` describes the run: its command, its machine."""
    figures = experiment.draw(results) if experiment.draw else reductions(experiment, results)
    return _frame(
        experiment.title,
        f"{STYLE}<header><h1>{_e(experiment.title)}</h1><p>{_e(experiment.source)}</p></header>"
        f"<section><h2>Scores</h2><p class='note'>{_e(experiment.metric)}. {_e(experiment.protocol)} "
        f"Verdicts: same is within {NEAR:g} point. • worse, ◦ better than {_e(experiment.improved)} by the corrected "
        f"resampled t-test at 5 percent, if there are several splits.</p>"
        f"{_scores(experiment, results)}</section>{_findings(experiment)}"
        f"{_plots(experiment, results)}{figures}{_tests(experiment, results)}{_split_tests(experiment, results)}"
        f"{_parameters(experiment, results)}{_run(experiment, results, around or {})}",
    )


def _findings(experiment: Experiment) -> str:
    if not experiment.findings:
        return ""
    items = "".join(f"<li>{_e(finding)}</li>" for finding in experiment.findings)
    title = "What differs from the paper, and why" if any(row.paper for row in experiment.rows) else "What to know"
    return f'<section><h2>{title}</h2><ul class="findings">{items}</ul></section>'


def _run(experiment: Experiment, results: Results, around: Mapping[str, str]) -> str:
    chosen = ", ".join(f"{name} {value}" for name, value in asdict(experiment.settings).items())
    spent = f"{results.seconds / 60:.1f} minutes, summed over cells"
    pairs = {"settings": chosen, "measured in": spent, **around}
    return f"<section><h2>How this was made</h2>{settings(pairs)}</section>"


def _scores(experiment: Experiment, results: Results) -> str:
    signs = marks(experiment, results)
    return "".join(_block(rows, names, results, signs) for rows, names in blocks(experiment))


def _block(rows: Sequence[Row], names: Sequence[str], results: Results, signs: Marks) -> str:
    bodies = "".join(_row(row, names, results, signs) for row in rows if row.name not in results.absent)
    absent = "".join(
        f'<tr><th scope="row">{_e(row.name)}<small>{_e(results.absent[row.name])}</small></th>'
        f"{_numbers(names, row.paper, 'paper')}</tr>"
        for row in rows
        if row.name in results.absent
    )
    page = table("cells", ["data set", "", *names], bodies)
    if absent:
        head = ["the paper's figures", *names]
        page += "<h3>Data sets that are not available</h3>" + table("cells", head, f"<tbody>{absent}</tbody>")
    return page


def _row(row: Row, names: Sequence[str], results: Results, signs: Marks) -> str:
    scores = results.scores(row.name)
    sizes = results.sizes(row.name)
    tests = f" + {sizes[3]:,}" if sizes and sizes[3] else ""
    words = f"{sizes[2]:,}{tests} documents, {sizes[1]:,} classes" if sizes else ""
    lines = []
    if row.paper:
        lines.append(("paper", _numbers(names, row.paper, "paper")))
    lines.append(
        (
            "genus" if row.paper else "",
            _numbers(names, scores, signs={name: signs.get((row.name, name), "") for name in names}),
        )
    )
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


def _numbers(
    names: Sequence[str], scores: Mapping[str, float], kind: str = "", signs: Mapping[str, str] | None = None
) -> str:
    best = max(scores.values(), default=math.nan)
    return "".join(
        f'<td class="{kind}{" best" if scores.get(name) == best else ""}">'
        f"{format(scores[name], '.2f') if name in scores else ''}{_e((signs or {}).get(name, ''))}</td>"
        for name in names
    )


def _plots(experiment: Experiment, results: Results) -> str:
    return "".join(
        f"<section><h2>{_e(plot.title)}</h2><p class='note'>{_e(plot.note)}</p>{draw(plot)}</section>"
        for plot in experiment.plots(results)
    )


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
    if not lines:
        return ""
    shown_tests = table("plain", ["", "the paper's table", "genus"], f"<tbody>{lines}</tbody>")
    return f"<section><h2>Paired tests over data sets</h2><p class='note'>{note}</p>{shown_tests}</section>"


def _split_tests(experiment: Experiment, results: Results) -> str:
    tests = split_tests(experiment, results)
    if not tests:
        return ""
    lines = "".join(
        f'<tr><th scope="row">{_e(t.row)}</th><td>{_e(t.first)} - {_e(t.second)}</td><td>{t.n}</td>'
        f"<td>{t.difference:+.2f}</td><td>{t.p:.3f}</td><td>{t.corrected_p:.3f}</td></tr>"
        for t in tests
    )
    note = (
        "Differences of the means over splits, with the p of a paired t-test and of the corrected resampled t-test of "
        "Nadeau and Bengio, both two-sided. Splits share documents, which the first test ignores."
    )
    head = ["data set", "systems", "splits", "difference", "p, paired", "p, corrected"]
    shown = table("plain", head, f"<tbody>{lines}</tbody>", "scroll tall")
    return f"<section><h2>Tests over splits</h2><p class='note'>{note}</p>{shown}</section>"


def _parameters(experiment: Experiment, results: Results) -> str:
    lines = "".join(
        f'<tr><th scope="row">{_e(c.row)}</th><td>{_e(c.system)}</td>'
        f"<td>{'' if c.development is None else f'{100 * c.development:.2f}'}</td><td>{c.seconds:.1f}</td>"
        f"<td>{c.n_points}</td><td>{_e(c.error or show_params(c.params))}</td></tr>"
        for c in results.cells.values()
    )
    head = ["data set", "system", "development", "seconds", "points", "parameters found"]
    shown = table("plain wrap", head, f"<tbody>{lines}</tbody>", "scroll tall")
    return f"<section><h2>Parameters found</h2>{shown}</section>"


def show_params(params: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {f'{v:.4g}' if isinstance(v, (int, float)) else v}" for name, v in params.items())
