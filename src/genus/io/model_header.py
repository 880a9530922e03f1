"""What a model file says of itself, read without numpy: whether it is one, and which version wrote it."""

from __future__ import annotations

import json
import os

from genus.errors import ModelFileError
from genus.io.safetensors_header import FormatError, read_header, unique_keys

FORMAT = 2


def check_model_file(path: str | os.PathLike[str]) -> None:
    """Refuse what is not a model file, is cut short, or is too new, without building the model."""
    try:
        model_tree(read_header(path).metadata)
    except (OSError, ValueError, MemoryError, RecursionError) as error:
        raise ModelFileError(f"{os.fspath(path)}: {reason_of(error)}") from error


def model_tree(metadata: dict[str, str]) -> object:
    """The description of a model that the metadata hold."""
    version = metadata.get("genus_format")
    if version is None:
        raise FormatError("is a safetensors file, but not a genus model")
    if not (version.isascii() and version.isdigit() and len(version) < 10 and int(version) > 0):
        raise FormatError(f"is damaged: {version[:20]!r} is no format version")
    if int(version) > FORMAT:
        writer = metadata.get("genus_version", "of unknown version")[:20]
        formats = f"file format {version}, this one reads {FORMAT}"
        raise FormatError(f"was written by a newer genus ({writer}: {formats}); update genus to open it")
    if "genus" not in metadata:
        raise FormatError("is damaged: it has no description of a model")
    try:
        return json.loads(metadata["genus"], object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"is damaged: the description of its model is not valid JSON ({error})") from error


def reason_of(error: BaseException) -> str:
    if isinstance(error, OSError):
        return (error.strerror or str(error)).lower()
    return " ".join(str(error).split()) or type(error).__name__  # one line, whatever came
