"""Classes as mixtures of diagonal Gaussians, in one or more repetitions: parameters and scores.

Components are nodes x repetitions, as in `genus.models.nonlinear.node_table`. All is computed on standardized features, and told in
the features' own units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from genus import _core
from genus.base.arrays import Float64, Int64
from genus.models.nonlinear.node_table import scaled
from genus.models.nonlinear.repeated_em import Kept, Task

_BLOCK = 1 << 20  # component scores held at once: 8 MB


@dataclass(frozen=True)
class Scaling:
    """Features less their mean, divided by their standard deviation; a constant one only less its mean."""

    center: Float64
    scale: Float64

    @classmethod
    def of(cls, X: Float64, weights: Float64) -> Scaling:
        share = weights / weights.sum()
        center = share @ X
        scale = np.sqrt(share @ (X - center) ** 2)
        # Where rounding alone is left, the feature is constant.
        constant = scale <= 1e-12 * np.abs(center)
        return cls(center, np.where(constant, 1.0, scale))

    def apply(self, X: Float64) -> Float64:
        return np.ascontiguousarray((X - self.center) / self.scale)


@dataclass(frozen=True)
class GaussianTable:
    """Means and variances of standardized features, components x features; log P(h | c) and log P(c)."""

    scaling: Scaling
    node_starts: Int64
    mean: Float64
    variance: Float64
    log_node_prior: Float64  # of components
    log_prior: Float64  # classes x repetitions

    @property
    def n_repetitions(self) -> int:
        return int(self.log_prior.shape[1])

    def component_scores(self, X: Float64) -> Float64:
        """log P(h, x | c) of standardized rows x components, a density in the features' own units."""
        precision = 1 / self.variance
        constant = np.log(2 * math.pi * self.variance) + self.mean**2 * precision
        bias = self.log_node_prior - 0.5 * constant.sum(axis=1) - np.log(self.scaling.scale).sum()
        return np.asarray(X @ (self.mean * precision).T - 0.5 * (X**2 @ precision.T) + bias)

    def joint_log_likelihood(self, X: Float64, prior_scale: float, n_threads: int) -> Float64:
        """log P(c, x): the posterior is the mean of the repetitions' posteriors."""
        out = np.empty((len(X), len(self.node_starts) - 1))
        prior = scaled(self.log_prior, prior_scale)
        size = max(1, _BLOCK // len(self.log_node_prior))
        for begin in range(0, len(X), size):
            scores = self.component_scores(self.scaling.apply(X[begin : begin + size]))
            _core.average_posteriors(scores, self.node_starts, prior, out[begin : begin + size], n_threads)
        return out


def least_variances(X: Float64, task: Task, var_floor: float) -> Float64:
    """The floor of variances, classes x features: this part of the class's, at least its square of all documents'."""
    floors = []
    for c in range(len(task.labels)):
        weights = np.where(task.codes == c, task.weights, 0.0)
        share = weights / max(weights.sum(), np.finfo(float).tiny)
        variance = share @ (X - share @ X) ** 2
        floors.append(var_floor * np.maximum(variance, var_floor))
    return np.stack(floors)


def gaussian_table(X: Float64, scaling: Scaling, kept: Kept, floor: Float64) -> GaussianTable:
    """The M-step's parameters from the documents' shares."""
    task, n = kept.task, kept.shares.shape[1]
    weights = task.node_weights(task.weights, kept.shares)
    sums = np.zeros((2, *weights.shape, X.shape[1]))
    starts = task.share_starts
    for c in range(-1, len(task.labels)):
        members = np.flatnonzero(task.codes == c)
        if not len(members):
            continue
        nodes = slice(None) if c < 0 else slice(int(task.node_starts[c]), int(task.node_starts[c + 1]))
        n_nodes = starts[members[0] + 1] - starts[members[0]]
        rows = starts[members][:, np.newaxis] + np.arange(n_nodes)
        shares = (kept.shares[rows] * task.weights[members][:, np.newaxis, np.newaxis]).reshape(len(members), -1)
        for total, values in zip(sums, (X[members], X[members] ** 2), strict=True):
            total[nodes] += (shares.T @ values).reshape(n_nodes, n, -1)
    class_of = np.repeat(np.arange(len(task.labels)), np.diff(task.node_starts))
    whole = np.where(weights > 0, weights, 1.0)[..., np.newaxis]  # nothing is asked of a node without documents
    mean = sums[0] / whole
    variance = np.maximum(sums[1] / whole - mean**2, floor[class_of][:, np.newaxis])
    class_weights = np.add.reduceat(weights, task.node_starts[:-1], axis=0)
    inside = class_weights[class_of]
    even = 1 / np.diff(task.node_starts)[class_of][:, np.newaxis]
    with np.errstate(divide="ignore"):
        log_node_prior = np.log(np.where(inside > 0, weights / np.where(inside > 0, inside, 1), even))
        log_prior = np.log(class_weights / class_weights.sum(axis=0))
    shape = (-1, X.shape[1])
    return GaussianTable(
        scaling, task.node_starts, mean.reshape(shape), variance.reshape(shape), log_node_prior.ravel(), log_prior
    )
