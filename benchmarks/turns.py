"""``python -m benchmarks.turns BASE NEW``: the benchmarks of two or more source trees in turns, with ratios of times.

Each tree is a checkout with its own environment: `make dev`, and for the peers `make bench BENCH="--quick"`.
A round runs ``python -m benchmarks`` once in every tree. A row is one measurement: the time of the first tree in
seconds, milliseconds or microseconds, as the section reports it (the best round), and that of each other tree divided
by it: below 1 is faster.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from benchmarks.__main__ import SECTIONS

SAME_IN_ALL = ("counting", "models", "latency", "document_mixture", "gibbs", "repeated_em")
RATES = ("million_tokens_per_second", "million_entries_per_second")

Times = dict[tuple[str, ...], list[float]]


def times_of(section: str, record: dict[str, Any]) -> tuple[tuple[str, ...], float] | None:
    """What a record of bench.json is about, and how long genus took; None where it has no time of genus."""
    key = (
        section,
        *(str(record[name]) for name in ("data", "task", "system", "counts", "peer", "threads") if name in record),
    )
    if str(record.get("system", "genus")).startswith("scikit"):
        return None
    if "genus_seconds" in record:
        return key, min(record["genus_seconds"])
    for name in ("ms", "median_us"):
        if name in record:
            return key, record[name]
    for name in RATES:
        if name in record:
            rate = record[name]
            return key, 1 / (rate[-1] if isinstance(rate, list) else rate)
    return None


def run_once(tree: Path, options: list[str], times: Times) -> None:
    """Run the benchmarks of a tree, and add its times."""
    command = [".venv/bin/python", "-m", "benchmarks", *options]
    done = subprocess.run(command, cwd=tree, env=os.environ, capture_output=True, text=True)
    if done.returncode:
        raise click.ClickException(f"{tree}: {(done.stderr or done.stdout).strip().splitlines()[-1]}")
    results = json.loads((tree / "benchmarks" / "results" / "bench.json").read_text())
    for name, section in results["sections"].items():
        for record in section["records"]:
            found = times_of(name, record)
            if found is not None:
                times[found[0]].append(found[1])


@click.command()
@click.argument("trees", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--only", multiple=True, type=click.Choice(list(SECTIONS)), default=SAME_IN_ALL, help="Section (repeatable)."
)
@click.option("--rounds", default=3, show_default=True, help="Runs of each tree.")
@click.option("--repeat", default=3, show_default=True, help="Rounds within a run.")
@click.option("--data-limit", default=8.0, show_default=True, help="Megabytes of text in each part.")
def main(trees: tuple[Path, ...], only: tuple[str, ...], rounds: int, repeat: int, data_limit: float) -> None:
    """Compare the speed of source trees."""
    console = Console(width=None if Console().is_terminal else 150)
    options = [f"--repeat={repeat}", f"--data-limit={data_limit}", *(f"--only={name}" for name in only)]
    times: list[Times] = [defaultdict(list) for _ in trees]
    for _ in range(rounds):
        for tree, found in zip(trees, times, strict=True):
            run_once(tree, options, found)
    table = Table("measurement", trees[0].name, *(f"{tree.name} / {trees[0].name}" for tree in trees[1:]))
    products = [[] for _ in trees]
    for key, first in times[0].items():
        if all(key in found for found in times):
            ratios = [min(found[key]) / min(first) for found in times]
            table.add_row(", ".join(key), f"{min(first):.3g}", *(f"{ratio:.2f}" for ratio in ratios[1:]))
            for product, ratio in zip(products, ratios, strict=True):
                product.append(ratio)
    medians = [sorted(product)[len(product) // 2] for product in products]
    table.add_section()
    table.add_row("median", "", *(f"{median:.2f}" for median in medians[1:]))
    console.print(table)


if __name__ == "__main__":
    main()
