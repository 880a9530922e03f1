"""reproduce: a paper's tables, reproduced."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from genus.cli._checks import FOLDER, command
from genus.cli._output import cell, clean, console, json_option, print_json, table, to_json, write_text
from genus.experiments import PAPERS, experiment

if TYPE_CHECKING:
    from genus.experiments.harness.table import Cell, Experiment, Marks, Plot, Results, Row


@command()
@click.argument("paper", type=click.Choice(["all", *PAPERS]), metavar="PAPER", default="all")
@click.option("--quick", is_flag=True, help="Fewer data sets and a shorter search: takes minutes.")
@click.option("--data", type=FOLDER, metavar="DIR", help="Folder of data sets. Default: GENUS_DATA.")
@click.option("--out", metavar="DIR", help="Folder for finished cells, results.json and index.html; resumes from it.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Cells measured at a time. Default: all cores.")
@json_option
def reproduce(paper: str, quick: bool, data: str | None, out: str | None, jobs: int | None, as_json: bool) -> None:
    """Reproduce the papers' tables, next to the published figures.

    PAPER is one of

    \b
    tdm    the tied document mixture (Puurula and Myaeng, 2013)
    dmnb   discriminative multinomial naive Bayes
    rtm    the relevance-based topic model (Ha-Thuc and Srinivasan, 2008)
    hier   the hierarchical mixture (Toutanova and others, 2001)
    nlhb   non-linear hierarchical Bayes (Carlos and Rakshit, 2016)
    auto   TextClassifier() compared with tuned linear classifiers
    few    TextClassifier() with a few labels of each class, or none
    all    all of these (default)

    Parameters are tuned on training documents only. Data sets are those of `genus data list`; rows whose data set is
    missing stay empty. With --out, each cell (one system on one data set) is saved when it is done: after an
    interruption the same command continues, and cells whose code, data and settings are unchanged are not measured
    again.

    \b
    genus reproduce tdm --quick
    genus reproduce all --out report
    """
    from genus.base.arrays import available_cores

    folder = Path(out) if out is not None else None
    names = list(PAPERS) if paper == "all" else [paper]
    jobs = min(jobs or available_cores(), 4 * available_cores())  # each is a process
    try:
        with _data_from(data):
            runs = _run(names, quick, folder, jobs)
    except KeyboardInterrupt:
        if folder is None:
            raise
        click.echo("genus: stopped; run the same command to continue", err=True)
        raise click.exceptions.Exit(130) from None
    from genus.experiments.pages.frame import surroundings

    arguments = [paper, *["--quick"] * quick]
    around = surroundings(arguments, jobs)
    found = _write(runs, quick, folder, around, whole=paper == "all")
    if as_json:
        print_json(found)
    else:
        for _, planned, results in runs:
            _print(planned, results)
        if out is not None:
            console().print(cell(f"wrote {folder}/index.html and results.json"))
    if not any(results.cells for *_, results in runs):
        raise click.ClickException("no data set was found: set GENUS_DATA or --data to their folder")


def _run(names: list[str], quick: bool, folder: Path | None, jobs: int) -> list[tuple[str, Experiment, Results]]:
    from genus.base.progress import progress_line
    from genus.experiments.harness.run import is_here, run

    planned = [experiment(name, quick=quick) for name in names]
    folders = [folder / name if folder is not None and len(names) > 1 else folder for name in names]
    n_cells = sum(is_here(row) for one in planned for row, _ in one.cells)
    with progress_line("cells", n_cells) as progress:

        def report(done: Cell) -> None:
            progress.print(clean(_cell_line(done)))
            progress.update(advance=1)

        results = run(list(zip(planned, folders, strict=True)), report, jobs)
    return list(zip(names, planned, results, strict=True))


def _write(
    runs: list[tuple[str, Experiment, Results]],
    quick: bool,
    folder: Path | None,
    around: dict[str, str],
    *,
    whole: bool,
) -> Mapping[str, object]:
    """The pages and what programs read, in the folder if there is one; returns the latter."""
    from genus.experiments.pages.overview import make_overview
    from genus.experiments.pages.page import make_page
    from genus.experiments.pages.summary import to_dict

    by_paper = {name: to_dict(planned, results) | {"run": around} for name, planned, results in runs}
    found = by_paper if whole else next(iter(by_paper.values()))
    if folder is not None:
        for name, planned, results in runs:
            own = folder / name if whole else folder
            write_text(str(own / "results.json"), to_json(by_paper[name], indent=1) + "\n")
            write_text(str(own / "index.html"), make_page(planned, results, around))
        if whole:
            write_text(str(folder / "results.json"), to_json(found, indent=1) + "\n")
            write_text(str(folder / "index.html"), make_overview(runs, quick, around))
    return found


@contextmanager
def _data_from(folder: str | None) -> Iterator[None]:
    """Data sets come from this folder, also in processes started meanwhile."""
    before = os.environ.get("GENUS_DATA")
    if folder is not None:
        os.environ["GENUS_DATA"] = folder
    try:
        yield
    finally:
        os.environ.pop("GENUS_DATA", None)
        if before is not None:
            os.environ["GENUS_DATA"] = before


def _cell_line(done: Cell) -> str:
    score = f"{100 * done.score:.2f}" if done.score is not None else f"failed: {done.error}"
    return f"{done.row} {done.system}: {score} ({done.seconds:.0f} s)"


def _print(planned: Experiment, results: Results) -> None:
    from genus.experiments.harness.table import blocks
    from genus.experiments.pages.statements import both, error_reductions, marks, paired_tests

    out = console()
    out.print(cell(planned.title, "bold"))
    out.print(cell(f"{planned.metric}. {planned.protocol} {results.seconds / 60:.1f} minutes.", "dim"))
    signs = marks(planned, results)
    for rows, names in blocks(planned):
        out.print("", _scores(rows, names, results, signs))
    for done in results.cells.values():
        if done.error:
            out.print(cell(f"{done.row} {done.system} failed: {done.error}", "red"))
    notes = [f"{row.name}: {row.note}" for row in planned.rows if row.note and row.name not in results.absent]
    out.print(cell("; ".join(notes), "dim"))

    for plot in planned.plots(results):
        _print_plot(plot)
    what = f"{planned.improved} over {planned.baseline}"
    reductions = table(f"error reduction, {what}", ">paper", ">sets", ">genus", ">sets")
    for r in error_reductions(planned, results):
        reductions.add_row(r.task, _percent(r.paper), str(r.n_paper), _percent(r.genus), str(r.n_genus))
    out.print("", reductions)
    if signs:
        said = f"• worse, ◦ better than {planned.improved} by the corrected resampled t-test over splits, p < .05"
        out.print(cell(said, "dim"))

    scores = both(planned, results)
    paper, ours = ({t.second: t for t in paired_tests(planned, scores[who])} for who in ("paper", "genus"))
    tests = table("mean difference", ">paper", ">p", ">genus", ">p", ">sets")
    for name in [system.name for system in planned.systems if system.name in paper or system.name in ours]:
        cells = [
            part
            for t in (paper.get(name), ours.get(name))
            for part in ((f"{t.difference:+.2f}{t.mark}", f"{t.p:.3f}") if t else ("", ""))
        ]
        tests.add_row(f"{planned.improved} - {name}", *cells, str(ours[name].n) if name in ours else "")
    out.print("", tests)
    out.print(cell("one-sided paired t-tests over data sets: ‡ p < .005, † p < .05", "dim"))


def _print_plot(plot: Plot) -> None:
    """A figure's points: a line for each x, a column for each line of the figure."""
    out = console()
    out.print("", cell(plot.title, "bold"), cell(plot.note, "dim"))
    points = table(f">{plot.x}", *(f">{name}" for name in plot.lines))
    by_name = {name: dict(line) for name, line in plot.lines.items()}
    for x in sorted({x for line in plot.lines.values() for x, _ in line}):
        values = [f"{line[x]:.4g}" if x in line else "" for line in by_name.values()]
        points.add_row(f"{x:,.6g}" if x < 1000 else f"{x:,.0f}", *values)
    out.print(points)


