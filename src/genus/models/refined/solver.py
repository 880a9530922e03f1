"""Naive Bayes scores and what is learned from their mistakes, as arrays: the equations are in `model`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from genus import _core
from genus.base.arrays import Float64, Int32, Int64
from genus.base.documents import Documents
from genus.base.newton import iterate
from genus.base.rows import SparseRows, in_single_precision, row_sums
from genus.base.score_table import ScoreTable
from genus.base.smoothing import JelinekMercer, log_uniform
from genus.base.statistics import ONE, ClassCounts
from genus.models.refined.focus import LogRatioScaling

Float32 = NDArray[np.float32]

_SEARCH_TOLERANCE = 0.05  # of a margin, which is 1 where nothing is left to learn
_MAX_PASSES = 1000
_NO_OFFSETS = np.zeros((0, 0), dtype=np.float32)
_SMALL = 100.0  # what single precision holds to the fifth digit behind the point
_ENOUGH = 4000  # documents, to find one number,
_ENOUGH_SCORES = 1_000_000  # or scores, where classes are many


@dataclass(frozen=True)
class HingeProblem:
    """Documents and the models that they belong to, one or several: ``models[indptr[d] : indptr[d + 1]]``."""

    rows: SparseRows
    indptr: Int64
    models: Int32
    weights: Float64
    n_models: int
    offsets: Float32 | None = None

    @classmethod
    def of_classes(
        cls, rows: SparseRows, codes: Int32, weights: Float64, n_classes: int, offsets: Float64 | None = None
    ) -> HingeProblem:
        """One class each. Two classes are one model, of the second against the first."""
        if n_classes == 2:
            indptr = np.concatenate(([0], np.cumsum(codes, dtype=np.int64)))
            models, n_models = np.zeros(int(indptr[-1]), dtype=np.int32), 1
            margins = None if offsets is None else offsets[:, 1:] - offsets[:, :1]
        else:
            indptr, models, n_models = np.arange(len(codes) + 1), np.ascontiguousarray(codes, dtype=np.int32), n_classes
            margins = offsets
        given = None if margins is None else np.ascontiguousarray(margins, dtype=np.float32)
        return cls(in_single_precision(rows), indptr, models, weights, n_models, given)

    def solve(
        self, cost: float, tolerance: float, n_threads: int, least: float = 0.0
    ) -> tuple[sparse.csr_array, Float64]:
        """What each word adds to each model's margin (n_words, n_models), if more than ``least``, and the biases."""
        indptr, models, values = _core.solve_hinge(
            **self._arguments(),
            cost=float(cost),
            tolerance=tolerance,
            max_passes=_MAX_PASSES,
            least=least,
            n_threads=n_threads,
        )
        shape = (self.rows.n_columns + 1, self.n_models)
        table = sparse.csr_array((values, models, indptr), shape=shape)
        return table[:-1], table[[-1]].toarray()[0]

    def scores(self, costs: Sequence[float], others: SparseRows, n_threads: int) -> Float32:
        """Margins of other documents, without offsets, at each cost: (n_costs, n_documents, n_models)."""
        out = np.empty((len(costs), others.n_rows, self.n_models), dtype=np.float32)
        other_rows, other_columns, other_values, _ = in_single_precision(others)
        _core.hinge_scores(
            **self._arguments(), costs=np.asarray(costs, dtype=np.float64),
            other_rows=other_rows, other_columns=other_columns,
            other_values=other_values.astype(np.float32, copy=False),
            tolerance=_SEARCH_TOLERANCE, max_passes=_MAX_PASSES, out=out, n_threads=n_threads,
        )  # fmt: skip
        return out

    def _arguments(self) -> dict[str, Any]:
        rows, columns, values, n_words = self.rows
        return {
            "rows": rows, "columns": columns, "values": values,
            "indptr": self.indptr, "models": self.models, "weights": self.weights,
            "offsets": _NO_OFFSETS if self.offsets is None else self.offsets,
            "n_words": n_words, "n_models": self.n_models, "seed": 0,
        }  # fmt: skip


def by_class(margins: NDArray[Any]) -> NDArray[Any]:
    """One model's margins as those of two classes, in the last dimension; others as they are."""
    return np.concatenate([-margins / 2, margins / 2], axis=-1) if margins.shape[-1] == 1 else margins


@dataclass(frozen=True)
class NaiveBayes:
    """z_c = sum of x_n * ln(p(n | c) / uniform part) for classes that are summed up: scores without a prior."""

    counts: ClassCounts
    smoothing: JelinekMercer
    n_threads: int

    @property
    def _n_words(self) -> int:
        return max(self.counts.n_words, 1)

    def table(self) -> sparse.csr_array:
        """log1p(ratio_c * count_nc): what each word adds to each class (n_words, n_classes)."""
        counts = self.counts
        ratio = self.smoothing.ratio(counts.totals, self._n_words)
        words = np.log1p(ratio[counts.classes] * (counts.counts / ONE))
        return sparse.csr_array((words, counts.classes, counts.indptr), shape=(counts.n_words, counts.n_classes))

    def log_uniform(self) -> Float64:
        """What a word adds that a class has never seen."""
        return log_uniform(self.smoothing, self.counts.totals, self._n_words)

    def scores(self, rows: SparseRows) -> Float64:
        counts = self.counts
        ratio = self.smoothing.ratio(counts.totals, self._n_words)
        table = _core.build_table(counts.indptr, counts.classes, counts.counts, ratio, self.n_threads)
        out = np.empty((rows.n_rows, counts.n_classes))
        _core.score(
            *table, rows.indptr, rows.indices, rows.data,
            np.zeros(counts.n_classes), self.log_uniform(), out, self.n_threads,
        )  # fmt: skip
        return out

    def scores_without_self(self, documents: Documents) -> Float64:
        """Each document's scores by the sums without it: only those of its own class differ.

        A document of weight 2 is two equal ones: one of them is left out.
        """
        counts, rows, own = self.counts, documents.rows, documents.codes
        scales = np.minimum(documents.weights, ONE).astype(np.float64)
        added = np.floor(rows.data * np.repeat(scales, np.diff(rows.indptr)) + 0.5).astype(np.int64)
        totals = counts.totals_without(own, rows.indptr, added)
        words = _core.score_without_self(
            counts.indptr, counts.classes, counts.counts,
            rows.indptr, rows.indices, rows.data,
            scales, own, self.smoothing.ratio(totals, self._n_words), self.n_threads,
        )  # fmt: skip
        words += row_sums(rows.indptr, rows.data) * log_uniform(self.smoothing, totals, self._n_words)
        scores = self.scores(rows)
        scores[np.arange(len(own)), own] = words
        return scores


