"""Documents as sparse rows, and what is done with rows everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from genus import _core
from genus.base.arrays import AnyFloat, Float64, Int32, Int64

if TYPE_CHECKING:
    from genus.base.protocol import Samples

MatrixLike: TypeAlias = "ArrayLike | sparse.sparray | sparse.spmatrix"  # what users give for documents x words


class SparseRows(NamedTuple):
    """Documents as compressed sparse rows: what kernels take, free of scipy's overhead.

    Row ``d`` holds ``indices[k], data[k]`` for ``k`` from ``indptr[d]`` to ``indptr[d + 1]``.
    """

    indptr: Int64
    indices: Int32
    data: AnyFloat | Int64
    n_columns: int

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1


def to_rows(X: Samples) -> SparseRows:
    """A checked matrix as plain arrays."""
    matrix: Any = X if sparse.issparse(X) else sparse.csr_array(X)
    if matrix.shape[1] > np.iinfo(np.int32).max:
        raise ValueError(f"X must have fewer than 2**31 columns, got {matrix.shape[1]}.")
    native = matrix.data.dtype in (np.float32, np.float64, np.int64)
    # A scipy matrix may hold views of other arrays, with gaps.
    data = np.ascontiguousarray(matrix.data, dtype=None if native else np.float64)
    indices: Int32 = np.ascontiguousarray(matrix.indices, dtype=np.int32)
    return SparseRows(np.ascontiguousarray(matrix.indptr, dtype=np.int64), indices, data, matrix.shape[1])


def check_columns(rows: SparseRows) -> None:
    """Refuse entries outside the matrix, which scipy does not look for."""
    wrong = rows.indices[(rows.indices < 0) | (rows.indices >= rows.n_columns)]
    if len(wrong):
        raise ValueError(f"X must have columns from 0 to {rows.n_columns - 1}, got an entry in column {wrong[0]}.")


def add_duplicates(rows: SparseRows) -> SparseRows:
    """Rows in which no word occurs twice, so that each cell is rounded once and can be left out whole."""
    if not _core.has_duplicates(rows.indptr, rows.indices, rows.n_columns):
        return rows
    matrix = sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.n_rows, rows.n_columns), copy=True)
    matrix.sum_duplicates()
    return to_rows(matrix)


def width_of(X: Samples) -> int:
    shape = getattr(X, "shape", None)
    shape = np.shape(X) if shape is None else shape
    return int(shape[1]) if len(shape) == 2 else 0


def canonical(rows: SparseRows) -> SparseRows:
    """A copy in which words rise and differ within a row, and no value is zero."""
    indptr, indices, data, n_columns = rows
    matrix = sparse.csr_array((data.astype(np.float64), indices.copy(), indptr.copy()), shape=(rows.n_rows, n_columns))
    matrix.sum_duplicates()
    if not matrix.data.all():
        matrix.eliminate_zeros()
    return SparseRows(
        matrix.indptr.astype(np.int64, copy=False), matrix.indices.astype(np.int32, copy=False), matrix.data, n_columns
    )


def take_rows(rows: SparseRows, numbers: Int64) -> SparseRows:
    """Some of the rows."""
    lengths = np.diff(rows.indptr)[numbers]
    entries = spread_ranges(rows.indptr[numbers], lengths)
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    return SparseRows(indptr, rows.indices[entries], rows.data[entries], rows.n_columns)


def row_sums(indptr: Int64, values: NDArray[np.number] | NDArray[np.bool_]) -> Float64:
    """The sum of each row's values."""
    filled = np.diff(indptr) > 0
    sums = np.zeros(len(filled))
    if len(values):
        sums[filled] = np.add.reduceat(values, indptr[:-1][filled])
    return sums


def unit_rows(rows: SparseRows) -> SparseRows:
    """Rows of length one; those without entries stay so."""
    norms = np.sqrt(row_sums(rows.indptr, np.square(rows.data, dtype=np.float64)))
    scales = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    return rows._replace(data=rows.data * np.repeat(scales, np.diff(rows.indptr)))


def stack_rows(parts: list[SparseRows], n_columns: int) -> SparseRows:
    if len(parts) == 1:
        return parts[0]._replace(n_columns=n_columns)
    starts = np.cumsum([0] + [int(rows.indptr[-1]) for rows in parts])
    bounds = [rows.indptr[1:] + start for rows, start in zip(parts, starts, strict=False)]
    return SparseRows(
        np.concatenate([np.zeros(1, dtype=np.int64), *bounds]),
        np.concatenate([rows.indices for rows in parts]),
        np.concatenate([rows.data for rows in parts]),
        n_columns,
    )


def spread_ranges(starts: Int64, lengths: Int64) -> Int64:
    """starts[i], starts[i] + 1, ..., lengths[i] of them, for one i after the other."""
    ends = np.cumsum(lengths)
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(ends[-1] if len(ends) else 0)


Rows = TypeVar("Rows", SparseRows, Float64)


def n_rows_of(rows: SparseRows | Float64) -> int:
    return rows.n_rows if isinstance(rows, SparseRows) else len(rows)


def slice_rows(rows: Rows, begin: int, end: int) -> Rows:
    """Some of the documents."""
    if not isinstance(rows, SparseRows):
        return rows[begin:end]
    if begin == 0 and end >= rows.n_rows:
        return rows
    indptr = rows.indptr[begin : end + 1]
    inside = slice(indptr[0], indptr[-1])
    return SparseRows(indptr - indptr[0], rows.indices[inside], rows.data[inside], rows.n_columns)


def to_matrix(rows: SparseRows) -> sparse.csr_array:
    return sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.n_rows, rows.n_columns))


def without_zeros(rows: SparseRows) -> SparseRows:
    """The same documents in their one form, so that equal ones are drawn alike; mostly they are in it already."""
    shape = (rows.n_rows, rows.n_columns)
    matrix = sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=shape, copy=False)
    return rows if matrix.has_canonical_format and rows.data.all() else canonical(rows)


def full_rows(X: NDArray[np.number]) -> SparseRows:
    """The rows of a dense array, with every column filled: `dense_rows` gives the array back without a copy."""
    n, m = X.shape
    native = X.dtype in (np.float32, np.float64, np.int64)
    data = np.ascontiguousarray(X, dtype=None if native else np.float64).ravel()
    return SparseRows(np.arange(n + 1) * m, np.tile(np.arange(m, dtype=np.int32), n), data, m)


def dense_rows(rows: SparseRows, n_columns: int) -> NDArray[np.number]:
    """Rows as an array of shape (n_rows, n_columns), without a copy where every row has every column in order.

    Further columns are left out, missing ones are zero, and what a row has in one column twice is added up.
    """
    indptr, indices, data, m = rows
    n, lengths = rows.n_rows, np.diff(indptr)
    if m == n_columns and (lengths == m).all() and (indices.reshape(n, m) == np.arange(m)).all():
        return data.reshape(n, m)
    out = np.zeros((n, n_columns))
    inside = (indices >= 0) & (indices < n_columns)
    np.add.at(out, (np.repeat(np.arange(n), lengths)[inside], indices[inside]), data[inside])
    return out


def in_single_precision(rows: SparseRows) -> SparseRows:
    """Rows in single precision."""
    return rows._replace(data=np.ascontiguousarray(rows.data, dtype=np.float32))
