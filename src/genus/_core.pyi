"""
Native kernels of genus. Private: the public interface is the Python package.
"""

from typing import Annotated, Any, overload

import numpy
from numpy.typing import NDArray

def simd_levels() -> list[str]:
    """
    The instruction sets that kernels were compiled for and this machine has, the widest last.
    """

def use_unicode(version: str) -> bool:
    """Whether the tables of this Unicode version are compiled in."""

def use_characters(
    records: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    page_of: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order="C", device="cpu", writable=False)],
    pages: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order="C", device="cpu", writable=False)],
    lower: tuple[
        Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ],
    nfkd: tuple[
        Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ],
) -> None:
    """Tables made by genus.text.characters, which must stay where they are."""

def text_keys(texts: object, n_threads: int) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]: ...

class TextOptions:
    """How texts are cut into tokens and n-grams."""

    def __init__(
        self,
        analyzer: str,
        accents: str,
        lowercase: bool,
        split_unspaced: bool,
        min_length: int,
        min_n: int,
        max_n: int,
        edges: bool,
    ) -> None: ...

class CountedCorpus:
    """Documents whose words are counted, before columns are chosen."""

    @property
    def n_documents(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    def document_frequency(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...
    def term_frequency(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...
    def words(
        self,
        keep: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
        n_threads: int,
    ) -> tuple[
        Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]
    ]: ...
    def table(
        self, keep: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)]
    ) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]: ...
    def rows(
        self,
        keep: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
        binary: bool,
        single: bool,
        n_threads: int,
    ) -> tuple[
        Annotated[NDArray[numpy.int64], dict(shape=(None,))],
        Annotated[NDArray[numpy.int32], dict(shape=(None,))],
        Annotated[NDArray[Any], dict(shape=(None,))],
        Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    ]: ...

def count_corpus(
    texts: object,
    options: TextOptions,
    stop_blob: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    stop_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    stop_table: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> CountedCorpus: ...
def count_corpus_sequences(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    numbers: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    blob: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    min_n: int,
    max_n: int,
    edges: bool,
    n_threads: int,
) -> CountedCorpus: ...
def count_known(
    texts: object,
    options: TextOptions,
    stop_blob: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    stop_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    stop_table: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    blob: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    table: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_hash: int,
    binary: bool,
    single: bool,
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[Any], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
]: ...
def count_known_sequences(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    numbers: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    word_blob: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    word_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    min_n: int,
    max_n: int,
    edges: bool,
    blob: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    table: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_hash: int,
    binary: bool,
    single: bool,
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[Any], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
]: ...
def number_tokens(
    texts: object,
    options: TextOptions,
    stop_blob: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    stop_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    stop_table: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.uint8], dict(shape=(None,))],
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
]: ...
def unknown_words(
    texts: object,
    options: TextOptions,
    stop_blob: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    stop_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    stop_table: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    blob: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    table: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> tuple[
    Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]
]: ...
def find_words(
    feature_blob: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    feature_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_grams: bool,
    blob: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    table: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_hash: int,
) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...
def make_table(
    blob: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_grams: bool,
) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]: ...
def is_table(
    table: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> bool: ...
def extend_table(
    table: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C")],
    blob: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    first: int,
    n_grams: bool,
) -> bool: ...
@overload
def document_statistics(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_columns: int,
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]
]: ...
@overload
def document_statistics(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_columns: int,
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]
]: ...
@overload
def document_statistics(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_columns: int,
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]
]: ...
@overload
def weigh(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    tf: str,
    idf: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    unseen_idf: float,
    k1: float,
    b: float,
    mean_length: float,
    norm: str,
    scale: float,
    n_threads: int,
) -> Annotated[NDArray[Any], dict(shape=(None,))]: ...
@overload
def weigh(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    tf: str,
    idf: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    unseen_idf: float,
    k1: float,
    b: float,
    mean_length: float,
    norm: str,
    scale: float,
    n_threads: int,
) -> Annotated[NDArray[Any], dict(shape=(None,))]: ...
@overload
def weigh(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    tf: str,
    idf: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    unseen_idf: float,
    k1: float,
    b: float,
    mean_length: float,
    norm: str,
    scale: float,
    n_threads: int,
) -> Annotated[NDArray[Any], dict(shape=(None,))]: ...
def make_word_lookup(
    blob: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> tuple[
    Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))], int
]:
    """
    The table and the marks of the entries, and the first one that is there twice.
    """

