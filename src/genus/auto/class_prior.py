"""Priors of classes that a user states, where texts to come are not like the training texts in this.

    log P'(c | d) = log P(c | d) + log P'(c) - log P(c)  -  normaliser

P(c) is the share of class c among the training texts, P'(c) the stated one. What classes look like stays as learned.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genus.base.arrays import Float64, Int32


def prior_shift(stated: Any, classes: NDArray[Any], codes: Int32, weights: Float64 | None) -> Float64:
    """log P'(c) - log P(c) of each class.

    Examples
    --------
    >>> classes, codes = np.array(["ham", "spam"]), np.array([0, 0, 0, 1])
    >>> np.exp(prior_shift("uniform", classes, codes, None)).round(3)
    array([0.667, 2.   ])
    >>> np.exp(prior_shift({"ham": 0.9, "spam": 0.1}, classes, codes, None)).round(3)
    array([1.2, 0.4])
    """
    if isinstance(stated, str) and stated == "learned":
        return np.zeros(len(classes))
    learned = np.bincount(codes, weights=weights, minlength=len(classes))
    prior = _stated(stated, classes)
    with np.errstate(divide="ignore"):
        shift = np.log(prior) - np.log(learned / learned.sum())
    return np.where(learned > 0, shift, 0.0)


def _stated(stated: Any, classes: NDArray[Any]) -> Float64:
    labels = classes.tolist()
    if isinstance(stated, str) and stated == "uniform":
        return np.full(len(labels), 1 / len(labels))
    if not isinstance(stated, Mapping):
        raise ValueError(f"class_prior must be 'learned', 'uniform' or a dict of labels, got {stated!r}.")
    for label in labels:
        if label not in stated:
            raise ValueError(f"class_prior must have every label, got none for {label!r}.")
    known = set(labels)
    for label, p in stated.items():
        if label not in known:
            raise ValueError(f"class_prior must have labels of texts only, got {label!r}.")
        if isinstance(p, bool) or not isinstance(p, (int, float, np.number)) or not 0 < p <= 1:
            raise ValueError(f"class_prior must have probabilities above 0, got {p!r} for {label!r}.")
    prior = np.array([float(stated[label]) for label in labels])
    if not math.isclose(prior.sum(), 1.0, abs_tol=1e-6):
        raise ValueError(f"class_prior must add up to 1, got {prior.sum():g}.")
    return prior
