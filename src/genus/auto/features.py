"""Documents as candidates see them: counted by a vectorizer, weighed, and as they look when they are new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from genus.base.arrays import Float64, Int32
from genus.base.protocol import Params
from genus.base.rows import SparseRows, full_rows, row_sums
from genus.pipeline.pool import known_shares
from genus.pipeline.vector_reader import Reader, VectorReader
from genus.text.vectorizer import Vectorizer
from genus.text.weighting import TermWeighting


@dataclass
class Features:
    """Documents as one feature set counts them."""

    vectorizer: Reader
    counts: SparseRows
    texts: Sequence[str]
    _weighted: dict[str, tuple[TermWeighting | None, SparseRows, SparseRows]] = field(default_factory=dict)

    @classmethod
    def from_texts(cls, vectorizer: Vectorizer, texts: Sequence[str]) -> Features:
        return cls(vectorizer, vectorizer._fit_rows(texts), texts)

    @cached_property
    def unknown(self) -> Int32:
        """Tokens of each document that the vocabulary does not have."""
        pruned = self.vectorizer._grows and not self.vectorizer._keeps_every_word
        if not pruned:
            return np.zeros(self.counts.n_rows, dtype=np.int32)
        unknown: Int32 = self.vectorizer._transform_rows(self.texts)[1]
        return unknown

    @cached_property
    def new(self) -> SparseRows:
        """Each document as it would be counted had it not been there to bring its words into the vocabulary."""
        counts = self.counts
        if not self.vectorizer._grows or not isinstance(self.vectorizer.min_df, int):
            return counts
        frequency = np.bincount(counts.indices[counts.data > 0], minlength=counts.n_columns)
        keep = (frequency > self.vectorizer.min_df)[counts.indices]
        indptr = np.concatenate(([0], np.cumsum(keep)))[counts.indptr]
        return SparseRows(indptr, counts.indices[keep], counts.data[keep], counts.n_columns)

    @cached_property
    def lengths(self) -> Float64:
        """Of the documents as if they were new."""
        return row_sums(self.new.indptr, self.new.data)

    @cached_property
    def shares(self) -> Float64:
        """Of the words that a document would know if it were new."""
        lost = row_sums(self.counts.indptr, self.counts.data) - self.lengths
        return known_shares(self.lengths, lost + self.unknown)

    def weighted(self, settings: Params | None) -> tuple[TermWeighting | None, SparseRows, SparseRows]:
        """The weighting, the documents to learn from, and the same documents as if they were new."""
        key = str(settings)
        if key not in self._weighted:
            if settings is None:
                self._weighted[key] = None, self.counts, self.new
            else:
                weighting = TermWeighting(**settings)
                rows = weighting._fit_rows(self.counts)
                self._weighted[key] = weighting, rows, weighting._transform_rows(self.new)
        return self._weighted[key]


class EncodedFeatures(Features):
    """Documents as an encoder reads them, which learns nothing: new documents look no different."""

    def __init__(self, encoder: VectorReader, texts: Sequence[str]) -> None:
        self.encoded = encoder.encode(texts)
        super().__init__(encoder, full_rows(self.encoded.vectors), texts)

    @cached_property
    def unknown(self) -> Int32:
        return self.encoded.n_unknown

    @cached_property
    def new(self) -> SparseRows:
        return self.counts

    @cached_property
    def lengths(self) -> Float64:
        return (self.encoded.n_words - self.encoded.n_unknown).astype(np.float64)

    @cached_property
    def shares(self) -> Float64:
        return known_shares(self.lengths, self.unknown)


def features_of(reader: Reader, texts: Sequence[str]) -> Features:
    if isinstance(reader, VectorReader):
        return EncodedFeatures(reader, texts)
    return Features.from_texts(reader, texts)
