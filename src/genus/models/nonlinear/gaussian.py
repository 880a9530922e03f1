"""Non-linear hierarchical Bayes of dense features: see `genus.models.nonlinear`, which has it for all users."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from genus import _core
from genus.base.arrays import Float64, Int64, Seed, State, n_threads
from genus.base.rows import MatrixLike
from genus.base.validation import check_number
from genus.models.nonlinear.base import HiddenNodesClassifier, Learned
from genus.models.nonlinear.node_table import scaled
from genus.models.nonlinear.repeated_em import EmResult, Kept, Task

_BLOCK = 1 << 20  # component scores held at once: 8 MB


@dataclass(frozen=True)
class Scaling:
    """Features less their mean, divided by their standard deviation; a constant one only less its mean."""

    center: Float64
    scale: Float64

    @classmethod
    def from_points(cls, X: Float64, weights: Float64) -> Scaling:
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
            # What is farther out would overflow, and is as far for every node.
            with np.errstate(over="ignore"):
                points = np.clip(self.scaling.apply(X[begin : begin + size]), -_FARTHEST, _FARTHEST)
            scores = self.component_scores(points)
            _core.average_posteriors(scores, self.node_starts, prior, out[begin : begin + size], n_threads)
        return out


_FARTHEST = 1e100  # its square over the least variance is a number still


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


class GaussianNonlinearBayes(HiddenNodesClassifier[Float64]):
    """A class is a mixture of hidden kinds of point, each a Gaussian with a variance for each feature.

    For dense features: coordinates, measurements, embeddings of texts.

    EM is in ``cpp/mixtures/gaussian_em.cpp``.

    Parameters
    ----------
    n_hidden : int, list or dict of int, or "auto", default=10
        Hidden nodes of a class; see `NonlinearBayes`.
    n_repetitions : int, default=10
        Random starts of EM.
    n_iterations : int, default=100
        E- and M-steps of each. With 0, points belong to the starting means as the E-step has it.
    var_floor : float, default=1e-3
        The least variance of a feature in a node, as a part of its variance in the class; where that is next to
        nothing, the square of this part of its variance over all documents. Positive.
    init : {"points", "near-uniform", "random"}, default="points"
        How EM starts: with means at random points of the class, or with shares as in `NonlinearBayes`.
    n_averaged, em, min_documents, validation_fraction, prior_scale, unlabeled, unlabeled_weight, \
random_state, n_jobs
        As in `NonlinearBayes`.

    Attributes
    ----------
    classes_, n_features_in_, n_hidden_, class_count_, class_log_prior_, node_count_, objective_, \
