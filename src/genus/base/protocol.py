"""What a model offers to selection, evidence and persistence, by capability.

`Model` is what every model of counts does. The other protocols are capabilities that some models have: code that
needs one asks ``offers(model, Unlearns)``. They hold methods only, so that asking computes nothing.
The functions at the end make mypy check that the models of genus have these capabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from types import FunctionType
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from genus.base.arrays import Float64, Int32, Int64
from genus.base.labels import Labels
from genus.base.rows import MatrixLike, SparseRows

Label: TypeAlias = Hashable  # text, a number or a boolean
Params: TypeAlias = dict[str, Any]  # constructor parameters by name
State: TypeAlias = dict[str, Any]  # what a model file holds of an object: arrays, JSON values, other such objects
Samples: TypeAlias = Any  # a matrix, a data frame, texts: scikit-learn has no type for what an estimator takes,
Targets: TypeAlias = Any  # nor for labels, sets of labels or an indicator matrix
Scores: TypeAlias = NDArray[np.floating]  # (n_documents, n_classes)


if TYPE_CHECKING:
    from sklearn.utils import Tags
    from typing_extensions import TypeIs

    class BaseEstimator:
        """scikit-learn's, with types. Without them mypy would treat subclasses as Any and check nothing."""

        def get_params(self, deep: bool = True) -> Params: ...

        def set_params(self, **params: object) -> Self: ...

        def __getstate__(self) -> State: ...

        def __sklearn_tags__(self) -> Tags: ...

    class ClassifierMixin:
        """scikit-learn's, typed likewise."""

        def score(self, X: Samples, y: Targets, sample_weight: object = None) -> float: ...

else:
    from sklearn.base import BaseEstimator as BaseEstimator
    from sklearn.base import ClassifierMixin as ClassifierMixin


Capability = TypeVar("Capability")


def offers(model: object, capability: Callable[..., Capability]) -> TypeIs[Capability]:
    """Whether an object has all methods and attributes of a capability.

    The object is asked, and not its class as ``isinstance`` would: a method that scikit-learn's ``available_if`` hides
    from a model is not there.
    """
    return all(hasattr(model, name) for name in _members(capability))


@cache
def _members(capability: type) -> frozenset[str]:
    protocols = [base for base in capability.__mro__ if base not in (Protocol, Generic, object)]
    methods = {n for base in protocols for n, member in vars(base).items() if isinstance(member, FunctionType)}
    attributes = {name for base in protocols for name in vars(base).get("__annotations__", ())}
    return frozenset(name for name in methods | attributes if not name.startswith("__"))


# Every model


class Estimator(Protocol):
    """What scikit-learn's `clone` and `set_params` work with."""

    def get_params(self, deep: bool = True) -> Params: ...

    def set_params(self, **params: object) -> Self: ...


class ScoresRows(Protocol):
    """Scores the classes of documents that are sparse rows."""

    def _joint_log_likelihood(self, rows: SparseRows) -> Float64: ...

    def _log_proba_rows(self, rows: SparseRows) -> Float64: ...


class Model(ScoresRows, Estimator, Protocol):
    """A model of counts: learns rows with labels, and scores, names and explains the classes of others."""

    @property
    def classes_(self) -> Labels: ...

    def _fit_rows(self, rows: SparseRows, y: Targets, sample_weight: ArrayLike | None = None) -> Self: ...

    def _predict_rows(self, rows: SparseRows) -> Labels: ...

    def _predict_top_rows(self, rows: SparseRows, k: int) -> tuple[Labels, Float64]: ...

    def _add_scores(self, rows: SparseRows, factors: Float64, total: Float64, distances: Float64) -> None: ...

    def _log_evidence(self, row: SparseRows, classes: Sequence[int]) -> tuple[Float64, Float64]: ...

    def _top_words(self, c: int, n: int) -> tuple[Int64, Float64]: ...


class CountsClasses(Protocol):
    """Has the summed document weights of each class."""

    @property
    def class_count_(self) -> Float64: ...


# Learning


class LearnsMore(Protocol):
    """Learns from more documents, which may bring new classes and new words."""

    def _partial_fit_rows(
        self,
        rows: SparseRows,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        classes: ArrayLike | None = None,
    ) -> Self: ...

    def _writable(self) -> Self:
        """A copy that can learn while this one answers: nothing that they share is changed."""


class LearnsOnline(Protocol):
    """Learns and answers one document at a time, in microseconds."""

    def _learn_one(self, rows: SparseRows, label: Label, weight: float = 1.0) -> None: ...

    def _predict_one(self, rows: SparseRows) -> Label: ...


