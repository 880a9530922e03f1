"""Where to look for parameters: each on a scale of its own, all of them as points of the unit cube.

A scale maps [0, 1] onto the values of one parameter, so that equal steps matter about equally: `Linear`, `Log`,
`Logit`, `Integer`, `Choice`, and `Share` for a parameter that may take what another one leaves.

    Log:    value = exp(log low + u * (log high - log low))
    Logit:  value = 1 / (1 + exp(-z)),   z = logit low + u * (logit high - logit low)
    Share:  value = (low + u * (high - low)) * (1 - other)
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np

from genus.base.arrays import Float64
from genus.base.protocol import Params

_FIRST_WIDTH, _LAST_WIDTH = 0.25, 0.005  # of the Gaussian steps, where a scale's range is 1
_PARENTS = 3  # points that are stepped from; fewer get stuck on ridges, more are slow
_TRIES = 20  # draws before a point that keeps coming up again is given up


class Scale(ABC):
    """The values that one parameter may take, as an image of [0, 1]."""

    @abstractmethod
    def value(self, u: float) -> Any:
        """The value at ``u``."""

    @abstractmethod
    def unit(self, value: object) -> float | None:
        """A ``u`` with that value; None where the scale has no such value."""

    def step(self, u: float, width: float, rng: np.random.Generator) -> float:
        """A Gaussian step, thrown back from the ends of the range."""
        u = abs(u + width * rng.standard_normal()) % 2
        return 2 - u if u > 1 else u


@dataclass(frozen=True)
class _Interval(Scale):
    """Numbers from ``low`` to ``high``, evenly spread after a monotone transformation."""

    low: float
    high: float

    def __post_init__(self) -> None:
        _check_bounds(self, self.low, self.high)

    def _bend(self, value: float) -> float:
        return value

    def _unbend(self, z: float) -> float:
        return z

    def value(self, u: float) -> float:
        a, b = self._bend(self.low), self._bend(self.high)
        return float(min(max(self._unbend(a + u * (b - a)), self.low), self.high))  # rounding stays inside

    def unit(self, value: object) -> float | None:
        if not _is_number(value) or not self.low <= value <= self.high:
            return None
        a, b = self._bend(self.low), self._bend(self.high)
        return min(max((self._bend(float(value)) - a) / (b - a), 0.0), 1.0)


class Linear(_Interval):
    """Numbers from ``low`` to ``high``.

    Examples
    --------
    >>> Linear(0, 2).value(0.25)
    0.5
    """


class Log(_Interval):
    """Positive numbers from ``low`` to ``high``, evenly spread over orders of magnitude.

    Examples
    --------
    >>> round(Log(0.01, 100).value(0.75), 6)
    10.0
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low <= 0:
            raise ValueError(f"low must be above 0 on a logarithmic scale, got {self!r}.")

    def _bend(self, value: float) -> float:
        return math.log(value)

    def _unbend(self, z: float) -> float:
        return math.exp(z)