@overload
def encode_words(
    texts: object,
    lowercase: bool,
    blob: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    table: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    marks: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    splits: bool,
    vectors: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    scales: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
    level: str = "",
) -> tuple[
    Annotated[NDArray[numpy.float32], dict(shape=(None, None))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
]: ...
@overload
def encode_words(
    texts: object,
    lowercase: bool,
    blob: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    table: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    marks: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    splits: bool,
    vectors: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    n_threads: int,
    level: str = "",
) -> tuple[
    Annotated[NDArray[numpy.float32], dict(shape=(None, None))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
]: ...
def token_entries(
    texts: object,
    lowercase: bool,
    blob: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    table: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    marks: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    splits: bool,
) -> tuple[
    Annotated[NDArray[numpy.uint8], dict(shape=(None,))],
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
]:
    """
    The tokens, where the entries of each end, the entries, and the entry of each token with the next.
    """

FRACTION_BITS: int = 36

@overload
def fixed_lengths(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...
@overload
def fixed_lengths(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...
@overload
def fixed_lengths(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...
@overload
def count_by_class(
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    scales: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_words: int,
    n_classes: int,
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
]: ...
@overload
def count_by_class(
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    scales: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_words: int,
    n_classes: int,
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
]: ...
@overload
def count_by_class(
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    scales: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_words: int,
    n_classes: int,
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
]: ...
def group_equal(
    items: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)], width: int
) -> tuple[
    Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]
]: ...
def has_duplicates(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_words: int,
) -> bool: ...
def combine(
    a_indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    a_classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    a_counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    a_ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    b_indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    b_classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    b_counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    b_ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    subtract: bool,
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
]: ...
def class_totals(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_classes: int,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
@overload
def score(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
@overload
def score(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
@overload
def score(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
@overload
def score(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
@overload
def score(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
@overload
def score(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
@overload
def best_classes(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...
@overload
def best_classes(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...
@overload
def best_classes(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...
@overload
def best_classes(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...
@overload
def best_classes(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...
@overload
def best_classes(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...
@overload
def score_without_self(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    sums: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    scales: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ratio: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
@overload
def score_without_self(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    sums: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    scales: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ratio: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
@overload
def score_without_self(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    sums: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    scales: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ratio: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
def build_table(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ratio: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.float64], dict(shape=(None,))],
]: ...
@overload
def best_classes_by_quantized(
    quantized: tuple[
        Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.int16], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        float,
        float,
        float,
        float,
    ],
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_classes: int,
    n_threads: int,
) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...
@overload
def best_classes_by_quantized(
    quantized: tuple[
        Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.int16], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        float,
        float,
        float,
        float,
    ],
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_classes: int,
    n_threads: int,
) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...
@overload
def best_classes_by_quantized(
    quantized: tuple[
        Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.int16], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        float,
        float,
        float,
        float,
    ],
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_classes: int,
    n_threads: int,
) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...
@overload
def best_classes_by_quantized(
    quantized: tuple[
        Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.int16], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        float,
        float,
        float,
        float,
    ],
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_classes: int,
    n_threads: int,
) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...
@overload
def best_classes_by_quantized(
    quantized: tuple[
        Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.int16], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        float,
        float,
        float,
        float,
    ],
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_classes: int,
    n_threads: int,
) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...
@overload
def best_classes_by_quantized(
    quantized: tuple[
        Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.int16], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        float,
        float,
        float,
        float,
    ],
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_classes: int,
    n_threads: int,
) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...
@overload
def add_quantized_scores(
    quantized: tuple[
        Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.int16], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        float,
        float,
        float,
        float,
    ],
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    total: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    distances: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
@overload
def add_quantized_scores(
    quantized: tuple[
        Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.int16], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        float,
        float,
        float,
        float,
    ],
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    total: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    distances: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
@overload
def add_quantized_scores(
    quantized: tuple[
        Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.int16], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        float,
        float,
        float,
        float,
    ],
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    total: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    distances: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
@overload
def add_quantized_scores(
    quantized: tuple[
        Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.int16], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        float,
        float,
        float,
        float,
    ],
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    total: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    distances: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
@overload
def add_quantized_scores(
    quantized: tuple[
        Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.int16], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        float,
        float,
        float,
        float,
    ],
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    total: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    distances: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
@overload
def add_quantized_scores(
    quantized: tuple[
        Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.int16], dict(shape=(None,), order="C", device="cpu", writable=False)],
        Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        float,
        float,
        float,
        float,
    ],
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    total: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    distances: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
@overload
def make_quantized(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_classes: int,
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.float32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int16], dict(shape=(None,))],
    Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
    float,
    float,
    float,
    float,
]: ...
@overload
def make_quantized(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_classes: int,
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.float32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int16], dict(shape=(None,))],
    Annotated[NDArray[numpy.uint64], dict(shape=(None,))],
    float,
    float,
    float,
    float,
]: ...
def quantized_sums(
    rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    x: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    steps: Annotated[NDArray[numpy.int16], dict(shape=(None,), order="C", device="cpu", writable=False)],
    width: int,
    level: str,
) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]:
    """
    Weighted sums of rows as the kernels of a SIMD level compute them: for tests.
    """

def normalize_log_rows(
    scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")], n_threads: int
) -> None: ...
def add_scaled_rows(
    scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    total: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
def best_or_ambiguous(
    scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    distances: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...
def top_of_rows(
    scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    k: int,
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.int32], dict(shape=(None, None))],
    Annotated[NDArray[numpy.float64], dict(shape=(None, None))],
]: ...
@overload
def dense_scores(
    rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    center: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    panels: Annotated[NDArray[numpy.float64], dict(shape=(None, None, 8), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    scaled_prior: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    n_threads: int,
    level: str = "",
) -> bool: ...
@overload
def dense_scores(
    rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    center: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    panels: Annotated[NDArray[numpy.float64], dict(shape=(None, None, 8), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    scaled_prior: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    n_threads: int,
    level: str = "",
) -> bool:
    """Fill out; whether all components are in range."""

@overload
def score_paths(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
@overload
def score_paths(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
@overload
def score_paths(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
@overload
def best_classes_of_paths(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_classes: int,
    n_threads: int,
) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...
@overload
def best_classes_of_paths(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_classes: int,
    n_threads: int,
) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...
@overload
def best_classes_of_paths(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_classes: int,
    n_threads: int,
) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...
def build_path_table(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_words: int,
    nodes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_classes: int,
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.float64], dict(shape=(None,))],
]: ...
def information_gain(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    totals: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
@overload
def document_keys(
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]: ...
@overload
def document_keys(
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]: ...
@overload
def document_keys(
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]: ...
@overload
def add_mixtures(
    index: object,
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    largest: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
@overload
def add_mixtures(
    index: object,
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    largest: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
@overload
def add_mixtures(
    index: object,
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    largest: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
@overload
def mixture_without_self(
    index: object,
    frequencies: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    gains: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    own: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    left_out: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
@overload
def mixture_without_self(
    index: object,
    frequencies: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    gains: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    own: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    left_out: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
@overload
def mixture_without_self(
    index: object,
    frequencies: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    gains: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    own: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    left_out: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
@overload
def top_slots(
    index: object,
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rank: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    k: int,
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None, None))],
    Annotated[NDArray[numpy.float64], dict(shape=(None, None))],
]: ...
@overload
def top_slots(
    index: object,
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rank: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    k: int,
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None, None))],
    Annotated[NDArray[numpy.float64], dict(shape=(None, None))],
]: ...
@overload
def top_slots(
    index: object,
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    bias: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rank: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    k: int,
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None, None))],
    Annotated[NDArray[numpy.float64], dict(shape=(None, None))],
]: ...
def receipt_hashes(
    contents: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    labels: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    weights: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]: ...
def cut_blocks(
    class_starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...
def build_index(
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    scales: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    block_starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_words: int,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.uint16], dict(shape=(None,))],
    Annotated[NDArray[numpy.float64], dict(shape=(None,))],
]: ...
def index_values(
    index: object,
    frequencies: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    gain: float,
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]
]: ...
def segment_weights(
    block_starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    class_starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
def exponentials(
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
def fast_math(
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    name: str,
    level: str,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """exp, log or log1p as the kernels compute it: for tests."""

class OnlineOptions:
    """How an OnlineLearner counts."""

    def __init__(self, binary: bool, joint: bool, average: bool, half_life: float, min_loss: float) -> None: ...
    @property
    def binary(self) -> bool: ...
    @property
    def joint(self) -> bool: ...
    @property
    def average(self) -> bool: ...
    @property
    def half_life(self) -> float: ...
    @property
    def min_loss(self) -> float: ...

class OnlineLearner:
    """Evidence counted by a model's own mistakes."""

    def __init__(self, options: OnlineOptions) -> None: ...
    @staticmethod
    def over(
        options: OnlineOptions,
        n_words: int,
        n_classes: int,
        fading: float,
        n_learned: float,
        starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        rows: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        sums: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> OnlineLearner:
        """A learner that reads these rows where they are, until it learns."""

    def grow(self, n_words: int, n_classes: int) -> None: ...
    def averaged(self) -> OnlineLearner: ...
    def evidence(
        self,
        c: int,
        words: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> tuple[
        Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]
    ]: ...
    def totals(
        self, c: int
    ) -> tuple[
        Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]
    ]: ...
    def arrays(
        self,
    ) -> tuple[
        Annotated[NDArray[numpy.int64], dict(shape=(None,))],
        Annotated[NDArray[numpy.int32], dict(shape=(None,))],
        Annotated[NDArray[numpy.float64], dict(shape=(None,))],
        Annotated[NDArray[numpy.float64], dict(shape=(None,))],
    ]: ...
    @property
    def n_words(self) -> int: ...
    @property
    def fading(self) -> float: ...
    @property
    def n_learned(self) -> float: ...
    @overload
    def learn(
        self,
        rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        n_threads: int,
    ) -> None: ...
    @overload
    def learn(
        self,
        rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        n_threads: int,
    ) -> None: ...
    @overload
    def learn(
        self,
        rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        values: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        n_threads: int,
    ) -> None: ...
    @overload
    def score(
        self,
        rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        place: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
        n_threads: int,
    ) -> None: ...
    @overload
    def score(
        self,
        rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        place: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
        n_threads: int,
    ) -> None: ...
    @overload
    def score(
        self,
        rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        values: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        place: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
        n_threads: int,
    ) -> None: ...

class SweepMemory:
    def __init__(self) -> None: ...

@overload
def number_class_words(
    documents: object,
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_words: int,
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
]: ...
@overload
def number_class_words(
    documents: object,
    values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_words: int,
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
]: ...
@overload
def number_class_words(
    documents: object,
    values: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_words: int,
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
]: ...
@overload
def gibbs_sweep(
    documents: object,
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    words: object,
    alpha: float,
    beta: float,
    n_words: int,
    seed: int,
    number: int,
    own: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu")],
    mixtures: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    topics: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    background: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    memory: SweepMemory,
    n_threads: int,
) -> None: ...
@overload
def gibbs_sweep(
    documents: object,
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    words: object,
    alpha: float,
    beta: float,
    n_words: int,
    seed: int,
    number: int,
    own: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order="C", device="cpu")],
    mixtures: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    topics: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    background: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    memory: SweepMemory,
    n_threads: int,
) -> None: ...
@overload
def gibbs_sweep(
    documents: object,
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    words: object,
    alpha: float,
    beta: float,
    n_words: int,
    seed: int,
    number: int,
    own: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu")],
    mixtures: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    topics: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    background: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    memory: SweepMemory,
    n_threads: int,
) -> None: ...
@overload
def gibbs_sweep(
    documents: object,
    values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    words: object,
    alpha: float,
    beta: float,
    n_words: int,
    seed: int,
    number: int,
    own: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu")],
    mixtures: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    topics: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    background: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    memory: SweepMemory,
    n_threads: int,
) -> None: ...
@overload
def gibbs_sweep(
    documents: object,
    values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    words: object,
    alpha: float,
    beta: float,
    n_words: int,
    seed: int,
    number: int,
    own: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order="C", device="cpu")],
    mixtures: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    topics: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    background: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    memory: SweepMemory,
    n_threads: int,
) -> None: ...
@overload
def gibbs_sweep(
    documents: object,
    values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    words: object,
    alpha: float,
    beta: float,
    n_words: int,
    seed: int,
    number: int,
    own: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu")],
    mixtures: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    topics: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    background: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    memory: SweepMemory,
    n_threads: int,
) -> None: ...
@overload
def gibbs_sweep(
    documents: object,
    values: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    words: object,
    alpha: float,
    beta: float,
    n_words: int,
    seed: int,
    number: int,
    own: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu")],
    mixtures: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    topics: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    background: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    memory: SweepMemory,
    n_threads: int,
) -> None: ...
@overload
def gibbs_sweep(
    documents: object,
    values: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    words: object,
    alpha: float,
    beta: float,
    n_words: int,
    seed: int,
    number: int,
    own: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order="C", device="cpu")],
    mixtures: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    topics: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    background: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    memory: SweepMemory,
    n_threads: int,
) -> None: ...
@overload
def gibbs_sweep(
    documents: object,
    values: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    words: object,
    alpha: float,
    beta: float,
    n_words: int,
    seed: int,
    number: int,
    own: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu")],
    mixtures: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    topics: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    background: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    memory: SweepMemory,
    n_threads: int,
) -> None: ...
@overload
def mark(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    totals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    background: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    alpha: float,
    beta: float,
    n_words: int,
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_repeats: int,
    n_threads: int,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...
@overload
def mark(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    totals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    background: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    alpha: float,
    beta: float,
    n_words: int,
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_repeats: int,
    n_threads: int,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...
@overload
def mark(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    totals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    background: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    alpha: float,
    beta: float,
    n_words: int,
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_repeats: int,
    n_threads: int,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...
@overload
def fit_multinomial_nodes(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_words: int,
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    node_starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    held_out: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    *,
    alpha: float,
    proportional: bool,
    by_words: bool,
    first_repetition: int,
    n_repetitions: int,
    n_iterations: int,
    seed: int,
    hard: bool,
    start: str,
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.float64], dict(shape=(None, None))],
    Annotated[NDArray[numpy.float64], dict(shape=(None, None))],
    Annotated[NDArray[numpy.float64], dict(shape=(None, None))],
]: ...
@overload
def fit_multinomial_nodes(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_words: int,
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    node_starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    held_out: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    *,
    alpha: float,
    proportional: bool,
    by_words: bool,
    first_repetition: int,
    n_repetitions: int,
    n_iterations: int,
    seed: int,
    hard: bool,
    start: str,
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.float64], dict(shape=(None, None))],
    Annotated[NDArray[numpy.float64], dict(shape=(None, None))],
    Annotated[NDArray[numpy.float64], dict(shape=(None, None))],
]: ...
@overload
def fit_multinomial_nodes(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_words: int,
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    node_starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    held_out: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    *,
    alpha: float,
    proportional: bool,
    by_words: bool,
    first_repetition: int,
    n_repetitions: int,
    n_iterations: int,
    seed: int,
    hard: bool,
    start: str,
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.float64], dict(shape=(None, None))],
    Annotated[NDArray[numpy.float64], dict(shape=(None, None))],
    Annotated[NDArray[numpy.float64], dict(shape=(None, None))],
]: ...
@overload
def expected_counts(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_words: int,
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    node_starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    shares: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.float64], dict(shape=(None,))],
]: ...
@overload
def expected_counts(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_words: int,
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    node_starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    shares: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.float64], dict(shape=(None,))],
]: ...
@overload
def expected_counts(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_words: int,
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    node_starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    shares: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.float64], dict(shape=(None,))],
]: ...
def fit_gaussian_nodes(
    documents: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    node_starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    held_out: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    floor: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    *,
    first_repetition: int,
    n_repetitions: int,
    n_iterations: int,
    seed: int,
    hard: bool,
    start: str,
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.float64], dict(shape=(None, None))],
    Annotated[NDArray[numpy.float64], dict(shape=(None, None))],
    Annotated[NDArray[numpy.float64], dict(shape=(None, None))],
]: ...
def em_shares(
    rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    n_repetitions: int,
    hard: bool,
    level: str,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """An E-step as the kernels compute it: for tests."""

def average_posteriors(
    scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    node_starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    log_prior: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
def fit_tree(
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    sums: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    scales: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    left_out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    path_indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    path_nodes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_nodes: int,
    groups: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    group_indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_iterations: int,
    n_weight_steps: int,
    tempering: float,
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.float64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.float64], dict(shape=(None,))],
]: ...
@overload
def fold_in(
    tempered: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    beta: float,
    n_steps: int,
    mixtures: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
@overload
def fold_in(
    tempered: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    beta: float,
    n_steps: int,
    mixtures: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
@overload
def fold_in(
    tempered: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    beta: float,
    n_steps: int,
    mixtures: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
def plsa_step(
    tempered: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    beta: float,
    mixtures: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    sums: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
def solve_hinge(
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    models: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    offsets: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    n_words: int,
    n_models: int,
    cost: float,
    tolerance: float,
    max_passes: int,
    seed: int,
    least: float,
    n_threads: int,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.float64], dict(shape=(None,))],
]: ...
def hinge_scores(
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    models: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    offsets: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    n_words: int,
    n_models: int,
    costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    other_rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    other_columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    other_values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    tolerance: float,
    max_passes: int,
    seed: int,
    out: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
def checksum(
    bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> int: ...
