"""Writes docs/results.md from a report of `genus reproduce all`: python tools/results.py REPORT docs/results.md."""

from __future__ import annotations

import datetime
import json
import sys
from pathlib import Path
from typing import Any

from genus.experiments._table import NEAR, verdict


def main(report: str, target: str) -> None:
    papers = json.loads((Path(report) / "results.json").read_text("utf-8"))
    minutes = sum(paper["seconds"] for paper in papers.values()) / 60
    used = ", ".join(f"{name} {number}" for name, number in next(iter(papers.values()))["versions"].items())
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    parts = [
        "# The papers, measured again\n",
        f"Written by `make results` on {date} ({used}; {minutes:.0f} minutes of measuring), not by hand."
        f" Scores in per cent; the paper's own in brackets; a figure is the same within {NEAR:g} point.\n",
        *(_paper(paper) for paper in papers.values()),
    ]
    Path(target).write_text("\n".join(parts), encoding="utf-8")


def _paper(paper: dict[str, Any]) -> str:
    rows = [row for row in paper["rows"] if row["cells"]]
    names = list(dict.fromkeys(name for row in rows for name in row["cells"]))
    lines = [f"## {paper['title']}\n", f"{paper['source']}. {paper['metric']}. {paper['protocol']}\n"]
    lines += [_line(["data set", *names, "verdicts"]), _line(["---"] * (len(names) + 2))]
    for row in rows:
        said = [
            verdict(cell["paper"], 100 * cell["score"])
            for cell in row["cells"].values()
            if cell["paper"] is not None and cell["score"] is not None
        ]
        counted = ", ".join(f"{said.count(word)} {word}" for word in ("same", "better", "below") if word in said)
        lines.append(_line([row["name"], *(_score(row["cells"].get(name)) for name in names), counted]))
    absent = [f"{row['name']} ({row['absent']})" for row in paper["rows"] if row["absent"]]
    if absent:
        lines.append(f"\nNot here: {'; '.join(absent)}.")
    return "\n".join(lines) + "\n"


def _score(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return ""
    if cell["score"] is None:
        return "failed"
    ours = f"{100 * cell['score']:.2f}"
    return ours if cell["paper"] is None else f"{ours} ({cell['paper']:.2f})"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


if __name__ == "__main__":
    main(*sys.argv[1:])
