"""What turns texts into unit vectors, by capability."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from genus.base.arrays import Int32
from genus.text.inputs import Texts

Float32: TypeAlias = NDArray[np.float32]


class Encoded(NamedTuple):
    """Texts as vectors, and how many of their words the encoder knows."""

    vectors: Float32  # (n, d): rows of length one, zeros where no word is known
    n_words: Int32  # words of each text
    n_whole: Int32  # words that have a vector of their own
    n_unknown: Int32  # words that add nothing


class Encoder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def name(self) -> str: ...

    @property
    def n_dimensions(self) -> int: ...

    def encode(self, texts: Texts, n_jobs: int | None = None) -> Encoded: ...


class TellsParts(Protocol):
    """Splits a text's vector into what each word adds, and compares words."""

    def parts(self, text: str) -> list[tuple[str, int, Float32]]:
        """Each distinct word or pair of words, how often it occurs, and what it adds to the text's unit vector."""
        ...

    def nearest(self, word: str, among: Iterable[str], k: int) -> list[tuple[str, float]]:
        """The words of `among` nearest to a word, with their cosines, the nearest first."""
        ...


class HasWords(Encoder, Protocol):
    """Knows a list of words, each with a vector."""

    words: list[str]
