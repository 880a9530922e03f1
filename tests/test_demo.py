"""The demonstration: real texts, no effects, the same each time."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter

import pytest

from genus.cli import main
from genus.demo import CHAPTERS, Demo, documented


@pytest.fixture(scope="module")
def demo() -> Demo:
    return Demo.run()


def test_every_module_has_one_chapter():
    modules = Counter(module for modules in CHAPTERS.values() for module in modules.split())
    assert set(modules.values()) == {1}
    assert set(modules) <= sys.stdlib_module_names


def test_texts_are_many_and_distinct():
    items = documented()
    assert len(items) > 3000
    assert len({item.text for item in items}) == len(items)
    sizes = Counter(item.module for item in items)
    assert len(sizes) > 100
    assert min(sizes.values()) >= 5


def test_reading_the_texts_imports_nothing_with_effects():
    code = (
        "import sys; from genus.demo import documented; documented()\n"
        "sys.exit(', '.join({'this', 'antigravity', 'tkinter', 'turtle', 'idlelib'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_it_is_far_better_than_guessing(demo):
    assert demo.modules.accuracy > 0.6 > 5 * demo.most_common
    assert demo.chapters.accuracy > 0.6


def test_questions_find_their_modules(demo):
    answers = {why.text: why.label for why in demo.answers}
    assert answers["find the median of a list"] == "statistics"
    assert answers["send an email over SMTP"] == "smtplib"
    assert answers["pick a random element"] == "random"


def test_it_says_the_same_each_time(demo):
    assert Demo.run().to_dict() == demo.to_dict()


def test_output_fits_80_columns_and_names_real_commands(demo, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["demo"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert max(map(len, out.splitlines())) <= 80
    assert "genus train mail.csv --out mail.genus" in out
    assert f"{demo.modules.accuracy:.1%}" in out


def test_json_is_one_object(demo, capsys):
    assert main(["demo", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(demo.to_dict()))
