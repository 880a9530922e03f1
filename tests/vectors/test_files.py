"""Tables of word vectors in files: the table format and the text formats, whole, damaged and wrong."""

from __future__ import annotations

import gzip
import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genus import DataError, WordVectors
from genus.base.arrays import Strings
from genus.io import safetensors

pytestmark = pytest.mark.kernel

WORDS = ["goal", "match", "##ing", "new york", "Öl"]
VECTORS = np.arange(15, dtype=np.int8).reshape(5, 3) - 7
SCALES = np.linspace(0.5, 2, 5, dtype=np.float32)


def arrays(**changes: Any) -> dict[str, Any]:
    blob, offsets = Strings.pack(WORDS)
    made = {"vectors": VECTORS, "scales": SCALES, "words.utf8": blob, "words.offsets": offsets}
    made |= {key.replace("__", "."): value for key, value in changes.items()}
    return {name: array for name, array in made.items() if array is not None}


def written(path: Path, metadata: dict[str, str] | None = None, **changes: Any) -> Path:
    safetensors.write(path, metadata or {}, arrays(**changes))
    return path


def error_of(path: Path) -> str:
    """The one line that says what is wrong with a file."""
    with pytest.raises(DataError) as caught:
        WordVectors.load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


# The table format


def test_a_table_is_written_and_read(tmp_path: Path) -> None:
    about = {"licence": "Apache-2.0", "made_by": "hand"}
    table = WordVectors.from_words(WORDS, VECTORS, SCALES, name="small", lowercase=False, about=about)
    table.save(tmp_path / "t.safetensors")
    back = WordVectors.load(tmp_path / "t.safetensors")
    assert (back.name, back.about, back.lowercase, back.words) == ("small", about, False, WORDS)
    assert back.checksum == table.checksum
    assert not back._table.vectors.flags.writeable  # mapped


