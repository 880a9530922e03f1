"""NOTICE names every package that gave text for the table of word vectors, with its licences."""

from __future__ import annotations

import importlib.util
from collections import defaultdict
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "tools" / "distill_corpus.py"
if not CORPUS.is_file():
    pytest.skip("genus is tested without its source tree", allow_module_level=True)


def corpus() -> ModuleType:
    spec = importlib.util.spec_from_file_location("distill_corpus", CORPUS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_notice_names_the_packages_and_their_licences() -> None:
    licences = defaultdict(set)
    for source in corpus().SOURCES:
        if source.registry != "data":
            licences[source.package].add(source.licence)
    rows = [line.strip() for line in (ROOT / "NOTICE").read_text().splitlines() if line.startswith("    ")]
    listed = {package.strip(): set(own.split(", ")) for package, own in (row.rsplit("  ", 1) for row in rows)}
    assert listed == licences
