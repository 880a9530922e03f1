"""Several text classifiers that answer together, with probabilities to trust.

    z_c(d)        =  sum over members k of  weight_k * T_k(|d|) * score_kc(d)
    log P(c | d)  =  T(margin of z) * z_c(d)  -  normaliser

T_k is a member's temperature, which knows a document's length, and T that of the pool, which knows how far the best
class is ahead of the mean one (`genus.calibration`). A pool of one is a calibrated classifier.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn, TypeGuard, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from genus import _core
from genus.base.arrays import Float64, Int32, Int64, n_threads
from genus.base.labels import Labels
from genus.base.protocol import BaseEstimator, CountsClasses, Label, State
from genus.base.rows import SparseRows, full_rows, row_sums, take_rows
from genus.calibration import Temperature, margin
from genus.explain import WordEvidence
from genus.pipeline.evidence import Evidence, evidence_of, sum_terms
from genus.pipeline.protocol import ChooseClasses
from genus.pipeline.rejection import Rejection
from genus.pipeline.single import TextPipeline, counts_learned, drop_words
from genus.pipeline.vector_reader import Reader, VectorReader
from genus.text.inputs import Texts, as_texts
from genus.text.vectorizer import Vectorizer
from genus.tree.answers import TreeAnswers, check_question
from genus.tree.label_tree import LabelTree, tree_of
from genus.tree.paths import TreePaths


class Counted(NamedTuple):
    """Texts as one vectorizer counts them, or an encoder reads them."""

    rows: SparseRows
    unknown: Int32  # words of each text
    lengths: Float64

    @classmethod
    def from_texts(cls, reader: Reader, texts: Texts) -> Counted:
        if isinstance(reader, VectorReader):
            found = reader.encode(texts)
            return cls(full_rows(found.vectors), found.n_unknown, (found.n_words - found.n_unknown).astype(np.float64))
        rows, unknown = reader._transform_rows(texts)
        return cls(rows, unknown, row_sums(rows.indptr, rows.data))

    def take(self, numbers: Int64) -> Counted:
        """Some of the texts."""
        return Counted(take_rows(self.rows, numbers), self.unknown[numbers], self.lengths[numbers])


class Pool(BaseEstimator):
    """Classifiers of one set of classes, their temperatures and weights, and what is usual among their texts.

    Answers as a `TextPipeline` does; its members are such. Members that read texts alike have one vectorizer: it counts
    a text once for all of them, and learns its words once. Made by `genus.auto`, not by hand.
    """

    def __init__(self) -> None:
        self.members: list[TextPipeline] = []
        self.temperatures: list[Temperature] = []
        self.weights: Float64 = np.zeros(0)
        self.rejection: Rejection | None = None
        self.pool_temperature = Temperature()
        self.prior_corrections: dict[Label, float] = {}  # of the classes' scores, where texts to come have other priors
        self.tree: LabelTree | None = None  # as it was given
        self.descriptions: dict[Label, str] = {}  # that members of vectors have learned, by class
        self.description_weight = 0.0  # of each, in labeled texts

    @classmethod
    def from_members(
        cls,
        members: Sequence[TextPipeline],
        temperatures: Sequence[Temperature],
        weights: Float64,
        rejection: Rejection | None,
        *,
        pool_temperature: Temperature | None = None,
        prior_corrections: Mapping[Label, float] | None = None,
        tree: LabelTree | None = None,
        descriptions: Mapping[Any, str] | None = None,
        description_weight: float = 0.0,
    ) -> Pool:
        pool = cls()
        pool.descriptions, pool.description_weight = dict(descriptions or {}), description_weight
        pool.members, pool.temperatures, pool.weights = list(members), list(temperatures), weights
        pool.rejection, pool.tree = rejection, tree
        pool.pool_temperature, pool.prior_corrections = pool_temperature or Temperature(), dict(prior_corrections or {})
        return pool

    @property
    def classes_(self) -> Labels:
        return self.members[0].classes_

    @property
    def class_count_(self) -> Float64:
        """The documents of each class, by their weights."""
        return cast(CountsClasses, self.members[0].model).class_count_

    @property
    def prior_correction(self) -> Float64:
        """What is added to the score of each class."""
        return np.array([self.prior_corrections.get(label, 0.0) for label in self.classes_.tolist()])

    @property
    def tree_(self) -> LabelTree:
        """The tree that was given, or that of labels which are paths."""
        tree = tree_of(self.tree, self.classes_.tolist())
        if tree is None:
            raise AttributeError("these classes are in no tree")
        return tree

    # Where a single classifier has its parts

    name = "a pool"
    exclusive = True
    weighting = None
    learns_online = False

    @property
    def model(self) -> Pool:
        return self

    @property
    def pipelines(self) -> list[TextPipeline]:
        return self.members

    @property
    def vectorizer(self) -> Reader:
        return self.members[0].vectorizer

    def leave_one_out(self, texts: Texts, labels: Labels, sample_weight: ArrayLike | None) -> NoReturn:
        raise ValueError("a pool cannot leave texts out exactly; leaderboard_ has its scores on texts left out.")

    def learn_one(self, text: str, label: Label, weight: float) -> NoReturn:
        raise ValueError("a pool does not learn online; use partial_fit, or model='dmnb'.")

    def unlearn_documents(self, numbers: ArrayLike) -> NoReturn:
        raise ValueError("the members of a pool do not number their documents alike; use unlearn.")

    def top_words(self, c: int, n: int) -> list[tuple[str, float]]:
        """The strongest words for a class, by the first member that counts words."""
        member = next((m for m in self.members if m.vectorizer.analyzer == "word"), self.members[0])
        return member.top_words(c, n)

    # Answers

    @property
    def vectorizers(self) -> list[Reader]:
        """The members' vectorizers, each once."""
        return list({id(member.vectorizer): member.vectorizer for member in self.members}.values())

    def readers(self, vectorizer: Reader) -> list[TextPipeline]:
        """The members that read by this vectorizer."""
        return [member for member in self.members if member.vectorizer is vectorizer]

    def _counted(self, texts: Texts) -> list[Counted]:
        """Texts as each member counts them."""
        texts = as_texts(texts)
        vectorizers = {id(vectorizer): Counted.from_texts(vectorizer, texts) for vectorizer in self.vectorizers}
        return [vectorizers[id(member.vectorizer)] for member in self.members]

    def _factors(self, counted: Sequence[Counted]) -> list[Float64]:
        """What the scores of each member are multiplied by, for each text."""
        parts = zip(self.weights.tolist(), self.temperatures, counted, strict=True)
        return [weight * temperature.factors(texts.lengths) for weight, temperature, texts in parts]

    def _sums(self, counted: Sequence[Counted]) -> Float64:
        """z: the members' scores added up."""
        total = np.zeros((counted[0].rows.n_rows, len(self.classes_)))
        threads = n_threads(self.vectorizer.n_jobs)
        for member, texts, factors in zip(self.members, counted, self._factors(counted), strict=True):
            scores = member.model._joint_log_likelihood(member.weighted(texts.rows))
            _core.add_scaled_rows(scores, factors, total, threads)
        return total

    def _sharpened(self, sums: Float64) -> Float64:
        """Sums of scores made into scores of the pool, in place."""
        sums *= self.pool_temperature.factors(margin(sums))[:, np.newaxis]
        return sums

    def scores(self, texts: Texts) -> tuple[Float64, Float64]:
        """The pooled scores of the classes, by the learned priors, and each text's share of words that are known.

        Known, that is, to the first member.
        """
        counted = self._counted(texts)
        return self._sharpened(self._sums(counted)), known_shares(counted[0].lengths, counted[0].unknown)

    def log_proba(self, texts: Texts) -> Float64:
        return self._normalized(self.scores(texts)[0])

    def _normalized(self, scores: Float64) -> Float64:
        """log P(c | d) by the stated priors. Scores are changed in place."""
        scores += self.prior_correction
        _core.normalize_log_rows(scores, n_threads(self.vectorizer.n_jobs))
        return scores

    def answers(self, texts: Texts, reject: float | None = None) -> Labels:
        """The most probable label of each text."""
        counted = self._counted(texts)
        atypical = None
        if reject is None and not self.prior_corrections:  # the pool temperature changes no order
            best: NDArray[np.integer] = self._best_classes(counted)
        else:
            sums = self._sums(counted)
            best = sums.argmax(axis=1)
            scores = self._sharpened(sums)
            if self.prior_corrections:
                best = (scores + self.prior_correction).argmax(axis=1)
            if reject is not None:
                atypical = self._typicality(scores, known_shares(counted[0].lengths, counted[0].unknown)) < reject
        return _without(self.classes_[best], atypical)

    def _best_classes(self, counted: Sequence[Counted]) -> Int32:
        """The best class of each text by the members' scores, which are rough first where that is faster."""
        n_texts, threads = counted[0].rows.n_rows, n_threads(self.vectorizer.n_jobs)
        total, distances = np.zeros((n_texts, len(self.classes_))), np.zeros(n_texts)
        for member, texts, factors in zip(self.members, counted, self._factors(counted), strict=True):
            member.model._add_scores(member.weighted(texts.rows), factors, total, distances)
        best: Int32 = _core.best_or_ambiguous(total, distances, threads)
        unclear = np.flatnonzero(best < 0)
        if len(unclear):
            best[unclear] = self._sums([texts.take(unclear) for texts in counted]).argmax(axis=1)
        return best

    def answer_one(self, text: str) -> Any:
        return self.answers([text])[0].item()

    def top(self, texts: Texts, k: int, reject: float | None = None) -> tuple[Labels, Float64]:
        log_proba, atypical = self._log_proba_and_atypical(texts, reject)
        labels, probabilities = top_labels(log_proba, self.classes_, k, self.vectorizer.n_jobs)
        return _without(labels, atypical), probabilities

    def answer_nodes(
        self, texts: Texts, level: int | None, min_proba: float | None, reject: float | None = None
    ) -> tuple[Labels, Float64]:
        """Nodes of the tree: see `genus.models.hierarchical.base`."""
        if not hasattr(self, "tree_"):
            raise ValueError("a pool has no tree of classes unless labels are paths such as 'a/b', or tree= is given.")
        check_question(level, min_proba)
        tree = TreeAnswers(TreePaths.from_tree(self.tree_, self.classes_.tolist()))
        log_proba, atypical = self._log_proba_and_atypical(texts, reject)
        nodes, probabilities = tree.answers(np.exp(log_proba), level, min_proba)
        return _without(tree.named(nodes), atypical), probabilities

    def typicality(self, texts: Texts) -> Float64:
        """The share of texts of the known classes that are no more like them than these are."""
        self._check_rejection()
        return self._typicality(*self.scores(texts))

    def _typicality(self, scores: Float64, known: Float64) -> Float64:
        return self._check_rejection().typicality(scores, known)

    def _check_rejection(self) -> Rejection:
        if self.rejection is None:
            raise ValueError("nothing is known of how texts of these classes look: fit again.")
        return self.rejection

    def _log_proba_and_atypical(self, texts: Texts, reject: float | None) -> tuple[Float64, NDArray[np.bool_] | None]:
        """log P(c | d), and which texts are to be rejected; None where that is not asked for."""
        scores, shares = self.scores(texts)
        atypical = None if reject is None else np.asarray(self._typicality(scores, shares) < reject)
        return self._normalized(scores), atypical

    # Learning

    def writable(self) -> Pool:
        """A copy that can learn while this one answers: nothing that they share is changed."""
        vectorizers = {id(vectorizer): vectorizer._writable() for vectorizer in self.vectorizers}
        pool = copy(self)
        pool.members = [member.reading_by(vectorizers[id(member.vectorizer)]) for member in self.members]
        return pool

    def partial_fit(self, texts: Texts, labels: Labels, sample_weight: ArrayLike | None) -> None:
        """What was chosen and how it is weighed stays; every member learns."""
        self._check_new(labels)
        for member in self.members:
            member.learner  # noqa: B018 (refuses, before anything has changed)
        texts, known = as_texts(texts), self.classes_
        for vectorizer in self.vectorizers:
            counts = vectorizer._partial_fit_rows(texts)
            for member in self.readers(vectorizer):
                member.learn_counts(counts, labels, sample_weight)
        for member, rows, described, weights in self._described(np.setdiff1d(self.classes_, known)):
            member.learn_counts(rows, described, weights)

    def unlearn(self, texts: Texts, labels: Labels, sample_weight: ArrayLike | None) -> None:
        for member in self.members:
            member.unlearner  # noqa: B018 (refuses, before anything has changed)
        texts = as_texts(texts)
        known = self.classes_
        learned = {id(vectorizer): counts_learned(vectorizer, texts) for vectorizer in self.vectorizers}
        unlearned = {}
        for member in self.members:  # the first refuses, before anything has changed, what was not learned
            unlearned[id(member)] = member.unlearn_counts(learned[id(member.vectorizer)], labels, sample_weight)
        for vectorizer in self.vectorizers:
            drop_words(readers := self.readers(vectorizer), [unlearned[id(member)] for member in readers])
        for member, rows, described, weights in self._described(np.setdiff1d(known, self.classes_)):
            member.unlearn_counts(rows, described, weights)

    def _described(self, classes: Labels) -> Iterator[tuple[TextPipeline, SparseRows, Labels, Float64]]:
        """Members that learn descriptions, with those of classes that came or went with their labeled texts."""
        labels = [label for label in classes.tolist() if label in self.descriptions]
        for member in self.members:
            if isinstance(member.vectorizer, VectorReader) and labels:
                rows, _ = member.vectorizer._transform_rows([self.descriptions[label] for label in labels])
                yield member, rows, np.array(labels), np.full(len(labels), self.description_weight)

    def _check_new(self, labels: Labels) -> None:
        """What was stated for each class leaves no room for new ones."""
        new = np.setdiff1d(labels, self.classes_)
        for name, stated in (("tree", self.tree is not None), ("class_prior", bool(self.prior_corrections))):
            if stated and len(new):
                raise ValueError(f"{new[0].item()!r} is a new class, and {name} was given without it: fit again.")

    def weighted_members(self) -> list[tuple[TextPipeline, float]]:
        """The members, each with its weight."""
        return list(zip(self.members, self.weights.tolist(), strict=True))

    # Evidence

    def explained(self, text: str, choose: ChooseClasses) -> tuple[Float64, Evidence]:
        """The members' evidence, each with its part in the sum."""
        correction, counted = self.prior_correction, self._counted([text])
        sums = self._sums(counted)
        pool_temperature = float(self.pool_temperature.factors(margin(sums))[0])
        scores = pool_temperature * sums
        log_proba = self._normalized(scores.copy())[0]
        chosen, rival = choose(log_proba)
        parts = [
            (pool_temperature * float(factors[0]), evidence_of(member, text, (seen.rows, seen.unknown), chosen, rival))
            for member, seen, factors in zip(self.members, counted, self._factors(counted), strict=True)
        ]
        words: dict[str, WordEvidence] = {}
        for factor, part in parts:
            for word in part.words:
                known = words.get(word.word, replace(word, contribution=0.0))
                words[word.word] = known.plus(factor * word.contribution)
        understood = self._understood(text, words)
        counting = next((part for m, (_, part) in zip(self.members, parts, strict=True) if _has_words(m)), parts[0][1])
        share = known_shares(counted[0].lengths, counted[0].unknown)
        return log_proba, Evidence(
            sum(factor * part.prior for factor, part in parts) + float(correction[chosen] - correction[rival]),
            tuple((words | understood).values()),
            sum_terms((factor, part.terms) for factor, part in parts),
            next((part.documents for _, part in parts if part.documents), ()),
            (),
            counting.n_unknown - round(sum(word.count for word in understood.values())),
            counting.n_words,
            None if self.rejection is None else float(self.rejection.typicality(scores, share)[0]),
        )

    def _understood(self, text: str, words: Mapping[str, WordEvidence]) -> dict[str, WordEvidence]:
        """Words that no training text has, but a table of word vectors: with the nearest words of training texts."""
        reader = next((m.vectorizer for m in self.members if isinstance(m.vectorizer, VectorReader)), None)
        vocabulary = next((m.vectorizer for m in self.members if _has_vocabulary(m.vectorizer)), None)
        if reader is None or vocabulary is None:
            return {}
        known = [word for word in reader.words(text) if word in words]
        new = [word for word, n in zip(known, vocabulary._transform_rows(known)[1].tolist(), strict=True) if n]
        nearest = reader.nearest(new, vocabulary._words.unpack()) if new else []
        return {word: replace(words[word], like=like) for word, like in zip(new, nearest, strict=True)}

    # Keeping

    def _get_state(self) -> State:
        vectorizers = self.vectorizers
        place = {id(vectorizer): i for i, vectorizer in enumerate(vectorizers)}
        return {
            "views": vectorizers,
            "members": [member.get_state() | {"vectorizer": place[id(member.vectorizer)]} for member in self.members],
            "temperatures": np.array([[t.log_scale, t.length_power] for t in self.temperatures]),
            "weights": self.weights,
            "sharpness": np.array([self.pool_temperature.log_scale, self.pool_temperature.length_power]),
            "rejection": None if self.rejection is None else self.rejection.to_state(),
            "shifted": np.array(list(self.prior_corrections)),
            "shifts": np.array(list(self.prior_corrections.values()), dtype=np.float64),
            "tree": self.tree,
            "descriptions": self.descriptions,
            "description_weight": self.description_weight,
        }

    def _set_state(self, state: State) -> None:
        members, temperatures, weights = state["members"], state["temperatures"], state["weights"]
        rejection, shifted, shifts, tree = (state[name] for name in ("rejection", "shifted", "shifts", "tree"))
        n = len(members) if isinstance(members, list) else 0
        if not n or not all(isinstance(member, Mapping) for member in members):
            raise ValueError("a pool of classifiers was expected")
        if "views" not in state:
            raise ValueError("it is of a genus that counted texts anew for each member; train it again")
        members = [
            TextPipeline.from_state(member | {"vectorizer": _vectorizer_at(state["views"], member)})
            for member in members
        ]
        pool_temperature = state["sharpness"]
        for array, shape in (
            (temperatures, (n, 2)),
            (weights, (n,)),
            (pool_temperature, (2,)),
            (shifts, np.shape(shifted)[:1]),
        ):
            if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.shape != shape:
                raise ValueError(f"temperatures and weights of {n} members, and shifts of classes, were expected")
        if not (tree is None or (isinstance(tree, LabelTree) and all(c in tree for c in members[0].classes_.tolist()))):
            raise ValueError("a tree of the classes was expected")
        if any(not np.array_equal(member.classes_, members[0].classes_) for member in members):
            raise ValueError("the members of a pool know different classes")
        descriptions, weight = state.get("descriptions", {}), state.get("description_weight", 0.0)
        if not (isinstance(descriptions, dict) and all(isinstance(text, str) for text in descriptions.values())):
            raise ValueError("descriptions of classes were expected")
        if not (isinstance(weight, (int, float)) and weight >= 0):
            raise ValueError("the weight of descriptions must be a number that is not negative")
        self.descriptions, self.description_weight = descriptions, float(weight)
        self.members, self.weights, self.tree = members, weights, tree
        self.pool_temperature = Temperature(*pool_temperature.tolist())
        self.prior_corrections = dict(zip(shifted.tolist(), shifts.tolist(), strict=True))
        self.temperatures = [Temperature(float(u), float(v)) for u, v in temperatures]
        self.rejection = None if rejection is None else Rejection.from_state(rejection)


