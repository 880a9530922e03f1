"""tune: the search of `genus train`, with more time, and what it found."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from genus.cli._auto_options import print_leaderboard, read_tree, search_options
from genus.cli._checks import DATA, TARGET, TEXTS, command
from genus.cli._input import Reading, data_options, learnable, read, read_texts, save_model
from genus.cli._output import cell, console, count, json_option, print_json, size, working

_TUNING_BUDGET = 600.0


@command()
@click.argument("data", type=DATA)
@click.option("-o", "--out", type=TARGET, metavar="FILE", help="Write what was found to a model file.")
@click.option("--unlabeled", type=TEXTS, metavar="FILE", help="More texts, without labels, to learn from.")
@search_options(_TUNING_BUDGET)
@click.option("--seed", type=int, default=0, show_default=True, help="How texts that are left out are dealt out.")
@click.option("--jobs", type=int, metavar="N", help="Threads; by default all cores.")
@data_options
@json_option
def tune(
    data: str, out: str | None, unlabeled: str | None, time_budget: float, objective: str, tree: str | None,
    class_prior: Any, seed: int, jobs: int | None, how: Reading, as_json: bool,
) -> None:  # fmt: skip
    """Search for the best model of some texts, and show what was tried.

    Models, weights of words and n-grams are judged on texts that are left out while they learn; the best are
    pooled, with weights learned the same way. Ctrl-C ends the search and keeps the best so far.
    DATA is as for `genus train`, which does the same with less time.

    \b
    genus tune mail.csv --out mail.genus
    genus tune tickets.csv --objective macro_f1 --time-budget 120
    """
    with working(f"reading {data}"):
        given = read(data, how)
        more = None if unlabeled is None else read_texts(unlabeled, how)
    labels = learnable(given)
    from genus.classifier.text_classifier import TextClassifier

    begin = time.perf_counter()
    clf = TextClassifier(
        time_budget=time_budget, objective=objective, tree=read_tree(tree), class_prior=class_prior,
        random_state=seed, verbose=_is_watched(), n_jobs=jobs,
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
    shown.print(f"judged on {count(len(given), 'document')} in {count(len(clf.classes_), 'class')}, {seconds:.1f} s")
    print_leaderboard(clf, n=20)
    if out is not None:
        shown.print(cell(f"saved {out} ({size(Path(out).stat().st_size)})"))


def _is_watched() -> int:
    import sys

    return int(sys.stderr.isatty())
