"""How good sets of labels are, and rankings of labels: the measures of papers on several labels per document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from genus.base.arrays import Float64, Int64
from genus.base.protocol import Targets
from genus.base.rows import MatrixLike


def set_scores(y: Targets, given: MatrixLike) -> dict[str, float]:
    """Measures of label sets: micro- and macro-averaged precision, recall and F1, each document's F1, accuracy.

    Parameters
    ----------
    y, given : arrays or sparse matrices of shape (n_documents, n_labels)
        Zeros and ones: the labels that documents have, and those that they were given.

    Returns
    -------
    dict with miP, miR, miF1, maP, maR, maF1, exF1 and acc, the share of right decisions over all pairs
        Precision without any label given, recall without any label to find, and F1 without either are 0.

    Examples
    --------
    >>> {name: round(value, 3) for name, value in set_scores([[1, 0], [1, 1]], [[1, 0], [0, 1]]).items()}
    {'miP': 1.0, 'miR': 0.667, 'miF1': 0.8, 'maP': 1.0, 'maR': 0.75, 'maF1': 0.833, 'exF1': 0.833, 'acc': 0.75}
    """
    truth, answer = _indicator(y), _indicator(given)
    if truth.shape != answer.shape:
        raise ValueError(f"y and given must be of one shape, got {truth.shape} and {answer.shape}.")
    both = truth * answer
    right, has, got = (np.asarray(m.sum(axis=0)).ravel() for m in (both, truth, answer))
    precision, recall, f1 = _ratios(right, has, got)
    micro = _ratios(right.sum(), has.sum(), got.sum())
    examples = _ratios(*(np.asarray(m.sum(axis=1)).ravel() for m in (both, truth, answer)))[2]
    wrong = has.sum() + got.sum() - 2 * right.sum()
    return {
        "miP": float(micro[0]),
        "miR": float(micro[1]),
        "miF1": float(micro[2]),
        "maP": float(precision.mean()),
        "maR": float(recall.mean()),
        "maF1": float(f1.mean()),
        "exF1": float(examples.mean()),
        "acc": float(1 - wrong / (truth.shape[0] * truth.shape[1])),
    }


def label_scores(given: NDArray[np.bool_], truth: NDArray[np.bool_]) -> dict[str, float]:
    """What a search looks for: mean F1 of documents, F1 of all cells together, mean F1 of labels that occur.

    Unlike in `set_scores`, a document that has no label and is given none is right, and labels that neither side has
    do not count.
    """
    hits, sizes = given & truth, given.astype(np.int64) + truth
    size: Int64 = sizes.sum(axis=1)
    example = np.divide(2 * hits.sum(axis=1), size, out=np.ones(len(given)), where=size > 0)
    occurs = sizes.any(axis=0)
    return {
        "example_f1": float(example.mean()),
        "micro_f1": float(2 * hits.sum() / max(sizes.sum(), 1)),
        "macro_f1": float((2 * hits.sum(axis=0)[occurs] / sizes.sum(axis=0)[occurs]).mean()) if occurs.any() else 0.0,
    }


def ranking_scores(y: Targets, scores: MatrixLike, ks: Sequence[int] = (1, 3, 5)) -> dict[str, float]:
    """Measures of rankings of labels: precision and nDCG at the first k labels, averaged over documents.

    Parameters
    ----------
    y : array or sparse matrix of shape (n_documents, n_labels)
        Zeros and ones. Documents without labels do not count.
    scores : array of shape (n_documents, n_labels)
        Higher for labels that fit better.
    ks : sequence of int, default=(1, 3, 5)

    Returns
    -------
    dict with "P@k" and "nDCG@k"

    Examples
    --------
    >>> ranking_scores([[1, 0, 1]], [[0.9, 0.8, 0.1]], ks=[1, 2])
    {'P@1': 1.0, 'P@2': 0.5, 'nDCG@1': 1.0, 'nDCG@2': 0.613...}
    """
    truth = _indicator(y).toarray()
    table = np.asarray(scores, dtype=np.float64)
    if truth.shape != table.shape:
        raise ValueError(f"y and scores must be of one shape, got {truth.shape} and {table.shape}.")
    labelled = truth.any(axis=1)
    truth, table = truth[labelled], table[labelled]
    most = min(max(ks), table.shape[1])
    first = np.argsort(-table, axis=1, kind="stable")[:, :most]
    hits = np.take_along_axis(truth, first, axis=1)
    discount = 1 / np.log2(np.arange(2, most + 2))
    gained = np.cumsum(hits * discount, axis=1)
    ideal = np.cumsum(discount)
    n_labels = truth.sum(axis=1).astype(int)
    found = {f"P@{k}": float(hits[:, :k].sum(axis=1).mean() / k) for k in ks}
    for k in ks:
        last = min(k, most)
        found[f"nDCG@{k}"] = float((gained[:, last - 1] / ideal[np.minimum(n_labels, last) - 1]).mean())
    return found


def _indicator(y: Targets) -> Any:
    return sparse.csr_array(y, dtype=np.float64)


def _ratios(
    right: Float64 | np.float64, has: Float64 | np.float64, got: Float64 | np.float64
) -> tuple[Float64, Float64, Float64]:
    """Precision, recall and F1."""

    def share(part: Float64 | np.float64, whole: Float64 | np.float64) -> Float64:
        return np.asarray(np.divide(part, whole, out=np.zeros(np.shape(whole)), where=np.asarray(whole) > 0))

    return share(right, got), share(right, has), share(2 * right, has + got)
