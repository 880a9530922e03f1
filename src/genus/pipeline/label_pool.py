"""Sets of labels: refined scores for each label and feature set, neighbours, and sets best for an objective.

    log odds_l(d) = offset_l + sum over feature sets k of w_kl * margin_kl(d) + w_l * log ratio_l(d)

The margins are those of `RefinedNB` without a naive Bayes base, each label against the rest; the log ratio is what the
nearest training documents say (`label_neighbors`). Offsets and w are the likeliest for documents left out
(`genus.auto.label_stacking`). `genus.multilabel.decoding` takes the sets of labels from the probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, NoReturn

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from genus.base.arrays import Float64, Int64, n_threads
from genus.base.label_sets import take_sets
from genus.base.labels import Labels
from genus.base.protocol import BaseEstimator, Label, Params, State
from genus.base.rows import SparseRows
from genus.base.score_table import ScoreTable
from genus.base.tuning import TUNED
from genus.explain import DocumentEvidence, WordEvidence
from genus.multilabel.decoding import OBJECTIVES, LabelDecoder
from genus.pipeline.evidence import Evidence, name_words
from genus.pipeline.label_neighbors import LabelNeighbors
from genus.pipeline.protocol import ChooseClasses
from genus.pipeline.single import TextPipeline
from genus.text.inputs import Texts, as_texts
from genus.text.vectorizer import Vectorizer
from genus.text.weighting import TermWeighting

_SHOWN = 5  # neighbours in an explanation


@dataclass(frozen=True)
class LabelMember:
    """A feature set of the texts and what its words add to each label's margin."""

    name: ClassVar[str] = "a margin for each label"
    settings: ClassVar[Params] = {}

    vectorizer: Vectorizer
    weighting: TermWeighting
    table: ScoreTable

    def rows(self, texts: Texts) -> SparseRows:
        return self.weighting._transform_rows(self.vectorizer._transform_rows(texts)[0])

    def margins(self, rows: SparseRows, threads: int) -> Float64:
        return self.table.scores(rows, threads)


@dataclass(frozen=True)
class NearMember:
    """The nearest training texts, as a member of the pool is described."""

    name: ClassVar[str] = "the nearest texts"
    settings: ClassVar[Params] = {"n_neighbors": TUNED.n_neighbors}

    vectorizer: Vectorizer


