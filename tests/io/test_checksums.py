"""Damage to a model file is found and named, at the latest when somebody asks for it."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genus import RefinedNB, TextClassifier, _core
from genus.cli import main
from genus.errors import ModelFileError
from genus.io import load, model_file
from genus.io.safetensors import CHECKSUMS
from genus.io.safetensors_header import read_header
from reference.checksum import checksum

pytestmark = pytest.mark.kernel
GOLDEN = Path(__file__).parents[1] / "golden"


@given(data=st.binary(max_size=400))
def test_the_checksum_is_the_reference(data):
    assert _core.checksum(np.frombuffer(data, dtype=np.uint8)) == checksum(data)


@given(data=st.binary(min_size=1, max_size=300), where=st.integers(0), bit=st.integers(0, 7))
def test_no_flipped_bit_goes_unnoticed(data, where, bit):
    changed = bytearray(data)
    changed[where % len(data)] ^= 1 << bit
    assert checksum(data) != checksum(bytes(changed))


@given(data=st.binary(max_size=200))
def test_neither_do_zeros_at_the_end(data):
    assert checksum(data) != checksum(data + b"\0")


@pytest.fixture(scope="module")
def texts():
    return ["win cash now", "see you at noon", "cash prize", "lunch at noon?"] * 3, ["spam", "ham"] * 6


@pytest.fixture(params=["nb", "refined"])
def saved(request, texts, tmp_path):
    path = tmp_path / "m.genus"
    TextClassifier(request.param).fit(*texts).save(path)
    return path


def flip(path: Path, name: str, byte: int = 0) -> None:
    """Flip a bit of an array."""
    header = read_header(path)
    with open(path, "r+b") as file:
        file.seek(header.size + header.entries[name].begin + byte)
        old = file.read(1)[0]
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([old ^ 4]))


def arrays_of(path: Path) -> list[str]:
    return [name for name, entry in read_header(path).entries.items() if entry.end > entry.begin]


def test_damage_is_named_array_by_array(saved):
    whole = saved.read_bytes()
    for name in arrays_of(saved):
        flip(saved, name)
        with pytest.raises(ModelFileError, match=rf"array '{name}' has the checksum \w+, expected \w+"):
            load(saved)
        saved.write_bytes(whole)
    load(saved, verify=True)


def test_damage_beyond_what_opening_checks_is_found_on_request(saved, monkeypatch):
    monkeypatch.setattr(model_file, "_CHECKED_BYTES", 0)
    for name in arrays_of(saved):
        if name.endswith((".utf8", "values", "counts")):
            whole = saved.read_bytes()
            flip(saved, name)
            load(saved)
            with pytest.raises(ModelFileError, match="checksum"):
                load(saved, verify=True)
            saved.write_bytes(whole)


def test_indices_are_checked_first(saved, monkeypatch):
    arrays = read_header(saved).entries
    integers = sum(entry.end - entry.begin for entry in arrays.values() if entry.dtype[0] in "IU")
    monkeypatch.setattr(model_file, "_CHECKED_BYTES", integers)
    name = next(name for name in arrays if name.endswith("table_classes"))
    flip(saved, name)
    with pytest.raises(ModelFileError, match=name):
        load(saved)


def test_a_changed_parameter_is_found(saved):
    content = saved.read_bytes()
    assert content.count(b'min_df\\":1,') == 1
    saved.write_bytes(content.replace(b'min_df\\":1,', b'min_df\\":2,'))
    with pytest.raises(ModelFileError, match="description of its model does not have the checksum"):
        load(saved)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("[]", "not one for each array"),
        ("{}", "not one for each array"),
        ("{", "not valid JSON"),
        ("all zero", "16 hexadecimal digits"),
    ],
)
def test_wrong_checksums_are_refused(given, said, saved):
    content = saved.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    checksums = json.loads(header["__metadata__"][CHECKSUMS])
    header["__metadata__"][CHECKSUMS] = json.dumps(dict.fromkeys(checksums, 0)) if given == "all zero" else given
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 64)
    saved.write_bytes(len(text).to_bytes(8, "little") + text + content[8 + length :])
    with pytest.raises(ModelFileError, match=said):
        load(saved)


@pytest.mark.parametrize("path", sorted(GOLDEN.rglob("*.genus")), ids=lambda path: path.stem)
def test_files_without_checksums_open(path):
    load(path, verify=True)


def test_inspect_verifies(saved, capsys):
    assert main(["inspect", str(saved), "--verify"]) == 0
    assert "all as they were written" in capsys.readouterr().out
    assert main(["inspect", str(saved), "--verify", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["checksums"] is True
    flip(saved, arrays_of(saved)[0])
    assert main(["inspect", str(saved), "--verify"]) == 2
    assert "has the checksum" in capsys.readouterr().err


def test_inspect_says_where_there_is_nothing_to_verify(capsys):
    assert main(["inspect", str(GOLDEN / "format-1.genus"), "--verify"]) == 0
    assert "without checksums" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("array", ["table_indptr", "table_classes"])
def test_wild_indices_are_refused_before_they_are_used(array, large, monkeypatch):
    """Where no checksum has told: a small table when it is taken over, a large one before SciPy indexes by it."""
    if large:
        monkeypatch.setattr("genus.base.score_table.CHECKED_AT_ONCE", 0)
    model = RefinedNB().fit(np.eye(6), [0, 1, 2] * 2)
    for value in (2**30, -(2**30)):
        state = dict(model._get_state())
        state[array] = state[array].copy()
        state[array][1] = value
        damaged = RefinedNB()
        if large:
            damaged._set_state(state)
        with pytest.raises(ValueError, match=rf"{array} must (rise from 0 to|hold numbers from 0 to 2).* is damaged"):
            _ = damaged.coef_ if large else damaged._set_state(state)


def test_a_model_in_memory_does_not_need_its_file(saved, texts):
    clf = TextClassifier.load(saved, mmap=False)
    before = clf.predict_proba(texts[0])
    os.truncate(saved, 100)
    np.testing.assert_array_equal(clf.predict_proba(texts[0]), before)


def test_a_mapped_file_has_a_shared_lock(saved):
    fcntl = pytest.importorskip("fcntl")
    clf = TextClassifier.load(saved)
    with open(saved, "rb") as file:
        with pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        fcntl.flock(file, fcntl.LOCK_UN)
    del clf
    gc.collect()
    with open(saved, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_saving_never_truncates_a_file_that_is_mapped(saved, texts):
    """Another process goes on predicting by the old file while it is replaced."""
    script = textwrap.dedent("""
        import sys
        from genus import TextClassifier
        clf = TextClassifier.load(sys.argv[1])
        print("open", flush=True)
        sys.stdin.readline()
        print(clf.predict(["cash"])[0], flush=True)
    """)
    command = [sys.executable, "-c", script, str(saved)]
    reader = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with reader:
        assert reader.stdout.readline() == "open\n"
        TextClassifier("nb").fit(*texts).save(saved)
        assert reader.communicate("go\n")[0] == "spam\n"
    assert reader.returncode == 0


@pytest.mark.slow
def test_checksums_are_taken_at_the_speed_of_memory():
    data = np.ones(2**28, dtype=np.uint8)
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        _core.checksum(data)
        times.append(time.perf_counter() - begin)
    assert len(data) / min(times) > 2e9
