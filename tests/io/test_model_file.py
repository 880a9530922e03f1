"""Model files: everything comes back, nothing hostile gets in, and a file is never left half written."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import stat
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from genus.base.arrays import Strings
from genus.errors import GenusError, ModelFileError
from genus.io import model_file as persistence
from genus.io import safetensors as _safetensors
from genus.io.model_file import describe_file, load, save


class Toy:
    """The least that persists: two parameters and a dict of state."""

    def __init__(self, alpha: Any = 1.0, other: Any = None) -> None:
        self.alpha, self.other, self.state = alpha, other, None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"alpha": self.alpha, "other": self.other}

    def _get_state(self) -> dict[str, Any]:
        return self.state or {}

    def _set_state(self, state: dict[str, Any]) -> None:
        self.state = state


class Picky(Toy):
    """Refuses a state without two columns."""

    def _set_state(self, state: dict[str, Any]) -> None:
        if state["counts"].shape[1] != 2:
            raise ValueError("counts must have\ntwo columns")
        self.state = state


@pytest.fixture(autouse=True, scope="module")
def _registry():
    """The toys are genus's own classes for the time of these tests."""
    sys.modules["genus_toys"] = sys.modules[__name__]
    with pytest.MonkeyPatch.context() as patch:
        for name in ("Toy", "Picky"):
            patch.setitem(persistence.CLASSES, name, "genus_toys")
        yield
    del sys.modules["genus_toys"]


def toy(state: dict[str, Any] | None = None, cls: type[Toy] = Toy, **params: Any) -> Toy:
    model = cls(**params)
    model.state = state
    return model


def round_trip(model: Toy, folder: Path) -> Toy:
    path = folder / "model.genus"
    save(model, path)
    return load(path)


def same(a: Any, b: Any) -> bool:
    """Equal, of equal type, through all that a state may hold."""
    if isinstance(a, np.ndarray):
        return type(b) is np.ndarray and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return type(b) is dict and list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    return type(a) is type(b) and (a == b or (a != a and b != b))


# ---------------------------------------------------------------- everything comes back

dtypes = st.sampled_from(["?", "u1", "i1", "u2", "i2", "f2", "u4", "i4", "f4", "u8", "i8", "f8"])
shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
any_text = st.text(st.characters(categories=None), max_size=6)  # lone surrogates and NULs too


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(arrays=st.lists(dtypes.flatmap(lambda d: hnp.arrays(d, shapes)), max_size=5))
def test_arrays_come_back_bit_for_bit(arrays, tmp_path):
    state = {f"array{i}": array for i, array in enumerate(arrays)}
    assert same(round_trip(toy(state), tmp_path).state, state)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(strings=st.lists(any_text, max_size=12))
def test_strings_come_back_whatever_is_in_them(strings, tmp_path):
    objects = np.empty(len(strings), dtype=object)
    objects[:] = strings
    state = {"objects": objects, "fixed": np.array(strings, dtype=str), "packed": Strings.pack(strings)}
    back = round_trip(toy(state, alpha=strings), tmp_path)
    assert back.alpha == strings
    assert back.state["objects"].dtype == object
    assert back.state["objects"].tolist() == strings
    assert back.state["fixed"].dtype.kind == "U"
    assert back.state["fixed"].tolist() == state["fixed"].tolist()
    assert isinstance(back.state["packed"], Strings)
    assert back.state["packed"].unpack() == strings


def test_two_dimensional_and_variable_width_strings_come_back(tmp_path):
    state = {"table": np.array([["a", "ßé"], ["", "日本語"]])}
    if hasattr(np.dtypes, "StringDType"):
        state["variable"] = np.array(["x", "", "ü" * 50], dtype=np.dtypes.StringDType())
    back = round_trip(toy(state), tmp_path).state
    for name, array in state.items():
        assert back[name].dtype.kind == array.dtype.kind
        np.testing.assert_array_equal(back[name], array)


def test_one_long_label_among_many_short_ones_does_not_swell(tmp_path):
    labels = np.array(["x"] * 100_000 + ["y" * 5_000], dtype=object)
    path = tmp_path / "model.genus"
    save(toy({"labels": labels}), path)
    data = path.read_bytes()
    data = data.replace(b"genus_checksum", b"other_checksum")
    path.write_bytes(data.replace(rb"\"kind\":\"O\"", rb"\"kind\":\"U\""))  # a U array of these takes 2 GB
    back = load(path).state["labels"]
    assert back.dtype == object
    assert back.tolist() == labels.tolist()


