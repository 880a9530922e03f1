"""similar: the training texts nearest to a text."""

from __future__ import annotations

import sys

import click

from genus.cli._checks import MODEL, TEXTS, command
from genus.cli._input import Reading, data_options, open_model, read_texts
from genus.cli._output import cell, clean, console, json_option, print_json, table
from genus.errors import DataError


@command()
@click.argument("model", type=MODEL)
@click.argument("asked", metavar="TEXT")
@click.option("-k", type=click.IntRange(1), default=5, show_default=True, metavar="N", help="How many texts to show.")
@click.option(
    "--data", type=TEXTS, metavar="FILE", help="The training data, to show the texts and not only their rows."
)
@data_options
@json_option
def similar(model: str, asked: str, k: int, data: str | None, how: Reading, as_json: bool) -> None:
    """Show the training texts nearest to a text.

    Texts are near if they share words, and if their words mean the same. Rows are those of the training data,
    numbered from 1. TEXT may be - for standard input.

    \b
    genus similar tickets.genus "the machine eats my paper" --data tickets.csv
    """
    clf = open_model(model)
    if asked == "-":
        asked = sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        found = clf.similar(asked, k)
    except ValueError as error:
        raise DataError(str(error).rstrip(".")) from error
    texts = None if data is None else read_texts(data, how)
    if texts is not None and any(near.number >= len(texts) for near in found):
        raise DataError(f"{data} has {len(texts):,} rows, fewer than the model was trained on")
    if as_json:
        for near in found:
            shown = {} if texts is None else {"text": texts[near.number]}
            print_json({"row": near.number + 1, "label": near.label, "similarity": round(near.similarity, 4), **shown})
        return
    rows = table(">row", "label", ">similarity", *(["text"] if texts is not None else []))
    for near in found:
        shown_text = [] if texts is None else [cell(clean(" ".join(texts[near.number].split())))]
        rows.add_row(f"{near.number + 1:,}", cell(near.label, "bold"), f"{near.similarity:.3f}", *shown_text)
    console().print(rows)
