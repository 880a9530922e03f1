"""A time limit for regular expressions that users give: some take longer than a life for a text of thirty letters.

Python's `re` holds the interpreter while it searches, so that no other thread could stop it, but it looks for signals:
an alarm ends it. Python runs signal handlers in the main thread only, and a program has one alarm: in other threads,
where the program uses the alarm itself, and on platforms without one there is no limit. Engines without this weakness,
such as RE2, are no replacement: their ``\\w`` and ``\\b`` know ASCII only.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType

SECONDS = 10.0  # for one text; a usual pattern takes about a second for 10 MB
Find = Callable[[str], list[str]]


def limited(find: Find, pattern: str, seconds: float = SECONDS) -> Find:
    """The same search, ended by a ValueError where a text takes longer."""

    def give_up(number: int, frame: FrameType | None) -> None:
        raise ValueError(
            f"token_pattern {pattern!r} took over {seconds:g} s for one text: avoid repetitions within repetitions, "
            "such as (a+)+."
        )

    def find_in_time(text: str) -> list[str]:
        if not _has_alarm():
            return find(text)
        before = signal.signal(signal.SIGALRM, give_up)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            return find(text)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    return find_in_time


def _has_alarm() -> bool:
    """Whether the alarm can be set here, and nobody else uses it."""
    return (
        hasattr(signal, "setitimer")
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGALRM) == signal.SIG_DFL
        and signal.getitimer(signal.ITIMER_REAL)[0] == 0
    )
