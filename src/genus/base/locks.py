"""A lock that objects may have which are copied, pickled and saved."""

from __future__ import annotations

from threading import RLock


class Lock:
    """A re-entrant lock. A copy, or what is unpickled, has a lock of its own."""

    def __init__(self) -> None:
        self._lock = RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[type[Lock], tuple[()]]:
        return type(self), ()
