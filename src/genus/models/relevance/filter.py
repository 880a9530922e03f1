"""Training documents with what is not about their class made light: for any classifier after it.

    weight of word w in document d of class t  =  floor + (1 - floor) * p(z = t | d, w)

with the probability of the relevance-based topic model, see `genus.models.relevance`.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from genus.base.protocol import Samples, State, Targets
from genus.base.rows import MatrixLike
from genus.base.validation import check_number
from genus.models.relevance.model import RelevanceTopicModel


class RelevanceFilter(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg, misc]
    """Makes words of training documents count by how probably they are about the document's class.

    New documents, whose class nobody knows, pass as they are: in a pipeline, training goes through `fit_transform`,
    predicting through `transform`.

    For classifiers that add documents up by class, such as naive Bayes, where training documents hold much that is
    not about their class. A discriminative one, such as a support vector machine, learns to read the label from the
    weights, and does worse.

    Parameters
    ----------
    model : RelevanceTopicModel, default=None
        The model that marks words; by default one with its own defaults.
    floor : float, default=0.2
        The weight of a word that is surely not about the class, from 0 to 1: with 0 much is lost that happens to help.

    Attributes
    ----------
    model_ : RelevanceTopicModel
        The fitted model.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from genus import MultinomialNB, RelevanceFilter, RelevanceTopicModel, Vectorizer
    >>> texts = ["goal match goal the weather", "match goal the cat", "bank stock bank the dog", "stock bank the sea"]
    >>> robust = make_pipeline(Vectorizer(), RelevanceFilter(RelevanceTopicModel(random_state=0)), MultinomialNB())
    >>> robust.fit(texts, ["sport", "sport", "money", "money"]).predict(["a bank"]).tolist()
    ['money']
    """

    def __init__(self, model: RelevanceTopicModel | None = None, *, floor: float = 0.2) -> None:
        self.model = model
        self.floor = floor

    def fit(self, X: MatrixLike, y: ArrayLike) -> Self:
        """Learn which words are about which class. See `RelevanceTopicModel.fit`."""
        X, y = validate_data(self, X, y, accept_sparse="csr")
        self._fit(X, y)
        return self

    def fit_transform(self, X: Samples, y: ArrayLike, **fit_params: object) -> Samples:
        """Learn, and give back these documents with the weights of their words."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=(np.float64, np.float32))
        marks = self._fit(X, y).mark(X, y)
        weights = marks.relevant * (1 - self.floor)
        weights.data += self.floor
        is_sparse = sparse.issparse(X)
        if not is_sparse:
            return X * weights.toarray()
        weighted = X.copy()
        weighted.data = X.data * weights.data  # the same entries in the same order
        return weighted

    def transform(self, X: MatrixLike) -> Samples:
        """New documents, as they are."""
        check_is_fitted(self)
        return validate_data(self, X, reset=False, accept_sparse="csr", copy=True)

    def _fit(self, X: MatrixLike, y: Targets) -> RelevanceTopicModel:
        check_number("floor", self.floor, 0, 1, "a number from 0 to 1")
        if not (self.model is None or isinstance(self.model, RelevanceTopicModel)):
            raise ValueError(f"model must be a RelevanceTopicModel or None, got {self.model!r}.")
        check_non_negative(X, "RelevanceFilter (input X)")
        model = RelevanceTopicModel() if self.model is None else clone(self.model)
        self.model_: RelevanceTopicModel = model.fit(X, y)
        return self.model_

    def _get_state(self) -> State:
        check_is_fitted(self)
        return {"model": self.model_}

    def _set_state(self, state: State) -> None:
        model = state["model"]
        if not isinstance(model, RelevanceTopicModel):
            raise ValueError("a RelevanceTopicModel was expected")
        self.model_ = model
        self.n_features_in_ = model.n_features_in_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.target_tags.required = True
        tags.non_deterministic = True  # what is drawn; and training documents are not treated as new ones are
        return tags
