"""Progress of long work, as one line on standard error: used by the command line, the searches and the sampler."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from genus.base.arrays import Float64


class Progress(Protocol):
    """What `progress_line` gives: call `update` while the work goes on, and `print` for a line above the bar."""

    def update(self, description: str | None = None, *, advance: int = 0) -> None: ...
    def print(self, line: str) -> None: ...


@contextmanager
def progress_line(
    description: str, total: int | None = None, *, shown: bool = True, delay: float = 0.0
) -> Iterator[Progress]:
    """A bar with the time left if the total is known, a spinner with the time spent if not.

    Drawn only where standard error is a terminal, after `delay` seconds, and erased at the end.
    """
    if not (shown and sys.stderr.isatty()):
        yield _Hidden()
        return
    from threading import Timer

    bar = _Bar(description, total)
    timer = Timer(delay, bar.rich.start)
    timer.start() if delay else bar.rich.start()
    try:
        yield bar
    finally:
        if delay:
            timer.cancel()
            timer.join()
        bar.rich.stop()


class _Hidden:
    """No terminal: lines are printed, and nothing else."""

    def update(self, description: str | None = None, *, advance: int = 0) -> None:
        pass

    def print(self, line: str) -> None:
        print(line, file=sys.stderr)


class _Bar:
    """A line of rich's, which is imported only where it is drawn."""

    def __init__(self, description: str, total: int | None) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            ProgressColumn,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as RichProgress

        text = TextColumn("{task.description}", markup=False)
        known: tuple[ProgressColumn, ...] = (text, BarColumn(20), MofNCompleteColumn(), TimeRemainingColumn())
        unknown: tuple[ProgressColumn, ...] = (SpinnerColumn(), text, TimeElapsedColumn())
        # Standard output and error stay as they are: rich would otherwise move what is printed there to its own line.
        self.rich = RichProgress(
            *(unknown if total is None else known),
            console=Console(stderr=True, highlight=False),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self.rich.add_task(description, total=total)

    def update(self, description: str | None = None, *, advance: int = 0) -> None:
        self.rich.update(self._task, description=description, advance=advance)

    def print(self, line: str) -> None:
        self.rich.console.print(line, markup=False)


@contextmanager
def sweep_progress(n_sweeps: int, *, shown: bool) -> Iterator[Callable[[Float64], None]]:
    """Call once per sweep with the tokens in background, class and own topics.

    A bar in a terminal, a line per sweep elsewhere.
    """
    with progress_line("sweeps", n_sweeps, shown=shown) as progress:
        done = iter(range(1, n_sweeps + 1))

        def report(tokens: Float64) -> None:
            if not shown:
                return
            sweep, shares = next(done), _shares(tokens)
            progress.update(f"sweeps: {shares}", advance=1)
            if not sys.stderr.isatty():
                progress.print(f"sweep {sweep}/{n_sweeps}: {shares}")

        yield report


def _shares(tokens: Float64) -> str:
    """
    >>> import numpy as np
    >>> _shares(np.array([60.0, 30.0, 10.0]))
    'class 30 %  background 60 %  own 10 %'
    """
    background, about, own = 100 * tokens / max(tokens.sum(), 1.0)
    return f"class {about:.0f} %  background {background:.0f} %  own {own:.0f} %"


@contextmanager
def searching(verbose: int) -> Iterator[Callable[[str, float], None]]:
    """Shows, if asked to, the candidate just tried and the best accuracy so far."""
    with progress_line("choosing a model", shown=bool(verbose)) as progress:
        yield lambda name, best: progress.update(f"choosing a model: tried {name}, best accuracy so far {best:.3f}")