def likeliest_temperature(scores: Float64, codes: Int32, weights: Float64) -> float:
    """The factor r under which softmax(r * scores) gives the documents' classes most probability.

    Newton's method on log r, between -12 and 12. One more document is added that belongs to each class in equal parts,
    so that r stays finite where every document is classified without error.
    """
    enough = min(_ENOUGH, max(_ENOUGH_SCORES // scores.shape[1], 100))
    chosen = np.linspace(0, len(codes) - 1, min(len(codes), enough)).astype(np.int64)
    total = weights[chosen].sum()
    weight, doubt = weights[chosen] / total, 1 / (1 + total)
    z = scores[chosen] - scores[chosen].max(axis=1, keepdims=True)
    aim = (1 - doubt) * z[np.arange(len(chosen)), codes[chosen]] + doubt * z.mean(axis=1)

    def step(log_r: Float64) -> Float64:
        r = np.exp(log_r)
        p = np.exp(r * z)
        p /= p.sum(axis=1, keepdims=True)
        mean = (p * z).sum(axis=1)
        slope = r * float(weight @ (aim - mean))  # by log r
        curvature = slope - r * r * float(weight @ ((p * z * z).sum(axis=1) - mean * mean))
        return np.asarray(-slope / curvature if curvature < 0 else np.sign(slope))

    return float(np.exp(iterate(step, np.zeros(()), 100, longest=1.0, least=1e-9, bounds=(-12, 12))))


@dataclass(frozen=True)
class RefinedTable(ScoreTable):
    """A score table for rows with a focus, whose ``factors`` it holds; none where rows stay as they are.

    Its values are learned, and kept, in single precision, but for large ones: a naive Bayes base that tells a few
    documents apart without a mistake has no bounds to its factor. (Two classes are read at once as they are.)
    """

    factors: Float64

    @classmethod
    def from_table(cls, table: ScoreTable, focus: LogRatioScaling) -> RefinedTable:
        arrays = {name: getattr(table, name) for name in ScoreTable.__dataclass_fields__}
        if len(table.bias) > 2 and np.abs(table.values).max(initial=0.0) <= _SMALL:
            arrays["values"] = table.values.astype(np.float32)
        return cls(**arrays, factors=focus.factors)

    @property
    def focus(self) -> LogRatioScaling:
        return LogRatioScaling(self.factors)

    def _given(self, rows: SparseRows, *more: Any) -> tuple[Any, ...]:
        threads: int = more[-1]  # what every kernel is given last
        return super()._given(self.focus.rows(rows, threads), *more)

    def row_evidence(self, row: SparseRows, classes: Sequence[int]) -> tuple[Float64, Float64]:
        return super().row_evidence(self.focus.rows(row, 1), classes)

    def check_against(self, counts: ClassCounts) -> None:
        super().check_against(counts)
        if len(self.factors) not in (0, counts.n_words):
            raise ValueError("the score table and the counts know different numbers of words.")

    def check_shapes(self) -> None:
        super().check_shapes()
        if not isinstance(self.factors, np.ndarray) or self.factors.dtype != np.float64 or self.factors.ndim != 1:
            raise ValueError("table_factors must be a one-dimensional array of float64.")


def score_table(words: sparse.csr_array, bias: Float64, log_uniform: Float64) -> ScoreTable:
    """What scoring reads. Rows of at least a quarter of all classes are filled up: they are read as vectors."""
    n_words, n_classes = words.shape
    words.sort_indices()
    lengths = np.diff(words.indptr)
    full = 4 * lengths >= n_classes if 2 * words.nnz < n_words * n_classes else np.ones(n_words, dtype=bool)
    indptr = np.concatenate(([0], np.cumsum(np.where(full, n_classes, lengths), dtype=np.int64)))
    classes = np.empty(indptr[-1], dtype=np.int32)
    values = np.zeros(indptr[-1])
    # Where each cell goes: a full row has a place for every class.
    word = np.repeat(np.arange(n_words), lengths)
    within = np.where(full[word], words.indices, np.arange(words.nnz) - words.indptr[word])
    filled = np.repeat(indptr[:-1][full], n_classes) + np.tile(np.arange(n_classes), int(full.sum()))
    classes[filled] = np.tile(np.arange(n_classes, dtype=np.int32), int(full.sum()))
    classes[indptr[word] + within] = words.indices
    values[indptr[word] + within] = words.data
    return ScoreTable(indptr, classes, values, bias, np.zeros(n_classes), log_uniform)
