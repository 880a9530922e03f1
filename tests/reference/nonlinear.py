"""Mixtures of hidden nodes by expectation maximization: loops over documents, slow and easy to check by eye.

Every function is about one repetition. Random numbers are those of ``cpp/random.h``.
"""

from __future__ import annotations

import numpy as np

from reference.document_mixture import log_sum_exp

_MASK, _GAMMA = 2**64 - 1, 0x9E3779B97F4A7C15


def mix64(x):
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


def uniforms(seed, a, b, n):
    """The first n numbers of the stream (seed, a, b)."""
    key = mix64(((mix64(mix64((seed + _GAMMA) & _MASK) ^ a) + _GAMMA) & _MASK) ^ b)
    return [(mix64((key + _GAMMA * k) & _MASK) >> 11) * 2.0**-53 for k in range(1, n + 1)]


def start(n_documents, codes, node_starts, *, seed, repetition, start="near-uniform"):
    """Initial responsibilities, documents x all nodes; documents without a class (-1) have none."""
    shares = np.zeros((n_documents, node_starts[-1]))
    for d, c in enumerate(codes):
        if c < 0:
            continue
        first, last = node_starts[c], node_starts[c + 1]
        draws = np.array(uniforms(seed, repetition, d, last - first))
        if start == "random":
            shares[d, first + int(np.argmax(draws))] = 1
        else:
            shares[d, first:last] = (1 + draws) / (1 + draws).sum()
    return shares


def allowed(codes, node_starts):
    """Which nodes each document may belong to: those of its class, or all."""
    nodes = np.arange(node_starts[-1])
    return np.array([(nodes >= node_starts[c]) & (nodes < node_starts[c + 1]) if c >= 0 else nodes >= 0 for c in codes])


def maximize(X, shares, weights, node_starts, *, alpha, smoothing="node", node_prior="documents"):
    """The M-step: log P(c, h), log P(w | h), and the log of the prior density that makes it exact."""
    n_nodes, n_words = node_starts[-1], X.shape[1]
    r = shares * np.asarray(weights)[:, None]
    counts = r.T @ X  # eq. 28, above the line
    documents, totals = r.sum(axis=0), counts.sum(axis=1)
    log_prior, log_p = np.full(n_nodes, -np.inf), np.empty((n_nodes, n_words))
    penalty = 0.0
    for c in range(len(node_starts) - 1):
        inside = slice(node_starts[c], node_starts[c + 1])
        words = totals[inside].sum()
        share = documents[inside]
        if node_prior == "words" and words > 0:  # eq. 27
            share = totals[inside] / words * documents[inside].sum()
        with np.errstate(divide="ignore"):
            log_prior[inside] = np.log(share / documents.sum())
        for h in range(inside.start, inside.stop):
            added = alpha
            if smoothing == "proportional" and totals[h] > 0:
                added = alpha * totals[h] / words
            log_p[h] = np.log((counts[h] + added) / (totals[h] + added * n_words))
            penalty += added * log_p[h].sum()
    return log_prior, log_p, penalty


def joint(X, log_prior, log_p):
    """log P(c, h, d), documents x nodes."""
    return X @ log_p.T + log_prior


def expect(scores, may, *, hard=False):
    """The E-step: responsibilities, and log P(d) (of its class's nodes; with hard EM of the best one)."""
    shares, log_sums = np.zeros_like(scores), np.empty(len(scores))
    for d, row in enumerate(scores):
        inside = np.where(may[d], row, -np.inf)
        if hard:
            best = int(np.argmax(inside))
            shares[d, best], log_sums[d] = 1, inside[best]
        else:
            log_sums[d] = log_sum_exp(inside)
            shares[d] = np.exp(inside - log_sums[d])
    return shares, log_sums


