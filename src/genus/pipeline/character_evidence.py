"""What n-grams of characters contribute, as contributions of the words that they are in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from genus.base.arrays import Float64, SparseRows, Strings
from genus.text.plan import preprocessor

Spread = dict[str, tuple[int, float]]  # each word's count and contribution

_PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~«»„“”‚‘’…"


def spread_over_words(vectorizer: Any, text: str, counts: SparseRows, values: Float64) -> Spread:
    """The contributions of a text's n-grams of characters, for each of its words."""
    if vectorizer.analyzer == "char_wb":
        return _joined(_within_words(vectorizer, text, counts, values))
    return _joined(_across_words(vectorizer, text, counts, values))


def _within_words(vectorizer: Any, text: str, counts: SparseRows, values: Float64) -> Iterable[tuple[str, int, float]]:
    """N-grams are counted word by word, so that the sums agree."""
    per_count = dict(zip(counts.indices.tolist(), (values / counts.data).tolist(), strict=True))
    pieces: dict[str, int] = {}
    for piece in text.split():
        pieces[piece] = pieces.get(piece, 0) + 1
    rows, _ = vectorizer._transform_rows(list(pieces))
    for i, (piece, n) in enumerate(pieces.items()):
        row = slice(int(rows.indptr[i]), int(rows.indptr[i + 1]))
        value = sum(x * per_count[c] for c, x in zip(rows.indices[row].tolist(), rows.data[row].tolist(), strict=True))
        yield piece, n, n * value


def _across_words(vectorizer: Any, text: str, counts: SparseRows, values: Float64) -> Iterable[tuple[str, int, float]]:
    """A word contributes what its characters do, and the spaces behind it."""
    text = re.sub(r"\s\s+", " ", preprocessor(vectorizer.lowercase, vectorizer.strip_accents)(text))
    space = np.array([c.isspace() for c in text], dtype=bool)
    begins = ~space & np.append(True, space)[:-1]
    word = np.maximum(np.cumsum(begins) - 1, 0)
    pieces = text.split() or [text]
    totals = np.bincount(word, weights=_by_character(vectorizer, text, counts, values), minlength=len(pieces))
    return ((piece, 1, total) for piece, total in zip(pieces, totals.tolist(), strict=True))


def _by_character(vectorizer: Any, text: str, counts: SparseRows, values: Float64) -> Float64:
    """What each character contributes: of every n-gram that it is in, an n-th."""
    low, high = vectorizer.ngram_range
    sizes = range(low, min(high, len(text)) + 1)
    columns = [vectorizer._columns_of(Strings.pack(text[i : i + n] for i in range(len(text) - n + 1))) for n in sizes]
    worth = np.zeros(vectorizer.n_columns_ + 1)  # of an n-gram, each time; the last is for unknown ones
    worth[counts.indices] = values
    for column, times in Counter(np.concatenate([*columns, counts.indices[:0]]).tolist()).items():
        worth[column] /= times
    found = np.zeros(len(text))
    for n, own in zip(sizes, columns, strict=True):
        for k in range(n):
            found[k : k + len(own)] += worth[own] / n
    return found


def _joined(pieces: Iterable[tuple[str, int, float]]) -> Spread:
    """Pieces that are the same word, but for case and punctuation, together."""
    words: Spread = {}
    for piece, n, value in pieces:
        name = piece.strip(_PUNCTUATION).lower() or piece
        before = words.get(name, (0, 0.0))
        words[name] = (before[0] + n, before[1] + value)
    return words
