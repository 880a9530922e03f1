"""Data sets in folders: ``NAME/{train,test,all}.jsonl[.xz|.gz|.bz2]``, one JSON object per line.

A row has ``text`` or ``counts`` (word to number), ``label`` or ``labels`` (a list), and any other fields;
``hierarchy.json`` gives each class its parent. The environment variable ``GENUS_DATA`` lists the
folders that contain data sets, separated as in ``PATH``.
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genus.errors import DataError
from genus.io.tables import read_objects

if TYPE_CHECKING:
    import numpy as np
    from scipy.sparse import csr_matrix

_SUFFIXES = (".jsonl", ".jsonl.xz", ".jsonl.gz", ".jsonl.bz2")


@dataclass(frozen=True)
class DatasetInfo:
    """A description of a data set, made without reading it."""

    name: str
    folder: Path
    parts: dict[str, int]  # bytes of each file
    has_hierarchy: bool
    summary: str  # the first line of its README


@dataclass(frozen=True)
class Dataset:
    """Documents as texts or as word counts, each with a label or a list of labels."""

    name: str
    part: str
    labels: list[Any]
    texts: list[str] | None = None
    counts: list[dict[str, int]] | None = None
    extra: dict[str, list[Any]] = field(default_factory=dict)
    hierarchy: dict[str, str] | None = None  # child to parent

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def multilabel(self) -> bool:
        return bool(self.labels) and isinstance(self.labels[0], list)

    def matrix(self, words: Sequence[str] | None = None) -> tuple[csr_matrix[np.float64], list[str]]:
        """The counts as sparse rows, and the words of its columns: those given, or all there are, sorted."""
        if self.counts is None:
            raise DataError(f"{self.name} has texts, not counts: count their words with a Vectorizer")
        return count_matrix(self.counts, words)


def count_matrix(
    counts: Iterable[dict[str, int]], words: Sequence[str] | None = None
) -> tuple[csr_matrix[np.float64], list[str]]:
    """Documents given as word counts in sparse rows.

    >>> matrix, words = count_matrix([{"b": 2}, {"a": 1, "b": 1}])
    >>> words, matrix.toarray().tolist()
    (['a', 'b'], [[0.0, 2.0], [1.0, 1.0]])
    """
    import numpy as np
    from scipy.sparse import csr_matrix

    rows = list(counts)
    columns = sorted(set().union(*rows)) if words is None else list(words)
    position = {word: column for column, word in enumerate(columns)}
    known = [[(position[word], n) for word, n in row.items() if word in position] for row in rows]
    indptr = np.cumsum([0, *map(len, known)])
    flat = np.array([pair for row in known for pair in row], dtype=np.float64).reshape(-1, 2)
    matrix = csr_matrix((flat[:, 1], flat[:, 0].astype(np.int32), indptr), shape=(len(rows), len(columns)))
    matrix.sort_indices()
    return matrix, columns


def data_folders() -> list[Path]:
    """The folders that hold data sets: ``GENUS_DATA``'s, or those beside a source checkout."""
    given = os.environ.get("GENUS_DATA")
    if given is not None:
        return [path for path in map(Path, filter(None, given.split(os.pathsep))) if path.is_dir()]
    root = Path(__file__).parents[2]
    beside = root.parent / "shared" / "data"
    return [beside] if (root / "pyproject.toml").is_file() and beside.is_dir() else []


def list_datasets() -> list[DatasetInfo]:
    """All sets in `data_folders`, by name; of two with one name, the first folder's."""
    found: dict[str, DatasetInfo] = {}
    for root in data_folders():
        for folder in sorted([*root.glob("*/"), *root.glob("*/*/")]):
            parts = {
                file.name.split(".")[0]: file.stat().st_size
                for file in sorted(folder.iterdir())
                if file.name.endswith(_SUFFIXES)
            }
            if parts:
                name = folder.relative_to(root).as_posix()
                hierarchy = (folder / "hierarchy.json").is_file()
                found.setdefault(name, DatasetInfo(name, folder, parts, hierarchy, _summary(folder)))
    return sorted(found.values(), key=lambda info: info.name)


