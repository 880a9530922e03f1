"""``python -m benchmarks.few``: a few labels of each class, on some sets, as one small table.

The same draws and contestants as `genus reproduce few`, without its pages and its stored cells; for example

    python -m benchmarks.few --sets trec,ag_news --labels 5,10 --draws 3 --contestants genus,LinearSVC
"""

from __future__ import annotations

import re

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from genus.errors import DataError
from genus.experiments.papers.few import contestants as taking_part
from genus.experiments.papers.few.measures import CALIBRATION, Problem, Settings, measure
from genus.experiments.papers.few.texts import SETS, load_pool


class Names(click.ParamType):
    """Some of the known names, separated by semicolons, or by commas where no name has one."""

    name = "NAMES"

    def __init__(self, known: tuple[str, ...]) -> None:
        self.known = known

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> list[str]:
        names = [name.strip() for name in re.split(";" if ";" in str(value) else ",", str(value))]
        unknown = [name for name in names if name not in self.known]
        if unknown:
            self.fail(f"unknown: {', '.join(unknown)}; there are {', '.join(self.known)}", param, ctx)
        return names


@click.command()
@click.option("--sets", type=Names(tuple(SETS)), default="trec,sms_spam,ag_news,20news", show_default=True)
@click.option("--labels", default="5,10", show_default=True, help="Labels of each class; 0 for names alone.")
@click.option("--draws", type=click.IntRange(1), default=3, show_default=True)
@click.option(
    "--contestants", type=Names(tuple(taking_part.contestants())), default="genus,LinearSVC,LR", show_default=True
)
@click.option("--unlabeled", type=click.IntRange(0), default=0, show_default=True, help="Texts without labels.")
def main(sets: list[str], labels: str, draws: int, contestants: list[str], unlabeled: int) -> None:
    """Mean accuracy over draws of a few texts of each class, calibration error in percent, and seconds to fit."""
    sizes = [int(n) for n in labels.split(",")]
    console = Console(width=None if Console().is_terminal else 200)
    shown = Table("set", *(f"{contestant} {n}" for n in sizes for contestant in contestants))
    found: list[list[float]] = []
    for name in sets:
        try:
            load_pool(name)
        except DataError as error:
            console.print(f"skipped {name}: {error}", highlight=False)
            continue
        cells = [
            measure(contestant, Problem(name, n, unlabeled), Settings(draws))
            for n in sizes
            for contestant in contestants
        ]
        found.append([100 * cell.score for cell in cells])
        shown.add_row(name, *(_shown(cell.score, cell.params.get(CALIBRATION), cell.fit_seconds) for cell in cells))
    if found:
        shown.add_row("mean", *(f"{mean:.1f}" for mean in np.mean(found, axis=0)))
    console.print(shown)


def _shown(score: float, error: object, seconds: float | None) -> str:
    calibration = f" ±{100 * error:.0f}" if isinstance(error, float) else ""
    return f"{100 * score:.1f}{calibration} {seconds or 0:.1f}s"


if __name__ == "__main__":
    main()
