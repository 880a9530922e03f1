"""Settings by random search, with posterior probabilities or leave-one-out as the objective."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genus._lazy import lazy_names

if TYPE_CHECKING:
    from genus.search.random_search import GaussianRandomSearchCV
    from genus.search.space import Choice, Integer, Linear, Log, Logit, Share

__all__ = [
    "Choice",
    "GaussianRandomSearchCV",
    "Integer",
    "Linear",
    "Log",
    "Logit",
    "Share",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "GaussianRandomSearchCV": "genus.search.random_search",
        "Choice": "genus.search.space",
        "Integer": "genus.search.space",
        "Linear": "genus.search.space",
        "Log": "genus.search.space",
        "Logit": "genus.search.space",
        "Share": "genus.search.space",
    },
)
