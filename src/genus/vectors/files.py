"""Tables of word vectors in files.

The table format is a safetensors file with ``vectors`` (int8, float16 or float32, n x d), ``scales`` (float32, n; with
int8 alone), ``words.utf8`` (uint8) and ``words.offsets`` (int64, n + 1). Of its metadata, ``name``, ``lowercase`` and
``pieces`` ("true" or "false") matter; others are kept.
"""

from __future__ import annotations

import os
from pathlib import Path

from genus.base.arrays import Strings
from genus.errors import DataError
from genus.io import safetensors
from genus.io.model_header import reason_of
from genus.vectors.entries import Entries
from genus.vectors.text_format import open_text, read_text

_FLAGS = {"true": True, "false": False}
_ARRAYS = {"vectors", "words.utf8", "words.offsets"}


def read_entries(path: str | os.PathLike[str]) -> tuple[str, Entries]:
    """The name of a table and its entries. Whatever is wrong with the file is a `DataError`."""
    shown = os.fspath(path)
    try:
        if os.path.isdir(path):
            raise ValueError("is a folder, expected a table of word vectors")
        if _is_safetensors(path):
            return _read_table(path)
        with open_text(path) as file:
            return Path(path).name, read_text(file)
    except (OSError, EOFError, ValueError, MemoryError) as error:
        raise DataError(f"{shown}: {reason_of(error)}.") from error


def _is_safetensors(path: str | os.PathLike[str]) -> bool:
    if os.fspath(path).endswith(".safetensors"):
        return True
    with open(path, "rb") as file:
        return file.read(9)[8:] == b"{"


def _read_table(path: str | os.PathLike[str]) -> tuple[str, Entries]:
    metadata, arrays = safetensors.map_arrays(path)
    missing = sorted(_ARRAYS - set(arrays))
    if missing:
        raise ValueError(f"is no table of word vectors: it has no array {missing[0]!r}")
    flags = {key: _flag(metadata, key) for key in ("lowercase", "pieces")}
    if flags["lowercase"] is None:
        flags["lowercase"] = True
    name = metadata.get("name") or Path(path).name
    about = {key: value for key, value in metadata.items() if key not in ("name", *flags)}
    words = Strings(arrays["words.utf8"], arrays["words.offsets"])
    return name, Entries.checked(words, arrays["vectors"], arrays.get("scales"), about=about, **flags)


def _flag(metadata: dict[str, str], key: str) -> bool | None:
    value = metadata.get(key)
    if value is not None and value not in _FLAGS:
        raise ValueError(f"is damaged: its {key} must be 'true' or 'false', got {value[:20]!r}")
    return None if value is None else _FLAGS[value]


def write_entries(path: str | os.PathLike[str], name: str, entries: Entries) -> None:
    metadata = {
        **entries.about,
        "name": name,
        "lowercase": str(entries.lowercase).lower(),
        "pieces": str(entries.pieces).lower(),
    }
    arrays = {"vectors": entries.vectors, "words.utf8": entries.words.blob, "words.offsets": entries.words.offsets}
    if entries.scales is not None:
        arrays["scales"] = entries.scales
    try:
        safetensors.write(path, metadata, arrays)
    except (OSError, ValueError) as error:
        raise DataError(f"{os.fspath(path)}: not saved: {reason_of(error)}.") from error