class LabelPool(BaseEstimator):
    """Feature sets whose margins, and neighbours, add up to the log odds of labels. Made by `genus.auto`."""

    def __init__(self) -> None:
        self.members: list[LabelMember] = []
        self.neighbors: LabelNeighbors | None = None  # in the first feature set
        self.labels: Labels = np.zeros(0, dtype=np.int64)
        self.offsets: Float64 = np.zeros(0)  # of each label: what the log odds are without a word
        self.weights: Float64 = np.zeros((0, 0))  # of each source and label
        self.decoder = LabelDecoder()
        self.n_jobs: int | None = None

    def log_odds(self, texts: Texts) -> Float64:
        """Of each label: (n_texts, n_labels)."""
        threads = n_threads(self.n_jobs)
        given = as_texts(texts)  # which may be read once only
        rows = [member.rows(given) for member in self.members]
        near = None if self.neighbors is None else self.neighbors.log_ratios(rows[0], threads)
        return self._stacked(rows, near, threads)

    def _stacked(self, rows: Sequence[SparseRows], near: Float64 | None, threads: int) -> Float64:
        """The log odds, from the rows of each member and the log ratios of the neighbours."""
        odds = np.broadcast_to(self.offsets, (rows[0].n_rows, len(self.labels))).copy()
        for member, weights, own in zip(self.members, self.weights, rows, strict=False):
            odds += weights * member.margins(own, threads)
        if near is not None:
            odds += self.weights[-1] * near
        return odds

    def log_proba(self, texts: Texts) -> Float64:
        """log of the probability that a text has each label."""
        return -np.logaddexp(0, -self.log_odds(texts))

    def answers(self, texts: Texts, reject: float | None = None) -> list[set[Label]]:
        """The set of labels of each text."""
        self._refuse(texts, reject)
        chosen = self.decoder.predict(expit(self.log_odds(texts)))
        labels = self.labels.tolist()
        return [{labels[i] for i in np.flatnonzero(row)} for row in chosen]

    def answer_one(self, text: str) -> set[Label]:
        return self.answers([text])[0]

    def top(self, texts: Texts, k: int, reject: float | None = None) -> tuple[Labels, Float64]:
        self._refuse(texts, reject)
        log_proba = self.log_proba(texts)
        order = np.argsort(-log_proba, axis=1, kind="stable")[:, :k]
        return self.labels[order], np.exp(np.take_along_axis(log_proba, order, axis=1))

    def weighted_members(self) -> list[tuple[LabelMember | NearMember, float]]:
        """The members, the neighbours among them, each with its mean weight over labels."""
        near = [] if self.neighbors is None else [NearMember(self.vectorizer)]
        return list(zip([*self.members, *near], self.weights.mean(axis=1).tolist(), strict=True))

    def explained(self, text: str, choose: ChooseClasses) -> tuple[Float64, Evidence]:
        """What a text says for a label, whatever the others."""
        counted = [member.vectorizer._transform_rows([text]) for member in self.members]
        rows = [member.weighting._transform_rows(c) for member, (c, _) in zip(self.members, counted, strict=True)]
        nearest = None if self.neighbors is None else self.neighbors.nearest(rows[0], 1)
        ratios = None
        if self.neighbors is not None and nearest is not None:
            ratios = self.neighbors.ratios(self.neighbors.votes(*nearest))
        log_proba = -np.logaddexp(0, -self._stacked(rows, ratios, 1))[0]
        label = choose(log_proba)[0]
        words: dict[str, WordEvidence] = {}
        prior = float(self.offsets[label])
        weights = self.weights[:, label].tolist()
        for member, weight, (counts, _), row in zip(self.members, weights, counted, rows, strict=False):
            ids = np.array([label])
            values = [x * member.table.evidence(int(w), ids)[0] for w, x in zip(row.indices, row.data, strict=True)]
            prior += float(weight * member.table.bias[label])
            for word in name_words(member.vectorizer, text, counts, weight * np.array(values, dtype=np.float64)):
                words[word.word] = word.plus(words[word.word].contribution) if word.word in words else word
        counts, unknown = counted[0]
        n_unknown = int(unknown[0])
        terms = {} if ratios is None else {"choice of documents": float(weights[-1] * ratios[0, label])}
        documents = () if nearest is None else self._documents(*nearest)
        n_words = n_unknown + int(counts.data.sum())
        return log_proba, Evidence(prior, tuple(words.values()), terms, documents, (), n_unknown, n_words)

    def _documents(self, numbers: Int64, shares: Float64) -> tuple[DocumentEvidence, ...]:
        """The nearest of a text's neighbours, with their labels."""
        assert self.neighbors is not None
        labels, shown = self.labels.tolist(), numbers[0, :_SHOWN]
        sets = take_sets(self.neighbors.sets, shown.astype(np.int64))
        named = [" + ".join(str(labels[i]) for i in sets.members[a:b]) for a, b in pairwise(sets.indptr.tolist())]
        found = zip(shown.tolist(), named, shares[0, :_SHOWN].tolist(), strict=True)
        return tuple(DocumentEvidence(*each) for each in found if each[2] > 0)

    def top_words(self, c: int, n: int) -> list[tuple[str, float]]:
        """The words that add most to a label's log odds, by the first feature set."""
        member = self.members[0]
        cells = np.flatnonzero(member.table.classes == c)
        best = cells[np.argsort(-member.table.values[cells], kind="stable")[:n]]
        columns = np.searchsorted(member.table.indptr, best, side="right") - 1
        words = member.vectorizer._words
        return [(words.at(int(w)), float(v)) for w, v in zip(columns, member.table.values[best], strict=True)]

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
    def pipelines(self) -> list[TextPipeline]:
        return []  # its members have tables of scores, not models

    @property
    def vectorizer(self) -> Vectorizer:
        return self.members[0].vectorizer

    def leave_one_out(self, texts: Texts, labels: Labels, sample_weight: ArrayLike | None) -> NoReturn:
        raise ValueError("a pool cannot leave texts out exactly; leaderboard_ has its scores on texts left out.")

    def writable(self) -> LabelPool:
        return self  # it refuses to learn

    def partial_fit(self, texts: Texts, labels: Labels, sample_weight: ArrayLike | None) -> None:
        raise ValueError("sets of labels are learned all at once: fit again.")

    def unlearn(self, texts: Texts, labels: Labels, sample_weight: ArrayLike | None) -> None:
        raise ValueError("sets of labels are learned all at once: fit again, without these texts.")

    def learn_one(self, text: str, label: Label, weight: float) -> NoReturn:
        raise ValueError("sets of labels are learned all at once: fit again.")

    def unlearn_documents(self, numbers: ArrayLike) -> NoReturn:
        raise ValueError("sets of labels are learned all at once: fit again, without these texts.")

    def answer_nodes(
        self, texts: Texts, level: int | None, min_proba: float | None, reject: float | None = None
    ) -> NoReturn:
        raise ValueError("sets of labels have no tree of classes.")

    def typicality(self, texts: Texts) -> NoReturn:
        raise ValueError("a text of none of these has an empty set of labels, or improbable ones: see predict_proba.")

    def _refuse(self, texts: Texts, reject: float | None) -> None:
        if reject is not None:
            self.typicality(texts)

    # Keeping

    def _get_state(self) -> State:
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

    def _set_state(self, state: State) -> None:
        members = [_member(part) for part in state["members"]]
        labels, offsets, weights, thresholds = (state[name] for name in ("labels", "offsets", "weights", "thresholds"))
        n = len(labels)
        objective = str(state["decoder"]).replace("-", "_")  # "macro-f1" in files of the first releases
        if not isinstance(labels, np.ndarray) or labels.ndim != 1 or not n or objective not in OBJECTIVES:
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
        self.decoder = LabelDecoder(objective, at_least_one=bool(state["at_least_one"]))
        self.decoder.n_labels_, self.decoder.thresholds_ = n, thresholds


def _member(part: State) -> LabelMember:
    vectorizer, weighting = part["vectorizer"], part["weighting"]
    table = ScoreTable.from_state(part)
    if not isinstance(vectorizer, Vectorizer) or not isinstance(weighting, TermWeighting):
        raise ValueError("a vectorizer and a weighting were expected")
    if not len(table.bias) == len(table.log_uniform) == len(table.log_prior):
        raise ValueError("the score table's parts are of different length")
    if not len(table.indptr) - 1 == len(weighting.document_frequency_) == vectorizer.n_columns_:
        raise ValueError("the vectorizer, the weighting and the score table have different numbers of columns")
    return LabelMember(vectorizer, weighting, table)
