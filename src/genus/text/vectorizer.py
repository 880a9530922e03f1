"""Text to sparse counts.

`Vectorizer` has the parameters of scikit-learn's `CountVectorizer` and gives the same vocabulary and counts for
the same options, from native code in threads. Beyond it: stemming, hashing, a vocabulary that grows
(`partial_fit`), bigrams for scripts that put no spaces between words, and Arrow columns read where they lie.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError

from genus import _core
from genus.base.arrays import GrowingStrings, Int32, Strings, n_threads
from genus.base.protocol import Samples, State
from genus.base.rows import SparseRows
from genus.text.inputs import Texts, as_texts
from genus.text.plan import Plan, Tokens, ordered_vocabulary

if TYPE_CHECKING:
    from sklearn.utils import Tags

_EMPTY = Strings.pack([])
_ALL = np.zeros(0, dtype=np.uint8)  # no marks: every column is kept


class Vectorizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Counts of words, of word n-grams or of character n-grams.

    Parameters
    ----------
    lowercase : bool, default=True
        Apply `str.lower` first.
    strip_accents : {"unicode", "ascii"} or None, default=None
        Remove accents (NFKD without combining marks), or everything that has no ASCII form.
    analyzer : {"word", "char", "char_wb"} or callable, default="word"
        What is counted. "char_wb" takes character n-grams inside words padded by a space. A function gets the
        raw text and returns its features.
    ngram_range : tuple (min_n, max_n), default=(1, 1)
        The shortest and longest n-gram.
    edges : bool, default=False
        Also count word n-grams that include the start or the end of a text: "(start) who", "today (end)".
        They are informative in short texts such as questions and titles.
    stop_words : "english", iterable of str or None, default=None
        Words to remove before n-grams are formed. "english" is scikit-learn's list.
    token_pattern : str, default=r"(?u)\\b\\w\\w+\\b"
        What a word is. The default, `\w+`, `\b\w+\b` and `\S+` run natively, others through Python's `re`.
    tokenizer : callable or None, default=None
        A function from text to words, instead of `token_pattern`. Runs in Python.
    min_df, max_df : int or float, default=1 and 1.0
        The fewest and most documents that a feature may occur in, as a number or as a fraction. For `fit` only.
    max_features : int or None, default=None
        Keep this many features, those with the highest counts. For `fit` only.
    vocabulary : mapping, iterable of str or None, default=None
        The features, if they are known in advance.
    binary : bool, default=False
        1 for every feature that occurs, instead of its count.
    stemmer : str or None, default=None
        A Snowball language such as "english" or "german". Each distinct word is stemmed once.
    n_hash : int or None, default=None
        Hash features to this many columns and keep no vocabulary: memory stays constant.
    split_unspaced : bool, default=False
        Cut runs of Han, kana, Thai, Lao, Khmer, Myanmar and Tibetan characters into overlapping bigrams.
    dtype : dtype, default=np.float64
        Of the counts. Single and double precision come out of the kernel; others are converted.
    n_jobs : int or None, default=None
        Threads; None or -1 for all cores. The result does not depend on it.

    Attributes
    ----------
    vocabulary_ : dict of str to int
        Feature to column. Made when asked for.

    Examples
    --------
    >>> from genus import Vectorizer
    >>> vectorizer = Vectorizer(ngram_range=(1, 2))
    >>> vectorizer.fit_transform(["the red house", "the house"]).toarray().astype(int)
    array([[1, 1, 1, 1, 0, 1],
           [1, 0, 0, 1, 1, 0]])
    >>> vectorizer.get_feature_names_out().tolist()
    ['house', 'red', 'red house', 'the', 'the house', 'the red']
    """

    _shares_table = False  # with another vectorizer, which must not see new words

    def __init__(
        self,
        *,
        lowercase: bool = True,
        strip_accents: str | None = None,
        analyzer: str | Tokens = "word",
        ngram_range: tuple[int, int] = (1, 1),
        edges: bool = False,
        stop_words: str | Iterable[str] | None = None,
        token_pattern: str = r"(?u)\b\w\w+\b",
        tokenizer: Tokens | None = None,
        min_df: float = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        vocabulary: Mapping[str, int] | Iterable[str] | None = None,
        binary: bool = False,
        stemmer: str | None = None,
        n_hash: int | None = None,
        split_unspaced: bool = False,
        dtype: DTypeLike = np.float64,
        n_jobs: int | None = None,
    ) -> None:
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.analyzer = analyzer
        self.ngram_range = ngram_range
        self.edges = edges
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.tokenizer = tokenizer
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.vocabulary = vocabulary
        self.binary = binary
        self.stemmer = stemmer
        self.n_hash = n_hash
        self.split_unspaced = split_unspaced
        self.dtype = dtype
        self.n_jobs = n_jobs

    # ------------------------------------------------------------------ scikit-learn's interface

    def fit(self, texts: Texts, y: object = None) -> Self:
        """Learn the vocabulary."""
        self._fit_rows(texts)
        return self

    def fit_transform(self, texts: Samples, y: object = None, **fit_params: object) -> sp.csr_matrix:
        """Learn the vocabulary and count, in one pass over the texts."""
        return self._matrix(self._fit_rows(texts))

    def transform(self, texts: Samples) -> sp.csr_matrix:
        """Count the features of the vocabulary. Other words are ignored."""
        return self._matrix(self._transform_rows(texts)[0])

    def partial_fit(self, texts: Texts, y: object = None) -> Self:
        """Append the new features of these texts to the old ones, whose columns stay.

        `min_df`, `max_df` and `max_features` do not apply here: every new feature is kept.
        """
        self._partial_fit_rows(texts)
        return self

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """The features in the order of their columns."""
        self._check_fitted()
        if self.n_hash is not None:
            raise ValueError("A hashing Vectorizer (n_hash) keeps no feature names.")
        return np.array(self._words.unpack(), dtype=object)

    @property
    def vocabulary_(self) -> dict[str, int]:
        return {word: column for column, word in enumerate(self.get_feature_names_out())}

    @property
    def n_columns_(self) -> int:
        """Columns of the counts."""
        self._check_fitted()
        return self.n_hash if self.n_hash is not None else len(self._words)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_words") or self.n_hash is not None or self.vocabulary is not None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = self.n_hash is None and self.vocabulary is None
        return tags

    # ------------------------------------------------------------------ inner doors, without scipy

    def _fit_rows(self, texts: Texts) -> SparseRows:
        plan = self._prepare()
        texts = as_texts(texts)
        if not self._grows:
            self._set_words(self._given_words())
            return self._count(texts, plan)[0]
        threads = n_threads(self.n_jobs)
        corpus = plan.corpus(texts, threads)
        keep = self._columns_to_keep(corpus)
        words = Strings(*corpus.words(keep, threads))
        if len(words) == 0:
            raise ValueError(
                "Empty vocabulary: no text has a word that is kept. Are the texts empty, or all of stop words?"
                if corpus.n_features == 0
                else "After pruning, no terms remain. Try a lower min_df or a higher max_df."
            )
        self._words, self._table = words, corpus.table(keep)
        indptr, indices, data, _ = corpus.rows(keep, bool(self.binary), self._single, threads)
        return SparseRows(indptr, indices, data, len(words))

    def _partial_fit_rows(self, texts: Texts) -> SparseRows:
        if not hasattr(self, "_words"):
            plan = self._prepare()
            self._set_words(self._given_words())
        else:
            plan = self._compiled()
        texts = as_texts(texts)
        if self._grows:
            corpus = plan.corpus(texts, n_threads(self.n_jobs))
            self._add_words(Strings(*corpus.words(_ALL, n_threads(self.n_jobs))))
        return self._count(texts, plan)[0]

    def _stream_rows(self, text: str) -> SparseRows:
        """As `_partial_fit_rows` for one text: fast if it has no new words."""
        if hasattr(self, "_words"):
            rows, unknown = self._count([text], self._compiled())
            if not self._grows:
                return rows
            plan = self._compiled()
            if plan.words_alone:
                if unknown[0]:
                    self._append_words(plan.unknown([text], (*self._words, self._table)))
                    rows = self._count([text], plan)[0]
                return rows
        return self._partial_fit_rows([text])

    def _transform_rows(self, texts: Texts) -> tuple[SparseRows, Int32]:
        """The rows, and how many tokens of each text are unknown."""
        if not hasattr(self, "_words"):
            self._check_fitted()
            self._prepare()
            self._set_words(self._given_words())
        return self._count(as_texts(texts), self._compiled())

    def _count(self, texts: Texts, plan: Plan) -> tuple[SparseRows, Int32]:
        n_hash = self.n_hash or 0
        indptr, indices, data, unknown = plan.known(
            texts, (*self._words, self._table), n_hash, bool(self.binary), self._single, n_threads(self.n_jobs)
        )
        return SparseRows(indptr, indices, data, n_hash or len(self._words)), unknown

    def _words_of(self, text: str, columns: Int32) -> list[str]:
        """How the features in these columns are spelled in the text: for explanations, hashed columns included."""
        if self.n_hash is None:
            return [self._words.at(int(c)) for c in columns]
        names = Strings(*self._compiled().corpus([text], 1).words(_ALL, 1))
        spelled: dict[int, list[str]] = {}
        for name, column in zip(names.unpack(), self._columns_of(names).tolist(), strict=True):
            spelled.setdefault(column, []).append(name)
        return [" | ".join(spelled.get(int(c), ["?"])) for c in columns]

    def _columns_of(self, features: Strings) -> Int32:
        """The column of each feature, -1 where it has none."""
        return _core.find_words(*features, self._compiled().n_grams, *self._words, self._table, self.n_hash or 0)

    # ------------------------------------------------------------------ state

    def _get_state(self) -> State:
        self._check_fitted()
        return {"words": self._words, "table": self._table}

    def _set_state(self, state: State) -> None:
        words, table = state["words"], state["table"]
        if not isinstance(words, Strings):
            raise ValueError("the vocabulary must be strings.")
        if not (isinstance(table, np.ndarray) and table.dtype == np.uint64 and table.ndim == 1):
            raise ValueError("the vocabulary's table must be a one-dimensional array of uint64.")
        if len(words) > 0 and len(table) < 2 * len(words):
            raise ValueError("the vocabulary's table has a wrong size")
        self._words, self._table = words, table
        self._prepare()
        if len(words) > 0 and not _core.is_table(table):  # of another layout, as in files of format 1
            self._set_words(words)

    def __getstate__(self) -> State:
        state: State = super().__getstate__()
        return {name: value for name, value in state.items() if name not in ("_plan", "_growing")}

    def _writable(self) -> Self:
        """A copy that can learn while this one counts: nothing that they share is changed."""
        other = object.__new__(type(self))
        other.__dict__ |= self.__dict__
        other._shares_table = True
        return other

    def _set_words(self, words: Strings) -> None:
        self._words = words
        self._table, self._shares_table = _core.make_table(*words, self._compiled().n_grams), False

    def _add_words(self, batch: Strings) -> None:
        self._append_words(batch.take(np.flatnonzero(self._columns_of(batch) < 0)))

    def _append_words(self, new: Strings) -> None:
        n_old = len(self._words)
        if len(new) == 0:
            return
        growing: GrowingStrings | None = getattr(self, "_growing", None)
        if growing is None or growing.strings is not self._words:
            growing = self._growing = GrowingStrings(self._words)
        self._words = growing.add(new)
        n_grams = self._plan.n_grams
        if self._shares_table:
            self._table, self._shares_table = self._table.copy(), False
        if not (self._table.flags.writeable and _core.extend_table(self._table, *self._words, n_old, n_grams)):
            self._table = _core.make_table(*self._words, n_grams)

    def _keep_columns(self, keep: NDArray[np.bool_]) -> None:
        """Remove the features that are not marked; the others move up."""
        if not keep.all():
            self._set_words(Strings.pack(itertools.compress(self._words.unpack(), keep)))

    def _given_words(self) -> Strings:
        if self.n_hash is not None or self.vocabulary is None:
            return _EMPTY
        return Strings.pack(ordered_vocabulary(self.vocabulary))

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError("This Vectorizer is not fitted: call fit first, or give it a vocabulary.")

    # ------------------------------------------------------------------ options

    @property
    def _grows(self) -> bool:
        """Whether the vocabulary is learned from texts."""
        return self.n_hash is None and self.vocabulary is None

    @property
    def _keeps_every_word(self) -> bool:
        """Whether every word of every text learned is in the vocabulary."""
        return self._grows and self.min_df == 1 and self.max_df == 1.0 and self.max_features is None

    @property
    def _single(self) -> bool:
        return np.dtype(self.dtype) == np.float32

    def _matrix(self, rows: SparseRows) -> sp.csr_matrix:
        index = np.int32 if len(rows.indices) < 2**31 else np.int64
        empty: Any = sp.csr_matrix
        matrix: sp.csr_matrix = empty((rows.n_rows, rows.n_columns), dtype=self.dtype)
        # Set directly: the arrays are sound and sorted, and scipy's checks would cost more than the counting.
        matrix.indptr = rows.indptr.astype(index)
        matrix.indices = rows.indices.astype(index, copy=False)
        matrix.data = rows.data.astype(self.dtype, copy=False)
        matrix.has_sorted_indices = matrix.has_canonical_format = True
        return matrix

    def _columns_to_keep(self, corpus: _core.CountedCorpus) -> NDArray[np.uint8]:
        """A mark per feature, as scikit-learn decides it; empty if all are kept."""
        n_texts = corpus.n_documents
        least = self.min_df if isinstance(self.min_df, Integral) else self.min_df * n_texts
        most = self.max_df if isinstance(self.max_df, Integral) else self.max_df * n_texts
        if most < least:
            raise ValueError("max_df corresponds to fewer documents than min_df.")
        if least <= 1 and most >= n_texts and self.max_features is None:
            return _ALL
        frequency = corpus.document_frequency()
        keep: NDArray[np.bool_] = (frequency >= least) & (frequency <= most)
        if self.max_features is not None and keep.sum() > self.max_features:
            counts = frequency if self.binary else corpus.term_frequency()
            best = (-counts[keep]).argsort()[: self.max_features]  # ties fall as in scikit-learn
            candidates = np.flatnonzero(keep)
            keep = np.zeros(len(keep), dtype=bool)
            keep[candidates[best]] = True
        return keep.view(np.uint8) if len(keep) else _ALL

    def _compiled(self) -> Plan:
        return self._plan if hasattr(self, "_plan") else self._prepare()

    def _prepare(self) -> Plan:
        self._check_parameters()
        self._plan = Plan.from_options(
            analyzer=self.analyzer,
            tokenizer=self.tokenizer,
            token_pattern=self.token_pattern,
            lowercase=bool(self.lowercase),
            strip_accents=self.strip_accents,
            split_unspaced=bool(self.split_unspaced),
            stop_words=self.stop_words,
            stemmer=self.stemmer,
            ngram_range=self.ngram_range,
            edges=bool(self.edges),
        )
        return self._plan

    def _check_parameters(self) -> None:
        if not callable(self.analyzer) and self.analyzer not in ("word", "char", "char_wb"):
            raise ValueError(f"analyzer must be 'word', 'char', 'char_wb' or a function, got {self.analyzer!r}.")
        if isinstance(self.analyzer, type):
            raise ValueError(f"analyzer must be a function, got the type {self.analyzer.__name__}.")
        if self.tokenizer is None and not isinstance(self.token_pattern, str):
            raise ValueError(f"token_pattern must be a regular expression (str), got {self.token_pattern!r}.")
        if not (self.tokenizer is None or callable(self.tokenizer)) or isinstance(self.tokenizer, type):
            raise ValueError(f"tokenizer must be a function or None, got {self.tokenizer!r}.")
        try:
            np.dtype(self.dtype)
        except (TypeError, ValueError, KeyError):
            raise ValueError(f"dtype must be a type of numbers, such as 'float64', got {self.dtype!r}.") from None
        if self.strip_accents not in (None, "unicode", "ascii"):
            raise ValueError(f"strip_accents must be 'unicode', 'ascii' or None, got {self.strip_accents!r}.")
        try:
            low, high = self.ngram_range
        except (TypeError, ValueError):
            raise ValueError(f"ngram_range must be a pair (min_n, max_n), got {self.ngram_range!r}.") from None
        if not (isinstance(low, Integral) and isinstance(high, Integral) and 1 <= low <= high <= 64):
            raise ValueError(f"ngram_range must be whole numbers with 1 <= min_n <= max_n, got {self.ngram_range!r}.")
        for name in ("min_df", "max_df"):
            value = getattr(self, name)
            whole = isinstance(value, Integral) and value >= 1
            if not (whole or (isinstance(value, Real) and not isinstance(value, Integral) and 0 <= value <= 1)):
                raise ValueError(f"{name} must be a count of at least 1 or a fraction from 0.0 to 1.0, got {value!r}.")
        for name, limit in (("max_features", None), ("n_hash", 2**31 - 1)):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, Integral) and 1 <= value <= (limit or value)):
                raise ValueError(f"{name} must be None or a positive whole number, got {value!r}.")
        if self.n_hash is not None and self.vocabulary is not None:
            raise ValueError("n_hash and vocabulary cannot be combined: give one of them.")
        if self.edges and (self.analyzer != "word" or high < 2):
            raise ValueError("edges need word n-grams: use them with analyzer='word', ngram_range=(1, 2).")
        if self.stemmer is not None and self.analyzer != "word":
            raise ValueError("stemmer works on words: use it with analyzer='word'.")


def default_vectorizer(**options: Any) -> Vectorizer:
    """A vectorizer as `TextClassifier` and ``genus train`` use it, where options do not say otherwise.

    It counts in single precision, and splits runs of unspaced scripts if it counts words.

    >>> default_vectorizer(ngram_range=(1, 2)).split_unspaced, default_vectorizer(analyzer="char").split_unspaced
    (True, False)
    """
    in_words = options.get("analyzer", "word") == "word"
    return Vectorizer(**{"split_unspaced": in_words, "dtype": np.float32} | options)
