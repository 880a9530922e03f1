"""Advisory locks between processes: they end with the process that holds them, also by kill -9.

They bind only programs that ask for them. Where the platform or the file system has none, everything goes on without.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from genus.errors import GenusError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_BUSY = {errno.EWOULDBLOCK, errno.EACCES}
_POLL = 0.05  # seconds


class LockedError(GenusError):
    """Another process is changing the file."""


def lock_exclusively(descriptor: int) -> None:
    """Wait for the lock of an open file, where there are locks."""
    if fcntl is not None:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)


def lock_shared(descriptor: int) -> None:
    """Ask for a lock that many readers hold at once, until the last copy of the descriptor is closed."""
    if fcntl is not None:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)


def try_lock(descriptor: int) -> bool:
    """Whether nobody else holds the lock, which is ours now. False where there are no locks: nobody can say."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def changing(path: str | os.PathLike[str], timeout: float, waiting: Callable[[str], None]) -> Iterator[None]:
    """Be the only one that reads, changes and writes a file, among processes that ask for this.

    The lock is a hidden file beside it, which is removed at the end. One left by a killed process does no harm: it
    is the lock on it that counts, and that ends with the process. It is not the file itself that is locked: saving
    puts another in its place.

    Parameters
    ----------
    path : the file, or a link to it
    timeout : seconds to wait for another process; then LockedError
    waiting : called once, if there is somebody to wait for, with a text that says who
    """
    target = Path(os.path.realpath(path))
    lock = target.with_name(f".{target.name[:200]}.lock")
    descriptor = _acquire(lock, os.fspath(path), timeout, waiting)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.unlink(lock)
        os.close(descriptor)


def _acquire(lock: Path, name: str, timeout: float, waiting: Callable[[str], None]) -> int:
    deadline, told = time.monotonic() + timeout, False
    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            if _is_ours(descriptor, lock):
                os.ftruncate(descriptor, 0)
                os.write(descriptor, str(os.getpid()).encode("ascii"))
                return descriptor
            holder = os.pread(descriptor, 20, 0).decode("ascii", "replace")
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        who = f"{name} is being changed by {f'process {holder}' if holder.isdigit() else 'another process'}"
        if time.monotonic() >= deadline:
            raise LockedError(f"{who}: try again when it has ended, or wait longer with --lock-timeout")
        if not told:
            waiting(who)
            told = True
        time.sleep(_POLL)


def _is_ours(descriptor: int, lock: Path) -> bool:
    """Whether the lock is held now, on the file that has this name: its last holder may just have removed it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in _BUSY  # others come from file systems without locks
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(lock))
    except FileNotFoundError:
        return False
