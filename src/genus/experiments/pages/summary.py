"""A run as plain values, ready for JSON."""

from __future__ import annotations

import os
from dataclasses import asdict

from genus.experiments.harness.store import code_checksum
from genus.experiments.harness.table import Experiment, Results, versions
from genus.experiments.pages.statements import both, error_reductions, figure, marks, paired_tests, split_tests


def to_dict(experiment: Experiment, results: Results) -> dict[str, object]:
    """The experiment, its results and its statistics."""
    rows = []
    for row in experiment.rows:
        cells = {s: asdict(c) for (r, s), c in results.cells.items() if r == row.name}
        for system, cell in cells.items():
            cell["paper"] = row.paper.get(system)
        rows.append(
            {
                "name": row.name,
                "task": row.task,
                "note": row.note,
                "absent": results.absent.get(row.name),
                "paper": dict(row.paper),
                "sizes": results.sizes(row.name),
                "paper_sizes": row.sizes,
                "cells": cells,
            }
        )
    return {
        "experiment": experiment.name,
        "title": experiment.title,
        "source": experiment.source,
        "metric": experiment.metric,
        "protocol": experiment.protocol,
        "settings": asdict(experiment.settings),
        "versions": versions(),
        "code": code_checksum(),
        "cores": os.cpu_count(),
        "seconds": round(results.seconds, 1),
        "rows": rows,
        "error_reductions": [asdict(e) for e in error_reductions(experiment, results)],
        "tests": {k: [asdict(t) for t in paired_tests(experiment, s)] for k, s in both(experiment, results).items()},
        "split_tests": [asdict(t) for t in split_tests(experiment, results)],
        "figure": {k: [asdict(p) for p in points] for k, points in figure(experiment, results).items()},
        "findings": list(experiment.findings),
        "marks": [[*cell, mark] for cell, mark in marks(experiment, results).items()],
        "plots": [asdict(plot) for plot in experiment.plots(results)],
    }
