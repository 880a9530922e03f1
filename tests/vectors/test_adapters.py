"""Encoders that users bring: what they are taken for, what is checked of their answers, and model files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import genus
from genus import DataError, WordVectors
from genus.base.protocol import offers
from genus.text.encoder import Encoder, TellsParts
from genus.vectors import as_encoder
from genus.vectors.adapters import BATCH, MissingEncoder, storable

TEXTS = ["three short words", "", "Öl!"]


def lengths(texts: list[str]) -> list[list[float]]:
    assert type(texts) is list
    assert all(type(text) is str for text in texts)
    return [[float(len(text)), 2.0 * len(text)] for text in texts]


class Sentences:
    """What sentence-transformers and model2vec look like from here."""

    def encode(self, texts: list[str]) -> np.ndarray:
        return np.array(lengths(texts), dtype=np.float16)


class KeyedVectors:
    """gensim's."""

    key_to_index = {"match": 1, "goal": 0, "##s": 2}  # noqa: RUF012
    vectors = np.array([[3, 4], [1, 0], [0, 1]], dtype=np.float32)


@pytest.mark.parametrize(("source", "name"), [(lengths, "lengths"), (Sentences(), "Sentences")])
def test_models_and_functions_are_called_and_scaled_to_length_one(source: Any, name: str) -> None:
    encoder = as_encoder(source)
    assert (encoder.name, encoder.n_dimensions) == (name, 2)
    found = encoder.encode(TEXTS)
    assert found.vectors.dtype == np.float32
    np.testing.assert_allclose(found.vectors, np.array([[1, 2], [0, 0], [1, 2]]) / np.sqrt(5), rtol=1e-3)
    assert [counts.tolist() for counts in found[1:]] == [[3, 0, 1], [3, 0, 1], [0, 0, 0]]
    assert as_encoder(source, name="mine").name == "mine"
    assert as_encoder(encoder) is encoder
    assert not offers(encoder, TellsParts)


def test_texts_may_come_in_any_form() -> None:
    encoder: Encoder = as_encoder(lengths)
    assert encoder.encode(iter(TEXTS)).vectors.shape == (3, 2)
    assert encoder.encode(np.array(TEXTS, dtype=object)).vectors.shape == (3, 2)
    assert encoder.encode([]).vectors.shape == (0, 2)
    with pytest.raises(ValueError, match="got NoneType in row 1"):
        encoder.encode(["a", None])  # type: ignore[list-item]


def test_many_texts_come_in_batches() -> None:
    sizes = []

    def noting(texts: list[str]) -> np.ndarray:
        sizes.append(len(texts))
        return np.array(lengths(texts))

    assert as_encoder(noting).encode(["ab"] * (2 * BATCH + 1)).vectors.shape == (2 * BATCH + 1, 2)
    assert sizes == [BATCH, BATCH, 1]


def test_the_width_is_asked_for_once() -> None:
    asked = []

    def noting(texts: list[str]) -> np.ndarray:
        asked.append(texts)
        return np.ones((len(texts), 7))

    encoder = as_encoder(noting)
    assert encoder.n_dimensions == encoder.n_dimensions == 7
    assert asked == [["text"]]


def test_tables_of_gensim_are_read_natively() -> None:
    table = as_encoder(KeyedVectors())
    assert isinstance(table, WordVectors)
    assert table.words == ["goal", "match", "##s"]
    assert table.encode(["Goal goals"]).n_unknown.tolist() == [1]  # "##s" is a word like others there
    assert np.allclose(table.encode(["goal"]).vectors, [[0.6, 0.8]])


