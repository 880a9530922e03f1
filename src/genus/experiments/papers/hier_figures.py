"""Table 3 and figures 1 and 2 of the hierarchical mixture: accuracy, and macro-averaged F1, over training documents."""

from __future__ import annotations

from collections.abc import Sequence

from genus.experiments.harness.table import Plot, Results

SIZES = (7, 14, 20, 34, 48, 67, 133, 667)
TABLE_3 = {
    "NB": (46.7, 56.6, 60.7, 68.8, 73.9, 74.9, 80.7, 88.4),
    "PLSA": (52.7, 61.9, 66.3, 72.5, 76.4, 76.4, 81.3, 88.6),
    "HS": (53.3, 61.8, 65.4, 72.7, 75.4, 76.3, 81.4, 88.8),
    "kNN": (51.1, 62.7, 65.0, 70.6, 76.2, 78.0, 82.4, 87.9),
    "HM": (58.5, 63.1, 66.5, 72.8, 77.1, 77.3, 81.4, 88.8),
}
FIGURE_2 = ((1, 10), (11, 20), (21, 30), (31, 40), (41, 50))  # training documents of a category


def newsgroups_name(n: int) -> str:
    return f"15 newsgroups, {n} per class"


def reuters_name(low: int, high: int) -> str:
    return f"Reuters-90 maF1, {low} to {high} documents"


def plots(results: Results) -> list[Plot]:
    ours = {name: _line(results, name, {n: newsgroups_name(n) for n in SIZES}) for name in (*TABLE_3, "HM log")}
    paper = {f"{name}, paper": list(zip(SIZES, TABLE_3[name], strict=True)) for name in ("NB", "HM")}
    figure_1 = Plot(
        "Figure 1",
        "Accuracy on 15 newsgroups, in percent: ours, and the paper's NB and HM.",
        "documents per class",
        "accuracy",
        ours | paper,
        logarithmic="x",
    )
    middles = {(low + high) / 2: reuters_name(low, high) for low, high in FIGURE_2}
    figure_2 = Plot(
        "Figure 2",
        "Macro-averaged F1 of Reuters categories by their training documents, in tens, in percent. The paper prints a "
        "figure only.",
        "training documents",
        "F1",
        {name: _line(results, name, middles) for name in ("HM", "HS", "NB", "kNN", "SVM")},
    )
    return [plot for plot in (figure_1, figure_2) if any(plot.lines.values())]


def _line(results: Results, system: str, rows: dict[float, str] | dict[int, str]) -> Sequence[tuple[float, float]]:
    scores = [(x, results.scores(row).get(system)) for x, row in rows.items()]
    return [(x, score) for x, score in scores if score is not None]
