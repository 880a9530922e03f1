"""What is measured: accuracy and calibration over draws, and what vectors cost in time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from statistics import median
from typing import Any

import numpy as np

from genus.calibration import expected_calibration_error
from genus.classifier.text_classifier import TextClassifier
from genus.experiments.harness.settings import Trials
from genus.experiments.harness.table import Measured
from genus.experiments.papers.few.contestants import Contestant, GivesProbabilities
from genus.experiments.papers.few.texts import Draw, Pool, draw, load_pool

CALIBRATION = "calibration error"  # among a cell's parameters


@dataclass(frozen=True)
class Settings:
    draws: int = 10
    rounds: int = 5  # of times
    encoder: str = ""  # its checksum


@dataclass(frozen=True)
class Problem:
    """A set, how many labels of each class are given, and how many texts without a label."""

    name: str
    each: int
    n_unlabeled: int = 0

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


def measure(make: Callable[[str], Contestant], problem: Problem, settings: Settings) -> Measured:
    """Mean accuracy over draws; a draw without labels is always the same."""
    trials, errors = Trials(), []
    pool = problem.pool
    for seed in range(settings.draws if problem.each else 1):
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
    """The time of TextClassifier() as a share of what it takes without vectors, to "choose" or to "answer".

    Both are timed in turns, and their medians compared.
    """
    seconds = _times(problem, settings.rounds)
    own, plain = (median(of[what]) for of in seconds)
    return Measured(own / plain, None, {"seconds": round(own, 4), "without": round(plain, 4)}, 1)


@lru_cache(maxsize=1)
def _times(problem: Problem, rounds: int) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Seconds of each round, with vectors and without."""
    found: tuple[dict[str, list[float]], ...] = ({"choose": [], "answer": []}, {"choose": [], "answer": []})
    makers = TextClassifier, partial(TextClassifier, **{"vectors": None})
    texts = problem.pool.test_texts
    for seed in range(rounds):
        given = problem.drawn(seed)
        for times, make in list(zip(found, makers, strict=True))[:: 1 if seed % 2 else -1]:
            begin = time.perf_counter()
            model = make().fit(given.texts, given.labels)
            fitted = time.perf_counter()
            model.predict(texts)
            times["choose"].append(fitted - begin)
            times["answer"].append(time.perf_counter() - fitted)
    return found[0], found[1]
