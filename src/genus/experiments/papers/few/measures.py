"""What is measured: accuracy and calibration over draws, and what vectors cost in time."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from statistics import median
from typing import Any

import numpy as np

from genus.calibration import expected_calibration_error
from genus.experiments.harness.settings import Trials
from genus.experiments.harness.table import Measured
from genus.experiments.papers.few.contestants import Contestant, GivesProbabilities, contestants
from genus.experiments.papers.few.texts import Draw, Pool, draw, load_pool

CALIBRATION = "calibration error"  # among a cell's parameters
WHATS = "choosing", "answering"


@dataclass(frozen=True)
class Settings:
    draws: int = 10
    rounds: int = 5  # of times
    encoder: str = ""  # its checksum


@dataclass(frozen=True)
class Problem:
    """A set, how many labels of each class are given, and how many texts without a label.

    ``most_draws`` is for contestants that take minutes for each.
    """

    name: str
    each: int
    n_unlabeled: int = 0
    most_draws: int = 1_000

    @property
    def pool(self) -> Pool:
        return load_pool(self.name)

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """Different words, classes, and the documents to learn from and to test with."""
        given = self.drawn(0)
        words = len({word for text in given.texts for word in text.split()})
        return words, len(self.pool.classes), len(given.texts), len(self.pool.test_texts)

    def drawn(self, seed: int) -> Draw:
        return draw(self.pool, self.each, seed, self.n_unlabeled)


def measure(name: str, problem: Problem, settings: Settings) -> Measured:
    """A contestant's mean accuracy over draws; without labels there is but one."""
    make, trials, errors = contestants()[name], Trials(), []
    pool = problem.pool
    for seed in range(min(settings.draws, problem.most_draws) if problem.each else 1):
        given, contestant = problem.drawn(seed), make(problem.name)
        begin = time.perf_counter()
        _fit(contestant, given)
        fitted = time.perf_counter()
        answers, sure = _answers(contestant, pool.test_texts)
        trials.fit_seconds.append(fitted - begin)
        trials.predict_seconds.append((time.perf_counter() - fitted) / len(pool.test_texts))
        right = answers == pool.test_labels
        trials.scores.append(float(np.mean(right)))
        if sure is not None:
            errors.append(expected_calibration_error(sure, right))
    return trials.measured(params={CALIBRATION: round(float(np.mean(errors)), 4)} if errors else {})


def _fit(contestant: Any, given: Draw) -> None:
    more = {"unlabeled": given.unlabeled} if given.unlabeled else {}
    contestant.fit(given.texts, given.labels, **more)


def _answers(contestant: Contestant, texts: list[str]) -> tuple[Any, Any]:
    """Labels, and the probability of each where there is one."""
    if not isinstance(contestant, GivesProbabilities):
        return contestant.predict(texts), None
    probabilities = contestant.predict_proba(texts)
    return contestant.classes_[probabilities.argmax(axis=1)], probabilities.max(axis=1)


def relative_time(what: str, problem: Problem, settings: Settings) -> Measured:
    """The time of TextClassifier() for "choosing" or "answering", as a share of its time without vectors.

    Both are timed in turns, and their medians compared.
    """
    seconds = _times(problem, settings.rounds)
    own, plain = (median(seconds[name][what]) for name in ("genus", "genus without vectors"))
    return Measured(own / plain, None, {"seconds": round(own, 4), "without": round(plain, 4)}, 1)


@lru_cache(maxsize=1)
def _times(problem: Problem, rounds: int) -> Mapping[str, Mapping[str, list[float]]]:
    """Seconds of each round, with vectors and without."""
    found: dict[str, dict[str, list[float]]] = {
        name: {what: [] for what in WHATS} for name in ("genus", "genus without vectors")
    }
    makers = contestants()
    texts = problem.pool.test_texts
    for seed in range(rounds):
        given = problem.drawn(seed)
        for name, times in list(found.items())[:: 1 if seed % 2 else -1]:
            begin = time.perf_counter()
            model = makers[name](problem.name)
            model.fit(given.texts, given.labels)
            fitted = time.perf_counter()
            model.predict(texts)
            times["choosing"].append(fitted - begin)
            times["answering"].append(time.perf_counter() - fitted)
    return found
