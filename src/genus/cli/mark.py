"""mark: which words of each text are about its class, and which labels are suspect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from genus.cli._checks import DATA, MODEL, PAGE, command
from genus.cli._input import Reading, as_labels, data_options, find_class, open_model, read
from genus.cli._output import cell, clean, console, count, json_option, shorten, table, to_json, working, write_text

if TYPE_CHECKING:
    from genus.base.protocol import Label
    from genus.classifier.text_classifier import TextClassifier
    from genus.io.tables import Table
    from genus.models.relevance.marking import MarkedText, Review

_CLASSES, _SUSPECTS, _WORDS = 20, 10, 8  # shown in a terminal


@command()
@click.argument("model", type=MODEL)
@click.argument("data", type=DATA, required=False)
@click.option("-m", "--message", "messages", multiple=True, metavar="TEXT", help="Mark this text; may be repeated.")
@click.option("--class", "name", metavar="LABEL", help="Class to mark messages for. Default: the most probable.")
@click.option(
    "--show",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Show each class's N most and N least relevant texts.",
)
@click.option(
    "--report", type=PAGE, metavar="FILE", help="Write an HTML report: suspect labels, marked texts of each class."
)
@data_options
@json_option
def mark(
    model: str,
    data: str | None,
    messages: tuple[str, ...],
    name: str | None,
    show: int,
    report: str | None,
    how: Reading,
    as_json: bool,
) -> None:
    """Show which words of each text are about its class.

    MODEL must be trained with --model rtm. DATA is labeled, as for `genus train`: the training texts, or others.
    For each class, the command shows how much of its texts is about the class and which words are; then texts with
    hardly any such words, whose label may be wrong. With --json, each text is one line with its words.

    \b
    genus mark topics.genus topics.csv --report marks.html
    genus mark topics.genus --message "a late goal, and rain" --class sport
    """
    if (data is None) == (not messages):
        raise click.UsageError("Give either DATA (- for standard input) or --message")
    if data is not None and name is not None:
        raise click.UsageError("--class applies to --message only: DATA has its own labels")
    if report is not None and data is None:
        raise click.UsageError("--report needs DATA")
    clf = open_model(model)
    clf._with_marks()  # raises if the model cannot mark
    if data is None:
        label = None if name is None else find_class(clf, name)
        _print_marked((clf.mark(text, label) for text in messages), as_json)
        return
    with working(f"reading {data}"):
        given = read(data, how)
    labels = as_labels(clf, given.one_label_each())
    with working(f"marking {count(len(given), 'document')}"):
        review = clf.review(given.texts, labels)
        if report is not None:
            from genus.report import marks_page

            source = "standard input" if data == "-" else data
            page = marks_page(clf, given.texts, review, _keys(given), model=model, data=source)
            write_text(report, page)
    if as_json:
        _print_lines(clf, given, review)
        return
    _print_review(clf, given, review, show)
    if report is not None:
        console().print(cell(f"wrote {report}"))


def _keys(given: Table) -> Sequence[object]:
    return given.ids if given.ids is not None else [f"{row:,}" for row in given.rows]


def _print_marked(marked: Iterator[MarkedText], as_json: bool) -> None:
    for one in marked:
        if as_json:
            click.echo(to_json(one.to_dict()))
        else:
            console().print(_presentable(one), soft_wrap=True)


def _presentable(marked: MarkedText) -> MarkedText:
    """Without control characters, which could drive a terminal; of the same length, so that spans stay valid."""
    text = "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in marked.text)
    return replace(marked, text=text, label=clean(marked.label))


def _print_lines(clf: TextClassifier, given: Table, review: Review) -> None:
    suspects = set(review.suspects().tolist())
    for i, text in enumerate(given.texts):
        key = {"row": given.rows[i]} | ({} if given.ids is None else {"id": given.ids[i]})
        about = {"predicted": review.predicted[i], "suspect": i in suspects}
        click.echo(to_json(key | clf.mark(text, review.labels[i].item()).to_dict() | about))


def _print_review(clf: TextClassifier, given: Table, review: Review, show: int) -> None:
    out = console()
    medians = review.medians()
    rows = table("class", ">documents", ">about it", "words")
    for label in list(medians)[:_CLASSES]:
        words = ", ".join(word for word, _ in clf.top_words(label, _WORDS))
        n = int((review.labels == label).sum())
        rows.add_row(cell(shorten(label, 30), "bold"), f"{n:,}", f"{medians[label]:.0%}", cell(words))
    out.print(rows)
    if len(medians) > _CLASSES:
        out.print(cell(f"{len(medians) - _CLASSES:,} more classes: see --report or --json", "dim"))
    for label in list(medians)[:_CLASSES] if show else ():
        _print_ends(clf, given, review.of(label).tolist(), show, label)
    _print_suspects(given, review)


def _print_ends(clf: TextClassifier, given: Table, ranked: list[int], n: int, label: Label) -> None:
    """The most and the least relevant texts of a class."""
    out = console()
    least = [i for i in ranked[: -n - 1 : -1] if i not in ranked[:n]]
    for title, rows in (("most", ranked[:n]), ("least", least)):
        for i in rows:
            out.print("", cell(f"{label}, {title} relevant: row {_keys(given)[i]}", "bold"))
            out.print(_presentable(clf.mark(given.texts[i], label).shortened(1000)), soft_wrap=True)


def _print_suspects(given: Table, review: Review) -> None:
    out = console()
    suspects = review.suspects().tolist()
    out.print("", cell(f"{count(len(suspects), 'suspect label')}: texts with hardly a word about their label", "bold"))
    if not suspects:
        return
    rows = table("row", "label", ">about it", "predicted", "text")
    for i in suspects[:_SUSPECTS]:
        rows.add_row(
            cell(_keys(given)[i]),
            cell(shorten(review.labels[i], 24)),
            f"{review.relevance[i]:.0%}",
            cell(shorten(review.predicted[i], 24)),
            cell(given.texts[i], "dim", cut=True),
        )
    out.print(rows)
    if len(suspects) > _SUSPECTS:
        out.print(cell(f"{len(suspects) - _SUSPECTS:,} more: see --report or --json", "dim"))
