"""Writes docs/results.md, and the README's table of accuracies, from reports of `genus reproduce`.

python tools/results.py REPORT... docs/results.md README.md

A paper that several reports have is taken from the last of them.
"""

from __future__ import annotations

import datetime
import json
import re
import sys
from pathlib import Path
from statistics import mean, median
from typing import Any

from genus.experiments.harness.table import NEAR, verdict

BETWEEN = re.compile(
    r"(?<=<!-- written by make results -->\n).*?(?=<!-- end of what make results writes -->)", re.DOTALL
)

WITH_MEANS = ("few",)  # experiments whose plots are shown as tables


def main(*paths: str) -> None:
    *reports, results, readme = paths
    papers: dict[str, Any] = {}
    for report in reports:
        found = json.loads((Path(report) / "results.json").read_text("utf-8"))
        papers |= {found["experiment"]: found} if "experiment" in found else found  # of one paper, or of all
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    Path(results).write_text(results_page(papers, date), encoding="utf-8")
    page = Path(readme).read_text("utf-8")
    if not BETWEEN.search(page):
        sys.exit(f"{readme} has no place for the table")
    Path(readme).write_text(BETWEEN.sub(lambda _: comparison(papers["auto"], date), page), encoding="utf-8")


def results_page(papers: dict[str, Any], date: str) -> str:
    first = next(iter(papers.values()))
    run = first["run"]
    commands = " and ".join(f"`{c}`" for c in dict.fromkeys(paper["run"]["command"] for paper in papers.values()))
    parts = [
        "# The papers' tables, reproduced\n",
        f"Written by `tools/results.py` on {date} from reports of genus {first['versions']['genus']}, not by hand. "
        f'Scores in percent, the published ones in brackets, ± standard deviations over splits; "same" means '
        f"within {NEAR:g} point. • worse, ◦ better than the paper's system by the corrected resampled t-test over "
        f"splits, p < .05.\n",
        f"{commands}: {_minutes(papers.values())} minutes, summed over cells. {run['machine']}. "
        f"{run['software'].partition(';')[0]}; the sources of each table are named by their checksum.\n",
        _overview(papers),
        *(_paper(paper) for paper in papers.values()),
    ]
    return "\n".join(parts)


def _overview(papers: dict[str, Any]) -> str:
    columns = ["", "same", "better", "below", "failed", "sets absent", "minutes", "sources"]
    lines = [_line(columns), _line(["---"] * len(columns))]
    for paper in papers.values():
        said = [word for row in paper["rows"] for word in _verdicts(row)]
        failed = sum(cell["error"] is not None for row in paper["rows"] for cell in row["cells"].values())
        absent = sum(row["absent"] is not None for row in paper["rows"])
        counts = [said.count("same"), said.count("better"), said.count("below"), failed, absent, _minutes([paper])]
        lines.append(_line([paper["title"], *map(str, counts), paper["code"]]))
    return "\n".join(lines) + "\n"


def _paper(paper: dict[str, Any]) -> str:
    rows = [row for row in paper["rows"] if row["cells"]]
    names = list(dict.fromkeys(name for row in rows for name in row["cells"]))
    marks = {(row, system): mark for row, system, mark in paper["marks"]}
    lines = [f"## {paper['title']}\n", f"{paper['source']}. {paper['metric']}. {paper['protocol']}\n"]
    lines += [_line(["data set", *names, "verdicts"]), _line(["---"] * (len(names) + 2))]
    for row in rows:
        said = _verdicts(row)
        counted = ", ".join(f"{said.count(word)} {word}" for word in ("same", "better", "below") if word in said)
        scores = [_score(row["cells"].get(name), marks.get((row["name"], name), "")) for name in names]
        lines.append(_line([row["name"], *scores, counted]))
    if paper["experiment"] in WITH_MEANS:
        lines += [line for plot in paper["plots"] for line in _means(plot)]
    tests = _tests(paper)
    if tests:
        lines.append("\nPaired t-tests over data sets, one-sided: " + "; ".join(tests) + ".")
    absent = [f"{row['name']} ({row['absent']})" for row in paper["rows"] if row["absent"]]
    if absent:
        lines.append(f"\nData sets not available: {'; '.join(absent)}.")
    if paper["findings"]:
        lines.append("\nWhat differs from the paper, and why:\n")
        lines += [f"- {finding}" for finding in paper["findings"]]
    return "\n".join(lines) + "\n"


