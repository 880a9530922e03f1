"""A sampler's progress on standard error: sweeps done, and where the tokens are."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from genus.base.arrays import Float64

Tell = Callable[[Float64], None]  # of the tokens in background, class and own topics


@contextmanager
def sweep_progress(n_sweeps: int, *, shown: bool) -> Iterator[Tell]:
    """Call once for each sweep. A bar in a terminal, a line for each sweep elsewhere."""
    if not shown:
        yield lambda tokens: None
    elif not sys.stderr.isatty():
        done = iter(range(1, n_sweeps + 1))
        yield lambda tokens: print(f"sweep {next(done)}/{n_sweeps}: {_shares(tokens)}", file=sys.stderr)
    else:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("sweeps"), BarColumn(20), MofNCompleteColumn(), TextColumn("{task.description}"))
        with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("", total=n_sweeps)
            yield lambda tokens: progress.update(task, advance=1, description=_shares(tokens))


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
    """Shows, if asked to, what is tried and the best accuracy so far."""
    if not verbose:
        yield lambda name, best: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("choosing a model", total=None)

        def show(name: str, best: float) -> None:
            shown.update(task, description=f"choosing a model: {name} tried, best accuracy so far {best:.3f}")

        yield show
