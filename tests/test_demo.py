"""The demonstration: real texts, no effects, the same each time."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter

import pytest

from genus.cli import main
from genus.demo import CHAPTERS, MIN_PROBA, REJECT, Demo, documented


@pytest.fixture(scope="module")
def demo() -> Demo:
    return Demo.run()


def test_every_module_has_one_chapter():
    modules = Counter(module for modules in CHAPTERS.values() for module in modules.split())
    assert set(modules.values()) == {1}
    assert set(modules) <= sys.stdlib_module_names


def test_texts_are_many_and_distinct():
    items = documented()
    assert len(items) > 2000
    assert len({item.text for item in items}) == len(items)
    sizes = Counter(item.module for item in items)
    assert len(sizes) > 80
    assert min(sizes.values()) >= 10
    assert max(sizes.values()) == 40


def test_reading_the_texts_imports_nothing_with_effects():
    code = (
        "import sys; from genus.demo import documented; documented()\n"
        "sys.exit(', '.join({'this', 'antigravity', 'tkinter', 'turtle', 'idlelib'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_it_is_far_better_than_guessing(demo):
    assert demo.modules.accuracy > 0.7 > 10 * demo.most_common
    assert demo.chapter_accuracy > demo.modules.accuracy


def test_the_pool_beats_naive_bayes_alone(demo):
    naive_bayes = max(row["accuracy"] for row in demo.leaderboard if row["candidate"] == "naive Bayes")
    pooled = [row for row in demo.leaderboard if row["weight"] > 0]
    assert len(pooled) > 1
    assert demo.modules.accuracy > naive_bayes + 0.05


def test_questions_find_their_modules(demo):
    answers = {why.text: why.label for why in demo.answers}
    assert answers["find the median of a list"] == "mathematics/statistics"
    assert answers["send an email over SMTP"] == "internet protocols/smtplib"
    assert answers["pick a random element"] == "mathematics/random"


def test_a_question_about_none_of_the_modules_is_rejected(demo):
    assert [why.text for why in demo.answers if why.typicality < REJECT] == ["bake a chocolate cake"]


def test_vague_questions_are_answered_higher_up_the_tree(demo):
    answers = {answer.question: answer for answer in demo.node_answers}
    assert answers["parse an xml document"].node == "markup/xml"
    assert answers["logarithm"].node == "mathematics"
    assert all(answer.node_probability >= MIN_PROBA for answer in demo.node_answers)
    assert all(answer.module_probability < MIN_PROBA for answer in demo.node_answers if "/" not in answer.node)


def test_what_is_learned_is_unlearned_without_a_trace(demo):
    done = demo.unlearning
    assert (done.before, done.learned, done.after) == ("none of these", "baking", "none of these")
    assert done.identical


def test_output_fits_80_columns_and_names_real_commands(demo, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(Demo, "run", lambda: demo)
    assert main(["demo"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert max(map(len, out.splitlines())) <= 80
    assert "genus train mail.csv --out mail.genus" in out
    assert f"{demo.modules.accuracy:.1%}" in out


def test_json_is_one_object_and_the_same_on_every_run(demo, capsys):
    assert main(["demo", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(demo.to_dict()))
