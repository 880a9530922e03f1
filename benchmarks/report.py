"""Tables for people, JSON for programs, and on what machine it was."""

from __future__ import annotations

import datetime
import json
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable

from benchmarks.measure import cores, significant

PACKAGES = ("genus", "scikit-learn", "numpy", "scipy")


@dataclass(frozen=True)
class Target:
    """What a number must reach: at least ``bound``, or below it."""

    bound: float
    unit: str = "×"
    below: bool = False

    def met(self, value: float) -> bool:
        return value <= self.bound if self.below else value >= self.bound

    def verdict(self, value: float) -> str:
        mark = "[green]✓" if self.met(value) else "[bold red]✗"
        return f"{mark} {'≤' if self.below else '≥'} {self.bound:g}{self.unit}[/]"


@dataclass
class Table:
    """A section's results: rows to print, the same as records, and the verdict on every target."""

    name: str
    title: str
    columns: tuple[str, ...]
    note: str = ""
    n_keys: int = 2  # columns that tell one row from another
    rows: list[tuple[str, ...]] = field(default_factory=list)
    records: list[dict[str, Any]] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    n_targets: int = 0

    def add(
        self,
        cells: Sequence[str],
        record: dict[str, Any],
        value: float | None = None,
        target: Target | None = None,
    ) -> None:
        """A row, judged by ``value`` if it has a target; its verdict is the last column."""
        verdict = ""
        if target is not None and value is not None:
            verdict = target.verdict(value)
            record = record | {"target": target.bound, "met": target.met(value)}
            self.n_targets += 1
            if not target.met(value):
                reached = f"{significant(value)}{target.unit}, wanted {target.bound:g}{target.unit}"
                self.missed.append(f"{self.name}: {', '.join(cells[: self.n_keys])}: {reached}")
        self.rows.append((*cells, verdict))
        self.records.append(record)

    def print(self, console: Console) -> None:
        table = RichTable(title=self.title, title_justify="left", title_style="bold", caption=self.note)
        table.caption_justify = "left"
        for number, column in enumerate((*self.columns, "target")):
            table.add_column(column, justify="left" if number < 2 or column == "target" else "right")
        for before, row in zip([("",), *self.rows], self.rows, strict=False):
            if before[0] and row[0] != before[0]:
                table.add_section()
            table.add_row(*row)
        console.print(table)


def environment() -> dict[str, Any]:
    """Date, machine and versions."""
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "machine": {
            "cpu": _cpu(),
            "cores": len(cores()),
            "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
            "system": platform.platform(terse=True),
            "load_before": round(os.getloadavg()[0], 2),
        },
        "versions": {"python": platform.python_version()} | {name: _version(name) for name in PACKAGES},
    }


def print_environment(console: Console, facts: dict[str, Any]) -> None:
    machine = facts["machine"]
    console.print(
        f"[bold]genus benchmarks[/]  {facts['date']}\n"
        f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gib']} GiB, {machine['system']}; "
        f"load before: {machine['load_before']}\n"
        + ", ".join(f"{name} {number}" for name, number in facts["versions"].items()),
        highlight=False,
    )


def print_summary(console: Console, tables: Sequence[Table]) -> None:
    missed = [line for table in tables for line in table.missed]
    n_targets = sum(table.n_targets for table in tables)
    console.print(f"\n[bold]{n_targets - len(missed)} of {n_targets} targets reached[/]", highlight=False)
    for line in missed:
        console.print(f"  [red]✗[/] {line}", highlight=False)


def write_json(path: Path, facts: dict[str, Any], tables: Sequence[Table]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    sections = {table.name: {"title": table.title, "records": table.records} for table in tables}
    path.write_text(json.dumps(facts | {"sections": sections}, indent=1, ensure_ascii=False) + "\n", "utf-8")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
