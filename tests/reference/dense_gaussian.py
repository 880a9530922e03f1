"""Gaussian classes with one covariance as the textbook has it: sums of fractions, a loop over vectors, an inverse."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

GRID, QUANTUM = 2**30, 2**36


def on_grid(x):
    """Rounded to multiples of 2**-30, half to even."""
    return Fraction(round(Fraction(float(x)) * GRID), GRID)


def exact_moments(X, y, weights):
    """Class sums by label, and the sum of outer products, as fractions."""
    d = len(X[0])
    sums, products = {}, [[Fraction(0)] * d for _ in range(d)]
    for row, label, weight in zip(X, y, weights, strict=True):
        x, w = [on_grid(value) for value in row], Fraction(int(weight * QUANTUM + 0.5), QUANTUM)
        total = sums.setdefault(label, [Fraction(0)] * d)
        for i in range(d):
            total[i] += w * x[i]
            for j in range(d):
                products[i][j] += w * x[i] * x[j]
    return sums, products


def oracle_shrinkage(E, n):
    d = len(E)
    if d == 1:
        return 1.0
    trace, of_square = np.trace(E), np.trace(E @ E)
    numerator = (1 - 2 / d) * of_square + trace**2
    denominator = (n + 1 - 2 / d) * (of_square - trace**2 / d)
    return min(1.0, numerator / denominator) if denominator > 0 else 1.0


def model(X, y, weights, labels, *, shrinkage="oas", mean_shrinkage=3.0):
    """mu, the shrunk means and covariance, and half of what means lack; None where nothing tells classes apart."""
    X = np.array([[float(on_grid(value)) for value in row] for row in X])
    n, d = X.shape
    used = [i for i in range(n) if X[i].any() and weights[i] > 0]
    if len({y[i] for i in used}) < 2:
        return None
    W = sum(weights[i] for i in used)
    mu = sum(weights[i] * X[i] for i in used) / W
    k, shrunk, lack, E, around, n_classes = mean_shrinkage, {}, {}, np.zeros((d, d)), 0.0, 0
    for label in labels:
        mine = [i for i in used if y[i] == label]
        w = sum(weights[i] for i in mine)
        if not mine:
            shrunk[label], lack[label] = mu, 1 / k if k else 0
            continue
        n_classes += 1
        mean = sum(weights[i] * X[i] for i in mine) / w
        shrunk[label], lack[label] = mu + w / (w + k) * (mean - mu), k / (w + k) ** 2
        for i in mine:
            E += weights[i] * np.outer(X[i] - mean, X[i] - mean)
            around += weights[i] * ((X[i] - shrunk[label]) ** 2).sum()
    spread = sum(weights[i] * ((X[i] - mu) ** 2).sum() for i in used)
    size = sum(weights[i] * (X[i] ** 2).sum() for i in used)
    if spread <= 2.0**-44 * size:
        return None
    floor = (2.0**-30 * spread + 2.0**-40 * size) / d
    freedom = max(W - n_classes, 1)
    rho = oracle_shrinkage(E + floor * np.eye(d), freedom) if shrinkage == "oas" else shrinkage
    S = ((1 - rho) * E + (rho * around / d + floor) * np.eye(d)) / W
    v = np.trace(np.linalg.inv(S) @ E) / freedom
    return mu, shrunk, S, {label: v * part / 2 for label, part in lack.items()}


def joint_log_likelihood(
    X, y, Z, *, labels=None, sample_weight=None, prior_scale=1.0, fit_prior=True, class_prior=None, **options
):
    labels = sorted(set(y)) if labels is None else labels
    weights = [1.0] * len(y) if sample_weight is None else list(sample_weight)
    of_class = np.array([sum(w for w, label in zip(weights, y, strict=True) if label == c) for c in labels])
    if class_prior is not None:
        prior = np.array(class_prior)
    elif fit_prior and of_class.any():
        prior = of_class / of_class.sum()
    else:
        prior = np.full(len(labels), 1 / len(labels))
    with np.errstate(divide="ignore"):
        log_prior = np.log(prior) * prior_scale if prior_scale else np.zeros(len(labels))
    fitted, scores = model(X, y, weights, labels, **options), []
    for row in Z:
        x = np.array([float(on_grid(value)) for value in row])
        if fitted is None or not x.any():
            scores.append(log_prior)
            continue
        mu, means, S, lack = fitted
        inverse = np.linalg.inv(S)
        shifts = [means[c] - mu for c in labels]
        likelihoods = [s @ inverse @ (x - mu) - s @ inverse @ s / 2 for s in shifts]
        scores.append([p + s - lack[c] for p, s, c in zip(log_prior, likelihoods, labels, strict=True)])
    return np.array(scores)


def linear_scores(X, center, coef, bias, scaled_prior):
    """Of vectors x classes: one addition after the other, each rounded to a double."""
    scores = np.empty((len(X), len(bias)))
    for i, row in enumerate(X):
        x = [float(on_grid(value)) for value in row]
        for c in range(len(bias)):
            total = 0.0
            for j in range(len(x)):
                total += (x[j] - float(center[j])) * float(coef[c, j])
            scores[i, c] = total + bias[c] if any(x) else scaled_prior[c]
    return scores
