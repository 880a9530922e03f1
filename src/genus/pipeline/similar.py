"""Training texts that are near a text: by the words they share, and by the meaning of their words.

    similarity(a, b)  =  (cos of the texts' rows of counts  +  cos of their vectors) / 2

A training text is known by its row of weighted counts only, so its vector is the sum of the vectors of its words, each
times its weight in the row. Without a table of word vectors, the first cosine is all.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from genus.base.arrays import Float32, unit_vectors
from genus.base.documents import DocumentAccumulator, Documents
from genus.base.labels import Labels
from genus.base.protocol import Label
from genus.base.rows import to_matrix, unit_rows
from genus.pipeline.single import TextPipeline
from genus.pipeline.vector_reader import VectorReader
from genus.text.vectorizer import Vectorizer


class SimilarText(NamedTuple):
    """A training text: its number, counted from 0 as learned, its label, and its similarity, at most 1."""

    number: int
    label: Label
    similarity: float


class TrainingTexts:
    """The texts that a pipeline's model keeps, by their words and by the vectors of these."""

    def __init__(self, pipeline: TextPipeline, vectorizer: Vectorizer, encoder: VectorReader | None) -> None:
        self.pipeline, self.vectorizer, self.encoder = pipeline, vectorizer, encoder
        documents = _documents(pipeline)
        assert documents is not None
        self.documents = documents

    @classmethod
    def from_pipelines(cls, pipelines: Sequence[TextPipeline]) -> TrainingTexts | None:
        """Those of the first pipeline whose model keeps its documents, words before n-grams of characters."""
        encoder = next((p.vectorizer for p in pipelines if isinstance(p.vectorizer, VectorReader)), None)
        keep = [p for p in pipelines if _documents(p) is not None]
        for p in sorted(keep, key=lambda p: p.vectorizer.analyzer != "word"):
            if isinstance(p.vectorizer, Vectorizer):
                meaning = encoder if p.vectorizer.n_hash is None and p.vectorizer.analyzer == "word" else None
                return cls(p, p.vectorizer, meaning)
        return None

    def similar(self, text: str, k: int) -> list[SimilarText]:
        """The k most similar training texts, the most similar first."""
        row = to_matrix(unit_rows(self.pipeline.rows([text])))
        cosines = np.asarray(self._words @ row.toarray()[0])
        if self.encoder is not None:
            cosines = (cosines + self._vectors @ self._vector(self.encoder, text, row)) / 2
        best = np.argsort(-cosines, kind="stable")[:k]
        labels: Labels = self.documents.labels[self.documents.codes[best]]
        return [
            SimilarText(*found) for found in zip(best.tolist(), labels.tolist(), cosines[best].tolist(), strict=True)
        ]

    def is_current(self) -> bool:
        """Whether the model still has the same texts."""
        return _documents(self.pipeline) is self.documents

    @cached_property
    def _words(self) -> sparse.csr_array:
        return to_matrix(unit_rows(self.documents.rows))

    @cached_property
    def _vectors(self) -> Float32:
        """Of each training text, of length one: the sum of its words' vectors, times their weights."""
        return unit_vectors(to_matrix(self.documents.rows).astype(np.float32) @ self._vocabulary)

    def _vector(self, encoder: VectorReader, text: str, row: sparse.csr_array) -> Float32:
        """The same of a text that asks; words that no training text has weigh as the others do on average."""
        vector: Float32 = (row.astype(np.float32) @ self._vocabulary)[0]
        words = encoder.words(text)
        new = [word for word, n in zip(words, self.vectorizer._transform_rows(words)[1], strict=True) if n]
        weight = float(row.data.mean()) if row.nnz else 1.0
        whole: Float32 = vector + weight * encoder.encode(new).vectors.sum(axis=0)
        return np.asarray(unit_vectors(whole[np.newaxis])[0])

    @cached_property
    def _vocabulary(self) -> Float32:
        """The vectors of the words that are counted."""
        assert self.encoder is not None
        vectors: Float32 = self.encoder.encode(self.vectorizer._words.unpack()).vectors
        return vectors


def _documents(pipeline: TextPipeline) -> Documents | None:
    """The documents that a pipeline's model keeps, if it does."""
    accumulator = getattr(pipeline.model, "_accumulator", None)
    return accumulator.documents() if isinstance(accumulator, DocumentAccumulator) else None