class Logit(_Interval):
    """Shares from ``low`` to ``high``, inside (0, 1), with as much room near 1 as near 0.

    Examples
    --------
    >>> [round(Logit(0.001, 0.999).value(u), 4) for u in (0.25, 0.5, 0.75)]
    [0.0307, 0.5, 0.9693]
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.low < self.high < 1:
            raise ValueError(f"low and high must be inside (0, 1) on a logit scale, got {self!r}.")

    def _bend(self, value: float) -> float:
        return math.log(value) - math.log1p(-value)

    def _unbend(self, z: float) -> float:
        return 1 / (1 + math.exp(-z))


@dataclass(frozen=True)
class Share(Scale):
    """A share of what another parameter leaves of 1: the value is u * (1 - other), u from ``low`` to ``high``.

    So the two never sum to more than 1. The other parameter is searched as well, or else keeps its value in the
    estimator.

    Examples
    --------
    >>> space = Space({"a1": Share("a2"), "a2": Linear(0, 1)})
    >>> space.params(np.array([0.5, 0.2]))
    {'a1': 0.4, 'a2': 0.2}
    """

    of: str
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        _check_bounds(self, self.low, self.high)
        if not 0 <= self.low < self.high <= 1:
            raise ValueError(f"low and high must be inside [0, 1] for a share, got {self!r}.")

    def value(self, u: float) -> float:
        """The share, still to be multiplied by what the other parameter leaves."""
        return Linear(self.low, self.high).value(u)

    def unit(self, value: object) -> float | None:
        return Linear(self.low, self.high).unit(value)


@dataclass(frozen=True)
class Integer(Scale):
    """Whole numbers from ``low`` to ``high``, both included; with ``log``, evenly over orders of magnitude.

    Examples
    --------
    >>> Integer(1, 4).value(0.5), Integer(1, 1000, log=True).value(0.5)
    (3, 22)
    """

    low: int
    high: int
    log: bool = False

    def __post_init__(self) -> None:
        if not all(isinstance(x, (int, np.integer)) and not isinstance(x, bool) for x in (self.low, self.high)):
            raise ValueError(f"low and high must be integers, got {self!r}.")
        _check_bounds(self, self.low, self.high)
        if self.log and self.low < 1:
            raise ValueError(f"low must be at least 1 on a logarithmic scale, got {self!r}.")

    @property
    def _cells(self) -> _Interval:
        """Each number is the middle of a cell of width 1."""
        return (Log if self.log else Linear)(self.low - 0.5, self.high + 0.5)

    def value(self, u: float) -> int:
        return min(max(math.floor(self._cells.value(u) + 0.5), int(self.low)), int(self.high))

    def unit(self, value: object) -> float | None:
        inside = _is_number(value) and self.low <= value <= self.high and value == int(value)
        return self._cells.unit(value) if inside else None


@dataclass(frozen=True)
class Choice(Scale):
    """One of some values of any kind, none nearer to another than the rest.

    Examples
    --------
    >>> Choice([(1, 1), (1, 2)]).value(0.9)
    (1, 2)
    """

    options: Sequence[Any]

    def __post_init__(self) -> None:
        if isinstance(self.options, str) or not isinstance(self.options, Sequence) or not len(self.options):
            raise ValueError(f"Choice needs a list of at least one value, got {self.options!r}.")

    def index(self, u: float) -> int:
        return min(int(u * len(self.options)), len(self.options) - 1)

    def value(self, u: float) -> Any:
        return self.options[self.index(u)]

    def unit(self, value: Any) -> float | None:
        for i, option in enumerate(self.options):
            if option is value or (type(option) is type(value) and np.array_equal(option, value)):
                return (i + 0.5) / len(self.options)
        return None

    def step(self, u: float, width: float, rng: np.random.Generator) -> float:
        """Another value with a probability that falls with the width: one in two at first."""
        u_new = float(rng.random())
        return u_new if rng.random() < 2 * width else u


class Space:
    """Named scales, side by side: a point is an array of numbers in [0, 1], one for each parameter."""

    def __init__(self, scales: Mapping[str, Scale], fixed: Params | None = None) -> None:
        if not isinstance(scales, Mapping) or not scales:
            raise ValueError(f"param_space must name at least one parameter and its scale, got {scales!r}.")
        self.scales = dict(scales)
        self.fixed = dict(fixed or {})
        for name, scale in self.scales.items():
            if not isinstance(scale, Scale):
                raise ValueError(f"param_space[{name!r}] must be a scale, for instance Log(0.01, 10), got {scale!r}.")
            if isinstance(scale, Share):
                self._check_share(name, scale)

    def _check_share(self, name: str, share: Share) -> None:
        other = self.scales.get(share.of)
        if other is None and not (_is_number(self.fixed.get(share.of)) and 0 <= self.fixed[share.of] <= 1):
            raise ValueError(
                f"{name!r} is a share of {share.of!r}, which must be searched too, or set between 0 and 1."
            )
        ends = (getattr(other, "low", None), getattr(other, "high", None)) if other else (0, 1)
        if isinstance(other, (Share, Choice)) or not 0 <= ends[0] <= ends[1] <= 1:  # type: ignore[operator]
            raise ValueError(f"{name!r} is a share of {share.of!r}, which must be a number from 0 to 1, got {other!r}.")

    def params(self, point: Float64) -> Params:
        """The parameters at a point."""
        values = {name: scale.value(u) for (name, scale), u in zip(self.scales.items(), point.tolist(), strict=True)}
        for name, scale in self.scales.items():
            if isinstance(scale, Share):
                values[name] *= 1 - (self.fixed | values)[scale.of]
        return values

    def point(self, params: Mapping[str, object]) -> Float64:
        """The point with these parameters; NaN where one is not in its scale."""
        units = []
        for name, scale in self.scales.items():
            value = params.get(name)
            if isinstance(scale, Share) and _is_number(value):
                left = 1 - {**self.fixed, **params}[scale.of]
                value = value / left if left > 0 else None
            unit = scale.unit(value)
            units.append(math.nan if unit is None else unit)
        return np.array(units)

    def key(self, point: Float64) -> tuple[float, ...]:
        """Equal for points with the same parameters."""
        return tuple(
            scale.index(u) if isinstance(scale, Choice) else scale.value(u)
            for scale, u in zip(self.scales.values(), point.tolist(), strict=True)
        )

    def spread(self, n: int, rng: np.random.Generator) -> Float64:
        """Points all over the space, no two in the same n-th part of any scale (a Latin hypercube)."""
        cells = np.array([rng.permutation(n) for _ in self.scales]).T
        return np.asarray((cells + rng.random(cells.shape)) / n)

    def around(self, parents: Float64, n: int, width: float, rng: np.random.Generator) -> list[Float64]:
        """Points a Gaussian step away from one of the parents, the first of which is the likeliest."""
        odds = np.arange(len(parents), 0, -1.0)
        chosen = parents[rng.choice(len(parents), n, p=odds / odds.sum())]
        scales = list(self.scales.values())
        return [np.array([s.step(u, width, rng) for s, u in zip(scales, p.tolist(), strict=True)]) for p in chosen]

    def propose(
        self, tried: Float64, scores: Float64, n: int, progress: float, start: Float64, rng: np.random.Generator
    ) -> Float64:
        """The next n points, none of them tried before: fewer where the space has no others.

        Parameters
        ----------
        tried, scores : arrays of shape (n_tried, n_parameters) and (n_tried,)
            What is known. Without any, the points are ``start`` and others spread over the space.
        progress : float
            From 0 to 1: how far the steps' width has shrunk.
        """
        seen = {self.key(point) for point in tried}
        if len(tried):
            parents = tried[np.argsort(-np.where(np.isnan(scores), -np.inf, scores), kind="stable")[:_PARENTS]]
            width = _FIRST_WIDTH * (_LAST_WIDTH / _FIRST_WIDTH) ** progress
            drawn = (point for _ in range(_TRIES) for point in self.around(parents, n, width, rng))
        else:
            n = max(n, len(start))
            drawn = (p for _ in range(_TRIES) for p in [*start, *self.spread(max(n - len(start), 1), rng)])
        points: list[Float64] = []
        for point in drawn:
            if self.key(point) not in seen:
                seen.add(self.key(point))
                points.append(point)
                if len(points) == n:
                    break
        return np.array(points).reshape(-1, len(self.scales))


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool) and value == value


def _check_bounds(scale: Scale, low: object, high: object) -> None:
    if not (_is_number(low) and _is_number(high) and math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"low must be a number below high, got {scale!r}.")
