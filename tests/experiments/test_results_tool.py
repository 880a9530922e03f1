"""make results: the docs' page and the README's table are written from a report."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

from genus.experiments.harness.table import Cell, Experiment, Results, Row, System
from genus.experiments.pages.frame import surroundings
from genus.experiments.pages.summary import to_dict
from genus.experiments.papers.auto import Settings

TOOL = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "results.py"))


@pytest.fixture
def report(tmp_path) -> Path:
    """Two sets, one with the paper's figures, one that is not here; TextClassifier() and one peer."""
    rows = [
        Row("news", "all documents", paper={"peer": 90.2}),
        Row("mail", "all documents"),
        Row("news, 5 of each class", "few documents"),
        Row("lost", "all documents", note="ask for it"),
    ]
    systems = [System(name, print) for name in ("genus", "peer")]
    planned = Experiment(
        "auto", "A table", "nobody", "Accuracy", "Once.", rows, systems, Settings(), "peer", "genus", findings=["Why."]
    )
    scores = {"news": (0.95, 0.9), "mail": (0.9, 0.8), "news, 5 of each class": (0.5, 0.6)}
    cells = {
        (row, system): Cell(row, system, score, spread=0.01 if "5" in row else None, sizes=(9, 2, 8, 4), fit_seconds=2)
        for row, pair in scores.items()
        for system, score in zip(("genus", "peer"), pair, strict=True)
    }
    found = to_dict(planned, Results(cells, {"lost": "ask for it"})) | {"run": surroundings(["all"], 2)}
    (tmp_path / "results.json").write_text(json.dumps({"auto": found}))
    return tmp_path


def test_the_page_and_the_readmes_table_are_written(report, tmp_path):
    page, readme = tmp_path / "results.md", tmp_path / "README.md"
    begin, end = "<!-- written by make results -->\n", "<!-- end of what make results writes -->\n"
    readme.write_text(f"before\n{begin}old\n{end}after\n")
    for _ in range(2):  # written over, not added to
        TOOL["main"](str(report), str(page), str(readme))
    said = page.read_text()
    assert "`genus reproduce all`" in said
    assert "timed with 2 runs in parallel" in said
    assert "| news | 95.00 | 90.00 (90.20) | 1 same |" in said
    assert "50.00 ± 1.00" in said
    assert "Data sets not available: lost (ask for it)." in said
    assert "- Why." in said
    shown = readme.read_text()
    assert shown.startswith(f"before\n{begin}|")
    assert shown.endswith(f"\n{end}after\n")
    assert "old" not in shown
    assert "| mean accuracy, 2 sets | **92.50** | 85.00 |" in shown
    assert "| 5 of each class, 1 sets | 50.00 | **60.00** |" in shown
    assert "| data sets on which genus is better |  | 2 of 2 |" in shown
    assert "| mean rank | 1.00 | 2.00 |" in shown
    assert "| worst-case gap to the best rival | +5.00 | -10.00 |" in shown


def test_a_paper_is_taken_from_the_last_report(report, tmp_path):
    later, readme = tmp_path / "later", tmp_path / "README.md"
    later.mkdir()
    found = json.loads((report / "results.json").read_text())["auto"]
    found |= {"title": "Measured later", "code": "abc"}
    (later / "results.json").write_text(json.dumps(found))
    readme.write_text("<!-- written by make results -->\n<!-- end of what make results writes -->\n")
    TOOL["main"](str(report), str(later), str(tmp_path / "results.md"), str(readme))
    said = (tmp_path / "results.md").read_text()
    assert "## Measured later" in said
    assert "| abc |" in said
    assert "## A table" not in said


def test_a_readme_without_the_place_is_left_alone(report, tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text("nothing\n")
    with pytest.raises(SystemExit, match="no place"):
        TOOL["main"](str(report), str(tmp_path / "results.md"), str(readme))
    assert readme.read_text() == "nothing\n"


def test_means_of_few_labels_are_a_table_of_their_own(report, tmp_path):
    later, readme = tmp_path / "later", tmp_path / "README.md"
    later.mkdir()
    found = json.loads((report / "results.json").read_text())["auto"]
    plot = {"title": "Mean accuracy", "note": "Of news.", "x": "labels", "lines": {"genus": [[5, 60.04], [10, 65]]}}
    plot["lines"]["peer"] = [[10, 70]]
    (later / "results.json").write_text(json.dumps(found | {"experiment": "few", "plots": [plot]}))
    readme.write_text("<!-- written by make results -->\n<!-- end of what make results writes -->\n")
    TOOL["main"](str(report), str(later), str(tmp_path / "results.md"), str(readme))
    said = (tmp_path / "results.md").read_text()
    table = "| labels | 5 | 10 |\n| --- | ---: | ---: |\n| genus | 60.0 | 65.0 |\n| peer |  | 70.0 |\n"
    assert f"Mean accuracy. Of news.\n\n{table}" in said
