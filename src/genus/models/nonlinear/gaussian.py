"""Non-linear hierarchical Bayes of dense features: see `genus.models.nonlinear`, which has it for all users."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from genus import _core
from genus.base.arrays import Float64, Int64, n_threads
from genus.base.estimator import _check_number
from genus.models.nonlinear.base import HiddenNodesClassifier, Learned
from genus.models.nonlinear.gaussian_nodes import GaussianTable, Scaling, gaussian_table, least_variances
from genus.models.nonlinear.repeated_em import EmResult, Kept, Task


class GaussianNonlinearBayes(HiddenNodesClassifier):
    """A class is a mixture of hidden kinds of point, each a Gaussian with a variance for each feature.

    For dense features: coordinates, measurements, embeddings of texts.

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
    n_averaged, em, min_documents, validation_fraction, prior_scale, unlabelled, unlabelled_weight, \
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
    Features are standardized inside, so that their units do not matter. A feature that is constant says nothing.
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
        n_hidden: Any = 10,
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
        unlabelled: Any = None,
        unlabelled_weight: float = 0.1,
        random_state: Any = None,
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
        self.unlabelled = unlabelled
        self.unlabelled_weight = unlabelled_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _check_number("var_floor", self.var_floor, 1e-12, 1, "a number above 0, at most 1")

    def _checked_training(self, X: Any) -> Float64:
        return np.ascontiguousarray(X, dtype=np.float64)

    def _fit_task(self, rows: Float64, task: Task, seed: int) -> Kept:
        scaling = Scaling.of(rows, task.weights)
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

    def _check_rows(self, X: Any) -> Float64:
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

    def _get_state(self) -> dict[str, Any]:
        """Everything learned, as arrays that can be mapped from a file."""
        scaling = {"center": self._nodes.scaling.center, "scale": self._nodes.scaling.scale}
        return self._learned_state() | scaling | {name: getattr(self._nodes, name) for name in self._state_arrays}

    def _set_state(self, state: Mapping[str, Any]) -> None:
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
