"""Probabilistic latent semantic analysis with classes as topics: loops over documents and words."""

from __future__ import annotations

import numpy as np


def smoothed(sums, alpha):
    return (sums + alpha) / (sums + alpha).sum(axis=0)


def shares(p_words, mixture, tempering):
    """P(c|d,w) for the words of rows of P(w|c)."""
    parts = (p_words * mixture) ** tempering
    return parts / parts.sum(axis=1, keepdims=True)


def train(X, codes, weights, n_classes, alpha, n_iterations, tempering, other_share):
    """P(w|c), by word."""
    table = np.zeros((X.shape[1], n_classes))
    for d, row in enumerate(X):
        table[:, codes[d]] += weights[d] * row
    table = smoothed(table, alpha)
    mixtures = np.full((len(X), n_classes), other_share / max(n_classes - 1, 1))
    for d, c in enumerate(codes):
        mixtures[d, c] = 1 - other_share if n_classes > 1 else 1.0
    for _ in range(n_iterations):
        sums = np.zeros_like(table)
        for d, row in enumerate(X):
            if not row.any():
                continue
            parts = row[:, np.newaxis] * shares(table, mixtures[d], tempering)
            sums += weights[d] * parts
            mixtures[d] = parts.sum(axis=0) / parts.sum()
        table = smoothed(sums, alpha)
    return table


def fold_in(table, row, tempering, n_steps):
    """P(c|d) of a new document."""
    mixture = np.full(table.shape[1], 1 / table.shape[1])
    for _ in range(n_steps if row.any() else 0):
        parts = row[:, np.newaxis] * shares(table, mixture, tempering)
        mixture = parts.sum(axis=0) / parts.sum()
    return mixture
