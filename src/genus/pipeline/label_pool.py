"""Sets of labels: refined scores for each label and feature set, neighbours, and sets best for an objective.

    log odds_l(d) = offset_l + sum over feature sets k of w_kl * margin_kl(d) + w_l * log ratio_l(d)

The margins are those of `RefinedNB` without a naive Bayes base, each label against the rest; the log ratio is what the
nearest training documents say (`label_neighbors`). Offsets and w are the likeliest for documents left out
(`genus.auto.label_stacking`). `genus.multilabel.decoding` takes the sets of labels from the probabilities.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator

from genus.base.arrays import Float64, n_threads
from genus.base.label_sets import take_sets
from genus.base.labels import Labels
from genus.base.rows import SparseRows
from genus.base.score_table import ScoreTable
from genus.explain import DocumentEvidence
from genus.multilabel.decoding import OBJECTIVES, LabelDecoder
from genus.pipeline.evidence import Evidence, name_words
from genus.pipeline.label_neighbors import N_NEIGHBORS, LabelNeighbors
from genus.text.vectorizer import Vectorizer
from genus.text.weighting import TermWeighting

_SHOWN = 5  # neighbours in an explanation


@dataclass(frozen=True)
class LabelMember:
    """A feature set of the texts and what its words add to each label's margin."""

    name: ClassVar[str] = "a margin for each label"
    settings: ClassVar[dict[str, Any]] = {}

    vectorizer: Vectorizer
    weighting: TermWeighting
    table: ScoreTable

    def rows(self, texts: Any) -> SparseRows:
        return self.weighting._transform_rows(self.vectorizer._transform_rows(texts)[0])

    def margins(self, rows: SparseRows, threads: int) -> Float64:
        return self.table.scores(rows, threads)


@dataclass(frozen=True)
class NearMember:
    """The nearest training texts, as a member of the pool is described."""

    name: ClassVar[str] = "the nearest texts"
    settings: ClassVar[dict[str, Any]] = {"n_neighbors": N_NEIGHBORS}

    vectorizer: Vectorizer


