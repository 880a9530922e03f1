"""learn, forget: what changes a model file. Each saves atomically, and only when all went well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from genus.cli._checks import DATA, MODEL, command
from genus.cli._input import Reading, as_labels, data_options, n_documents, open_model, read, save_model
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
    help="Of a stream: tell the accuracy every N documents, over the last N.",
)
@click.option(
    "--save-every",
    type=click.FloatRange(0),
    default=60,
    show_default=True,
    metavar="SECONDS",
    help="Of a stream: how often to save.",
)
@data_options
@json_option
def learn(model: str, data: str, window: int, save_every: float, how: Reading, as_json: bool) -> None:
    """Add examples to a model.

    Costs as much as the new examples alone, and gives the same model as training on all of them at once
    (but for dmnb, which learns in order). New words and new classes may come. The file is replaced when all
    went well.

    A model that learns online (dmnb) reads JSON lines from a pipe for ever: it predicts each, then learns it,
    tells how often it was right, saves now and then and when stopped by Ctrl-C or SIGTERM, and goes on where
    it was when started again. Broken lines are told and left out; the exit code is then 2.

    \b
    genus learn mail.genus corrections.csv
    echo '{"text": "lunch on friday?", "label": "ham"}' | genus learn m.genus -
    tail -f labelled.jsonl | genus learn stream.genus -
    """
    clf = open_model(model)
    if streams(clf, data, how):
        learn_stream(clf, model, how, window, save_every, as_json=as_json)
        return
    with working(f"reading {data}"):
        given = read(data, how)
    classes, n_words = set(clf.classes_.tolist()), clf.vectorizer_.n_columns_
    with working(f"learning from {count(len(given), 'document')}"):
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
    help="A training document's number, as explain shows it; may be given often.",
)
@data_options
@json_option
def forget(model: str, data: str | None, numbers: tuple[int, ...], how: Reading, as_json: bool) -> None:
    """Take examples out of a model again.

    The model is then as if they had never been learned. Each row must be as it was learned: the same text
    with the same label. If any was not, nothing changes. A class goes with its last example, a word with the
    last text that has it. Models that remember their documents (tdm, kdc, knn) forget them by number too.

    \b
    genus forget mail.genus withdrawn.csv
    genus forget mail.genus --document 17 --document 20
    echo '{"text": "lunch on friday?", "label": "ham"}' | genus forget m.genus -
    """
    if (data is None) == (not numbers):
        raise click.UsageError("say what to forget: a file of examples, or --document with a number")
    clf = open_model(model)
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
    console().print(f"forgot {count(n_forgotten, 'document')}, {_named('class', gone)} gone")
    _print_totals(clf, model)


def _totals(clf: TextClassifier) -> dict[str, Any]:
    per_class = n_documents(clf)
    return {"documents": None if per_class is None else sum(per_class), "classes": len(clf.classes_)}


def _print_totals(clf: TextClassifier, model: str) -> None:
    totals = _totals(clf)
    known = "" if totals["documents"] is None else f"{count(totals['documents'], 'document')} in "
    console().print(cell(f"{model} now knows {known}{count(totals['classes'], 'class')}"))


def _named(noun: str, labels: list[str]) -> str:
    names = ", ".join(clean(label) for label in labels[:5]) + (", ..." if len(labels) > 5 else "")
    return f"{count(len(labels), noun) if labels else f'no {noun}'}{f' ({names})' if names else ''}".replace("[", r"\[")
