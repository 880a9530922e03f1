"""Files to texts and labels: CSV, TSV, JSON lines, Parquet, fastText's lines, plain lines, folders.

Everything is read as a stream of rows, so that `iter_table` takes constant memory and `read_table` is only
its collector. Whatever is wrong with a file is a `DataError` of one line: which file, which row, what to do.

>>> import tempfile, pathlib
>>> path = pathlib.Path(tempfile.mkdtemp()) / "mail.csv"
>>> _ = path.write_text("label,text\\nspam,win cash now\\nham,see you at noon\\n")
>>> table = read_table(path)
>>> table.texts, table.labels
(['win cash now', 'see you at noon'], ['spam', 'ham'])
"""

from __future__ import annotations

import csv
import itertools
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from genus.errors import DataError
from genus.io.columns import (
    LABEL_NAMES,
    TEXT_NAMES,
    Columns,
    is_title,
    listed,
    looks_like_header,
    separator,
    usual_name,
)
from genus.io.lines import COMPRESSED, Limits, TextSource

FORMATS = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl",
    ".parquet": "parquet", ".ft": "fasttext", ".txt": "text",
}  # fmt: skip
_NAMES = ("csv", "tsv", "jsonl", "parquet", "fasttext", "text", "folder")
_PEEK = 100  # rows that columns are guessed from
_FIELD_LIMIT = 2**30  # Python's own is 128 KiB, less than a long document
_PREFIX = "__label__"  # fastText's mark of a label


class Row(NamedTuple):
    """A document as a file gives it; what the file leaves out is None."""

    number: int
    text: str | None
    label: str | tuple[str, ...] | None  # several, or none of them, where a file says so
    id: str | None = None


@dataclass(frozen=True)
class Table:
    """Texts with their labels, if there are any, and the rows they came from (the header is row 1).

    Where rows have several labels, or explicitly none, these are in ``label_sets`` and ``labels`` is None.
    """

    name: str
    texts: list[str]
    labels: list[str] | None
    rows: list[int]
    ids: list[str] | None = None
    label_sets: list[tuple[str, ...]] | None = None

    def __len__(self) -> int:
        return len(self.texts)

    def one_label_each(self) -> list[str]:
        """The label of each row; a `DataError` where rows have several."""
        for row, several in zip(self.rows, self.label_sets or (), strict=False):
            if len(several) != 1:
                raise DataError(f"{self.name}: row {row} has {len(several)} labels: this takes one label per row")
        return self.labels or [label for (label,) in self.label_sets or ()]

    def sets_of_labels(self) -> list[set[str]]:
        """The labels of each row."""
        if self.label_sets is not None:
            return [set(several) for several in self.label_sets]
        return [{label} for label in self.labels or ()]


def read_table(
    path: str | os.PathLike[str],
    *,
    text: str | None = None,
    label: str | None = None,
    format: str | None = None,  # noqa: A002
    encoding: str = "utf-8",
    sep: str | None = None,
    label_separator: str | None = None,
    skip_missing: bool = False,
    need_labels: bool = True,
    max_text: float = 64,
    max_expansion: float = 100,
) -> Table:
    """Read texts and labels.

    Parameters
    ----------
    path : path of a file or folder, or "-" for standard input
    text, label : names of columns, or their numbers from 1 in a file without header; guessed by default
    format : "csv", "tsv", "jsonl", "parquet", "fasttext", "text" or "folder"; by the file's name by default,
        and "jsonl" for standard input
    encoding : of text files; byte order marks win over "utf-8"
    sep : what separates the columns of a CSV file
    label_separator : what separates the labels of a row that has several; lists of JSON and Parquet need none
    skip_missing : leave out rows without text or label instead of refusing them
    need_labels : whether every row must have a label; without, labels are read where there are any
    max_text : megabytes that a line, a row or a file of a folder may have
    max_expansion : how many times its size a compressed file may expand to; up to 256 MB it always may
    """
    limits = Limits(int(max_text * 10**6), max_expansion)
    source = _Source(path, text, label, format, encoding, sep, label_separator, need_labels, limits)
    rows = list(source.kept(source.rows(), skip_missing))
    if not rows:
        source.fail("has no whole rows" if skip_missing else "has no rows")
    return source.table(rows)


