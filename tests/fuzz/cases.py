"""One case: a base file and a seed give a mutated file; what the library makes of it is a result."""

from __future__ import annotations

import random
import traceback
import warnings
from pathlib import Path
from typing import NamedTuple

import click

import genus
from fuzz import data_files, model_files
from genus.errors import GenusError

SOURCE = str(Path(genus.__file__).parent)  # in the tree, or where it is installed
# What NumPy and others say of arrays that do not fit: no answer for somebody who has a damaged file.
UNCLEAR = (
    "broadcast", "shape mismatch", "reshape", "dimension", "setting an array", "index pointer", "array is too big",
    "zero-size", "not supported between", "truth value", "cannot convert", "not aligned", "inconsistent shapes",
)  # fmt: skip


class Case(NamedTuple):
    base: str  # a golden file's name, or the end of a data file's name
    seed: int

    def content(self) -> bytes:
        chosen = random.Random(f"{self.base} {self.seed}")
        if self.base in data_files.bases():
            return data_files.mutated(self.base, chosen)
        return model_files.mutated(model_files.GOLDEN / self.base, chosen)


def all_bases() -> list[str]:
    models = [path.relative_to(model_files.GOLDEN).as_posix() for path in model_files.FILES]
    return [*models, *data_files.bases()]


def run(base: str, content: bytes) -> list[str]:
    """What is wrong with the library's answers: nothing, or each error that is not one of its own."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numbers out of range make NumPy warn
            if base in data_files.bases():
                data_files.exercise(content, base)
            else:
                model_files.exercise(content)
    except Exception as error:
        errors = error.exceptions if isinstance(error, ExceptionGroup) else (error,)
        return sorted({_described(error) for error in errors if not _is_clear(error)})
    return []


def _is_clear(error: BaseException) -> bool:
    """Whether this is an error that the library itself raises, for people to read."""
    if isinstance(error, (GenusError, click.UsageError)):
        return "\n" not in str(error)
    if isinstance(error, (ValueError, OverflowError, AttributeError)):
        raised = traceback.extract_tb(error.__traceback__)[-1]
        own = raised.filename.startswith(SOURCE) and "raise" in (raised.line or "")
        if "file is damaged" in str(error):
            return True
        said_by_kernel = isinstance(error, ValueError) and "_core." in (raised.line or "")
        own |= isinstance(error, OverflowError) and "fixed point" in str(error)
        return (own or said_by_kernel or _is_of_sklearn(error)) and not any(part in str(error) for part in UNCLEAR)
    return False


def _is_of_sklearn(error: BaseException) -> bool:
    """What is not offered is not there: `available_if`, and scikit-learn's own checks of what it is given."""
    return "sklearn" in traceback.extract_tb(error.__traceback__)[-1].filename


def _described(error: BaseException) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(SOURCE)]
    where = f"{Path(frames[-1].filename).relative_to(SOURCE)}:{frames[-1].name}" if frames else "?"
    return f"{type(error).__name__} at {where}: {' '.join(str(error).split())[:200]}"