def test_paths_are_opened(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("goal 1 2\n")
    assert as_encoder(tmp_path / "v.txt").name == as_encoder(str(tmp_path / "v.txt")).name == "v.txt"
    with pytest.raises(DataError, match="no such file"):
        as_encoder(tmp_path / "none")


@pytest.mark.parametrize("source", [None, 3, b"path", np.ones((2, 2)), Sentences, [lengths]])
def test_what_is_no_encoder_is_named(source: Any) -> None:
    with pytest.raises(ValueError, match=r"vectors must be a path, .* got \w+\.$"):
        as_encoder(source)


@pytest.mark.parametrize(
    ("give", "message"),
    [
        (lambda texts: np.ones((len(texts) - 1, 2)), "must give an array of shape (3, n_dimensions), got shape (2, 2)"),
        (lambda texts: np.ones(len(texts)), "got shape (3,)"),
        (lambda texts: np.ones((len(texts), 0)), "got shape (3, 0)"),
        (lambda texts: np.ones((len(texts), 2, 2)), "got shape (3, 2, 2)"),
        (lambda texts: np.full((len(texts), 2), np.nan), "finite numbers, got NaN or infinity"),
        (lambda texts: np.full((len(texts), 2), np.inf), "finite numbers, got NaN or infinity"),
        (lambda texts: texts, "must give floating-point numbers, got list of <U"),
        (lambda texts: None, "got NoneType of object"),
        (lambda texts: [[1.0], [1.0, 2.0], [1.0]], "must give an array, got list"),
        (lambda texts: np.ones((len(texts), 2), dtype=int), "floating-point numbers, got ndarray of int64"),
    ],
)
def test_wrong_answers_are_told(give: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        as_encoder(give, name="mine").encode(TEXTS)
    assert str(caught.value).startswith("The encoder mine must give ")
    assert message in str(caught.value)
    assert "texts 0 to 2" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_another_width_in_a_later_batch_is_told() -> None:
    widths = iter([2, 3])
    encoder = as_encoder(lambda texts: np.ones((len(texts), next(widths))), name="mine")
    with pytest.raises(DataError, match=r"must give 2 numbers per text as before, got 3 for texts 1,024 to 1,024\."):
        encoder.encode(["a"] * (BATCH + 1))


def test_an_encoder_that_fails_in_the_middle_is_named() -> None:
    def fragile(texts: list[str]) -> np.ndarray:
        if "bad" in texts:
            raise KeyError("two\nlines")
        return np.ones((len(texts), 2))

    with pytest.raises(RuntimeError) as caught:
        as_encoder(fragile).encode(["a"] * BATCH + ["bad"])
    assert str(caught.value) == r"The encoder fragile failed at texts 1,024 to 1,024: KeyError: 'two\nlines'"
    assert isinstance(caught.value.__cause__, KeyError)


def test_extreme_numbers_keep_their_direction() -> None:
    rows = np.array([[3e200, 4e200], [3e-300, 4e-300], [0.0, 0.0]])
    found = as_encoder(lambda texts: rows, name="extreme").encode(TEXTS).vectors
    np.testing.assert_allclose(found, [[0.6, 0.8], [0.6, 0.8], [0, 0]], rtol=1e-6)


def test_model_files_keep_tables_and_the_names_of_other_encoders(tmp_path: Path) -> None:
    table = WordVectors.from_words(["a"], [[1.0]])
    assert storable(table) is table
    missing = storable(as_encoder(Sentences()))
    assert isinstance(missing, MissingEncoder)
    genus.save(missing, tmp_path / "m.genus")
    back = genus.load(tmp_path / "m.genus")
    assert (back.name, back.n_dimensions) == ("Sentences", 2)
    assert storable(back) is back
    assert as_encoder(back) is back
    with pytest.raises(
        DataError, match=r"encoder Sentences \(2 numbers per text\).*TextClassifier.load\(path, vectors="
    ):
        back.encode(TEXTS)


def test_an_encoder_without_a_name_has_that_of_its_class() -> None:
    class Caller:
        def __call__(self, texts: list[str]) -> np.ndarray:
            return np.ones((len(texts), 1))

    assert as_encoder(Caller()).name == "Caller"
    assert repr(as_encoder(Caller())) == "<TextEncoder Caller>"