def _without(labels: Labels, atypical: NDArray[np.bool_] | None) -> Labels:
    """The labels with None as the answer, or the first of several, for texts that are to be rejected."""
    if atypical is None:
        return labels
    answers = labels.astype(object)
    answers[(atypical, 0)[: answers.ndim]] = None
    return answers


def _has_vocabulary(reader: Reader) -> TypeGuard[Vectorizer]:
    return reader.analyzer == "word" and reader.n_hash is None


def _has_words(member: TextPipeline) -> bool:
    """Whether the member reads a text as words, and not as characters."""
    reader = member.vectorizer
    return reader.tells_words if isinstance(reader, VectorReader) else reader.analyzer == "word"


def _vectorizer_at(vectorizers: object, member: Mapping[str, object]) -> Any:
    """The vectorizer of a member, by its place in a file."""
    place = member["vectorizer"]
    if not isinstance(vectorizers, list) or type(place) is not int or not 0 <= place < len(vectorizers):
        raise ValueError("the members of a pool and its vectorizers do not belong together")
    return vectorizers[place]


def top_labels(log_proba: Float64, labels: Labels, k: int, n_jobs: int | None) -> tuple[Labels, Float64]:
    """The k most probable labels of each row and their probabilities."""
    columns, probabilities = _core.top_of_rows(log_proba, min(k, len(labels)), n_threads(n_jobs))
    return labels[columns], probabilities


def known_shares(lengths: Float64, unknown: Int32 | Float64) -> Float64:
    """Which share of each text's words is known; 0 for a text without words."""
    return np.asarray(lengths / np.maximum(lengths + unknown, 1.0))
