"""Methods of `TextClassifier` that only some models support."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from genus.base.arrays import Float64, Int64
from genus.base.labels import Labels
from genus.base.locks import Lock
from genus.base.protocol import HasTree, Label, MarksWords, RemembersDocuments, TellsNodes, offers
from genus.base.receipt import Receipt
from genus.explain import HiddenNode
from genus.models.relevance.marking import MarkedText, Review, mark_spans
from genus.pipeline.protocol import FittedPipeline
from genus.pipeline.similar import SimilarText, TrainingTexts
from genus.pipeline.single import TextPipeline
from genus.text.inputs import GivenLabels, Texts, pair
from genus.text.vectorizer import Vectorizer

Capability = TypeVar("Capability")


class ModelQuestions:
    """Questions about documents, trees, hidden nodes and relevance. Models that cannot answer say so."""

    _pipeline: FittedPipeline
    _training_texts: TrainingTexts | None = None  # those of the last question for similar ones

    _receipt: Receipt | None

    if TYPE_CHECKING:

        @property
        def _writing(self) -> Lock: ...

        def _class_number(self, label: Label) -> int: ...

    def _first_with(self, capability: Callable[..., Capability], otherwise: str) -> tuple[TextPipeline, Capability]:
        """The first pipeline whose model has a capability, and that model."""
        check_is_fitted(self)
        for pipeline in self._pipeline.pipelines:
            if offers(pipeline.model, capability):
                return pipeline, pipeline.model
        raise ValueError(f"{self._pipeline.name} {otherwise}.")

    def _with_documents(self) -> TextPipeline:
        return self._first_with(RemembersDocuments, "keeps sums, not documents; use model='tdm'")[0]

    def _with_tree(self) -> tuple[TextPipeline, HasTree]:
        return self._first_with(HasTree, "does not tell words by node; use model='hm'")

    def _with_marks(self) -> tuple[TextPipeline, MarksWords]:
        return self._first_with(MarksWords, "does not tell words apart; use model='rtm'")

    # Models that remember their documents: "tdm", "kdc", "knn"

    def neighbors(self, texts: Texts, k: int = 10) -> tuple[Int64, Float64]:
        """The k training documents that carry each text's posterior: their numbers, as learned, and shares.

        Only models that remember their documents ("tdm", "kdc", "knn") support this.
        """
        return self._with_documents().neighbors(texts, k)

    def unlearn_documents(self, numbers: ArrayLike) -> Self:
        """Take training texts back by their numbers, those of `neighbors` and `explain`. Later texts move up.

        Only models that remember their documents ("tdm", "kdc", "knn") can. Otherwise as `unlearn`.
        """
        self._with_documents()
        with self._writing:
            parts, receipt = self._pipeline.writable(), self._receipt
            parts.unlearn_documents(numbers)
            gone = np.atleast_1d(np.asarray(numbers, dtype=np.int64))
            self._pipeline, self._receipt = parts, None if receipt is None else receipt.without_numbers(gone)
        return self

    def similar(self, text: str, k: int = 10) -> list[SimilarText]:
        """The k training texts nearest to a text: by the words they share and, with vectors, by meaning.

        For models that keep their documents, which pools of "auto" mostly have.
        """
        if not isinstance(text, str):
            raise ValueError(f"similar takes one text (str), got {type(text).__name__}.")
        check_is_fitted(self)
        known = self._training_texts
        if known is None or known.pipeline not in self._pipeline.pipelines or not known.is_current():
            known = self._training_texts = TrainingTexts.from_pipelines(self._pipeline.pipelines)
        if known is None:
            raise ValueError(f"{self._pipeline.name} keeps sums, not documents; use model='auto' or 'tdm'.")
        return known.similar(text, k)

    # Models with a tree of classes: "hs", "hm"

    def predict_nodes(
        self,
        texts: Texts,
        *,
        level: int | None = None,
        min_proba: float | None = None,
        reject: float | None = None,
    ) -> tuple[Labels, Float64]:
        """The most probable node of each text so many levels below the root, or one above that is sure enough.

        For models with a tree of classes ("hs", "hm") and for "auto" where classes are in a tree. With the nodes
        come their probabilities. ``reject`` as for `predict`.
        """
        check_is_fitted(self)
        return self._pipeline.answer_nodes(texts, level, min_proba, reject)

    def word_levels(self, word: str, label: Label = None) -> dict[str, float]:
        """From which nodes of the tree a word comes, in texts of a class or in all; shares that add up to one."""
        parts, model = self._with_tree()
        columns = parts.vectorizer._transform_rows([word])[0].indices
        if len(columns) != 1:
            raise ValueError(f"{word!r} is not one word that this model knows.")
        return model.word_levels(int(columns[0]), label)

    def node_words(self, node: Label, n: int = 10) -> list[tuple[str, float]]:
        """The words that a node of the tree has for itself, with their weights."""
        parts, model = self._with_tree()
        found = model.node_words(node, n)
        return parts.named([column for column, _ in found], [weight for _, weight in found])

    # Models of hidden nodes: "nlhb"

    def hidden_nodes(self, label: Label, n: int = 10) -> list[HiddenNode]:
        """The kinds of document that a class is made of, with n words each.

        Only models of hidden nodes ("nlhb") support this.
        """
        parts, model = self._first_with(TellsNodes, "has no hidden nodes; use model='nlhb'")
        c = self._class_number(label)
        counts = model.node_count_[c]
        found = zip(counts.tolist(), model._node_words(c, n), model.nearest_documents(label), strict=True)
        total = max(float(counts.sum()), 1e-300)
        return [
            HiddenNode(label, i + 1, count / total, tuple(parts.named(*words)), tuple(nearest))
            for i, (count, words, nearest) in enumerate(found)
        ]

    # Models of relevance: "rtm"

    def mark(self, text: str, label: Label = None) -> MarkedText:
        """Which words of a text are about `label` (by default the predicted one), background, or the text's own.

        Only "rtm" supports this.
        """
        if not isinstance(text, str):
            raise ValueError(f"mark takes one text (str), got {type(text).__name__}.")
        parts, model = self._with_marks()
        rows = parts.rows([text])
        chosen = parts.model._predict_rows(rows)[0] if label is None else parts.classes_[self._class_number(label)]
        shares = model._mark_rows(rows, np.array([self._class_number(chosen)], dtype=np.int32))
        assert isinstance(parts.vectorizer, Vectorizer)
        spans = mark_spans(text, parts.vectorizer, rows.indices, shares)
        background, relevant, own = rows.data @ shares / max(float(rows.data @ shares.sum(axis=1)), 1e-300)
        return MarkedText(text, chosen.item(), spans, float(relevant), float(background), float(own))

    def review(self, texts: Texts, labels: GivenLabels) -> Review:
        """How much of each labelled text is about its label, and which labels may be wrong.

        Only "rtm" supports this. The texts are those it was trained with, or others.
        """
        parts, model = self._with_marks()
        read, own = pair(texts, labels)
        rows = parts.rows(read)
        tokens = model._token_shares(rows, model._codes_of(own, rows.n_rows))
        return Review.of_tokens(own, parts.model._predict_rows(rows), tokens)
