"""The relevance-based topic model's sampler as Fig. 3 and 4 of the paper have it: dense loops, token by token.

Random numbers are those of the native core, drawn in the same order, so that both must agree draw for draw.
"""

from __future__ import annotations

import math

import numpy as np

MASK = 2**64 - 1
GAMMA = 0x9E3779B97F4A7C15
ONE = 2.0**36
BACKGROUND, CLASS, OWN = range(3)


def mix64(x):
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


class Stream:
    def __init__(self, seed, a, b):
        self.key = mix64(((mix64(mix64((seed + GAMMA) & MASK) ^ a) + GAMMA) & MASK) ^ b)
        self.counter = 0

    def uniform(self):
        self.counter += 1
        return (mix64((self.key + GAMMA * self.counter) & MASK) >> 11) * 2.0**-53


def binomial(random, n, p):
    """The number of successes, by inversion outward from the most probable one (from 0 where few are expected)."""
    if p > 0.5:
        return n - binomial(random, n, 1 - p)
    if n == 0 or p <= 0:
        return 0
    mode = 0 if n * p < 24 else int((n + 1) * p)
    left = random.uniform()
    order = [mode]
    for step in range(1, n + 1):
        order += [k for k in (mode + step, mode - step) if 0 <= k <= n]
        if step > 40 * math.sqrt(n * p) + 100:
            break
    for k in order:
        left -= math.exp(log_binomial(k, n, p))
        if left < 0:
            return k
    return mode


def log_binomial(k, n, p):
    from scipy.special import gammaln

    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return float(ways + k * math.log(p) + (n - k) * math.log1p(-p))


def initial(X, y, n_classes):
    """Fig. 4: phi_b (W,), phi_t (n_classes, W), phi_to (D, W)."""
    n_words = X.shape[1]
    frequency = X.sum(axis=0) / X.sum()
    topics = np.zeros((n_classes, n_words))
    for t in range(n_classes):
        total = X[y == t].sum()
        difference = X[y == t].sum(axis=0) / total - frequency if total else np.zeros(n_words)  # 1.2
        shift = max(-difference)
        topics[t] = frequency if shift < 1e-12 else (difference + shift) / sum(difference + shift)
    own = np.zeros(X.shape)
    for d, row in enumerate(X):
        length = row.sum()
        if length:
            difference = row / length - np.maximum(frequency, topics[y[d]])  # 1.3
            shift = max(-difference)
            total = sum(difference + shift)
            own[d] = 1 / n_words if total < 1e-12 else (difference + shift) / total
    return frequency, topics, own


def draw(random, n, weights):
    """How many of n tokens go to each topic."""
    total = sum(weights)
    if n > 16:
        b = binomial(random, n, weights[0] / total)
        o = binomial(random, n - b, weights[2] / (weights[1] + weights[2]))
        return np.array([b, n - b - o, o])
    counts = np.zeros(3, dtype=int)
    for _ in range(n):
        v = random.uniform() * total
        counts[BACKGROUND if v < weights[0] else CLASS if v < weights[0] + weights[1] else OWN] += 1
    return counts


def sample(X, y, *, alpha, beta, n_sweeps, seed, n_chains=1, chain=0):
    """The counts after so many sweeps: m_b (W,), m_t (n_classes, W), tokens (D, W, 3) and n (D, 3).

    Documents are numbered in the order of their classes, as the streams of random numbers are.
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    n_classes = y.max() + 1
    order = np.argsort(y, kind="stable")
    background, topics, own = initial(X, y, n_classes)
    theta = np.full((len(X), 3), 1 / 3)
    for sweep in range(n_sweeps):
        tokens = np.zeros((*X.shape, 3), dtype=int)
        for i, d in enumerate(order):
            random = Stream(seed, sweep * n_chains + chain, i)
            for w in np.flatnonzero(X[d]):
                phi = np.array([background[w], topics[y[d], w], own[d, w]])
                tokens[d, w] = draw(random, math.ceil(X[d, w]), theta[d] * phi)  # 2.1.1
        weights = tokens * (X / np.maximum(np.ceil(X), 1))[:, :, np.newaxis]
        n = weights.sum(axis=1)
        theta = (n + alpha) / (n + alpha).sum(axis=1, keepdims=True)  # 2.2.1
        m_background = weights[:, :, BACKGROUND].sum(axis=0)
        m_topics = np.array([weights[y == t, :, CLASS].sum(axis=0) for t in range(n_classes)])
        background, topics, own = (
            (m + beta) / (m + beta).sum(axis=-1, keepdims=True)
            for m in (m_background, m_topics, weights[:, :, OWN])  # 2.3.1
        )
    return m_background, m_topics, tokens, n


def word_probabilities(m, n_features, smoothing, weight):
    """phi* of section 3.2, for averaged counts m (n_classes, W)."""
    phi = np.zeros(m.shape)
    for t, row in enumerate(m):
        features = [w for w in np.argsort(-row, kind="stable") if row[w] > 0][:n_features]
        total = sum(row[w] for w in features)
        if not features:
            phi[t] = 1 / len(row)
            continue
        added = weight if smoothing == "printed" else weight * total / len(features)
        for w in range(len(row)):
            phi[t, w] = ((row[w] if w in features else 0) + added) / (total + (len(features) + 1) * added)
    return phi


def mark(x, background, topic, alpha, beta, n_words, n_repeats):
    """Fig. 3 for one document with expected counts, its shared topics fixed: (W, 3)."""
    phi = np.stack([m + beta for m in (background, topic)]) / [[m.sum() + beta * n_words] for m in (background, topic)]
    shares = np.full((len(x), 3), 1 / 3)
    for _ in range(n_repeats):
        n = (x[:, np.newaxis] * shares).sum(axis=0)
        theta = (n + alpha) / (n + alpha).sum()
        own = (x * shares[:, OWN] + beta) / (n[OWN] + beta * n_words)
        shares = theta * np.stack([*phi, own], axis=1)
        shares /= shares.sum(axis=1, keepdims=True)
    return shares
