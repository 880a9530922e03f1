"""evaluate: how well a model does on labeled texts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from genus.cli._checks import DATA, MODEL, PAGE, command
from genus.cli._input import Reading, chunks, data_options, is_multilabel, open_model
from genus.cli._output import cell, console, count, json_option, print_json, shorten, table, working, write_text

if TYPE_CHECKING:
    from genus.classifier.text_classifier import TextClassifier
    from genus.report import ClassScore, Evaluation

_MAX_PROBABILITIES = 4_000_000  # held in memory at once
_CLASSES, _CONFUSIONS = 20, 8  # shown in a terminal


@command()
@click.argument("model", type=MODEL)
@click.argument("data", type=DATA)
@click.option("--report", type=PAGE, metavar="FILE", help="Write an HTML report: tables, curves, worst mistakes.")
@data_options
@json_option
def evaluate(model: str, data: str, report: str | None, how: Reading, as_json: bool) -> None:
    """Measure a model on labeled texts.

    Shows accuracy (equal to micro F1, since each text has one label), macro F1, log loss, expected calibration
    error, precision and recall of each class, and the most frequent confusions. For a multilabel model: how often
    the most probable label is right (P@1), and micro, example and macro F1. DATA is as for `genus train`; use texts
    that the model was not trained on.

    \b
    genus evaluate mail.genus held-out.csv
    genus evaluate mail.genus held-out.csv --report mail.html
    """
    from genus.report import Evaluation, make_page

    clf = open_model(model)
    at_once = max(1, min(10_000, _MAX_PROBABILITIES // len(clf.classes_)))
    if is_multilabel(clf):
        if report is not None:
            raise click.UsageError("--report does not support multilabel models yet")
        _evaluate_sets(clf, data, how, at_once, as_json)
        return
    result = Evaluation(clf.classes_.tolist())
    with working(f"evaluating {data}") as progress:
        for given in chunks(data, how, size=at_once):
            for begin in range(0, len(given), at_once):
                part = slice(begin, begin + at_once)
                texts, labels = given.texts[part], given.one_label_each()[part]
                result.add(texts, labels, clf.predict_log_proba(texts), given.rows[part])
            progress(result.n)
    if report is not None:
        name = "standard input" if data == "-" else data
        write_text(report, make_page(result, clf, model=model, data=name))
    if as_json:
        print_json(result.to_dict())
    else:
        _print(result)
        if report is not None:
            console().print(cell(f"wrote {report}"))


def _evaluate_sets(clf: TextClassifier, data: str, how: Reading, at_once: int, as_json: bool) -> None:
    from genus.report import LabelEvaluation

    result = LabelEvaluation(clf.classes_.tolist())
    with working(f"evaluating {data}") as progress:
        for given in chunks(data, how, size=at_once):
            sets = given.sets_of_labels()
            for begin in range(0, len(given), at_once):
                part = slice(begin, begin + at_once)
                probabilities = clf.predict_proba(given.texts[part])
                result.add(sets[part], clf.model_.decoder.predict(probabilities), probabilities)
            progress(result.n)
    if as_json:
        print_json(result.to_dict())
        return
    _print_summary(
        ("documents", f"{result.n:,}"),
        ("P@1", f"{result.precision_at_1:.4f}"),
        ("micro F1", f"{result.micro_f1:.4f}"),
        ("example F1", f"{result.example_f1:.4f}"),
        ("macro F1", f"{result.macro_f1:.4f}"),
    )
    _print_scores("label", "labels", result.per_label())


def _print_summary(*values: tuple[str, str]) -> None:
    summary = table("", ">")
    summary.show_header = False
    for name, value in values:
        summary.add_row(cell(name, "dim"), cell(value, "bold"))
    console().print(summary)


def _print_scores(noun: str, nouns: str, scores: Sequence[ClassScore]) -> None:
    rows = table(noun, ">precision", ">recall", ">F1", ">support")
    for s in scores[:_CLASSES]:
        rows.add_row(
            cell(shorten(s.label, 40)), f"{s.precision:.3f}", f"{s.recall:.3f}", f"{s.f1:.3f}", f"{s.support:,}"
        )
    console().print("", rows)
    if len(scores) > _CLASSES:
        more = f"the {_CLASSES} {nouns} with the most mistakes; --json lists {len(scores) - _CLASSES:,} more"
        console().print(cell(more, "dim"))


def _print(result: Evaluation) -> None:
    out = console()
    loss = f"{result.log_loss:.4f}" if math.isfinite(result.log_loss) else "infinite"
    _print_summary(
        ("documents", f"{result.n:,}"),
        ("accuracy, micro F1", f"{result.accuracy:.4f}"),
        ("macro F1", f"{result.macro_f1:.4f}"),
        ("log loss", loss),
        ("calibration error", f"{result.calibration_error:.4f}"),
    )
    if result.n_unknown:
        unknown = f"{count(result.n_unknown, 'document')} with labels unknown to the model"
        out.print(cell(f"{unknown}: counted as mistakes, left out of the log loss", "yellow"))

    _print_scores("class", "classes", result.per_class())
    confusions = result.confusions()
    if confusions:
        pairs = table("true class", "predicted", ">times")
        for c in confusions[:_CONFUSIONS]:
            pairs.add_row(cell(shorten(c.truth, 30)), cell(shorten(c.predicted, 30)), f"{c.n:,}")
        out.print("", pairs)
    if result.mistakes:
        worst = result.mistakes[0]
        said = f"{worst.truth} predicted as {worst.predicted}, probability {worst.confidence:.3f}"
        out.print()
        out.print(cell(f"worst mistake, row {worst.row:,} ({said}):"))
        out.print(cell(worst.text, "dim"), no_wrap=True, overflow="ellipsis")
