"""The statistics that papers give for their tables, computed for ours too: tests, error reductions, trends."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from genus.experiments.harness.table import Experiment, Marks, Numbers, Results


@dataclass(frozen=True)
class PairedTest:
    """A one-sided paired t-test over data sets: is the first system better than the second (or worse)?"""

    first: str
    second: str
    n: int
    difference: float  # of the means, in points
    p: float

    @property
    def mark(self) -> str:
        return "‡" if self.p < 0.005 else "†" if self.p < 0.05 else ""


def paired_tests(experiment: Experiment, scores: Mapping[str, Numbers]) -> list[PairedTest]:
    """The improved system against every other, in the direction that the means have."""
    from scipy.stats import ttest_rel

    tests = []
    for system in experiment.systems:
        if system.name == experiment.improved:
            continue
        pairs = [
            (s[experiment.improved], s[system.name])
            for s in scores.values()
            if {experiment.improved, system.name} <= s.keys()
        ]
        if len(pairs) < 2:
            continue
        first, second = zip(*pairs, strict=True)
        difference = (sum(first) - sum(second)) / len(pairs)
        p = 1.0
        if len({round(a - b, 12) for a, b in pairs}) > 1:  # without any spread there is no test
            p = float(ttest_rel(first, second, alternative="greater" if difference > 0 else "less").pvalue)
        tests.append(PairedTest(experiment.improved, system.name, len(pairs), difference, p))
    return tests


@dataclass(frozen=True)
class SplitTest:
    """Two systems on one data set, over its splits: is the difference of their means more than chance?"""

    row: str
    first: str
    second: str
    n: int
    difference: float  # of the means, in points
    p: float  # of a paired t-test, two-sided
    corrected_p: float  # of one that minds that splits share documents


def split_tests(experiment: Experiment, results: Results) -> list[SplitTest]:
    """The improved system against every other, where both were measured on the same splits."""
    tests = []
    for (row, system), cell in results.cells.items():
        own = results.cells.get((row, experiment.improved))
        if own is None or system == experiment.improved or not len(own.folds) == len(cell.folds) > 1:
            continue
        ratio = cell.sizes[3] / cell.sizes[2] if cell.sizes[3] else experiment.tests_by_training or 0.0
        difference, p = paired_test(own.folds, cell.folds)
        corrected = corrected_test(own.folds, cell.folds, ratio)[1]
        tests.append(SplitTest(row, experiment.improved, system, len(cell.folds), 100 * difference, p, corrected))
    return tests


def marks(experiment: Experiment, results: Results) -> Marks:
    """• beside what is significantly worse than the improved system, ◦ beside what is better: the corrected test."""
    found = [test for test in split_tests(experiment, results) if test.corrected_p < 0.05]
    return {(test.row, test.second): " •" if test.difference > 0 else " ◦" for test in found}


def paired_test(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """The mean difference and the p of a paired t-test, two-sided."""
    return corrected_test(a, b, 0.0)


def corrected_test(a: Sequence[float], b: Sequence[float], ratio: float) -> tuple[float, float]:
    """The mean difference and p of the resampled t-test, its variance corrected for splits that share documents.

    Nadeau and Bengio: the variance of k differences is taken 1/k + n_test/n_train times (``ratio``), not 1/k.

    >>> difference, p = corrected_test([0.9, 0.8, 0.85, 0.95], [0.8, 0.75, 0.8, 0.9], 1 / 9)
    >>> round(difference, 4), round(p, 3)
    (0.0625, 0.025)
    """
    import numpy as np
    from scipy.stats import t as student

    differences = np.subtract(a, b)
    mean, variance = float(differences.mean()), float(differences.var(ddof=1))
    if variance < 1e-18:
        return mean, 0.0 if abs(mean) > 1e-9 else 1.0
    k = len(differences)
    t = mean / np.sqrt(variance * (1 / k + ratio))
    return mean, float(2 * student.sf(abs(t), k - 1))


def both(experiment: Experiment, results: Results) -> dict[str, dict[str, Numbers]]:
    """The scores by row: all of the paper's, and ours."""
    rows = [row for row in experiment.rows if experiment.tested is None or row.task in experiment.tested]
    ours = {row.name: results.scores(row.name) for row in rows}
    return {
        "paper": {row.name: dict(row.paper) for row in rows if row.paper},
        "genus": {name: scores for name, scores in ours.items() if scores},
    }


def error_reduction(baseline: float, improved: float) -> float:
    """1 - error / error of the baseline, in percent, of scores in percent.

    >>> error_reduction(90.0, 95.0)
    50.0
    """
    return 100 * (1 - (100 - improved) / (100 - baseline)) if baseline < 100 else math.nan


@dataclass(frozen=True)
class Reduction:
    """The mean of a task's relative error reductions, in percent, and over how many sets."""

    task: str
    paper: float | None
    n_paper: int
    genus: float | None
    n_genus: int


def error_reductions(experiment: Experiment, results: Results) -> list[Reduction]:
    points = figure(experiment, results)
    reductions = []
    for task in dict.fromkeys(row.task for row in experiment.rows):
        paper, genus = ([p.reduction for p in points[who] if p.task == task] for who in ("paper", "genus"))
        reductions.append(Reduction(task, _mean(paper), len(paper), _mean(genus), len(genus)))
    return reductions


@dataclass(frozen=True)
class Point:
    """A data set: training documents per class, and by how much the error is reduced."""

    name: str
    task: str
    documents_per_class: float
    reduction: float


def figure(experiment: Experiment, results: Results) -> dict[str, list[Point]]:
    """Error reductions over documents per class, the paper's and ours."""
    points: dict[str, list[Point]] = {"paper": [], "genus": []}
    for row in experiment.rows:
        sides = ("paper", row.paper, row.sizes or ()), ("genus", results.scores(row.name), results.sizes(row.name))
        for who, scores, sizes in sides:
            if sizes and {experiment.baseline, experiment.improved} <= scores.keys():
                reduction = error_reduction(scores[experiment.baseline], scores[experiment.improved])
                if math.isfinite(reduction):
                    points[who].append(Point(row.name, row.task, sizes[2] / sizes[1], reduction))
    return points


def logarithmic_fit(points: Sequence[Point]) -> tuple[float, float, float] | None:
    """Least squares: reduction = a + b * log10(documents per class); a, b and R²."""
    import numpy as np

    x = np.log10([p.documents_per_class for p in points])
    y = np.array([p.reduction for p in points])
    if len(points) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    b, a = np.polyfit(x, y, 1)
    return float(a), float(b), float(np.corrcoef(x, y)[0, 1] ** 2)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