# Named here: a set's repr differs from one worker of xdist to the next, and their tests must have the same names.
LETTERS = pytest.param({"b", "a"}, id="{'a', 'b'}")


@pytest.mark.parametrize(
    "value",
    [
        None, True, 3, -1.5, float("inf"), float("nan"), 10**30, "text", (1, 2), [1, (2, [3])], (),
        np.float32(0.1), np.int64(-3), np.bool_(True), np.float32, np.dtype("float32"), float,
        {"a": [1, None]}, {"$": "array"}, {1: "one", (2, 3): np.float64("nan")}, LETTERS, set(),
        frozenset({"x"}), np.arange(3.0), np.array(["a", "bc"]), {"nested": (np.arange(2, dtype=np.int32),)},
    ],
    ids=repr,
)  # fmt: skip
def test_parameters_and_state_come_back_with_their_types(value, tmp_path):
    back = round_trip(toy({"value": value}, alpha=value), tmp_path)
    assert same(back.alpha, value)
    assert same(back.state["value"], value)


def test_children_come_back_fitted_and_parameters_unfitted(tmp_path):
    child = toy({"counts": np.arange(4.0)}, alpha=2.0, other=toy({"deep": np.ones(1)}))
    back = round_trip(toy({"child": child, "counts": np.zeros(2)}, other=child), tmp_path)
    assert back.state["child"].alpha == 2.0
    assert same(back.state["child"].state["counts"], np.arange(4.0))
    assert same(back.state["counts"], np.zeros(2))
    assert (back.other.alpha, back.other.state, back.other.other.state) == (2.0, None, None)


def test_fitted_objects_in_a_list_come_back_fitted(tmp_path):
    back = round_trip(toy({"members": [toy({"x": np.ones(i)}) for i in range(3)]}), tmp_path)
    assert [len(member.state["x"]) for member in back.state["members"]] == [0, 1, 2]


def test_non_contiguous_and_big_endian_arrays_are_saved_by_value(tmp_path):
    state = {"columns": np.arange(12.0).reshape(3, 4).T[::2], "swapped": np.arange(3, dtype=">i4")}
    back = round_trip(toy(state), tmp_path).state
    for name, array in state.items():
        np.testing.assert_array_equal(back[name], array)
        assert back[name].flags.c_contiguous
        assert back[name].dtype.isnative


def test_arrays_are_mapped_read_only_and_aligned(tmp_path):
    state = {"a": np.arange(3, dtype=np.int8), "b": np.arange(5.0), "c": np.arange(7, dtype=np.int32)}
    for array in round_trip(toy(state), tmp_path).state.values():
        assert array.flags.aligned
        assert not array.flags.writeable
        assert not array.flags.owndata