def test_only_the_arrays_are_needed(tmp_path: Path) -> None:
    table = WordVectors.load(written(tmp_path / "mine.table"))  # told by its content
    assert (table.name, table.lowercase, table.about) == ("mine.table", True, {})
    assert table._table.pieces
    assert not WordVectors.load(written(tmp_path / "b", {"pieces": "false"}))._table.pieces


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_vectors_may_be_floats(tmp_path: Path, dtype: type) -> None:
    table = WordVectors.load(written(tmp_path / "t.safetensors", vectors=VECTORS.astype(dtype), scales=None))
    assert table.vector("goal").tolist() == VECTORS[0].tolist()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vectors": None}, "is no table of word vectors: it has no array 'vectors'"),
        ({"words__offsets": None}, "it has no array 'words.offsets'"),
        ({"scales": None}, "int8 need one scale for each row"),
        ({"scales": SCALES[:-1]}, "one for each of the 5 words, got float32 of shape (4,)"),
        ({"scales": SCALES.astype(np.float64)}, "the scales must be float32"),
        ({"scales": np.array([1, 2, np.inf, 3, 4], np.float32)}, "the scale of '##ing' (entry 2) holds NaN, infinity"),
        ({"vectors": VECTORS[:4]}, "one row for each of the 5 words, got shape (4, 3)"),
        ({"vectors": VECTORS.ravel()}, "got shape (15,)"),
        ({"vectors": VECTORS.astype(np.int16)}, "must be int8, float16, float32 or float64, got int16"),
        ({"words__offsets": np.array([0, 4, 3, 14, 22, 25])}, "must rise from 0 to 25"),
        ({"words__offsets": np.array([-3, 4, 9, 14, 22, 25])}, "must rise from 0 to 25"),
        ({"words__offsets": np.array([0, 4, 9, 14, 22, 24])}, "must rise from 0 to 25"),
        ({"words__offsets": np.array([0, 4, 4, 14, 22, 25])}, "entry 1 has an empty name"),
        ({"words__offsets": np.array([0, 4, 9, 14, 23, 25])}, "the name of entry 4 is not UTF-8"),
        ({"words__offsets": np.array([0, 4, 9, 14, 22, 25], np.int32)}, "offsets (int64), got uint8"),
        ({"words__utf8": np.frombuffer(b"goalmatch##ing\xffew yorkxyz", np.uint8)}, "entry 3 is not UTF-8"),
        ({"words__utf8": np.frombuffer(b"goalmatch##inggoal yorabc", np.uint8)}, ""),
    ],
)
def test_what_is_wrong_with_a_table_is_told(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = written(tmp_path / "t.safetensors", **changes)
    if not message:  # the same size with other words is fine: what fails above is the change
        assert len(WordVectors.load(path)) == 5
        return
    assert message in error_of(path)


def test_words_that_are_there_twice_are_named(tmp_path: Path) -> None:
    blob, offsets = Strings.pack(["goal", "match", "##ing", "goal", "Öl"])
    message = error_of(written(tmp_path / "t.safetensors", words__utf8=blob, words__offsets=offsets))
    assert message == "the word 'goal' occurs twice, the second time as entry 3."


def test_flags_are_true_or_false(tmp_path: Path) -> None:
    assert "lowercase must be 'true' or 'false', got 'yes'" in error_of(written(tmp_path / "t", {"lowercase": "yes"}))


def test_an_empty_table_is_refused(tmp_path: Path) -> None:
    changes = {"vectors": VECTORS[:0], "scales": SCALES[:0], "words__utf8": np.zeros(0, np.uint8)}
    assert "the table is empty" in error_of(
        written(tmp_path / "t.safetensors", **changes, words__offsets=np.zeros(1, np.int64))
    )


@pytest.mark.parametrize("keep", [0, 5, 12, 100, 400, -1])
def test_a_truncated_table_is_refused(tmp_path: Path, keep: int) -> None:
    path = written(tmp_path / "t.safetensors")
    path.write_bytes(path.read_bytes()[:keep])
    assert error_of(path)


def test_a_mutated_table_is_refused_or_read(tmp_path: Path) -> None:
    """Whatever bytes change, a table is one that encodes texts to finite numbers, or a DataError."""
    whole = written(tmp_path / "t.safetensors").read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for i in range(400):
        data = bytearray(whole)
        for _ in range(rng.integers(1, 5)):
            at = int(rng.integers(len(data)))
            match rng.integers(3):
                case 0:
                    data[at] = int(rng.integers(256))
                case 1:
                    del data[at : at + int(rng.integers(1, 9))]
                case _:
                    data[at:at] = rng.bytes(int(rng.integers(1, 9)))
        path = tmp_path / f"m{i}.safetensors"
        path.write_bytes(data)
        try:
            table = WordVectors.load(path)
        except DataError:
            refused += 1
            continue
        found = table.encode(["goal matching new york öl Öl ##"])
        assert np.isfinite(found.vectors).all()
        table.parts("goal matching new york")
    assert 100 < refused < 400


@given(st.dictionaries(st.sampled_from(["vectors", "scales", "words.utf8", "words.offsets"]), st.integers(0, 6)))
@settings(deadline=None)
def test_arrays_of_other_sizes_are_refused(tmp_path_factory: pytest.TempPathFactory, sizes: dict[str, int]) -> None:
    given_arrays = arrays()
    changed = {name: array[: sizes.get(name, len(array))] for name, array in given_arrays.items()}
    path = tmp_path_factory.mktemp("sizes") / "t.safetensors"
    safetensors.write(path, {}, changed)
    if all(len(changed[name]) == len(array) for name, array in given_arrays.items()):
        assert len(WordVectors.load(path)) == 5
    else:
        assert error_of(path)


def test_a_header_that_claims_too_much_is_refused(tmp_path: Path) -> None:
    header = json.dumps({"vectors": {"dtype": "I8", "shape": [1 << 40, 3], "data_offsets": [0, 3 << 40]}}).encode()
    (tmp_path / "t.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
    assert "is cut short" in error_of(tmp_path / "t.safetensors")


def test_what_is_no_file_is_told(tmp_path: Path) -> None:
    assert "is a folder" in error_of(tmp_path)
    assert "no such file" in error_of(tmp_path / "none.txt")
    table = WordVectors.from_words(["a"], [[1.0]])
    with pytest.raises(DataError, match="not saved: no such file"):
        table.save(tmp_path / "none" / "t.safetensors")


# Text formats

GLOVE = "the 0.5 -1 2e-1\nof 1 2 3\n. . 7 8 9\nÖl 0 0 1\n"
NAMES = ["the", "of", ". .", "Öl"]


@pytest.mark.parametrize("header", ["", "4 3\n"])
@pytest.mark.parametrize("end", ["\n", " \n", "\r\n"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress], ids=["plain", "gzip", "xz"])
def test_text_formats_are_read(tmp_path: Path, header: str, end: str, pack: Any) -> None:
    path = tmp_path / "vectors.txt"
    path.write_bytes(pack((header + GLOVE).replace("\n", end).encode()))
    table = WordVectors.load(path)
    assert (table.name, table.words, table.n_dimensions, table.lowercase) == ("vectors.txt", NAMES, 3, False)
    assert table.vector("the").tolist() == np.array([0.5, -1, 0.2], np.float32).tolist()
    assert table.vector(". .").tolist() == [7, 8, 9]


def test_text_tables_of_lower_case_words_lower_case_texts(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("goal 1 2\n##s 1 2\n")
    found = WordVectors.load(tmp_path / "t.txt").encode(["Goal", "goals"])
    assert found.n_whole.tolist() == [1, 0]
    assert found.n_unknown.tolist() == [0, 1]  # "##s" is a word like others here


def test_many_lines_are_read(tmp_path: Path) -> None:
    numbers = np.random.default_rng(0).standard_normal((10_000, 5)).astype(np.float32)
    lines = [f"w{i} " + " ".join(map(str, row)) for i, row in enumerate(numbers)]
    (tmp_path / "t.vec").write_text("10000 5\n" + "\n".join(lines) + "\n")
    table = WordVectors.load(tmp_path / "t.vec")
    assert table._table.vectors.tobytes() == numbers.tobytes()
    lines[9_000] += "x"
    (tmp_path / "t.vec").write_text("10000 5\n" + "\n".join(lines) + "\n")
    assert error_of(tmp_path / "t.vec").startswith("line 9,002: expected a finite number")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "is empty"),
        (b"\n", "is empty"),
        (b"the\n", "line 1: expected a word and its numbers, got 'the'"),
        (b"a 1 2\nb 1\n", "line 2: expected a word and 2 numbers, got 2 fields"),
        (b"a 1 2\nb 1 2 3\n", "line 2: expected a word and 2 numbers, got 4 fields"),
        (b"2 2\na 1 2\nb 1 2 3\n", "line 3: expected a word and 2 numbers, got 4 fields"),
        (b"a 1 2\n\nb 1 2\n", "line 2: expected a word and 2 numbers, got 1 fields"),
        (b"a 1 2\nb 1 nan\n", "line 2: expected a finite number below 1e+20, got 'nan'"),
        (b"a 1 2\nb -inf 1\n", "line 2: expected a finite number below 1e+20, got '-inf'"),
        (b"a 1 2\nb 1 1e50\n", "line 2: expected a finite number below 1e+20, got '1e50'"),
        (b"a 1 2\nb 1 two\n", "line 2: expected a finite number below 1e+20, got 'two'"),
        (b"a 1 2\nb 1 \n", "line 2: expected a word and 2 numbers, got 2 fields"),
        (b"a 1 2\n 1 2\n", "line 2: the word is empty"),
        (b"a 1 2\nb 1 2\na 3 4\n", "line 3: the word 'a' was already in line 1"),
        (b"3 2\na 1 2\nb 1 2\na 3 4\n", "line 4: the word 'a' was already in line 2"),
        (b"a 1 2\n\xff 1 2\n", "line 2: the word '\\\\xff' is not UTF-8"),
        (b"3 2\na 1 2\nb 1 2\n", "line 1 announces 3 words, there are 2: is it complete?"),
        (b"0 2\n", "the table is empty"),
        (b"1 0\na\n", "line 1: expected a word and its numbers"),
        (b"a\0b 1 2\n", "is binary"),
        (gzip.compress(GLOVE.encode(), mtime=0)[:-9], "end-of-stream"),
        (lzma.compress(GLOVE.encode())[:-9], "end-of-stream"),
        (gzip.compress(GLOVE.encode(), mtime=0)[:10] + b"\xff" * 30, "is damaged"),
    ],
)
def test_what_is_wrong_with_a_text_is_told(tmp_path: Path, text: bytes, message: str) -> None:
    (tmp_path / "vectors.txt").write_bytes(text)
    assert message in error_of(tmp_path / "vectors.txt")


def test_word2vecs_binary_format_is_named(tmp_path: Path) -> None:
    (tmp_path / "v.bin").write_bytes(b"2 2\na " + np.ones(2, np.float32).tobytes() + b"b " + bytes(8))
    assert "is binary" in error_of(tmp_path / "v.bin")


def test_a_compressed_table_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "t.gz"
    path.write_bytes(gzip.compress(written(tmp_path / "t").read_bytes()))
    assert "is binary" in error_of(path)
