"""Evidence for labels, written out: what neighbours say, and how surprising a stack of scores is."""

import numpy as np


def log_ratios(X, Y, weights, query, k, sharpness, floor):
    """ln((v_l + floor) / (p_l + floor)) for one query, from dense rows X and an indicator Y."""
    norm = np.linalg.norm(query)
    cosines = [float(x @ query / (np.linalg.norm(x) * norm)) if norm and x.any() else 0.0 for x in X]
    nearest = sorted(range(len(X)), key=lambda m: (-round(cosines[m], 12), m))[:k]
    shares = {m: weights[m] * np.exp(sharpness * cosines[m]) for m in nearest if cosines[m] > 1e-12}
    frequencies = weights @ Y / weights.sum()
    total = sum(shares.values())
    votes = sum((share / total * Y[m] for m, share in shares.items()), np.zeros(Y.shape[1])) if total else frequencies
    return np.log((votes + floor) / (frequencies + floor))


def stack_odds(weights, sources, log_prior):
    """sum over k of (w_k0 + w_k1 t + w_k2 t^2) s_k, s_0 = 1."""
    t = log_prior - log_prior.mean()
    odds = np.zeros(sources[0].shape)
    for (a, b, c), scores in zip(weights, [np.ones(odds.shape), *sources], strict=True):
        odds += (a + b * t + c * t**2) * scores
    return odds


def stack_cost(weights, sources, truth, learnable, log_prior, ridge):
    """The log loss of the cells that count, and what holds the weights near log prior + mean of the sources."""
    cost = 0.0
    odds = stack_odds(weights, sources, log_prior)
    for cell in map(tuple, np.argwhere(learnable)):
        p = 1 / (1 + np.exp(-odds[cell]))
        cost -= np.log(p if truth[cell] else 1 - p)
    guess = np.array([[log_prior.mean(), 1, 0], *([1 / len(sources), 0, 0] for _ in sources)])
    return cost + ((weights - guess) ** 2 @ ridge).sum() / 2