def test_equal_models_give_equal_bytes(tmp_path):
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight"]
    for name in "ab":
        save(toy({"x": np.arange(3)}, alpha=set(words)), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert describe_file(tmp_path / "a")["params"]["alpha"] == sorted(words)  # not in the order of hashes


def test_arrays_of_one_name_are_kept_apart(tmp_path):
    back = round_trip(toy({"params": toy({"alpha": np.ones(2)})}, alpha=np.zeros(3)), tmp_path)
    assert same(back.alpha, np.zeros(3))
    assert same(back.state["params"].state["alpha"], np.ones(2))


# ---------------------------------------------------------------- the format is safetensors


def test_the_official_package_reads_our_file(tmp_path):
    safetensors = pytest.importorskip("safetensors")
    state = {"a": np.arange(3, dtype=np.int8), "b": np.eye(2), "empty": np.empty((0, 3), np.float32)}
    save(toy({**state, "labels": np.array(["é", "x"])}), tmp_path / "model.genus")
    with safetensors.safe_open(tmp_path / "model.genus", "numpy") as file:
        assert file.metadata()["genus_format"] == "2"
        for name, array in state.items():
            assert same(file.get_tensor(name), array)
        assert file.get_tensor("labels.utf8").tobytes() == "éx".encode()


def test_we_read_a_file_that_the_official_package_wrote(tmp_path):
    numpy = pytest.importorskip("safetensors.numpy")
    state = {"a": np.arange(3, dtype=np.int8), "b": np.eye(2), "c": np.arange(3, dtype=np.int16)}
    save(toy(state), tmp_path / "ours")
    metadata, arrays = _safetensors.map_arrays(tmp_path / "ours")
    numpy.save_file({name: array.copy() for name, array in arrays.items()}, tmp_path / "theirs", metadata)
    assert same(load(tmp_path / "theirs").state, state)


def test_misaligned_arrays_of_other_writers_are_copied(tmp_path):
    path = tmp_path / "model.genus"
    save(toy({"x": np.arange(3.0)}), path)
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    path.write_bytes((length + 3).to_bytes(8, "little") + data[8 : 8 + length] + b"   " + data[8 + length :])
    array = load(path).state["x"]
    assert array.flags.aligned
    assert array.tolist() == [0.0, 1.0, 2.0]


def test_a_file_is_described_without_building_the_model(tmp_path):
    path = tmp_path / "model.genus"
    child = toy({"counts": np.zeros((2, 3), np.float32)}, alpha=np.float32)
    save(toy({"child": child}, alpha=(1, 2), other=Toy(np.float64(0.5))), path)
    found = describe_file(path)
    assert found["class"] == "Toy"
    assert found["params"]["alpha"] == [1, 2]
    assert found["params"]["other"]["params"]["alpha"] == 0.5
    assert found["children"]["child"]["params"]["alpha"] == "float32"
    assert found["arrays"] == {"child/counts": {"dtype": "float32", "shape": [2, 3], "bytes": 24}}
    assert (found["format"], found["bytes"]) == (2, path.stat().st_size)
    json.dumps(found)


# ---------------------------------------------------------------- opening is cheap


def test_a_gigabyte_opens_at_once(tmp_path):
    path = tmp_path / "model.genus"
    n = 2**27
    entry = {"dtype": "F64", "shape": [n], "data_offsets": [0, 8 * n]}
    tree = {"class": "Toy", "params": {}, "state": {"x": {"$": "array", "name": "x"}}}
    text = json.dumps({"__metadata__": {"genus_format": "1", "genus": json.dumps(tree)}, "x": entry})
    forge(path, text.encode().ljust(504), b"")  # aligned, as `save` would
    os.truncate(path, path.stat().st_size + 8 * n)  # a sparse file
    seconds = []
    for _ in range(3):  # another process may hold up one of them; reading a gigabyte would hold up all
        start = time.perf_counter()
        array = load(path).state["x"]
        seconds.append(time.perf_counter() - start)
    assert min(seconds) < 0.1
    assert (len(array), array[-1]) == (n, 0.0)


def test_importing_is_light():
    heavy = "sklearn pandas pyarrow scipy safetensors"
    code = f"import sys, genus.io.model_file, genus.io; print(*(set('{heavy}'.split()) & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ""


# ---------------------------------------------------------------- what cannot be saved


@pytest.mark.parametrize(
    ("model", "gist"),
    [
        (lambda: toy(other=lambda text: text), "Toy's parameter other is a function and cannot be saved"),
        (lambda: toy(other=[str.lower]), "Toy's parameter other is a method_descriptor and cannot be saved"),
        (lambda: toy(other=np.random.default_rng(0)), "parameter other is a Generator and cannot be saved"),
        (lambda: toy({"x": b"bytes"}), "Toy's state x is a bytes and cannot be saved"),
        (lambda: toy({"x": np.array([1, "a"], dtype=object)}), "state x holds objects other than strings"),
        (
            lambda: toy({"x": np.zeros(1, complex)}),
            "state x is an array of complex128, which a model file cannot",
        ),
        (lambda: toy({"x": Strings(np.zeros(9, np.uint8), np.array([0, 3]))}), "x has wrong string offsets"),
        (lambda: {"not": "a model"}, "a dict cannot be saved, only "),
        (lambda: type("Toy", (Toy,), {})(), "a Toy cannot be saved, only"),
    ],
)
def test_what_cannot_be_saved_is_named(model, gist, tmp_path):
    with pytest.raises(ModelFileError) as caught:
        save(model(), tmp_path / "model.genus")
    assert gist in str(caught.value)
    assert "model.genus: not saved: " in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_holds_itself_is_refused(tmp_path):
    model = toy({})
    model.state["me"] = model
    with pytest.raises(ModelFileError, match="nested over 50 levels deep, or holds itself"):
        save(model, tmp_path / "model.genus")


def test_the_header_has_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(_safetensors, "MAX_HEADER", 1000)
    with pytest.raises(ModelFileError, match=r"its header would take .* bytes, over 1,000"):
        save(toy(alpha="x" * 1000), tmp_path / "model.genus")


# ---------------------------------------------------------------- what cannot be loaded


def forge(path: Path, header: Any, data: bytes) -> None:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def header_of(*entries: tuple[str, list[int], list[int]], **metadata: str) -> dict[str, Any]:
    header: dict[str, Any] = {"__metadata__": metadata} if metadata else {}
    for i, (dtype, shape, offsets) in enumerate(entries):
        header[f"x{i}"] = {"dtype": dtype, "shape": shape, "data_offsets": offsets}
    return header


def tree_of(tree: Any, version: str = "1", text: str | None = None) -> dict[str, Any]:
    return header_of(genus_format=version, genus_version="9.8", genus=text or json.dumps(tree))


def state_of(value: Any) -> dict[str, Any]:
    return tree_of({"class": "Toy", "params": {}, "state": {"x": value}})


WRONG_FILES: dict[str, tuple[Any, str]] = {
    "empty": (b"", "is empty"),
    "short": (b"abc", "is not a genus model file"),
    "random": (bytes(range(255, 0, -1)), "is not a genus model file"),
    "png": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is not a genus model file"),
    "zip": (b"PK\3\4\x14\0\0\0\x08\0{", "is not a genus model file"),
    "text": (b"label,text\nspam,win cash now\n", "is not a genus model file"),
    "huge header": (b"\xff" * 8 + b"{}", "its header claims 18,446,744,073,709,551,615 bytes"),
    "long header": (b"\xff\0\0\0\0\0\0\0{}", "is cut short: its header needs 263 bytes, the file has 10"),
    "zero header": (b"\0" * 8 + b"{}", "is damaged: its header is not valid JSON"),
    "broken json": ((b'{"a": ', b""), "is damaged: its header is not valid JSON"),
    "not utf-8": ((b'{"\xff": 1}', b""), "is damaged: its header is not valid JSON"),
    "deep json": ((b'{"a":' + b"[" * 200_000, b""), "is damaged: its header is not valid JSON"),
    "long number": ((b'{"a":' + b"9" * 5000 + b"}", b""), "is damaged: its header is not valid JSON"),
    "nan": ((b'{"a": NaN}', b""), "its header is not valid JSON (NaN is not JSON)"),
    "twice": ((b'{"a": 1, "a": 2}', b""), "its header is not valid JSON (a name occurs twice)"),
    "metadata": (({"__metadata__": {"genus_format": 1}}, b""), "its metadata is not a map of strings"),
    "entry": (({"x": [1]}, b""), "array 'x' is not described by dtype, shape and data_offsets"),
    "dtype": ((header_of(("BF16", [1], [0, 2])), b"ab"), "array 'x0' has the unknown dtype 'BF16'"),
    "dtype kind": ((header_of(([], [1], [0, 2])), b"ab"), "array 'x0' has the unknown dtype '[]'"),
    "negative": ((header_of(("U8", [1], [-1, 0])), b"a"), "are not small lists of natural numbers"),
    "shape kind": ((header_of(("U8", [True], [0, 1])), b"a"), "are not small lists of natural numbers"),
    "many axes": ((header_of(("U8", [1] * 70, [0, 1])), b"a"), "are not small lists of natural numbers"),
    "overflow": ((header_of(("U8", [2**62, 0, 2**62], [0, 0])), b""), "has a shape that is too large"),
    "wrong shape": ((header_of(("F32", [3], [0, 8])), b"a" * 8), "a shape that does not match its 8 bytes"),
    "reversed": ((header_of(("U8", [1], [1, 0])), b"a"), "a shape that does not match its -1 bytes"),
    "overlap": (
        (header_of(("U8", [2], [0, 2]), ("U8", [2], [1, 3])), b"abc"),
        "array 'x1' overlaps another or leaves a hole",
    ),
    "hole": ((header_of(("U8", [1], [1, 2])), b"ab"), "array 'x0' overlaps another or leaves a hole"),
    "cut short": (
        (header_of(("U8", [9], [0, 9])), b"abc"),
        "is cut short: its arrays need 9 bytes, there are 3",
    ),
    "surplus": ((header_of(("U8", [1], [0, 1])), b"abc"), "is damaged: 2 bytes follow its arrays"),
    "other safetensors": (
        (header_of(("U8", [1], [0, 1])), b"a"),
        "is a safetensors file, but not a genus model",
    ),
    "no tree": ((header_of(genus_format="1"), b""), "is damaged: it has no description of a model"),
    "newer": (
        (tree_of(None, version="3"), b""),
        "was written by a newer genus (9.8: file format 3, this one reads 2); update genus",
    ),
    "version": ((tree_of(None, version="²"), b""), "is damaged: '²' is no format version"),
    "tree json": ((tree_of(None, text="{"), b""), "the description of its model is not valid JSON"),
    "tree deep": ((tree_of(None, text="[" * 200_000), b""), "the description of its model is not valid JSON"),
    "tree kind": ((tree_of([]), b""), "is not described by class, params and state"),
    "unknown class": (
        (tree_of({"class": "os.system", "params": {}}), b""),
        "holds a 'os.system', which is no class",
    ),
    "absent class": (
        (tree_of({"class": "Gone", "params": {}}), b""),
        "holds a Gone, which this genus does not have",
    ),
    "unknown parameter": (
        (tree_of({"class": "Toy", "params": {"beta": 1}}), b""),
        "holds a Toy with wrong parameters: Toy.__init__() got an unexpected keyword argument 'beta'",
    ),
    "refused state": (
        (tree_of({"class": "Picky", "params": {}, "state": {}}), b""),
        "cannot be restored: no 'counts'",
    ),
    "wrong state": (
        (tree_of({"class": "Picky", "params": {}, "state": {"counts": 3}}), b""),
        "holds a Picky that cannot be restored: 'int' object has no attribute 'shape'",
    ),
    "missing array": ((state_of({"$": "array", "name": "y"}), b""), "Toy's x is not as genus writes it"),
    "unknown kind": ((state_of({"$": "pickle", "value": "x"}), b""), "Toy's x is not as genus writes it"),
    "unknown type": (
        (state_of({"$": "type", "name": "os.system"}), b""),
        "Toy's x is not as genus writes it",
    ),
    "scalar": (
        (state_of({"$": "scalar", "dtype": "int8", "value": 300}), b""),
        "Toy's x is not as genus writes it",
    ),
    "unhashable": ((state_of({"$": "dict", "items": [[[], 1]]}), b""), "Toy's x is not as genus writes it"),
    "set": ((state_of({"$": "set", "items": [1]}), b""), "Toy's x is not as genus writes it"),
}


@pytest.mark.parametrize("case", WRONG_FILES)
def test_a_wrong_file_is_answered_in_one_line_that_names_it(case, tmp_path, monkeypatch):
    monkeypatch.setitem(persistence.CLASSES, "Gone", "genus.no_such_module")
    content, gist = WRONG_FILES[case]
    path = tmp_path / "model.genus"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        forge(path, *content)
    with pytest.raises(ModelFileError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert gist in message
    assert "\n" not in message


@pytest.mark.parametrize("offsets", [[], [1, 3], [0, 2], [0, 4], [0, 2, 1, 3], [0, -1, 3]], ids=str)
def test_wrong_string_offsets_are_refused(offsets, tmp_path):
    arrays = {"s": np.frombuffer(b"abc", np.uint8), "o": np.array(offsets, dtype=np.int64)}
    tree = state_of({"$": "strings", "utf8": "s", "offsets": "o", "kind": "Strings", "shape": [1]})
    _safetensors.write(tmp_path / "m", tree["__metadata__"], arrays)
    with pytest.raises(ModelFileError, match="Toy's x has wrong string offsets"):
        load(tmp_path / "m")


def test_strings_must_be_as_many_as_their_shape_says(tmp_path):
    tree = state_of({"$": "strings", "utf8": "s", "offsets": "o", "kind": "U", "shape": [7]})
    arrays = {"s": np.frombuffer(b"abc", np.uint8), "o": np.array([0, 1, 3])}
    _safetensors.write(tmp_path / "m", tree["__metadata__"], arrays)
    with pytest.raises(ModelFileError, match="does not have as many strings as its shape says"):
        load(tmp_path / "m")


def test_a_state_of_the_wrong_shape_gives_the_models_reason_in_one_line(tmp_path):
    save(toy({"counts": np.zeros((1, 3))}, cls=Picky), tmp_path / "m")
    with pytest.raises(ModelFileError, match=r"holds a Picky that cannot be restored: counts must have two columns$"):
        load(tmp_path / "m")


def test_missing_files_folders_and_pipes_are_told_apart(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name, gist in {
        "none": "no such file",
        "": "is a folder, not a model",
        "pipe": "is not a regular file",
    }.items():
        for read in (load, describe_file):
            with pytest.raises(ModelFileError, match=gist):
                read(tmp_path / name)


def valid_bytes(folder: Path) -> bytes:
    child = toy({"counts": np.arange(6.0).reshape(3, 2)}, cls=Picky, alpha=(1, 2), other=np.float32)
    state = {"child": child, "labels": np.array(["a", "bé"]), "words": Strings.pack(["x", "yy"]), "n": 3}
    save(toy(state, alpha={"en", "de"}, other={"k": [1.5, None]}), folder / "valid")
    return (folder / "valid").read_bytes()


def test_damage_anywhere_raises_only_model_file_error(tmp_path):
    """Flipped, cut, repeated and dropped bytes: 2,000 damaged files."""
    whole, rng, path = valid_bytes(tmp_path), random.Random(7), tmp_path / "damaged"
    outcomes = set()
    for trial in range(2000):
        data = bytearray(whole)
        if trial % 4 == 0:
            del data[rng.randrange(len(data)) :]
        elif trial % 4 == 1:
            at = rng.randrange(len(data))
            del data[at : at + rng.randint(1, 9)]
        for _ in range(rng.randint(trial % 4 > 1, 4)):
            if data:
                data[rng.randrange(len(data))] = rng.choice([rng.randrange(256), 0x22, 0x30, 0x5B, 0x7B])
        path.write_bytes(data)
        for read in (load, describe_file):
            try:
                read(path)
                outcomes.add("read")
            except ModelFileError as error:
                outcomes.add("refused" if "\n" not in str(error) else "told in several lines")
    assert outcomes == {"read", "refused"}


# ---------------------------------------------------------------- saving is atomic


def test_a_model_is_saved_to_the_file_it_is_mapped_from(tmp_path):
    path = tmp_path / "model.genus"
    save(toy({"x": np.arange(1000.0)}), path)
    model = load(path)
    model.state["y"] = np.zeros(5000)
    save(model, path)
    assert same(model.state["x"], np.arange(1000.0))
    assert same(load(path).state["x"], np.arange(1000.0))


def test_modes_are_those_of_ordinary_files(tmp_path):
    path = tmp_path / "model.genus"
    before = os.umask(0o027)
    try:
        save(toy(), path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        save(toy(), path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o604
    finally:
        os.umask(before)


def test_a_link_keeps_pointing_at_the_file(tmp_path):
    save(toy(alpha=1), tmp_path / "real")
    (tmp_path / "link").symlink_to("real")
    save(toy(alpha=2), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert load(tmp_path / "real").alpha == 2


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_keeps_the_old_file(step, tmp_path, monkeypatch):
    def fail(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "model.genus"
    save(toy(alpha="old"), path)
    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail)
        with pytest.raises(ModelFileError, match=r"model.genus: not saved: no space left on device"):
            save(toy(alpha="new"), path)
    assert load(path).alpha == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_saving_into_a_missing_folder_says_so(tmp_path):
    with pytest.raises(ModelFileError, match="not saved: no such file or directory"):
        save(toy(), tmp_path / "none" / "model.genus")


CHILD = """
import resource, signal, sys
import numpy as np
import genus.io.model_file as persistence
from genus.errors import ModelFileError

class Toy:
    def get_params(self, deep=True): return {}
    def _get_state(self): return {"x": np.ones(20_000_000)}
    def _set_state(self, state): pass

persistence.CLASSES["Toy"] = "__main__"
"""


def run_child(code: str, *arguments: Any) -> subprocess.Popen[str]:
    script = CHILD + textwrap.dedent(code)
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_file_that_cannot_grow_leaves_the_old_one(tmp_path):
    """A real limit on file size stands for a full disk: the write itself fails, midway."""
    path = tmp_path / "model.genus"
    save(toy(alpha="old"), path)
    child = run_child(
        """
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
        try:
            persistence.save(Toy(), sys.argv[1])
        except ModelFileError as error:
            print(error)
        """,
        path,
    )
    out, err = child.communicate(timeout=60)
    assert out == f"{path}: not saved: file too large\n", err
    assert load(path).alpha == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_control_c_while_writing_leaves_the_old_file(tmp_path):
    path = tmp_path / "model.genus"
    save(toy(alpha="old"), path)
    child = run_child(
        """
        import os
        slow = os.fsync
        def fsync(number):  # the arrays are written, the name is not yet changed
            print("writing", flush=True)
            signal.pause()
        os.fsync = fsync
        persistence.save(Toy(), sys.argv[1])
        """,
        path,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "writing\n"
    assert len(list(tmp_path.iterdir())) == 2
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert "KeyboardInterrupt" in err
    assert load(path).alpha == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_errors_are_of_one_family():
    assert issubclass(ModelFileError, GenusError)
