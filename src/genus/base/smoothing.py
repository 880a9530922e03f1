"""One smoothing law: a word's probability is a mixture along a path of nodes that ends in the uniform one.

    p(w) = sum over nodes v of weight_v * p_v(w) + weight_uniform / N,   the weights summing to one

(Jelinek-Mercer interpolation; N is the number of words). Adding a constant to every count, Lidstone's law, is
the path (class, uniform) with the weight alpha*N / (T + alpha*N) on the uniform node, T being the total:

    (count + alpha) / (T + alpha*N)  =  (1 - b) * count / T + b / N,   b = alpha*N / (T + alpha*N)

Relative to the uniform part, p(w) = b/N * (1 + ratio * count) with ratio = (1 - b)/b * N/T. Scoring uses that
form, because words that a class has never seen then cost nothing: log p(w) = log(b/N) + log1p(ratio * count).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from genus.base.arrays import Float64


class Smoothing(Protocol):
    """How much of a node's distribution is uniform, given the totals of its counts."""

    def uniform_weight(self, totals: Float64, n_words: int) -> Float64:
        """The weight b of the uniform node for each total. A node that has seen nothing has b = 1."""
        ...

    def ratio(self, totals: Float64, n_words: int) -> Float64:
        """(1 - b)/b * N/T: what one count adds to a word's probability, as a multiple of its uniform part."""
        ...


@dataclass(frozen=True)
class Lidstone:
    """``alpha`` is added to every count.

    Examples
    --------
    >>> Lidstone(1.0).uniform_weight(np.array([0.0, 6.0]), n_words=2)
    array([1.  , 0.25])
    """

    alpha: float

    def uniform_weight(self, totals: Float64, n_words: int) -> Float64:
        added = self.alpha * n_words
        return np.asarray(added / (totals + added))

    def ratio(self, totals: Float64, n_words: int) -> Float64:
        return np.full_like(totals, 1 / self.alpha)  # T/(alpha*N) * N/T, without the detour through b


@dataclass(frozen=True)
class JelinekMercer:
    """A fixed share ``uniform`` of the probability is spread evenly over all words.

    Examples
    --------
    >>> JelinekMercer(0.25).uniform_weight(np.array([0.0, 6.0]), n_words=2)
    array([1.  , 0.25])
    """

    uniform: float

    def uniform_weight(self, totals: Float64, n_words: int) -> Float64:
        return np.where(totals > 0, self.uniform, 1.0)

    def ratio(self, totals: Float64, n_words: int) -> Float64:
        odds = (1 - self.uniform) / self.uniform
        seen = totals > 0
        return np.where(seen, odds * n_words / np.where(seen, totals, 1.0), 0.0)


@dataclass(frozen=True)
class TiedPath:
    """Three nodes with fixed weights: a document, its class (``node``), and the uniform one.

    As a `Smoothing` it describes the nodes above the document, whose part in a word's probability is
    uniform/N * (1 + ratio * count). The document then multiplies it by 1 + leaf_gain * p_m(w) / (1 + ratio *
    count): a longer path above, through groups of classes, would change only that last denominator.

    Examples
    --------
    >>> path = TiedPath(node=0.25, uniform=0.25)
    >>> path.ratio(np.array([0.0, 4.0]), n_words=2), path.leaf_gain(n_words=2)
    (array([0. , 0.5]), 4.0)
    """

    node: float
    uniform: float

    @property
    def leaf(self) -> float:
        """The weight of the document itself."""
        return max(1.0 - self.node - self.uniform, 0.0)

    def uniform_weight(self, totals: Float64, n_words: int) -> Float64:
        return np.where(totals > 0, self.uniform, 1.0)

    def ratio(self, totals: Float64, n_words: int) -> Float64:
        seen = totals > 0
        return np.where(seen, self.node / self.uniform * n_words / np.where(seen, totals, 1.0), 0.0)

    def leaf_gain(self, n_words: int) -> float:
        """What the document's own p_m(w) adds to a word's probability, as a multiple of its uniform part."""
        return self.leaf / self.uniform * n_words


def log_uniform(smoothing: Smoothing, totals: Float64, n_words: int) -> Float64:
    """log(b/N): the log probability of a word that a node has never seen."""
    return np.log(smoothing.uniform_weight(totals, n_words) / n_words)


def interpolate(estimates: Sequence[Float64], weights: Sequence[Float64], n_words: int) -> Float64:
    """Mix the estimates p_v(w) of a path's nodes; the last weight belongs to the uniform node.

    Examples
    --------
    >>> document, collection = np.array([1.0, 0.0]), np.array([0.5, 0.5])
    >>> interpolate([document, collection], [np.array(0.5), np.array(0.25), np.array(0.25)], n_words=2)
    array([0.75, 0.25])
    """
    mixed = weights[-1] / n_words
    for estimate, weight in zip(estimates, weights[:-1], strict=True):
        mixed = mixed + weight * estimate
    return np.asarray(mixed)