def iter_table(
    path: str | os.PathLike[str],
    *,
    chunk_size: int = 10_000,
    text: str | None = None,
    label: str | None = None,
    format: str | None = None,  # noqa: A002
    encoding: str = "utf-8",
    sep: str | None = None,
    label_separator: str | None = None,
    skip_missing: bool = False,
    need_labels: bool = True,
    max_text: float = 64,
    max_expansion: float = 100,
) -> Iterator[Table]:
    """Yield tables of ``chunk_size`` rows, in constant memory; else as `read_table`."""
    limits = Limits(int(max_text * 10**6), max_expansion)
    source = _Source(path, text, label, format, encoding, sep, label_separator, need_labels, limits)
    rows = source.rows()
    while chunk := list(itertools.islice(rows, chunk_size)):
        kept = list(source.kept(chunk, skip_missing))
        if kept:
            yield source.table(kept)


def check_table(
    path: str | os.PathLike[str],
    *,
    text: str | None = None,
    label: str | None = None,
    format: str | None = None,  # noqa: A002
    encoding: str = "utf-8",
    sep: str | None = None,
    label_separator: str | None = None,
    need_labels: bool = True,
    max_text: float = 64,
    max_expansion: float = 100,
) -> None:
    """Refuse what `read_table` would refuse by the name, the options and the first rows.

    Standard input and pipes can be read only once: of them only the options are checked.
    """
    limits = Limits(int(max_text * 10**6), max_expansion)
    source = _Source(path, text, label, format, encoding, sep, label_separator, need_labels, limits)
    if not source.is_stdin and (source.path.is_file() or source.path.is_dir()):
        next(source.rows(), None)


