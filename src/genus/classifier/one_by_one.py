"""One text at a time: for streams, where each answer and each lesson should cost microseconds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

from sklearn.utils.validation import check_is_fitted

from genus.base.arrays import describe
from genus.base.locks import Lock
from genus.base.protocol import Label
from genus.pipeline.protocol import FittedPipeline


class OneByOne:
    """What a `TextClassifier` does with single texts.

    Models that learn online ("dmnb") take tens of microseconds for either; others make their parameters again
    at the first prediction after each lesson.
    """

    _pipeline: FittedPipeline

    if TYPE_CHECKING:

        @property
        def _writing(self) -> Lock: ...

    def learn_one(self, text: str, label: Label, sample_weight: float = 1.0) -> Self:
        """Learn one more text. New words and new classes may come at any time.

        Parameters
        ----------
        text : str
        label : str or int
        sample_weight : float, default=1.0

        Examples
        --------
        >>> from genus import TextClassifier, Vectorizer
        >>> clf = TextClassifier("dmnb", vectorizer=Vectorizer(n_hash=2**20))  # memory stays flat, whatever comes
        >>> for text, label in [("win a prize", "spam"), ("lunch at noon", "ham"), ("a prize for you", "spam")]:
        ...     clf = clf.learn_one(text, label)
        >>> clf.predict_one("your prize")
        'spam'
        """
        _check_text(text)
        if label is None or label != label:
            raise ValueError("the label is missing.")
        if not 0 <= sample_weight < math.inf:
            raise ValueError(f"sample_weight must be finite and not negative, got {sample_weight!r}.")
        if not hasattr(self, "_pipeline") or not self._pipeline.learns_online:
            return self.partial_fit([text], [label], [sample_weight])  # type: ignore[attr-defined,no-any-return]
        with self._writing:
            self._pipeline.learn_one(text, label, float(sample_weight))
        return self

    def predict_one(self, text: str) -> Any:
        """The most probable label of one text."""
        _check_text(text)
        if not hasattr(self, "_pipeline"):
            check_is_fitted(self)
        return self._pipeline.answer_one(text)


def _check_text(text: object) -> None:
    if not isinstance(text, str):
        raise ValueError(f"expected one text (str), got {describe(text)}.")
