"""Cells as files. A file whose code, data or settings differ from the present ones is ignored."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict
from functools import cache
from pathlib import Path

import genus
from genus import _core
from genus.datasets import find_dataset
from genus.experiments.harness.table import Cell, Experiment, Row, versions
from genus.io.atomic import write_text

# Files of the package that change no figure: they show what was found.
_SHOWING = ("cli", "report", "demo")
_DRAWING = (
    "_boundaries", "_curves", "_discriminative_figures", "_findings", "_frame", "_hierarchy_figures", "_overview",
    "_page", "_plots", "_reductions", "_statements", "_summary",
)  # fmt: skip


class Store:
    """An experiment's cells in a folder, or nowhere.

    A cell counts if it was measured with the same settings and protocol, by the same code and libraries, from the same
    data. A failed one does not.
    """

    def __init__(self, out: Path | None, experiment: Experiment) -> None:
        how = [experiment.name, experiment.protocol, asdict(experiment.settings), versions(), code_checksum()]
        self._how = json.loads(json.dumps(how))
        self._folder = None if out is None else out / "cells"
        if self._folder:
            self._folder.mkdir(parents=True, exist_ok=True)

    def get(self, row: Row, system: str) -> Cell | None:
        file = self._file(row.name, system)
        if file is None or not file.is_file():
            return None
        try:
            stored = json.loads(file.read_text("utf-8"))
            cell = Cell(**stored["cell"]) if stored["how"] == [*self._how, data_checksum(row.data)] else None
        except (ValueError, TypeError, KeyError):  # cut off by a full disk, or of another form: measured again
            return None
        return None if cell is None or cell.error else cell

    def put(self, row: Row, cell: Cell) -> None:
        file = self._file(cell.row, cell.system)
        if file:
            how = [*self._how, data_checksum(row.data)]
            write_text(file, json.dumps({"how": how, "cell": asdict(cell)}, indent=1, default=_plain))

    def _file(self, row: str, system: str) -> Path | None:
        if self._folder is None:
            return None
        name = f"{row}-{system}".replace("+", "plus").replace("*", "star")
        return self._folder / f"{''.join(c if c.isalnum() or c in '-_' else '_' for c in name)}.json"


@cache
def code_checksum() -> str:
    """Of the package's sources that can change a figure, and of its native code."""
    package = Path(genus.__file__).parent
    sources = [file for file in package.rglob("*.py") if not _shows(file.relative_to(package))]
    return _checksum([*sorted(sources), Path(_core.__file__)])


def _shows(file: Path) -> bool:
    return file.parts[0] in _SHOWING or (file.parts[0] == "experiments" and file.stem in _DRAWING)


def data_checksum(names: Iterable[str]) -> str:
    """Of the files of these data sets."""
    folders = [find_dataset(name).folder for name in names]
    return _checksum([file for folder in folders for file in sorted(folder.iterdir()) if file.is_file()])


def _checksum(files: Iterable[Path]) -> str:
    found = hashlib.sha256()
    for file in files:
        state = file.stat()
        found.update(f"{file.name} {_checksum_of(file, state.st_size, state.st_mtime_ns)}\n".encode())
    return found.hexdigest()[:16]


@cache
def _checksum_of(file: Path, size: int, modified: int) -> str:
    """Read once, as long as it is not changed."""
    with open(file, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _plain(value: object) -> object:
    return value.item() if hasattr(value, "item") else str(value)
