"""Multinomial naive Bayes as the textbook has it: dense loops, slow and easy to check by eye."""

from __future__ import annotations

import numpy as np

QUANTUM = 2.0**-36


def rounded(x):
    return np.floor(np.asarray(x, dtype=float) / QUANTUM + 0.5) * QUANTUM


def weighted(X, sample_weight, document_weights):
    """What each document adds to its class."""
    added = np.zeros(X.shape)
    for d, row in enumerate(X):
        scale = 1.0 if sample_weight is None else sample_weight[d]
        if document_weights == "equal":
            length = rounded(row).sum()
            scale = scale / length if length > 0 else 0.0
        added[d] = rounded(row * scale)
    return added


def class_sums(X, y, labels, sample_weight=None, document_weights="length"):
    added = weighted(X, sample_weight, document_weights)
    sums = np.zeros((len(labels), X.shape[1]))
    for d, label in enumerate(y):
        sums[labels.index(label)] += added[d]
    return sums


def word_probabilities(sums, alpha, background_smoothing):
    n_words = sums.shape[1]
    p = np.zeros(sums.shape)
    for c, row in enumerate(sums):
        total = row.sum()
        for w, count in enumerate(row):
            if background_smoothing is None:
                p[c, w] = (count + alpha) / (total + alpha * n_words)
            elif total == 0:
                p[c, w] = 1 / n_words
            else:
                p[c, w] = (1 - background_smoothing) * count / total + background_smoothing / n_words
    return p


def joint_log_likelihood(
    X_train,
    y,
    X,
    *,
    labels=None,
    sample_weight=None,
    alpha=1.0,
    background_smoothing=None,
    prior_scale=1.0,
    document_weights="length",
    fit_prior=True,
):
    labels = sorted(set(y)) if labels is None else labels
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    sums = class_sums(X_train, y, labels, sample_weight, document_weights)
    p = word_probabilities(sums, alpha, background_smoothing)
    prior = np.array([sum(w for w, label in zip(weights, y, strict=True) if label == c) for c in labels])
    if not fit_prior or prior.sum() == 0:
        prior = np.ones(len(labels))
    with np.errstate(divide="ignore"):
        log_prior = np.log(prior / prior.sum()) * prior_scale if prior_scale else np.zeros(len(labels))
    return np.array([[log_prior[c] + row @ np.log(p[c]) for c in range(len(labels))] for row in X])


def normalize(scores):
    out = np.full(scores.shape, -np.inf)
    for d, row in enumerate(scores):
        if np.isfinite(row.max()):
            out[d] = row - row.max() - np.log(np.exp(row - row.max()).sum())
    return out


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
