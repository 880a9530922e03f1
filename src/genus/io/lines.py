"""Bytes to lines of text: compression, encodings, byte order marks, and what to say when they are wrong."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn, cast

from genus.errors import DataError

COMPRESSED: dict[str, Callable[[Path], IO[bytes]]] = {
    ".gz": cast(Any, gzip.open), ".bz2": cast(Any, bz2.open), ".xz": cast(Any, lzma.open),
}  # fmt: skip
_BOMS = {
    codecs.BOM_UTF32_LE: "utf-32",  # begins with UTF-16's, so that it is asked first
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


class Limits(NamedTuple):
    """How much one text and one compressed file may take of memory."""

    max_text: int = 64 * 10**6  # bytes of a line, a row or a file of a folder
    max_expansion: float = 100.0  # of a compressed file, times its size; up to `_HARMLESS` it may be more


_HARMLESS = 256 * 10**6


class TextSource:
    """A file, a folder of files, or standard input ("-"), with errors in one line that names it."""

    def __init__(self, path: str | os.PathLike[str], encoding: str, limits: Limits) -> None:
        self.limits = limits
        self.is_stdin = os.fspath(path) == "-"
        self.path = Path(path)
        self.name = "standard input" if self.is_stdin else os.fspath(path)
        self.encoding = encoding
        if self.is_stdin and sys.stdin is None:
            self.fail("is closed: give a file, or a pipe")
        try:
            "".encode(encoding)
        except LookupError as error:
            raise DataError(f"there is no text encoding {encoding!r}: try utf-8, latin-1 or cp1252") from error

    def fail(self, reason: str, cause: BaseException | None = None) -> NoReturn:
        one_line = " ".join(reason.split())  # names of columns may hold line ends
        raise DataError(f"{self.name}: {one_line}") from cause

    def lines(self) -> Iterator[tuple[int, str]]:
        """Numbered lines with their ends. Only a line feed ends one: texts may hold the other kinds."""
        number = 0
        try:
            with self._open() as file:
                encoding = self._encoding_of(file.peek(4))
                for number, line in enumerate(self._decoded(file, encoding), 1):
                    if "\0" in line:
                        self._binary(line, number)
                    yield number, line if number > 1 else line.removeprefix("\ufeff")
                if number == 0:
                    self.fail("is empty")
        except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
            self.fail(f"is damaged after line {number}: {str(error).lower().rstrip('.')}", error)
        except OSError as error:
            self.fail((error.strerror or str(error)).lower(), error)

    def _open(self) -> io.BufferedReader:
        if self.is_stdin:
            # The stream is not ours to close.
            return io.BufferedReader(_Borrowed(sys.stdin.buffer))
        opener = COMPRESSED.get(self.path.suffix.lower())
        if opener is None:
            return open(self.path, "rb")
        allowed = max(_HARMLESS, int(self.limits.max_expansion * self.path.stat().st_size))
        return io.BufferedReader(_Expanding(opener(self.path), allowed, self._expands))

    def _expands(self) -> NoReturn:
        self.fail(
            f"expands to more than {self.limits.max_expansion:g} times its size and {_HARMLESS // 10**6} MB: "
            "if it is meant to, raise --max-expansion"
        )

    def _encoding_of(self, head: bytes) -> str:
        if codecs.lookup(self.encoding).name != "utf-8":
            return self.encoding
        return next((encoding for bom, encoding in _BOMS.items() if head.startswith(bom)), "utf-8")

    def _decoded(self, file: io.BufferedReader, encoding: str) -> Iterator[str]:
        # Zero bytes within UTF-16 and UTF-32 hide where lines end; elsewhere a line is decoded by itself,
        # which says in which one decoding fails.
        number = 0
        if encoding.lower().replace("_", "-").startswith(("utf-16", "utf-32", "utf16", "utf32")):
            try:
                with io.TextIOWrapper(file, encoding, newline="\n") as lines:
                    while line := lines.readline(self.limits.max_text + 1):
                        number += 1
                        self.check_length(len(line), f"line {number}")
                        yield line
            except UnicodeError as error:
                self.fail(f"line {number + 1} is not {encoding} ({getattr(error, 'reason', error)})", error)
            return
        while raw := file.readline(self.limits.max_text + 1):
            number += 1
            self.check_length(len(raw), f"line {number}")
            try:
                yield raw.decode(encoding)
            except UnicodeDecodeError as error:
                self._undecodable(f"line {number}", raw, encoding, error)

    def check_length(self, n: int, what: str) -> None:
        """Refuse what is too long for one text: it would have to be held in memory whole."""
        if n > self.limits.max_text:
            shown = f"{self.limits.max_text / 10**6:g} MB"
            self.fail(f"{what} is longer than {shown}: end lines with line feeds, or raise --max-text")

    def _undecodable(self, where: str, raw: bytes, encoding: str, error: UnicodeDecodeError) -> NoReturn:
        guess = _guess_encoding(raw)
        self.fail(
            f"{where} is not {encoding}: byte {error.start + 1} is 0x{raw[error.start]:02x}; "
            f"say what it is with --encoding, perhaps --encoding {guess}",
            error,
        )

    def _binary(self, line: str, number: int) -> NoReturn:
        guess = _guess_encoding(line.encode("utf-8", "surrogatepass"))
        if guess.startswith("utf-16"):
            self.fail(f"line {number} holds zero bytes: perhaps --encoding {guess}")
        self.fail(f"line {number} holds zero bytes: this looks like a binary file, not text")

    def text_of(self, file: Path) -> str:
        """The whole of a file in this folder."""
        where = file.relative_to(self.path).as_posix()
        try:
            self.check_length(file.stat().st_size, where)
            raw = file.read_bytes()
        except OSError as error:
            self.fail(f"{where}: {(error.strerror or str(error)).lower()}", error)
        encoding = self._encoding_of(raw[:4])
        try:
            text = raw.decode(encoding).removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            self._undecodable(where, raw, encoding, error)
        if "\0" in text:
            self.fail(f"{where} holds zero bytes: this looks like a binary file, not text")
        return text


class _Expanding(io.RawIOBase):
    """What a compressed file expands to, up to a limit."""

    def __init__(self, file: IO[bytes], n_bytes: int, beyond: Callable[[], NoReturn]) -> None:
        self._file, self._left, self._beyond = file, n_bytes, beyond

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        self._left -= len(data)
        if self._left < 0:
            self._beyond()
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


class _Borrowed(io.RawIOBase):
    """A stream that belongs to someone else: closing this leaves it open."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        read = getattr(self._stream, "read1", self._stream.read)
        data: bytes = read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _guess_encoding(raw: bytes) -> str:
    if raw.count(0) > len(raw) // 4:
        return "utf-16-be" if raw[:1] == b"\0" else "utf-16-le"
    return "cp1252" if any(0x80 <= byte < 0xA0 for byte in raw) else "latin-1"
