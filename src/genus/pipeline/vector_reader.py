"""What reads texts as vectors where others are counted by a vectorizer: texts as dense rows, for models of vectors.

    row of a text = its vector, of length one:  the sum of the vectors of its words, or what a sentence encoder gives

Rows are `SparseRows` in which every column is filled, so that code that handles rows of counts handles these too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np

from genus.base.arrays import Float32, Float64, Int32
from genus.base.protocol import BaseEstimator, State, offers
from genus.base.rows import SparseRows, full_rows
from genus.explain import WordEvidence
from genus.text.encoder import Encoded, Encoder, HasWords, TellsParts
from genus.text.inputs import Texts
from genus.text.vectorizer import Vectorizer
from genus.vectors.adapters import storable


class VectorReader(BaseEstimator):
    """Reads texts by an `Encoder`, with the methods of a `Vectorizer` that pipelines use. It learns nothing."""

    # What a `Vectorizer` is asked for besides
    analyzer = "vectors"
    n_hash = None
    min_df = 1
    _grows = False
    _keeps_every_word = False

    source: Encoder

    def __init__(self, *, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    @classmethod
    def from_source(cls, source: Encoder, n_jobs: int | None = None) -> VectorReader:
        encoder = cls(n_jobs=n_jobs)
        encoder.source = source
        return encoder

    @property
    def n_columns_(self) -> int:
        return self.source.n_dimensions

    def encode(self, texts: Texts) -> Encoded:
        return self.source.encode(texts, self.n_jobs)

    def _transform_rows(self, texts: Texts) -> tuple[SparseRows, Int32]:
        found = self.encode(texts)
        return full_rows(found.vectors), found.n_unknown

    def _stream_rows(self, text: str) -> SparseRows:
        return self._transform_rows([text])[0]

    def _fit_rows(self, texts: Texts) -> SparseRows:
        return self._transform_rows(texts)[0]

    def _partial_fit_rows(self, texts: Texts) -> SparseRows:
        return self._transform_rows(texts)[0]

    def _writable(self) -> VectorReader:
        return self

    # Where the encoder tells words apart

    @property
    def tells_words(self) -> bool:
        """Whether the vector of a text is a sum over its words."""
        return offers(self.source, TellsParts)

    def words(self, text: str) -> list[str]:
        """The distinct words of a text that have a vector."""
        return [word for word, *_ in self.parts(text) if " " not in word]

    def parts(self, text: str) -> list[tuple[str, int, Float32]]:
        """What each distinct word and pair of words adds to a text's vector."""
        source = self.source
        return source.parts(text) if offers(source, TellsParts) else []

    def nearest(self, words: Sequence[str], among: Sequence[str], k: int = 3) -> list[tuple[str, ...]]:
        """For each word, the k of other words that are nearest in meaning."""
        others, source = [word for word in among if " " not in word], self.source
        if not offers(source, TellsParts):
            return [()] * len(words)
        return [tuple(near for near, _ in source.nearest(word, others, k)) for word in words]

    def top_words(self, slopes: Float64, n: int) -> list[tuple[str, float]]:
        """The words of the table whose vectors add most to a score that grows by ``slopes``; none without a table."""
        words, vectors = self._table
        worth = vectors @ slopes
        best = np.argsort(-worth, kind="stable")[:n]
        return [(words[i], float(worth[i])) for i in best]

    def top_vectors(self, vector: Float64, n: int) -> Float64:
        """The mean vector of the words of the table that are nearest to a vector, each times its cosine."""
        vectors = self._table[1]
        cosines = vectors @ vector
        best = np.argsort(-cosines, kind="stable")[:n]
        return np.asarray(cosines[best] @ vectors[best] / max(n, 1), dtype=np.float64)

    @cached_property
    def _table(self) -> tuple[list[str], Float32]:
        """The words of a table that are no pairs and no pieces, and their vectors; none without a table."""
        source = self.source
        if not offers(source, HasWords):
            return [], np.zeros((0, self.n_columns_), dtype=np.float32)
        words = [word for word in source.words if len(word) > 2 and " " not in word and not word.startswith("##")]
        return words, source.encode(words, self.n_jobs).vectors

    def word_evidence(self, text: str, slopes: Float64, center: Float64) -> list[WordEvidence] | None:
        """What each word adds to the score slopes @ (x - center) of the text's vector x.

        A word is compared with the mean text: its part of x, less its share of the center. None where the encoder
        reads a text as a whole.
        """
        source = self.source
        if not offers(source, TellsParts):
            return None
        parts = source.parts(text)
        middle = float(center @ slopes) / max(sum(n for word, n, _ in parts if " " not in word), 1)
        return [
            WordEvidence(word, n, float(part @ slopes) - (middle * n if " " not in word else 0.0))
            for word, n, part in parts
        ]

    # Keeping

    def _get_state(self) -> State:
        return {"source": storable(self.source)}

    def _set_state(self, state: State) -> None:
        source = state["source"]
        if not offers(source, Encoder):
            raise ValueError("an encoder of texts was expected")
        self.source = source


Reader: TypeAlias = Vectorizer | VectorReader  # how a pipeline reads texts
