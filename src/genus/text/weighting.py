"""Counts to weights: TF-IDF and its variants.

A word that occurs c times in document d weighs, row by row,

    w = scale · tf(c, d) · idf(word)^idf_power / norm(d).

The statistics behind idf and BM25 are sums over documents, kept as integers: they can be merged, subtracted and
extended exactly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags, check_array
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from genus import _core
from genus.base.arrays import Float64, Int64, n_threads
from genus.base.protocol import Params, Samples, State
from genus.base.rows import MatrixLike, SparseRows, add_duplicates, to_rows, width_of

_TF = ("raw", "binary", "log", "log1p", "sqrt", "log_share", "bm25")
_IDF = ("smooth", "plus_one", "plain", "bm25")
_LENGTH_UNIT = 1 << 20  # lengths are whole multiples of 1 / this, so that their sum does not depend on order

_NAMED: dict[str, Params] = {
    "raw": {},
    "binary": {"tf": "binary"},
    "log": {"tf": "log1p"},
    "log_l2": {"tf": "log1p", "norm": "l2", "scale": 10.0},
    "sqrt": {"tf": "sqrt", "idf": "smooth", "idf_power": 0.5},
    "tfidf": {"idf": "smooth", "norm": "l2"},
    "log_tfidf": {"tf": "log", "idf": "smooth", "norm": "l2"},
    "log_share": {"tf": "log_share", "idf": "plain"},
    "bm25": {"tf": "bm25", "idf": "bm25"},
    "query_idf": {"idf": "smooth", "idf_on": "queries"},
}


class TermWeighting(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg, misc]
    r"""Weights of words from their counts.

    Parameters
    ----------
    tf : str, default="raw"
        The weight of a count c > 0 in document d, whose length (sum of counts) is \|d\|:

        ============= ==========================================================================
        "raw"         c
        "binary"      1
        "log"         1 + ln c (``sublinear_tf`` of scikit-learn)
        "log1p"       ln(1 + c)
        "sqrt"        √c
        "log_share"   ln(1 + c/n · idf), n the number of distinct words of d; idf acts inside [1]_
        "bm25"        c·(k1 + 1) / (c + k1·(1 - b + b·\|d\| / mean length))
        ============= ==========================================================================

    idf : str or None, default=None
        The weight of a word that df of the M documents learned contain:

        ============= ==========================================================================
        None          1
        "smooth"      ln((1 + M) / (1 + df)) + 1 (``smooth_idf`` of scikit-learn)
        "plus_one"    ln(M / df) + 1 (``smooth_idf=False`` of scikit-learn)
        "plain"       ln(M / df)
        "bm25"        ln(1 + (M - df + 1/2) / (df + 1/2))
        ============= ==========================================================================

        A word in no document has the "plain" and "plus_one" idf of one that is in a single document.
    idf_power : float, default=1.0
        Exponent of idf; 0.5 for its root.
    idf_on : {"all", "queries"}, default="all"
        With "queries", idf is not applied to training documents (`fit_transform`), only to later ones
        (`transform`).
    norm : {"l1", "l2"} or None, default=None
        The norm that each row is divided by. Rows of zeros stay zero.
    scale : float, default=1.0
        A factor for all weights: with ``norm``, the norm of the resulting rows.
    k1, b : float, default=1.2 and 0.75
        BM25: how fast repetitions of a word saturate, and how much long documents are penalized.
    n_jobs : int or None, default=None
        Threads; None or -1 for all cores. No result depends on it.

    Attributes
    ----------
    document_frequency_ : int64 array of shape (n_words,)
        How many documents contain each word. A stored zero does not count.
    n_documents_ : int
        M.
    idf_ : float64 array of shape (n_words,)
        idf to the power ``idf_power``; ones where ``idf`` is None.

    Notes
    -----
    `fit` counts the documents, and idf is what these counts say, for every `transform` until more documents are
    learned. `partial_fit`, `merge` and `unlearn` change the counts, and with them idf and BM25's mean length: the
    same row weighs differently before and after. Two halves merged equal the whole and a document unlearned
    equals one never seen, bit for bit, since lengths are rounded to 2\ :sup:`-20` and everything else is whole.

    This equality is about the weighting. A model that added up rows weighted with one idf must unlearn them
    with the same idf: `TextClassifier` therefore keeps the weighting as `fit` left it.

    Weights are computed in double precision; they are single where the counts are.

    References
    ----------
    .. [1] A. Puurula and S.-H. Myaeng (2013). Integrated instance- and class-based generative modeling for text
       classification. ADCS.

    Examples
    --------
    >>> from genus import TermWeighting
    >>> counts = [[2, 1, 0], [0, 1, 0], [0, 1, 4]]
    >>> weighting = TermWeighting("sqrt", idf="plain").fit(counts)
    >>> weighting.transform([[4, 1, 1]]).toarray().round(3)
    array([[2.197, 0.   , 1.099]])
    >>> TermWeighting.named("tfidf").fit_transform(counts).toarray().round(3)
    array([[0.959, 0.283, 0.   ],
           [0.   , 1.   , 0.   ],
           [0.   , 0.146, 0.989]])
    """

    _frequency: Int64
    _n_documents: int
    _length: int  # of all documents together, in units
    _idf_cache: Float64 | None

    def __init__(
        self,
        tf: str = "raw",
        *,
        idf: str | None = None,
        idf_power: float = 1.0,
        idf_on: str = "all",
        norm: str | None = None,
        scale: float = 1.0,
        k1: float = 1.2,
        b: float = 0.75,
        n_jobs: int | None = None,
    ) -> None:
        self.tf = tf
        self.idf = idf
        self.idf_power = idf_power
        self.idf_on = idf_on
        self.norm = norm
        self.scale = scale
        self.k1 = k1
        self.b = b
        self.n_jobs = n_jobs

    @classmethod
    def named(cls, name: str, **params: Any) -> Self:
        """A weighting by name; ``params`` override its settings.

        Parameters
        ----------
        name : str
            ============= ======================================================================
            "raw"         counts as they are
            "binary"      presence
            "log"         ln(1 + c)
            "log_l2"      ln(1 + c), rows of Euclidean length 10
            "sqrt"        √c · √idf
            "tfidf"       c · idf, rows of length 1: scikit-learn's `TfidfTransformer`
            "log_tfidf"   the same with 1 + ln c
            "log_share"   ln(1 + c/n · ln(M / df)): TF-IDF of Puurula and Myaeng (2013)
            "bm25"        BM25's weight of a word in a document
            "query_idf"   counts when training, c · idf when predicting
            ============= ======================================================================
        """
        if name not in _NAMED:
            raise ValueError(f"weighting must be one of {', '.join(map(repr, _NAMED))}, got {name!r}.")
        return cls(**(_NAMED[name] | params))

    # Learning

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Count the documents of each word, discarding earlier counts.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_words)
            Word counts, not negative.
        y : ignored

        Returns
        -------
        self
        """
        self._fit(self._rows(validate_data(self, X, accept_sparse="csr")))
        return self

    def fit_transform(self, X: MatrixLike, y: object = None, **fit_params: object) -> Samples:
        """Count the documents, and weight them as training documents: without idf if ``idf_on="queries"``."""
        X = validate_data(self, X, accept_sparse="csr")
        return _like(X, self._fit_rows(self._rows(X)))

    def partial_fit(self, X: MatrixLike, y: object = None) -> Self:
        """Count more documents. Additional columns are new words. idf is updated."""
        grows = not self._is_fitted() or width_of(X) > self.n_features_in_
        if grows:
            matrix = check_array(X, accept_sparse="csr", estimator=self, input_name="X")
        else:
            matrix = validate_data(self, X, reset=False, accept_sparse="csr")
        self._check_parameters()
        added = self._statistics(self._rows(matrix))
        self._set_statistics(*(_add(self._counts, added) if self._is_fitted() else added))
        if grows:
            validate_data(self, X, reset=True, skip_check_array=True)  # the names of the new columns
        return self

    def unlearn(self, X: MatrixLike) -> Self:
        """Remove documents from the counts, exactly as if they had never been counted. idf is updated; columns stay.

        Raises
        ------
        ValueError
            If these documents were never counted, or none would be left. Nothing has then changed.
        """
        rows = self._rows(self._validate(X))
        frequency, n_documents, length = self._statistics(rows)
        left = self._frequency - frequency, self._n_documents - n_documents, self._length - length
        if left[1] == 0 and not left[0].any():
            raise ValueError("cannot unlearn every document: nothing would be left. Make a new weighting instead.")
        if left[0].min(initial=0) < 0 or left[0].max(initial=0) > left[1] or left[2] < 0:
            raise ValueError("cannot unlearn documents that were never learned: counts would become negative.")
        self._set_statistics(*left)
        return self

    def merge(self, other: Self) -> Self:
        """Add the counts of another weighting, as if this one had counted them; ``other`` is not changed."""
        check_is_fitted(self)
        if type(other) is not type(self):
            raise ValueError(f"other must be a {type(self).__name__}, got {type(other).__name__}.")
        check_is_fitted(other)
        if hasattr(self, "feature_names_in_") and len(other._frequency) > len(self._frequency):
            del self.feature_names_in_  # it lacks the new columns
        self._set_statistics(*_add(self._counts, other._counts))
        return self

    # Weighing

    def transform(self, X: MatrixLike) -> Samples:
        """The weights of these documents, as sparse rows of the same shape.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_words)
            Word counts.

        Returns
        -------
        sparse matrix (or sparse array, if X is one) of shape (n_documents, n_words)
        """
        X = self._validate(X)
        return _like(X, self._transform_rows(self._rows(X)))

    @property
    def document_frequency_(self) -> Int64:
        check_is_fitted(self)
        return self._frequency

    @property
    def n_documents_(self) -> int:
        check_is_fitted(self)
        return self._n_documents

    @property
    def idf_(self) -> Float64:
        check_is_fitted(self)
        if self.idf is None:
            return np.ones(len(self._frequency))
        if self._idf_cache is None:
            self._idf_cache = self._idf(self._frequency)
        return self._idf_cache

    def set_params(self, **params: object) -> Self:
        """Change parameters. They act from the next `transform` on, without the documents."""
        super().set_params(**params)
        self._idf_cache = None
        return self

    # Inner doors, without scipy: rows in which no column comes twice

    def _fit_rows(self, rows: SparseRows) -> SparseRows:
        """Learn from training documents and weigh them."""
        self._fit(rows)
        return self._document_rows(rows)

    def _document_rows(self, rows: SparseRows) -> SparseRows:
        """Training documents weighed, without being counted."""
        return self._weigh(rows, with_idf=self.idf_on == "all")

    def _transform_rows(self, rows: SparseRows) -> SparseRows:
        """Queries weighed."""
        return self._weigh(rows, with_idf=True)

    def _fit(self, rows: SparseRows) -> None:
        self._check_parameters()
        self._set_statistics(*self._statistics(rows))
        self.idf_  # noqa: B018 (made here, so that weighing changes nothing)

    def _weigh(self, rows: SparseRows, *, with_idf: bool) -> SparseRows:
        self._check_parameters()
        uses_idf = with_idf and self.idf is not None
        weights = _core.weigh(
            rows.indptr, rows.indices, rows.data,
            self.tf,
            self.idf_ if uses_idf else np.empty(0),
            float(self._idf(np.zeros(1, dtype=np.int64))[0]) if uses_idf else 1.0,
            float(self.k1), float(self.b), self._mean_length,
            self.norm or "none", float(self.scale), n_threads(self.n_jobs),
        )  # fmt: skip
        return SparseRows(rows.indptr, rows.indices, weights, rows.n_columns)

    def _idf(self, frequency: Int64) -> Float64:
        n, df = self._n_documents, frequency.astype(np.float64)
        match self.idf:
            case "smooth":
                idf = np.log((1 + n) / (1 + df)) + 1
            case "bm25":
                idf = np.log1p((n - df + 0.5) / (df + 0.5))
            case _:
                idf = np.log(n / np.maximum(df, 1)) + (self.idf == "plus_one")
        return np.asarray(idf**self.idf_power)

    @property
    def _mean_length(self) -> float:
        return self._length / (_LENGTH_UNIT * self._n_documents) or 1.0  # of empty documents: any

    # Statistics

    @property
    def _counts(self) -> tuple[Int64, int, int]:
        return self._frequency, self._n_documents, self._length

    def _statistics(self, rows: SparseRows) -> tuple[Int64, int, int]:
        indptr, indices, data, n_columns = rows
        frequency, lengths = _core.document_statistics(indptr, indices, data, n_columns, n_threads(self.n_jobs))
        units = np.rint(lengths * _LENGTH_UNIT)
        if not np.isfinite(units).all():
            raise OverflowError("X must have row sums below 1e302.")
        small = units.max(initial=0) * max(len(units), 1) < 2.0**63
        length = int(units.astype(np.int64).sum()) if small else sum(map(int, units.tolist()))
        return frequency, rows.n_rows, length

    def _set_statistics(self, frequency: Int64, n_documents: int, length: int) -> None:
        self._frequency, self._n_documents, self._length = frequency, n_documents, length
        self._idf_cache = None
        self.n_features_in_ = len(frequency)

    def _keep_columns(self, keep: NDArray[np.bool_]) -> None:
        """Remove the columns that are not marked; the others move up."""
        frequency, n_documents, length = self._counts
        self._set_statistics(frequency[keep[: len(frequency)]], n_documents, length)

    # Checks

    def _check_parameters(self) -> None:
        _check_choice("tf", self.tf, _TF)
        _check_choice("idf", self.idf, (None, *_IDF))
        _check_choice("idf_on", self.idf_on, ("all", "queries"))
        _check_choice("norm", self.norm, (None, "l1", "l2"))
        _check_number("idf_power", self.idf_power, "a number that is not negative")
        _check_number("scale", self.scale, "a positive number", positive=True)
        _check_number("k1", self.k1, "a number that is not negative")
        _check_number("b", self.b, "a number from 0 to 1", most=1)
        n_threads(self.n_jobs)

    def _validate(self, X: MatrixLike) -> Samples:
        check_is_fitted(self)
        return validate_data(self, X, reset=False, accept_sparse="csr")

    def _rows(self, X: MatrixLike) -> SparseRows:
        check_non_negative(X, f"{type(self).__name__} (input X)")
        rows = to_rows(X)
        return rows if getattr(X, "has_canonical_format", True) else add_duplicates(rows)

    def _is_fitted(self) -> bool:
        return hasattr(self, "_frequency")

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_fitted()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    # Keeping

    def _get_state(self) -> State:
        check_is_fitted(self)
        return {"frequency": self._frequency, "n_documents": self._n_documents, "length": self._length}

    def _set_state(self, state: Mapping[str, object]) -> None:
        frequency, n_documents, length = state["frequency"], state["n_documents"], state["length"]
        if not isinstance(frequency, np.ndarray) or frequency.dtype != np.int64 or frequency.ndim != 1:
            raise ValueError("frequency must be a one-dimensional array of int64.")
        if type(n_documents) is not int or type(length) is not int or n_documents < 1 or length < 0:
            raise ValueError("n_documents and length must be whole numbers of documents and words.")
        if frequency.min(initial=0) < 0 or frequency.max(initial=0) > n_documents:
            raise ValueError("frequency must lie between 0 and the number of documents.")
        self._check_parameters()
        self._set_statistics(frequency, n_documents, length)


def _add(a: tuple[Int64, int, int], b: tuple[Int64, int, int]) -> tuple[Int64, int, int]:
    frequency = np.zeros(max(len(a[0]), len(b[0])), dtype=np.int64)
    frequency[: len(a[0])] += a[0]
    frequency[: len(b[0])] += b[0]
    return frequency, a[1] + b[1], a[2] + b[2]


def _like(X: MatrixLike, rows: SparseRows) -> sparse.csr_array | sparse.csr_matrix:
    """Rows as scipy has them: an array where X is one, else a matrix."""
    kind = sparse.csr_array if isinstance(X, sparse.sparray) else sparse.csr_matrix
    return kind((rows.data, rows.indices, rows.indptr), shape=(rows.n_rows, rows.n_columns))


def _check_choice(name: str, value: object, choices: tuple[str | None, ...]) -> None:
    if not (value is None or isinstance(value, str)) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")


def _check_number(name: str, value: Any, expected: str, *, most: float = math.inf, positive: bool = False) -> None:
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= most or math.isinf(value) or (positive and value == 0):
        raise ValueError(f"{name} must be {expected}, got {value!r}.")
