"""What nobody means to give, and people do: each is refused in one clear line, or does no harm."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from scipy import sparse

from genus import (
    GaussianNonlinearBayes,
    LabelPowerset,
    MultinomialNB,
    RelevanceTopicModel,
    TextClassifier,
    Vectorizer,
)
from genus.base.arrays import available_cores, n_threads
from genus.cli import main
from genus.errors import DataError
from genus.io import read_table
from genus.text import time_limit
from helpers.commands import refused

TEXTS = ["win cash", "see you at noon", "prize now", "lunch too"]
CLI = [sys.executable, "-c", "import sys; from genus.cli import main; sys.exit(main(sys.argv[1:]))"]


# ---------------------------------------------------------------- labels


@pytest.mark.parametrize("missing", [float("nan"), None, np.float64("nan")])
def test_a_missing_label_among_texts_is_no_class(missing):
    labels = ["a", "b", missing, "a"]
    for learn in (TextClassifier("nb").fit, TextClassifier("nb").partial_fit):
        with pytest.raises(ValueError, match="1 of 4 labels are missing, the first in row 2"):
            learn(TEXTS, labels)
    for model in (MultinomialNB(), RelevanceTopicModel(), GaussianNonlinearBayes()):
        with pytest.raises(ValueError, match=r"y must have a label for each document, got (nan|None) in row 2"):
            model.fit(np.eye(4), labels)


def test_auto_takes_texts_with_nan_for_unlabeled_ones():
    texts, labels = TEXTS * 5, ["a", "b", float("nan"), "a"] * 5
    clf = TextClassifier(time_budget=1, random_state=0).fit(texts, labels)
    assert clf.classes_.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({"a": 1, "b": 2, "c": 3, "d": 4}, "in a sequence, got a dict"),
        ([{"a": 1}, {"b": 2}, {"a": 1}, {"b": 1}], "labels must be text or numbers, got dict"),
    ],
)
def test_odd_labels_are_named(labels, said):
    with pytest.raises(ValueError, match=said):
        TextClassifier("nb").fit(TEXTS, labels)


def test_a_model_of_label_sets_does_not_read_texts():
    with pytest.raises(ValueError, match="got LabelPowerset; for sets of labels use model='auto'"):
        TextClassifier(LabelPowerset(MultinomialNB())).fit(TEXTS, [{"a"}, {"b"}, {"a", "b"}, {"a"}])


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize("value", [1e101, 1e155, 1e300, -1e300, np.finfo(float).max])
def test_gaussians_answer_for_any_finite_point(value):
    X = np.random.default_rng(0).normal(size=(20, 3))
    model = GaussianNonlinearBayes(2, random_state=0).fit(X, [0, 1] * 10)
    p = model.predict_proba(np.full((1, 3), value))
    assert p.sum() == pytest.approx(1)
    X[0, 0] = value
    with pytest.raises(ValueError, match="X must hold numbers up to 1e\\+100 in size"):
        GaussianNonlinearBayes(2, random_state=0).fit(X, [0, 1] * 10)


@pytest.mark.parametrize("column", [99, -3])
def test_columns_outside_the_matrix_are_refused(column):
    X = sparse.csr_matrix(np.eye(4))
    X.indices[3] = column
    with pytest.raises(ValueError, match=f"column {column}"):
        RelevanceTopicModel().fit(X, ["a", "b", "a", "b"])


def test_threads_have_a_limit():
    assert n_threads(7) == 7
    assert n_threads(10**6) == max(256, available_cores())
    assert n_threads(-(10**6)) == 1


# ---------------------------------------------------------------- patterns


def test_a_catastrophic_pattern_is_stopped(monkeypatch):
    monkeypatch.setattr(time_limit.limited, "__defaults__", (0.2,))
    vectorizer = Vectorizer(token_pattern=r"(?:a+)+b")
    begin = time.monotonic()
    with pytest.raises(ValueError, match=r"token_pattern '\(\?:a\+\)\+b' took over 0.2 s for one text"):
        vectorizer.fit(["a" * 40])
    assert time.monotonic() - begin < 10
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert vectorizer.fit(["aab"]).get_feature_names_out().tolist() == ["aab"]


def test_an_alarm_of_the_program_is_left_alone():
    rung = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
    signal.setitimer(signal.ITIMER_REAL, 60)
    try:
        Vectorizer(token_pattern=r"[abc]+").fit(["abc"])
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 50
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_other_threads_read_without_a_limit():
    found = []
    thread = threading.Thread(target=lambda: found.append(Vectorizer(token_pattern=r"[abc]+").fit(["abc d"])))
    thread.start()
    thread.join()
    assert found[0].get_feature_names_out().tolist() == ["abc"]


@pytest.mark.parametrize("pattern", ["(", "a{99999999999999999999}", None, 7])
def test_what_is_no_pattern_is_said(pattern):
    with pytest.raises(ValueError, match="token_pattern must be a regular expression"):
        Vectorizer(token_pattern=pattern).fit(TEXTS)


# ---------------------------------------------------------------- files


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b"label,text\nspam," + b"x" * 5000 + b"\n"),
        ("a.csv", b'label,text\nspam,"' + b"x\n" * 5000),
        ("a.jsonl", b'{"label": "spam", "text": "' + b"x" * 5000 + b'"}\n'),
        ("a.ft", b"__label__spam " + b"x" * 5000),
        ("a.csv", ("label,text\nspam," + "x" * 5000).encode("utf-16")),
    ],
)
def test_a_text_has_a_length(name, content, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"is longer than 0\.004 MB: end lines with line feeds, or raise --max-text"):
        read_table(path, max_text=0.004)


def test_a_file_of_a_folder_has_a_length(tmp_path):
    (tmp_path / "spam").mkdir()
    (tmp_path / "spam" / "1.txt").write_text("x" * 5000)
    with pytest.raises(DataError, match=r"spam/1\.txt is longer than 0\.004 MB"):
        read_table(tmp_path, max_text=0.004)
    assert len(read_table(tmp_path).texts[0]) == 5000


def test_a_row_as_long_as_allowed_is_read(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('label,text\nspam,"' + "x" * 1900 + "\n" + "y" * 1900 + '"\n' + "ham,z\n" * 2000)
    assert len(read_table(path, max_text=0.004).texts) == 2001


@pytest.mark.parametrize(("suffix", "module"), [(".gz", gzip), (".bz2", bz2), (".xz", lzma)])
def test_a_decompression_bomb_is_stopped(suffix, module, tmp_path, monkeypatch):
    monkeypatch.setattr("genus.io.lines._HARMLESS", 10**6)
    path = tmp_path / f"bomb.txt{suffix}"
    path.write_bytes(module.compress(b"spam spam spam spam\n" * 200_000))
    with pytest.raises(DataError, match=r"expands to more than 100 times its size and 1 MB: .* raise --max-expansion"):
        read_table(path, need_labels=False)
    assert len(read_table(path, need_labels=False, max_expansion=1e9)) == 200_000


def test_the_limits_are_options_of_commands(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("label,text\nspam," + "x" * 5000 + "\nham,y\n")
    assert "longer than 0.004 MB" in refused(capsys, "train", "a.csv", "--out", "a.genus", "--max-text", "0.004")
    assert main(["train", "a.csv", "--model", "nb", "--out", "a.genus"]) == 0


@pytest.mark.parametrize("tree", ['{"a":' * 100_000 + "{}" + "}" * 100_000, "[" * 100_000])
def test_a_tree_nested_without_end_is_refused(tree, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tree.json").write_text(tree)
    (tmp_path / "a.csv").write_text("label,text\na,x\nb,y\n")
    said = refused(capsys, "train", "a.csv", "--model", "hs", "--tree", "tree.json", "--out", "a.genus")
    assert "tree.json: is nested too deeply" in said


# ---------------------------------------------------------------- streams and signals


@pytest.fixture
def stream_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("label,text\nspam,win cash\nham,see you at noon\n")
    assert main(["train", "a.csv", "--model", "dmnb", "--out", "a.genus"]) == 0
    return tmp_path


@pytest.mark.parametrize(
    ("closed", "args", "said"),
    [
        ("<&-", "predict a.genus -", "standard input: is closed"),
        ("<&-", "learn a.genus -", "standard input: is closed"),
        (">&-", "predict a.genus a.csv", "standard output is closed"),
        (">&-", "inspect a.genus", "standard output is closed"),
    ],
)
def test_a_closed_stream_is_said(closed, args, said, stream_model):
    command = f'"$0" -c "$1" {args} {closed}'
    answer = subprocess.run(["sh", "-c", command, CLI[0], CLI[2]], capture_output=True, text=True, check=False)
    assert answer.returncode in (1, 2)
    assert answer.stderr.startswith("genus: ")
    assert answer.stderr.count("\n") == 1
    assert said in answer.stderr


def test_a_hangup_saves_what_a_stream_learned(stream_model):
    learning = subprocess.Popen(
        [*CLI, "learn", "a.genus", "-", "--window", "1", "--json"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with learning:
        learning.stdin.write('{"text": "lunch", "label": "food"}\n')
        learning.stdin.flush()
        assert '"documents": 1' in learning.stdout.readline()
        os.kill(learning.pid, signal.SIGHUP)
        assert learning.wait(30) == 0
    assert "food" in TextClassifier.load("a.genus").classes_.tolist()


def test_an_endless_line_of_a_stream_is_refused_and_the_rest_saved(stream_model):
    lines = '{"text": "lunch", "label": "food"}\n' + "x" * 300_000
    command = [*CLI, "learn", "a.genus", "-", "--max-text", "0.1"]
    answer = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
    assert answer.returncode == 2
    assert "a line is longer than 0.1 MB" in answer.stderr
    assert "food" in TextClassifier.load("a.genus").classes_.tolist()
