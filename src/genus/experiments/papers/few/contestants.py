"""Who takes part: classifiers that learn a few texts and give probabilities, or at least labels.

Classifiers of encodings (an encoder's vectors of the texts) are logistic regression with C = 10 on unit vectors; those of
words have sublinear TF-IDF. With so few texts nothing is gained by tuning either.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from genus.base.arrays import Float64
from genus.base.labels import Labels
from genus.classifier.text_classifier import TextClassifier
from genus.experiments.papers.few.texts import Draw, Pool


class Contestant(Protocol):
    """Fitted to texts and labels; says labels, and probabilities in the order of `classes_` where it has them."""

    classes_: Labels

    def fit(self, texts: Sequence[str], labels: Labels, /) -> Any: ...

    def predict(self, texts: Sequence[str], /) -> Labels: ...


Encode = Callable[[Sequence[str]], Float64]


class EncodedLR:
    """Logistic regression on an encoder's unit vectors."""

    def __init__(self, encode: Encode) -> None:
        self.encode = encode
        self._model = LogisticRegression(C=10, max_iter=1_000)

    def fit(self, texts: Sequence[str], labels: Labels) -> EncodedLR:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self._model.fit(self.encode(texts), labels)
        self.classes_: Labels = self._model.classes_
        return self

    def predict(self, texts: Sequence[str]) -> Labels:
        answers: Labels = self._model.predict(self.encode(texts))
        return answers

    def predict_proba(self, texts: Sequence[str]) -> Float64:
        probabilities: Float64 = self._model.predict_proba(self.encode(texts))
        return probabilities


def svm() -> Contestant:
    model: Contestant = make_pipeline(_words(), LinearSVC(random_state=0))
    return model


def logistic_regression() -> Contestant:
    model: Contestant = make_pipeline(_words(), LogisticRegression(C=10, max_iter=1_000))
    return model


def genus() -> Contestant:
    model: Contestant = TextClassifier()
    return model


def _words() -> TfidfVectorizer:
    return TfidfVectorizer(sublinear_tf=True, token_pattern=r"\w+")


CONTESTANTS: dict[str, Callable[[], Contestant]] = {
    "genus": genus,
    "LinearSVC": svm,
    "LR": logistic_regression,
}


def accuracy(contestant: Contestant, given: Draw, pool: Pool) -> float:
    """Of the contestant fitted to a draw, on the pool's test texts."""
    contestant.fit(given.texts, given.labels)
    return float(np.mean(contestant.predict(pool.test_texts) == pool.test_labels))
