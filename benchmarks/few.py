"""``python -m benchmarks.few``: a few labels of each class, on some sets, as one small table.

The same draws as `genus reproduce few`, without its pages and its stored cells. For example

    python -m benchmarks.few --sets trec,ag_news --labels 5,10 --draws 3 --contestants genus,LinearSVC
"""

from __future__ import annotations

import time
from collections.abc import Iterable

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from genus.errors import DataError
from genus.experiments.papers.few.contestants import CONTESTANTS, accuracy
from genus.experiments.papers.few.texts import SETS, draw, load_pool

Score = tuple[float, float]  # mean accuracy over draws, in percent, and mean seconds


def score(set_name: str, contestant: str, n: int, draws: int) -> Score:
    pool = load_pool(set_name)
    begin = time.perf_counter()
    found = [accuracy(CONTESTANTS[contestant](), draw(pool, n, seed), pool) for seed in range(draws)]
    return 100 * float(np.mean(found)), (time.perf_counter() - begin) / draws


def _names(known: Iterable[str]) -> click.ParamType:
    return _Names(tuple(known))


class _Names(click.ParamType):
    """Some of the known names, separated by commas."""

    name = "NAMES"

    def __init__(self, known: tuple[str, ...]) -> None:
        self.known = known

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> list[str]:
        names = [name.strip() for name in str(value).split(",")]
        unknown = [name for name in names if name not in self.known]
        if unknown:
            self.fail(f"unknown: {', '.join(unknown)}; there are {', '.join(self.known)}", param, ctx)
        return names


@click.command()
@click.option("--sets", "sets", type=_names(SETS), default="trec,sms_spam,ag_news,20news", show_default=True)
@click.option("--labels", default="5,10", show_default=True, help="Texts of each class.")
@click.option("--draws", type=click.IntRange(1), default=3, show_default=True)
@click.option("--contestants", type=_names(CONTESTANTS), default="genus,LinearSVC,LR", show_default=True)
def main(sets: list[str], labels: str, draws: int, contestants: list[str]) -> None:
    """Mean accuracy in percent over random draws of a few texts of each class; seconds of a draw in brackets."""
    sizes = [int(n) for n in labels.split(",")]
    console = Console(width=None if Console().is_terminal else 150)
    shown = Table("set", *(f"{c} {n}" for n in sizes for c in contestants))
    columns: list[list[float]] = []
    for name in sets:
        try:
            load_pool(name)
        except DataError as error:
            console.print(f"skipped {name}: {error}", highlight=False)
            continue
        found = [score(name, contestant, n, draws) for n in sizes for contestant in contestants]
        columns.append([accuracy for accuracy, _ in found])
        shown.add_row(name, *(f"{accuracy:.1f} ({seconds:.1f})" for accuracy, seconds in found))
    if columns:
        shown.add_row("mean", *(f"{mean:.1f}" for mean in np.mean(columns, axis=0)))
    console.print(shown)


if __name__ == "__main__":
    main()