def em(X, codes, weights, node_starts, *, n_iterations, seed=0, repetition=0, hard=False, init="near-uniform", **how):
    """Responsibilities, the objective before each M-step, and the parameters after the last."""
    weights = np.asarray(weights, dtype=float)
    may = allowed(codes, node_starts)
    shares = start(len(X), codes, node_starts, seed=seed, repetition=repetition, start=init)
    log_prior, log_p, penalty = maximize(X, shares, weights, node_starts, **how)
    objective = []
    for _ in range(n_iterations):
        shares, log_sums = expect(joint(X, log_prior, log_p), may, hard=hard)
        objective.append(weights[weights > 0] @ log_sums[weights > 0] + penalty)
        log_prior, log_p, penalty = maximize(X, shares, weights, node_starts, **how)
    return shares, np.array(objective), (log_prior, log_p)


def log_posterior(X, log_prior, log_p, node_starts, posterior="sum-of-products"):
    """log P(c | d) by eq. 34 (sum of products) or eq. 15 (product of sums)."""
    scores = np.empty((len(X), len(node_starts) - 1))
    for c in range(len(node_starts) - 1):
        inside = slice(node_starts[c], node_starts[c + 1])
        log_class = log_sum_exp(log_prior[inside])
        if posterior == "product-of-sums":
            p = np.exp(log_prior[inside] - log_class) @ np.exp(log_p[inside])
            scores[:, c] = log_class + X @ np.log(p)
        else:
            scores[:, c] = [log_sum_exp(row) for row in joint(X, log_prior[inside], log_p[inside])]
    return scores - np.array([[log_sum_exp(row)] for row in scores])


# Diagonal Gaussians


def gaussian_em(X, codes, weights, node_starts, *, n_iterations, floor, seed=0, repetition=0, hard=False):
    """As `em`, from means at random points; ``floor`` (classes x features) is the least variance."""
    weights = np.asarray(weights, dtype=float)
    n_nodes = node_starts[-1]
    may = allowed(codes, node_starts)
    mean, variance, log_prior = np.empty((n_nodes, X.shape[1])), np.empty((n_nodes, X.shape[1])), np.empty(n_nodes)
    total = weights[np.asarray(codes) >= 0].sum()
    for c in range(len(node_starts) - 1):
        members = [d for d in range(len(X)) if codes[d] == c and weights[d] > 0]
        w = weights[members] / weights[members].sum()
        centre = w @ X[members]
        spread = np.maximum(w @ (X[members] - centre) ** 2, floor[c])
        n = node_starts[c + 1] - node_starts[c]
        for h, d in zip(
            range(node_starts[c], node_starts[c + 1]), points(members, n, seed, repetition, c), strict=True
        ):
            mean[h], variance[h], log_prior[h] = X[d], spread, np.log(weights[members].sum() / n / total)
    shares, objective = None, []
    for _ in range(n_iterations):
        scores = log_prior - 0.5 * np.array(
            [((x - mean) ** 2 / variance + np.log(2 * np.pi * variance)).sum(axis=1) for x in X]
        )
        shares, log_sums = expect(scores, may, hard=hard)
        objective.append(weights[weights > 0] @ log_sums[weights > 0])
        r = shares * weights[:, None]
        for h in range(n_nodes):
            c = np.searchsorted(node_starts, h, side="right") - 1
            with np.errstate(divide="ignore"):
                log_prior[h] = np.log(r[:, h].sum() / r.sum())
            if r[:, h].sum() > 0:
                share = r[:, h] / r[:, h].sum()
                mean[h] = share @ X
                variance[h] = np.maximum(share @ (X - mean[h]) ** 2, floor[c])
    return shares, np.array(objective), (log_prior, mean, variance)


def points(members, n, seed, repetition, c):
    """n of a class's documents, no two the same while there are enough: the first places of a random order."""
    draws = uniforms(seed, repetition, 2**32 + c, n)
    order = list(members)
    for i, u in enumerate(draws):
        if i >= len(order):
            break
        j = i + int(u * (len(order) - i))
        order[i], order[j] = order[j], order[i]
    return [order[i % len(order)] for i in range(n)]
