"""Learning from an endless stream: predict, then learn, report the accuracy, and save at intervals."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from genus.cli._input import Reading, as_labels, save_model
from genus.cli._output import cell, clean, console, count, to_json
from genus.errors import DataError
from genus.io.columns import LABEL_NAMES, TEXT_NAMES, usual_name

if TYPE_CHECKING:
    from types import FrameType

    from genus.base.protocol import Label
    from genus.classifier.text_classifier import TextClassifier

_CHUNK = 1 << 16  # bytes read at once: what is read when a signal comes is still learned


def streams(clf: TextClassifier, data: str, how: Reading) -> bool:
    """Whether this is a stream: JSON lines from standard input, and a model that learns online."""
    return data == "-" and how.format in (None, "jsonl") and clf._pipeline.learns_online


def learn_stream(
    clf: TextClassifier, path: str, how: Reading, window: int, save_every: float, *, as_json: bool
) -> None:
    """Learn from standard input until it ends or a signal stops it. Malformed lines are reported and skipped."""
    record = _Record(window)
    lines = _Lines(how)
    saved, unsaved = time.monotonic(), False
    before = clf.model_.class_count_.sum()
    if before and not as_json:
        console().print(cell(f"{path}: continuing after {count(round(before), 'document')}"))
    try:
        with _signals() as stopping:
            for example in lines.examples(clf, stopping, save_every):
                if example is not None:
                    text, label = example
                    record.add(clf.predict_one(text) == label)
                    clf.learn_one(text, label)
                    unsaved = True
                    if record.n % window == 0:
                        _print_progress(record, lines.n_malformed, as_json)
                if unsaved and time.monotonic() - saved >= save_every:
                    save_model(clf, path)
                    saved, unsaved = time.monotonic(), False
    finally:
        if unsaved:
            save_model(clf, path)
    _print_summary(record, lines.n_malformed, path, as_json)
    if lines.n_malformed:
        raise click.exceptions.Exit(2)


class _Record:
    """How often the prediction made before learning was right: of the last documents, and of all."""

    def __init__(self, window: int) -> None:
        self._last: deque[bool] = deque(maxlen=window)
        self._n_right_of_last = 0
        self._n_right = 0
        self._begin = time.monotonic()
        self.n = 0

    def add(self, right: bool) -> None:
        if len(self._last) == self._last.maxlen:
            self._n_right_of_last -= self._last[0]
        self._last.append(right)
        self._n_right_of_last += right
        self._n_right += right
        self.n += 1

    def to_dict(self) -> dict[str, float]:
        return {
            "documents": self.n,
            "accuracy": round(self._n_right_of_last / max(len(self._last), 1), 4),
            "accuracy_of_all": round(self._n_right / max(self.n, 1), 4),
            "per_second": round(self.n / max(time.monotonic() - self._begin, 1e-9)),
        }


class _Lines:
    """JSON lines from standard input as texts and labels, in the model's own type."""

    def __init__(self, how: Reading) -> None:
        self._how = how
        self._number = 0
        self.n_malformed = 0

    def examples(self, clf: TextClassifier, stopping: _Stopping, patience: float) -> Iterator[tuple[str, Label] | None]:
        """Text and label of each line; None where nothing came for `patience` seconds."""
        for raw in _raw_lines(stopping, patience, int(self._how.max_text * 10**6)):
            if raw is None:
                yield None
                continue
            self._number += 1
            if not raw or raw.isspace():
                continue
            try:
                text, label = self._parse(raw)
                example = text, as_labels(clf, [label])[0]
            except (ValueError, RecursionError, DataError) as error:
                if isinstance(error, _MissingError) and self._how.skip_missing:
                    continue
                self.n_malformed += 1
                click.echo(f"genus: line {self._number} skipped: {clean(_reason(error))}", err=True)
                continue
            yield example

    def _parse(self, raw: bytes) -> tuple[str, str]:
        record = json.loads(raw.decode(self._how.encoding))
        if not isinstance(record, dict):
            raise DataError('not a JSON object, such as {"text": ..., "label": ...}')
        text = self._field(record, "text", self._how.text, TEXT_NAMES)
        label = self._field(record, "label", self._how.label, LABEL_NAMES)
        if label == "":
            raise _MissingError("label missing")
        return text, label

    def _field(self, record: dict[str, object], what: str, asked: str | None, usual: Sequence[str]) -> str:
        name = asked or (what if what in record else usual_name(usual, list(record), None))
        value = None if name is None else record.get(name)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if value is None:
            raise _MissingError(f"{what} missing")
        if isinstance(value, (list, dict)):
            raise DataError(f"{what} is not a single value")
        return value if isinstance(value, str) else json.dumps(value)


class _MissingError(DataError):
    """A line without text or label."""


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not valid JSON ({error.msg}, column {error.colno})"
    if isinstance(error, UnicodeDecodeError):
        return f"not {error.encoding} (byte {error.start + 1}: {error.reason})"
    return str(error)


class _Stopping:
    """Whether SIGINT, SIGTERM or SIGHUP has come, and a file that can be read from then on."""

    def __init__(self, file: int) -> None:
        self.file = file
        self.asked = False


_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def _signals() -> Iterator[_Stopping]:
    """SIGINT, SIGTERM and SIGHUP set a flag, and interrupt nothing."""
    reading, writing = os.pipe()
    stopping = _Stopping(reading)

    def stop(number: int, frame: FrameType | None) -> None:
        stopping.asked = True
        os.write(writing, b"\0")

    before = {number: signal.signal(number, stop) for number in _STOPPING}
    try:
        yield stopping
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(reading)
        os.close(writing)


def _raw_lines(stopping: _Stopping, patience: float, longest: int) -> Iterator[bytes | None]:
    source, rest = sys.stdin.fileno(), b""
    while not stopping.asked:
        ready, _, _ = select.select([source, stopping.file], [], [], patience)
        if source not in ready:
            yield None
            continue
        chunk = os.read(source, _CHUNK)
        if not chunk:
            yield rest
            return
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines
        if len(rest) > longest:
            raise DataError(
                f"standard input: a line is longer than {longest / 10**6:g} MB: end lines with line feeds, or raise "
                "--max-text; what came before it is learned"
            )


def _print_progress(record: _Record, n_malformed: int, as_json: bool) -> None:
    progress = record.to_dict() | {"broken_lines": n_malformed}
    if as_json:
        click.echo(to_json(progress))
    else:
        click.echo(
            f"{progress['documents']:>12,} documents   accuracy {progress['accuracy']:.3f} over the last "
            f"{len(record._last):,}, {progress['accuracy_of_all']:.3f} overall   {progress['per_second']:,} per second"
        )
    sys.stdout.flush()


def _print_summary(record: _Record, n_malformed: int, path: str, as_json: bool) -> None:
    if as_json:
        _print_progress(record, n_malformed, as_json)
        return
    learned = f"learned {count(record.n, 'document')}"
    if record.n:
        learned += f", accuracy {record.to_dict()['accuracy_of_all']:.3f} before learning"
    if n_malformed:
        learned += f"; skipped {count(n_malformed, 'malformed line')}"
    console().print(cell(learned))
    console().print(cell(f"saved {path}" if record.n else f"{path} is unchanged"))
