"""The papers' tables, regenerated: one module for each paper, each with a function ``experiment(quick)``."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from genus.experiments.harness.table import Experiment

PAPERS = ("tdm", "dmnb", "rtm", "hier", "nlhb", "auto", "few")


def experiment(paper: str, *, quick: bool = False) -> Experiment:
    """The experiment of a paper; `quick` for fewer data sets and a smaller search."""
    made: Experiment = import_module(f"genus.experiments.papers.{paper}").experiment(quick)
    return made