class Unlearns(Protocol):
    """Takes documents out again, exactly, and then the words that no document has."""

    def _unlearn_rows(self, rows: SparseRows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self: ...

    def _has_counts(self, words: Int32) -> NDArray[np.bool_]: ...

    def _keep_columns(self, keep: NDArray[np.bool_]) -> None: ...


class RemembersDocuments(Protocol):
    """Keeps its documents: names those that contribute to an answer, and unlearns them by number."""

    def _neighbors_rows(self, rows: SparseRows, k: int) -> tuple[Int64, Float64]: ...

    def _check_numbers(self, numbers: ArrayLike) -> Int64: ...

    def _unlearn_numbers(self, numbers: Int64) -> SparseRows: ...


class LearnsUnlabeled(Protocol):
    """Learns from documents without a label too."""

    unlabeled: object
    unlabeled_weight: float


# Selection


class LeavesOneOut(Protocol):
    """Scores each training document by the model without it, exactly."""

    def leave_one_out_log_proba(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Float64: ...


class LeavesRowsOut(LeavesOneOut, Protocol):
    """The same from plain rows, without scikit-learn's checks."""

    def _leave_one_out(self, rows: SparseRows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Float64: ...

    def _retuned(self, **params: object) -> Self: ...


class Retunes(Protocol):
    """Has parameters that act without the documents: other values of them need no other fit."""

    def _prediction_parameters(self) -> set[str]: ...

    def _retuned(self, **params: object) -> Estimator: ...


class EndsInModel(Protocol):
    """A chain of steps: the prefix of its model's parameters, the model, and X as the model takes it."""

    def _last_step(self, X: Samples) -> tuple[str, Any, Any]: ...


class ScoresPath(Protocol):
    """Scores documents under several settings for little more than one costs."""

    def _path_scores(self, rows: SparseRows, settings: Sequence[Params]) -> Sequence[Scores]: ...


# Evidence


class TellsSources(Protocol):
    """Splits each word's probability into that of documents, class and background."""

    def _sources(self, row: SparseRows, c: int) -> Float64: ...


class TellsDocuments(Protocol):
    """Names the training documents that carry an answer."""

    def _document_evidence(self, row: SparseRows, k: int) -> list[tuple[int, int, float]]: ...


class LinearInColumns(Protocol):
    """The score of a class is ``coef_ @ (x - center_) + intercept_``."""

    if TYPE_CHECKING:  # properties: at run time they would be computed to see whether they are there

        @property
        def coef_(self) -> Float64: ...

        @property
        def center_(self) -> Float64: ...


class HasTree(Protocol):
    """Classes stand in a tree: answers at any level, and words by node."""

    def _predict_node_rows(
        self, rows: SparseRows, level: int | None, min_proba: float | None
    ) -> tuple[Labels, Float64]: ...

    def _levels(self, row: SparseRows, c: int) -> list[dict[Any, float]]: ...

    def word_levels(self, word: int, label: Any = None) -> dict[Any, float]: ...

    def node_words(self, node: Label, n: int = 10) -> list[tuple[int, float]]: ...


class TellsNodes(Protocol):
    """A class consists of hidden nodes, shown by their words and documents."""

    if TYPE_CHECKING:  # a property: at run time it would be computed to see whether it is there

        @property
        def node_count_(self) -> list[Float64]: ...

    def _node_evidence(self, row: SparseRows, c: int) -> Float64: ...

    def _node_words(self, c: int, n: int) -> list[tuple[Int64, Float64]]: ...

    def nearest_documents(self, label: Label) -> list[list[int]]: ...


class MarksWords(Protocol):
    """Marks each word as about the class, background, or the text's own."""

    def _mark_rows(self, rows: SparseRows, codes: Int32) -> Float64: ...

    def _token_shares(self, rows: SparseRows, codes: Int32) -> Float64: ...

    def _codes_of(self, y: ArrayLike, n: int) -> Int32: ...


# Persistence


class KeepsState(Protocol):
    """Goes into a model file and comes back."""

    def get_params(self, deep: bool = True) -> Params: ...

    def _get_state(self) -> Mapping[str, object]: ...

    def _set_state(self, state: Mapping[str, object]) -> None: ...


if TYPE_CHECKING:
    from genus.models.dense_gaussian import DenseGaussian
    from genus.models.discriminative.model import DiscriminativeNB
    from genus.models.document_mixture.models import (
        KernelDensityClassifier,
        NearestNeighborsClassifier,
        TiedDocumentMixture,
    )
    from genus.models.hierarchical.models import HierarchicalMixture, HierarchicalShrinkage
    from genus.models.naive_bayes import MultinomialNB
    from genus.models.nonlinear.multinomial import NonlinearBayes
    from genus.models.plsa import PLSAClassifier
    from genus.models.refined.model import RefinedNB
    from genus.models.relevance.model import RelevanceTopicModel

    _DocumentMixture: TypeAlias = TiedDocumentMixture | KernelDensityClassifier | NearestNeighborsClassifier
    _Tree: TypeAlias = HierarchicalShrinkage | HierarchicalMixture
    _Additive: TypeAlias = DenseGaussian | MultinomialNB | RefinedNB | PLSAClassifier | _DocumentMixture | _Tree
    _Every: TypeAlias = _Additive | DiscriminativeNB | NonlinearBayes | RelevanceTopicModel

    def _every(model: _Every) -> tuple[Model, KeepsState]:
        return model, model

    def _additive(model: _Additive) -> tuple[LearnsMore, Unlearns, Retunes]:
        return model, model, model

    def _online(model: DiscriminativeNB) -> tuple[LearnsMore, LearnsOnline, Retunes]:
        return model, model, model

    def _document_mixture(
        model: _DocumentMixture,
    ) -> tuple[RemembersDocuments, LeavesRowsOut, TellsSources, TellsDocuments]:
        return model, model, model, model

    def _leaves_out(model: DenseGaussian | MultinomialNB) -> LeavesRowsOut:
        return model

    def _refined(model: RefinedNB) -> ScoresPath:
        return model

    def _tree(model: _Tree) -> HasTree:
        return model

    def _nonlinear(model: NonlinearBayes) -> tuple[TellsNodes, LearnsUnlabeled]:
        return model, model

    def _relevance(model: RelevanceTopicModel) -> MarksWords:
        return model
