"""Figures 2, 4 and 5 of discriminative multinomial naive Bayes, and how its training grows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from genus.experiments.harness.table import Plot, Results
from genus.experiments.papers.dmnb_paper import FEW, SYSTEMS, TABLE_1
from genus.models.discriminative.model import DiscriminativeNB
from genus.models.naive_bayes import MultinomialNB


def plots(results: Results) -> list[Plot]:
    made = [figure_2(), *(_figure_4(name, results) for name in TABLE_1)]
    note = "Milliseconds of training, of sets by their documents (two classes)."
    times = _times(results, lambda row: row in TABLE_1, 1e3)
    made.append(Plot("Figure 5", note, "documents", "ms", times, logarithmic="xy"))
    note = "Seconds of training on titles of the arXiv, 172 classes: a straight line of slope one is linear."
    growth = _times(results, lambda row: row.startswith("arXiv"), 1.0)
    made.append(Plot("Growth", note, "documents", "seconds", growth, logarithmic="xy"))
    return [plot for plot in made if any(plot.lines.values())]


def _figure_4(name: str, results: Results) -> Plot:
    def points(system: str) -> list[tuple[float, float]]:
        scores = {n: results.scores(f"{name}, {n}").get(system) for n in FEW}
        return [(n, score) for n, score in scores.items() if score is not None]

    lines = {system: points(system) for system in ("DMNB", "MNB", "SMO", "LR")}
    note = "Accuracy in percent by training documents."
    return Plot(f"Figure 4: {name}", note, "training documents", "accuracy", lines, logarithmic="x")


def _times(results: Results, chosen: Callable[[str], bool], scale: float) -> dict[str, list[tuple[float, float]]]:
    """Each system's times of training by documents."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for (row, system), cell in results.cells.items():
        if chosen(row) and system in SYSTEMS and cell.fit_seconds is not None:
            lines.setdefault(system, []).append((cell.sizes[2], scale * cell.fit_seconds))
    return {system: sorted(line) for system, line in lines.items()}


def figure_2(n_passes: int = 20) -> Plot:
    """The example of section 6, document by document: p(evaluation | naive, bayes)."""
    words = np.array([[1, 1, 0, 1, 1], [0, 0, 1, 1, 1], [1, 1, 0, 1, 0]])  # naive, bayes, svm, classifier, performance
    labels, test = np.array(["evaluation", "classification", "classification"]), np.array([[1, 1, 0, 0, 0]])
    models = {
        "MNB": MultinomialNB(1e-9),
        "DMNB": DiscriminativeNB(),
        "text": DiscriminativeNB(variant="paper", binary=False),
    }
    lines: dict[str, list[tuple[float, float]]] = {name: [] for name in models}
    for t in range(3 * n_passes):
        for name, model in models.items():
            model.partial_fit(words[[t % 3]], labels[[t % 3]], classes=np.unique(labels))
            lines[name].append((t + 1, float(model.predict_proba(test)[0, 1])))
    note = (
        "Probability of the wrong class, evaluation, of a document 'naive bayes', after t documents. The paper: naive "
        "Bayes tends to 0.52 (exactly 9/17), and DMNB to about 0.35."
    )
    return Plot("Figure 2: the example of section 6", note, "t", "probability", lines)
