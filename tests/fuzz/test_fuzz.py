"""A few mutated files of each kind, the same in every run; and every file that once was a finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.cases import Case, all_bases, run
from genus import TextClassifier
from genus.io import load

FINDINGS = Path(__file__).parent / "findings"


@pytest.mark.parametrize("base", all_bases())
@pytest.mark.slow
def test_mutated_files_are_refused_clearly_or_work(base):
    found = {finding for seed in range(6) for finding in run(base, Case(base, seed).content())}
    assert found == set()


@pytest.mark.parametrize("path", sorted(FINDINGS.iterdir()), ids=lambda path: path.name)
def test_what_was_found_once_stays_mended(path):
    base = "".join(path.suffixes) if path.suffix != ".genus" else "nb.genus"
    assert run(base, path.read_bytes()) == []


def test_a_file_that_was_not_mutated_has_no_findings():
    for base in all_bases():
        if base.endswith(".genus"):
            path = Path(__file__).parents[1] / "golden" / base
            assert isinstance(load(path), TextClassifier)
            assert run(base, path.read_bytes()) == []


def test_a_crash_or_an_unclear_error_would_be_a_finding(monkeypatch):
    def stumble(clf: TextClassifier) -> None:
        raise IndexError("index 7 is out of bounds")

    monkeypatch.setattr("fuzz.model_files.QUESTIONS", [stumble])
    path = Path(__file__).parents[1] / "golden" / "format-1.genus"
    assert len(run("format-1.genus", path.read_bytes())) == 1
