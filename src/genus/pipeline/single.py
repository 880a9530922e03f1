"""A vectorizer, a weighting and a model that belong together: texts in, answers out, nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NoReturn, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from genus.base.arrays import Float64, Int64
from genus.base.labels import Labels
from genus.base.protocol import (
    HasTree,
    Label,
    LearnsMore,
    LearnsOnline,
    LeavesOneOut,
    LinearInColumns,
    Model,
    Params,
    RemembersDocuments,
    ScoresRows,
    State,
    Unlearns,
    offers,
)
from genus.base.rows import SparseRows, to_matrix
from genus.pipeline.evidence import Evidence, evidence_of
from genus.pipeline.protocol import ChooseClasses
from genus.pipeline.vector_reader import Reader, VectorReader
from genus.text.inputs import Texts
from genus.text.vectorizer import Vectorizer
from genus.text.weighting import TermWeighting

Capability = TypeVar("Capability")


@dataclass(frozen=True)
class TextPipeline:
    """What a `TextClassifier` is made of."""

    vectorizer: Reader
    weighting: TermWeighting | None
    model: Model

    @property
    def classes_(self) -> Labels:
        return self.model.classes_

    exclusive: ClassVar[bool] = True  # a text has one label

    @property
    def name(self) -> str:
        return type(self.model).__name__

    @property
    def settings(self) -> Params:
        return self.model.get_params()

    @property
    def members(self) -> list[TextPipeline]:
        """A pool of classifiers has several."""
        return [self]

    @property
    def pipelines(self) -> list[TextPipeline]:
        return [self]

    # What the model can do, or a ValueError that says what to do instead

    def require(self, capability: Callable[..., Capability], what: str) -> Capability:
        """The model, if it has a capability."""
        if not offers(self.model, capability):
            raise ValueError(f"{self.name} cannot {what}.")
        return self.model

    @property
    def learner(self) -> LearnsMore:
        return self.require(LearnsMore, "learn more: train it again with all texts")

    @property
    def unlearner(self) -> Unlearns:
        return self.require(Unlearns, "unlearn: train it again without these texts")

    @cached_property  # asked for with every text of a stream
    def _online(self) -> LearnsOnline | None:
        return self.model if offers(self.model, LearnsOnline) else None

    # Rows

    def rows(self, texts: Texts) -> SparseRows:
        """Texts that ask, as the model takes them."""
        return self.weighted(self.vectorizer._transform_rows(texts)[0])

    def matrix(self, texts: Texts) -> Any:
        """The same as a sparse matrix."""
        return to_matrix(self.rows(texts))

    def weighted(self, counts: SparseRows) -> SparseRows:
        return counts if self.weighting is None else self.weighting._transform_rows(counts)

    # Learning

    def writable(self) -> TextPipeline:
        """A copy that can learn while this one answers: nothing that they share is changed."""
        return self.reading_by(self.vectorizer._writable())

    def reading_by(self, vectorizer: Reader) -> TextPipeline:
        """As `writable`, with a vectorizer that is a copy already."""
        model = self.model._writable() if offers(self.model, LearnsMore) else self.model
        return TextPipeline(vectorizer, copy(self.weighting), model)

    def fit(self, texts: Texts, labels: Labels, sample_weight: ArrayLike | None) -> None:
        rows = self.vectorizer._fit_rows(texts)
        if self.weighting is not None:
            rows = self.weighting._fit_rows(rows)
        self.model._fit_rows(rows, labels, sample_weight)

    def partial_fit(
        self, texts: Texts, labels: Labels, sample_weight: ArrayLike | None, *, first: bool = False
    ) -> None:
        self.learner  # noqa: B018 (refuses, before the vectorizer learns)
        self.learn_counts(self.vectorizer._partial_fit_rows(texts), labels, sample_weight, first=first)

    def learn_counts(
        self, counts: SparseRows, labels: Labels, sample_weight: ArrayLike | None, *, first: bool = False
    ) -> None:
        """Learn more from texts that the vectorizer has learned and counted."""
        if self.weighting is not None:
            counts = self.weighting._fit_rows(counts) if first else self.weighting._document_rows(counts)
        self.learner._partial_fit_rows(counts, labels, sample_weight)

    @property
    def learns_online(self) -> bool:
        return self._online is not None

    def learn_one(self, text: str, label: Label, weight: float) -> None:
        rows = self.vectorizer._stream_rows(text)
        if self.weighting is not None:
            rows = self.weighting._document_rows(rows)
        if self._online is None:
            raise ValueError(f"{self.name} does not learn online; use model='dmnb'.")
        self._online._learn_one(rows, label, weight)

    def unlearn(self, texts: Texts, labels: Labels, sample_weight: ArrayLike | None) -> None:
        self.unlearner  # noqa: B018 (refuses, before anything is counted)
        drop_words([self], [self.unlearn_counts(counts_learned(self.vectorizer, texts), labels, sample_weight)])

    def unlearn_counts(self, counts: SparseRows, labels: Labels, sample_weight: ArrayLike | None) -> SparseRows:
        """Unlearn texts that are counted; the words stay. The rows as the model had learned them."""
        rows = counts if self.weighting is None else self.weighting._document_rows(counts)
        self.unlearner._unlearn_rows(rows, labels, sample_weight)
        return rows

    def unlearn_documents(self, numbers: ArrayLike) -> None:
        model = self.require(RemembersDocuments, "unlearn by number: it keeps sums, not documents; use model='tdm'")
        drop_words([self], [model._unlearn_numbers(model._check_numbers(numbers))])

    # Answers

    def answers(self, texts: Texts, reject: float | None = None) -> Labels:
        self._refuse(texts, reject)
        return self.model._predict_rows(self.rows(texts))

    def answer_one(self, text: str) -> Any:
        rows = self.rows([text])
        if self._online is not None:
            return self._online._predict_one(rows)
        return self.model._predict_rows(rows)[0].item()

    def log_proba(self, texts: Texts) -> Float64:
        return self.model._log_proba_rows(self.rows(texts))

    def top(self, texts: Texts, k: int, reject: float | None = None) -> tuple[Labels, Float64]:
        self._refuse(texts, reject)
        return self.model._predict_top_rows(self.rows(texts), k)

    def answer_nodes(
        self, texts: Texts, level: int | None, min_proba: float | None, reject: float | None = None
    ) -> tuple[Labels, Float64]:
        if not offers(self.model, HasTree):
            raise ValueError(f"{self.name} has no tree of classes; use model='hm'.")
        self._refuse(texts, reject)
        return self.model._predict_node_rows(self.rows(texts), level, min_proba)

    def leave_one_out(self, texts: Texts, labels: Labels, sample_weight: ArrayLike | None) -> Float64:
        model = self.require(LeavesOneOut, "leave texts out exactly")
        rows = self.vectorizer._transform_rows(texts)[0]
        if self.weighting is not None:
            rows = self.weighting._document_rows(rows)
        return model.leave_one_out_log_proba(to_matrix(rows), labels, sample_weight=sample_weight)

    def typicality(self, texts: Texts) -> NoReturn:
        raise ValueError("typicality needs texts that were left out while learning; use model='auto'.")

    def _refuse(self, texts: Texts, reject: float | None) -> None:
        if reject is not None:
            self.typicality(texts)

    def explained(self, text: str, choose: ChooseClasses) -> tuple[Float64, Evidence]:
        counted = self.vectorizer._transform_rows([text])
        log_proba = self.model._log_proba_rows(self.weighted(counted[0]))[0]
        return log_proba, evidence_of(self, text, counted, *choose(log_proba))

    def neighbors(self, texts: Texts, k: int) -> tuple[Int64, Float64]:
        model = self.require(RemembersDocuments, "tell neighbors: it keeps sums, not documents; use model='tdm'")
        return model._neighbors_rows(self.rows(texts), k)

    def top_words(self, c: int, n: int) -> list[tuple[str, float]]:
        if isinstance(self.vectorizer, VectorReader):
            return self.vectorizer.top_words(cast(LinearInColumns, self.model).coef_[c], n)
        return self.named(*self.model._top_words(c, n))

    def named(self, columns: Iterable[int], weights: Iterable[float]) -> list[tuple[str, float]]:
        """Columns by their words."""
        if isinstance(self.vectorizer, VectorReader) or self.vectorizer.n_hash is not None:
            return [(f"column {c}", float(w)) for c, w in zip(columns, weights, strict=True)]
        words = self.vectorizer._words
        return [(words.at(int(c)), float(w)) for c, w in zip(columns, weights, strict=True)]

    @property
    def n_columns(self) -> int:
        """The columns that the model has learned."""
        n: int = getattr(self.model, "n_features_in_", self.vectorizer.n_columns_)
        return n

    # Keeping

    def get_state(self) -> State:
        state: State = {"vectorizer": self.vectorizer, "model": self.model}
        return state if self.weighting is None else state | {"weighting": self.weighting}

    @classmethod
    def from_state(cls, state: Mapping[str, object]) -> TextPipeline:
        vectorizer, model, weighting = state["vectorizer"], state["model"], state.get("weighting")
        if not isinstance(vectorizer, (Vectorizer, VectorReader)) or not offers(model, ScoresRows):
            raise ValueError("a vectorizer and a model were expected")
        if not (weighting is None or isinstance(weighting, TermWeighting)):
            raise ValueError("a weighting was expected")
        made = cls(vectorizer, weighting, cast(Model, model))
        if vectorizer.n_columns_ < made.n_columns:  # it has more where a model refused texts with new words
            raise ValueError(f"the vectorizer has {vectorizer.n_columns_:,} columns, the model {made.n_columns:,}")
        return made


def counts_learned(vectorizer: Reader, texts: Texts) -> SparseRows:
    """Count texts that were learned; texts that were not are rejected if that can be detected."""
    rows, unknown = vectorizer._transform_rows(texts)
    if vectorizer._keeps_every_word and unknown.any():
        raise ValueError(f"Text {int(unknown.argmax())} has words that were never learned; nothing was unlearned.")
    return rows


def drop_words(readers: Sequence[TextPipeline], unlearned: Sequence[SparseRows]) -> None:
    """Forget the words of unlearned rows that no other text has. The parts read by one vectorizer."""
    vectorizer = readers[0].vectorizer
    if isinstance(vectorizer, VectorReader) or not vectorizer._grows:
        return
    # A word of weight zero leaves no trace in the counts.
    words = np.unique(np.concatenate([rows.indices[rows.data > 0] for rows in unlearned]))
    keep = np.ones(vectorizer.n_columns_, dtype=bool)
    keep[words] = np.any([parts.unlearner._has_counts(words) for parts in readers], axis=0)
    vectorizer._keep_columns(keep)
    for parts in readers:
        if parts.weighting is not None:
            parts.weighting._keep_columns(keep)
        # Fewer columns than words are known, where a model refused texts with new ones.
        parts.unlearner._keep_columns(keep[: parts.n_columns])