def read_objects(path: str | os.PathLike[str]) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield the number and the object of each line of a JSON lines file, compressed or not."""
    return _Source(path, None, None, "jsonl", "utf-8", None, None, False, Limits()).objects()


def _present(values: list[str | None]) -> list[str] | None:
    """None if nothing is there at all; otherwise what is not there is empty."""
    return None if all(value is None for value in values) else [value or "" for value in values]


class _Source(TextSource):
    """One file, folder or stream, and how to read it."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        text: str | None,
        label: str | None,
        format: str | None,  # noqa: A002
        encoding: str,
        sep: str | None,
        label_separator: str | None,
        need_labels: bool,
        limits: Limits,
    ) -> None:
        super().__init__(path, encoding, limits)
        self.text, self.label, self.sep, self.need_labels = text, label, sep, need_labels
        self.label_separator = label_separator
        self.format = self._format(format)
        self._row_length = 0  # of the CSV row that is being read
        if sep is not None and (len(sep) != 1 or sep in '\r\n"'):
            raise DataError(f"columns cannot be separated by {sep!r}: --sep is one character, such as ';'")
        if label_separator == "":
            raise DataError("labels cannot be separated by nothing: --label-separator is text, such as ';'")

    def _format(self, given: str | None) -> str:
        if given is not None and given not in _NAMES:
            raise DataError(f"there is no format {given!r}: choose from {', '.join(_NAMES)}")
        if self.is_stdin:
            if given in ("folder", "parquet"):
                raise DataError(f"standard input cannot be of format {given}: give a path")
            return given or "jsonl"
        if not self.path.exists():
            self.fail("no such file or folder")
        if self.path.is_dir():
            if given not in (None, "folder"):
                self.fail(f"is a folder, not a {given} file")
            return "folder"
        if given == "folder":
            self.fail("is a file, not a folder of classes")
        suffixes = [suffix.lower() for suffix in self.path.suffixes]
        if suffixes and suffixes[-1] in COMPRESSED:
            suffixes.pop()
        found = given or FORMATS.get(suffixes[-1] if suffixes else "")
        if found is None:
            self.fail(f"its name does not tell its format: choose one with --format ({', '.join(_NAMES)})")
        return found

    def table(self, rows: Sequence[Row]) -> Table:
        sets = None
        if any(isinstance(row.label, tuple) for row in rows):
            sets = [row.label if isinstance(row.label, tuple) else (row.label or "",) for row in rows]
        return Table(
            self.name,
            [row.text or "" for row in rows],
            None if sets is not None else _present([row.label for row in rows if not isinstance(row.label, tuple)]),
            [row.number for row in rows],
            _present([row.id for row in rows]),
            sets,
        )

    def kept(self, rows: Iterable[Row], skip_missing: bool) -> Iterator[Row]:
        """The rows that are whole; the others are skipped, or refused together once all are seen."""
        missing: dict[str, list[int]] = {}
        n_rows = 0
        for row in rows:
            n_rows += 1
            if row.text is None:
                missing.setdefault("text", []).append(row.number)
            elif self.need_labels and row.label in (None, ""):
                missing.setdefault("label", []).append(row.number)
            else:
                yield row
        for what, numbers in missing.items():
            if not skip_missing:
                shown = ", ".join(map(str, numbers[:5])) + (", ..." if len(numbers) > 5 else "")
                rows_word = "row" if len(numbers) == 1 else "rows"
                self.fail(
                    f"{what} missing in {len(numbers):,} of {n_rows:,} rows ({rows_word} {shown}): "
                    "fill in, or leave them out with --skip-missing"
                )

    def rows(self) -> Iterator[Row]:
        match self.format:
            case "folder":
                return self._folder()
            case "parquet":
                return self._parquet()
            case "jsonl":
                return self._jsonl()
            case "fasttext":
                return self._fasttext(self.lines())
            case "text":
                return self._plain()
            case _:
                return self._csv()

    # ---------------------------------------------------------------- formats

    def _csv(self) -> Iterator[Row]:
        # The limit is the module's, not a reader's; it is only ever raised.
        csv.field_size_limit(max(csv.field_size_limit(), _FIELD_LIMIT))
        lines = self._lines_of_rows()
        first_line = next(lines)
        sep = self.sep or ("\t" if self.format == "tsv" else separator(first_line))
        records = self._records(itertools.chain([first_line], lines), sep)
        head = list(itertools.islice(records, _PEEK))
        if not head:
            self.fail("has no rows")
        header, columns = self._csv_columns([fields for _, fields in head])
        width = len(head[0][1])
        rows = itertools.chain(head[header:], records)
        empty = True
        for number, fields in rows:
            if len(fields) != width:
                self.fail(
                    f"row {number} has {len(fields)} fields, row {head[0][0]} has {width}: "
                    f"put fields that hold {sep!r} between double quotes, or say --sep"
                )
            empty = False
            label = self._label(_pick(fields, columns.label))
            yield Row(number, fields[columns.text], label, _pick(fields, columns.id))
        if empty:
            self.fail("has a header but no rows")

    def _lines_of_rows(self) -> Iterator[str]:
        """Lines, of which a row may have several between quotes."""
        for _, line in self.lines():
            self._row_length += len(line)
            self.check_length(self._row_length, "a row: is a double quote never closed? It")
            yield line

    def _records(self, lines: Iterable[str], sep: str) -> Iterator[tuple[int, list[str]]]:
        reader = csv.reader(lines, delimiter=sep, strict=True)
        for number in itertools.count(1):
            self._row_length = 0
            try:
                fields = next(reader, None)
            except csv.Error as error:
                reason = str(error)
                if "unexpected end of data" in reason:
                    reason = "a double quote is opened and never closed"
                elif "expected after" in reason:
                    reason = "text follows a closing double quote (one within a field is written twice)"
                elif "new-line character" in reason:
                    reason = "a bare carriage return outside of quotes: end lines with line feeds"
                self.fail(f"row {number}: {reason}", error)
            if fields is None:
                return
            if fields:  # not a blank line
                yield number, fields

    def _csv_columns(self, head: list[list[str]]) -> tuple[bool, Columns]:
        """Whether the first row is a header, and the positions of the columns."""
        first, sample = head[0], head[1:]
        asked = [name for name in (self.text, self.label) if name is not None]
        numbers = [str(i + 1) for i in range(len(first))]
        titled = any(is_title(first, sample, i) for i in range(len(first)))
        if all(name in first for name in asked) and (asked or titled):
            chosen = self._choose(first, sample)
            return True, Columns(*(None if name is None else first.index(name) for name in chosen))
        if (len(first) > 2 and not asked) or not all(name in numbers for name in asked):
            self._choose(first, sample)  # says what is missing
        chosen = self._choose(numbers, head)
        columns = Columns(*(None if name is None else int(name) - 1 for name in chosen))
        return looks_like_header(first, sample, columns), columns

    def _jsonl(self) -> Iterator[Row]:
        records = self.objects()
        head = list(itertools.islice(records, _PEEK))
        if not head:
            self.fail("has no rows")
        names = list(dict.fromkeys(key for _, record in head for key in record))
        sample = [[_as_text(record.get(name)) or "" for name in names] for _, record in head]
        text, label, id_ = self._choose(names, sample)
        for number, record in itertools.chain(head, records):
            yield Row(number, _as_text(record.get(text)), self._label(record.get(label)), _as_text(record.get(id_)))

    def objects(self) -> Iterator[tuple[int, dict[str, object]]]:
        loads = json.loads
        for number, line in self.lines():
            if not line or line.isspace():
                continue
            try:
                record = loads(line)
            except (ValueError, RecursionError) as error:
                reason = f"{error.msg}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else error
                self.fail(f"row {number} is not valid JSON ({reason}): each line must be one JSON object", error)
            if not isinstance(record, dict):
                self.fail(f'row {number} is not a JSON object: each line must be one, such as {{"text": ...}}')
            yield number, record

    def _label(self, value: object) -> str | tuple[str, ...] | None:
        """A row's label; several as a tuple. A list of one is that one, unless labels are separated within the text."""
        if isinstance(value, str) and self.label_separator is not None:
            return tuple(part for part in map(str.strip, value.split(self.label_separator)) if part)
        if not isinstance(value, list):
            return _as_text(value)
        several = tuple(part for part in map(_as_text, value) if part)
        return several[0] if len(several) == 1 and self.label_separator is None else several

    def _parquet(self) -> Iterator[Row]:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError as error:
            self.fail("reading Parquet needs pyarrow: pip install 'genus[frames]'", error)
        try:
            with pyarrow.parquet.ParquetFile(self.path) as file:
                names = file.schema_arrow.names
                head = next(file.iter_batches(batch_size=_PEEK), None)
                sample = [] if head is None else [[_as_text(v) or "" for v in r.values()] for r in head.to_pylist()]
                columns = self._choose(names, sample)
                chosen = [name for name in columns if name is not None]
                number = 0
                for batch in file.iter_batches(columns=chosen):
                    texts, labels, ids = (
                        itertools.repeat(None) if name is None else batch.column(name).to_pylist() for name in columns
                    )
                    for text, label, id_ in zip(texts, labels, ids, strict=False):
                        number += 1
                        yield Row(number, _as_text(text), self._label(label), _as_text(id_))
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            self.fail(f"is not a whole Parquet file ({' '.join(str(error).split())})", error)

    def _fasttext(self, lines: Iterable[tuple[int, str]]) -> Iterator[Row]:
        for number, line in lines:
            words = line.split()
            if not words:
                continue
            n_labels = next((i for i, word in enumerate(words) if not word.startswith(_PREFIX)), len(words))
            label = self._label([word.removeprefix(_PREFIX) for word in words[:n_labels]]) or None
            parts = line.strip().split(maxsplit=n_labels)
            yield Row(number, parts[n_labels] if len(parts) > n_labels else "", label)

    def _plain(self) -> Iterator[Row]:
        lines = self.lines()
        first = next(lines)
        lines = itertools.chain([first], lines)
        if first[1].lstrip().startswith(_PREFIX):
            yield from self._fasttext(lines)
            return
        if self.need_labels:
            self.fail(f"plain text has no labels: begin each line with {_PREFIX}NAME, or use CSV or JSON lines")
        for number, line in lines:
            yield Row(number, line.rstrip("\r\n"), None)

    def _folder(self) -> Iterator[Row]:
        classes = sorted(path for path in self.path.iterdir() if path.is_dir() and not path.name.startswith("."))
        files = [(folder.name, file) for folder in classes for file in _files(folder.rglob("*"))]
        if not classes:
            if self.need_labels:
                self.fail("has no folders in it: expected one per class, with a file per text")
            files = [("", file) for file in _files(self.path.iterdir())]
        if not files:
            self.fail("has no files in it")
        for number, (label, file) in enumerate(files, 1):
            yield Row(number, self.text_of(file), label or None, file.relative_to(self.path).as_posix())

    # ---------------------------------------------------------------- columns

    def _choose(self, names: Sequence[str], sample: Sequence[Sequence[str]]) -> Columns:
        """The columns asked for, else those with usual names, else, of two, the longer one as text."""
        for option, name in (("--text", self.text), ("--label", self.label)):
            if name is not None and name not in names:
                self.fail(f"has no column {name!r} for {option}; {listed(names)}")
        text, label = self.text, self.label
        text = text or usual_name(TEXT_NAMES, names, label)
        label = label or usual_name(LABEL_NAMES, names, text)
        if len(names) == 2 and (text is None or (label is None and self.need_labels)):
            if text is None and label is None:
                lengths = [sum(len(fields[i]) for fields in sample if len(fields) == 2) for i in (0, 1)]
                text = names[lengths[1] > lengths[0]]
            label = label or next(name for name in names if name != text)
            text = text or next(name for name in names if name != label)
        if text is None and len(names) == 1:
            text = names[0]
        if text is None:
            self.fail(f"which column holds the text? {listed(names)}; choose with --text")
        if label is None and self.need_labels:
            self.fail(f"which column holds the label? {listed(names)}; choose with --label")
        return Columns(text, label, usual_name(("id",), names, None))


def _files(paths: Iterable[Path]) -> list[Path]:
    return sorted(path for path in paths if path.is_file() and not path.name.startswith("."))


def _as_text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, (bool, list, dict)) else str(value)


def _pick(fields: Sequence[str], position: int | None) -> str | None:
    return None if position is None else fields[position]