validation_scores_, repetitions_
        As in `NonlinearBayes`.
    node_log_prior_ : list of arrays of shape (n_hidden,)
        log P(h | c) of each class's nodes, in the best repetition.
    theta_, var_ : lists of arrays of shape (n_hidden, n_features)
        Their means and variances.

    Notes
    -----
    Features are standardized inside, so that their units do not matter. Constant features are ignored.
    The variance floor is the exact maximum under its constraint: ``objective_``, the log likelihood, never falls.

    Examples
    --------
    >>> from genus import GaussianNonlinearBayes
    >>> X, y = [[1, 1], [5, 5], [5, 1], [1, 5]], [0, 0, 1, 1]
    >>> GaussianNonlinearBayes(2, min_documents=2, random_state=0).fit(X, y).predict([[1, 2], [2, 5]])
    array([0, 1])
    """

    _starts = ("points", "near-uniform", "random")
    _nodes: GaussianTable
    _takes_sparse = False

    def __init__(
        self,
        n_hidden: object = 10,
        n_repetitions: int = 10,
        n_iterations: int = 100,
        var_floor: float = 1e-3,
        *,
        n_averaged: int = 5,
        em: str = "soft",
        init: str = "points",
        min_documents: int = 40,
        validation_fraction: float = 0.1,
        prior_scale: float = 1.0,
        unlabeled: object = None,
        unlabeled_weight: float = 0.1,
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_hidden = n_hidden
        self.n_repetitions = n_repetitions
        self.n_iterations = n_iterations
        self.var_floor = var_floor
        self.n_averaged = n_averaged
        self.em = em
        self.init = init
        self.min_documents = min_documents
        self.validation_fraction = validation_fraction
        self.prior_scale = prior_scale
        self.unlabeled = unlabeled
        self.unlabeled_weight = unlabeled_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("var_floor", self.var_floor, 1e-12, 1, "a number above 0, at most 1")

    def _checked_training(self, X: MatrixLike) -> Float64:
        points = np.ascontiguousarray(X, dtype=np.float64)
        largest = np.abs(points).max(initial=0.0)
        if largest > _FARTHEST:
            raise ValueError(f"X must hold numbers up to {_FARTHEST:g} in size, got {largest:g}: squares overflow.")
        return points

    def _fit_task(self, rows: Float64, task: Task, seed: int) -> Kept:
        scaling = Scaling.from_points(rows, task.weights)
        points = scaling.apply(rows)
        floor = least_variances(points, task, self.var_floor)

        def run(task: Task, first: int, n: int) -> EmResult:
            result: EmResult = _core.fit_gaussian_nodes(
                points, task.codes, task.training_weights, task.node_starts, task.held_out, floor,
                first_repetition=first, n_repetitions=n, n_iterations=self.n_iterations, seed=seed,
                hard=self.em == "hard", start=self.init, n_threads=n_threads(self.n_jobs),
            )  # fmt: skip
            return result

        kept = self._choose(task, run)
        self._nodes = gaussian_table(points, scaling, kept, floor)
        return kept

    def _closeness(self, rows: Float64, documents: Int64, nodes: Int64) -> Float64:
        components = nodes * self._nodes.n_repetitions
        points = self._nodes.scaling.apply(rows[documents])
        off = (points - self._nodes.mean[components]) ** 2 / self._nodes.variance[components]
        return np.asarray(-off.sum(axis=1))

    # Predicting

    def _joint_log_likelihood(self, rows: Float64) -> Float64:
        return self._nodes.joint_log_likelihood(rows, self.prior_scale, n_threads(self.n_jobs))

    def _check_rows(self, X: MatrixLike) -> Float64:
        check_is_fitted(self)
        return np.ascontiguousarray(validate_data(self, X, reset=False, dtype=np.float64))

    # Looking inside

    @property
    def theta_(self) -> list[Float64]:
        """The means of each class's nodes x features, in the best repetition."""
        check_is_fitted(self)
        scaling = self._nodes.scaling
        return self._by_class(self._nodes.mean * scaling.scale + scaling.center)

    @property
    def var_(self) -> list[Float64]:
        """The variances of each class's nodes x features, in the best repetition."""
        check_is_fitted(self)
        return self._by_class(self._nodes.variance * self._nodes.scaling.scale**2)

    # Keeping

    _state_arrays = ("mean", "variance", "log_node_prior", "log_prior")

    def _get_state(self) -> dict[str, object]:
        """Everything learned, as arrays that can be mapped from a file."""
        scaling = {"center": self._nodes.scaling.center, "scale": self._nodes.scaling.scale}
        return self._learned_state() | scaling | {name: getattr(self._nodes, name) for name in self._state_arrays}

    def _set_state(self, state: State) -> None:
        """Take over learned arrays, with their shapes checked."""
        learned = Learned.from_state(state)
        n_components = int(learned.node_starts[-1]) * len(learned.repetitions)
        n_features = len(np.atleast_1d(state["center"]))
        shapes = {
            "center": (n_features,), "scale": (n_features,),
            "mean": (n_components, n_features), "variance": (n_components, n_features),
            "log_node_prior": (n_components,), "log_prior": (len(learned.labels), len(learned.repetitions)),
        }  # fmt: skip
        for name, shape in shapes.items():
            array = state[name]
            if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.shape != shape:
                raise ValueError(f"{name} must be an array of float64 numbers of shape {shape}.")
        scaling = Scaling(state["center"], state["scale"])
        arrays = [state[name] for name in self._state_arrays]
        self._nodes = GaussianTable(scaling, learned.node_starts, *arrays)
        self._learned, self.n_features_in_ = learned, n_features
