"""Gaussian classes with one covariance, for dense vectors: linear discriminant analysis, as a generative model.

    score_c(x) = log p(c) + a_c (x - mu) + b_c                          (log p(c, x), up to what all classes share)
    a_c        = S^-1 (m_c - mu)
    b_c        = -1/2 (m_c - mu) a_c - 1/2 v k / (w_c + k)^2
    m_c        = mu + w_c / (w_c + k) * (mean_c - mu)                   (the means, shrunk)
    S          = (1 - rho) E / W + rho t I                              (the covariance, shrunk)
    v          = tr(S^-1 E) / n                                         (the mean square of a vector, measured by S)

with w_c the summed weights of the vectors of class c, W their sum, mean_c and mu the means of class c and of all,
E the sum of squares and products of vectors less the mean of their class, t the mean square, per column, of vectors
less the shrunk mean of their class, and n = W - number of classes. Where means are not shrunk, k = 0, this is the
usual LDA.

The second term of b_c belongs to the shrinkage of means. Let the true means of classes scatter about mu as vectors do
about the mean of their class, divided by k: then the squared length of a shrunk mean lacks (k / (w_c + k))^2 * v / k.
Without this term the small classes, which are drawn nearest to mu, would be preferred for all vectors near mu.

rho is given, or that of oracle approximating shrinkage for d columns (Chen, Wiesel, Eldar and Hero, *Shrinkage
Algorithms for MMSE Covariance Estimation*, 2010, eq. 23):

    rho = min(1, ((1 - 2/d) tr E^2 + tr(E)^2) / ((n + 1 - 2/d) (tr E^2 - tr(E)^2 / d)))

All of it follows from sums over vectors, which are kept exactly: see `genus.base.moments`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from genus import _core
from genus.base.arrays import Float64, Int32, Int64, State, n_threads
from genus.base.estimator import GenerativeClassifier
from genus.base.moments import GRID_BITS, ClassMoments, MomentAccumulator, blocks, check_range, on_grid
from genus.base.protocol import Samples
from genus.base.rows import MatrixLike, SparseRows, add_duplicates, dense_rows, full_rows, slice_rows, to_rows
from genus.base.score_table import top_words
from genus.base.statistics import ONE, Accumulator, Batch, ClassCounts
from genus.base.validation import check_not_negative, check_number

_BLOCK = 1 << 20  # components read at once to score: 8 MB where rows are not full
_PANEL = 8  # classes side by side: panel_width in the native core
_LEFT_OUT_BLOCK = 1 << 18  # and to leave vectors out, where each needs several arrays of its length
# Added to S, so that it can always be inverted: parts of the mean square of vectors less their mean, and as they are.
_SPREAD_FLOOR, _SIZE_FLOOR = 2.0**-30, 2.0**-40
_ROUNDING = 2.0**-44  # of sums of squares: what is less is taken for nothing

Number = NDArray[np.floating]  # one, or one for each vector that is left out


@dataclass(frozen=True)
class GaussianTable:
    """What scoring reads: a_c, mu, log p(c) scaled plus b_c, log p(c) scaled, and log p(c)."""

    coef: Float64
    center: Float64
    bias: Float64
    scaled_prior: Float64
    log_prior: Float64

    def scores(self, rows: SparseRows, threads: int) -> Float64:
        """Of documents x classes. A vector that is zero throughout has the prior.

        Equal bits for any number of threads, any split of the documents and every machine: see `dense_scores` in the
        native core.
        """
        panels, bias = self._panels
        out = np.empty((rows.n_rows, len(self.bias)))
        for begin, end in blocks(rows.n_rows, len(self.center), _BLOCK):
            x: NDArray[Any] = dense_rows(slice_rows(rows, begin, end), len(self.center))
            if x.dtype == np.int64:
                x = x.astype(np.float64)
            if not _core.dense_scores(x, self.center, panels, bias, self.scaled_prior, out[begin:end], threads):
                check_range(x)
        return out

    @cached_property
    def _panels(self) -> tuple[Float64, Float64]:
        """The coefficients of eight classes at a time, (n_panels, n_columns, 8), and the bias, filled up with zeros."""
        n_classes, n_columns = self.coef.shape
        n_panels = -(-n_classes // _PANEL)
        coef, bias = np.zeros((n_panels * _PANEL, n_columns)), np.zeros(n_panels * _PANEL)
        coef[:n_classes], bias[:n_classes] = self.coef, self.bias
        return np.ascontiguousarray(coef.reshape(n_panels, _PANEL, n_columns).transpose(0, 2, 1)), bias

    def row_evidence(self, row: SparseRows, classes: Sequence[int]) -> tuple[Float64, Float64]:
        """What each of one vector's entries (n_entries, k) adds to some classes' scores, and what is left (k,)."""
        scores = self.scores(row, 1)[0, classes]
        d = len(self.center)
        x = np.rint(row.data * 2.0**GRID_BITS) * 2.0**-GRID_BITS
        parts = np.zeros((len(x), len(classes)))
        known = (row.indices >= 0) & (row.indices < d)
        if x[known].any():
            columns = row.indices[known]
            parts[known] = (x[known] - self.center[columns])[:, np.newaxis] * self.coef[classes][:, columns].T
        return scores - parts.sum(axis=0), parts

    def to_state(self) -> dict[str, object]:
        """The table, as arrays that can be mapped from a file."""
        return {f"table_{field.name}": getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_state(cls, state: State, n_classes: int, n_columns: int) -> Self:
        """What `to_state` gave, with its shapes checked."""
        table = cls(**{field.name: state[f"table_{field.name}"] for field in fields(cls)})
        shapes = {"coef": (n_classes, n_columns), "center": (n_columns,)}
        for field in fields(cls):
            array, shape = getattr(table, field.name), shapes.get(field.name, (n_classes,))
            if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.shape != shape:
                raise ValueError(f"{field.name} must be an array of float64 numbers of shape {shape}.")
        return table


@dataclass(frozen=True)
class Scatter:
    """What S is made of: sums over vectors less their means."""

    weights: Float64  # w_c
    center: Float64  # mu
    offsets: Float64  # mean_c - mu; zero for a class without vectors
    within: Float64  # E
    size: float  # sum of squares of all vectors

    @classmethod
    def of(cls, moments: ClassMoments) -> Scatter:
        weights, sums, second = moments.vector_weights, moments.class_sums, moments.second_moment
        total = max(weights.sum(), np.finfo(float).tiny)
        center = sums.sum(axis=0) / total
        means = sums / np.where(weights > 0, weights, 1)[:, np.newaxis]
        offsets = np.where(weights[:, np.newaxis] > 0, means - center, 0.0)
        within = second - total * np.outer(center, center) - (offsets.T * weights) @ offsets
        return cls(weights, center, offsets, within, float(np.trace(second)))


@dataclass(frozen=True)
class Traces:
    """All that the shrinkage of S depends on, of one set of vectors or of many: see `Scatter`."""

    weight: Number  # W
    n_classes: Number  # that have vectors
    within: Number  # tr E
    within_squared: Number  # tr E^2
    around: Number  # sum of squares of vectors less the shrunk mean of their class
    spread: Number  # sum of squares of vectors less mu
    size: Number  # sum of squares of vectors
    n_columns: int

    @property
    def freedom(self) -> Number:
        """n."""
        return np.maximum(self.weight - self.n_classes, 1)

    @property
    def tell_apart(self) -> NDArray[np.bool_]:
        """Whether vectors say anything of classes: more than one class has some, and they differ beyond rounding."""
        return np.asarray((self.n_classes > 1) & (self.spread > _ROUNDING * self.size))

    @property
    def floor(self) -> Number:
        """What is added to the diagonal of S in any case."""
        return (_SPREAD_FLOOR * self.spread + _SIZE_FLOOR * self.size) / (self.weight * self.n_columns)

    def oracle_shrinkage(self) -> Number:
        """rho by oracle approximating shrinkage. Of E plus the floor, so that it is 1 where E is but rounding.

        A single column has nothing to be drawn from: 1.
        """
        d, n, added = self.n_columns, self.freedom, self.floor * self.weight
        trace = self.within + d * added
        of_square = self.within_squared + added * (2 * self.within + d * added)
        numerator = (1 - 2 / d) * of_square + trace**2
        denominator = (n + 1 - 2 / d) * (of_square - trace**2 / d)
        return np.where((d > 1) & (denominator > numerator), numerator / np.where(denominator > 0, denominator, 1), 1.0)

    def covariance(self, rho: Number) -> tuple[Number, Number]:
        """The factor of E in S, and what is added to the diagonal."""
        return (1 - rho) / self.weight, rho * self.around / (self.weight * self.n_columns) + self.floor


class DenseGaussian(GenerativeClassifier[GaussianTable]):
    """Linear discriminant analysis for dense vectors, which learns, merges and unlearns exactly.

    For embeddings of texts and other features of at most a few hundred columns, and for few documents per class.

    Parameters
    ----------
    shrinkage : "oas" or float from 0 to 1, default="oas"
        rho, how far the covariance is drawn towards equal variances of independent columns. "oas" estimates it, by
        oracle approximating shrinkage.
    mean_shrinkage : float, default=3.0
        k: a class's mean is drawn towards the mean of all vectors as if k vectors had been there. Not negative.
    prior_scale : float, default=1.0
        Multiplies the log prior; 0 ignores it. Not negative.
    fit_prior : bool, default=True
        Learn p(c) from the documents' weights; otherwise all classes are equally probable beforehand.
    class_prior : array of shape (n_classes,), default=None
        p(c), in the order of ``classes_``; replaces learned ones.
    n_jobs : int, default=None
        Threads of genus's own code; None and -1 use every core. They change no result. Learning and leaving out take
        the threads of NumPy's BLAS.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    n_features_in_ : int
        The number of columns d.
    class_count_, class_log_prior_ : arrays of shape (n_classes,)
        The documents' summed weights, and log p(c).
    means_ : array of shape (n_classes, n_features)
        m_c, shrunk.
    covariance_ : array of shape (n_features, n_features)
        S. Made anew each time it is asked for.
    shrinkage_ : float
        rho.
    center_, coef_, intercept_ : arrays of shape (n_features,), (n_classes, n_features), (n_classes,)
        The score of x is ``coef_ @ (x - center_) + intercept_``: mu, a_c, and the scaled log p(c) plus b_c.

    See Also
    --------
    GaussianNonlinearBayes : a class is several Gaussians, with variances of their own.

    Notes
    -----
    ===================  ==========================================  =========================
    symbol               here                                        shape
    ===================  ==========================================  =========================
    x                    a row of ``X``                              (n_features,)
    mu                   ``center_``                                 (n_features,)
    m_c                  ``means_``                                  (n_classes, n_features)
    S                    ``covariance_``                             (n_features, n_features)
    a_c                  ``coef_``                                   (n_classes, n_features)
    log p(c)             ``class_log_prior_``                        (n_classes,)
    score_c(x)           ``predict_joint_log_proba``                 (n_documents, n_classes)
    ===================  ==========================================  =========================

    With few documents per class, probabilities are too extreme: calibrate them, for instance by
    `leave_one_out_log_proba`, which is exact.

    A row that is zero throughout holds no vector, as a text without a known word does: it counts in the prior only, and
    its answer is the prior. What distinguishes LDA of scikit-learn: its means are not shrunk (``mean_shrinkage=0``),
    and its automatic shrinkage is another one. A covariance that cannot be inverted is made so by adding 2**-30 of the
    mean variance of a column over all vectors, and 2**-40 of its mean square, to the diagonal.

    Components are rounded to multiples of 2**-30 and may be from -2**20 to 2**20, weights to multiples of 2**-36, with
    a sum below 2**26; there may be at most 4,096 columns. So rounded, sums are exact: they take 24 d^2 + 16 C d bytes
    for C classes.

    The scores of a vector depend on the model and the vector alone, to the bit: not on ``n_jobs``, on the vectors asked
    together with it, or on the processor. The sums that are learned are exact everywhere. Parameters are computed from
    them by LAPACK, and scores of vectors that are left out by BLAS: they are equal for any ``n_jobs``, but their last
    digits may differ between machines and numbers of BLAS threads; for vectors that are left out, also with the others
    in the same call.

    Learning n vectors takes three products of d x d x n, about 0.5 s for 100,000 vectors of 128 columns on a core; then
    d^3 / 3 for the table; an answer takes C d, leaving one out d^2 + 5 C d.

    Examples
    --------
    >>> import numpy as np
    >>> from genus import DenseGaussian
    >>> X = np.array([[0.9, 0.1], [0.8, 0.3], [0.1, 0.9], [-0.2, 0.8]])
    >>> clf = DenseGaussian().fit(X, ["sport", "sport", "money", "money"])
    >>> clf.predict([[0.7, 0.2], [0.1, 0.5]]).tolist()
    ['sport', 'money']
    >>> clf.unlearn(X[3:], ["money"]).class_count_.tolist()
    [1.0, 2.0]
    """

    _remembers: ClassVar[type[Accumulator]] = MomentAccumulator
    _accumulator: MomentAccumulator

    def __init__(
        self,
        shrinkage: float | str = "oas",
        *,
        mean_shrinkage: float = 3.0,
        prior_scale: float = 1.0,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.shrinkage = shrinkage
        self.mean_shrinkage = mean_shrinkage
        self.prior_scale = prior_scale
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        if self.shrinkage != "oas":
            check_number("shrinkage", self.shrinkage, 0, 1, "'oas' or a number from 0 to 1")
        check_not_negative("mean_shrinkage", self.mean_shrinkage)
        super()._check_parameters()

    # Vectors in

    def _training_rows(self, X: Samples) -> SparseRows:
        return full_rows(X) if isinstance(X, np.ndarray) else add_duplicates(to_rows(X))

    def _check_rows(self, X: MatrixLike) -> SparseRows:
        check_is_fitted(self)
        return self._training_rows(validate_data(self, X, reset=False, accept_sparse="csr"))

    def _has_counts(self, words: Int32) -> NDArray[np.bool_]:
        return np.asarray(self._accumulator.moments().filled[words])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = False
        tags.classifier_tags.poor_score = False
        return tags

    # Parameters

    @property
    def _scatter(self) -> Scatter:
        check_is_fitted(self)
        return Scatter.of(self._accumulator.moments())

    def _mean_weight(self, weights: Number) -> Float64:
        """w_c / (w_c + k), how much of a class's own mean is in m_c."""
        whole = weights + self.mean_shrinkage
        return np.asarray(np.divide(weights, whole, out=np.zeros_like(whole), where=weights > 0))

    def _around(self, weights: Number) -> Float64:
        """The squared distance of mean_c from m_c, summed over the vectors of c, as a part of that from mu."""
        return np.asarray(weights * (1 - self._mean_weight(weights)) ** 2)

    def _lost(self, weights: Number) -> Float64:
        """k / (w_c + k)^2, the part of v that m_c lacks in its squared length."""
        whole = weights + self.mean_shrinkage
        return np.asarray(np.divide(1 - self._mean_weight(weights), whole, out=np.zeros_like(whole), where=whole > 0))

    def _rho(self, traces: Traces) -> Number:
        if self.shrinkage == "oas":
            return traces.oracle_shrinkage()
        return np.full_like(traces.weight, float(self.shrinkage))

    def _traces(self, scatter: Scatter) -> Traces:
        weights, squares = scatter.weights, (scatter.offsets**2).sum(axis=1)
        within = max(float(np.trace(scatter.within)), 0.0)
        return Traces(
            weight=weights.sum(),
            n_classes=np.asarray(np.count_nonzero(weights), dtype=np.float64),
            within=np.asarray(within),
            within_squared=(scatter.within**2).sum(),
            around=within + self._around(weights) @ squares,
            spread=within + weights @ squares,
            size=np.asarray(scatter.size),
            n_columns=len(scatter.center),
        )

    def _covariance(self, scatter: Scatter) -> Float64:
        traces = self._traces(scatter)
        factor, added = traces.covariance(self._rho(traces))
        S = factor * scatter.within
        S[np.diag_indices_from(S)] += added
        return np.asarray(S)

    def _make_parameters(self, counts: ClassCounts) -> GaussianTable:
        scatter, log_prior = self._scatter, self._log_prior(counts.weights)
        scaled_prior = self._scale(log_prior)
        shift = self._mean_weight(scatter.weights)[:, np.newaxis] * scatter.offsets  # m_c - mu
        coef, bias, traces = np.zeros_like(shift), scaled_prior, self._traces(scatter)
        if traces.tell_apart:
            try:
                factor = linalg.cho_factor(self._covariance(scatter))
            except linalg.LinAlgError:
                raise ValueError("vectors were unlearned that had not been learned; fit again.") from None
            coef = linalg.cho_solve(factor, shift.T).T
            v = np.trace(linalg.cho_solve(factor, scatter.within)) / traces.freedom
            bias = scaled_prior - 0.5 * ((shift * coef).sum(axis=1) + v * self._lost(scatter.weights))
        return GaussianTable(coef, scatter.center, bias, scaled_prior, log_prior)

    # Scores

    def _scores(self, rows: SparseRows) -> Float64:
        return self._parameters.scores(rows, n_threads(self.n_jobs))

    def _row_evidence(self, row: SparseRows, classes: Sequence[int]) -> tuple[Float64, Float64]:
        return self._parameters.row_evidence(row, list(classes))

    def _top_words(self, c: int, n: int) -> tuple[Int64, Float64]:
        """The columns that set class c apart: what each adds to the score of its mean over that of mu."""
        parts = self._parameters.coef[c] * (self.means_[c] - self.center_)
        return top_words(np.arange(len(parts)), parts, n)

    # Leaving out

    def _scores_without(self, batch: Batch, own: Int32, bias: Float64) -> tuple[Float64, Float64]:
        left_out = LeftOut(self, self._scatter)
        scores = np.zeros((batch.rows.n_rows, len(bias)))
        d = len(left_out.scatter.center)
        squares = np.diagonal(self._accumulator.moments().second_moment)
        for begin, end in blocks(len(scores), 4 * d, _LEFT_OUT_BLOCK):
            x = on_grid(slice_rows(batch.rows, begin, end), d) * 2.0**-GRID_BITS
            weights = batch.weights[begin:end] / ONE
            if (weights[:, np.newaxis] * x**2 > squares * (1 + 1e-9)).any():
                raise ValueError("X, y and sample_weight must be documents that were learned.")
            rows = begin + left_out.has_others(x, weights)
            scores[rows] = left_out.scores(x[rows - begin], own[rows], weights[rows - begin])
        return scores + bias, scores[np.arange(len(own)), own]

    # Looking inside

    @property
    def class_log_prior_(self) -> Float64:
        return self._parameters.log_prior

    @property
    def center_(self) -> Float64:
        return self._parameters.center

    @property
    def coef_(self) -> Float64:
        return self._parameters.coef

    @property
    def intercept_(self) -> Float64:
        return self._parameters.bias

    @property
    def means_(self) -> Float64:
        scatter = self._scatter
        return scatter.center + self._mean_weight(scatter.weights)[:, np.newaxis] * scatter.offsets

    @property
    def covariance_(self) -> Float64:
        return self._covariance(self._scatter)

    @property
    def shrinkage_(self) -> float:
        return float(self._rho(self._traces(self._scatter)))

    # Keeping

    def _table_state(self) -> dict[str, object]:
        return self._parameters.to_state()

    def _table_from_state(self, state: State) -> GaussianTable:
        return GaussianTable.from_state(state, len(self.classes_), self._accumulator.n_columns)


