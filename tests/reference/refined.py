"""Naive Bayes refined by its mistakes, as its docstring defines it: refits, dense loops and a general optimiser."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

from reference.naive_bayes import class_sums, word_probabilities


def naive_bayes(X_train, y, weights, X, labels, background_smoothing):
    """z: log likelihoods without a prior."""
    sums = class_sums(X_train, y, labels, weights)
    return X @ np.log(word_probabilities(sums, None, background_smoothing)).T


def left_out(X, y, weights, labels, background_smoothing):
    """Each document's z by all documents but one copy of it."""
    z = np.zeros((len(y), len(labels)))
    for d in range(len(y)):
        rest = np.array(weights, dtype=float)
        rest[d] -= min(rest[d], 1.0)
        z[d] = naive_bayes(X, y, rest, X[[d]], labels, background_smoothing)[0]
    return z


def temperature(z, codes, weights):
    weights = np.asarray(weights, dtype=float)
    doubt = 1 / (1 + weights.sum())
    z = z - z.max(axis=1, keepdims=True)
    aims = np.full(z.shape, doubt / z.shape[1])
    aims[np.arange(len(codes)), codes] += 1 - doubt

    def loss(log_r):
        scores = np.exp(log_r) * z
        log_p = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
        return -(weights / weights.sum()) @ (aims * log_p).sum(axis=1)

    grid = sorted(np.linspace(-12, 12, 241), key=abs)  # where all are equally good, r is 1
    best = grid[np.argmin(np.round([loss(g) for g in grid], 12))]
    if np.ptp([loss(g) for g in grid]) < 1e-12:
        return 1.0
    found = minimize_scalar(loss, bounds=(max(best - 0.2, -12), min(best + 0.2, 12)), method="bounded")
    return np.exp(found.x)


def solve(X, signs, weights, offsets, cost):
    """Minimises 1/2 |u|^2 + cost * sum of weights * loss^2, the last of u being the bias."""
    X = np.column_stack([X, np.ones(len(X))])
    weights = np.asarray(weights, dtype=float)

    def objective(u):
        loss = np.maximum(0, 1 - signs * (offsets + X @ u))
        gradient = u - 2 * cost * X.T @ (weights * loss * signs)
        return 0.5 * u @ u + cost * weights @ loss**2, gradient

    u = np.zeros(X.shape[1])
    for _ in range(100):  # Newton's method: the function is quadratic where the set of mistakes stays
        value, gradient = objective(u)
        wrong = signs * (offsets + X @ u) < 1
        hessian = np.eye(len(u)) + 2 * cost * (X[wrong].T * weights[wrong]) @ X[wrong]
        direction = np.linalg.solve(hessian, gradient)
        step = 1.0
        while objective(u - step * direction)[0] > value and step > 1e-12:
            step /= 2
        u = u - step * direction
        if np.abs(step * direction).max() < 1e-13:
            break
    return u


def word_focus(X, y, labels, weights):
    """The largest |ln p(n | c) - ln p(n | not c)| of each word, over the classes that have it."""
    sums = class_sums(X, y, labels, weights)
    if sums.any():
        sums = sums / (sums.sum() / (np.asarray(weights) @ (X > 0).sum(axis=1)))
    focus = np.full(X.shape[1], 0.01)
    for n in range(X.shape[1]):
        for c in range(len(labels)):
            if sums[c, n] > 0:
                others = np.delete(sums, c, axis=0)
                own = (sums[c, n] + 1) / (sums[c].sum() + X.shape[1])
                rest = (others[:, n].sum() + 1) / (others.sum() + X.shape[1])
                focus[n] = max(focus[n], abs(np.log(own / rest)))
    return focus


def focused(X, factors):
    X = X * factors
    return X / np.maximum(np.sqrt((X**2).sum(axis=1, keepdims=True)), 1e-300)


def scores(X_train, y, X, *, sample_weight=None, cost=1.0, base_weight=0.25, background_smoothing=0.5, focus=0.0):
    labels = sorted(set(y))
    codes = np.array([labels.index(label) for label in y])
    weights = np.ones(len(y)) if sample_weight is None else np.array(sample_weight, dtype=float)
    if focus:
        factors = word_focus(X_train, y, labels, weights) ** focus
        X_train, X = focused(X_train, factors), focused(X, factors)
    z = left_out(X_train, y, weights, labels, background_smoothing)
    scale = base_weight * temperature(z, codes, weights) if base_weight else 0.0
    margins = scale * (z - z.mean(axis=1, keepdims=True)) / 2
    result = scale * naive_bayes(X_train, y, weights, X, labels, background_smoothing)
    pairs = np.column_stack([X, np.ones(len(X))])
    if len(labels) == 2:
        u = solve(X_train, np.where(codes == 1, 1, -1), weights, margins[:, 1] - margins[:, 0], cost)
        result += np.outer(pairs @ u, [-1, 1])
    elif len(labels) > 2:
        for c in range(len(labels)):
            u = solve(X_train, np.where(codes == c, 1, -1), weights, margins[:, c], cost)
            result[:, c] += 2 * pairs @ u
    return result
