"""What only some models can tell, asked of a `TextClassifier`."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from genus.base.arrays import Float64, Int64
from genus.explain import HiddenNode
from genus.models.relevance.marking import MarkedText, Review, mark_spans
from genus.pipeline.single import TextPipeline
from genus.text.inputs import pair


class ModelQuestions:
    """Questions about documents, trees, hidden nodes and relevance. Models that cannot answer say so."""

    _pipeline: Any
    _class_number: Any

    def _parts_with(self, method: str, otherwise: str) -> TextPipeline:
        """The first parts whose model has this method."""
        check_is_fitted(self)
        found = next((parts for parts in self._pipeline.members if hasattr(parts.model, method)), None)
        if found is None:
            raise ValueError(f"{self._pipeline.name} {otherwise}.")
        parts: TextPipeline = found
        return parts

    # Models that remember their documents: "tdm", "kdc", "knn"

    def neighbors(self, texts: Any, k: int = 10) -> tuple[Int64, Float64]:
        """The k training documents that carry each text's posterior: their numbers, as learned, and shares.

        Only models that remember their documents ("tdm", "kdc", "knn") can tell.
        """
        return self._parts_with(*DOCUMENTS).neighbors(texts, k)

    def unlearn_documents(self, numbers: Any) -> Self:
        """Take training texts back by their numbers, those of `neighbors` and `explain`. Later texts move up.

        Only models that remember their documents ("tdm", "kdc", "knn") can. Otherwise as `unlearn`.
        """
        self._parts_with(*DOCUMENTS)
        self._pipeline.unlearn_documents(numbers)
        return self

    # Models with a tree of classes: "hs", "hm"

    def predict_nodes(
        self, texts: Any, *, level: int | None = None, min_proba: float | None = None
    ) -> tuple[NDArray[Any], Float64]:
        """The most probable node of each text so many levels below the root, or one above that is sure enough.

        For models with a tree of classes ("hs", "hm") and for "auto" where classes are in a tree. With the nodes
        come their probabilities.
        """
        check_is_fitted(self)
        found: tuple[NDArray[Any], Float64] = self._pipeline.answer_nodes(texts, level, min_proba)
        return found

    def word_levels(self, word: str, label: Any = None) -> dict[str, float]:
        """From which nodes of the tree a word comes, in texts of a class or in all; shares that add up to one."""
        parts = self._parts_with(*TREE)
        columns = parts.vectorizer._transform_rows([word])[0].indices
        if len(columns) != 1:
            raise ValueError(f"{word!r} is not one word that this model knows.")
        levels: dict[str, float] = parts.model.word_levels(int(columns[0]), label)
        return levels

    def node_words(self, node: Any, n: int = 10) -> list[tuple[str, float]]:
        """The words that a node of the tree has for itself, with their weights."""
        parts = self._parts_with(*TREE)
        found = parts.model.node_words(node, n)
        return parts.named([column for column, _ in found], [weight for _, weight in found])

    # Models of hidden nodes: "nlhb"

    def hidden_nodes(self, label: Any, n: int = 10) -> list[HiddenNode]:
        """The kinds of document that a class is made of, with n words each.

        Only models of hidden nodes ("nlhb") can tell.
        """
        parts = self._parts_with("_node_words", "has no hidden nodes; use model='nlhb'")
        c = self._class_number(label)
        counts = parts.model.node_count_[c]
        found = zip(counts.tolist(), parts.model._node_words(c, n), parts.model.nearest_documents(label), strict=True)
        total = max(float(counts.sum()), 1e-300)
        return [
            HiddenNode(label, i + 1, count / total, tuple(parts.named(*words)), tuple(nearest))
            for i, (count, words, nearest) in enumerate(found)
        ]

    # Models of relevance: "rtm"

    def mark(self, text: str, label: Any = None) -> MarkedText:
        """Which words of a text are about `label` (by default the predicted one), background, or the text's own.

        Only "rtm" can tell.
        """
        if not isinstance(text, str):
            raise ValueError(f"mark takes one text (str), got {type(text).__name__}.")
        parts = self._parts_with(*RELEVANCE)
        rows = parts.rows([text])
        chosen = parts.model._predict_rows(rows)[0] if label is None else parts.classes_[self._class_number(label)]
        shares = parts.model._mark_rows(rows, np.array([self._class_number(chosen)], dtype=np.int32))
        spans = mark_spans(text, parts.vectorizer, rows.indices, shares)
        background, relevant, own = rows.data @ shares / max(float(rows.data @ shares.sum(axis=1)), 1e-300)
        return MarkedText(text, chosen.item(), spans, float(relevant), float(background), float(own))

    def review(self, texts: Any, labels: Any) -> Review:
        """How much of each labelled text is about its label, and which labels may be wrong.

        Only "rtm" can tell. The texts are those it was trained with, or others.
        """
        parts = self._parts_with(*RELEVANCE)
        texts, labels = pair(texts, labels)
        rows = parts.rows(texts)
        tokens = parts.model._token_shares(rows, parts.model._codes_of(labels, rows.n_rows))
        return Review.of_tokens(labels, parts.model._predict_rows(rows), tokens)


# The method that tells, and what is said where it is not there.
DOCUMENTS = ("_neighbors_rows", "keeps sums, not documents; use model='tdm'")
TREE = ("_predict_node_rows", "does not tell words by node; use model='hm'")
RELEVANCE = ("_mark_rows", "does not tell words apart; use model='rtm'")
