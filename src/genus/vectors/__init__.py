"""Vectors of words and texts: tables that are read natively, and encoders that users bring."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genus._lazy import lazy_names

if TYPE_CHECKING:
    from genus.vectors.adapters import as_encoder
    from genus.vectors.table import WordVectors

__all__ = [
    "WordVectors",
    "as_encoder",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "WordVectors": "genus.vectors.table",
        "as_encoder": "genus.vectors.adapters",
    },
)
