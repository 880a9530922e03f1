"""Information gain as the paper writes it (eq. 10): entropies of whole distributions, word by word."""

from __future__ import annotations

import numpy as np


def entropy(counts):
    total = counts.sum()
    if total == 0:
        return 0.0
    p = counts[counts > 0] / total
    return float(-(p * np.log(p)).sum())


def information_gain(X, Y):
    """X: documents x words, Y: documents x classes, zeros and ones."""
    totals = Y.sum(axis=0)
    gains = []
    for w in range(X.shape[1]):
        present = Y[X[:, w] != 0].sum(axis=0)
        absent = totals - present
        share = present.sum() / totals.sum()
        gains.append(entropy(totals) - share * entropy(present) - (1 - share) * entropy(absent))
    return np.array(gains)
