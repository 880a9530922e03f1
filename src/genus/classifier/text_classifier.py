"""Raw text in, label and evidence out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import replace
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from genus._registry import make_model
from genus.auto.choose import ChosenPool, choose, choose_described, choose_sets
from genus.auto.encoders import encoder_for
from genus.auto.request import Request
from genus.base.arrays import Float64, n_threads
from genus.base.labels import Labels, encode_labels
from genus.base.locks import Lock
from genus.base.progress import searching
from genus.base.protocol import (
    BaseEstimator,
    ClassifierMixin,
    Estimator,
    Label,
    LearnsUnlabeled,
    Retunes,
    State,
    offers,
)
from genus.base.receipt import Receipt
from genus.classifier.one_by_one import OneByOne
from genus.classifier.questions import ModelQuestions
from genus.classifier.receipts import no_receipt, numbers_documents, numbers_of, with_labeled, with_texts, without_texts
from genus.errors import ModelFileError
from genus.explain import Explanation
from genus.io import model_file as persistence
from genus.models.dense_gaussian import DenseGaussian
from genus.pipeline.protocol import FittedPipeline
from genus.pipeline.single import TextPipeline
from genus.pipeline.vector_reader import Reader, VectorReader
from genus.text.inputs import (
    GivenLabels,
    Texts,
    as_texts,
    check_two_classes,
    holds_sets,
    pair,
    plain_texts,
    split_unlabeled,
)
from genus.text.vectorizer import Vectorizer, default_vectorizer
from genus.text.weighting import TermWeighting
from genus.vectors import as_encoder


class TextClassifier(OneByOne, ModelQuestions, ClassifierMixin, BaseEstimator):
    """Classifies texts and explains its predictions.

    Parameters
    ----------
    model : str or estimator, default="auto"
        "auto" tries models, weights and n-grams on texts left out, and pools the best; its probabilities are
        calibrated. Or the model of the counts: a short name ("nb", "tdm", "dmnb", "rtm", ...; the guide lists
        them) or a genus model with its settings.
    vectorizer : Vectorizer or None, default=None
        How texts become counts. By default single words, and bigrams of characters in scripts without spaces.
    weighting : str, TermWeighting or None, default=None
        What the counts weigh: one of the names of `TermWeighting.named`, or a weighting with its settings.
        It learns from the texts of `fit` (or of the first `partial_fit`) and stays so: later texts are learned
        and unlearned with the same idf, in which a new word is as rare as can be.
    time_budget : float, default=60.0
        Seconds that "auto" may search for. Small data take a few; the last fit comes on top.
    objective : str, default="accuracy"
        What "auto" looks for: "accuracy", "macro_f1", "micro_f1" (the accuracy, where each text has one label) or
        "log_loss"; with sets of labels "example_f1", "micro_f1" or "macro_f1".
    tree : LabelTree, or what makes one, default=None
        For "auto": a tree of the classes (see `HierarchicalMixture`), so that models with a tree are tried too and
        answers can be asked for at any level. None takes labels such as "hardware/printer" for paths.
    class_prior : "learned", "uniform" or dict, default="learned"
        For "auto": how probable classes are among the texts to come. By default as among those of `fit`; a dict has
        the probability of each label.
    vectors : "auto", None, path or encoder, default="auto"
        For "auto" and "gaussian": knowledge of words, by which texts with other words than the training texts are
        understood too. "auto" takes the table of English word vectors that ships with genus where it knows the
        language of the texts. A path names another table (`genus.vectors.WordVectors`: safetensors, GloVe or
        fastText's text format); an encoder is a `WordVectors`, a model of sentence-transformers, model2vec or gensim,
        or any function from a list of texts to an array with a row for each.
    descriptions : None, False or dict, default=None
        For "auto": what the classes are about, as texts: {"sport": "matches, goals, athletes"}. They count as a few
        labeled texts. None takes the names of the classes, where that helps; False takes nothing.
    random_state : int, default=0
        Seed of the folds of "auto". The same seed gives the same model, unless the time
        budget cut the search short (``search_cut_short_``).
    verbose : int, default=0
        With 1, "auto" reports its progress on standard error.
    n_jobs : int or None, default=None
        Threads; None for all cores. Takes the place of `n_jobs` in the parts. No result depends on it.

    Attributes
    ----------
    model_ : estimator
        The fitted model; for "auto" a pool of classifiers, its `members`.
    vectorizer_ : Vectorizer
        The fitted vectorizer; for "auto" that of the first member.
    weighting_ : TermWeighting or None
        The fitted weighting.
    leaderboard_ : list of dict
        For "auto": what was tried, its scores on texts left out, its time and its weight, the best first.
    search_cut_short_ : bool
        For "auto": whether time, or Ctrl-C, ended the search.
    classes_ : ndarray
        The labels, sorted.

    Examples
    --------
    >>> from genus import TextClassifier
    >>> texts = ["the match was won in the last minute", "shares fell as the bank warned", "a late goal won it"]
    >>> clf = TextClassifier("nb").fit(texts, ["sport", "money", "sport"])
    >>> clf.predict(["the bank fell"])
    array(['money'], dtype='<U5')
    >>> print(clf.explain("who won the match?"))
    sport  (probability 0.894; next: money)
      won           +0.847  x1
      match         +0.442  x1
      the           +0.154  x1
      (prior)       +0.693
      = log odds    +2.136
      1 of 4 words is not in the vocabulary (ignored)
    """

    _pipeline: FittedPipeline
    _receipt: Receipt | None = None
    leaderboard_: list[dict[str, Any]]
    search_cut_short_: bool

    def __init__(
        self,
        model: str | Estimator = "auto",
        *,
        vectorizer: Vectorizer | None = None,
        weighting: str | TermWeighting | None = None,
        time_budget: float = 60.0,
        objective: str = "accuracy",
        tree: Any = None,
        class_prior: Any = "learned",
        vectors: Any = "auto",
        descriptions: Mapping[Any, str] | bool | None = None,
        random_state: int = 0,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.model = model
        self.vectorizer = vectorizer
        self.weighting = weighting
        self.time_budget = time_budget
        self.objective = objective
        self.tree = tree
        self.class_prior = class_prior
        self.vectors = vectors
        self.descriptions = descriptions
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    # ------------------------------------------------------------------ learning

    def fit(
        self,
        texts: Texts,
        labels: GivenLabels,
        sample_weight: ArrayLike | None = None,
        *,
        unlabeled: Texts | None = None,
        groups: ArrayLike | None = None,
        classes: Mapping[Any, str] | Iterable[Label] | None = None,
    ) -> Self:
        """Learn from texts and their labels.

        Parameters
        ----------
        texts : list, tuple, array, pandas or polars Series, or Arrow array of str
        labels : array-like of str or int, or list of sets of them
            With "auto" also sets of labels, where a text has several or none. None for a text without a label,
            where the model learns from such texts too ("auto", "nlhb").
        sample_weight : array-like of float or None, default=None
        unlabeled : list of str or None, default=None
            For "auto": more texts of the same kind, whose labels nobody knows (see `genus.auto.self_training`).
        groups : array-like or None, default=None
            For "auto": texts of one group, such as reviews of one film, are left out together.
        classes : dict, list of labels, or None, default=None
            For "auto": the classes there are, with their descriptions if it is a dict, which take the place of
            `descriptions`. Classes may be without labeled texts, even all of them: ``fit([], [], classes=...)``
            classifies by names and descriptions alone, and `partial_fit` goes on from there.
        """
        if self._is_auto:
            given = as_texts(texts)
            with self._writing:
                choice = self._choose(given, labels, sample_weight, groups, unlabeled, classes)
                receipt = with_labeled(no_receipt(choice.pool), given, labels, sample_weight, self.n_jobs)
                self._take(choice)
                self._receipt = receipt
            return self
        self._refuse_for_auto(unlabeled, classes)
        parts = self._new_parts()
        read, own = pair(texts, labels, missing=offers(parts.model, LearnsUnlabeled))
        check_two_classes(own)
        with self._writing:
            parts.fit(read, own, sample_weight)
            receipt = with_texts(no_receipt(parts), read, own, sample_weight, self.n_jobs)
            self._pipeline, self._receipt = parts, receipt
        return self

    def partial_fit(
        self,
        texts: Texts,
        labels: GivenLabels,
        sample_weight: ArrayLike | None = None,
        classes: ArrayLike | None = None,
    ) -> Self:
        """Learn more. New words and new classes may come at any time."""
        read, own = pair(texts, labels)
        with self._writing:
            if hasattr(self, "_pipeline"):
                before, parts = self._receipt, self._pipeline.writable()
                parts.partial_fit(read, own, sample_weight)
            else:
                first = self._new_parts()
                first.partial_fit(read, own, sample_weight, first=True)
                before, parts = no_receipt(first), first
            receipt = with_texts(before, read, own, sample_weight, self.n_jobs)
            self._pipeline, self._receipt = parts, receipt
        return self

    def unlearn(self, texts: Texts, labels: GivenLabels, sample_weight: ArrayLike | None = None) -> Self:
        """Take texts back that were learned before: the model is as if it had never seen them.

        Words that no other text has leave the vocabulary too. A weighting keeps the idf that `fit` gave it:
        "never seen" is meant for that idf. Raises ValueError, and changes nothing, where a text was not learned
        with that label and weight (where words are hashed, or in a file of the first releases: as far as sums tell).
        """
        read, own = pair(texts, labels)
        with self._writing:
            parts, receipt = self._fitted.writable(), self._receipt
            if receipt is not None and numbers_documents(parts):
                numbers = numbers_of(receipt, read, own, sample_weight, self.n_jobs)
                parts.unlearn_documents(numbers)
                receipt = receipt.without_numbers(numbers)
            else:
                parts.unlearn(read, own, sample_weight)
                receipt = without_texts(receipt, read, own, sample_weight, self.n_jobs)
            self._pipeline, self._receipt = parts, receipt
        return self

    @property
    def _writing(self) -> Lock:
        """Held by the one who learns. Those who ask need no lock: what they read is replaced, not changed."""
        lock: Lock = self.__dict__.setdefault("_lock", Lock())
        return lock

    # ------------------------------------------------------------------ answering

    def predict(
        self,
        texts: Texts,
        *,
        level: int | None = None,
        min_proba: float | None = None,
        reject: bool | float = False,
    ) -> Any:
        """The most probable label of each text as an array; where sets were learned, a list of sets of labels.

        Parameters
        ----------
        texts : list of str, and as for `fit`
        level, min_proba : int and float, default=None
            With a tree of classes: a node above the label (see `predict_nodes`).
        reject : bool or float, default=False
            Answer None for texts that are unlike all classes: those less typical (see `typicality`) than this
            share of the texts that do belong; True is 0.05. For "auto" only.
        """
        rate = _rejection_rate(reject)
        if level is not None or min_proba is not None:
            return self.predict_nodes(texts, level=level, min_proba=min_proba, reject=rate)[0]
        return self._fitted.answers(texts, rate)

    def typicality(self, texts: Texts) -> Float64:
        """How like its classes each text is: the share of texts of these classes that are no more so.

        Low where no class stands out and words are unknown (see `genus.pipeline.rejection`). For "auto" only.
        """
        return self._fitted.typicality(texts)

    def predict_proba(self, texts: Texts) -> Float64:
        """The probability of each class (in the order of `classes_`) for each text."""
        return np.exp(self.predict_log_proba(texts))

    def predict_log_proba(self, texts: Texts) -> Float64:
        """The logarithm of `predict_proba`."""
        return self._fitted.log_proba(texts)

    def leave_one_out_log_proba(
        self, texts: Texts, labels: GivenLabels, sample_weight: ArrayLike | None = None
    ) -> Float64:
        """log p(c | text) for training texts, each by the model trained without it. Words keep their columns.

        A weighting stays as it was learned, and texts are weighed as they were when they were learned.
        """
        read, own = pair(texts, labels)
        return self._fitted.leave_one_out(read, own, sample_weight)

    def predict_top(self, texts: Texts, k: int = 5, *, reject: bool | float = False) -> tuple[Labels, Float64]:
        """The k most probable labels of each text and their probabilities, best first.

        With ``reject`` (as for `predict`), the first label of a text that is unlike all classes is None.
        """
        return self._fitted.top(texts, k, _rejection_rate(reject))

    def explain(self, text: str, *, label: Label = None, against: Label = None) -> Explanation:
        """Why this text is taken for `label` (by default the predicted one) and not for `against` (the next)."""
        if not isinstance(text, str):
            raise ValueError(f"explain takes one text (str), got {type(text).__name__}.")
        chosen = rival = 0

        def choose(log_proba: Float64) -> tuple[int, int]:
            nonlocal chosen, rival
            order = np.argsort(-log_proba, kind="stable").tolist()
            chosen = order[0] if label is None else known._class_number(label)
            rival = next((c for c in order if c != chosen), chosen) if against is None else known._class_number(against)
            return chosen, rival

        known = self._snapshot()
        log_proba, evidence = known._fitted.explained(text, choose)
        words = sorted(evidence.words, key=lambda w: (-abs(w.contribution), w.word))
        return Explanation(
            text=text,
            label=known.classes_[chosen].item(),
            probability=float(np.exp(log_proba[chosen])),
            against=known.classes_[rival].item() if known._pipeline.exclusive else f"not {known.classes_[chosen]}",
            log_odds=evidence.prior + float(sum(w.contribution for w in words)) + sum(evidence.terms.values()),
            prior=evidence.prior,
            words=tuple(words),
            n_unknown=evidence.n_unknown,
            n_words=evidence.n_words,
            terms=evidence.terms,
            documents=evidence.documents,
            nodes=evidence.nodes,
            typicality=evidence.typicality,
        )

    def top_words(self, label: Label, n: int = 10) -> list[tuple[str, float]]:
        """The strongest words for a class, with their weights."""
        known = self._snapshot()
        return known._fitted.top_words(known._class_number(label), n)

    def _snapshot(self) -> Self:
        """This classifier as it is now, whatever is learned meanwhile."""
        return copy(self)

    # ------------------------------------------------------------------ what was learned

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_pipeline")

    @property
    def _fitted(self) -> FittedPipeline:
        if not hasattr(self, "_pipeline"):  # scikit-learn's check takes longer than an answer
            check_is_fitted(self)
        return self._pipeline

    @property
    def model_(self) -> Any:
        return self._pipeline.model

    @property
    def vectorizer_(self) -> Reader:
        return self._pipeline.vectorizer

    @property
    def weighting_(self) -> TermWeighting | None:
        return self._pipeline.weighting

    @property
    def classes_(self) -> Labels:
        return self._pipeline.classes_

    @property
    def receipt_(self) -> Receipt | None:
        """How many texts were learned, and a sum of hashes of text, label and weight, which does not depend on order.

        None where that is not known: of models that cannot unlearn, and of files of the first releases.
        """
        check_is_fitted(self)
        return self._receipt

    # ------------------------------------------------------------------ files

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to one file, atomically.

        The table of word vectors that ships with genus is named in it by its checksum, another table is stored.
        """
        with self._writing:
            whole = copy(self)
            if not (self.vectors is None or isinstance(self.vectors, str)):
                whole.vectors = None  # the pipeline holds it, or its name
            persistence.save(whole, path)

    @classmethod
    def load(cls, path: str | PathLike[str], *, mmap: bool = True, verify: bool = False, vectors: Any = None) -> Self:
        """Open a file that `save` wrote: by memory map, in milliseconds.

        With ``mmap=False`` it is read into memory, and the file may change afterwards; with ``verify=True`` every array
        is compared with its checksum. See `genus.io.load`. A model that was trained with a function or a sentence
        encoder as `vectors` needs it again here: a file holds data only.
        """
        loaded = persistence.load(path, mmap=mmap, verify=verify)
        if not isinstance(loaded, cls):
            raise ModelFileError(f"{path} holds a {type(loaded).__name__}, not a {cls.__name__}.")
        if vectors is not None:
            loaded._use_encoder(vectors)
        return loaded

    @property
    def _reader_of_vectors(self) -> VectorReader | None:
        readers = (pipeline.vectorizer for pipeline in self._pipeline.pipelines)
        return next((reader for reader in readers if isinstance(reader, VectorReader)), None)

    def _use_encoder(self, vectors: Any) -> None:
        """Put an encoder in the place of one that a file could not hold."""
        reader = self._reader_of_vectors
        if reader is None:
            raise ValueError("vectors were given for a model that was trained without.")
        encoder = as_encoder(vectors)
        if encoder.n_dimensions != reader.n_columns_:
            raise ValueError(
                f"the model was trained with vectors of {reader.n_columns_} dimensions ({reader.source.name}), "
                f"and {encoder.name} gives {encoder.n_dimensions}."
            )
        reader.source = self.vectors = encoder

    def _get_state(self) -> State:
        check_is_fitted(self)
        numbered, known = numbers_documents(self._pipeline), self._receipt
        receipt = {} if known is None else known.to_state(numbered=numbered)
        if isinstance(self._pipeline, TextPipeline):
            return {**self._pipeline.get_state(), **receipt}
        parts = {"pool": self._pipeline, "leaderboard": self.leaderboard_, "cut_short": self.search_cut_short_}
        return parts | receipt

    def _set_state(self, state: Mapping[str, Any]) -> None:
        if "pool" in state:
            self._take(ChosenPool.from_state(state["pool"], state["leaderboard"], state["cut_short"]))
        else:
            self._pipeline = TextPipeline.from_state(state)
        self._receipt = Receipt.from_state(state)
        if self.vectors is None and self._reader_of_vectors is not None:
            self.vectors = self._reader_of_vectors.source

    # ------------------------------------------------------------------ choosing

    @property
    def _is_auto(self) -> bool:
        return isinstance(self.model, str) and self.model == "auto"

    def _choose(
        self,
        texts: Texts,
        labels: GivenLabels,
        sample_weight: ArrayLike | None,
        groups: ArrayLike | None,
        unlabeled: Texts | None,
        classes: Mapping[Any, str] | Iterable[Label] | None,
    ) -> ChosenPool:
        if holds_sets(labels):
            stated = (
                ("unlabeled", unlabeled),
                ("tree", self.tree),
                ("class_prior", self._stated_prior),
                ("classes", classes),
                ("descriptions", self.descriptions or None),
            )
            for name, value in stated:
                if value is not None:
                    raise ValueError(f"{name} is for one label per text, not for sets.")
            return choose_sets(plain_texts(texts), labels, self._request(), sample_weight=sample_weight, groups=groups)
        declared, descriptions = self._declared(classes)
        given = split_unlabeled(as_texts(texts), labels, sample_weight, groups, unlabeled)
        known, own = pair(given.texts, given.labels)
        read = plain_texts(known)
        encoder = encoder_for(self.vectors, [*read, *given.unlabeled], self.n_jobs)
        request = self._request(encoder, descriptions)
        if declared is not None:
            every = encode_labels(np.asarray([*declared, *own.tolist()]))[0]
            if len(every) > len(np.unique(own)):
                return choose_described(read, own, request, every, unlabeled=given.unlabeled)
        check_two_classes(own)
        with searching(self.verbose) as progress:
            return choose(
                read, own, request, unlabeled=given.unlabeled,
                sample_weight=given.sample_weight, groups=given.groups, progress=progress,
            )  # fmt: skip

    def _declared(
        self, classes: Mapping[Any, str] | Iterable[Label] | None
    ) -> tuple[list[Label] | None, Mapping[Any, str] | bool | None]:
        """The classes that were declared, and their descriptions."""
        if classes is None:
            return None, self.descriptions
        if isinstance(classes, str):
            raise ValueError(f"classes must be a dict or a list of labels, got {classes!r}.")
        labels = list(classes)
        stated = {label: text for label, text in classes.items() if text} if isinstance(classes, Mapping) else {}
        return labels, stated or self.descriptions

    def _request(
        self, encoder: VectorReader | None = None, descriptions: Mapping[Any, str] | bool | None = None
    ) -> Request:
        n_threads(self.n_jobs)  # says what is wrong with it, if anything
        weighting = self._new_weighting()
        return Request(
            self.objective, self.time_budget, self.vectorizer, weighting, self.random_state, self.n_jobs,
            self.tree, self.class_prior, encoder, descriptions,
        )  # fmt: skip

    def _refuse_for_auto(self, unlabeled: Texts | None, classes: object) -> None:
        """Raise ValueError for a request that only "auto" supports."""
        for name, value in (("classes", classes), ("descriptions", self.descriptions or None)):
            if value is not None:
                raise ValueError(f"{name} is for model='auto'.")
        if unlabeled is not None:
            raise ValueError("texts without labels are for model='auto'.")
        if self.tree is not None:
            raise ValueError("tree is for model='auto'; give it to the model itself: HierarchicalMixture(tree=...).")
        if self._stated_prior is not None:
            raise ValueError("class_prior is for model='auto'.")

    @property
    def _stated_prior(self) -> Any:
        """The prior that takes the place of the learned one, if any."""
        learned = isinstance(self.class_prior, str) and self.class_prior == "learned"
        return None if learned else self.class_prior

    def _take(self, choice: ChosenPool) -> None:
        self._pipeline = choice.pool
        self.leaderboard_, self.search_cut_short_ = choice.leaderboard, choice.cut_short

    # ------------------------------------------------------------------ helpers

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def _prediction_parameters(self) -> set[str]:
        """The parameters that act without the texts: a search need not fit again to change them."""
        names = self.model._prediction_parameters() if offers(self.model, Retunes) else set()
        return {f"model__{name}" for name in names - {"n_jobs"}}

    def _retuned(self, **params: Any) -> Self:
        """A fitted classifier with other `_prediction_parameters` that shares what this one has learned."""
        other = copy(self)
        other.model = clone(self.model)
        other.set_params(**params)
        plain = {name.removeprefix("model__"): value for name, value in params.items()}
        assert isinstance(self._pipeline, TextPipeline)
        other._pipeline = replace(self._pipeline, model=self.model_._retuned(**plain))
        return other

    def _last_step(self, texts: Texts) -> tuple[str, Any, Any]:
        """The prefix of the model's parameters, the fitted model, and the texts as it takes them."""
        assert isinstance(self._pipeline, TextPipeline)
        return "model__", self.model_, self._pipeline.matrix(texts)

    def _new_parts(self) -> TextPipeline:
        weighting = self._new_weighting()
        name = "nb" if self._is_auto else self.model  # where nothing can be left out there is nothing to choose by
        model = make_model(name) if isinstance(name, str) else clone(name)
        if "n_jobs" not in model.get_params(deep=False):
            raise ValueError(
                f"model must be a classifier of one label per text, got {type(model).__name__}; for sets of labels use "
                "model='auto', or put a Vectorizer before it in a Pipeline of scikit-learn."
            )
        vectorizer: Reader
        if isinstance(model, DenseGaussian):
            vectorizer = self._encoder_of_vectors()
        else:
            vectorizer = default_vectorizer() if self.vectorizer is None else clone(self.vectorizer)
        n_threads(self.n_jobs)  # says what is wrong with it, if anything
        for part in (vectorizer, weighting, model):
            if part is not None:
                part.set_params(n_jobs=self.n_jobs)
        return TextPipeline(vectorizer, weighting, model)

    def _encoder_of_vectors(self) -> VectorReader:
        """The encoder for a model of vectors alone."""
        for name, value in (("vectorizer", self.vectorizer), ("weighting", self.weighting)):
            if value is not None:
                raise ValueError(f"{name} is for models of counts; model='gaussian' takes vectors=.")
        found = encoder_for(self.vectors, [], self.n_jobs)
        if found is None:
            raise ValueError("model='gaussian' needs vectors: a path, an encoder, or 'auto' for the table that ships.")
        return found

    def _new_weighting(self) -> TermWeighting | None:
        if isinstance(self.weighting, str):
            return TermWeighting.named(self.weighting)
        if not (self.weighting is None or isinstance(self.weighting, TermWeighting)):
            raise ValueError(f"weighting must be a name, a TermWeighting or None, got {self.weighting!r}.")
        return None if self.weighting is None else clone(self.weighting)

    def _class_number(self, label: Label) -> int:
        found = np.flatnonzero(self.classes_ == label)
        if len(found) == 0:
            raise ValueError(f"{label!r} is not one of the {len(self.classes_)} classes of this model.")
        return int(found[0])


def _rejection_rate(reject: bool | float | None) -> float | None:
    """The false-rejection rate that was asked for, None for no rejection."""
    if reject is False or reject is None:
        return None
    rate = 0.05 if reject is True else reject
    if not 0 <= rate <= 1:
        raise ValueError(f"reject must be a bool or a share from 0 to 1, got {reject!r}.")
    return rate
