"""data: the available data sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import click

from genus.cli._output import cell, clean, console, count, json_option, print_json, shorten, size, table, to_json


@click.group()
def data() -> None:
    """List and show the available data sets.

    A data set is a folder NAME that contains train.jsonl, test.jsonl or all.jsonl (optionally compressed: .xz,
    .gz, .bz2). Set the environment variable GENUS_DATA to the folders that contain data sets. All commands that
    read data accept dataset:NAME, or dataset:NAME:PART for one part.

    \b
    genus data list
    genus data show sms_spam -n 5
    genus train dataset:trec-questions:train --out questions.genus
    """


@data.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List the data sets."""
    from genus.datasets import data_folders, list_datasets

    found = list_datasets()
    if as_json:
        names = ("name", "parts", "has_hierarchy", "summary")
        print_json([{name: getattr(info, name) for name in names} for info in found])
        return
    if not found:
        where = "set GENUS_DATA to a folder of them" if not data_folders() else "the folders in GENUS_DATA contain none"
        console().print(f"no data sets: {where}")
        return
    rows = table("name", "parts", ">size", "description")
    for info in found:
        parts = ", ".join(info.parts) + (", tree" if info.has_hierarchy else "")
        rows.add_row(
            cell(info.name, "bold", cut=True),
            cell(parts, cut=True),
            size(sum(info.parts.values())),
            cell(info.summary, "dim", cut=True),
        )
    console().print(rows)


@data.command()
@click.argument("name")
@click.option("--part", default="all", show_default=True, help="train, test, all, or another part of the data set.")
@click.option("-n", "rows", type=click.IntRange(0), default=10, show_default=True, help="Number of rows to show.")
@json_option
def show(name: str, part: str, rows: int, as_json: bool) -> None:
    """Show a data set: its size, its classes, and some rows.

    With --json, the rows are JSON lines.

    \b
    genus data show sms_spam -n 3
    genus data show trec-questions --part test -n 500 --json > questions.jsonl
    """
    from genus.datasets import load_dataset

    found = load_dataset(name, part)
    kind = "text" if found.texts is not None else "counts"
    content: Sequence[str | dict[str, int]] = found.texts if found.texts is not None else found.counts or []
    if as_json:
        for document, label in zip(content[:rows], found.labels, strict=False):
            click.echo(to_json({kind: document, "label": label}))
        return
    labels = Counter(str(x) for label in found.labels for x in (label if isinstance(label, list) else [label]))
    out = console()
    out.print(cell(f"{name} {part}: {count(len(found), 'document')}, {count(len(labels), 'class')}", "bold"))
    common = ", ".join(f"{clean(label)} {n:,}" for label, n in labels.most_common(10))
    out.print(cell(common + (", ..." if len(labels) > 10 else ""), "dim"))
    shown = table("label", kind)
    for document, label in zip(content[:rows], found.labels, strict=False):
        names = ", ".join(map(str, label)) if isinstance(label, list) else label
        shown.add_row(cell(shorten(names, 30)), cell(shorten(_line(document), 200), cut=True))
    out.print("", shown)


def _line(document: str | dict[str, int]) -> str:
    return document if isinstance(document, str) else ", ".join(f"{w} {n}" for w, n in document.items())
