"""explain: why a model answers as it does."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from genus.cli._checks import MODEL, TARGET, command
from genus.cli._input import find_class, open_model
from genus.cli._output import (
    cell,
    clean,
    console,
    json_option,
    print_json,
    write_text,
)

if TYPE_CHECKING:
    from genus.explain import Explanation


@command()
@click.argument("model", type=MODEL)
@click.argument("text")
@click.option("--label", metavar="LABEL", help="Why this class; by default the most probable.")
@click.option("--against", metavar="LABEL", help="Why not this class; by default the next most probable.")
@click.option("--html", "page", type=TARGET, metavar="FILE", help="Write a page with the words marked in the text.")
@json_option
def explain(model: str, text: str, label: str | None, against: str | None, page: str | None, as_json: bool) -> None:
    """Say why a text is given its class, and not the next.

    Each word adds to the log odds of the two classes, or takes away from them; the sum is exact.
    TEXT may be - for standard input.

    \b
    genus explain mail.genus "win a prize now"
    genus explain topics.genus "a late goal" --label sport --against politics
    """
    clf = open_model(model)
    if text == "-":
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    why = clf.explain(
        text,
        label=None if label is None else find_class(clf, label),
        against=None if against is None else find_class(clf, against),
    )
    if page is not None:
        from genus.report import explanation_page

        write_text(page, explanation_page(why))
    if as_json:
        print_json(why.to_dict())
        return
    console().print(_presentable(why))
    if page is not None:
        console().print(cell(f"wrote {page}"))


def _presentable(why: Explanation) -> Explanation:
    """Without characters that could steer a terminal."""
    words = tuple(replace(word, word=clean(word.word), levels=_clean_names(word.levels)) for word in why.words)
    documents = tuple(replace(document, label=clean(document.label)) for document in why.documents)
    nodes = tuple(replace(node, words=tuple(map(clean, node.words))) for node in why.nodes)
    label, against = clean(why.label), clean(why.against)
    return replace(why, label=label, against=against, words=words, documents=documents, nodes=nodes)


def _clean_names(levels: dict[str, float] | None) -> dict[str, float] | None:
    return None if levels is None else {clean(node): share for node, share in levels.items()}
