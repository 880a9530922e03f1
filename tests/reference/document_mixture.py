"""Mixtures over documents as the paper defines them: dense loops, slow and easy to check by eye."""

from __future__ import annotations

import numpy as np

from reference.naive_bayes import normalize, rounded


def log_sum_exp(values):
    values = np.asarray(values, dtype=float)
    largest = values.max(initial=-np.inf)
    return largest if np.isinf(largest) else largest + np.log(np.exp(values - largest).sum())


def joint_log_likelihood(
    X_train,
    y,
    X,
    *,
    sample_weight=None,
    class_smoothing=0.0,
    background_smoothing=0.5,
    prior_scale=1.0,
    n_neighbors=None,
):
    labels = sorted(set(y))
    n_words = X_train.shape[1]
    a1, a2 = class_smoothing, background_smoothing
    weights = rounded(np.ones(len(y)) if sample_weight is None else sample_weight)
    lengths = [rounded(row).sum() for row in X_train]
    members = {c: [m for m in range(len(y)) if y[m] == c and lengths[m] > 0 and weights[m] > 0] for c in labels}
    prior = np.array([sum(weights[m] for m in range(len(y)) if y[m] == c) for c in labels])
    prior = prior if prior.sum() > 0 else np.ones(len(labels))
    with np.errstate(divide="ignore"):
        log_prior = prior_scale * np.log(prior / prior.sum()) if prior_scale else np.zeros(len(labels))

    log_p = {}  # of each document's words, eq. 2
    for c in labels:
        sums = np.zeros(n_words)
        for m in members[c]:
            sums += rounded(X_train[m] * (weights[m] / lengths[m]))
        for m in members[c]:
            own = X_train[m] / lengths[m]
            log_p[m] = np.log((1 - a1 - a2) * own + a1 * sums / sums.sum() + a2 / n_words)

    scores = np.zeros((len(X), len(labels)))
    for d, row in enumerate(X):
        likelihood = {m: row @ log_p[m] for m in log_p}
        chosen = sorted(likelihood, key=lambda m: (-likelihood[m], m))
        if n_neighbors is not None and row.any():
            chosen = chosen[:n_neighbors]
        considered = set(chosen)
        for i, c in enumerate(labels):
            inside = [m for m in members[c] if m in considered]
            total = sum(weights[m] for m in members[c])
            if not members[c]:
                mixture = row.sum() * np.log(1 / n_words)
            else:
                mixture = log_sum_exp([np.log(weights[m] / total) + likelihood[m] for m in inside])  # eq. 1
            scores[d, i] = log_prior[i] + mixture
    return scores


def leave_one_out(X, y, sample_weight=None, **options):
    """Refit without each document in turn; a class that is gone has -inf."""
    labels = sorted(set(y))
    result = np.full((len(y), len(labels)), -np.inf)
    for d in range(len(y)):
        rest = [i for i in range(len(y)) if i != d]
        left = sorted({y[i] for i in rest})
        if not left:
            continue
        weights = None if sample_weight is None else [sample_weight[i] for i in rest]
        scores = joint_log_likelihood(X[rest], [y[i] for i in rest], X[[d]], sample_weight=weights, **options)
        result[d, [labels.index(label) for label in left]] = scores[0]
    return normalize(result)
