"""What a search answers after `fit`: the methods of the best estimator, where it has them."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, TypeVar

from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import Tags, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from genus.base.protocol import Samples, Targets
from genus.search.results import Table

Method = TypeVar("Method", bound=Callable[..., object])


def _check_refit(search: BestEstimator, name: str) -> None:
    if not search.refit:
        raise AttributeError(
            f"{name} needs a fitted estimator, but this {type(search).__name__} has refit=False. Fit one with "
            "best_params_, or set refit=True."
        )


def _if_estimator_has(name: str) -> Callable[[Method], Method]:
    """Marks a method that is there if the estimator, refitted or not yet, has it."""

    def check(search: BestEstimator) -> bool:
        _check_refit(search, name)
        getattr(getattr(search, "best_estimator_", search.estimator), name)  # says what is missing
        return True

    decorator: Callable[[Method], Method] = available_if(check)
    return decorator


class BestEstimator(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A search whose ``best_estimator_`` answers for it. Subclasses have ``estimator``, ``refit`` and ``cv``."""

    estimator: Any
    refit: bool | Callable[[Table], int]
    cv: object
    scorer_: Callable[..., float]
    best_estimator_: Any

    def score(self, X: Samples, y: Targets = None) -> float:
        """The score of the best estimator by ``scoring``."""
        _check_refit(self, "score")
        check_is_fitted(self)
        return self.scorer_(self.best_estimator_, X, y)

    @_if_estimator_has("predict")
    def predict(self, X: Samples) -> Targets:
        """What the best estimator predicts."""
        return self._fitted_best.predict(X)

    @_if_estimator_has("predict_proba")
    def predict_proba(self, X: Samples) -> Any:
        """The best estimator's probabilities, in the order of ``classes_``."""
        return self._fitted_best.predict_proba(X)

    @_if_estimator_has("predict_log_proba")
    def predict_log_proba(self, X: Samples) -> Any:
        """The logarithms of the best estimator's probabilities, in the order of ``classes_``."""
        return self._fitted_best.predict_log_proba(X)

    @_if_estimator_has("decision_function")
    def decision_function(self, X: Samples) -> Any:
        """The best estimator's decision function."""
        return self._fitted_best.decision_function(X)

    @_if_estimator_has("score_samples")
    def score_samples(self, X: Samples) -> Any:
        """The best estimator's score of each document."""
        return self._fitted_best.score_samples(X)

    @_if_estimator_has("transform")
    def transform(self, X: Samples) -> Samples:
        """X as the best estimator transforms it."""
        return self._fitted_best.transform(X)

    @_if_estimator_has("inverse_transform")
    def inverse_transform(self, X: Samples) -> Samples:
        """What the best estimator transforms into X."""
        return self._fitted_best.inverse_transform(X)

    @property
    def classes_(self) -> Any:
        """The labels, sorted."""
        _check_refit(self, "classes_")
        return self.best_estimator_.classes_

    @property
    def n_features_in_(self) -> int:
        """The number of columns seen during `fit`."""
        n: int = self.best_estimator_.n_features_in_
        return n

    @property
    def _fitted_best(self) -> Any:
        check_is_fitted(self)
        return self.best_estimator_

    def get_metadata_routing(self) -> MetadataRouter:
        """Parameters of `fit` go to the estimator's ``fit``, and groups to the splitter."""
        router = MetadataRouter(owner=type(self).__name__)
        router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        return router

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        own = get_tags(self.estimator)
        tags.estimator_type = own.estimator_type
        tags.classifier_tags = deepcopy(own.classifier_tags)
        tags.regressor_tags = deepcopy(own.regressor_tags)
        tags.input_tags = deepcopy(own.input_tags)
        tags.array_api_support = own.array_api_support
        return tags
