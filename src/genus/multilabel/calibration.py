"""Calibrated probabilities for a document's candidate labels.

A document's best labels are kept in order, so that memory grows with documents and not with all pairs. With s_l the
score of label l, s_best that of the best other label, and n_l of M documents having the label,

    logit p_l = w1 * s_l + w2 * (s_l - s_best) + w3 * log(rank of l) + w4 * log odds of n_l in M + w0 + d_l

is fitted to held-out documents; d_l, the label's own part, is held small (ridge).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from genus.base.arrays import Float64, Int32
from genus.base.newton import iterate, offset_step
from genus.base.protocol import Targets

_FAR = -50.0  # lower scores count as this
_RIDGE = 1.0


@dataclass(frozen=True)
class Candidates:
    """Each document's best labels, the best first: (n_documents, k). Label -1 is none."""

    labels: Int32
    scores: Float64

    @classmethod
    def from_scores(cls, scores: Float64, labels: Int32, k: int) -> Candidates:
        """The k best labels of each row; the columns are these labels."""
        k = min(k, scores.shape[1])
        best = np.argpartition(-scores, k - 1, axis=1)[:, :k] if k < scores.shape[1] else None
        chosen = scores if best is None else np.take_along_axis(scores, best, axis=1)
        order = np.argsort(-chosen, axis=1, kind="stable")
        columns = order if best is None else np.take_along_axis(best, order, axis=1)
        return cls(labels[columns].astype(np.int32), np.take_along_axis(chosen, order, axis=1))

    @classmethod
    def none(cls, n: int, k: int) -> Candidates:
        """For documents that have not been scored yet."""
        return cls(np.full((n, k), -1, dtype=np.int32), np.full((n, k), -np.inf))

    def put(self, rows: Any, part: Candidates) -> None:
        k = part.labels.shape[1]
        self.labels[rows, :k], self.scores[rows, :k] = part.labels, part.scores

    def contrast(self) -> Float64:
        """By how much each label is better than the best other one."""
        best = np.repeat(self.scores[:, :1], self.scores.shape[1], axis=1)
        if self.scores.shape[1] > 1:
            best[:, 0] = self.scores[:, 1]
        with np.errstate(invalid="ignore"):
            difference = self.scores - np.where(np.isfinite(best), best, 0.0)
        return np.where(np.isfinite(self.scores), difference, -np.inf)

    def matrix(self, values: Float64, n_labels: int) -> sparse.csr_array:
        """Values of the candidates as sparse rows over all labels."""
        there = self.labels >= 0
        indptr = np.concatenate(([0], np.cumsum(there.sum(axis=1))))
        matrix = sparse.csr_array((values[there], self.labels[there], indptr), shape=(len(self.labels), n_labels))
        matrix.sort_indices()
        return matrix

    def truth(self, Y: Targets) -> Float64:
        """Whether each candidate is a label of its document; Y is a sparse indicator."""
        hits = np.zeros(self.labels.shape)
        keys = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr)).astype(np.int64) * Y.shape[1] + Y.indices
        mine = np.arange(len(self.labels))[:, np.newaxis] * np.int64(Y.shape[1]) + self.labels
        hits[(self.labels >= 0) & np.isin(mine, keys)] = 1
        return hits


@dataclass(frozen=True)
class _Features:
    """The inputs of each candidate's logit: its label, and a row of numbers."""

    there: NDArray[np.bool_]  # where the candidates stand
    labels: Int32
    values: Float64

    @classmethod
    def from_candidates(cls, candidates: Candidates, log_odds: Float64) -> _Features:
        there = candidates.labels >= 0
        labels = candidates.labels[there]
        log_rank = np.log(np.arange(1, there.shape[1] + 1))
        values = np.column_stack([
            np.maximum(candidates.scores[there], _FAR),
            np.maximum(candidates.contrast()[there], _FAR),
            np.broadcast_to(log_rank, there.shape)[there],
            log_odds[labels],
            np.ones(len(labels)),
        ])  # fmt: skip
        return cls(there, labels, values)


@dataclass(frozen=True)
class Calibration:
    """The fitted weights."""

    weights: Float64  # of the features, in the order of the equation
    own: Float64  # d_l
    log_odds: Float64  # of each label among the documents

    @classmethod
    def fit(cls, candidates: Candidates, Y: Targets) -> Calibration:
        """By Newton's method, first the common weights, then in turn with the labels' own."""
        n = np.asarray(Y.sum(axis=0)).ravel()
        log_odds = np.log((n + 0.5) / (Y.shape[0] - n + 0.5))
        features = _Features.from_candidates(candidates, log_odds)
        truth = candidates.truth(Y)[features.there]
        fitted = cls(np.zeros(features.values.shape[1]), np.zeros(len(n)), log_odds)
        if not truth.any():  # nothing to fit, for instance if every label has one document: use the score alone
            return replace(fitted, weights=np.array([1.0, 0.0, 0.0, 1.0, 0.0]))
        for n_steps in (12, 2, 2):
            weights = iterate(partial(fitted._common_step, features, truth), fitted.weights, n_steps)
            fitted = replace(fitted, weights=weights)
            own = iterate(partial(fitted._own_step, features, truth), fitted.own, 3)
            fitted = replace(fitted, own=own)
        return fitted

    def proba(self, candidates: Candidates) -> Float64:
        """The probability of each candidate: (n_documents, k), 0 where there is none."""
        features = _Features.from_candidates(candidates, self.log_odds)
        proba = np.zeros(candidates.labels.shape)
        proba[features.there] = self._proba(features, self.weights, self.own)
        return proba

    @staticmethod
    def _proba(features: _Features, weights: Float64, own: Float64) -> Float64:
        logits = features.values @ weights + own[features.labels]
        return np.asarray(1 / (1 + np.exp(-np.clip(logits, -40, 40))))

    def _common_step(self, features: _Features, truth: Float64, weights: Float64) -> Float64:
        p = self._proba(features, weights, self.own)
        gradient = features.values.T @ (truth - p)
        curvature = (features.values * (p * (1 - p))[:, np.newaxis]).T @ features.values
        return np.asarray(np.linalg.solve(curvature + 1e-6 * np.eye(len(gradient)), gradient))

    def _own_step(self, features: _Features, truth: Float64, own: Float64) -> Float64:
        n, p = len(own), self._proba(features, self.weights, own)
        residuals: Float64 = np.bincount(features.labels, truth - p, n).astype(np.float64, copy=False)
        variances: Float64 = np.bincount(features.labels, p * (1 - p), n).astype(np.float64, copy=False)
        return offset_step(own, residuals, variances, _RIDGE)