def load_dataset(name: str, part: str = "all", label: str = "label") -> Dataset:
    """Load a data set.

    Parameters
    ----------
    name : as `list_datasets` gives it; "20newsgroups" is fetched by scikit-learn if no folder has it
    part : "train", "test", or any other part there is; "all" is everything, training rows first
    label : the column of labels; rows without "label" give "labels"
    """
    if _is_fetched(name):
        return _fetch_20newsgroups(part)
    return _load(find_dataset(name), part, label)


def check_dataset(name: str, part: str = "all") -> None:
    """Raise an error if a data set, or a part of it, does not exist; its rows are not read."""
    if not _is_fetched(name):
        _files(find_dataset(name), part)


def _is_fetched(name: str) -> bool:
    return name == "20newsgroups" and name not in {info.name for info in list_datasets()}


def find_dataset(name: str) -> DatasetInfo:
    """The data set of this name; an error that names the nearest if there is none."""
    infos = {info.name: info for info in list_datasets()}
    if name in infos:
        return infos[name]
    close = difflib.get_close_matches(name, infos, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(close)}?" if close else f"there are {len(infos)} others."
    where = os.pathsep.join(map(str, data_folders())) or "no folder"
    raise DataError(f"no data set {name!r} in {where}; {hint} Set GENUS_DATA to the folders that contain data sets")


def _load(info: DatasetInfo, part: str, label: str) -> Dataset:
    rows: list[dict[str, Any]] = []
    for file in _files(info, part):
        rows += (row for _, row in read_objects(file))
    if not rows:
        raise DataError(f"{info.name} has no rows")
    if label == "label" and "label" not in rows[0]:
        label = "labels"
    kind = "text" if "text" in rows[0] else "counts"
    for column in (kind, label):
        if any(column not in row for row in rows):
            raise DataError(f"{info.name}: not every row has {column!r}; the first has {', '.join(rows[0])}")
    content = [row[kind] for row in rows]
    others = dict.fromkeys(key for row in rows for key in row if key not in (kind, label))
    return Dataset(
        name=info.name,
        part=part,
        labels=[row[label] for row in rows],
        texts=content if kind == "text" else None,
        counts=content if kind == "counts" else None,
        extra={key: [row.get(key) for row in rows] for key in others},
        hierarchy=_hierarchy(info.folder / "hierarchy.json"),
    )


def _files(info: DatasetInfo, part: str) -> list[Path]:
    """The files of a part. "all" is the file of that name, or train and test, or whatever parts there are."""
    names = [part] if part in info.parts else []
    if part == "all" and not names:
        names = [name for name in ("train", "test") if name in info.parts] or list(info.parts)
    if not names:
        raise DataError(f"{info.name} has no part {part!r}; it has {', '.join(info.parts)}")
    return [next(f for s in _SUFFIXES if (f := info.folder / (name + s)).is_file()) for name in names]


def _hierarchy(file: Path) -> dict[str, str] | None:
    if not file.is_file():
        return None
    try:
        parents: dict[str, str] = json.loads(file.read_text("utf-8"))
    except ValueError as error:
        raise DataError(f"{file}: is not valid JSON ({error})") from error
    return parents


def _summary(folder: Path) -> str:
    for readme in (folder / "README.md", folder.parent / "README.md"):
        if readme.is_file():
            with open(readme, encoding="utf-8", errors="replace") as file:
                return file.readline().lstrip("# ").strip()
    return ""


def _fetch_20newsgroups(part: str) -> Dataset:
    from sklearn.datasets import fetch_20newsgroups

    if part not in ("train", "test", "all"):
        raise DataError(f"20newsgroups has no part {part!r}; it has train, test, all")
    try:
        bunch = fetch_20newsgroups(subset=part)
    except OSError as error:
        raise DataError(f"20newsgroups is not in GENUS_DATA and could not be fetched: {error}") from error
    labels = [bunch.target_names[target] for target in bunch.target]
    return Dataset("20newsgroups", part, labels, texts=list(bunch.data))
