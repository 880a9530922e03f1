"""Which encoder reads texts as vectors: the table that ships, where it knows the language, or what a user gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from genus.base.tuning import TUNED
from genus.pipeline.vector_reader import VectorReader
from genus.vectors import WordVectors, as_encoder


def encoder_for(vectors: Any, texts: Sequence[str], n_jobs: int | None) -> VectorReader | None:
    """The encoder that ``vectors`` asks for ("auto", None, a path or an encoder), for texts such as these."""
    if vectors is None:
        return None
    if not (isinstance(vectors, str) and vectors == "auto"):
        return VectorReader.from_source(as_encoder(vectors), n_jobs)
    table = WordVectors.shipped()
    step = max(len(texts) // TUNED.coverage_texts, 1)
    if texts and table.coverage(texts[::step]) < TUNED.least_coverage:
        return None
    return VectorReader.from_source(table, n_jobs)
