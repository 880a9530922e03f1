"""What was tried, the best first: the rows of `TextClassifier.leaderboard_`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from genus.base.protocol import Params

Leaderboard: TypeAlias = list[dict[str, Any]]


def leaderboard_row(
    candidate: str, settings: Params, measures: Mapping[str, float], seconds: float, weight: float
) -> dict[str, Any]:
    """One trial: its scores on documents left out, its time, and its weight in the pool."""
    return {"candidate": candidate, "settings": dict(settings), **measures, "seconds": seconds, "weight": weight}
