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

from genus.base.arrays import Float32
from genus.base.documents import DocumentAccumulator, Documents
from genus.base.labels import Labels
from genus.base.protocol import Label
from genus.base.rows import to_matrix, unit_rows
from genus.pipeline.vector_reader import VectorReader
from genus.pipeline.single import TextPipeline


class SimilarText(NamedTuple):
    """A training text: its number, counted from 0 as learned, its label, and its similarity, at most 1."""

    number: int
    label: Label
    similarity: float


class TrainingTexts:
    """The texts that a pipeline's model keeps, by their words and by the vectors of these."""

    def __init__(self, pipeline: TextPipeline, encoder: VectorReader | None) -> None:
        self.pipeline = pipeline
        self.encoder = encoder

    @classmethod
    def of(cls, pipelines: Sequence[TextPipeline]) -> TrainingTexts | None:
        """Those of the first pipeline whose model keeps its documents, words before n-grams of characters."""
        encoder = next((p.vectorizer for p in pipelines if isinstance(p.vectorizer, VectorReader)), None)
        keep = [p for p in pipelines if isinstance(getattr(p.model, "_accumulator", None), DocumentAccumulator)]
        keep.sort(key=lambda p: p.vectorizer.analyzer != "word")
        return cls(keep[0], encoder) if keep else None

    def similar(self, text: str, k: int) -> list[SimilarText]:
        """The k most similar training texts, the most similar first."""
        row = unit_rows(self.pipeline.rows([text]))
        cosines = np.asarray(self._words @ to_matrix(row).toarray()[0])
        if self.encoder is not None:
            vector = self.encoder.encode([text]).vectors[0]
            cosines = (cosines + self._vectors @ vector) / 2
        best = np.argsort(-cosines, kind="stable")[:k]
        labels: Labels = self._documents.labels[self._documents.codes[best]]
        return [SimilarText(*found) for found in zip(best.tolist(), labels.tolist(), cosines[best].tolist(), strict=True)]

    @property
    def _documents(self) -> Documents:
        accumulator = self.pipeline.model._accumulator
        assert isinstance(accumulator, DocumentAccumulator)
        return accumulator.documents()

    @cached_property
    def _words(self) -> sparse.csr_array:
        return to_matrix(unit_rows(self._documents.rows))

    @cached_property
    def _vectors(self) -> Float32:
        """Of each training text, of length one: the sum of its words' vectors, times their weights."""
        assert self.encoder is not None
        vocabulary = self.pipeline.vectorizer._words.unpack()
        vectors = to_matrix(self._documents.rows).astype(np.float32) @ self.encoder.encode(vocabulary).vectors
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)

