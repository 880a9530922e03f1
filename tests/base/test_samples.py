"""Rows are taken from everything that an estimator may take, and come back as the same kind of thing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.svm import SVC

from genus.base.samples import n_samples, split_params, split_samples, take_samples

VALUES = [5, 6, 7, 8]
KINDS: dict[str, tuple[Callable[[list[int]], Any], Callable[[Any], list[int]]]] = {
    "list": (list, list),
    "tuple": (tuple, list),
    "array": (np.array, np.ndarray.tolist),
    "matrix": (lambda v: np.array([v]).T, lambda x: x[:, 0].tolist()),
    "sparse": (lambda v: sparse.csr_array(np.array([v]).T), lambda x: x.toarray()[:, 0].tolist()),
    "pandas series": (lambda v: pd.Series(v, index=list("dcba")), pd.Series.tolist),
    "pandas frame": (lambda v: pd.DataFrame({"a": v}, index=list("dcba")), lambda x: x["a"].tolist()),
    "polars series": (pl.Series, pl.Series.to_list),
    "polars frame": (lambda v: pl.DataFrame({"a": v}), lambda x: x["a"].to_list()),
    "arrow array": (pa.array, lambda x: x.to_pylist()),
    "arrow column": (lambda v: pa.chunked_array([v[:1], v[1:]]), lambda x: x.to_pylist()),
    "arrow table": (lambda v: pa.table({"a": v}), lambda x: x["a"].to_pylist()),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (slice(1, 3), [6, 7]),
        (np.array([2, 0]), [7, 5]),
        ([3], [8]),
        (np.array([True, False, False, True]), [5, 8]),
        ([], []),
    ],
)
def test_rows_are_taken_from_every_kind_of_data(kind: str, rows: Any, expected: list[int]) -> None:
    make, read = KINDS[kind]
    X = make(VALUES)
    assert n_samples(X) == 4
    taken = take_samples(X, rows)
    assert read(taken) == expected
    assert kind == "tuple" or type(taken) is type(X)


def test_rows_of_a_frame_may_be_written_to() -> None:
    taken = take_samples(pd.DataFrame({"a": VALUES}), np.array([0, 2]))
    taken["b"] = 1  # a view would warn here, and warnings are errors
    assert taken["b"].tolist() == [1, 1]


@pytest.mark.parametrize("X", [5, np.array(5), SVC()])
def test_what_has_no_rows_is_refused(X: Any) -> None:
    with pytest.raises(TypeError, match=r"Expected sequence|at least 1 dimension"):
        n_samples(X)


def test_parameters_with_a_value_for_each_document_are_split() -> None:
    params = {
        "sample_weight": [1.0, 2.0, 3.0, 4.0],
        "rows": sparse.coo_array(np.eye(4)),
        "classes": np.array([0, 1]),
        "rate": np.float64(0.5),
        "quiet": True,
        "start": None,
    }
    part = split_params(params, 4, np.array([1, 3]))
    assert part["sample_weight"] == [2.0, 4.0]
    assert part["rows"].toarray().tolist() == np.eye(4)[[1, 3]].tolist()
    assert part["classes"] is params["classes"]
    assert (part["rate"], part["quiet"], part["start"]) == (0.5, True, None)
    assert split_params(params, 4)["sample_weight"] is params["sample_weight"]


def test_kernel_matrices_are_split_by_rows_and_columns() -> None:
    kernel = np.arange(16).reshape(4, 4)
    X, y = split_samples(SVC(kernel="precomputed"), kernel, VALUES, np.array([3]), np.array([0, 2]))
    assert X.tolist() == [[12, 14]]
    assert y == [8]
    with pytest.raises(ValueError, match=r"square kernel matrix, got ndarray of shape \(4, 3\)"):
        split_samples(SVC(kernel="precomputed"), kernel[:, :3], VALUES, np.array([3]), np.array([0, 2]))
