"""Data and models as commands name them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from genus.cli._output import clean

if TYPE_CHECKING:
    from genus.base.protocol import Label
    from genus.classifier.text_classifier import TextClassifier
    from genus.io.tables import Table

_DATASET = "dataset:"


@dataclass(frozen=True)
class Reading:
    """The shared options that say how data are read."""

    text: str | None
    label: str | None
    format: str | None
    encoding: str
    sep: str | None
    label_separator: str | None
    skip_missing: bool
    max_text: float
    max_expansion: float

    @classmethod
    def from_options(cls, parameters: Mapping[str, Any]) -> Reading:
        """From the parameters of a command that has them among others."""
        return cls(**{name: parameters[name] for name in cls.__dataclass_fields__})

    def of_texts(self) -> Reading:
        """The same options for a second file, which has its own format and no labels."""
        return replace(self, label=None, format=None)


_OPTIONS = [
    click.option("--text", metavar="COLUMN", help="Column with the text; detected if omitted."),
    click.option("--label", metavar="COLUMN", help="Column with the label; detected if omitted."),
    click.option(
        "--format",
        metavar="NAME",
        help="csv, tsv, jsonl, parquet, fasttext, text or folder; inferred from the file extension if omitted "
        "(jsonl for standard input).",
    ),
    click.option("--encoding", default="utf-8", show_default=True, help="Encoding of text files."),
    click.option("--sep", metavar="CHAR", help="Column separator of a CSV file."),
    click.option(
        "--label-separator",
        metavar="TEXT",
        help="Separator between the labels of one row, e.g. ';'. Not needed for JSON lists.",
    ),
    click.option("--skip-missing", is_flag=True, help="Skip rows without text or label."),
    click.option(
        "--max-text",
        type=click.FloatRange(0, min_open=True),
        default=64,
        show_default=True,
        metavar="MB",
        help="The longest text to accept.",
    ),
    click.option(
        "--max-expansion",
        type=click.FloatRange(1),
        default=100,
        show_default=True,
        metavar="TIMES",
        help="How many times its size a compressed file may expand to (256 MB are always accepted).",
    ),
]


def data_options(command: Callable[..., None]) -> Callable[..., None]:
    """Adds the options, and gives them to the command as one value, `how`."""

    @wraps(command)
    def packed(**values: object) -> None:
        how = Reading.from_options(values)
        command(how=how, **{name: value for name, value in values.items() if name not in Reading.__dataclass_fields__})

    for option in reversed(_OPTIONS):
        packed = option(packed)
    return packed


def check(data: str, how: Reading, *, need_labels: bool) -> None:
    """Raise an error if the name, the options or the first rows are wrong."""
    if data.startswith(_DATASET):
        from genus.datasets import check_dataset

        check_dataset(*_name_and_part(data))
        return
    from genus.io.tables import check_table

    options = asdict(how)
    del options["skip_missing"]
    check_table(data, need_labels=need_labels, **options)


def read(data: str, how: Reading, *, need_labels: bool = True) -> Table:
    """All of a file, folder, standard input, or data set."""
    from genus.io.tables import read_table

    if data.startswith(_DATASET):
        return _dataset(data, how)
    return read_table(data, need_labels=need_labels, **asdict(how))


def read_texts(data: str, how: Reading) -> list[str]:
    """The texts of a file that need not have labels."""
    return list(read(data, how.of_texts(), need_labels=False).texts)


def chunks(data: str, how: Reading, *, size: int = 10_000, need_labels: bool = True) -> Iterator[Table]:
    """The same, in chunks and constant memory."""
    from genus.io.tables import iter_table

    if data.startswith(_DATASET):
        return iter([_dataset(data, how)])
    return iter_table(data, chunk_size=size, need_labels=need_labels, **asdict(how))


def _dataset(data: str, how: Reading) -> Table:
    """`dataset:NAME` or `dataset:NAME:PART`: a set that `genus data list` shows."""
    from genus.datasets import load_dataset
    from genus.errors import DataError
    from genus.io.tables import Table

    name, part = _name_and_part(data)
    found = load_dataset(name, part, how.label or "label")
    if found.texts is None:
        raise DataError(f"{name} contains word counts, not texts: load it in Python with genus.datasets")
    sets = [tuple(map(str, label)) if isinstance(label, list) else (str(label),) for label in found.labels]
    rows = list(range(1, len(sets) + 1))
    if any(len(several) != 1 for several in sets):
        return Table(data, found.texts, None, rows, label_sets=sets)
    return Table(data, found.texts, [label for (label,) in sets], rows)


def _name_and_part(data: str) -> tuple[str, str]:
    name, _, part = data.removeprefix(_DATASET).partition(":")
    return name, part or "all"


def read_json(file: str, option: str) -> object:
    """The JSON in a file that an option names."""
    try:
        return json.loads(Path(file).read_text("utf-8"))
    except RecursionError as error:
        raise click.BadParameter(f"{file}: is nested too deeply for a tree", param_hint=option) from error
    except (OSError, ValueError) as error:
        reason = (error.strerror or str(error)).lower() if isinstance(error, OSError) else str(error).rstrip(".")
        raise click.BadParameter(f"{file}: {reason}", param_hint=option) from error


def open_model(path: str) -> TextClassifier:
    from genus.classifier.text_classifier import TextClassifier

    return TextClassifier.load(path)


lock_option = click.option(
    "--lock-timeout",
    type=click.FloatRange(0),
    default=60,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for another process that is changing the model.",
)


@contextmanager
def model_to_change(path: str, timeout: float) -> Iterator[TextClassifier]:
    """A model that no other `genus learn` or `forget` changes until this ends."""
    from genus.io.locks import LockedError, changing

    try:
        with changing(path, timeout, lambda who: click.echo(f"genus: {clean(who)}: waiting", err=True)):
            yield open_model(path)
    except LockedError as error:  # exit code 1: nothing is wrong with the input
        raise click.ClickException(str(error)) from error


def is_multilabel(clf: TextClassifier) -> bool:
    """Whether the model predicts a set of labels rather than one."""
    return not clf._fitted.exclusive


def save_model(clf: TextClassifier, path: str) -> None:
    from genus.errors import ModelFileError

    try:
        clf.save(path)
    except ModelFileError as error:  # exit code 1: a full disk or a read-only folder is not an input error
        raise click.ClickException(str(error)) from error


def training_labels(given: Table) -> list[str] | list[set[str]]:
    """The training labels: one per row, or a set per row where rows have several."""
    from genus.errors import DataError

    if given.label_sets is not None:
        return given.sets_of_labels()
    labels = given.labels or []
    if len(set(labels)) == 1:
        raise DataError(f"{given.name}: every row has the label {labels[0]!r}: training needs at least two labels")
    return list(labels)


def as_labels(clf: TextClassifier, labels: list[str]) -> list[str] | list[int]:
    """Labels from a file, converted to the model's type: a model trained in Python may have integer labels."""
    from genus.errors import DataError

    if clf.classes_.dtype.kind not in "iu":
        return list(labels)
    try:
        return [int(label) for label in labels]
    except ValueError as error:
        raise DataError("this model's labels are integers, but some labels in the data are not") from error


def find_class(clf: TextClassifier, label: str) -> Label:
    """The model's class whose name is this text."""
    import difflib

    from genus.errors import DataError

    names: dict[str, Label] = {str(known): known for known in clf.classes_.tolist()}
    if label in names:
        return names[label]
    close = difflib.get_close_matches(label, names, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(close)}?" if close else f"genus inspect lists its {len(names):,} classes"
    raise DataError(f"the model has no class {label!r}; {hint}")


def n_documents(clf: TextClassifier) -> list[int] | None:
    """The documents of each class, where the model counts them."""
    counted = getattr(clf.model_, "class_count_", None)
    return None if counted is None else [round(n) for n in counted]


def n_words(clf: TextClassifier) -> int | None:
    """The words that a model has counted; None where it hashes words, or reads vectors alone."""
    reader = clf.vectorizer_
    return None if reader.n_hash or reader.analyzer == "vectors" else reader.n_columns_


def columns(clf: TextClassifier) -> str:
    """The columns of a model that does not count words by name."""
    kind = "hashed columns" if clf.vectorizer_.n_hash else "numbers for each text"
    return f"{clf.vectorizer_.n_columns_:,} {kind}"
