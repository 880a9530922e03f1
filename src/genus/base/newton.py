"""Newton's method, for the few numbers that temperatures, pools and calibrations are made of."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from genus.base.arrays import Float64


class Objective(NamedTuple):
    """A function to be minimised, at one point: its value, gradient and second derivatives."""

    value: float
    gradient: Float64
    hessian: Float64


def minimize(function: Callable[[Float64], Objective], start: Float64, low: float, high: float) -> Float64:
    """The parameters between two bounds that minimise a function: no step makes it larger.

    Along directions of negative curvature a step goes downhill all the same.
    """
    at, now = start, function(start)
    for _ in range(60):
        free = ~(((at <= low) & (now.gradient > 0)) | ((at >= high) & (now.gradient < 0)))
        if not free.any():
            break
        values, vectors = np.linalg.eigh(now.hessian[np.ix_(free, free)])
        step = np.zeros(len(at))
        step[free] = vectors @ ((vectors.T @ now.gradient[free]) / np.maximum(np.abs(values), 1e-9))
        scale = 1.0
        while scale > 1e-6:
            there = np.clip(at - scale * np.clip(step, -2, 2), low, high)
            then = function(there)
            if then.value <= now.value:
                break
            scale /= 2
        else:
            break
        done = now.value - then.value < 1e-10
        at, now = there, then
        if done:
            break
    return at


def iterate(
    step: Callable[[Float64], Float64],
    start: Float64,
    n_steps: int,
    *,
    longest: float = math.inf,
    least: float = 0.0,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Float64:
    """Take Newton steps as they are, for functions that need no line search.

    Parameters
    ----------
    step : function of the parameters
        What to add to them.
    n_steps : int
        How many steps are taken at most.
    longest : float, default=inf
        By how much a step may change a parameter.
    least : float, default=0.0
        Stop when no parameter changes by as much.
    bounds : pair of float, default=(-inf, inf)
        Parameters stay between them.

    Examples
    --------
    The square root of 2:

    >>> iterate(lambda x: (2 / x - x) / 2, np.ones(1), 6).round(6)
    array([1.414214])
    """
    at = start
    for _ in range(n_steps):
        before, at = at, np.clip(at + np.clip(step(at), -longest, longest), *bounds)
        if np.abs(at - before).max(initial=0.0) < least:
            break
    return at


def offset_step(own: Float64, residuals: Float64, variances: Float64, ridge: float) -> Float64:
    """The Newton step of each label's own offset in its log odds, with a ridge penalty.

    Parameters
    ----------
    own : array of shape (n_labels,)
        The offsets.
    residuals, variances : arrays of shape (n_labels,)
        The sums of y - p and of p * (1 - p) over each label's documents.
    """
    return (residuals - ridge * own) / (variances + ridge)
