"""The header of a safetensors file: which arrays lie where, and what the file says of itself.

Nothing here needs numpy: a file that is not a model is refused before anything large is imported. Whatever is wrong
is a `FormatError` whose text completes the sentence "FILE: ...".
"""

from __future__ import annotations

import json
import math
import os
import stat
from collections.abc import Mapping
from typing import IO, Any, NamedTuple, TypeAlias

ITEM_SIZES = {
    "BOOL": 1, "U8": 1, "U16": 2, "U32": 4, "U64": 8, "I8": 1, "I16": 2, "I32": 4, "I64": 8, "F16": 2, "F32": 4,
    "F64": 8,
}  # fmt: skip
JsonObject: TypeAlias = dict[str, Any]
MAX_HEADER = 100_000_000  # the official reader's own limit


class FormatError(ValueError):
    """What is wrong with a file, or with what should go into one."""


class Entry(NamedTuple):
    """Where an array lies in the file: ``begin`` and ``end`` count from the end of the header."""

    dtype: str  # a key of `ITEM_SIZES`
    shape: tuple[int, ...]
    begin: int
    end: int


class Header(NamedTuple):
    metadata: dict[str, str]
    entries: dict[str, Entry]
    size: int  # bytes before the first array


def read_header(path: str | os.PathLike[str]) -> Header:
    """The checked header; the arrays are not touched."""
    with open_regular(path) as file:
        return header_of(file)


def open_regular(path: str | os.PathLike[str]) -> IO[bytes]:
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise FormatError("is a folder, not a model file")
    if not stat.S_ISREG(mode):  # opening a pipe would wait forever
        raise FormatError("is not a regular file")
    return open(path, "rb")


def header_of(file: IO[bytes]) -> Header:
    size = os.fstat(file.fileno()).st_size
    if size == 0:
        raise FormatError("is empty")
    start = file.read(9)
    length = int.from_bytes(start[:8], "little")
    if len(start) < 9 or start[8:] != b"{":
        raise FormatError("is not a genus model file")
    if length > MAX_HEADER:
        raise FormatError(f"is damaged: its header claims {length:,} bytes, over {MAX_HEADER:,}")
    if 8 + length > size:
        raise FormatError(f"is cut short: its header needs {8 + length:,} bytes, the file has {size:,}")
    file.seek(8)
    raw = _parse(file.read(length))
    metadata = raw.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise FormatError("is damaged: its metadata is not a map of strings")
    entries = {name: _entry(name, value) for name, value in raw.items()}
    _check_layout(entries, size - 8 - length)
    return Header(metadata, entries, 8 + length)


def _parse(text: bytes) -> JsonObject:
    try:
        value = json.loads(text.decode("utf-8"), object_pairs_hook=unique_keys, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"is damaged: its header is not valid JSON ({error})") from error
    assert isinstance(value, dict), "valid JSON that begins with a brace"
    return value


def unique_keys(pairs: list[tuple[str, object]]) -> JsonObject:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise FormatError("a name occurs twice")
    return value


def _refuse(constant: str) -> None:
    raise FormatError(f"{constant} is not JSON")


def _entry(name: str, value: object) -> Entry:
    what = f"is damaged: array {name[:80]!r}"
    if not isinstance(value, dict) or set(value) != {"dtype", "shape", "data_offsets"}:
        raise FormatError(f"{what} is not described by dtype, shape and data_offsets")
    dtype = value["dtype"]
    if not isinstance(dtype, str) or dtype not in ITEM_SIZES:
        raise FormatError(f"{what} has the unknown dtype {str(dtype)[:20]!r}")
    shape, offsets = value["shape"], value["data_offsets"]
    if not (_naturals(shape) and len(shape) <= 32 and _naturals(offsets) and len(offsets) == 2):
        raise FormatError(f"{what} has a shape or offsets that are not small lists of natural numbers")
    # numpy multiplies the sizes other than zero, also of an empty array, in 63 bits.
    if math.prod(size for size in shape if size) * ITEM_SIZES[dtype] >= 2**63:
        raise FormatError(f"{what} has a shape that is too large")
    begin, end = offsets
    if math.prod(shape) * ITEM_SIZES[dtype] != end - begin:
        raise FormatError(f"{what} has a shape that does not match its {end - begin:,} bytes")
    return Entry(dtype, tuple(shape), begin, end)


def _naturals(value: object) -> bool:
    return isinstance(value, list) and all(type(item) is int and 0 <= item < 2**63 for item in value)


def _check_layout(entries: Mapping[str, Entry], n_bytes: int) -> None:
    reached = 0
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].begin, item[1].end)):
        if entry.begin != reached:
            raise FormatError(f"is damaged: array {name[:80]!r} overlaps another or leaves a hole before it")
        reached = entry.end
    if reached > n_bytes:
        raise FormatError(f"is cut short: its arrays need {reached:,} bytes, there are {n_bytes:,}")
    if reached < n_bytes:
        raise FormatError(f"is damaged: {n_bytes - reached:,} bytes follow its arrays")
