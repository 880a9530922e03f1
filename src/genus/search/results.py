"""The table of a search, with the columns of scikit-learn's own."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from genus.base.arrays import Float64
from genus.search.evaluation import Trial

Table = dict[str, Any]
Column: TypeAlias = "np.ma.MaskedArray[Any, Any]"


def results_table(trials: Sequence[Trial]) -> Table:
    """``cv_results_``: an entry for each point in every column."""
    table: Table = {"iter": np.array([trial.iteration for trial in trials])}
    for name in ("fit_time", "score_time"):
        table |= _moments(name, _per_fold(trials, name))
    for name in trials[0].params:
        table[f"param_{name}"] = _column([trial.params[name] for trial in trials])
    table["params"] = [trial.params for trial in trials]
    scores = _per_fold(trials, "test_scores")
    table |= {f"split{k}_test_score": scores[:, k] for k in range(scores.shape[1])}
    table |= _moments("test_score", scores)
    mean = table["mean_test_score"]
    if not np.isfinite(mean).all():
        warnings.warn(f"One or more of the test scores are non-finite: {mean}", stacklevel=4)
    table["rank_test_score"] = _ranks(mean)
    return table


def best_index(table: Table, refit: bool | Callable[[Table], int]) -> int:
    """The first point of rank 1, or the one that ``refit`` chooses."""
    if not callable(refit):
        return int(table["rank_test_score"].argmin())
    index = refit(table)
    if not isinstance(index, Integral):
        raise TypeError(f"refit must return the index of a point, got {index!r}.")
    if not 0 <= index < len(table["params"]):
        raise IndexError(f"refit must return an index below {len(table['params'])}, got {index}.")
    return int(index)


def _per_fold(trials: Sequence[Trial], name: str) -> Float64:
    return np.array([[getattr(outcome, name) for outcome in trial.outcomes] for trial in trials], dtype=np.float64)


def _moments(name: str, values: Float64) -> Table:
    with np.errstate(invalid="ignore"):  # the deviation of infinite scores is nan
        return {f"mean_{name}": values.mean(axis=1), f"std_{name}": values.std(axis=1)}


def _column(values: list[object]) -> Column:
    """Numbers as numbers, everything else as it is; masked nowhere, for scikit-learn's are masked arrays."""
    try:
        array = np.array(values)
    except ValueError:  # lists of several lengths
        array = np.empty((0, 0))
    plain = array.ndim == 1 and array.dtype.kind != "U"
    column: Column = np.ma.MaskedArray(np.empty(len(values), dtype=array.dtype if plain else object))
    for i, value in enumerate(values):
        column[i] = value
    return column


def _ranks(mean: Float64) -> NDArray[np.int32]:
    """1 for the best; what is equal has the same rank, and what is nan the last."""
    failed = np.isnan(mean)
    cost = np.where(failed, np.max(-mean[~failed], initial=-np.inf) + 1, -mean)
    ranks = np.searchsorted(np.sort(cost), cost) + 1
    return ranks.astype(np.int32)
