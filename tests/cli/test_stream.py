"""Learning one text at a time, in Python and from a pipe that does not end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

import genus
from genus import DiscriminativeNB, TextClassifier, Vectorizer
from genus.cli import main

GENUS = [sys.executable, "-m", "genus.cli"]
PAIRS = [
    ("win cash now, claim your prize", "spam"),
    ("see you at lunch tomorrow", "ham"),
    ("free entry, call to claim cash", "spam"),
    ("are you home for dinner", "ham"),
    ("urgent prize waiting, call now", "spam"),
    ("lunch at noon, see you there", "ham"),
] * 5


def lines(pairs) -> bytes:
    return "".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in pairs).encode()


def new_classifier(n_hash: int = 2**10, **options) -> TextClassifier:
    return TextClassifier(DiscriminativeNB(**options), vectorizer=Vectorizer(n_hash=n_hash, dtype=np.float32))


def assert_same_model(a, b):
    x, y = (clf.model_._get_state() for clf in (a, b))
    for name, value in x.items():
        np.testing.assert_array_equal(value, y[name], err_msg=name)


@pytest.fixture
def model(tmp_path, monkeypatch) -> str:
    monkeypatch.chdir(tmp_path)
    new_classifier().partial_fit(*zip(*PAIRS[:6], strict=True)).save("m.genus")
    return "m.genus"


@contextmanager
def learning(model: str, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """genus learn, with its pipes open."""
    command = [*GENUS, "learn", model, "-", *options]
    with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1, bufsize=0) as process:
        try:
            yield process
        finally:
            process.kill()


def run(*args: str, given: bytes = b"") -> subprocess.CompletedProcess[str]:
    done = subprocess.run([*GENUS, *args], input=given, capture_output=True, check=False, timeout=60)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


# learn_one and predict_one


@pytest.mark.parametrize("n_hash", [None, 2**10])
@pytest.mark.parametrize("options", [{}, {"ngram_range": (1, 2)}, {"stemmer": "english"}, {"analyzer": "char"}])
def test_one_by_one_is_partial_fit_one_by_one(n_hash, options):
    vectorizer = Vectorizer(n_hash=n_hash, dtype=np.float32, **options)
    one, batch = (TextClassifier(DiscriminativeNB(), vectorizer=vectorizer) for _ in range(2))
    for text, label in PAIRS:
        one.learn_one(text, label)
        batch.partial_fit([text], [label])
        assert one.predict_one(text) == batch.predict([text])[0]
    assert_same_model(one, batch)
    assert one.vectorizer_.n_columns_ == batch.vectorizer_.n_columns_


@pytest.mark.parametrize("model", ["nb", "dmnb", DiscriminativeNB(average=True), DiscriminativeNB(variant="paper")])
def test_every_model_learns_one_by_one(model):
    clf = TextClassifier(model, weighting="tfidf" if model == "nb" else None)
    for text, label in PAIRS:
        clf.learn_one(text, label)
    assert clf.predict_one("claim your cash prize") == "spam"
    assert clf.predict_one("see you for lunch") == "ham"
    assert clf.predict_one("") in ("ham", "spam")
    assert clf.model_.class_count_.tolist() == [15, 15]


def test_new_words_and_classes_come_mid_stream(tmp_path):
    clf = TextClassifier("dmnb")
    for number in range(300):
        clf.learn_one(f"common word{number} again{number % 7}", f"class {number % 11}")
    assert clf.vectorizer_.n_columns_ == 1 + 300 + 7
    assert clf.vectorizer_.vocabulary_["word299"] > clf.vectorizer_.vocabulary_["word5"]
    assert len(clf.classes_) == 11
    clf.save(tmp_path / "m.genus")
    loaded = TextClassifier.load(tmp_path / "m.genus")
    for model in (clf, loaded):
        model.learn_one("a word of its own", "class 3")
    assert_same_model(clf, loaded)
    assert clf.vectorizer_.vocabulary_ == loaded.vectorizer_.vocabulary_


def test_numbers_as_labels():
    clf = TextClassifier("dmnb").learn_one("good", 1).learn_one("bad", 0)
    assert clf.predict_one("good") == 1
    with pytest.raises(ValueError, match="labels of the kind learned so far, which is numbers"):
        clf.learn_one("good", "one")


@pytest.mark.parametrize(
    ("example", "said"),
    [
        ((["a list"], "x"), r"expected one text \(str\), got list"),
        ((None, "x"), "expected one text"),
        (("text", None), "the label is missing"),
        (("text", float("nan")), "the label is missing"),
        (("text", "x", -1.0), "sample_weight must be finite and not negative"),
        (("text", "x", float("inf")), "sample_weight must be finite and not negative"),
        (("text", "x", float("nan")), "sample_weight must be finite and not negative"),
    ],
)
def test_single_examples_that_make_no_sense(example, said):
    for clf in (TextClassifier("dmnb"), TextClassifier("dmnb").learn_one("good", "+")):
        with pytest.raises(ValueError, match=said):
            clf.learn_one(*example)
    with pytest.raises(ValueError, match="expected one text"):
        clf.predict_one(["good"])
    with pytest.raises(ValueError, match="not fitted"):
        TextClassifier("dmnb").predict_one("good")


def test_memory_stays_flat_with_hashing():
    clf = new_classifier(64, decay=100.0)
    sizes = []
    for number in range(4000):
        clf.learn_one(f"{number} {number * 7} {number * 13 % 1000} {number % 3}", ("a", "b")[number % 2])
        if number in (2000, 3999):
            sizes.append(sum(array.nbytes for array in clf.model_._accumulator.learner.arrays()))
    assert sizes[0] == sizes[1]


# genus learn MODEL -


def test_a_stream_is_predicted_then_learned(model):
    done = run("learn", model, "-", "--window", "10", given=lines(PAIRS[6:]))
    assert done.returncode == 0, done.stderr
    assert "m.genus: continuing after 6 documents" in done.stdout
    assert "10 documents   accuracy " in done.stdout
    assert "learned 24 documents, accuracy " in done.stdout
    expected = new_classifier().partial_fit(*zip(*PAIRS[:6], strict=True))
    right = 0
    for text, label in PAIRS[6:]:
        right += expected.predict_one(text) == label
        expected.learn_one(text, label)
    assert f"accuracy {right / 24:.3f} before learning" in done.stdout
    assert_same_model(TextClassifier.load(model), expected)


def test_a_stream_goes_on_where_it_was(model):
    whole = run("learn", model, "-", "--json", given=lines(PAIRS[6:]))
    expected = TextClassifier.load(model)
    new_classifier().partial_fit(*zip(*PAIRS[:6], strict=True)).save(model)
    for part in (PAIRS[6:15], PAIRS[15:]):
        assert run("learn", model, "-", given=lines(part)).returncode == 0
    assert_same_model(TextClassifier.load(model), expected)
    assert json.loads(whole.stdout)["documents"] == 24


def test_malformed_lines_are_reported_counted_and_skipped(model):
    bad = [b'{"text": "no label"}', b"{", b"[1]", b'{"label": "ham"}', b'{"text": "\xff", "label": "ham"}', b"{}"]
    bad.append(b'{"text": {"a": 1}, "label": "ham"}')
    done = run("learn", model, "-", given=b"\n".join([*bad, b"", lines([("fine", "ham")])]))
    assert done.returncode == 2
    assert "learned 1 document" in done.stdout
    assert "skipped 7 malformed lines" in done.stdout
    said = done.stderr.splitlines()
    assert [line.split(" skipped: ")[0] for line in said] == [f"genus: line {n}" for n in range(1, 8)]
    for line, reason in zip(
        said,
        ["label missing", "not valid JSON (", "not a JSON object", "text missing", "not utf-8 (byte 11", "text missing",
         "text is not a single value"],
        strict=True,
    ):  # fmt: skip
        assert reason in line
    assert TextClassifier.load(model).model_.class_count_.sum() == 7
    whole = run("learn", model, "-", "--json", given=b'oops\n{"text": "x", "label": "ham"}')
    assert whole.returncode == 2
    assert json.loads(whole.stdout)["broken_lines"] == 1


def test_lines_without_text_or_label_may_be_skipped(model):
    done = run("learn", model, "-", "--skip-missing", given=b'{"text": "x"}\n' + lines(PAIRS[6:8]))
    assert (done.returncode, done.stderr) == (0, "")
    assert TextClassifier.load(model).model_.class_count_.sum() == 8


def test_labels_that_come_late_and_empty_texts(model):
    done = run("learn", model, "-", given=lines([("", "ham"), ("headline", "news"), ("", "news")]))
    assert done.returncode == 0
    clf = TextClassifier.load(model)
    assert clf.classes_.tolist() == ["ham", "news", "spam"]
    assert clf.model_.class_count_.tolist() == [4, 2, 3]


def test_an_empty_stream_changes_nothing(model, tmp_path):
    before = (tmp_path / model).read_bytes()
    done = run("learn", model, "-")
    assert done.returncode == 0
    assert "m.genus is unchanged" in done.stdout
    assert (tmp_path / model).read_bytes() == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_saves_what_was_learned(model, number):
    with learning(model, "--window", "24") as process:
        process.stdin.write(lines(PAIRS[6:]))
        assert b"continuing after" in process.stdout.readline()
        assert b"24 documents" in process.stdout.readline()
        process.send_signal(number)  # while it waits for more: the pipe is still open
        assert b"learned 24 documents" in process.stdout.readline()
        assert process.wait(30) == 0
        assert process.stderr.read() == b""
    assert TextClassifier.load(model).model_.class_count_.sum() == 30


def test_a_stream_is_saved_while_it_waits(model):
    with learning(model, "--save-every", "0.2") as process:
        process.stdin.write(lines(PAIRS[6:]))
        end = time.monotonic() + 30
        while TextClassifier.load(model).model_.class_count_.sum() < 30:
            assert time.monotonic() < end
            time.sleep(0.05)
        process.kill()  # even this loses nothing now
    assert TextClassifier.load(model).model_.class_count_.sum() == 30


def test_a_reader_that_has_had_enough_loses_nothing_that_was_learned(model):
    with learning(model, "--window", "1") as process:
        assert b"continuing after" in process.stdout.readline()
        process.stdout.close()
        process.stdin.write(lines(PAIRS[6:]))
        assert process.wait(30) == 0
        assert process.stderr.read() == b""
    assert TextClassifier.load(model).model_.class_count_.sum() == 7


def test_models_that_do_not_learn_online_read_all_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts, labels = zip(*PAIRS, strict=True)
    TextClassifier("nb").fit(texts, labels).save("nb.genus")
    before = (tmp_path / "nb.genus").read_bytes()
    assert run("learn", "nb.genus", "-", given=b'{"text": "x", "label": "ham"}\n{').returncode == 2
    assert (tmp_path / "nb.genus").read_bytes() == before


def test_a_model_file_of_another_kind(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    genus.save(DiscriminativeNB().fit([[1, 0], [0, 1]], ["a", "b"]), "bare.genus")
    assert main(["learn", "bare.genus", "-"]) == 2
    assert "holds a DiscriminativeNB, not a TextClassifier" in capsys.readouterr().err


def test_train_inspect_and_explain(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mail.jsonl").write_bytes(lines(PAIRS))
    settings = ["--set", "random_state=0", "--set", "n_passes=2"]
    assert main(["train", "mail.jsonl", "--model", "dmnb", "--out", "mail.genus", *settings]) == 0
    assert main(["inspect", "mail.genus", "--words", "3"]) == 0
    shown = capsys.readouterr().out
    assert "DiscriminativeNB" in shown
    assert "lunch" in shown
    assert main(["train", "mail.jsonl", "--model", "dmnb", "--out", "mail.genus", "--set", "decay=-1"]) == 2
    assert "decay must be None or a positive number of documents" in capsys.readouterr().err
    assert main(["forget", "mail.genus", "mail.jsonl"]) == 2
    assert "cannot unlearn" in capsys.readouterr().err
