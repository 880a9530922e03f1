"""Who takes part: classifiers that learn a few texts, each made for one set.

Those of words have sublinear TF-IDF; those of vectors are logistic regression with C = 10 on vectors of unit length.
Nothing is tuned: with so few labels there is little to tune by.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Protocol, runtime_checkable

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from genus.base.arrays import Float64
from genus.base.labels import Labels
from genus.classifier.text_classifier import TextClassifier
from genus.experiments.papers.few.encodings import Encode, encoder_folder, encodings
from genus.experiments.papers.few.texts import SETS, load_pool
from genus.vectors import WordVectors


class Contestant(Protocol):
    """Learns texts and their labels, and predicts labels; without any text, by the names of the classes alone."""

    def fit(self, texts: Sequence[str], labels: Labels, /) -> object: ...

    def predict(self, texts: Sequence[str], /) -> Labels: ...


@runtime_checkable
class GivesProbabilities(Protocol):
    """Gives each class a probability, in the order of `classes_`."""

    classes_: Labels

    def predict_proba(self, texts: Sequence[str], /) -> Float64: ...


class EncodedLR:
    """Logistic regression on an encoder's unit vectors; a text may be given for each class, as one more example.

    Without any other example, the answer is the class whose own text is nearest.
    """

    def __init__(self, encode: Encode, names: Mapping[str, str] | None = None) -> None:
        self.encode = encode
        self.names = names or {}
        self._model = LogisticRegression(C=10, max_iter=1_000)
        self._nearest: Float64 | None = None

    def fit(self, texts: Sequence[str], labels: Labels) -> EncodedLR:
        if not len(texts):
            self.classes_: Labels = np.array(list(self.names))
            self._nearest = self.encode(list(self.names.values())).astype(np.float64)
            return self
        rows = self.encode([*texts, *self.names.values()])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self._model.fit(rows, np.concatenate([labels, list(self.names)]) if self.names else labels)
        self.classes_ = self._model.classes_
        return self

    def predict(self, texts: Sequence[str]) -> Labels:
        answers: Labels = self.classes_[self._scores(texts).argmax(axis=1)]
        return answers

    def predict_proba(self, texts: Sequence[str]) -> Float64:
        scores = self._scores(texts)
        return scores if self._nearest is None else _softmax(scores)

    def _scores(self, texts: Sequence[str]) -> Float64:
        rows = self.encode(list(texts))
        scores: Float64 = self._model.predict_proba(rows) if self._nearest is None else rows @ self._nearest.T
        return scores


def _softmax(scores: Float64) -> Float64:
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Float64 = odds / odds.sum(axis=1, keepdims=True)
    return shares


class DescribedGenus:
    """TextClassifier with a text for each class, or a list of names, all it has where no labeled text is given."""

    def __init__(self, classes: Mapping[str, str] | Sequence[str]) -> None:
        self.classes = classes

    def fit(self, texts: Sequence[str], labels: Labels) -> DescribedGenus:
        self._model = TextClassifier().fit(texts, labels, classes=self.classes)
        self.classes_: Labels = self._model.classes_
        return self

    def predict(self, texts: Sequence[str]) -> Labels:
        answers: Labels = self._model.predict(texts)
        return answers

    def predict_proba(self, texts: Sequence[str]) -> Float64:
        probabilities: Float64 = self._model.predict_proba(texts)
        return probabilities


class FineTuned:
    """SetFit: the encoder itself learns from pairs of texts, then logistic regression on its vectors."""

    def fit(self, texts: Sequence[str], labels: Labels) -> FineTuned:
        setfit, datasets = import_module("setfit"), import_module("datasets")
        self.classes_: Labels
        self.classes_, codes = np.unique(labels, return_inverse=True)
        given = datasets.Dataset.from_dict({"text": list(texts), "label": codes.tolist()})
        self._model = setfit.SetFitModel.from_pretrained(str(encoder_folder()), device="cpu")
        arguments = setfit.TrainingArguments(num_epochs=1, seed=0, report_to="none", save_strategy="no")
        setfit.Trainer(model=self._model, args=arguments, train_dataset=given).train()
        return self

    def predict(self, texts: Sequence[str]) -> Labels:
        answers: Labels = self.classes_[np.asarray(self._model.predict(list(texts)))]
        return answers


def words_of(label: str) -> str:
    """The words of a class's name: cut at punctuation, and where a capital follows a small letter.

    >>> words_of("rec.sport.baseball"), words_of("OfficeHolder"), words_of("Sci/Tech")
    ('rec sport baseball', 'Office Holder', 'Sci Tech')
    """
    return " ".join(re.findall(r"\w+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", label.replace("_", " "))))


def names_of(name: str) -> dict[str, str]:
    """The words of the classes' names, of a set."""
    return {label: words_of(label) for label in load_pool(name).classes}


