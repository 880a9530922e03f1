"""Scores of several kinds turned into the log odds of labels, for documents left out.

With n_l of M documents having label l, s_0 = 1 and s_kl(d) source k's score of label l for document d,

    log odds_l(d) = b_l + sum over k of w_k(t_l) * s_kl(d),     w_k(t) = w_k0 + w_k1 * t + w_k2 * t^2

    t_l = ln((n_l + 1/2) / (M - n_l + 1/2)), less its mean over labels

What a margin means depends on how many documents a label has: with few, margins vary little.

The w are the likeliest for documents left out; w_k1 and w_k2 are held near a guess (ridge), which is the log prior and
the mean of the sources. Then comes each label's own b_l, held small. Cells of a label that no document of the other
folds has are left aside: nothing could be learned of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from genus.base.arrays import Float64
from genus.base.newton import iterate, offset_step
from genus.base.protocol import Scores
from genus.base.tuning import TUNED

Cells = NDArray[np.bool_]


@dataclass(frozen=True)
class Stack:
    """The weight of each source for each label."""

    slopes: Float64  # w_k(t_l): (1 + n_sources, n_labels)
    own: Float64  # b_l

    @property
    def offsets(self) -> Float64:
        """The log odds where all sources say 0."""
        return np.asarray(self.own + self.slopes[0])

    def log_odds(self, sources: Sequence[Scores]) -> Float64:
        odds = np.broadcast_to(self.offsets, sources[0].shape).copy()
        for slopes, scores in zip(self.slopes[1:], sources, strict=True):
            odds += slopes * scores
        return odds


def fit_stack(sources: Sequence[Scores], truth: Cells, learnable: Cells, log_prior: Float64) -> Stack:
    """The likeliest stack of these scores, each (n_documents, n_labels)."""
    t = log_prior - log_prior.mean()
    powers = np.stack([np.ones_like(t), t, t * t], axis=1)
    guess = _guess(len(sources), log_prior)
    ridge = np.tile(TUNED.stack_ridge, len(guess))

    def step(weights: Float64) -> Float64:
        stack = Stack(weights @ powers.T, np.zeros_like(t))
        slope, curvature = _derivatives(stack, sources, truth, learnable)
        flat_slope = (slope @ powers).ravel() + ridge * (weights - guess).ravel()
        flat_curvature = np.einsum("jkl,la,lb->jakb", curvature, powers, powers, optimize=True)
        flat_curvature = flat_curvature.reshape(len(ridge), len(ridge)) + np.diag(ridge)
        uphill = np.linalg.solve(flat_curvature, flat_slope).reshape(weights.shape)
        return np.asarray(-uphill * min(1.0, 2.0 / max(float(np.abs(uphill).max()), 1e-300)))

    weights = iterate(step, guess, 50, least=1e-6)
    return _with_own(Stack(weights @ powers.T, np.zeros_like(t)), sources, truth, learnable)


def log_loss(odds: Float64, truth: Cells, learnable: Cells) -> float:
    """The mean of -ln p over the cells that count."""
    losses = np.logaddexp(0, np.where(truth, -odds, odds))
    return float(losses[learnable].mean()) if learnable.any() else 0.0


def _guess(n_sources: int, log_prior: Float64) -> Float64:
    weights = np.zeros((1 + n_sources, 3))
    weights[0, :2], weights[1:, 0] = (log_prior.mean(), 1.0), 1 / n_sources
    return weights


def _derivatives(stack: Stack, sources: Sequence[Scores], truth: Cells, learnable: Cells) -> tuple[Float64, Float64]:
    """Of the log loss, by each label's slopes: first (k, l), second (k, k', l)."""
    p = expit(stack.log_odds(sources))
    residual, certainty = np.where(learnable, p - truth, 0.0), np.where(learnable, p * (1 - p), 0.0)
    n = 1 + len(sources)
    slope, curvature = np.empty((n, truth.shape[1])), np.empty((n, n, truth.shape[1]))
    slope[0], curvature[0, 0] = residual.sum(axis=0), certainty.sum(axis=0)
    for j, scores in enumerate(sources, 1):
        slope[j] = np.einsum("dl,dl->l", residual, scores)
        weighted = certainty * scores
        curvature[j, 0] = curvature[0, j] = weighted.sum(axis=0)
        for k, others in enumerate(sources[:j], 1):
            curvature[j, k] = curvature[k, j] = np.einsum("dl,dl->l", weighted, others)
    return slope, curvature


def _with_own(stack: Stack, sources: Sequence[Scores], truth: Cells, learnable: Cells) -> Stack:
    """Each label's own part, by Newton's method."""
    odds = stack.log_odds(sources)

    def step(own: Float64) -> Float64:
        p = expit(odds + own)
        residuals = np.where(learnable, truth - p, 0.0).sum(axis=0)
        return offset_step(own, residuals, np.where(learnable, p * (1 - p), 0.0).sum(axis=0), TUNED.label_ridge)

    return Stack(stack.slopes, iterate(step, np.zeros(truth.shape[1]), 8, longest=2.0))
