"""Data and models as commands name them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from genus.classifier import TextClassifier
    from genus.io import Table

_DATASET = "dataset:"


@dataclass(frozen=True)
class Reading:
    """The shared options that say how data are read."""

    text: str | None
    label: str | None
    format: str | None
    encoding: str
    sep: str | None
    skip_missing: bool


_OPTIONS = [
    click.option("--text", metavar="COLUMN", help="Column of the text; by default a usual name is found."),
    click.option("--label", metavar="COLUMN", help="Column of the label; likewise."),
    click.option(
        "--format",
        metavar="NAME",
        help="csv, tsv, jsonl, parquet, fasttext, text or folder; by default told by the file's name, "
        "and jsonl for standard input.",
    ),
    click.option("--encoding", default="utf-8", show_default=True, help="Encoding of text files."),
    click.option("--sep", metavar="CHAR", help="What separates the columns of a CSV file."),
    click.option("--skip-missing", is_flag=True, help="Leave out rows without text or label."),
]


def data_options(command: Callable[..., None]) -> Callable[..., None]:
    """Adds the options, and gives them to the command as one value, `how`."""

    @wraps(command)
    def packed(**values: Any) -> None:
        how = Reading(**{name: values.pop(name) for name in Reading.__dataclass_fields__})
        command(how=how, **values)

    for option in reversed(_OPTIONS):
        packed = option(packed)
    return packed


def read(data: str, how: Reading, *, need_labels: bool = True) -> Table:
    """All of a file, folder, standard input, or data set."""
    from genus.io import read_table

    if data.startswith(_DATASET):
        return _dataset(data, how)
    return read_table(data, need_labels=need_labels, **asdict(how))


def read_texts(data: str, how: Reading) -> list[str]:
    """The texts of a file that need not have labels."""
    return list(read(data, replace(how, label=None, format=None), need_labels=False).texts)


def chunks(data: str, how: Reading, *, size: int = 10_000, need_labels: bool = True) -> Iterator[Table]:
    """The same a part at a time, in constant memory."""
    from genus.io import iter_table

    if data.startswith(_DATASET):
        return iter([_dataset(data, how)])
    return iter_table(data, chunk_size=size, need_labels=need_labels, **asdict(how))


def _dataset(data: str, how: Reading) -> Table:
    """`dataset:NAME` or `dataset:NAME:PART`: a set that `genus data list` shows."""
    from genus.datasets import load_dataset
    from genus.errors import DataError
    from genus.io import Table

    name, _, part = data.removeprefix(_DATASET).partition(":")
    found = load_dataset(name, part or "all", how.label or "label")
    if found.texts is None:
        raise DataError(f"{name} holds word counts, not texts: use it from Python with genus.datasets")
    labels = [label[0] if isinstance(label, list) and len(label) == 1 else label for label in found.labels]
    several = sum(isinstance(label, list) for label in labels)
    if several:
        raise DataError(f"{name} does not have one label per row: {several:,} rows have none or several")
    return Table(data, found.texts, [str(label) for label in labels], list(range(1, len(labels) + 1)))


def open_model(path: str) -> TextClassifier:
    from genus.classifier import TextClassifier

    return TextClassifier.load(path)


def save_model(clf: TextClassifier, path: str) -> None:
    from genus.errors import ModelFileError

    try:
        clf.save(path)
    except ModelFileError as error:  # not the input's fault: a full disk, a folder that cannot be written
        raise click.ClickException(str(error)) from error


def as_labels(clf: TextClassifier, labels: list[str]) -> list[Any]:
    """Labels from a file, in the model's own type: one trained in Python may have whole numbers."""
    from genus.errors import DataError

    if clf.classes_.dtype.kind not in "iu":
        return list(labels)
    try:
        return [int(label) for label in labels]
    except ValueError as error:
        raise DataError("the labels of this model are whole numbers, and not all labels of the data are") from error


def find_class(clf: TextClassifier, label: str) -> Any:
    """The model's own label that reads like this one."""
    import difflib

    from genus.errors import DataError

    names = {str(known): known for known in clf.classes_.tolist()}
    if label in names:
        return names[label]
    close = difflib.get_close_matches(label, names, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(close)}?" if close else f"genus inspect shows the {len(names):,} there are"
    raise DataError(f"the model has no class {label!r}; {hint}")


def n_documents(clf: TextClassifier) -> list[int] | None:
    """The documents of each class, where the model counts them."""
    counted = getattr(clf.model_, "class_count_", None)
    return None if counted is None else [round(n) for n in counted]