def _means(plot: dict[str, Any]) -> list[str]:
    """A plot of few points as a table: a line for each system."""
    sizes = sorted({x for line in plot["lines"].values() for x, _ in line})
    lines = [f"\n{plot['title']}. {plot['note']}\n", _line([plot["x"], *(f"{x:g}" for x in sizes)])]
    lines.append(_line(["---", *["---:"] * len(sizes)]))
    for name, points in plot["lines"].items():
        values = {x: f"{y:.1f}" for x, y in points}
        lines.append(_line([name, *(values.get(x, "") for x in sizes)]))
    return lines


def _verdicts(row: dict[str, Any]) -> list[str]:
    cells = [cell for cell in row["cells"].values() if cell["paper"] is not None and cell["score"] is not None]
    return [verdict(cell["paper"], 100 * cell["score"]) for cell in cells]


def _score(cell: dict[str, Any] | None, mark: str) -> str:
    if cell is None:
        return ""
    if cell["score"] is None:
        return "failed"
    spread = "" if cell["spread"] is None else f" ± {100 * cell['spread']:.2f}"
    paper = "" if cell["paper"] is None else f" ({cell['paper']:.2f})"
    return f"{100 * cell['score']:.2f}{mark}{spread}{paper}"


def _tests(paper: dict[str, Any]) -> list[str]:
    return [
        f"{t['first']} - {t['second']} {t['difference']:+.2f} (p {t['p']:.3f}, {t['n']} sets)"
        for t in paper["tests"]["genus"]
    ]


def _minutes(papers: Any) -> int:
    return round(sum(paper["seconds"] for paper in papers) / 60)


def comparison(auto: dict[str, Any], date: str) -> str:
    """The README's table: means of accuracies, ranks, wins and times of `TextClassifier()` and its peers."""
    names = list(dict.fromkeys(name for row in auto["rows"] for name in row["cells"]))
    whole = [row for row in auto["rows"] if row["task"] == "all documents" and _all_scored(row, names)]
    few: dict[str, list[dict[str, Any]]] = {}
    for row in auto["rows"]:
        if row["task"] != "all documents" and _all_scored(row, names):
            few.setdefault(row["name"].rpartition(", ")[2], []).append(row)
    lines = [_line(["", *names]), _line(["---", *["---:"] * len(names)])]
    groups = {f"mean accuracy, {len(whole)} sets": whole}
    groups |= {f"{kind}, {len(rows)} sets": rows for kind, rows in few.items()}
    for title, rows in groups.items():
        if rows:
            means = {name: mean(100 * row["cells"][name]["score"] for row in rows) for name in names}
            best = max(means.values())
            lines.append(_line([title, *(f"**{m:.2f}**" if m == best else f"{m:.2f}" for m in means.values())]))
    if whole:
        ranks = {name: mean(_rank(row, name) for row in whole) for name in names}
        lines.append(_line(["mean rank", *(f"{ranks[name]:.2f}" for name in names)]))
        behind = [min(_lead(row, name) for row in whole) for name in names]
        lines.append(_line(["worst-case gap to the best rival", *(f"{points:+.2f}" for points in behind)]))
        wins = [sum(_beats(row, names[0], name) for row in whole) for name in names]
        lines.append(
            _line([f"data sets on which {names[0]} is better", "", *(f"{n} of {len(whole)}" for n in wins[1:])])
        )
        times = [median(row["cells"][name]["fit_seconds"] for row in whole) for name in names]
        lines.append(_line(["median seconds to train, selection included", *(f"{seconds:.1f}" for seconds in times)]))
    note = f"({date}, genus {auto['versions']['genus']}. {auto['run']['machine']}. All sets: docs/results.md.)"
    return "\n".join(lines) + f"\n\n{note}\n"


def _all_scored(row: dict[str, Any], names: list[str]) -> bool:
    return bool(names) and all(name in row["cells"] and row["cells"][name]["score"] is not None for name in names)


def _rank(row: dict[str, Any], name: str) -> int:
    return 1 + sum(_beats(row, other, name) for other in row["cells"])


def _lead(row: dict[str, Any], name: str) -> float:
    """By how many points a system is ahead of all others."""
    return float(100 * (row["cells"][name]["score"] - max(c["score"] for n, c in row["cells"].items() if n != name)))


def _beats(row: dict[str, Any], first: str, second: str) -> bool:
    return bool(row["cells"][first]["score"] > row["cells"][second]["score"] + 1e-9)


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


if __name__ == "__main__":
    main(*sys.argv[1:])
