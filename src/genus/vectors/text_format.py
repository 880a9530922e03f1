"""Word vectors as text: a line for each word, "word v1 ... vd".

GloVe's files begin with the first word; those of word2vec and fastText (.vec) with a line "n d". Words may hold spaces.
"""

from __future__ import annotations

import gzip
import lzma
import os
import warnings
import zlib
from collections.abc import Iterator
from typing import IO, cast

import numpy as np

from genus.base.arrays import Strings
from genus.text.encoder import Float32
from genus.vectors.entries import LARGEST, Entries

_LINES = 4096  # parsed at a time


def open_text(path: str | os.PathLike[str]) -> IO[bytes]:
    """The file's bytes, unpacked where they are compressed."""
    with open(path, "rb") as file:
        start = file.read(6)
    if start.startswith(b"\x1f\x8b"):
        return cast(IO[bytes], gzip.open(path, "rb"))
    if start == b"\xfd7zXZ\x00":
        return lzma.open(path, "rb")
    return open(path, "rb")


def read_text(file: IO[bytes]) -> Entries:
    """The entries of a file in one of these formats. Whatever is wrong with it is a ValueError that names the line."""
    try:
        return _Reader(file).entries()
    except (zlib.error, lzma.LZMAError) as error:
        raise ValueError(f"is damaged: {error}") from error


class _Reader:
    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        first = file.readline()
        if not first.strip():
            raise ValueError("is empty, expected lines 'word v1 ... vd'")
        _check_text(first)
        fields = first.split()
        self.n_promised = int(fields[0]) if len(fields) == 2 and all(f.isdigit() for f in fields) else None
        self.width = int(fields[1]) if self.n_promised is not None else len(fields) - 1
        if self.width == 0:
            raise ValueError(f"line 1: expected a word and its numbers, got {_short(first)}")
        self.begun = [] if self.n_promised is not None else [first]
        self.n_before = 1 - len(self.begun)  # lines before the first word

    def entries(self) -> Entries:
        names: list[bytes] = []
        blocks: list[Float32] = []
        for lines in self._blocks():
            first = self.n_before + len(names) + 1
            split = [self._split(line, first + i) for i, line in enumerate(lines)]
            names += [name for name, _ in split]
            blocks.append(self._numbers([numbers for _, numbers in split], first))
        if self.n_promised is not None and len(names) != self.n_promised:
            raise ValueError(f"line 1 announces {self.n_promised:,} words, there are {len(names):,}: is it complete?")
        self._check_names(names)
        offsets = np.zeros(len(names) + 1, dtype=np.int64)
        np.cumsum([len(name) for name in names], out=offsets[1:])
        words = Strings(np.frombuffer(b"".join(names), dtype=np.uint8), offsets)
        vectors = np.concatenate(blocks or [np.zeros((0, self.width), dtype=np.float32)])
        return Entries.checked(words, vectors, pieces=False)

    def _blocks(self) -> Iterator[list[bytes]]:
        lines = self.begun
        for line in self.file:
            lines.append(line)
            if len(lines) == _LINES:
                yield lines
                lines = []
        if lines:
            yield lines

    def _split(self, line: bytes, number: int) -> tuple[bytes, bytes]:
        """The word of a line and its numbers."""
        _check_text(line)
        line = line.rstrip(b" \r\n")
        n_fields = line.count(b" ") + 1
        if n_fields > self.width + 1:  # the word may hold spaces
            parts = line.rsplit(b" ", self.width)
            if not _is_number(parts[0].rsplit(b" ", 1)[1]):
                return parts[0], b" ".join(parts[1:])
        if n_fields != self.width + 1:
            raise ValueError(f"line {number:,}: expected a word and {self.width} numbers, got {n_fields} fields")
        name, _, numbers = line.partition(b" ")
        if not name:
            raise ValueError(f"line {number:,}: the word is empty")
        return name, numbers

    def _numbers(self, rows: list[bytes], first: int) -> Float32:
        found = _parsed(b" ".join(rows))
        if found is not None and len(found) == len(rows) * self.width:
            block = found.reshape(-1, self.width)
            if (np.abs(block) < LARGEST).all():
                return block
        for i, row in enumerate(rows):
            for field in row.split(b" "):
                if not (_is_number(field) and abs(float(field)) < LARGEST):
                    expected = f"a finite number below {LARGEST:g}"
                    raise ValueError(f"line {first + i:,}: expected {expected}, got {_short(field)}")
        raise ValueError(f"lines {first:,} to {first + len(rows) - 1:,} do not hold {self.width} numbers each")

    def _check_names(self, names: list[bytes]) -> None:
        seen: dict[bytes, int] = {}
        for number, name in enumerate(names, self.n_before + 1):
            try:
                name.decode("utf-8")
            except UnicodeDecodeError as error:
                raise ValueError(f"line {number:,}: the word {_short(name)} is not UTF-8") from error
            if seen.setdefault(name, number) != number:
                raise ValueError(f"line {number:,}: the word {_short(name)} was already in line {seen[name]:,}")


def _check_text(line: bytes) -> None:
    if b"\0" in line:
        raise ValueError("is binary, expected lines 'word v1 ... vd' (of word2vec's formats, the one as text)")


def _parsed(text: bytes) -> Float32 | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)
            return np.fromstring(text, dtype=np.float32, sep=" ")
    except (ValueError, DeprecationWarning):
        return None


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _short(text: bytes) -> str:
    shown = text.decode("utf-8", "backslashreplace").strip()
    return repr(shown if len(shown) <= 40 else shown[:40] + "...")
