"""The command line: what it prints, what it refuses, and what it leaves on the disk."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from genus import TextClassifier
from genus.cli import _COMMANDS, main
from helpers.commands import as_json, refused, write_csv

ROWS = [
    ("spam", "win cash now, claim your prize"),
    ("spam", "free entry, call to claim cash"),
    ("spam", "urgent prize waiting, call now"),
    ("spam", "claim free ringtones now"),
    ("ham", "see you at lunch tomorrow"),
    ("ham", "are you home for dinner"),
    ("ham", "call me when you are at home"),
    ("ham", "lunch at noon, see you there"),
]
GENUS = [sys.executable, "-m", "genus.cli"]


@pytest.fixture(autouse=True)
def _no_debugging(monkeypatch, tmp_path):
    monkeypatch.delenv("GENUS_DEBUG", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def mail(tmp_path) -> str:
    return write_csv("mail.csv", [("label", "text"), *ROWS])


@pytest.fixture
def model(mail, capsys) -> str:
    assert main(["train", mail, "--model", "nb", "--out", "mail.genus"]) == 0
    capsys.readouterr()
    return "mail.genus"


# ---------------------------------------------------------------- help


HEAVY = {"numpy", "scipy", "sklearn", "rich"}


def imported_by(*commands: list[str], code: int) -> str:
    """Which of the heavy modules a new interpreter has imported after these commands."""
    program = (
        f"import sys; from genus.cli import main; codes = {{main(args) for args in {commands!r}}}\n"
        f"assert codes == {{{code}}}, codes; sys.exit(', '.join({HEAVY!r} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    return done.stderr.splitlines()[-1] if done.returncode else ""


def test_help_imports_neither_numpy_nor_sklearn():
    assert imported_by(["--help"], ["train", "--help"], code=0) == ""


def test_what_is_wrong_is_said_before_numpy_and_sklearn_are_imported(model, mail):
    Path("empty.csv").touch()
    Path("broken.json").write_text("{")
    train = ["train", mail, "--out", "m.genus"]
    for_model = [
        ["predict", "-m", "x"], ["evaluate", mail], ["explain", "x"], ["inspect"], ["mark", mail], ["learn", mail],
        ["forget", mail],
    ]  # fmt: skip
    wrong = [
        ["train", "missing.csv", "--out", "m.genus"],
        ["train", "empty.csv", "--out", "m.genus"],
        ["train", "dataset:missing", "--out", "m.genus"],
        ["tune", "missing.csv"],
        [*train, "--text", "body"],
        [*train, "--format", "xls"],
        [*train, "--encoding", "utf-99"],
        [*train, "--unlabeled", "missing.txt"],
        [*train, "--tree", "missing.json"],
        [*train, "--tree", "broken.json"],
        [*train, "--stop-words", "missing.txt"],
        [*train, "--set", "alpha"],
        [*train, "--fast"],
        ["train", mail, "--out", "no/m.genus"],
        *([name, "missing.genus", *rest] for name, *rest in for_model),
        *([name, mail, *rest] for name, *rest in for_model),  # not a model
        *([name, model, "missing.csv"] for name in ("predict", "evaluate", "mark", "learn", "forget")),
        ["evaluate", model, mail, "--report", "no/page.html"],
        ["explain", model, "x", "--html", "no/page.html"],
        ["predict", model],
        ["forget", model],
        ["data", "show", "missing"],
        ["reproduce", "tdm", "--data", "missing"],
    ]
    assert imported_by(*wrong, code=2) == ""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_read_once(mail):
    os.mkfifo("pipe.csv")
    command = [*GENUS, "train", "pipe.csv", "--model", "nb", "--out", "m.genus", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        Path("pipe.csv").write_bytes(Path(mail).read_bytes())
        assert json.loads(process.communicate()[0])["documents"] == len(ROWS)


@pytest.mark.parametrize("command", _COMMANDS)
def test_every_command_has_help_that_fits_a_terminal(command, capsys):
    assert main([command, "--help"]) == 0
    out = capsys.readouterr().out
    assert f"genus {command} " in out.replace("Usage:", "")
    assert max(map(len, out.splitlines())) <= 80


def test_no_arguments_show_the_help(capsys):
    assert main([]) == 0
    out = capsys.readouterr().out
    assert "Commands:" in out
    assert max(map(len, out.splitlines())) <= 80


def test_version(capsys):
    import genus

    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"genus {genus.__version__}\n"


# ---------------------------------------------------------------- train


def test_train_says_what_it_learned_and_what_to_do_next(mail, capsys):
    assert main(["train", mail, "--out", "mail.genus"]) == 0
    out = capsys.readouterr().out
    assert "trained on 8 documents in 2 classes" in out
    assert "genus predict mail.genus" in out
    assert TextClassifier.load("mail.genus").predict(["claim cash"]).tolist() == ["spam"]


def test_train_options_reach_model_and_vectorizer(mail, capsys):
    options = [
        "--alpha",
        "0.1",
        "--ngrams",
        "1-2",
        "--edges",
        "--stemmer",
        "english",
        "--min-df",
        "2",
        "--set",
        "prior_scale=0",
    ]
    made = as_json(capsys, "train", mail, "--out", "m.genus", *options)
    clf = TextClassifier.load("m.genus")
    assert (clf.model_.alpha, clf.model_.prior_scale) == (0.1, 0)
    vectorizer = clf.vectorizer_
    assert (vectorizer.ngram_range, vectorizer.edges) == ((1, 2), True)
    assert (vectorizer.stemmer, vectorizer.min_df) == ("english", 2)
    assert made["documents"] == 8
    assert made["classes"] == {"ham": 4, "spam": 4}
    assert made["words"] == vectorizer.n_columns_


def test_train_defaults_are_those_of_the_library(mail, model):
    texts, labels = [text for _, text in ROWS], [label for label, _ in ROWS]
    there = TextClassifier.load(model).predict_log_proba(texts)
    assert (there == TextClassifier("nb").fit(texts, labels).predict_log_proba(texts)).all()
    assert main(["train", mail, "--out", "auto.genus"]) == 0
    there = TextClassifier.load("auto.genus").predict_log_proba(texts)
    assert (there == TextClassifier().fit(texts, labels).predict_log_proba(texts)).all()


def test_train_reads_standard_input(mail):
    lines = "".join(json.dumps({"label": label, "text": text}) + "\n" for label, text in ROWS)
    done = subprocess.run(
        [*GENUS, "train", "-", "-o", "m.genus"], input=lines, text=True, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(TextClassifier.load("m.genus").classes_) == 2


def test_train_leaves_out_words_of_a_file(mail):
    Path("stop.txt").write_text("call\nnow\n")
    assert main(["train", mail, "--out", "m.genus", "--stop-words", "stop.txt"]) == 0
    assert "call" not in TextClassifier.load("m.genus").vectorizer_.vocabulary_


# ---------------------------------------------------------------- predict


def test_predictions_keep_order_row_and_id(model, capsys):
    write_csv("new.csv", [("id", "text"), *((f"k{i}", text) for i, (_, text) in enumerate(ROWS))])
    assert main(["predict", model, "new.csv", "--json"]) == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(a["row"], a["id"]) for a in answers] == [(i + 2, f"k{i}") for i in range(len(ROWS))]
    clf = TextClassifier.load(model)
    texts = [text for _, text in ROWS]
    assert [a["label"] for a in answers] == clf.predict(texts).tolist()
    assert [a["probability"] for a in answers] == pytest.approx(clf.predict_proba(texts).max(axis=1).tolist())


def test_rows_in_several_chunks_are_numbered_on(model, capsys):
    write_csv("many.csv", [("text",), *[("claim cash",), ("see you",)] * 10_001])
    assert main(["predict", model, "many.csv", "--json"]) == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [a["row"] for a in answers] == list(range(2, 20_004))
    assert {a["label"] for a in answers[::2]} == {"spam"}


def test_proba_gives_every_class(model, capsys):
    answer = as_json(capsys, "predict", model, "--message", "call me now", "--proba")
    assert sum(answer["probabilities"].values()) == pytest.approx(1)
    assert set(answer["probabilities"]) == {"ham", "spam"}


def test_top_gives_the_best_first(model, capsys):
    answer = as_json(capsys, "predict", model, "-m", "claim cash", "--top", "5")
    assert [pair["label"] for pair in answer["top"]] == ["spam", "ham"]


def test_people_get_a_line_per_row(model, mail, capsys):
    assert main(["predict", model, mail]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["row", "label", "prob", "text"]
    assert [line.split()[1] for line in lines] == [label for label, _ in ROWS]
    assert all(line.endswith(text) for line, (_, text) in zip(lines, ROWS, strict=True))


def test_plain_lines_from_standard_input(model):
    done = subprocess.run(
        [*GENUS, "predict", model, "-", "--format", "text", "--json"],
        input="claim cash\nsee you at lunch\n", text=True, capture_output=True, check=True,
    )  # fmt: skip
    assert [json.loads(line)["label"] for line in done.stdout.splitlines()] == ["spam", "ham"]


def test_a_reader_that_leaves_early_is_no_error(model):
    write_csv("many.csv", [("text",), *[("claim cash " * 20,)] * 20_000])
    for args in (["predict", model, "many.csv"], ["predict", model, "many.csv", "--json"]):
        with subprocess.Popen([*GENUS, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait(timeout=60) == 0


def test_progress_on_a_terminal_leaves_standard_output_alone(model, mail):
    ours, theirs = os.openpty()
    at_once = "import sys, genus.cli, genus.cli._output as show; show.DELAY = 0; sys.exit(genus.cli.main())"
    with open("answers.jsonl", "wb") as answers:
        command = [sys.executable, "-c", at_once, "predict", model, mail, "--json"]
        subprocess.run(command, stdout=answers, stderr=theirs, check=True)
    os.close(theirs)
    shown = os.read(ours, 100_000)
    os.close(ours)
    lines = Path("answers.jsonl").read_text().splitlines()
    assert [json.loads(line)["row"] for line in lines] == list(range(2, 2 + len(ROWS)))
    assert b"classifying mail.csv" in shown
    assert b"label" not in shown


# ---------------------------------------------------------------- evaluate, explain, inspect


def test_evaluate_reports_in_three_forms(model, capsys):
    write_csv("test.csv", [("label", "text"), ("spam", "claim cash"), ("ham", "see you"), ("ham", "free cash")])
    result = as_json(capsys, "evaluate", model, "test.csv", "--report", "page.html")
    assert result["accuracy"] == pytest.approx(2 / 3)
    assert [(m["row"], m["truth"], m["predicted"]) for m in result["mistakes"]] == [(4, "ham", "spam")]
    assert "free cash" in Path("page.html").read_text()
    assert main(["evaluate", model, "test.csv"]) == 0
    out = capsys.readouterr().out
    assert "0.6667" in out
    assert "ham predicted as spam" in out


def test_labels_unknown_to_the_model_are_counted(model, capsys):
    write_csv("test.csv", [("label", "text"), ("spam", "claim cash"), ("news", "see you")])
    assert main(["evaluate", model, "test.csv"]) == 0
    assert "1 document with labels unknown to the model" in capsys.readouterr().out


def test_explanation_adds_up(model, capsys):
    why = as_json(capsys, "explain", model, "claim your cash, see you", "--against", "ham", "--label", "spam")
    assert (why["label"], why["against"]) == ("spam", "ham")
    parts = why["prior"] + sum(word["contribution"] for word in why["words"])
    assert parts == pytest.approx(why["log_odds"])
    assert main(["explain", model, "claim cash", "--html", "why.html"]) == 0
    assert "claim" in Path("why.html").read_text()


def test_inspect_shows_settings_classes_and_words(model, capsys):
    about = as_json(capsys, "inspect", model, "--words", "3")
    assert (about["model"], about["documents"], about["n_classes"]) == ("MultinomialNB", 8, 2)
    assert [len(entry["words"]) for entry in about["classes"]] == [3, 3]
    receipt = TextClassifier.load(model).receipt_
    assert about["receipt"] == {"documents": 8, "sum": str(receipt)}
    assert main(["inspect", model]) == 0
    assert str(receipt) in capsys.readouterr().out
    assert main(["inspect", model, "--class", "spam"]) == 0
    out = capsys.readouterr().out
    assert "claim" in out
    assert "ham" not in out


def test_models_with_numbers_for_labels_are_served(capsys):
    texts = [text for _, text in ROWS]
    TextClassifier("nb").fit(texts, [int(label == "spam") for label, _ in ROWS]).save("n.genus")
    write_csv("n.csv", [("label", "text"), ("1", "claim cash"), ("0", "see you")])
    assert as_json(capsys, "evaluate", "n.genus", "n.csv")["accuracy"] == 1
    assert as_json(capsys, "learn", "n.genus", "n.csv")["documents"] == 10
    assert as_json(capsys, "explain", "n.genus", "cash", "--label", "0")["label"] == 0
    write_csv("n.csv", [("label", "text"), ("many", "claim cash")])
    assert "labels are integers" in refused(capsys, "learn", "n.genus", "n.csv")


# ---------------------------------------------------------------- learn, forget


def test_documents_are_forgotten_by_number(mail, capsys):
    as_json(capsys, "train", mail, "--out", "t.genus", "--model", "tdm")
    gone = as_json(capsys, "forget", "t.genus", "--document", "0", "--document", "2")
    assert (gone["forgot"], gone["documents"]) == (2, len(ROWS) - 2)
    assert "There is no document 99" in refused(capsys, "forget", "t.genus", "--document", "99")
    assert "Give the examples to forget" in refused(capsys, "forget", "t.genus")


def test_forgetting_what_was_learned_gives_the_same_counts(model, capsys):
    texts = [text for _, text in ROWS]
    before = TextClassifier.load(model)
    write_csv("more.csv", [("label", "text"), ("news", "rain tomorrow"), ("ham", "at home")])
    learned = as_json(capsys, "learn", model, "more.csv")
    assert (learned["learned"], learned["new_classes"], learned["new_words"]) == (2, ["news"], 1)
    assert TextClassifier.load(model).classes_.tolist() == ["ham", "news", "spam"]
    gone = as_json(capsys, "forget", model, "more.csv")
    assert (gone["forgot"], gone["classes_gone"], gone["documents"]) == (2, ["news"], 8)
    after = TextClassifier.load(model)
    assert after.predict(texts).tolist() == before.predict(texts).tolist()
    assert (
        after.model_.feature_count_[:, : before.model_.n_features_in_].tolist() == before.model_.feature_count_.tolist()
    )


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("spam", "see you at lunch tomorrow"),
        ("news", "claim cash"),
        ("spam", "claim cash zebra"),
        ("spam", "claim " * 9),
    ],
)
def test_what_was_never_learned_is_not_forgotten(model, capsys, label, text):
    write_csv("never.csv", [("label", "text"), ROWS[0], (label, text)])
    assert "nothing was changed" in refused(capsys, "forget", model, "never.csv")


# ---------------------------------------------------------------- data sets


@pytest.fixture
def sets(tmp_path, monkeypatch) -> None:
    folder = tmp_path / "sets" / "mail"
    folder.mkdir(parents=True)
    lines = [json.dumps({"label": label, "text": text}) for label, text in ROWS]
    (folder / "train.jsonl").write_text("\n".join(lines[::2]))
    (folder / "test.jsonl").write_text("\n".join(lines[1::2]))
    tags = tmp_path / "sets" / "tags"
    tags.mkdir()
    (tags / "all.jsonl").write_text('{"text": "a", "labels": ["x", "y"]}\n')
    monkeypatch.setenv("GENUS_DATA", str(tmp_path / "sets"))


@pytest.mark.usefixtures("sets")
def test_data_sets_are_listed_shown_and_used(capsys):
    assert [entry["name"] for entry in as_json(capsys, "data", "list")] == ["mail", "tags"]
    assert main(["data", "show", "mail", "-n", "2"]) == 0
    assert "8 documents, 2 classes" in capsys.readouterr().out
    assert main(["data", "show", "mail", "--part", "test", "-n", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"text": ROWS[1][1], "label": "spam"}
    assert as_json(capsys, "train", "dataset:mail:train", "--out", "m.genus")["documents"] == 4
    assert as_json(capsys, "evaluate", "m.genus", "dataset:mail:test")["documents"] == 4
    assert "several labels" in refused(capsys, "train", "dataset:tags", "--out", "m.genus", "--model", "nb")
    assert "mail" in refused(capsys, "data", "show", "mial")


def test_no_data_sets_is_said(capsys, monkeypatch):
    monkeypatch.setenv("GENUS_DATA", "")
    assert main(["data", "list"]) == 0
    assert "no data sets" in capsys.readouterr().out


# ---------------------------------------------------------------- what is wrong is said in one line

BAD_TABLES = {
    "latin.csv": b"label,text\nham,caf\xe9\n",
    "empty.csv": b"",
    "header.csv": b"label,text\n",
    "one.csv": b"label,text\na,hello there\na,good bye\n",
    "missing.csv": b"label,text\na,hello there\n,good bye\nb,so long\n,hi\n",
    "wordless.csv": b"label,text\na,?\nb,!\n",
    "ragged.csv": b"label,text\na,b,c\n",
    "broken.jsonl": b'{"text": "a", "label": "b"}\n{"text"\n',
}


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["nothing.csv"], "nothing.csv: no such file"),
        (["folder"], "folder: has no folders in it"),
        (["latin.csv"], "line 2 is not utf-8"),
        (["empty.csv"], "empty.csv: is empty"),
        (["header.csv"], "header.csv: has a header but no rows"),
        (["one.csv"], "every row has the label 'a'"),
        (["missing.csv"], "label missing in 2 of 4 rows (rows 3, 5)"),
        (["missing.csv"], "leave them out with --skip-missing"),
        (["wordless.csv"], "Empty vocabulary"),
        (["ragged.csv"], "row 2 has 3 fields"),
        (["broken.jsonl"], "row 2 is not valid JSON"),
        (["mail.csv", "--text", "body"], "has no column 'body' for --text; its columns are label, text"),
        (["mail.csv", "--label", "kind"], "has no column 'kind' for --label; its columns are label, text"),
        (["mail.csv", "--encoding", "utf-99"], "there is no text encoding 'utf-99'"),
        (["mail.csv", "--format", "xls"], "there is no format 'xls'"),
        (["mail.csv", "--alpha", "-1"], "alpha must be a positive number"),
        (["mail.csv", "--alpha", "x"], "'x' is not a valid float"),
        (["mail.csv", "--stemmer", "klingon"], "got 'klingon'"),
        (["mail.csv", "--ngrams", "two"], "'two' is neither a size such as 2"),
        (["mail.csv", "--ngrams", "3-1"], "min_n <= max_n"),
        (["mail.csv", "--edges"], "edges need word n-grams"),
        (["mail.csv", "--min-df", "few"], "'few' is neither a number of documents"),
        (["mail.csv", "--min-df", "1000"], "max_df"),
        (["mail.csv", "--set", "beta=1"], "no parameter 'beta'; it has alpha, "),
        (["mail.csv", "--set", "beta"], "does not have the form NAME=VALUE"),
        (["mail.csv", "--stop-words", "nothing"], "neither english nor a readable file"),
        (["mail.csv", "--jobs", "0"], "n_jobs"),
        (["mail.csv", "--model", "magic"], "'magic' is not"),
        (["mail.csv", "--out", "folder"], "folder is a folder"),
        (["mail.csv", "--out", "no/where.genus"], "folder no does not exist"),
        ([], "Missing argument 'DATA'; see genus train --help"),
        (["mail.csv", "--fast"], "No such option"),
    ],
)  # fmt: skip
def test_training_refuses(mail, capsys, args, said):
    Path("folder").mkdir()
    for name, content in BAD_TABLES.items():
        Path(name).write_bytes(content)
    Path("old.genus").write_bytes(b"an older model")
    assert said in refused(capsys, "train", "--out", "old.genus", *args)


def damaged(name: str) -> bytes:
    whole = Path("mail.genus").read_bytes()
    return {
        "cut": whole[:-100],
        "newer": whole.replace(b'"genus_format":"2"', b'"genus_format":"7"'),
        "stranger": whole.replace(b"MultinomialNB", b"os.system_now").replace(b"genus_checksum", b"other_checksum"),
        "changed": whole.replace(b"MultinomialNB", b"os.system_now"),
        "text": b"Dear model,\n" * 100,
        "nothing": b"",
        "counts": whole[:-3000] + b"\xff" * 3000,
    }[name]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("cut", "is cut short"),
        ("newer", "was written by a newer genus"),
        ("stranger", "which is no class of this genus"),
        ("changed", "does not have the checksum"),
        ("text", "is not a genus model file"),
        ("nothing", "bad.genus: "),
        ("counts", ""),
    ],
)
def test_a_damaged_model_is_refused_by_all_commands(model, mail, capsys, name, said):
    Path("bad.genus").write_bytes(damaged(name))
    assert said in refused(capsys, "learn", "bad.genus", mail)
    if name != "counts":  # predicting does not read the counts
        for args in (
            ["predict", "bad.genus", "-m", "x"],
            ["inspect", "bad.genus"],
            ["explain", "bad.genus", "x"],
        ):
            assert said in refused(capsys, *args)
        assert said in refused(capsys, "evaluate", "bad.genus", mail)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["predict", "nothing.genus", "-m", "x"], "nothing.genus: no such file"),
        (["predict", ".", "-m", "x"], "is a folder, not a model file"),
        (["predict", "mail.genus"], "Give either DATA (- for standard input) or --message"),
        (["predict", "mail.genus", "mail.csv", "-m", "x"], "Give either DATA"),
        (["predict", "mail.genus", "mail.csv", "--top", "0"], "0 is not in the range"),
        (["explain", "mail.genus", "x", "--label", "spma"], "no class 'spma'; did you mean spam"),
        (["inspect", "mail.genus", "--class", "zzz"], "no class 'zzz'"),
        (["evaluate", "mail.genus", "mail.csv", "--report", "no/page.html"], "folder no does not exist"),
        (["frobnicate"], "No such command 'frobnicate'"),
    ],
)
@pytest.mark.usefixtures("model")
def test_asking_refuses(capsys, args, said):
    assert said in refused(capsys, *args)


def test_ctrl_c_in_training_leaves_the_old_model(tmp_path):
    Path("old.genus").write_bytes(b"an older model")
    with subprocess.Popen(
        [*GENUS, "train", "-", "--out", "old.genus"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        # More than a pipe holds: once this is written, reading has begun.
        line = json.dumps({"label": "ham", "text": "see you " * 1000}).encode() + b"\n"
        process.stdin.write(line * 100)
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert process.stderr.read() == b"genus: stopped\n"
        assert process.stdout.read() == b""
        process.stdin.close()
    assert [path.name for path in tmp_path.iterdir()] == ["old.genus"]
    assert Path("old.genus").read_bytes() == b"an older model"


def test_a_full_disk_leaves_the_old_model(tmp_path, mail):
    Path("old.genus").write_bytes(b"an older model")
    done = subprocess.run(
        [*GENUS, "train", mail, "--out", "old.genus"], capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == "genus: old.genus: not saved: file too large\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mail.csv", "old.genus"]
    assert Path("old.genus").read_bytes() == b"an older model"


def test_an_error_of_ours_is_one_line_too(mail, capsys, monkeypatch):
    def fail(*args, **kwargs):
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr("genus.io.tables.read_table", fail)
    assert main(["train", mail, "--out", "m.genus"]) == 1
    assert capsys.readouterr().err == (
        "genus: unexpected ZeroDivisionError: of all things (run genus --debug ... for the traceback)\n"
    )
    monkeypatch.setenv("GENUS_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main(["train", mail, "--out", "m.genus"])


def test_hostile_labels_and_texts_do_not_steer_the_terminal(capsys):
    evil = "\x1b[31m[red]\x07evil"
    write_csv(
        "evil.csv",
        [("label", "text"), *[(evil, "alpha \x1b]0;owned\x07 beta")] * 2, *[("good", "gamma beta")] * 2],
    )
    assert main(["train", "evil.csv", "--out", "e.genus"]) == 0
    write_csv("test.csv", [("label", "text"), ("good", "alpha \x1b[2J"), (evil, "gamma")])
    for args in (
        ["predict", "e.genus", "test.csv", "--top", "2"],
        ["evaluate", "e.genus", "test.csv"],
        ["inspect", "e.genus"],
        ["explain", "e.genus", "alpha \x1b[2J"],
        ["learn", "e.genus", "test.csv"],
        ["train", "\x1b[31m", "-o", "x"],
    ):
        main(args)
    out, err = capsys.readouterr()
    assert "\x1b" not in out + err
    assert "\x07" not in out + err
    assert "[red]" in out


def test_the_genus_script_is_installed():
    script = Path(sys.executable).with_name("genus")
    if not script.exists():
        pytest.skip("genus runs from a source tree here")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=True, env=dict(os.environ))
    assert done.stdout.startswith("genus ")
