"""Sparse arrays for tests, in words that every supported SciPy knows (``random_array`` and others came with 1.12)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def random_rows(shape: tuple[int, int], density: float, rng: np.random.Generator) -> Any:
    """Numbers between 0 and 1 at a share of the places."""
    return sparse.csr_array(np.where(rng.random(shape) < density, rng.random(shape), 0.0))


def identity(n: int) -> Any:
    return sparse.csr_array((np.ones(n), (np.arange(n), np.arange(n))), shape=(n, n))
