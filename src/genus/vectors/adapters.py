"""Encoders that users bring: sentence encoders, tables of other libraries, functions. None of those is imported."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genus import _core
from genus.base.arrays import Int32, Strings, describe, n_threads
from genus.errors import DataError
from genus.text.encoder import Encoded, Encoder, Float32
from genus.text.inputs import Texts, plain_texts
from genus.vectors.table import WordVectors

BATCH = 1024  # texts that an encoder is given at a time


def as_encoder(source: object, name: str | None = None) -> Encoder:
    """Whatever gives vectors of texts, as an encoder.

    Parameters
    ----------
    source : path, WordVectors, model or function
        A path is opened by `WordVectors.load`. gensim's KeyedVectors become a `WordVectors`. Models with a method
        `encode` (sentence-transformers, model2vec) and functions are called with lists of texts and give an array with
        one row per text; they stay outside of model files.
    name : str, default=None
        How a model or a function is called in messages and in model files; by default its class or its own name.

    Examples
    --------
    >>> from genus.vectors import as_encoder
    >>> def lengths(texts):
    ...     return [[float(len(text)), 1.0] for text in texts]
    >>> as_encoder(lengths).encode(["", "abc"]).vectors.astype(float).round(2).tolist()
    [[0.0, 1.0], [0.95, 0.32]]
    """
    if isinstance(source, (WordVectors, TextEncoder, MissingEncoder)):
        return source
    if isinstance(source, (str, os.PathLike)):
        return WordVectors.load(source)
    if hasattr(source, "key_to_index") and hasattr(source, "vectors"):
        return _from_gensim(source, name)
    encode = getattr(source, "encode", source)
    if not callable(encode) or isinstance(source, type):
        raise ValueError(
            "vectors must be a path, a WordVectors, a model with a method encode, gensim's KeyedVectors or a function "
            f"of texts, got {describe(source)}."
        )
    return TextEncoder(encode, name or str(getattr(source, "__name__", type(source).__name__)))


def storable(encoder: Encoder) -> WordVectors | MissingEncoder:
    """What a model file keeps of an encoder: a table, or the name and width of what cannot be stored."""
    if isinstance(encoder, (WordVectors, MissingEncoder)):
        return encoder
    return MissingEncoder(encoder.name, encoder.n_dimensions)


def _from_gensim(source: Any, name: str | None) -> WordVectors:
    words = sorted(source.key_to_index, key=source.key_to_index.__getitem__)
    numbers = [source.key_to_index[word] for word in words]
    vectors = np.asarray(source.vectors)[numbers]
    return WordVectors.from_words(words, vectors, pieces=False, name=name or type(source).__name__)


class TextEncoder:
    """A model or a function that gives vectors of texts. Every word counts as known."""

    def __init__(self, encode: Callable[[list[str]], object], name: str) -> None:
        self.name = name
        self._source = encode
        self._width: int | None = None

    @property
    def n_dimensions(self) -> int:
        if self._width is None:
            self._batch(["text"], 0)
        assert self._width is not None
        return self._width

    def encode(self, texts: Texts, n_jobs: int | None = None) -> Encoded:
        """Texts to unit vectors. `n_jobs` is for counting words: how the encoder works is its own affair."""
        given = plain_texts(texts)
        batches = [self._batch(given[i : i + BATCH], i) for i in range(0, len(given), BATCH)]
        vectors = np.concatenate(batches) if batches else np.zeros((0, self.n_dimensions), dtype=np.float32)
        n_words = _count_words(given, n_jobs)
        return Encoded(vectors, n_words, n_words, np.zeros_like(n_words))

    def _batch(self, texts: list[str], first: int) -> Float32:
        rows = f"texts {first:,} to {first + len(texts) - 1:,}"
        try:
            given = self._source(texts)
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise RuntimeError(f"The encoder {self.name} failed at {rows}: {reason}") from error
        try:
            vectors = _checked(given, len(texts), self._width)
        except ValueError as error:
            raise DataError(f"The encoder {self.name} must give {error} for {rows}.") from error
        self._width = vectors.shape[1]
        return _unit(vectors)

    def __repr__(self) -> str:
        return f"<TextEncoder {self.name}>"

    def __sklearn_clone__(self) -> TextEncoder:
        return self


class MissingEncoder:
    """Stands in a model file for an encoder that cannot be stored.

    Parameters
    ----------
    name : str
        The encoder's name.
    n_dimensions : int
        How many numbers it gives for a text.
    """

    def __init__(self, name: str, n_dimensions: int) -> None:
        if not isinstance(name, str) or type(n_dimensions) is not int or n_dimensions < 1:
            raise ValueError("an encoder has a name and a positive number of dimensions")
        self.name = name
        self.n_dimensions = n_dimensions

    def encode(self, texts: Texts, n_jobs: int | None = None) -> Encoded:
        raise DataError(
            f"The model was trained with the encoder {self.name} ({self.n_dimensions} numbers per text), which a model "
            "file cannot hold: give it as TextClassifier.load(path, vectors=encoder)."
        )

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"name": self.name, "n_dimensions": self.n_dimensions}

    def _get_state(self) -> dict[str, Any]:
        return {}

    def _set_state(self, state: Mapping[str, object]) -> None:
        if state:
            raise ValueError("a missing encoder has no state")

    def __sklearn_clone__(self) -> MissingEncoder:
        return self


def _checked(given: object, n: int, width: int | None) -> NDArray[np.floating[Any]]:
    """What an encoder gave, as an array; the ValueError says what it should have been and what came."""
    try:
        vectors = np.asarray(given)
    except Exception as error:  # another library's array may fail in any way
        raise ValueError(f"an array, got {describe(given)}") from error
    if vectors.dtype.kind != "f":
        raise ValueError(f"floating-point numbers, got {describe(given)} of {vectors.dtype}")
    if vectors.ndim != 2 or len(vectors) != n or vectors.shape[1] == 0:
        raise ValueError(f"an array of shape ({n}, n_dimensions), got shape {vectors.shape}")
    if width is not None and vectors.shape[1] != width:
        raise ValueError(f"{width} numbers per text as before, got {vectors.shape[1]}")
    if not np.isfinite(vectors).all():
        raise ValueError("finite numbers, got NaN or infinity")
    return vectors


def _unit(vectors: NDArray[np.floating[Any]]) -> Float32:
    largest = np.abs(vectors).max(axis=1, keepdims=True).astype(np.float64)
    scaled = vectors / np.where(largest > 0, largest, 1)  # squares neither overflow nor vanish
    length = np.linalg.norm(scaled, axis=1, keepdims=True)
    unit: Float32 = (scaled / np.where(length > 0, length, 1)).astype(np.float32)
    return unit


_NO_WORDS = (*Strings.pack([]), np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.uint8), False)


def _count_words(texts: list[str], n_jobs: int | None) -> Int32:
    nothing = np.zeros((0, 0), dtype=np.float32)
    return _core.encode_words(texts, True, *_NO_WORDS, nothing, n_threads(n_jobs))[1]
