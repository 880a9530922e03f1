"""Trees of classes at the command line: labels as paths, answers at a level, words and their nodes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from genus.cli import main

ROWS = [
    ("animals/cat", "the cat purrs and eats"),
    ("animals/cat", "a cat sleeps and purrs"),
    ("animals/dog", "the dog barks and eats"),
    ("animals/dog", "a dog sleeps and barks"),
    ("cars", "the car drives fast"),
    ("cars", "a fast engine drives"),
]


@pytest.fixture(autouse=True)
def _in_a_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    lines = [json.dumps({"label": label, "text": text}) for label, text in ROWS]
    Path("pets.jsonl").write_text("\n".join(lines))


@pytest.fixture
def model(capsys) -> str:
    assert main(["train", "pets.jsonl", "--out", "pets.genus", "--model", "hm"]) == 0
    capsys.readouterr()
    return "pets.genus"


def as_json(capsys, *args: str):
    assert main([*args, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_labels_that_are_paths_make_a_tree(model, capsys):
    assert as_json(capsys, "predict", model, "-m", "it purrs")["label"] == "animals/cat"
    assert as_json(capsys, "predict", model, "-m", "it eats", "--level", "1")["label"] == "animals"
    unsure = as_json(capsys, "predict", model, "-m", "it eats", "--min-proba", "0.7")
    assert unsure["label"] == "animals"
    assert unsure["probability"] >= 0.7


def test_the_tree_is_shown_with_its_words(model, capsys):
    shown = as_json(capsys, "inspect", model, "--tree", "--words", "2")
    assert shown["parents"] == {"animals": None, "animals/cat": "animals", "animals/dog": "animals", "cars": None}
    assert "cat" in shown["words"]["animals/cat"]
    assert main(["inspect", model, "--tree", "--words", "1"]) == 0
    assert "│   └── animals/dog: " in capsys.readouterr().out


def test_a_word_is_shown_with_its_nodes(model, capsys):
    levels = as_json(capsys, "inspect", model, "--word", "purrs")["levels"]
    assert sum(levels.values()) == pytest.approx(1)
    assert levels["animals/cat"] > levels["(all)"]
    assert main(["inspect", model, "--word", "purrs", "--class", "animals/dog"]) == 0
    shown = capsys.readouterr().out
    assert "animals " in shown
    assert "animals/cat" not in shown


def test_an_explanation_says_where_words_come_from(model, capsys):
    why = as_json(capsys, "explain", model, "it purrs and eats")
    for word in why["words"]:
        assert sum(word["levels"].values()) == pytest.approx(1)
    assert main(["explain", model, "it purrs and eats"]) == 0
    assert " from animals" in capsys.readouterr().out


def test_learned_and_forgotten_by_path(model, capsys):
    Path("more.jsonl").write_text(json.dumps({"label": "plants/tree", "text": "a tree grows"}))
    assert as_json(capsys, "learn", model, "more.jsonl")["new_classes"] == ["plants/tree"]
    assert as_json(capsys, "forget", model, "more.jsonl")["classes_gone"] == ["plants/tree"]


def test_a_tree_from_a_file(capsys):
    Path("tree.json").write_text(json.dumps({"animals": ["animals/cat", "animals/dog", "animals/cow"], "cars": []}))
    assert main(["train", "pets.jsonl", "--out", "m.genus", "--model", "hs", "--tree", "tree.json"]) == 0
    capsys.readouterr()
    assert as_json(capsys, "inspect", "m.genus", "--tree")["parents"]["animals/cow"] == "animals"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (
            ["train", "pets.jsonl", "--out", "m.genus", "--model", "nb", "--tree", "tree.json"],
            "model nb does not use a tree",
        ),
        (["train", "pets.jsonl", "--out", "m.genus", "--model", "hm", "--tree", "no.json"], "no such file"),
        (["train", "pets.jsonl", "--out", "m.genus", "--model", "hm", "--tree", "cycle.json"], "cycle"),
        (["train", "pets.jsonl", "--out", "m.genus", "--model", "hm", "--tree", "small.json"], "not in the tree"),
        (["train", "pets.jsonl", "--out", "m.genus", "--model", "hm", "--set", "weights=free"], "weights must be"),
        (["predict", "nb.genus", "-m", "x", "--level", "1"], "need a model with a tree"),
        (["inspect", "nb.genus", "--tree"], "need a model with a tree"),
        (["predict", "pets.genus", "-m", "x", "--level", "1", "--top", "2"], "cannot be combined with --top"),
        (["inspect", "pets.genus", "--word", "unheard"], "'unheard' is not one word that this model knows"),
        (["inspect", "pets.genus", "--word", "cat", "--class", "cow"], "no class 'cow'"),
    ],
)
def test_wrong_questions_are_answered_in_one_line(model, capsys, args, said):
    assert main(["train", "pets.jsonl", "--out", "nb.genus", "--model", "nb"]) == 0
    Path("tree.json").write_text('{"cars": null}')
    Path("cycle.json").write_text('{"a": "b", "b": "a"}')
    Path("small.json").write_text('{"cars": null}')
    capsys.readouterr()
    assert main(args) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "Traceback" not in error
