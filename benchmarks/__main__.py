"""``python -m benchmarks``: runs the sections, prints their tables, keeps them in results/bench.json."""

from __future__ import annotations

import time
from importlib import import_module
from pathlib import Path

import click
from rich.console import Console

from benchmarks.bench import Bench
from benchmarks.report import environment, print_environment, print_summary, write_json

# Section: module and function. Imported when run, since each brings peers of its own.
SECTIONS = {
    "counting": ("counting", "run"),
    "vectors": ("vectors", "run"),
    "models": ("models", "run"),
    "end_to_end": ("end_to_end", "run"),
    "online": ("online", "run"),
    "latency": ("latency", "run"),
    "memory": ("memory", "run"),
    "model_file": ("model_file", "run"),
    "document_mixture": ("document_mixture", "run"),
    "growth": ("document_mixture", "growth"),
    "gibbs": ("gibbs", "run"),
    "trees": ("trees", "run"),
    "repeated_em": ("repeated_em", "run"),
    "choosing": ("choosing", "run"),
}
RESULTS = Path(__file__).with_name("results") / "bench.json"


@click.command()
@click.option("--quick", is_flag=True, help="Two rounds on 4 MB of each set: a look, not a result.")
@click.option("--only", multiple=True, type=click.Choice(list(SECTIONS)), help="This section (repeatable).")
@click.option("--repeat", type=click.IntRange(1), help="Rounds [default: 5].")
@click.option("--data-limit", type=click.FloatRange(0, min_open=True), help="Megabytes of text in each part.")
def main(quick: bool, only: tuple[str, ...], repeat: int | None, data_limit: float | None) -> None:
    """Compare genus with its peers, side by side on this machine."""
    console = Console(width=None if Console().is_terminal else 150)
    bench = Bench(repeat=repeat or (2 if quick else 5), quick=quick, data_limit=data_limit or (4.0 if quick else None))
    facts = environment() | {"repeat": bench.repeat, "data_limit_mb": bench.data_limit}
    print_environment(console, facts)
    tables = []
    begin = time.monotonic()
    with console.status("") as status:
        bench.say = status.update
        for name in only or SECTIONS:
            module, function = SECTIONS[name]
            tables.append(getattr(import_module(f"benchmarks.{module}"), function)(bench))
            tables[-1].print(console)
            write_json(RESULTS, facts, tables)  # a run that is broken off keeps what it has
    for name, reason in bench.absent.items():
        console.print(f"[yellow]skipped {name}[/]: {reason}", highlight=False)
    print_summary(console, tables)
    console.print(f"{time.monotonic() - begin:.0f} s, {bench.repeat} rounds", highlight=False)
    differ = [record for table in tables for record in table.records if not record.get("equal", True)]
    if differ:
        raise click.ClickException(f"{len(differ)} results differ from the peer's")


if __name__ == "__main__":
    main()
