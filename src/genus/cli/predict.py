"""predict: labels for texts."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from genus.cli._auto_options import read_descriptions
from genus.cli._checks import MODEL_OR_DATA, UNLABELED_DATA, command
from genus.cli._input import Reading, chunks, data_options, is_multilabel, open_model
from genus.cli._output import (
    clean,
    json_option,
    to_json,
    working,
    writes_to_file,
)

if TYPE_CHECKING:
    from genus.base.protocol import Label
    from genus.classifier.text_classifier import TextClassifier
    from genus.io.tables import Table

_MAX_PROBABILITIES = 4_000_000  # held in memory at once


@command()
@click.argument("model", type=MODEL_OR_DATA, required=False)
@click.argument("data", type=UNLABELED_DATA, required=False)
@click.option("-m", "--message", "messages", multiple=True, metavar="TEXT", help="Classify this text; may be repeated.")
@click.option(
    "--classes",
    metavar="NAME,...|FILE",
    help="Classify without a trained model, by what the classes are called, or by descriptions of them in a JSON file.",
)
@click.option("--top", type=click.IntRange(1), default=1, metavar="K", help="Show the K most probable classes.")
@click.option("--proba", is_flag=True, help="Show the probability of every class.")
@click.option("--level", type=click.IntRange(0), metavar="N", help="Predict tree nodes N levels below the root.")
@click.option(
    "--min-proba",
    type=click.FloatRange(0, 1),
    metavar="P",
    help="Predict the deepest tree node that is at least this probable.",
)
@click.option(
    "--reject",
    type=click.FloatRange(0, 1),
    metavar="RATE",
    help="Answer - (null in JSON) for texts that fit none of the classes: the false-rejection rate you accept, "
    "e.g. 0.05. Default: never reject.",
)
@data_options
@json_option
def predict(
    model: str | None,
    data: str | None,
    messages: tuple[str, ...],
    classes: str | None,
    top: int,
    proba: bool,
    level: int | None,
    min_proba: float | None,
    reject: float | None,
    how: Reading,
    as_json: bool,
) -> None:
    """Predict labels for texts.

    DATA is a file, a folder, - for standard input, or dataset:NAME; labels in it are ignored. Answers come in the
    order of the rows (numbered from 1), in constant memory. With --json they are JSON lines, each with the row (and
    the id, if the data have one), the label and its probability; with a multilabel model, all labels of the text.

    \b
    genus predict mail.genus --message "win a prize now"
    genus predict mail.genus new.csv --top 3
    genus predict tickets.genus new.csv --min-proba 0.8
    genus predict mail.genus new.csv --reject 0.05
    genus predict mail.genus - --format text --json < lines.txt > answers.jsonl
    genus predict --classes sport,money,weather news.csv
    """
    if classes is not None:
        if data is not None:
            raise click.UsageError("--classes takes the place of MODEL: give DATA only")
        model, data = None, model
    elif model is None:
        raise click.UsageError("Give a MODEL, or the classes to choose among with --classes")
    if (data is None) == (not messages):
        raise click.UsageError("Give either DATA (- for standard input) or --message")
    clf = _by_descriptions(classes) if classes is not None else open_model(str(model))
    nodes = level is not None or min_proba is not None
    if nodes and not hasattr(clf.model_, "tree_"):
        raise click.UsageError("--level and --min-proba need a model with a tree of classes (hs, hm)")
    if nodes and (proba or top > 1):
        raise click.UsageError("--level and --min-proba cannot be combined with --top or --proba")
    if proba:
        top = len(clf.classes_)
    if data is None:
        tables = iter([_messages(messages)])
    else:
        tables = chunks(data, how, size=max(1, min(10_000, _MAX_PROBABILITIES // top)), need_labels=False)
    sets = is_multilabel(clf) and top == 1
    if sets:
        lines: _JsonSets | _JsonLines | _Lines = _JsonSets() if as_json else _SetLines(clf)
    else:
        lines = _JsonLines(proba, top) if as_json else _Lines(clf, top)
    done = 0
    with working(f"classifying {data}", shown=writes_to_file()) as progress:
        for given in tables:
            if sets:
                if reject is not None:
                    clf.typicality(given.texts)  # says why there is none
                answers, probabilities = _sets_of_labels(clf, given.texts)
            elif nodes:
                found = clf.predict_nodes(given.texts, level=level, min_proba=min_proba, reject=reject)
                answers, probabilities = (array[:, None].tolist() for array in found)
            else:
                rejected = False if reject is None else reject
                answers, probabilities = (a.tolist() for a in clf.predict_top(given.texts, top, reject=rejected))
            rows = lines.format(given, answers, probabilities)
            sys.stdout.write("".join(f"{line}\n" for line in rows))
            progress(done := done + len(given))


def _by_descriptions(classes: str) -> TextClassifier:
    """A classifier that knows no labeled text: names between commas, or a JSON file of labels and descriptions."""
    from genus.classifier.text_classifier import TextClassifier

    if classes.endswith(".json"):
        return TextClassifier().fit([], [], classes=read_descriptions(classes, "--classes"))
    return TextClassifier().fit([], [], classes=[name.strip() for name in classes.split(",") if name.strip()])


def _sets_of_labels(clf: TextClassifier, texts: list[str]) -> tuple[list[list[Label]], list[list[float]]]:
    """The labels predicted for each text, the most probable first, and their probabilities."""
    probabilities = clf.predict_proba(texts)
    names = clf.classes_.tolist()
    answers, shares = [], []
    for row, given in zip(probabilities, clf.model_.decoder.predict(probabilities), strict=True):
        chosen = sorted(given.nonzero()[0].tolist(), key=lambda i: (-row[i], i))
        answers.append([names[i] for i in chosen])
        shares.append([float(row[i]) for i in chosen])
    return answers, shares


def _messages(messages: tuple[str, ...]) -> Table:
    from genus.io.tables import Table

    return Table("messages", list(messages), None, list(range(1, len(messages) + 1)))


class _JsonSets:
    """An object per row, with the predicted labels."""

    def format(self, given: Table, labels: list[list[Label]], probabilities: list[list[float]]) -> Iterator[str]:
        for i, (names, shares) in enumerate(zip(labels, probabilities, strict=True)):
            answer: dict[str, object] = {"row": given.rows[i]}
            if given.ids is not None:
                answer["id"] = given.ids[i]
            yield to_json(answer | {"labels": names, "probabilities": shares})


class _JsonLines:
    """An object per row."""

    def __init__(self, proba: bool, top: int) -> None:
        self.proba, self.top = proba, top

    def format(self, given: Table, labels: list[list[Label]], probabilities: list[list[float]]) -> Iterator[str]:
        for i, (names, shares) in enumerate(zip(labels, probabilities, strict=True)):
            answer: dict[str, object] = {"row": given.rows[i]}
            if given.ids is not None:
                answer["id"] = given.ids[i]
            answer |= {"label": names[0], "probability": shares[0]}
            if self.proba:
                answer["probabilities"] = {str(name): p for name, p in zip(names, shares, strict=True)}
            elif self.top > 1:
                answer["top"] = [{"label": n, "probability": p} for n, p in zip(names, shares, strict=True)]
            yield to_json(answer)


class _Lines:
    """A line per row, in columns. Cut to the width of a terminal; whole in a file or pipe."""

    def __init__(self, clf: TextClassifier, top: int) -> None:
        self.terminal = sys.stdout.isatty()
        self.width = shutil.get_terminal_size().columns
        self.label_width = min(24, max(5, *(len(clean(label)) for label in clf.classes_.tolist())))
        self.colour = self.terminal and "NO_COLOR" not in os.environ
        self.top = top
        self.first = True

    def format(self, given: Table, labels: list[list[Label]], probabilities: list[list[float]]) -> Iterator[str]:
        keys = given.ids if given.ids is not None else [f"{row:,}" for row in given.rows]
        if self.first:
            key = f"{'row' if given.ids is None else 'id':>7}"
            pairs = [self._title()] * self.top if self.top <= 3 else []
            yield self._dim("  ".join([key, *pairs, "text"]))
            self.first = False
        for key, text, names, shares in zip(keys, given.texts, labels, probabilities, strict=True):
            yield self._line(clean(key), clean(text), names, shares)

    def _title(self) -> str:
        return f"{'label':<{self.label_width}}  prob "

    def _pairs(self, names: list[Label], shares: list[float]) -> list[str]:
        from rich.cells import set_cell_size

        return [
            f"{set_cell_size('-' if name is None else clean(name), self.label_width)}  {share:.3f}"
            for name, share in zip(names, shares, strict=True)
        ]

    def _line(self, key: str, text: str, names: list[Label], shares: list[float]) -> str:
        from rich.cells import cell_len, set_cell_size

        pairs = self._pairs(names, shares)
        if self.top > 3:  # too wide for one line
            return "\n".join([f"{key:>7}  {text}", *(f"{'':>9}{pair}" for pair in pairs)])
        head = f"{key:>7}  {'  '.join(pairs)}"
        if self.terminal:
            text = set_cell_size(text, max(0, min(self.width - cell_len(head) - 2, cell_len(text))))
        return f"{self._dim(f'{key:>7}')}  {self._bold(pairs[0])}{head[9 + len(pairs[0]) :]}  {text}"

    def _dim(self, text: str) -> str:
        return click.style(text, dim=True) if self.colour else text

    def _bold(self, text: str) -> str:
        return click.style(text, bold=True) if self.colour else text


class _SetLines(_Lines):
    """A line per row, with the predicted labels and their probabilities."""

    def __init__(self, clf: TextClassifier) -> None:
        super().__init__(clf, 1)
        self.label_width = 2 * self.label_width + 10

    def _title(self) -> str:
        return f"{'labels':<{self.label_width}}"

    def _pairs(self, names: list[Label], shares: list[float]) -> list[str]:
        from rich.cells import cell_len

        pairs = ", ".join(f"{clean(name)} {share:.3f}" for name, share in zip(names, shares, strict=True)) or "-"
        return [pairs + " " * max(0, self.label_width - cell_len(pairs))]
