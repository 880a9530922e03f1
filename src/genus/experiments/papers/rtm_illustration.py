"""Tables 1 and 2 of the relevance-based topic model's paper: five documents, and the topics found in them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from genus.base.arrays import Float64
from genus.base.rows import to_rows
from genus.experiments.harness.table import Measured
from genus.models.relevance.sampler import Chains, LabelledRows
from genus.text.vectorizer import Vectorizer

OVERLAP = "table 2"

DOCUMENTS = (
    "artifici intellig machin learn machin learn train nlp nlp nlp",
    "artifici intellig machin learn machin learn train speech speech speech speech recogni recogni recogni "
    "wave wave wave",
    "intellig data mine data mine classif cluster",
    "artifici intellig data mine data mine time seri",
    "artifici intellig data mine data mine classif cluster biomed biomed",
)
CLASSES = np.array([1, 1, 0, 0, 0], dtype=np.int32)  # ML, DM


@dataclass(frozen=True)
class Topic:
    """A column of table 2: the printed topic, and which of our topics it corresponds to."""

    place: tuple[str, int]
    printed: dict[str, float]

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        return 15, 2, len(DOCUMENTS), 0


TOPICS = {
    "ML": Topic(
        ("class", 1),
        {"learn": 0.32, "machin": 0.31, "train": 0.16, "intellig": 0.06, "artifici": 0.05, "speech": 0.03,
         "recogni": 0.03, "wave": 0.02, "nlp": 0.02},
    ),
    "DM": Topic(
        ("class", 0),
        {"mine": 0.31, "data": 0.30, "cluster": 0.12, "classif": 0.11, "intellig": 0.08, "artifici": 0.04,
         "biomed": 0.02, "time": 0.01, "seri": 0.01},
    ),
    "background": Topic(
        ("background", 0),
        {"intellig": 0.34, "artifici": 0.30, "machin": 0.06, "learn": 0.05, "data": 0.05, "mine": 0.05,
         "train": 0.03, "classif": 0.03, "cluster": 0.03},
    ),
    "own of 1": Topic(
        ("own", 0),
        {"nlp": 0.82, "machin": 0.07, "learn": 0.06, "train": 0.02, "intellig": 0.01, "artifici": 0.01},
    ),
    "own of 2": Topic(
        ("own", 1),
        {"speech": 0.38, "wave": 0.28, "recogni": 0.28, "machin": 0.02, "learn": 0.02, "train": 0.01,
         "intellig": 0.004, "artifici": 0.003},
    ),
    "own of 5": Topic(
        ("own", 4),
        {"biomed": 0.75, "classif": 0.10, "cluster": 0.09, "artifici": 0.03, "mine": 0.01, "data": 0.01,
         "intellig": 0.01},
    ),
}  # fmt: skip


@lru_cache(4)
def distributions(alpha: float, beta: float, seed: int) -> tuple[dict[tuple[str, int], Float64], list[str]]:
    """All topics, averaged over the second half of 200 sweeps of 100 chains, and the words."""
    vectorizer = Vectorizer()
    rows = to_rows(vectorizer.fit_transform(DOCUMENTS))
    documents = LabelledRows.from_rows(rows, np.arange(len(DOCUMENTS)), CLASSES, 2)
    chains = Chains(documents, rows.n_columns, alpha=alpha, beta=beta, n_chains=100, seed=seed, n_threads=1)
    sums: dict[tuple[str, int], Float64] = {}
    for sweep in range(200):
        chains.sweep()
        for place, counts in _counts(chains).items() if sweep >= 100 else ():
            sums[place] = sums.get(place, 0) + (counts + beta) / (counts + beta).sum(axis=1, keepdims=True)
    means = {place: total.mean(axis=0) / 100 for place, total in sums.items()}
    return means, vectorizer.get_feature_names_out().tolist()


def _counts(chains: Chains) -> dict[tuple[str, int], Float64]:
    """The tokens of every topic: (n_chains, n_words)."""
    counts = {("background", 0): chains.background / 2.0**36}
    words, documents = chains.words, chains.documents
    for c in range(2):
        own = slice(words.starts[c], words.starts[c + 1])
        counts["class", c] = np.zeros((chains.n_chains, chains.n_words))
        counts["class", c][:, words.words[own]] = chains.topics[:, own] / 2.0**36
    for i, d in enumerate(documents.order.tolist()):
        entries = slice(documents.entry_starts[i], documents.entry_starts[i + 1])
        counts["own", d] = np.zeros((chains.n_chains, chains.n_words))
        columns = documents.indices[documents.indptr[d] : documents.indptr[d + 1]]
        counts["own", d][:, columns] = chains.own[:, entries]
    return counts


def measure_overlap(alpha: float, beta: float, topic: Topic, settings: Any) -> Measured:
    """1 - (1/2) * sum over words w of |p(w) - printed p(w)|, the overlap with the printed topic; and the top words."""
    found, words = distributions(alpha, beta, settings.seed)
    ours = found[topic.place]
    printed = np.array([topic.printed.get(word, 0.0) for word in words])
    variation = 0.5 * np.abs(ours - printed / printed.sum()).sum()
    best = {words[w]: round(float(ours[w]), 2) for w in np.argsort(-ours)[:5]}
    return Measured(float(1 - variation), None, {"alpha": alpha, "beta": beta} | best, 1)
