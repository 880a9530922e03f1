"""What commands print, and the files they read."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from genus.cli import main


def as_json(capsys, *args: str):
    assert main([*args, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys, *args: str) -> str:
    """The one line with which a command refuses its input, changing nothing."""
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    assert main(args) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("genus: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before
    return err


def write_csv(name: str, rows) -> str:
    with open(name, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return name
