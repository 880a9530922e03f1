"""Several labels per row, trees and priors at the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from genus.cli import main

WORDS = {"sport": ["match", "goal", "team", "ball"], "money": ["bank", "shares", "profit", "market"], "law": ["court"]}


def rows(n=60, seed=0):
    """Texts with one or two labels, and a few with none."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(n):
        labels = [label for k, label in enumerate(WORDS) if (i >> k) & 1]
        words = [word for label in labels for word in rng.choice(WORDS[label], 2)]
        found.append((" ".join([*words, *rng.choice(["the", "a", "of"], 3)]), labels))
    return found


@pytest.fixture(autouse=True)
def _in_a_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    lines = [json.dumps({"text": text, "labels": labels}) for text, labels in rows()]
    Path("topics.jsonl").write_text("\n".join(lines))
    with Path("topics.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("text", "labels"), *((text, "; ".join(labels)) for text, labels in rows())])


@pytest.fixture
def model(capsys) -> str:
    assert main(["train", "topics.jsonl", "--out", "topics.genus"]) == 0
    capsys.readouterr()
    return "topics.genus"


def as_json(capsys, *args: str):
    assert main([*args, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_lists_and_separated_labels_are_the_same(model, capsys):
    assert main(["train", "topics.csv", "--label-separator", ";", "--out", "csv.genus"]) == 0
    assert "example F1" in capsys.readouterr().out
    answers = [as_json(capsys, "predict", name, "-m", "goal for the bank") for name in (model, "csv.genus")]
    assert answers[0] == answers[1]
    assert set(answers[0]["labels"]) == {"sport", "money"}
    assert answers[0]["probabilities"] == sorted(answers[0]["probabilities"], reverse=True)


def test_each_text_is_shown_with_its_labels(model, capsys):
    assert main(["predict", model, "-m", "goal for the bank", "-m", "court"]) == 0
    head, both, one = capsys.readouterr().out.splitlines()
    assert head.split() == ["row", "labels", "text"]
    assert "sport " in both
    assert "money " in both
    assert "law" in one
    assert len(as_json(capsys, "predict", model, "-m", "court", "--top", "2")["top"]) == 2


def test_sets_are_measured(model, capsys):
    result = as_json(capsys, "evaluate", model, "topics.csv", "--label-separator", ";")
    assert result["documents"] == 60
    for measure in ("precision_at_1", "micro_f1", "example_f1", "macro_f1"):
        assert 0.9 < result[measure] <= 1
    assert {s["label"] for s in result["labels"]} == set(WORDS)
    assert main(["evaluate", model, "topics.jsonl"]) == 0
    shown = capsys.readouterr().out
    assert "P@1" in shown
    assert "example F1" in shown


def test_labels_that_a_model_does_not_know_are_missed(model, capsys):
    Path("new.jsonl").write_text('{"text": "goal goal team", "labels": ["sport", "news"]}')
    result = as_json(capsys, "evaluate", model, "new.jsonl")
    assert {s["label"]: s["recall"] for s in result["labels"]} == {"sport": 1.0, "news": 0.0}


def test_a_label_is_explained_and_the_model_shown(model, capsys):
    why = as_json(capsys, "explain", model, "goal for the bank", "--label", "money")
    assert why["label"] == "money"
    assert why["against"] == "not money"
    assert "bank" in {word["word"] for word in why["words"] if word["contribution"] > 0}
    assert main(["inspect", model]) == 0
    shown = capsys.readouterr().out
    assert "a margin for each label" in shown
    assert "the nearest texts" in shown


def test_sets_are_searched_for_a_stated_objective(capsys):
    found = as_json(capsys, "tune", "topics.jsonl", "--objective", "macro_f1", "--time-budget", "5")
    assert {"example_f1", "micro_f1", "macro_f1"} <= found["leaderboard"][0].keys()


def test_a_tree_and_priors_are_for_auto_too(capsys):
    texts = [{"text": text, "label": labels[0]} for text, labels in rows() if len(labels) == 1]
    Path("one.jsonl").write_text("\n".join(map(json.dumps, texts)))
    Path("tree.json").write_text('{"sport": "leisure", "money": "work", "law": "work"}')
    prior = '{"sport": 0.1, "money": 0.1, "law": 0.8}'
    assert main(["train", "one.jsonl", "--out", "m.genus", "--tree", "tree.json", "--class-prior", prior]) == 0
    capsys.readouterr()
    assert as_json(capsys, "predict", "m.genus", "-m", "of")["label"] == "law"
    assert as_json(capsys, "predict", "m.genus", "-m", "court bank", "--level", "1")["label"] == "work"
    assert as_json(capsys, "inspect", "m.genus", "--tree")["parents"]["law"] == "work"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["train", "topics.jsonl", "--out", "m", "--model", "nb"], "rows with several labels need --model auto"),
        (["train", "topics.csv", "--label-separator", "", "--out", "m"], "labels cannot be separated by nothing"),
        (["train", "topics.jsonl", "--out", "m", "--class-prior", "uniform"], "class_prior is for one label per text"),
        (["train", "topics.jsonl", "--out", "m", "--class-prior", "half"], "neither learned, uniform nor JSON"),
        (["train", "topics.jsonl", "--out", "m", "--objective", "log_loss"], "objective must be one of"),
        (["train", "one.csv", "--out", "m", "--model", "nb", "--class-prior", "uniform"], "needs --model auto"),
        (["train", "one.csv", "--out", "m", "--class-prior", '{"a": 0.5, "b": 0.2}'], "add up to 1, got 0.7"),
        (["learn", "topics.genus", "topics.jsonl"], "row 1 has 0 labels: this takes one label per row"),
        (["evaluate", "one.genus", "topics.jsonl"], "row 1 has 0 labels: this takes one label per row"),
        (["evaluate", "topics.genus", "topics.jsonl", "--report", "r.html"], "--report does not support multilabel"),
        (["predict", "topics.genus", "-m", "x", "--reject", "0.05"], "empty set of labels"),
        (["predict", "topics.genus", "-m", "x", "--level", "1"], "need a model with a tree"),
    ],
)
def test_bad_input_is_one_line(model, capsys, args, said):
    Path("one.csv").write_text("text,label\ngoal team,a\nbank market,b\ngoal goal,a\nbank bank,b\n")
    assert main(["train", "one.csv", "--out", "one.genus"]) == 0
    capsys.readouterr()
    assert main(args) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "Traceback" not in error
