"""Several text classifiers that answer together, with probabilities to trust.

    log P(c | d)  =  sum over members k of  weight_k * T_k(|d|) * score_kc(d)  -  normaliser

T_k is a member's temperature (`genus.calibration`). A pool of one is a calibrated classifier.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from genus import _core
from genus._arrays import Float64, SparseRows, n_threads
from genus._documents import row_sums
from genus.calibration import Temperature
from genus.explain import DocumentEvidence, WordEvidence
from genus.rejection import Rejection


class Evidence(NamedTuple):
    """What a text says for one class against another, in parts that add up to the log odds."""

    prior: float
    words: tuple[WordEvidence, ...]
    remainder: float
    documents: tuple[DocumentEvidence, ...]
    n_unknown: int
    n_words: int


class Pool(BaseEstimator):  # type: ignore[misc]
    """Classifiers of one set of classes, their temperatures and weights, and what is usual among their texts.

    Members are `TextClassifier` objects with a model of their own. Made by `genus.auto`, not by hand.
    """

    def __init__(self) -> None:
        self.members: list[Any] = []
        self.temperatures: list[Temperature] = []
        self.weights: Float64 = np.zeros(0)
        self.rejection: Rejection | None = None

    @classmethod
    def of(
        cls,
        members: Sequence[Any],
        temperatures: Sequence[Temperature],
        weights: Float64,
        rejection: Rejection | None,
    ) -> Pool:
        pool = cls()
        pool.members, pool.temperatures, pool.weights = list(members), list(temperatures), weights
        pool.rejection = rejection
        return pool

    @property
    def classes_(self) -> NDArray[Any]:
        classes: NDArray[Any] = self.members[0].classes_
        return classes

    @property
    def class_count_(self) -> Float64 | None:
        """The documents of each class, where a member counts them."""
        return next((m.model_.class_count_ for m in self.members if hasattr(m.model_, "class_count_")), None)

    @property
    def of_words(self) -> Any:
        """The first member that counts words, or the first."""
        return next((m for m in self.members if m.vectorizer_.analyzer == "word"), self.members[0])

    # Answers

    def scores(self, texts: Any) -> tuple[Float64, Float64]:
        """The pooled scores of the classes, and the share of each text's words that the first member knows."""
        total: Float64 | None = None
        shares: Float64 | None = None
        for member, temperature, weight in zip(self.members, self.temperatures, self.weights, strict=True):
            counts, unknown = member.vectorizer_._transform_rows(texts)
            lengths = row_sums(counts.indptr, counts.data)
            scores = member.model_._joint_log_likelihood(member._weighted(counts))
            scores *= (weight * temperature.factors(lengths))[:, np.newaxis]
            if total is None or shares is None:
                total, shares = scores, known_shares(lengths, unknown)
            else:
                total += scores
        assert total is not None
        assert shares is not None
        return total, shares

    def log_proba(self, texts: Any) -> Float64:
        scores, _ = self.scores(texts)
        _core.normalize_log_rows(scores, n_threads(self.members[0].n_jobs))
        return scores

    def typicality(self, texts: Any) -> Float64:
        """The share of texts of the known classes that are no more like them than these are."""
        if self.rejection is None:
            raise ValueError("nothing is known of how texts of these classes look: fit again.")
        return self.rejection.typicality(*self.scores(texts))

    # Learning

    def partial_fit(self, texts: Any, labels: Any, sample_weight: Any) -> None:
        """What was chosen and how it is weighed stays; every member learns."""
        for member in self.members:
            member.partial_fit(texts, labels, sample_weight)

    def unlearn(self, texts: Any, labels: Any, sample_weight: Any) -> None:
        first, *others = self.members
        first.unlearn(texts, labels, sample_weight)  # refuses, before anything has changed, what was not learned
        for member in others:
            member.unlearn(texts, labels, sample_weight)

    # Evidence

    def evidence(self, text: str, chosen: int, rival: int) -> Evidence:
        """The members' evidence, each with its part in the sum."""
        parts = []
        for member, temperature, weight in zip(self.members, self.temperatures, self.weights, strict=True):
            counts, _ = member.vectorizer_._transform_rows([text])
            factor = float(weight * temperature.factors(row_sums(counts.indptr, counts.data))[0])
            parts.append((factor, member._evidence(text, chosen, rival)))
        words: dict[str, WordEvidence] = {}
        for factor, part in parts:
            for word in part.words:
                known = words.get(word.word, replace(word, contribution=0.0, sources=None))
                words[word.word] = replace(known, contribution=known.contribution + factor * word.contribution)
        first = parts[0][1]
        return Evidence(
            sum(factor * part.prior for factor, part in parts),
            tuple(words.values()),
            sum(factor * part.remainder for factor, part in parts),
            next((part.documents for _, part in parts if part.documents), ()),
            first.n_unknown,
            first.n_words,
        )

    # Keeping

    def _get_state(self) -> dict[str, Any]:
        return {
            "members": self.members,
            "temperatures": np.array([[t.log_scale, t.length_power] for t in self.temperatures]),
            "weights": self.weights,
            "rejection": None if self.rejection is None else self.rejection.to_state(),
        }

    def _set_state(self, state: Mapping[str, Any]) -> None:
        members, temperatures, weights = state["members"], state["temperatures"], state["weights"]
        rejection = state["rejection"]
        n = len(members) if isinstance(members, list) else 0
        if not n or not all(hasattr(member, "_evidence") for member in members):
            raise ValueError("a pool of classifiers was expected")
        for array, shape in ((temperatures, (n, 2)), (weights, (n,))):
            if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.shape != shape:
                raise ValueError(f"temperatures and weights of {n} members were expected")
        if any(not np.array_equal(member.classes_, members[0].classes_) for member in members):
            raise ValueError("the members of a pool know different classes")
        self.members, self.weights = members, weights
        self.temperatures = [Temperature(float(u), float(v)) for u, v in temperatures]
        self.rejection = None if rejection is None else Rejection.from_state(rejection)


def known_shares(lengths: Float64, unknown: NDArray[Any]) -> Float64:
    """Which share of each text's words is known; 0 for a text without words."""
    return np.asarray(lengths / np.maximum(lengths + unknown, 1.0))


def spread_over_words(vectorizer: Any, text: str, counts: SparseRows, values: Float64) -> dict[str, tuple[int, float]]:
    """What n-grams of characters within words contribute, as contributions of the words that they are in.

    Returns each word's count and contribution. N-grams are counted word by word, so that the sums agree.
    """
    per_count = dict(zip(counts.indices.tolist(), (values / counts.data).tolist(), strict=True))
    pieces: dict[str, int] = {}
    for piece in text.split():
        pieces[piece] = pieces.get(piece, 0) + 1
    rows, _ = vectorizer._transform_rows(list(pieces))
    words: dict[str, tuple[int, float]] = {}
    for i, (piece, n) in enumerate(pieces.items()):
        row = slice(int(rows.indptr[i]), int(rows.indptr[i + 1]))
        value = sum(x * per_count[c] for c, x in zip(rows.indices[row].tolist(), rows.data[row].tolist(), strict=True))
        name = piece.strip(_PUNCTUATION).lower() or piece
        before = words.get(name, (0, 0.0))
        words[name] = (before[0] + n, before[1] + n * value)
    return words


_PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~«»„“”‚‘’…"
