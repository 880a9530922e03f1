"""What commands print: tables for people, JSON for programs, and files written whole or not at all."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

import click

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

DELAY = 0.5  # seconds before progress is shown, so that quick work shows none

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def clean(text: object) -> str:
    """On one line, without characters that could steer a terminal: texts and labels may be hostile."""
    line = " ".join(str(text).split())
    return line if line.isprintable() else "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)


def shorten(text: object, width: int) -> str:
    line = clean(text)
    return line if len(line) <= width else line[: width - 1] + "…"


def cell(text: object, style: str = "", *, cut: bool = False) -> Text:
    """Text from data, never read as rich's markup; wrapped in its column, or cut to one line."""
    from rich.text import Text

    return Text(clean(text), style, no_wrap=cut, overflow="ellipsis" if cut else "fold")


def console(*, stderr: bool = False) -> Console:
    from rich.console import Console

    class Quiet(Console):
        def on_broken_pipe(self) -> NoReturn:
            raise BrokenPipeError  # rich would exit with an error

    return Quiet(stderr=stderr, highlight=False)


def table(*columns: str) -> Table:
    """A plain table; columns whose names begin with ">" are numbers."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, show_edge=False, header_style="dim")
    for name in columns:
        made.add_column(
            name.removeprefix(">"),
            justify="right" if name.startswith(">") else "left",
            no_wrap=name.startswith(">"),
        )
    return made


def print_json(value: object) -> None:
    click.echo(to_json(value, indent=2))


def to_json(value: object, indent: int | None = None) -> str:
    # A lone surrogate is printed as \udc80 by main's error handler, which is JSON as well.
    plain = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    return json.dumps(value, ensure_ascii=plain, indent=indent, default=_plain)


def _plain(value: object) -> object:
    return value.item() if hasattr(value, "item") else str(value)


def count(n: int, noun: str) -> str:
    plural = noun + ("es" if noun.endswith("s") else "s")
    return f"{n:,} {noun if n == 1 else plural}"


def size(n_bytes: int) -> str:
    value = float(n_bytes)
    for unit in ("bytes", "KB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "bytes" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


@contextmanager
def working(what: str, *, shown: bool = True) -> Iterator[Callable[[int], None]]:
    """A line on standard error while long work goes on, if that is a terminal; call with the rows done."""
    from genus.base.progress import progress_line

    with progress_line(clean(what), shown=shown, delay=DELAY) as progress:
        yield lambda n: progress.update(f"{clean(what)}: {count(n, 'row')}")


def writes_to_file() -> bool:
    """Whether standard output goes to a file: not to the terminal, nor to a pager that shares it."""
    try:
        return stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode)
    except (OSError, ValueError):
        return False


def write_text(path: str, text: str) -> None:
    """Write a file whole or not at all, or to a stream that is open already."""
    from genus.io import atomic

    try:
        atomic.write_text(path, text)
    except OSError as error:
        raise click.ClickException(f"{path}: not written: {(error.strerror or str(error)).lower()}") from error
