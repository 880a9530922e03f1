"""explain: the evidence behind a prediction."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from genus.cli._checks import MODEL, PAGE, command
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
@click.option("--label", metavar="LABEL", help="Explain this class. Default: the most probable.")
@click.option("--against", metavar="LABEL", help="Compare it with this class. Default: the next most probable.")
@click.option("--html", "page", type=PAGE, metavar="FILE", help="Write an HTML page with the words highlighted.")
@json_option
def explain(model: str, text: str, label: str | None, against: str | None, page: str | None, as_json: bool) -> None:
    """Show why a text gets its label rather than the runner-up.

    Each word adds to or subtracts from the log odds of the two classes; the contributions add up exactly.
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
    """Without control characters, which could drive a terminal."""
    words = tuple(replace(word, word=clean(word.word), levels=_clean_names(word.levels)) for word in why.words)
    documents = tuple(replace(document, label=clean(document.label)) for document in why.documents)
    nodes = tuple(replace(node, words=tuple(map(clean, node.words))) for node in why.nodes)
    label, against = clean(why.label), clean(why.against)
    return replace(why, label=label, against=against, words=words, documents=documents, nodes=nodes)


def _clean_names(levels: dict[str, float] | None) -> dict[str, float] | None:
    return None if levels is None else {clean(node): share for node, share in levels.items()}
