"""learn, forget: commands that change a model file. Each saves atomically, and only on success.

From reading to saving each holds the model's lock: of two at once, the second waits for what the first has learned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import click

from genus.cli._checks import DATA, MODEL, command
from genus.cli._input import (
    Reading,
    as_labels,
    data_options,
    lock_option,
    model_to_change,
    n_documents,
    read,
    save_model,
)
from genus.cli._output import cell, clean, console, count, json_option, print_json, working
from genus.cli._stream import learn_stream, streams
from genus.errors import DataError

if TYPE_CHECKING:
    from genus.classifier.text_classifier import TextClassifier


@command()
@click.argument("model", type=MODEL)
@click.argument("data", type=DATA)
@click.option(
    "--window",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    metavar="N",
    help="For a stream: report the accuracy over the last N documents, every N documents.",
)
@click.option(
    "--save-every",
    type=click.FloatRange(0),
    default=60,
    show_default=True,
    metavar="SECONDS",
    help="For a stream: how often to save.",
)
@lock_option
@data_options
@json_option
def learn(
    model: str, data: str, window: int, save_every: float, lock_timeout: float, how: Reading, as_json: bool
) -> None:
    """Add examples to a model.

    Takes only as long as the new examples need, and gives the same model as training on everything at once
    (except dmnb, which depends on the order). Examples may bring new words and new classes. The file is replaced
    only on success.

    A model that learns online (dmnb) can read JSON lines from a pipe indefinitely: it predicts each text, then
    learns it, reports how often it was right, and saves at intervals and when stopped by Ctrl-C or SIGTERM.
    Started again, it continues from there. Malformed lines are reported and skipped; the exit code is then 2.

    \b
    genus learn mail.genus corrections.csv
    echo '{"text": "lunch on friday?", "label": "ham"}' | genus learn m.genus -
    tail -f labeled.jsonl | genus learn stream.genus -
    """
    with model_to_change(model, lock_timeout) as clf:
        if streams(clf, data, how):
            learn_stream(clf, model, how, window, save_every, as_json=as_json)
        else:
            _learn_all(clf, model, data, how, as_json)


def _learn_all(clf: TextClassifier, model: str, data: str, how: Reading, as_json: bool) -> None:
    with working(f"reading {data}"):
        given = read(data, how)
    classes, n_words = set(clf.classes_.tolist()), clf.vectorizer_.n_columns_
    with working(f"training on {count(len(given), 'document')}"):
        clf.partial_fit(given.texts, as_labels(clf, given.one_label_each()))
    save_model(clf, model)
    new = sorted(str(label) for label in set(clf.classes_.tolist()) - classes)
    more = clf.vectorizer_.n_columns_ - n_words
    if as_json:
        print_json({"model": model, "learned": len(given), "new_classes": new, "new_words": more, **_totals(clf)})
        return
    console().print(f"learned {count(len(given), 'document')}, {count(more, 'new word')}, {_named('new class', new)}")
    _print_totals(clf, model)


@command()
@click.argument("model", type=MODEL)
@click.argument("data", type=DATA, required=False)
@click.option(
    "--document",
    "numbers",
    type=int,
    multiple=True,
    metavar="N",
    help="Number of a training document (from 0), as shown by explain; may be repeated.",
)
@lock_option
@data_options
@json_option
def forget(
    model: str, data: str | None, numbers: tuple[int, ...], lock_timeout: float, how: Reading, as_json: bool
) -> None:
    """Remove examples from a model, exactly.

    Afterwards the model is as if it had never seen them. Each row must match a learned example: same text, same
    label. If one does not, nothing is changed. A class is removed with its last example, a word with the last text
    that contains it. Models that keep their documents (tdm, kdc, knn) can also forget by document number.

    \b
    genus forget mail.genus withdrawn.csv
    genus forget mail.genus --document 17 --document 20
    echo '{"text": "lunch on friday?", "label": "ham"}' | genus forget m.genus -
    """
    if (data is None) == (not numbers):
        raise click.UsageError("Give the examples to forget: DATA, or --document with a number")
    with model_to_change(model, lock_timeout) as clf:
        _forget(clf, model, data, numbers, how, as_json)


def _forget(
    clf: TextClassifier, model: str, data: str | None, numbers: tuple[int, ...], how: Reading, as_json: bool
) -> None:
    classes = set(clf.classes_.tolist())
    given = None
    if data is not None:
        with working(f"reading {data}"):
            given = read(data, how)
    try:
        if given is None:
            clf.unlearn_documents(list(numbers))
        else:
            clf.unlearn(given.texts, as_labels(clf, given.one_label_each()))
    except ValueError as error:
        name = model if given is None else given.name
        raise DataError(f"{name}: {str(error).rstrip('.')}; nothing was changed") from error
    n_forgotten = len(numbers) if given is None else len(given)
    gone = sorted(str(label) for label in classes - set(clf.classes_.tolist()))
    save_model(clf, model)
    if as_json:
        print_json({"model": model, "forgot": n_forgotten, "classes_gone": gone, **_totals(clf)})
        return
    console().print(f"forgot {count(n_forgotten, 'document')}, removed {_named('class', gone)}")
    _print_totals(clf, model)


class _Totals(TypedDict):
    documents: int | None  # None where the model does not count them
    classes: int


def _totals(clf: TextClassifier) -> _Totals:
    per_class = n_documents(clf)
    return {"documents": None if per_class is None else sum(per_class), "classes": len(clf.classes_)}


def _print_totals(clf: TextClassifier, model: str) -> None:
    totals = _totals(clf)
    known = "" if totals["documents"] is None else f"{count(totals['documents'], 'document')} in "
    console().print(cell(f"{model} now has {known}{count(totals['classes'], 'class')}"))


def _named(noun: str, labels: list[str]) -> str:
    names = ", ".join(clean(label) for label in labels[:5]) + (", ..." if len(labels) > 5 else "")
    return f"{count(len(labels), noun) if labels else f'no {noun}'}{f' ({names})' if names else ''}".replace("[", r"\[")
