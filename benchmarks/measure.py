"""Fair timing: contestants take turns on the same cores, and are compared round by round."""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from threadpoolctl import threadpool_limits

SHORT = 0.1  # seconds: a call shorter than this is repeated within its turn


class Entry(NamedTuple):
    """A contestant: what it does, and on how many cores."""

    run: Callable[[], Any]
    n_cores: int = 1


class Race(NamedTuple):
    """The seconds of every contestant in every round, and what each returned in the last."""

    seconds: dict[str, list[float]]
    results: dict[str, Any]

    def ratio(self, peer: str, ours: str) -> Spread:
        return Spread.of_ratios(self.seconds[peer], self.seconds[ours])

    def median(self, name: str) -> float:
        return statistics.median(self.seconds[name])


class Spread(NamedTuple):
    """A median with the least and the largest value beside it."""

    median: float
    low: float
    high: float

    @classmethod
    def from_values(cls, values: Sequence[float]) -> Spread:
        return cls(statistics.median(values), min(values), max(values))

    @classmethod
    def of_ratios(cls, above: Sequence[float], below: Sequence[float]) -> Spread:
        """Of paired ratios: what disturbs the machine for a round disturbs both sides of its ratio."""
        return cls.from_values([a / b for a, b in zip(above, below, strict=True)])

    def __str__(self) -> str:
        return f"{significant(self.median)}× ({significant(self.low)}–{significant(self.high)})"


def significant(value: float) -> str:
    """Three digits that matter."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:#.3g}"


def cores() -> list[int]:
    """The cores this process may use, the busiest (the first, which serves interrupts) last."""
    return sorted(os.sched_getaffinity(0), reverse=True)


@contextmanager
def pinned(n_cores: int) -> Iterator[None]:
    """Keep this thread, what it starts, and the numeric libraries' pools to some cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores()[:n_cores])
    try:
        with threadpool_limits(n_cores):
            yield
    finally:
        os.sched_setaffinity(0, before)


def race(entries: Mapping[str, Entry], rounds: int) -> Race:
    """Time the contestants in turns, A B C A B C...."""
    seconds: dict[str, list[float]] = {name: [] for name in entries}
    results: dict[str, Any] = {}
    for _ in range(rounds):
        for name, entry in entries.items():
            results.pop(name, None)
            gc.collect()
            with pinned(entry.n_cores):
                elapsed, results[name] = timed(entry.run)
            seconds[name].append(elapsed)
    return Race(seconds, results)


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """The seconds of a call and its result; of a short call, the median over `SHORT` seconds of calls."""
    taken: list[float] = []
    result, end = None, time.perf_counter() + SHORT
    while not taken or time.perf_counter() < end:
        result = None  # freeing the old result is not part of making a new one
        begin = time.perf_counter()
        result = call()
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken), result
