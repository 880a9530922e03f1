"""What is compared on which texts: tasks, and the rows of each."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from genus.experiments.harness.table import Row
from genus.experiments.papers.few.measures import Problem
from genus.experiments.papers.few.texts import ENGLISH, LANGUAGES, MORE, SETS

EIGHT, OTHERS, FOREIGN = "the eight English sets", "other English sets", "other languages"
ZERO, NAMED, UNLABELED = "no labels, only names", "labels and names", "labels and unlabeled texts"
TIME, TUNED = "time", "beside fine-tuning"

SIZES = (5, 10, 20, 50)  # labels of each class
FEWEST = SIZES[:2]
N_UNLABELED = 3_000

_NAMED_SETS = ("ag_news", "20news", "dbpedia", "trec", "sms_spam", "ohsumed")
_ZERO_SHOT = {"ag_news": 70, "20news": 50, "dbpedia": 55}  # targets, by names alone
_TIMED = (("trec", 10), ("ag_news", 10), ("imdb", 10), ("20news", 10), ("ag_news", 100))
_TUNED = (("sms_spam", 5), ("ag_news", 5))
_TUNED_DRAWS = 2  # fine-tuning takes more than a minute for each
_QUICK_SETS = ("trec", "sms_spam", "ag_news")


def rows(quick: bool) -> list[Row]:
    """All there are, or some of three small sets."""
    sets, sizes = (_QUICK_SETS, FEWEST) if quick else (tuple(SETS), SIZES)

    def each(task: str, names: Iterable[str], numbers: Iterable[int], **given: int) -> list[Row]:
        problems = [Problem(name, n, **given) for name in names if name in sets for n in numbers]
        return [_row(task, problem) for problem in problems]

    return [
        *each(EIGHT, ENGLISH, sizes),
        *each(OTHERS, MORE, sizes),
        *each(FOREIGN, LANGUAGES, sizes),
        *each(ZERO, _NAMED_SETS, (0,)),
        *each(NAMED, _NAMED_SETS, sizes[:3]),
        *each(UNLABELED, ENGLISH, FEWEST, n_unlabeled=N_UNLABELED),
        *(row for name, n in _TIMED for row in each(TIME, [name], [n])),
        *(row for name, n in _TUNED for row in each(TUNED, [name], [n], most_draws=_TUNED_DRAWS)),
    ]


def row_name(task: str, name: str, n: int) -> str:
    """A row's name, which no other row has."""
    return {
        ZERO: f"{name}, no labels",
        NAMED: f"{name}, {n} of each class and names",
        UNLABELED: f"{name}, {n} of each class, {N_UNLABELED:,} unlabeled",
        TIME: f"{name}, {n} of each class, time",
        TUNED: f"{name}, {n} of each class, fine-tuning",
    }.get(task, f"{name}, {n} of each class")


def _row(task: str, problem: Problem) -> Row:
    chosen = SETS[problem.name]
    notes = [f"target {_ZERO_SHOT[problem.name]}"] if task == ZERO and problem.name in _ZERO_SHOT else []
    notes += ["used for tuning"] * chosen.tuned
    title = row_name(task, problem.name, problem.each)
    return Row(title, task, partial(_loaded, problem), note=", ".join(notes), data=(chosen.data,))


def _loaded(problem: Problem) -> Problem:
    """The problem; its set's texts are read, so that no contestant is charged for it."""
    assert problem.pool
    return problem
