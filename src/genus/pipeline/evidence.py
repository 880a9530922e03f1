"""What a text says to one classifier, as parts that add up."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genus.base.arrays import Float64, Int32, Strings
from genus.base.protocol import HasTree, Model, TellsDocuments, TellsNodes, TellsSources, offers
from genus.base.rows import SparseRows
from genus.explain import DocumentEvidence, NodeEvidence, WordEvidence
from genus.pipeline.vector_reader import VectorReader
from genus.text.plan import preprocessor

if TYPE_CHECKING:
    from genus.pipeline.single import TextPipeline
    from genus.text.vectorizer import Vectorizer


class Evidence(NamedTuple):
    """What a text says for one class against another, in parts that add up to the log odds."""

    prior: float
    words: tuple[WordEvidence, ...]
    terms: dict[str, float]  # what else counts, by name
    documents: tuple[DocumentEvidence, ...]
    nodes: tuple[NodeEvidence, ...]
    n_unknown: int
    n_words: int
    typicality: float | None = None  # where a pool has learned what is usual


def sum_terms(parts: Iterable[tuple[float, Mapping[str, float]]]) -> dict[str, float]:
    """Terms of several classifiers, each times its factor, summed by name."""
    sums: dict[str, float] = {}
    for factor, terms in parts:
        for name, value in terms.items():
            sums[name] = sums.get(name, 0.0) + factor * value
    return sums


def evidence_of(parts: Any, text: str, counted: tuple[SparseRows, Int32], chosen: int, rival: int) -> Evidence:
    """What a text, as it is counted, says to a `TextPipeline` for one class (by number) against another."""
    if isinstance(parts.vectorizer, VectorReader):
        return _vector_evidence(parts.model, parts.vectorizer, text, counted, [chosen, rival])
    counts, unknown = counted
    rows, model = parts.weighted(counts), parts.model
    bias, contributions = model._log_evidence(rows, [chosen, rival])
    difference = contributions[:, 0] - contributions[:, 1]
    words = name_words(parts.vectorizer, text, counts, difference)
    # A class against itself has no odds, though a term of it may be infinite.
    terms = model._evidence_terms(rows, [chosen, rival]) if chosen != rival else {}
    if len(words) == len(rows.indices):
        words = _with_sources(model, rows, chosen, words)
    n_unknown = int(unknown[0])
    return Evidence(
        float(bias[0] - bias[1]),
        tuple(words),
        {name: float(values[0] - values[1]) for name, values in terms.items()},
        _documents(model, rows),
        _nodes(parts, rows, chosen),
        n_unknown,
        n_unknown + int(counts.data.sum()),
    )


def _vector_evidence(
    model: Any, reader: VectorReader, text: str, counted: tuple[SparseRows, Int32], classes: list[int]
) -> Evidence:
    """What the words of a text say by their vectors, or the text's vector as one term where it has no parts."""
    rows, unknown = counted
    n_unknown = int(unknown[0])
    bias, contributions = model._log_evidence(rows, classes)
    prior, whole = float(bias[0] - bias[1]), float((contributions[:, 0] - contributions[:, 1]).sum())
    slopes = model.coef_[classes[0]] - model.coef_[classes[1]]
    words = reader.word_evidence(text, slopes, model.center_) if rows.data.any() else []
    if words is None:
        return Evidence(prior, (), {"the text's vector": whole}, (), (), n_unknown, n_unknown)
    # The parts are rounded to single precision, as the vector is: what they lack of its contributions is theirs alike.
    lack = (whole - sum(word.contribution for word in words)) / max(len(words), 1)
    words = [word.plus(lack) for word in words]
    n_words = n_unknown + sum(round(word.count) for word in words if " " not in word.word)
    return Evidence(prior, tuple(words), {}, (), (), n_unknown, n_words)


def _with_sources(model: Model, rows: SparseRows, c: int, words: list[WordEvidence]) -> list[WordEvidence]:
    """Where each word's probability comes from, in models that know: documents, or levels of a tree."""
    if offers(model, TellsSources):
        words = [
            replace(word, sources=tuple(s)) for word, s in zip(words, model._sources(rows, c).tolist(), strict=True)
        ]
    if offers(model, HasTree):
        words = [replace(word, levels=found) for word, found in zip(words, model._levels(rows, c), strict=True)]
    return words


def _documents(model: Model, rows: SparseRows) -> tuple[DocumentEvidence, ...]:
    if not offers(model, TellsDocuments):
        return ()
    found = model._document_evidence(rows, 5)
    return tuple(DocumentEvidence(number, model.classes_[c].item(), share) for number, c, share in found)


def _nodes(parts: TextPipeline, rows: SparseRows, c: int) -> tuple[NodeEvidence, ...]:
    if not offers(parts.model, TellsNodes):
        return ()
    shares = parts.model._node_evidence(rows, c).tolist()
    if len(shares) == 1:
        return ()
    words = [tuple(word for word, _ in parts.named(*found)) for found in parts.model._node_words(c, 3)]
    nodes = [NodeEvidence(i + 1, *node) for i, node in enumerate(zip(shares, words, strict=True))]
    return tuple(sorted(nodes, key=lambda node: -node.share))


def name_words(vectorizer: Vectorizer, text: str, counts: SparseRows, contributions: Float64) -> list[WordEvidence]:
    """The words of one row, with what they contribute; n-grams of characters as the words that they are in."""
    if vectorizer.analyzer in ("char", "char_wb"):
        spread = spread_over_words(vectorizer, text, counts, contributions)
        return [WordEvidence(name, float(n), value) for name, (n, value) in spread.items()]
    names = vectorizer._words_of(text, counts.indices)
    parts = zip(names, counts.data.tolist(), contributions.tolist(), strict=True)
    return [WordEvidence(name, count, value) for name, count, value in parts]


Spread = dict[str, tuple[int, float]]  # each word's count and contribution


_PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~«»„“”‚‘’…"


def spread_over_words(vectorizer: Vectorizer, text: str, counts: SparseRows, values: Float64) -> Spread:
    """The contributions of a text's n-grams of characters, for each of its words."""
    if vectorizer.analyzer == "char_wb":
        return _joined(_within_words(vectorizer, text, counts, values))
    return _joined(_across_words(vectorizer, text, counts, values))


def _within_words(
    vectorizer: Vectorizer, text: str, counts: SparseRows, values: Float64
) -> Iterable[tuple[str, int, float]]:
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


def _across_words(
    vectorizer: Vectorizer, text: str, counts: SparseRows, values: Float64
) -> Iterable[tuple[str, int, float]]:
    """A word contributes what its characters do, and the spaces behind it."""
    text = re.sub(r"\s\s+", " ", preprocessor(vectorizer.lowercase, vectorizer.strip_accents)(text))
    space = np.array([c.isspace() for c in text], dtype=bool)
    begins = ~space & np.append(True, space)[:-1]
    word = np.maximum(np.cumsum(begins) - 1, 0)
    pieces = text.split() or [text]
    totals = np.bincount(word, weights=_by_character(vectorizer, text, counts, values), minlength=len(pieces))
    return ((piece, 1, total) for piece, total in zip(pieces, totals.tolist(), strict=True))


def _by_character(vectorizer: Vectorizer, text: str, counts: SparseRows, values: Float64) -> Float64:
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
