"""A vectorizer, a weighting and a model that belong together: texts in, answers out, nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from genus.base.arrays import Float64, Int64
from genus.base.rows import SparseRows, to_matrix
from genus.pipeline.evidence import Evidence, evidence_of
from genus.text.vectorizer import Vectorizer
from genus.text.weighting import TermWeighting

# The method that does it, and what a model without it cannot do.
LEARN_MORE = ("_partial_fit_rows", "learn more: train it again with all texts")
UNLEARN = ("_unlearn_rows", "unlearn: train it again without these texts")


@dataclass(frozen=True)
class TextPipeline:
    """What a `TextClassifier` is made of."""

    vectorizer: Vectorizer
    weighting: TermWeighting | None
    model: Any

    @property
    def classes_(self) -> NDArray[Any]:
        classes: NDArray[Any] = self.model.classes_
        return classes

    exclusive: ClassVar[bool] = True  # a text has one label

    @property
    def name(self) -> str:
        return type(self.model).__name__

    @property
    def settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = self.model.get_params()
        return settings

    @property
    def members(self) -> list[TextPipeline]:
        """A pool of classifiers has several."""
        return [self]

    # Rows

    def rows(self, texts: Any) -> SparseRows:
        """Texts that ask, as the model takes them."""
        return self.weighted(self.vectorizer._transform_rows(texts)[0])

    def matrix(self, texts: Any) -> Any:
        """The same as a sparse matrix."""
        return to_matrix(self.rows(texts))

    def weighted(self, counts: SparseRows) -> SparseRows:
        return counts if self.weighting is None else self.weighting._transform_rows(counts)

    # Learning

    def fit(self, texts: Any, labels: NDArray[Any], sample_weight: Any) -> None:
        rows = self.vectorizer._fit_rows(texts)
        if self.weighting is not None:
            rows = self.weighting._fit_rows(rows)
        self.model._fit_rows(rows, labels, sample_weight)

    def partial_fit(self, texts: Any, labels: NDArray[Any], sample_weight: Any, *, first: bool = False) -> None:
        self.require(*LEARN_MORE)
        self.learn_counts(self.vectorizer._partial_fit_rows(texts), labels, sample_weight, first=first)

    def learn_counts(
        self, counts: SparseRows, labels: NDArray[Any], sample_weight: Any, *, first: bool = False
    ) -> None:
        """Learn more from texts that the vectorizer has learned and counted."""
        if self.weighting is not None:
            counts = self.weighting._fit_rows(counts) if first else self.weighting._document_rows(counts)
        self.model._partial_fit_rows(counts, labels, sample_weight)

    @property
    def learns_online(self) -> bool:
        return hasattr(self.model, "_learn_one")

    def learn_one(self, text: str, label: Any, weight: float) -> None:
        rows = self.vectorizer._stream_rows(text)
        if self.weighting is not None:
            rows = self.weighting._document_rows(rows)
        self.model._learn_one(rows, label, weight)

    def unlearn(self, texts: Any, labels: NDArray[Any], sample_weight: Any) -> None:
        self.require(*UNLEARN)
        drop_words([self], [self.unlearn_counts(counts_learned(self.vectorizer, texts), labels, sample_weight)])

    def unlearn_counts(self, counts: SparseRows, labels: NDArray[Any], sample_weight: Any) -> SparseRows:
        """Unlearn texts that are counted; the words stay. The rows as the model had learned them."""
        rows = counts if self.weighting is None else self.weighting._document_rows(counts)
        self.model._unlearn_rows(rows, labels, sample_weight)
        return rows

    def unlearn_documents(self, numbers: Any) -> None:
        drop_words([self], [self.model._unlearn_numbers(self.model._check_numbers(numbers))])

    # Answers

    def answers(self, texts: Any) -> NDArray[Any]:
        labels: NDArray[Any] = self.model._predict_rows(self.rows(texts))
        return labels

    def answer_one(self, text: str) -> Any:
        rows = self.rows([text])
        if hasattr(self.model, "_predict_one"):
            return self.model._predict_one(rows)
        return self.model._predict_rows(rows)[0].item()

    def log_proba(self, texts: Any) -> Float64:
        log_proba: Float64 = self.model._log_proba_rows(self.rows(texts))
        return log_proba

    def top(self, texts: Any, k: int) -> tuple[NDArray[Any], Float64]:
        top: tuple[NDArray[Any], Float64] = self.model._predict_top_rows(self.rows(texts), k)
        return top

    def answer_nodes(self, texts: Any, level: int | None, min_proba: float | None) -> tuple[NDArray[Any], Float64]:
        if not hasattr(self.model, "_predict_node_rows"):
            raise ValueError(f"{self.name} has no tree of classes; use model='hm'.")
        nodes: tuple[NDArray[Any], Float64] = self.model._predict_node_rows(self.rows(texts), level, min_proba)
        return nodes

    def leave_one_out(self, texts: Any, labels: NDArray[Any], sample_weight: Any) -> Float64:
        self.require("leave_one_out_log_proba", "leave texts out exactly")
        rows = self.vectorizer._transform_rows(texts)[0]
        if self.weighting is not None:
            rows = self.weighting._document_rows(rows)
        log_proba: Float64 = self.model.leave_one_out_log_proba(to_matrix(rows), labels, sample_weight=sample_weight)
        return log_proba

    def typicality(self, texts: Any) -> NoReturn:
        raise ValueError("typicality needs texts that were left out while learning; use model='auto'.")

    def evidence(self, text: str, chosen: int, rival: int) -> Evidence:
        return evidence_of(self, text, self.vectorizer._transform_rows([text]), chosen, rival)

    def neighbors(self, texts: Any, k: int) -> tuple[Int64, Float64]:
        found: tuple[Int64, Float64] = self.model._neighbors_rows(self.rows(texts), k)
        return found

    def top_words(self, c: int, n: int) -> list[tuple[str, float]]:
        return self.named(*self.model._top_words(c, n))

    def named(self, columns: Iterable[Any], weights: Iterable[Any]) -> list[tuple[str, float]]:
        """Columns by their words."""
        if self.vectorizer.n_hash is not None:
            return [(f"column {c}", float(w)) for c, w in zip(columns, weights, strict=True)]
        words = self.vectorizer._words
        return [(words.at(int(c)), float(w)) for c, w in zip(columns, weights, strict=True)]

    # Keeping

    def require(self, method: str, what: str) -> None:
        if not hasattr(self.model, method):
            raise ValueError(f"{self.name} cannot {what}.")

    def get_state(self) -> dict[str, Any]:
        state = {"vectorizer": self.vectorizer, "model": self.model}
        return state if self.weighting is None else state | {"weighting": self.weighting}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> TextPipeline:
        vectorizer, model, weighting = state["vectorizer"], state["model"], state.get("weighting")
        if not isinstance(vectorizer, Vectorizer) or not hasattr(model, "_log_proba_rows"):
            raise ValueError("a vectorizer and a model were expected")
        if not (weighting is None or isinstance(weighting, TermWeighting)):
            raise ValueError("a weighting was expected")
        return cls(vectorizer, weighting, model)


def counts_learned(vectorizer: Vectorizer, texts: Any) -> SparseRows:
    """Texts that were learned, counted; others are refused where they can be told."""
    rows, unknown = vectorizer._transform_rows(texts)
    if vectorizer._keeps_every_word and unknown.any():
        raise ValueError(f"Text {int(unknown.argmax())} has words that were never learned; nothing was unlearned.")
    return rows


def drop_words(readers: Sequence[TextPipeline], unlearned: Sequence[SparseRows]) -> None:
    """Forget the words of unlearned rows that no other text has. The parts read by one vectorizer."""
    vectorizer = readers[0].vectorizer
    if not vectorizer._grows:
        return
    # A word that weighs nothing leaves no count to tell by.
    words = np.unique(np.concatenate([rows.indices[rows.data > 0] for rows in unlearned]))
    keep = np.ones(vectorizer.n_columns_, dtype=bool)
    keep[words] = np.any([parts.model._has_counts(words) for parts in readers], axis=0)
    vectorizer._keep_columns(keep)
    for parts in readers:
        if parts.weighting is not None:
            parts.weighting._keep_columns(keep)
        parts.model._keep_columns(keep)
