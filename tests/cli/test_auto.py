"""The commands that choose a model, and what the others do with one that was chosen."""

import json
from pathlib import Path

import pytest

from genus import TextClassifier, Vectorizer
from genus.cli import main
from helpers.commands import as_json, refused, write_csv
from helpers.tickets import tickets


@pytest.fixture(autouse=True)
def _in_a_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("GENUS_DEBUG", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def data() -> str:
    return write_csv("tickets.csv", [("label", "text"), *zip(*reversed(tickets(60)), strict=True)])


@pytest.fixture
def model(data, capsys) -> str:
    assert main(["train", data, "--out", "tickets.genus"]) == 0
    capsys.readouterr()
    return "tickets.genus"


def test_train_shows_what_was_chosen(data, capsys):
    assert main(["train", data, "--out", "m.genus"]) == 0
    out = capsys.readouterr().out
    assert "log loss" in out
    assert "refined" in out


def test_train_takes_an_objective_and_a_budget(data):
    assert main(["train", data, "-o", "m.genus", "--objective", "log_loss", "--time-budget", "5"]) == 0
    clf = TextClassifier.load("m.genus")
    assert (clf.objective, clf.time_budget) == ("log_loss", 5)


def test_train_learns_from_texts_without_labels(data):
    Path("more.txt").write_text("\n".join(tickets(80, seed=3)[0]), "utf-8")
    assert main(["train", data, "-o", "m.genus", "--unlabeled", "more.txt"]) == 0
    board = TextClassifier.load("m.genus").leaderboard_
    assert any("unlabeled texts" in row["candidate"] for row in board)


def test_train_with_a_setting_is_naive_bayes(data):
    assert main(["train", data, "-o", "m.genus", "--alpha", "0.1"]) == 0
    assert TextClassifier.load("m.genus").model_.alpha == 0.1


def test_train_reads_texts_as_it_is_told(data):
    assert main(["train", data, "-o", "m.genus", "--ngrams", "1-2"]) == 0
    readers = [member.vectorizer for member in TextClassifier.load("m.genus").model_.members]
    assert all(reader.ngram_range == (1, 2) for reader in readers if isinstance(reader, Vectorizer))
    assert any(isinstance(reader, Vectorizer) for reader in readers)


def test_tune_prints_the_leaderboard_and_writes_the_model(data, capsys):
    found = as_json(capsys, "tune", data, "--out", "best.genus", "--time-budget", "20")
    assert found["documents"] == 60
    assert found["cut_short"] is False
    assert sum(row["weight"] > 0 for row in found["leaderboard"]) >= 1
    assert TextClassifier.load("best.genus").leaderboard_ == found["leaderboard"]
    assert main(["tune", data, "--time-budget", "0.001"]) == 0
    assert "not every candidate was tried" in capsys.readouterr().out


def test_inspect_shows_the_members(model, capsys):
    about = as_json(capsys, "inspect", model)
    assert about["model"] == "Pool"
    assert sum(entry["documents"] for entry in about["classes"]) == 60
    assert len(about["members"]) == len(TextClassifier.load(model).model_.members)
    assert main(["inspect", model]) == 0
    assert "member" in capsys.readouterr().out


def test_a_chosen_model_learns_and_forgets(model, capsys):
    write_csv("more.csv", [("label", "text"), ("shipping", "where is my parcel"), ("shipping", "parcel is late")])
    texts, _ = tickets(20, seed=4)
    before = TextClassifier.load(model).predict_proba(texts)
    assert as_json(capsys, "learn", model, "more.csv")["new_classes"] == ["shipping"]
    assert as_json(capsys, "predict", model, "-m", "the parcel")["label"] == "shipping"
    assert as_json(capsys, "forget", model, "more.csv")["classes_gone"] == ["shipping"]
    assert TextClassifier.load(model).predict_proba(texts) == pytest.approx(before, abs=1e-6)


def test_predict_refuses_strangers(model, capsys):
    assert (
        main(["predict", model, "-m", "goal match referee", "-m", "my invoice again", "--reject", "0.05", "--json"])
        == 0
    )
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [answer["label"] for answer in answers] == [None, "billing"]
    assert main(["predict", model, "-m", "goal match referee", "--reject", "0.05"]) == 0
    assert " -  " in capsys.readouterr().out


def test_explain_and_evaluate(model, data, capsys):
    told = as_json(capsys, "explain", model, "goal match referee")
    assert told["typicality"] < 0.05
    result = as_json(capsys, "evaluate", model, data)
    assert result["accuracy"] > 0.9
    assert result["calibration_error"] < 0.2


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["train", "tickets.csv", "-o", "m.genus", "--model", "auto", "--alpha", "1"], "auto chooses"),
        (["train", "tickets.csv", "-o", "m.genus", "--model", "nb", "--unlabeled", "tickets.csv"], "need --model auto"),
        (["train", "tickets.csv", "-o", "m.genus", "--time-budget", "0"], "--time-budget"),
        (["train", "tickets.csv", "-o", "m.genus", "--objective", "f3"], "--objective"),
        (["tune", "tickets.csv", "--unlabeled", "nowhere.txt"], "nowhere.txt"),
        (["tune", "nowhere.csv"], "nowhere.csv"),
        (["tune", "one.csv"], "every row has the label"),
        (["tune", "empty.csv"], "Empty vocabulary"),
        (["tune", "tickets.csv", "--out", "no/such/folder.genus"], "folder no/such does not exist"),
    ],
)
def test_bad_input_is_one_line(data, capsys, args, said):
    write_csv("one.csv", [("label", "text"), ("a", "some text"), ("a", "more text")])
    write_csv("empty.csv", [("label", "text"), ("a", "."), ("b", ".")])
    assert said in refused(capsys, *args)


def test_only_a_chosen_model_refuses(data, capsys):
    assert main(["train", data, "-o", "nb.genus", "--model", "nb"]) == 0
    capsys.readouterr()
    assert main(["predict", "nb.genus", "-m", "text", "--reject", "0.1"]) == 2
    assert "auto" in capsys.readouterr().err
