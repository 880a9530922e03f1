"""The safetensors container: eight bytes of header length, a JSON header, raw little-endian arrays.

Written and read here rather than by the official package because that one copies every array; a model
file is memory-mapped, so that it opens at once and several processes share its pages. Whatever is wrong
with a file is a `FormatError` whose text completes the sentence "FILE: ...".
"""

from __future__ import annotations

import contextlib
import json
import math
import mmap
import os
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

DTYPES: dict[str, np.dtype[Any]] = {
    name: np.dtype(code)
    for name, code in {
        "BOOL": "?", "U8": "u1", "U16": "<u2", "U32": "<u4", "U64": "<u8",
        "I8": "i1", "I16": "<i2", "I32": "<i4", "I64": "<i8", "F16": "<f2", "F32": "<f4", "F64": "<f8",
    }.items()
}  # fmt: skip
_NAMES = {dtype: name for name, dtype in DTYPES.items()}
MAX_HEADER = 100_000_000  # the official reader's own limit
_ALIGN = 64  # of the first array: a cache line


class FormatError(ValueError):
    """What is wrong with a file, or with what should go into one."""


class Entry(NamedTuple):
    """Where an array lies in the file: ``begin`` and ``end`` count from the end of the header."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    begin: int
    end: int


class Header(NamedTuple):
    metadata: dict[str, str]
    entries: dict[str, Entry]
    size: int  # bytes before the first array


# ---------------------------------------------------------------- writing


def supports(dtype: np.dtype[Any]) -> bool:
    return dtype.newbyteorder("<") in _NAMES


def write(path: str | os.PathLike[str], metadata: Mapping[str, str], arrays: Mapping[str, Array]) -> None:
    """Write the file whole or not at all: whatever stops this, a file already there stays as it was."""
    target = Path(os.path.realpath(path))  # through a link: replace the file, not the link
    temporary = target.with_name(f".{target.name[:200]}.{secrets.token_hex(6)}.tmp")
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
            with contextlib.suppress(FileNotFoundError):
                os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))
            _write_content(file, metadata, arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    with contextlib.suppress(OSError):  # the file is there; some file systems cannot sync a folder
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _write_content(file: IO[bytes], metadata: Mapping[str, str], arrays: Mapping[str, Array]) -> None:
    # The format allows no holes. Wide items first keep every array aligned to its items.
    names = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    end = 0
    for name in names:
        array = arrays[name]
        begin, end = end, end + array.nbytes
        dtype = _NAMES[array.dtype.newbyteorder("<")]
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    text += b" " * (-(8 + len(text)) % _ALIGN)
    if len(text) > MAX_HEADER:
        raise FormatError(f"its header would take {len(text):,} bytes, over {MAX_HEADER:,}")
    file.write(len(text).to_bytes(8, "little"))
    file.write(text)
    for name in names:
        array = arrays[name]
        flat = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).reshape(-1)
        file.write(flat.view(np.uint8).data)


# ---------------------------------------------------------------- reading


def read_header(path: str | os.PathLike[str]) -> Header:
    """The checked header; the arrays are not touched."""
    with _open_regular(path) as file:
        return _header(file)


def map_arrays(path: str | os.PathLike[str]) -> tuple[dict[str, str], dict[str, Array]]:
    """Metadata and arrays, read-only views of the mapped file: opening takes no longer for a larger one."""
    with _open_regular(path) as file:
        header = _header(file)
        pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    arrays: dict[str, Array] = {}
    for name, (dtype, shape, begin, end) in header.entries.items():
        count = (end - begin) // dtype.itemsize
        array: Array = np.empty(shape, dtype)
        if count:
            array = np.frombuffer(pages, dtype, count, header.size + begin).reshape(shape)
        # Another program's file may be aligned less than kernels need.
        arrays[name] = array if array.flags.aligned else array.copy()
    return header.metadata, arrays


def _open_regular(path: str | os.PathLike[str]) -> IO[bytes]:
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise FormatError("is a folder, not a model file")
    if not stat.S_ISREG(mode):  # opening a pipe would wait forever
        raise FormatError("is not a regular file")
    return open(path, "rb")


def _header(file: IO[bytes]) -> Header:
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


def _parse(text: bytes) -> dict[str, Any]:
    try:
        value = json.loads(text.decode("utf-8"), object_pairs_hook=unique_keys, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"is damaged: its header is not valid JSON ({error})") from error
    assert isinstance(value, dict), "valid JSON that begins with a brace"
    return value


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise FormatError("a name occurs twice")
    return value


def _refuse(constant: str) -> None:
    raise FormatError(f"{constant} is not JSON")


def _entry(name: str, value: Any) -> Entry:
    what = f"is damaged: array {name[:80]!r}"
    if not isinstance(value, dict) or set(value) != {"dtype", "shape", "data_offsets"}:
        raise FormatError(f"{what} is not described by dtype, shape and data_offsets")
    dtype = DTYPES.get(value["dtype"]) if isinstance(value["dtype"], str) else None
    if dtype is None:
        raise FormatError(f"{what} has the unknown dtype {str(value['dtype'])[:20]!r}")
    shape, offsets = value["shape"], value["data_offsets"]
    if not (_naturals(shape) and len(shape) <= 32 and _naturals(offsets) and len(offsets) == 2):
        raise FormatError(f"{what} has a shape or offsets that are not small lists of natural numbers")
    # numpy multiplies the sizes other than zero, also of an empty array, in 63 bits.
    if math.prod(size for size in shape if size) * dtype.itemsize >= 2**63:
        raise FormatError(f"{what} has a shape that is too large")
    begin, end = offsets
    if math.prod(shape) * dtype.itemsize != end - begin:
        raise FormatError(f"{what} has a shape that does not match its {end - begin:,} bytes")
    return Entry(dtype, tuple(shape), begin, end)


def _naturals(value: Any) -> bool:
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
