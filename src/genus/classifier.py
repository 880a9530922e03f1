"""Raw text in, label and evidence out."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import replace
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from genus import persistence
from genus._arrays import Float64, SparseRows, n_threads
from genus._one_by_one import OneByOne
from genus._registry import make_model
from genus._tokens import as_texts
from genus.errors import ModelFileError
from genus.explain import DocumentEvidence, Explanation, HiddenNode, NodeEvidence, WordEvidence
from genus.marking import MarkedText, Review, mark_spans
from genus.text import Vectorizer
from genus.weighting import TermWeighting


class TextClassifier(OneByOne, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Sorts texts into classes, and says why.

    Parameters
    ----------
    model : str or estimator, default="nb"
        The model of the counts: a short name ("nb", "tdm", "dmnb", "rtm", ...; the guide lists them) or a genus
        model with its settings.
    vectorizer : Vectorizer or None, default=None
        How texts become counts. By default single words, and bigrams of characters in scripts without spaces.
    weighting : str, TermWeighting or None, default=None
        What the counts weigh: one of the names of `TermWeighting.named`, or a weighting with its settings.
        It learns from the texts of `fit` (or of the first `partial_fit`) and stays so: later texts are learned
        and unlearned with the same idf, in which a new word is as rare as can be.
    n_jobs : int or None, default=None
        Threads; None for all cores. Takes the place of `n_jobs` in the parts. No result depends on it.

    Attributes
    ----------
    model_ : estimator
        The fitted model.
    vectorizer_ : Vectorizer
        The fitted vectorizer.
    weighting_ : TermWeighting or None
        The fitted weighting.
    classes_ : ndarray
        The labels, sorted.

    Examples
    --------
    >>> from genus import TextClassifier
    >>> texts = ["the match was won in the last minute", "shares fell as the bank warned", "a late goal won it"]
    >>> clf = TextClassifier().fit(texts, ["sport", "money", "sport"])
    >>> clf.predict(["the bank fell"])
    array(['money'], dtype='<U5')
    >>> print(clf.explain("who won the match?"))
    sport  (probability 0.894; next: money)
      won           +0.847  x1
      match         +0.442  x1
      the           +0.154  x1
      (prior)       +0.693
      = log odds    +2.136
      1 of 4 words are unknown and say nothing
    """

    def __init__(
        self,
        model: Any = "nb",
        *,
        vectorizer: Vectorizer | None = None,
        weighting: str | TermWeighting | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.model = model
        self.vectorizer = vectorizer
        self.weighting = weighting
        self.n_jobs = n_jobs

    # ------------------------------------------------------------------ learning

    def fit(self, texts: Any, labels: Any, sample_weight: Any = None) -> Self:
        """Learn from texts and their labels.

        Parameters
        ----------
        texts : list, tuple, array, pandas or polars Series, or Arrow array of str
        labels : array-like of str or int
            None for texts without a label, where the model learns from them too ("nlhb").
        sample_weight : array-like of float or None, default=None
        """
        vectorizer, weighting, model = self._new_parts()
        texts, labels = self._pair(texts, labels, missing=hasattr(model, "unlabelled"))
        known = labels[~_missing(labels)]
        if len(known) == 0 or (known == known[0]).all():
            raise ValueError("Found one class only: a classifier needs texts of at least two classes.")
        rows = vectorizer._fit_rows(texts)
        if weighting is not None:
            rows = weighting._fit_rows(rows)
        model._fit_rows(rows, labels, sample_weight)
        self.vectorizer_, self.weighting_, self.model_ = vectorizer, weighting, model
        return self

    def partial_fit(self, texts: Any, labels: Any, sample_weight: Any = None, classes: Any = None) -> Self:
        """Learn more. New words and new classes may come at any time."""
        texts, labels = self._pair(texts, labels)
        if not hasattr(self, "model_"):
            vectorizer, weighting, model = self._new_parts()
        else:
            vectorizer, weighting, model = self.vectorizer_, self.weighting_, self.model_
        _require(model, "_partial_fit_rows", "learn more: train it again with all texts")
        rows = vectorizer._partial_fit_rows(texts)
        if weighting is not None:
            rows = weighting._document_rows(rows) if hasattr(self, "model_") else weighting._fit_rows(rows)
        model._partial_fit_rows(rows, labels, sample_weight)
        self.vectorizer_, self.weighting_, self.model_ = vectorizer, weighting, model
        return self

    def unlearn(self, texts: Any, labels: Any, sample_weight: Any = None) -> Self:
        """Take texts back that were learned before: the model is as if it had never seen them.

        Words that no other text has leave the vocabulary too. A weighting keeps the idf that `fit` gave it:
        "never seen" is meant for that idf. Raises ValueError, and changes nothing, where a text was not learned
        with that label.
        """
        check_is_fitted(self)
        _require(self.model_, "_unlearn_rows", "unlearn: train it again without these texts")
        texts, labels = self._pair(texts, labels)
        rows, unknown = self.vectorizer_._transform_rows(texts)
        if self.vectorizer_._keeps_every_word and unknown.any():
            raise ValueError(f"Text {int(unknown.argmax())} has words that were never learned; nothing was unlearned.")
        if self.weighting_ is not None:
            rows = self.weighting_._document_rows(rows)
        self.model_._unlearn_rows(rows, labels, sample_weight)
        self._drop_words(rows)
        return self

    def unlearn_documents(self, numbers: Any) -> Self:
        """Take training texts back by their numbers, those of `neighbors` and `explain`. Later texts move up.

        Only models that remember their documents ("tdm", "kdc", "knn") can. Otherwise as `unlearn`.
        """
        model = self._model_with_documents()
        self._drop_words(model._unlearn_numbers(model._check_numbers(numbers)))
        return self

    def _drop_words(self, unlearned: SparseRows) -> None:
        """Forget the words of unlearned rows that no other text has."""
        if self.vectorizer_._grows:
            words = unlearned.indices[unlearned.data > 0]  # one that weighs nothing leaves no count to tell by
            keep = np.ones(self.vectorizer_.n_columns_, dtype=bool)
            keep[words] = self.model_._has_counts(words)
            for part in (self.vectorizer_, self.weighting_, self.model_):
                if part is not None:
                    part._keep_columns(keep)

    # ------------------------------------------------------------------ answering

    def predict(self, texts: Any, *, level: int | None = None, min_proba: float | None = None) -> NDArray[Any]:
        """The most probable label of each text; with a tree of classes, or a node above it (see `predict_nodes`)."""
        if level is not None or min_proba is not None:
            return self.predict_nodes(texts, level=level, min_proba=min_proba)[0]
        rows = self._rows(texts)
        labels: NDArray[Any] = self.model_._predict_rows(rows)
        return labels

    def predict_nodes(
        self, texts: Any, *, level: int | None = None, min_proba: float | None = None
    ) -> tuple[NDArray[Any], Float64]:
        """The most probable node of each text so many levels below the root, or one above that is sure enough.

        Only models with a tree of classes ("hs", "hm") can tell. With the nodes come their probabilities.
        """
        rows = self._rows(texts)
        found: tuple[NDArray[Any], Float64] = self._tree_model()._predict_node_rows(rows, level, min_proba)
        return found

    def predict_proba(self, texts: Any) -> Float64:
        """The probability of each class (in the order of `classes_`) for each text."""
        return np.exp(self.predict_log_proba(texts))

    def predict_log_proba(self, texts: Any) -> Float64:
        """The logarithm of `predict_proba`."""
        rows = self._rows(texts)
        log_proba: Float64 = self.model_._log_proba_rows(rows)
        return log_proba

    def leave_one_out_log_proba(self, texts: Any, labels: Any, sample_weight: Any = None) -> Float64:
        """log p(c | text) for training texts, each by the model trained without it. Words keep their columns."""
        check_is_fitted(self)
        _require(self.model_, "leave_one_out_log_proba", "leave texts out")
        texts, labels = self._pair(texts, labels)
        log_proba: Float64 = self.model_.leave_one_out_log_proba(
            self.vectorizer_.transform(texts), labels, sample_weight=sample_weight
        )
        return log_proba

    def predict_top(self, texts: Any, k: int = 5) -> tuple[NDArray[Any], Float64]:
        """The k most probable labels of each text and their probabilities, best first."""
        rows = self._rows(texts)
        top: tuple[NDArray[Any], Float64] = self.model_._predict_top_rows(rows, k)
        return top

    def explain(self, text: str, *, label: Any = None, against: Any = None) -> Explanation:
        """Why this text is taken for `label` (by default the predicted one) and not for `against` (the next)."""
        if not isinstance(text, str):
            raise ValueError(f"explain takes one text (str), got {type(text).__name__}.")
        check_is_fitted(self)
        counts, unknown = self.vectorizer_._transform_rows([text])
        rows = self._weighted(counts)
        log_proba = self.model_._log_proba_rows(rows)[0]
        order = np.argsort(-log_proba, kind="stable")
        chosen = order[0] if label is None else self._class_number(label)
        rival = next((c for c in order if c != chosen), chosen) if against is None else self._class_number(against)
        bias, words = self.model_._log_evidence(rows, [int(chosen), int(rival)])
        contributions = words[:, 0] - words[:, 1]
        prior = float(bias[0] - bias[1])
        names = self.vectorizer_._words_of(text, rows.indices)
        evidence = [
            WordEvidence(name, float(count), float(value))
            for name, count, value in zip(names, counts.data, contributions, strict=True)
        ]
        remainder = 0.0
        documents: tuple[DocumentEvidence, ...] = ()
        if hasattr(self.model_, "_remainder"):  # a class is a mixture
            rest = self.model_._remainder(rows, [int(chosen), int(rival)])
            remainder = float(rest[0] - rest[1]) if chosen != rival else 0.0
        if hasattr(self.model_, "_document_evidence"):  # of its documents, which the model remembers
            sources = self.model_._sources(rows, int(chosen)).tolist()
            evidence = [replace(word, sources=tuple(s)) for word, s in zip(evidence, sources, strict=True)]
            documents = tuple(
                DocumentEvidence(number, self.classes_[c].item(), share)
                for number, c, share in self.model_._document_evidence(rows, 5)
            )
        if hasattr(self.model_, "_levels"):  # a model with a tree
            levels = self.model_._levels(rows, int(chosen))
            evidence = [replace(w, levels=found) for w, found in zip(evidence, levels, strict=True)]
        evidence.sort(key=lambda w: (-abs(w.contribution), w.word))
        n_unknown = int(unknown[0])
        return Explanation(
            text=text,
            label=self.classes_[chosen].item(),
            probability=float(np.exp(log_proba[chosen])),
            against=self.classes_[rival].item(),
            log_odds=prior + float(sum(w.contribution for w in evidence)) + remainder,
            prior=prior,
            words=tuple(evidence),
            n_unknown=n_unknown,
            n_words=n_unknown + int(counts.data.sum()),
            remainder=remainder,
            documents=documents,
            nodes=self._node_evidence(rows, int(chosen)),
        )

    def _node_evidence(self, rows: SparseRows, c: int) -> tuple[NodeEvidence, ...]:
        if not hasattr(self.model_, "_node_evidence"):
            return ()
        shares = self.model_._node_evidence(rows, c).tolist()
        if len(shares) == 1:
            return ()
        words = [tuple(word for word, _ in self._named(*found)) for found in self.model_._node_words(c, 3)]
        nodes = [NodeEvidence(i + 1, *node) for i, node in enumerate(zip(shares, words, strict=True))]
        return tuple(sorted(nodes, key=lambda node: -node.share))

    def hidden_nodes(self, label: Any, n: int = 10) -> list[HiddenNode]:
        """The kinds of document that a class is made of, with n words each.

        Only models of hidden nodes ("nlhb") can tell.
        """
        check_is_fitted(self)
        if not hasattr(self.model_, "_node_words"):
            raise ValueError(f"{type(self.model_).__name__} has no hidden nodes; use model='nlhb'.")
        c = self._class_number(label)
        counts = self.model_.node_count_[c]
        found = zip(counts.tolist(), self.model_._node_words(c, n), self.model_.nearest_documents(label), strict=True)
        total = max(float(counts.sum()), 1e-300)
        return [
            HiddenNode(label, i + 1, count / total, tuple(self._named(*words)), tuple(nearest))
            for i, (count, words, nearest) in enumerate(found)
        ]

    def neighbors(self, texts: Any, k: int = 10) -> tuple[NDArray[np.int64], Float64]:
        """The k training documents that carry each text's posterior: their numbers, as learned, and shares.

        Only models that remember their documents ("tdm", "kdc", "knn") can tell.
        """
        found: tuple[NDArray[np.int64], Float64] = self._model_with_documents()._neighbors_rows(self._rows(texts), k)
        return found

    def _model_with_documents(self) -> Any:
        check_is_fitted(self)
        if not hasattr(self.model_, "_neighbors_rows"):
            raise ValueError(f"{type(self.model_).__name__} keeps sums, not documents; use model='tdm'.")
        return self.model_

    def mark(self, text: str, label: Any = None) -> MarkedText:
        """Which words of a text are about `label` (by default the predicted one), background, or the text's own.

        Only "rtm" can tell.
        """
        if not isinstance(text, str):
            raise ValueError(f"mark takes one text (str), got {type(text).__name__}.")
        rows, model = self._rows([text]), self._marking_model()
        chosen = model._predict_rows(rows)[0] if label is None else self.classes_[self._class_number(label)]
        shares = model._mark_rows(rows, np.array([self._class_number(chosen)], dtype=np.int32))
        spans = mark_spans(text, self.vectorizer_, rows.indices, shares)
        background, relevant, own = rows.data @ shares / max(float(rows.data @ shares.sum(axis=1)), 1e-300)
        return MarkedText(text, chosen.item(), spans, float(relevant), float(background), float(own))

    def review(self, texts: Any, labels: Any) -> Review:
        """How much of each labelled text is about its label, and which labels may be wrong.

        Only "rtm" can tell. The texts are those it was trained with, or others.
        """
        check_is_fitted(self)
        model = self._marking_model()
        texts, labels = self._pair(texts, labels)
        rows = self._rows(texts)
        tokens = model._token_shares(rows, model._codes_of(labels, rows.n_rows))
        return Review.of_tokens(labels, model._predict_rows(rows), tokens)

    def _marking_model(self) -> Any:
        if not hasattr(self.model_, "_mark_rows"):
            raise ValueError(f"{type(self.model_).__name__} does not tell words apart; use model='rtm'.")
        return self.model_

    def top_words(self, label: Any, n: int = 10) -> list[tuple[str, float]]:
        """The words that speak most for a class, with their weights."""
        check_is_fitted(self)
        return self._named(*self.model_._top_words(self._class_number(label), n))

    def _named(self, columns: Iterable[Any], weights: Iterable[Any]) -> list[tuple[str, float]]:
        if self.vectorizer_.n_hash is not None:
            return [(f"column {c}", float(w)) for c, w in zip(columns, weights, strict=True)]
        words = self.vectorizer_._words
        return [(words.at(int(c)), float(w)) for c, w in zip(columns, weights, strict=True)]

    def word_levels(self, word: str, label: Any = None) -> dict[str, float]:
        """From which nodes of the tree a word comes, in texts of a class or in all; shares that add up to one."""
        model = self._tree_model()
        columns = self.vectorizer_._transform_rows([word])[0].indices
        if len(columns) != 1:
            raise ValueError(f"{word!r} is not one word that this model knows.")
        levels: dict[str, float] = model.word_levels(int(columns[0]), label)
        return levels

    def node_words(self, node: Any, n: int = 10) -> list[tuple[str, float]]:
        """The words that a node of the tree has for itself, with their weights."""
        found = self._tree_model().node_words(node, n)
        return self._named([column for column, _ in found], [weight for _, weight in found])

    def _tree_model(self) -> Any:
        check_is_fitted(self)
        if not hasattr(self.model_, "tree_"):
            raise ValueError(f"{type(self.model_).__name__} has no tree of classes; use model='hm'.")
        return self.model_

    @property
    def classes_(self) -> NDArray[Any]:
        classes: NDArray[Any] = self.model_.classes_
        return classes

    # ------------------------------------------------------------------ files

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to one file, atomically."""
        persistence.save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Open a file that `save` wrote: by memory map, in milliseconds."""
        loaded = persistence.load(path)
        if not isinstance(loaded, cls):
            raise ModelFileError(f"{path} holds a {type(loaded).__name__}, not a {cls.__name__}.")
        return loaded

    def _get_state(self) -> dict[str, Any]:
        check_is_fitted(self)
        state = {"vectorizer": self.vectorizer_, "model": self.model_}
        return state if self.weighting_ is None else state | {"weighting": self.weighting_}

    def _set_state(self, state: Any) -> None:
        vectorizer, model = state["vectorizer"], state["model"]
        if not isinstance(vectorizer, Vectorizer) or not hasattr(model, "_log_proba_rows"):
            raise ValueError("a vectorizer and a model were expected")
        weighting = state.get("weighting")
        if not (weighting is None or isinstance(weighting, TermWeighting)):
            raise ValueError("a weighting was expected")
        self.vectorizer_, self.weighting_, self.model_ = vectorizer, weighting, model

    # ------------------------------------------------------------------ helpers

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def _prediction_parameters(self) -> set[str]:
        """The parameters that act without the texts: a search need not fit again to change them."""
        names: set[str] = getattr(self.model, "_prediction_parameters", set)()
        return {f"model__{name}" for name in names - {"n_jobs"}}

    def _retuned(self, **params: Any) -> Self:
        """A fitted classifier with other `_prediction_parameters` that shares what this one has learned."""
        other = copy(self)
        other.model = clone(self.model)
        other.set_params(**params)
        other.model_ = self.model_._retuned(**{name.removeprefix("model__"): value for name, value in params.items()})
        return other

    def _last_step(self, texts: Any) -> tuple[str, Any, Any]:
        """The prefix of the model's parameters, the fitted model, and the texts as it takes them."""
        return "model__", self.model_, self.vectorizer_.transform(texts)

    def _rows(self, texts: Any) -> SparseRows:
        if not hasattr(self, "model_"):
            check_is_fitted(self)
        return self._weighted(self.vectorizer_._transform_rows(texts)[0])

    def _weighted(self, rows: SparseRows) -> SparseRows:
        return rows if self.weighting_ is None else self.weighting_._transform_rows(rows)

    def _new_parts(self) -> tuple[Vectorizer, TermWeighting | None, Any]:
        weighting = self._new_weighting()
        model = make_model(self.model) if isinstance(self.model, str) else clone(self.model)
        if self.vectorizer is None:
            vectorizer = Vectorizer(split_unspaced=True, dtype=np.float32)
        else:
            vectorizer = clone(self.vectorizer)
        n_threads(self.n_jobs)  # says what is wrong with it, if anything
        for part in (vectorizer, weighting, model):
            if part is not None:
                part.set_params(n_jobs=self.n_jobs)
        return vectorizer, weighting, model

    def _new_weighting(self) -> TermWeighting | None:
        if isinstance(self.weighting, str):
            return TermWeighting.named(self.weighting)
        if not (self.weighting is None or isinstance(self.weighting, TermWeighting)):
            raise ValueError(f"weighting must be a name, a TermWeighting or None, got {self.weighting!r}.")
        return None if self.weighting is None else clone(self.weighting)

    def _class_number(self, label: Any) -> int:
        found = np.flatnonzero(self.classes_ == label)
        if len(found) == 0:
            raise ValueError(f"{label!r} is not one of the {len(self.classes_)} classes of this model.")
        return int(found[0])

    def _pair(self, texts: Any, labels: Any, missing: bool = False) -> tuple[Any, NDArray[Any]]:
        """Texts and labels as they are learned; with `missing`, some labels may be None."""
        texts = as_texts(texts)
        array = np.asarray(labels)
        if array.ndim != 1:
            raise ValueError(f"labels must be one label per text, got an array of shape {array.shape}.")
        absent = _missing(array)
        if absent.any() and not missing:
            first = int(np.flatnonzero(absent)[0])
            raise ValueError(f"{int(absent.sum())} of {len(array)} labels are missing, the first in row {first}.")
        if array.dtype == object:
            kinds = {type(label).__name__ for label in array[~absent].tolist()}
            if len(kinds) > 1:
                raise ValueError(f"labels must be of one type, got {', '.join(sorted(kinds))}.")
            array = np.array(array.tolist(), dtype=object if absent.any() else None)
            array[absent] = None  # whatever was missing, NaN for instance
        if hasattr(texts, "__len__") and len(texts) != len(array):
            raise ValueError(f"Got {len(texts)} texts but {len(array)} labels.")
        return texts, array


def _require(model: Any, method: str, what: str) -> None:
    if not hasattr(model, method):
        raise ValueError(f"{type(model).__name__} cannot {what}.")


def _missing(labels: NDArray[Any]) -> NDArray[np.bool_]:
    if labels.dtype == object or labels.dtype.kind == "f":  # NaN is the value that differs from itself
        return np.array([label is None or label != label for label in labels.tolist()], dtype=bool)
    return np.zeros(len(labels), dtype=bool)
