"""Files written whole or not at all.

Every file that genus writes passes through here. A file system can only put a *named* file in another's place, so the
content goes to a hidden file beside the target, which is then renamed. While it is written it is locked: a later save
removes hidden files that no process has locked, which are those of processes that were killed.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from genus.io.locks import lock_exclusively, try_lock

_STREAMS = {"-": 1, "/dev/stdout": 1, "/dev/stderr": 2}
_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d{1,6})")
_KINDS = {
    stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}  # fmt: skip


class NotAFileError(OSError):
    """What stands at a path cannot be replaced by a file."""


def check_replaceable(path: str | os.PathLike[str]) -> None:
    """Raise NotAFileError unless nothing, a regular file or a link to one is there."""
    name = os.fspath(path)
    if is_open_stream(name):
        raise NotAFileError("is an open stream: give the name of a regular file")
    with contextlib.suppress(FileNotFoundError):
        kind = stat.S_IFMT(os.stat(name).st_mode)
        if kind != stat.S_IFREG:
            what = _KINDS.get(kind, "not a regular file")
            raise NotAFileError(f"is {what}, which is not replaced: give the name of a regular file")


def is_open_stream(path: str | os.PathLike[str]) -> bool:
    """Whether this names a descriptor that is open already: "-", /dev/stdout, /dev/fd/3."""
    return _descriptor(path) is not None


def _descriptor(path: str | os.PathLike[str]) -> int | None:
    numbered = _DESCRIPTOR.fullmatch(os.fspath(path))
    return int(numbered[1]) if numbered else _STREAMS.get(os.fspath(path))


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write to that takes its name when it is complete: whatever stops this, one already there stays.

    The new file has the permissions of the old one. A link is followed: its target is replaced, not the link. Only
    regular files are replaced; a device, pipe, socket or folder raises NotAFileError.
    """
    check_replaceable(path)
    target = Path(os.path.realpath(path))
    _remove_abandoned(target)
    file, temporary = _new_file(target)
    try:
        with file:
            with contextlib.suppress(FileNotFoundError):
                os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
            check_replaceable(target)
            os.replace(temporary, target)  # while it is locked: nobody takes it for an abandoned one
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    with contextlib.suppress(OSError):  # the file is there; some file systems cannot sync a folder
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _new_file(target: Path) -> tuple[IO[bytes], Path]:
    """A locked hidden file beside the target."""
    while True:
        temporary = target.with_name(f"{_hidden_prefix(target)}{secrets.token_hex(6)}.tmp")
        file = open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb")  # noqa: SIM115 (given away)
        lock_exclusively(file.fileno())
        if os.fstat(file.fileno()).st_nlink:
            return file, temporary
        file.close()  # another save took it for an abandoned one before it was locked


def _remove_abandoned(target: Path) -> None:
    """Remove the hidden files that saves of the same target left behind when they were killed."""
    ours = re.compile(re.escape(_hidden_prefix(target)) + r"[0-9a-f]{12}\.tmp")
    with contextlib.suppress(OSError):  # cleaning up is a courtesy: a save never fails for it
        for entry in os.scandir(target.parent):
            if ours.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError), open(entry.path, "rb+") as file:
                    if try_lock(file.fileno()):
                        os.unlink(entry.path)


def _hidden_prefix(target: Path) -> str:
    return f".{target.name[:200]}."


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text as UTF-8; what that cannot hold, such as half a surrogate pair, becomes a question mark.

    A stream that is open already ("-" for standard output, /dev/stdout, /dev/fd/3) is written to, not replaced.
    """
    content = text.encode("utf-8", "replace")
    descriptor = _descriptor(path)
    if descriptor is None:
        with written_whole(path) as file:
            file.write(content)
    else:
        sys.stdout.flush()
        with open(descriptor, "wb", closefd=False) as stream:  # opened by its name, it would begin anew
            stream.write(content)
