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

from genus.io.atomic import written_whole
from genus.io.safetensors_header import MAX_HEADER, FormatError, JsonObject, header_of, open_regular

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


# ---------------------------------------------------------------- writing


def supports(dtype: np.dtype) -> bool:
    return dtype.newbyteorder("<") in _NAMES


def write(path: str | os.PathLike[str], metadata: Mapping[str, str], arrays: Mapping[str, Array]) -> None:
    """Write the file whole or not at all: whatever stops this, a file already there stays as it was."""
    with written_whole(path) as file:
        _write_content(file, metadata, arrays)


def _write_content(file: IO[bytes], metadata: Mapping[str, str], arrays: Mapping[str, Array]) -> None:
    # The format allows no holes. Wide items first keep every array aligned to its items.
    names = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    header: JsonObject = {"__metadata__": dict(metadata)}
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


def map_arrays(path: str | os.PathLike[str]) -> tuple[dict[str, str], dict[str, Array]]:
    """Metadata and arrays, read-only views of the mapped file: opening takes no longer for a larger one."""
    with open_regular(path) as file:
        header = header_of(file)
        pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
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
