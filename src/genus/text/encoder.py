"""What makes a vector of a text: a table of word vectors, a sentence encoder, any function of texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from genus.base.arrays import Float32, Int32
from genus.text.inputs import Texts


class Encoded(NamedTuple):
    """Texts as vectors of length one (zero where no word is known)."""

    vectors: Float32  # (n_texts, n_dimensions)
    n_words: Int32  # of each text
    n_whole: Int32  # words with an entry of their own
    n_unknown: Int32  # words without any vector


class Encoder(Protocol):
    """Makes vectors of texts."""

    @property
    def name(self) -> str: ...

    @property
    def n_dimensions(self) -> int: ...

    def encode(self, texts: Texts, n_jobs: int | None = None) -> Encoded: ...


class TellsParts(Protocol):
    """Says what each word adds to the vector of a text, and which words are near in meaning."""

    def parts(self, text: str) -> Sequence[tuple[str, int, Float32]]: ...

    def nearest(self, word: str, among: Sequence[str], k: int = 3) -> list[tuple[str, float]]: ...
