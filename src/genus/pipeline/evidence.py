"""What a text says to one classifier, as parts that add up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from genus.base.arrays import Float64, Int32, SparseRows
from genus.explain import DocumentEvidence, NodeEvidence, WordEvidence
from genus.pipeline.character_evidence import spread_over_words


class Evidence(NamedTuple):
    """What a text says for one class against another, in parts that add up to the log odds."""

    prior: float
    words: tuple[WordEvidence, ...]
    remainder: float
    documents: tuple[DocumentEvidence, ...]
    nodes: tuple[NodeEvidence, ...]
    n_unknown: int
    n_words: int
    typicality: float | None = None  # where a pool has learned what is usual


def evidence_of(parts: Any, text: str, counted: tuple[SparseRows, Int32], chosen: int, rival: int) -> Evidence:
    """What a text, as it is counted, says to `genus.pipeline.single.Parts` for one class (by number) against another."""
    counts, unknown = counted
    rows, model = parts.weighted(counts), parts.model
    bias, contributions = model._log_evidence(rows, [chosen, rival])
    words = name_words(parts.vectorizer, text, counts, contributions[:, 0] - contributions[:, 1])
    remainder = 0.0
    if hasattr(model, "_remainder") and chosen != rival:  # a class is a mixture
        rest = model._remainder(rows, [chosen, rival])
        remainder = float(rest[0] - rest[1])
    if len(words) == len(rows.indices):
        words = _with_sources(model, rows, chosen, words)
    n_unknown = int(unknown[0])
    return Evidence(
        float(bias[0] - bias[1]),
        tuple(words),
        remainder,
        _documents(model, rows),
        _nodes(parts, rows, chosen),
        n_unknown,
        n_unknown + int(counts.data.sum()),
    )


def _with_sources(model: Any, rows: SparseRows, c: int, words: list[WordEvidence]) -> list[WordEvidence]:
    """Where each word's probability comes from, in models that know: documents, or levels of a tree."""
    if hasattr(model, "_sources"):
        words = [
            replace(word, sources=tuple(s)) for word, s in zip(words, model._sources(rows, c).tolist(), strict=True)
        ]
    if hasattr(model, "_levels"):
        words = [replace(word, levels=found) for word, found in zip(words, model._levels(rows, c), strict=True)]
    return words


def _documents(model: Any, rows: SparseRows) -> tuple[DocumentEvidence, ...]:
    if not hasattr(model, "_document_evidence"):
        return ()
    found = model._document_evidence(rows, 5)
    return tuple(DocumentEvidence(number, model.classes_[c].item(), share) for number, c, share in found)


def _nodes(parts: Any, rows: SparseRows, c: int) -> tuple[NodeEvidence, ...]:
    if not hasattr(parts.model, "_node_evidence"):
        return ()
    shares = parts.model._node_evidence(rows, c).tolist()
    if len(shares) == 1:
        return ()
    words = [tuple(word for word, _ in parts.named(*found)) for found in parts.model._node_words(c, 3)]
    nodes = [NodeEvidence(i + 1, *node) for i, node in enumerate(zip(shares, words, strict=True))]
    return tuple(sorted(nodes, key=lambda node: -node.share))


def name_words(vectorizer: Any, text: str, counts: SparseRows, contributions: Float64) -> list[WordEvidence]:
    """The words of one row, with what they contribute; n-grams of characters as the words that they are in."""
    if vectorizer.analyzer in ("char", "char_wb"):
        spread = spread_over_words(vectorizer, text, counts, contributions)
        return [WordEvidence(name, float(n), value) for name, (n, value) in spread.items()]
    names = vectorizer._words_of(text, counts.indices)
    parts = zip(names, counts.data.tolist(), contributions.tolist(), strict=True)
    return [WordEvidence(name, count, value) for name, count, value in parts]
