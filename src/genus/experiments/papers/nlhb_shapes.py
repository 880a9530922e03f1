"""Points in a square, labelled by whether they lie inside a shape: ring, dots, exclusive or, and S.

The paper shows its shapes only in a figure, without dimensions: these are ours, under the same names.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from genus.base.arrays import Float64, Int64

WIDTH = 500.0


def ring(x: Float64, y: Float64) -> NDArray[np.bool_]:
    """Between two circles around the middle, of radius 95 and 195."""
    radius = np.hypot(x - 250, y - 250)
    return np.asarray((radius > 95) & (radius < 195))


def dots(x: Float64, y: Float64) -> NDArray[np.bool_]:
    """Nine discs of radius 65, in three rows of three."""
    third = WIDTH / 3
    return np.asarray(np.hypot(x % third - third / 2, y % third - third / 2) < 65)


def exclusive_or(x: Float64, y: Float64) -> NDArray[np.bool_]:
    """The upper left and the lower right quarter."""
    return np.asarray((x < 250) != (y < 250))


def s_shape(x: Float64, y: Float64) -> NDArray[np.bool_]:
    """Two three-quarter rings of radius 50 to 130, one above the other, open to the right above, to the left below."""

    def bow(center_y: float, side: float) -> NDArray[np.bool_]:
        dx, dy = side * (x - 250), side * (y - center_y)
        radius = np.hypot(dx, dy)
        return np.asarray((radius > 50) & (radius < 130) & ~((dx > 0) & (dy < 0)))

    return np.asarray(bow(340, 1.0) | bow(160, -1.0))


SHAPES = {"ring": ring, "dots": dots, "XOR": exclusive_or, "S": s_shape}


def draw(shape: str, n: int, seed: int) -> tuple[Float64, Int64]:
    """Random points of the square, and 1 for those inside the shape.

    >>> points, inside = draw("ring", 1000, seed=0)
    >>> points.shape, float(inside.mean())
    ((1000, 2), 0.371)
    """
    points = np.random.default_rng(seed).uniform(0, WIDTH, (n, 2))
    return points, SHAPES[shape](points[:, 0], points[:, 1]).astype(np.int64)
