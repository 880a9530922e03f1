"""tune: the search of `genus train`, with more time, and what it found."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from genus.cli._data import Reading, data_options, read, read_texts, save_model
from genus.cli._show import cell, check_target, console, count, json_option, print_json, size, table, working
from genus.errors import DataError

if TYPE_CHECKING:
    from genus.classifier import TextClassifier

_OBJECTIVES = ("accuracy", "macro_f1", "micro_f1", "log_loss")
_TUNING_BUDGET = 600.0


def search_options(command: Callable[..., None]) -> Callable[..., None]:
    """How long to search, and for what."""
    return _budget(60.0)(_objective(command))


def _budget(seconds: float) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option(
        "--time-budget",
        type=click.FloatRange(0, min_open=True),
        default=seconds,
        show_default=True,
        metavar="SECONDS",
        help="How long to search for a model.",
    )


_objective = click.option(
    "--objective",
    type=click.Choice(_OBJECTIVES),
    default="accuracy",
    show_default=True,
    help="What the search looks for.",
)


@click.command()
@click.argument("data")
@click.option("-o", "--out", metavar="FILE", help="Write what was found to a model file.")
@click.option("--unlabeled", metavar="FILE", help="More texts, without labels, to learn from.")
@_budget(_TUNING_BUDGET)
@_objective
@click.option("--seed", type=int, default=0, show_default=True, help="How texts that are left out are dealt out.")
@click.option("--jobs", type=int, metavar="N", help="Threads; by default all cores.")
@data_options
@json_option
def tune(
    data: str, out: str | None, unlabeled: str | None, time_budget: float, objective: str, seed: int,
    jobs: int | None, how: Reading, as_json: bool,
) -> None:  # fmt: skip
    """Search for the best model of some texts, and show what was tried.

    Models, weights of words and n-grams are judged on texts that are left out while they learn; the best are
    pooled, with weights learned the same way. Ctrl-C ends the search and keeps the best so far.
    DATA is as for `genus train`, which does the same with less time.

    \b
    genus tune mail.csv --out mail.genus
    genus tune tickets.csv --objective macro_f1 --time-budget 120
    """
    from genus.classifier import TextClassifier

    if out is not None:
        check_target(out, "--out")
    with working(f"reading {data}"):
        given = read(data, how)
        more = None if unlabeled is None else read_texts(unlabeled, how)
    labels = given.labels or []
    if len(set(labels)) == 1:
        raise DataError(f"{given.name}: every row has the label {labels[0]!r}: a model needs two at least")
    begin = time.perf_counter()
    clf = TextClassifier(
        time_budget=time_budget, objective=objective, random_state=seed, verbose=_is_watched(), n_jobs=jobs
    ).fit(given.texts, labels, unlabeled=more)
    seconds = time.perf_counter() - begin
    if out is not None:
        save_model(clf, out)
    if as_json:
        print_json(
            {
                "documents": len(given),
                "seconds": round(seconds, 3),
                "cut_short": clf.search_cut_short_,
                "out": out,
                "leaderboard": clf.leaderboard_,
            }
        )
        return
    shown = console()
    shown.print(f"judged on {count(len(given), 'document')} in {count(len(clf.classes_), 'class')}, {seconds:.1f} s")
    print_leaderboard(clf, n=20)
    if out is not None:
        shown.print(cell(f"saved {out} ({size(Path(out).stat().st_size)})"))


def _is_watched() -> int:
    import sys

    return int(sys.stderr.isatty())


def print_leaderboard(clf: TextClassifier, n: int) -> None:
    """The best of what was tried, and all that was chosen."""
    board = clf.leaderboard_
    rows = table("tried", "settings", ">accuracy", ">macro F1", ">log loss", ">weight")
    for row in [*board[:n], *(row for row in board[n:] if row["weight"] > 0)]:
        chosen = row["weight"] > 0
        rows.add_row(
            cell(row["candidate"], "bold" if chosen else ""),
            cell(_listed(row["settings"]), "dim"),
            f"{row['accuracy']:.4f}",
            f"{row['macro_f1']:.4f}",
            f"{row['log_loss']:.4f}",
            f"{row['weight']:.2f}" if chosen else "",
        )
    console().print("", rows, "")
    if clf.search_cut_short_:
        console().print(cell("time was up before everything was tried: a longer --time-budget tries more", "yellow"))


def _listed(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())