def _scores(rows: list[Row], names: list[str], results: Results, signs: Marks) -> object:
    """Three lines for a data set: the paper, genus, the difference. One, where there is only one side."""
    made = table("data set", "", *(f">{name}" for name in names))
    made.padding = (0, 1, 0, 0)
    for row in rows:
        scores, absent = results.scores(row.name), row.name in results.absent
        paper = [f"{row.paper[name]:.2f}" if name in row.paper else "" for name in names]
        if row.paper:
            made.add_row(
                cell(row.name, "dim" if absent else "bold"), "absent" if absent else "paper", *paper, style="dim"
            )
        if absent:
            if not row.paper:
                made.add_row(cell(row.name, "dim"), "absent", style="dim")
            continue
        failed = {s for (r, s), c in results.cells.items() if r == row.name and c.error}
        ours = [
            f"{scores[name]:.2f}{signs.get((row.name, name), '')}" if name in scores else "failed" * (name in failed)
            for name in names
        ]
        made.add_row("" if row.paper else cell(row.name, "bold"), "genus", *ours)
        spreads = results.spreads(row.name)
        if spreads:
            made.add_row("", "±", *(f"{spreads[n]:.2f}" if n in spreads else "" for n in names), style="dim")
        if row.paper:
            change = [
                f"{round(scores[name] - row.paper[name], 2) + 0.0:+.2f}" if name in scores and name in row.paper else ""
                for name in names
            ]
            made.add_row("", "diff.", *change, style="dim")
    return made


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.1f} %"
