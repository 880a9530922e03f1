"""Term weights by their formulas: one document and one word at a time."""

from __future__ import annotations

import math

import numpy as np


def idf_of(df, n, kind):
    match kind:
        case None:
            return 1.0
        case "smooth":
            return math.log((1 + n) / (1 + df)) + 1
        case "plus_one":
            return math.log(n / max(df, 1)) + 1
        case "plain":
            return math.log(n / max(df, 1))
        case "bm25":
            return math.log(1 + (n - df + 0.5) / (df + 0.5))


def tf_of(c, row, mean_length, tf, k1, b):
    match tf:
        case "raw":
            return c
        case "binary":
            return 1.0
        case "log":
            return 1 + math.log(c)
        case "log1p":
            return math.log(1 + c)
        case "sqrt":
            return math.sqrt(c)
        case "log_share":
            return c / np.count_nonzero(row)
        case "bm25":
            return c * (k1 + 1) / (c + k1 * (1 - b + b * row.sum() / mean_length))


def weigh(X_train, X, *, tf="raw", idf=None, idf_power=1.0, norm=None, scale=1.0, k1=1.2, b=0.75):
    X_train, X = np.asarray(X_train, dtype=float), np.asarray(X, dtype=float)
    n = len(X_train)
    df = [np.count_nonzero(X_train[:, w]) for w in range(X_train.shape[1])]
    mean_length = X_train.sum() / n or 1.0
    out = np.zeros(X.shape)
    for d, row in enumerate(X):
        for w, c in enumerate(row):
            if c > 0:
                out[d, w] = tf_of(c, row, mean_length, tf, k1, b) * idf_of(df[w], n, idf) ** idf_power
                if tf == "log_share":
                    out[d, w] = math.log(1 + out[d, w])
        length = {None: 1.0, "l1": np.abs(out[d]).sum(), "l2": math.sqrt((out[d] ** 2).sum())}[norm]
        out[d] *= scale / length if length > 0 else 1
    return out
