"""From texts to counts, and from counts to weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genus._lazy import lazy_names

if TYPE_CHECKING:
    from genus.text.selection import InformationGain
    from genus.text.vectorizer import Vectorizer
    from genus.text.weighting import TermWeighting

__all__ = [
    "InformationGain",
    "TermWeighting",
    "Vectorizer",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "InformationGain": "genus.text.selection",
        "Vectorizer": "genus.text.vectorizer",
        "TermWeighting": "genus.text.weighting",
    },
)
