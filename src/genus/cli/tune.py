"""tune: the model search of `genus train`, with more time and the whole leaderboard."""

from __future__ import annotations

import time
from pathlib import Path

import click

from genus.cli._auto_options import print_leaderboard, read_descriptions, read_tree, read_vectors, search_options
from genus.cli._checks import DATA, TARGET, TEXTS, command
from genus.cli._input import Reading, data_options, read, read_texts, save_model, training_labels
from genus.cli._output import cell, console, count, json_option, print_json, size, working

_TUNING_BUDGET = 600.0


@command()
@click.argument("data", type=DATA)
@click.option("-o", "--out", type=TARGET, metavar="FILE", help="Model file to write.")
@click.option("--unlabeled", type=TEXTS, metavar="FILE", help="Additional unlabeled texts to learn from.")
@search_options(_TUNING_BUDGET)
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed of the cross-validation folds.")
@click.option("--jobs", type=int, metavar="N", help="Number of threads. Default: all cores.")
@data_options
@json_option
def tune(
    data: str, out: str | None, unlabeled: str | None, time_budget: float, objective: str, tree: str | None,
    class_prior: str | dict[str, float], vectors: str, describe: str | None, seed: int, jobs: int | None,
    how: Reading, as_json: bool,
) -> None:  # fmt: skip
    """Search for the best model, and show the leaderboard.

    Models, term weightings and n-grams are compared by cross-validation; the best are pooled, with weights fitted
    to the same out-of-fold predictions. Ctrl-C ends the search and keeps the best so far. `genus train` runs the
    same search with less time; DATA is the same.

    \b
    genus tune mail.csv --out mail.genus
    genus tune tickets.csv --objective macro_f1 --time-budget 120
    """
    with working(f"reading {data}"):
        given = read(data, how)
        more = None if unlabeled is None else read_texts(unlabeled, how)
    labels = training_labels(given)
    from genus.classifier.text_classifier import TextClassifier

    begin = time.perf_counter()
    clf = TextClassifier(
        time_budget=time_budget, objective=objective, tree=read_tree(tree), class_prior=class_prior,
        vectors=read_vectors(vectors), descriptions=read_descriptions(describe, "--describe") if describe else None,
        random_state=seed, verbose=_verbosity(), n_jobs=jobs,
    ).fit(given.texts, labels, unlabeled=more)  # fmt: skip
    seconds = time.perf_counter() - begin
    if out is not None:
        save_model(clf, out)
    if as_json:
        print_json(
            {
                "documents": len(given),
                "seconds": round(seconds, 3),
                "cut_short": clf.search_cut_short_,
                "out": out,
                "leaderboard": clf.leaderboard_,
            }
        )
        return
    shown = console()
    trained = f"{count(len(given), 'document')} in {count(len(clf.classes_), 'class')}"
    shown.print(f"searched with {trained}, in {seconds:.1f} s")
    print_leaderboard(clf, n=20)
    if out is not None:
        shown.print(cell(f"saved {out} ({size(Path(out).stat().st_size)})"))


def _verbosity() -> int:
    import sys

    return int(sys.stderr.isatty())