class LabelPool(BaseEstimator):  # type: ignore[misc]
    """Feature sets whose margins, and neighbours, add up to the log odds of labels. Made by `genus.auto`."""

    def __init__(self) -> None:
        self.members: list[LabelMember] = []
        self.neighbors: LabelNeighbors | None = None  # in the first feature set
        self.labels: Labels = np.zeros(0, dtype=np.int64)
        self.offsets: Float64 = np.zeros(0)  # of each label: what the log odds are without a word
        self.weights: Float64 = np.zeros((0, 0))  # of each source and label
        self.decoder = LabelDecoder()
        self.n_jobs: int | None = None

    def log_odds(self, texts: Any) -> Float64:
        """Of each label: (n_texts, n_labels)."""
        threads = n_threads(self.n_jobs)
        feature_sets = [member.rows(texts) for member in self.members]
        odds = np.broadcast_to(self.offsets, (feature_sets[0].n_rows, len(self.labels))).copy()
        for member, weights, rows in zip(self.members, self.weights, feature_sets, strict=False):
            odds += weights * member.margins(rows, threads)
        if self.neighbors is not None:
            odds += self.weights[-1] * self.neighbors.log_ratios(feature_sets[0], threads)
        return odds

    def log_proba(self, texts: Any) -> Float64:
        """log of the probability that a text has each label."""
        return -np.logaddexp(0, -self.log_odds(texts))

    def answers(self, texts: Any) -> list[set[Any]]:
        """The set of labels of each text."""
        chosen = self.decoder.predict(expit(self.log_odds(texts)))
        labels = self.labels.tolist()
        return [{labels[i] for i in np.flatnonzero(row)} for row in chosen]

    def answer_one(self, text: str) -> set[Any]:
        return self.answers([text])[0]

    def top(self, texts: Any, k: int) -> tuple[NDArray[Any], Float64]:
        log_proba = self.log_proba(texts)
        order = np.argsort(-log_proba, axis=1, kind="stable")[:, :k]
        return self.labels[order], np.exp(np.take_along_axis(log_proba, order, axis=1))

    def weighted_members(self) -> list[tuple[LabelMember | NearMember, float]]:
        """The members, the neighbours among them, each with its mean weight over labels."""
        near = [] if self.neighbors is None else [NearMember(self.vectorizer)]
        return list(zip([*self.members, *near], self.weights.mean(axis=1).tolist(), strict=True))

    def evidence(self, text: str, label: int, rival: int) -> Evidence:
        """What a text says for a label, whatever the others."""
        words: dict[str, Any] = {}
        prior = float(self.offsets[label])
        n_unknown = n_words = 0
        for k, (member, weight) in enumerate(zip(self.members, self.weights[:, label].tolist(), strict=False)):
            counts, unknown = member.vectorizer._transform_rows([text])
            row = member.weighting._transform_rows(counts)
            ids = np.array([label])
            values = [x * member.table.evidence(int(w), ids)[0] for w, x in zip(row.indices, row.data, strict=True)]
            prior += float(weight * member.table.bias[label])
            for word in name_words(member.vectorizer, text, counts, weight * np.array(values, dtype=np.float64)):
                words[word.word] = word.plus(words[word.word].contribution) if word.word in words else word
            if k == 0:
                n_unknown, n_words = int(unknown[0]), int(unknown[0]) + int(counts.data.sum())
        terms, documents = self._near_evidence(text, label)
        return Evidence(prior, tuple(words.values()), terms, documents, (), n_unknown, n_words)

    def _near_evidence(self, text: str, label: int) -> tuple[dict[str, float], tuple[DocumentEvidence, ...]]:
        """What the neighbours add, and the nearest of them."""
        if self.neighbors is None:
            return {}, ()
        rows, labels = self.members[0].rows([text]), self.labels.tolist()
        numbers, shares = (found[0, :_SHOWN].tolist() for found in self.neighbors.nearest(rows, 1))
        sets = take_sets(self.neighbors.sets, np.array(numbers, dtype=np.int64))
        named = [" + ".join(str(labels[i]) for i in sets.members[a:b]) for a, b in pairwise(sets.indptr.tolist())]
        documents = (DocumentEvidence(*each) for each in zip(numbers, named, shares, strict=True) if each[2] > 0)
        added = self.weights[-1, label] * self.neighbors.log_ratios(rows, 1)[0, label]
        return {"choice of documents": float(added)}, tuple(documents)

    def top_words(self, label: int, n: int) -> list[tuple[str, float]]:
        """The words that add most to a label's log odds, by the first feature set."""
        member = self.members[0]
        cells = np.flatnonzero(member.table.classes == label)
        best = cells[np.argsort(-member.table.values[cells], kind="stable")[:n]]
        columns = np.searchsorted(member.table.indptr, best, side="right") - 1
        words = member.vectorizer._words
        return [(words.at(int(c)), float(v)) for c, v in zip(columns, member.table.values[best], strict=True)]

    @property
    def classes_(self) -> Labels:
        return self.labels

    # Where a single classifier has its parts

    name = "a pool for sets of labels"
    exclusive = False  # a label does not shut out others
    weighting = None
    learns_online = False

    @property
    def model(self) -> LabelPool:
        return self

    @property
    def vectorizer(self) -> Vectorizer:
        return self.members[0].vectorizer

    def leave_one_out(self, texts: Any, labels: Any, sample_weight: Any) -> NoReturn:
        raise ValueError("a pool cannot leave texts out exactly; leaderboard_ has its scores on texts left out.")

    def partial_fit(self, texts: Any, labels: Any, sample_weight: Any) -> None:
        raise ValueError("sets of labels are learned all at once: fit again.")

    def unlearn(self, texts: Any, labels: Any, sample_weight: Any) -> None:
        raise ValueError("sets of labels are learned all at once: fit again, without these texts.")

    def answer_nodes(self, texts: Any, level: int | None, min_proba: float | None) -> NoReturn:
        raise ValueError("sets of labels have no tree of classes.")

    def typicality(self, texts: Any) -> Float64:
        raise ValueError("a text of none of these has an empty set of labels, or improbable ones: see predict_proba.")

    # Keeping

    def _get_state(self) -> dict[str, Any]:
        return {
            "labels": self.labels,
            "offsets": self.offsets,
            "weights": self.weights,
            "neighbors": None if self.neighbors is None else self.neighbors.to_state(),
            "decoder": self.decoder.objective,
            "at_least_one": self.decoder.at_least_one,
            "thresholds": getattr(self.decoder, "thresholds_", np.zeros(len(self.labels))),
            "members": [
                {
                    "vectorizer": m.vectorizer,
                    "weighting": m.weighting,
                    **{f"table_{name}": getattr(m.table, name) for name in m.table.__dataclass_fields__},
                }
                for m in self.members
            ],
        }

    def _set_state(self, state: Mapping[str, Any]) -> None:
        members = [_member(part) for part in state["members"]]
        labels, offsets, weights, thresholds = (state[name] for name in ("labels", "offsets", "weights", "thresholds"))
        n = len(labels)
        if not isinstance(labels, np.ndarray) or labels.ndim != 1 or not n or state["decoder"] not in OBJECTIVES:
            raise ValueError("labels and a decoder were expected")
        near = state["neighbors"]
        n_sources = len(members) + (near is not None)
        for array, shape in ((offsets, (n,)), (weights, (n_sources, n)), (thresholds, (n,))):
            if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.shape != shape:
                raise ValueError("offsets, weights and thresholds do not fit the labels")
        if not members or any(len(m.table.bias) != n for m in members):
            raise ValueError("the score tables do not fit the labels")
        n_words = len(members[0].weighting.document_frequency_)
        self.neighbors = None if near is None else LabelNeighbors.from_state(near, n_words, n)
        self.members, self.labels, self.offsets, self.weights = members, labels, offsets, weights
        self.decoder = LabelDecoder(state["decoder"], at_least_one=bool(state["at_least_one"]))
        self.decoder.n_labels_, self.decoder.thresholds_ = n, thresholds


def _member(part: Any) -> LabelMember:
    vectorizer, weighting = part["vectorizer"], part["weighting"]
    table = ScoreTable(**{name: part[f"table_{name}"] for name in ScoreTable.__dataclass_fields__})
    table.check_shapes()
    if not isinstance(vectorizer, Vectorizer) or not isinstance(weighting, TermWeighting):
        raise ValueError("a vectorizer and a weighting were expected")
    if not len(table.bias) == len(table.log_uniform) == len(table.log_prior):
        raise ValueError("the score table's parts are of different length")
    return LabelMember(vectorizer, weighting, table)
