"""The experiment of discriminative naive Bayes: the paper's own statements about its tables, and how ours are made."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from genus.experiments import experiment
from genus.experiments.harness.table import Cell, Plot, Results
from genus.experiments.pages.page import make_page
from genus.experiments.pages.plots import draw
from genus.experiments.pages.statements import corrected_test, marks
from genus.experiments.pages.summary import to_dict
from genus.experiments.papers import dmnb as dmnb
from genus.experiments.papers.dmnb_figures import figure_2

SIZES = (9, 2, 100, 0)  # words, classes, documents


def test_the_papers_averages():
    means = np.mean(list(dmnb.TABLE_5.values()), axis=0)
    np.testing.assert_allclose(means, [98.19, 94.55, 94.51, 97.33, 97.98], atol=0.006)
    for table, printed in ((dmnb.TABLE_6, [98, 95, 95, 97, 98]), (dmnb.TABLE_7, [99, 99, 96, 96, 98])):
        np.testing.assert_allclose(np.mean(list(table.values()), axis=0), printed, atol=0.75)
    assert list(dmnb.TABLE_5) == list(dmnb.TABLE_6) == list(dmnb.TABLE_7) == list(dmnb.TABLE_1) == list(dmnb.FOLDERS)


def test_the_corrected_test_is_more_careful_than_the_plain_one():
    rng = np.random.default_rng(0)
    a = rng.normal(0.95, 0.01, 50)
    b = a - rng.normal(0.004, 0.01, 50)
    from scipy.stats import ttest_rel

    difference, p = corrected_test(a, b, 1 / 9)
    assert difference == pytest.approx(np.mean(a - b))
    assert p > ttest_rel(a, b).pvalue
    # By hand: t = mean / sqrt(variance * (1/50 + 1/9)), as in Nadeau and Bengio with ten folds.
    t = difference / np.sqrt(np.var(a - b, ddof=1) * (1 / 50 + 1 / 9))
    assert t == pytest.approx(difference / np.std(a - b, ddof=1) / np.sqrt(0.02 + 1 / 9))
    assert corrected_test([1.0, 1.0], [1.0, 1.0], 1 / 9) == (0.0, 1.0)


def test_marks_say_what_is_significantly_worse_or_better():
    folds = list(np.linspace(0.9, 0.92, 10))
    cells = {
        ("Re0", "DMNB"): Cell("Re0", "DMNB", sizes=SIZES, folds=folds),
        ("Re0", "MNB"): Cell("Re0", "MNB", sizes=SIZES, folds=[f - 0.1 + 0.001 * i for i, f in enumerate(folds)]),
        ("Re0", "LR"): Cell("Re0", "LR", sizes=SIZES, folds=[f + 0.1 - 0.001 * i for i, f in enumerate(folds)]),
        ("Re0", "SMO"): Cell("Re0", "SMO", sizes=SIZES, folds=[f + 0.01 * (-1) ** i for i, f in enumerate(folds)]),
        ("Re1", "MNB"): Cell("Re1", "MNB", sizes=SIZES, folds=folds),
    }
    assert marks(experiment("dmnb"), Results(cells)) == {("Re0", "MNB"): " •", ("Re0", "LR"): " ◦"}


def test_figure_2_goes_as_the_paper_says():
    lines = figure_2(50).lines
    assert lines["MNB"][-1][1] == pytest.approx(9 / 17, abs=1e-3)
    for name in ("DMNB", "text"):
        assert lines[name][-1][1] < 0.5


@pytest.fixture
def tr23(monkeypatch, tmp_path):
    """A data folder with a Tr23 of two classes, in place of the real one."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    counts = rng.poisson(np.where(y[:, None] == np.arange(40) % 2, 0.6, 0.3))
    folder = tmp_path / "data" / "weka19" / dmnb.FOLDERS["Tr23"]
    folder.mkdir(parents=True)
    rows = (
        {"counts": {f"w{w}": int(row[w]) for w in row.nonzero()[0]}, "label": str(c)}
        for row, c in zip(counts, y, strict=True)
    )
    (folder / "all.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setenv("GENUS_DATA", str(tmp_path / "data"))
    for cached in (dmnb.load, dmnb._validated):
        cached.cache_clear()
    yield
    for cached in (dmnb.load, dmnb._validated):
        cached.cache_clear()


@pytest.mark.usefixtures("tr23")
def test_a_small_table_is_measured_with_folds_marks_and_plots(tmp_path):
    planned = experiment("dmnb", quick=True)
    rows = [replace(row, data=()) for row in planned.rows if row.name.startswith("Tr23")]  # no data folder is needed
    planned = type(planned)(**{**vars(planned), "rows": rows})
    results = planned.run(tmp_path / "out")
    assert not results.absent
    assert not [cell.error for cell in results.cells.values() if cell.error]
    assert results.cells["Tr23", "DMNB"].score > 0.8
    assert len(results.cells["Tr23 AUC", "LR"].folds) == 5
    assert results.cells["Tr23 AUC", "DMNB"].score > results.cells["Tr23", "DMNB"].score
    titles = [plot["title"] for plot in to_dict(planned, results)["plots"]]
    assert titles == ["Figure 2: the example of section 6", "Figure 4: Tr23", "Figure 5"]
    page = make_page(planned, results)
    assert page.count("<svg") == 4
    again = planned.run(tmp_path / "out").cells
    assert {key: cell.score for key, cell in again.items()} == {key: cell.score for key, cell in results.cells.items()}


def test_plots_hold_all_points_within_their_frame():
    plot = Plot("t", "", "x", "y", {"a": [(1, 0.5), (1000, 20)], "b": [(10, 3)]}, logarithmic="xy")
    assert draw(plot).count("<circle") == 3
    assert "1,000" in draw(plot)
    paper = Plot("t", "", "x", "y", {"a": [(7, 40), (667, 80)], "a, paper": [(7, 50)]}, logarithmic="x")
    assert draw(paper).count("stroke-dasharray") == 2  # the line and its name
    assert all(0 <= float(x) <= 884 for x in re.findall(r'cx="([\d.]+)"', draw(paper)))
    assert draw(Plot("t", "", "x", "y", {"a": [(2, 2.0)]})).count("<circle") == 1
    assert "Nothing to show" in draw(Plot("t", "", "x", "y", {"a": []}))
