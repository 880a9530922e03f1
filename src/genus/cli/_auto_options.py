"""What `genus train` and `genus tune` share: search options, prior knowledge of the classes, and the leaderboard."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from genus.cli._checks import JSON, TREE
from genus.cli._input import read_json
from genus.cli._output import cell, console, table

if TYPE_CHECKING:
    from genus.classifier.text_classifier import TextClassifier
    from genus.tree.label_tree import LabelTree

_OBJECTIVES = ("accuracy", "macro_f1", "micro_f1", "example_f1", "log_loss")
_METRIC_TITLES = {"accuracy": "accuracy", "example_f1": "example F1", "micro_f1": "micro F1", "macro_f1": "macro F1"}


def search_options(seconds: float) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Options for the search (`seconds` is the default time budget) and for prior knowledge of the classes."""
    options = [
        click.option(
            "--time-budget",
            type=click.FloatRange(0, min_open=True),
            default=seconds,
            show_default=True,
            metavar="SECONDS",
            help="Time limit of the model search.",
        ),
        click.option(
            "--objective",
            type=click.Choice(_OBJECTIVES),
            default="accuracy",
            show_default=True,
            help="Metric to optimize. example_f1 is for rows with several labels, and is the default there.",
        ),
        click.option("--tree", type=TREE, metavar="FILE", help="Tree of classes as JSON: {child: parent}, or nested."),
        click.option(
            "--class-prior",
            default="learned",
            show_default=True,
            metavar="PRIOR",
            callback=lambda context, option, value: _prior(value),
            help='Class probabilities to assume when predicting: uniform, or JSON such as {"spam": 0.1, "ham": 0.9}.',
        ),
        click.option(
            "--vectors",
            default="auto",
            show_default=True,
            metavar="TABLE",
            help="Word vectors: auto (the English table that ships with genus, if it knows the language), none, or a "
            "file (safetensors, GloVe or fastText text).",
        ),
        click.option(
            "--describe",
            type=JSON,
            metavar="FILE",
            help='What the classes are about, as JSON: {"sport": "matches, goals, athletes", ...}.',
        ),
    ]

    def add(command: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def _prior(given: str) -> str | dict[str, float]:
    if given in ("learned", "uniform"):
        return given
    try:
        prior = json.loads(given)
    except ValueError:
        prior = None
    if not isinstance(prior, dict):
        raise click.BadParameter(f'{given!r} is neither learned, uniform nor JSON such as {{"spam": 0.1, "ham": 0.9}}')
    return prior


def read_tree(file: str | None) -> LabelTree | None:
    """The tree that a file holds."""
    if file is None:
        return None
    from genus.tree.label_tree import LabelTree

    try:
        return LabelTree.from_any(read_json(file, "--tree"))
    except ValueError as error:
        raise click.BadParameter(f"{file}: {str(error).rstrip('.')}", param_hint="--tree") from error


def read_descriptions(file: str, option: str) -> dict[str, str]:
    """The description of each class that a JSON file holds."""
    found = read_json(file, option)
    if not (isinstance(found, dict) and all(isinstance(text, str) for text in found.values())):
        raise click.BadParameter(f'{file}: expected JSON such as {{"sport": "matches, goals"}}', param_hint=option)
    return found


def read_vectors(given: str) -> str | None:
    """What --vectors says, as `TextClassifier(vectors=)` takes it."""
    return None if given == "none" else given


def print_leaderboard(clf: TextClassifier, n: int) -> None:
    """The n best candidates, and every candidate in the pool."""
    board = clf.leaderboard_
    if not board:  # classes without labeled texts: there was nothing to compare by
        return
    measures = [name for name in _METRIC_TITLES if name in board[0]]
    rows = table("candidate", "settings", *(f">{_METRIC_TITLES[name]}" for name in measures), ">log loss", ">weight")
    for row in [*board[:n], *(row for row in board[n:] if row["weight"] > 0)]:
        chosen = row["weight"] > 0
        rows.add_row(
            cell(row["candidate"], "bold" if chosen else ""),
            cell(_listed(row["settings"]), "dim"),
            *(f"{row[name]:.4f}" for name in measures),
            f"{row['log_loss']:.4f}",
            f"{row['weight']:.2f}" if chosen else "",
        )
    console().print("", rows, "")
    if clf.search_cut_short_:
        console().print(cell("not every candidate was tried: raise --time-budget to try more", "yellow"))


def _listed(settings: dict[str, object]) -> str:
    return " ".join(f"{name}={value}" for name, value in settings.items())