def descriptions_of(name: str) -> dict[str, str]:
    """What the classes of a set are about; their names where nobody says more."""
    return dict(SETS[name].descriptions or names_of(name))


def _words() -> TfidfVectorizer:
    return TfidfVectorizer(sublinear_tf=True, token_pattern=r"\w+")


def _svm(name: str) -> Contestant:
    model: Contestant = make_pipeline(_words(), LinearSVC(random_state=0))
    return model


def _logistic_regression(name: str) -> Contestant:
    model: Contestant = make_pipeline(_words(), OneVsRestClassifier(LogisticRegression(C=10, solver="liblinear")))
    return model


def _genus(**given: object) -> Callable[[str], Contestant]:
    return lambda name: TextClassifier(**given)  # type: ignore[arg-type]


def _table(name: str) -> Contestant:
    table = WordVectors.shipped()
    return EncodedLR(lambda texts: table.encode(texts).vectors)


def _encoder(name: str) -> Contestant:
    return EncodedLR(_encoded("encoder", name))


def _encoder_with_names(name: str) -> Contestant:
    return EncodedLR(_encoded("encoder", name), names_of(name))


def _encoder_with_descriptions(name: str) -> Contestant:
    return EncodedLR(_encoded("encoder", name), descriptions_of(name))


def _tokens(name: str) -> Contestant:
    return EncodedLR(_encoded("tokens", name))


def _encoded(kind: str, name: str) -> Encode:
    """A set's encodings; those that are missing are made at once, so that no later one is."""
    pool, found = load_pool(name), encodings(kind, name)
    found([*pool.texts, *pool.test_texts, *names_of(name).values(), *descriptions_of(name).values()])
    return found


Makers = dict[str, Callable[[str], Contestant]]


def readers_of_texts() -> Makers:
    """Those that learn from texts and labels alone."""
    made: Makers = {"genus": _genus(), "genus without vectors": _genus(vectors=None), "table + LR": _table}
    made |= {"LinearSVC": _svm, "LR": _logistic_regression}
    if encoder_folder():
        made |= {"tokens + LR": _tokens, "encoder + LR": _encoder}
    return made


def readers_of_names() -> Makers:
    """Those that are also told what the classes are called or about."""
    made: Makers = {
        "genus, names": lambda name: DescribedGenus(list(names_of(name))),
        "genus, descriptions": lambda name: DescribedGenus(descriptions_of(name)),
    }
    if encoder_folder():
        made |= {"encoder + LR, names": _encoder_with_names}
        made |= {"encoder + LR, descriptions": _encoder_with_descriptions}
    return made


def told_no_names() -> Makers:
    """TextClassifier() that must not look at the names of its classes, as it does by default."""
    return {"genus, no names": _genus(descriptions=False)}


def fine_tuned() -> Makers:
    """SetFit, where it and an encoder are installed."""
    return {"SetFit": lambda name: FineTuned()} if encoder_folder() and find_spec("setfit") else {}


def contestants() -> Makers:
    """All that can take part here, each made for a set by its name."""
    return readers_of_texts() | readers_of_names() | told_no_names() | fine_tuned()
