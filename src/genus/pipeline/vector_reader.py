"""What reads texts as vectors where others are counted by a vectorizer: texts as dense rows, for models of vectors.

    row of a text = its vector, of length one:  the sum of the vectors of its words, or what a sentence encoder gives

Rows are `SparseRows` in which every column is filled, so that code that handles rows of counts handles these too.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from genus.base.arrays import Float32, Float64, Int32
from genus.base.protocol import BaseEstimator, State, offers
from genus.base.rows import SparseRows, full_rows
from genus.explain import WordEvidence
from genus.text.encoder import Encoded, Encoder, TellsParts
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

    def _fit_rows(self, texts: Texts) -> SparseRows:
        return self._transform_rows(texts)[0]

    def _partial_fit_rows(self, texts: Texts) -> SparseRows:
        return self._transform_rows(texts)[0]

    def word_evidence(self, text: str, slopes: Float64) -> list[WordEvidence] | None:
        """What each word adds to a score that grows by ``slopes`` with the columns of the text's vector.

        None where the encoder reads a text as a whole.
        """
        if not offers(self.source, TellsParts):
            return None
        return [WordEvidence(word, n, float(part @ slopes)) for word, n, part in self.source.parts(text)]

    def _get_state(self) -> State:
        return {"source": storable(self.source)}

    def _set_state(self, state: State) -> None:
        source = state["source"]
        if not offers(source, Encoder):
            raise ValueError("an encoder of texts was expected")
        self.source = source


Reader: TypeAlias = Vectorizer | VectorReader  # how a pipeline reads texts