class LeftOut:
    """Scores of vectors by the model without them, one at a time.

    Without the vector x = mu + v of weight w and class o, with eta = w / (W - w), r = w / (w_o - w) and offsets u_c:

        mu' = mu - eta v       mean_c' - mu' = u_c + eta v, for c = o: (1 + r) u_o + (eta - r) v
        E'  = E - beta (v - u_o)(v - u_o)^T,   beta = w w_o / (w_o - w)

    rho changes by the traces of E', so that each vector has an S of its own: f E' + g I. In the basis of E's
    eigenvectors, f E + g I is diagonal with the inverse H, and by Sherman and Morrison

        S'^-1 = H + H e e^T H * f beta / (1 - f beta e^T H e),   e = v - u_o

    Cost for n vectors: products of n x d x d and, four times, n x d x C. They are BLAS's: the last digits of the scores
    may depend on the machine, on BLAS's threads and on the vectors left out together, but not on n_jobs.
    """

    def __init__(self, model: DenseGaussian, scatter: Scatter) -> None:
        self.model, self.scatter = model, scatter
        self.traces = model._traces(scatter)
        values, self.basis = linalg.eigh(scatter.within)
        self.values = np.maximum(values, 0)
        self.offsets = scatter.offsets @ self.basis
        self.squares = (self.offsets**2).sum(axis=1)

    def has_others(self, x: Float64, w: Float64) -> Int64:
        """The numbers of the rows that hold a vector, without which the model has others; the rest has the prior."""
        return np.flatnonzero(x.any(axis=1) & (self.traces.weight - w > 2.0**-50 * self.traces.weight))

    def scores(self, x: Float64, own: Int32, w: Float64) -> Float64:
        """Of vectors x classes, without the prior."""
        weights = self.scatter.weights
        w_rest, own_rest = self.traces.weight - w, np.maximum(weights[own] - w, 0)
        eta, r = w / w_rest, np.divide(w, own_rest, out=np.zeros_like(w), where=own_rest > 0)
        v, u = (x - self.scatter.center) @ self.basis, self.offsets[own]
        e, beta = v - u, r * weights[own]
        traces = self._traces_without(x, own, w, v, e, beta)
        f, g = traces.covariance(self.model._rho(traces))
        H = 1 / (f[:, np.newaxis] * self.values + g[:, np.newaxis])
        He = H * e
        e_e = (e * He).sum(axis=1)
        down = f * beta / (1 - f * beta * e_e)
        of_within = H @ self.values + down * (He**2 @ self.values) - beta * (e_e + down * e_e**2)  # tr(S'^-1 E')
        v_rest = of_within / traces.freedom
        # u_c, u_c and v in the metric of S'^-1
        e_u, e_v = He @ self.offsets.T, (He * v).sum(axis=1)
        uv = (H * v) @ self.offsets.T + (down * e_v)[:, np.newaxis] * e_u
        uu = H @ (self.offsets**2).T + down[:, np.newaxis] * e_u**2
        vv = (H * v**2).sum(axis=1) + down * e_v**2

        def score(a: Float64, b: Float64, uu: Float64, uv: Float64, vv: Float64, eta: Float64) -> Float64:
            """Of x in a class with m_c' - mu' = a u_c + b v; x - mu' is (1 + eta) v."""
            return (1 + eta) * (a * uv + b * vv) - 0.5 * (a**2 * uu + 2 * a * b * uv + b**2 * vv)

        share, lost = self.model._mean_weight(weights), self.model._lost(weights)
        column = eta[:, np.newaxis]
        out = score(share, share * column, uu, uv, vv[:, np.newaxis], column) - 0.5 * np.outer(v_rest, lost)
        rows, share, lost = np.arange(len(own)), self.model._mean_weight(own_rest), self.model._lost(own_rest)
        mine = score(share * (1 + r), share * (eta - r), uu[rows, own], uv[rows, own], vv, eta)
        out[rows, own] = mine - 0.5 * v_rest * lost
        out[~traces.tell_apart] = 0
        return out

    def _traces_without(self, x: Float64, own: Int32, w: Float64, v: Float64, e: Float64, beta: Float64) -> Traces:
        model, weights, all_ = self.model, self.scatter.weights, self.traces
        w_rest, own_rest = all_.weight - w, np.maximum(weights[own] - w, 0)
        e2, v2, x2 = ((part**2).sum(axis=1) for part in (e, v, x))
        within = np.maximum(all_.within - beta * e2, 0)
        squared = all_.within_squared - 2 * beta * (e**2 @ self.values) + (beta * e2) ** 2
        squared = np.clip(squared, within**2 / all_.n_columns, within**2)  # what rounding leaves
        # sum over classes of part_c |mean_c' - mu'|^2: all as if x were of none, then o as it is
        eta, r = w / w_rest, np.divide(w, own_rest, out=np.zeros_like(w), where=own_rest > 0)
        part = model._around(weights)
        u_v = (v * self.offsets[own]).sum(axis=1)
        others = part @ self.squares + 2 * eta * (v @ (part @ self.offsets)) + eta**2 * v2 * part.sum()
        old = self.squares[own] + 2 * eta * u_v + eta**2 * v2
        new = (1 + r) ** 2 * self.squares[own] + 2 * (1 + r) * (eta - r) * u_v + (eta - r) ** 2 * v2
        around = others - part[own] * old + model._around(own_rest) * new
        spread = all_.spread - w * (1 + eta) * v2
        n_classes = all_.n_classes - (own_rest <= 0) * (w > 0)
        return Traces(
            w_rest, n_classes, within, squared, within + around, np.maximum(spread, 0), all_.size - w * x2,
            n_columns=all_.n_columns,
        )  # fmt: skip
