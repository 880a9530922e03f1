"""The safetensors container: eight bytes of header length, a JSON header, raw little-endian arrays.

Written and read here rather than by the official package because that one copies every array; a model
file is memory-mapped, so that it opens at once and several processes share its pages. Whatever is wrong
with a file is a `FormatError` whose text completes the sentence "FILE: ...".
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Mapping
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from genus import _core
from genus.io.atomic import written_whole
from genus.io.locks import lock_shared
from genus.io.safetensors_header import MAX_HEADER, FormatError, JsonObject, header_of, open_regular, unique_keys

Array = NDArray[Any]

DTYPES: dict[str, np.dtype] = {
    name: np.dtype(code)
    for name, code in {
        "BOOL": "?", "U8": "u1", "U16": "<u2", "U32": "<u4", "U64": "<u8",
        "I8": "i1", "I16": "<i2", "I32": "<i4", "I64": "<i8", "F16": "<f2", "F32": "<f4", "F64": "<f8",
    }.items()
}  # fmt: skip
_NAMES = {dtype: name for name, dtype in DTYPES.items()}
_ALIGN = 64  # of the first array: a cache line
CHECKSUMS = "genus_checksums"  # in the metadata: a JSON map from the names of arrays to their checksums


# ---------------------------------------------------------------- writing


def supports(dtype: np.dtype) -> bool:
    return dtype.newbyteorder("<") in _NAMES


def write(path: str | os.PathLike[str], metadata: Mapping[str, str], arrays: Mapping[str, Array]) -> None:
    """Write the file whole or not at all: whatever stops this, a file already there stays as it was.

    The metadata get the checksum of each array (`CHECKSUMS`).
    """
    with written_whole(path) as file:
        _write_content(file, metadata, arrays)


def _write_content(file: IO[bytes], metadata: Mapping[str, str], arrays: Mapping[str, Array]) -> None:
    # The format allows no holes. Wide items first keep every array aligned to its items.
    names = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    raw = {name: _bytes_of(arrays[name]) for name in names}
    checksums = {name: checksum(raw[name]) for name in names}
    header: JsonObject = {"__metadata__": {**metadata, CHECKSUMS: json.dumps(checksums, separators=(",", ":"))}}
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
        file.write(raw[name].data)


def checksum(raw: NDArray[np.uint8]) -> str:
    return f"{_core.checksum(raw):016x}"


def _bytes_of(array: Array) -> NDArray[np.uint8]:
    """As they are in a file: a view where the array is stored like that."""
    flat = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).reshape(-1)
    return flat.view(np.uint8)


# ---------------------------------------------------------------- reading


def map_arrays(path: str | os.PathLike[str], *, mapped: bool = True) -> tuple[dict[str, str], dict[str, Array]]:
    """Metadata and arrays, read-only views of the mapped file: opening takes no longer for a larger one.

    While it is mapped, the file has a shared lock, where the file system has such. With ``mapped=False`` it is read
    into memory instead: what happens to the file then does not matter any more.
    """
    with open_regular(path) as file:
        header = header_of(file)
        n_bytes = header.size + max((entry.end for entry in header.entries.values()), default=0)
        if mapped:
            lock_shared(file.fileno())  # held by the map's copy of the descriptor
            pages: mmap.mmap | bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        else:
            file.seek(0)
            pages = file.read(n_bytes)
        if len(pages) < n_bytes:
            raise FormatError("was cut short while it was opened")
    arrays: dict[str, Array] = {}
    for name, (kind, shape, begin, end) in header.entries.items():
        dtype = DTYPES[kind]
        count = (end - begin) // dtype.itemsize
        array: Array = np.empty(shape, dtype)
        if count:
            array = np.frombuffer(pages, dtype, count, header.size + begin).reshape(shape)
        # Another program's file may be aligned less than kernels need.
        arrays[name] = array if array.flags.aligned else array.copy()
    return header.metadata, arrays


# ---------------------------------------------------------------- checksums


def check_arrays(metadata: Mapping[str, str], arrays: Mapping[str, Array], n_bytes: int | None) -> None:
    """Raise FormatError for an array that is not as it was written.

    With a limit of bytes, arrays of integers are looked at first, since others are indexed by them; small ones
    before large ones. Files without checksums, as earlier versions wrote them, pass.
    """
    if CHECKSUMS not in metadata:
        return
    expected = _checksums(metadata[CHECKSUMS], arrays)
    left = sum(array.nbytes for array in arrays.values()) if n_bytes is None else n_bytes
    for name in sorted(arrays, key=lambda name: (arrays[name].dtype.kind not in "iu", arrays[name].nbytes, name)):
        if arrays[name].nbytes > left:
            continue
        left -= arrays[name].nbytes
        found = checksum(_bytes_of(arrays[name]))
        if found != expected[name]:
            raise FormatError(
                f"is damaged: array {name[:80]!r} has the checksum {found}, expected {expected[name]}: "
                "restore a copy, or train again"
            )


def _checksums(text: str, arrays: Mapping[str, Array]) -> dict[str, str]:
    try:
        expected = json.loads(text, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"is damaged: its checksums are not valid JSON ({error})") from error
    digits = set("0123456789abcdef")
    if not isinstance(expected, dict) or expected.keys() != arrays.keys():
        raise FormatError("is damaged: its checksums are not one for each array")
    if not all(isinstance(value, str) and len(value) == 16 and set(value) <= digits for value in expected.values()):
        raise FormatError("is damaged: a checksum in it is not 16 hexadecimal digits")
    return expected
