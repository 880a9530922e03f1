"""The public classes of genus by name: for lazy imports, for model files, and for short model names."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the public classes once more, because type checkers and editors do not read tables
    from genus.classifier.text_classifier import TextClassifier as TextClassifier
    from genus.models.cosine_neighbors import CosineNeighborsClassifier as CosineNeighborsClassifier
    from genus.models.dense_gaussian import DenseGaussian as DenseGaussian
    from genus.models.discriminative.model import DiscriminativeNB as DiscriminativeNB
    from genus.models.document_mixture.models import KernelDensityClassifier as KernelDensityClassifier
    from genus.models.document_mixture.models import NearestNeighborsClassifier as NearestNeighborsClassifier
    from genus.models.document_mixture.models import TiedDocumentMixture as TiedDocumentMixture
    from genus.models.hierarchical.models import HierarchicalMixture as HierarchicalMixture
    from genus.models.hierarchical.models import HierarchicalShrinkage as HierarchicalShrinkage
    from genus.models.naive_bayes import MultinomialNB as MultinomialNB
    from genus.models.nonlinear.multinomial import GaussianNonlinearBayes as GaussianNonlinearBayes
    from genus.models.nonlinear.multinomial import NonlinearBayes as NonlinearBayes
    from genus.models.plsa import PLSAClassifier as PLSAClassifier
    from genus.models.refined.model import RefinedNB as RefinedNB
    from genus.models.relevance.filter import RelevanceFilter as RelevanceFilter
    from genus.models.relevance.model import RelevanceTopicModel as RelevanceTopicModel
    from genus.multilabel.likelihood_ratio import LikelihoodRatioMultilabel as LikelihoodRatioMultilabel
    from genus.multilabel.powerset import LabelPowerset as LabelPowerset
    from genus.text.selection import InformationGain as InformationGain
    from genus.text.vectorizer import Vectorizer as Vectorizer
    from genus.text.weighting import TermWeighting as TermWeighting
    from genus.tree.label_tree import LabelTree as LabelTree
    from genus.vectors.table import WordVectors as WordVectors

# A model file names classes; only these are ever built from one.
CLASSES = {
    "DenseGaussian": "genus.models.dense_gaussian",
    "DiscriminativeNB": "genus.models.discriminative.model",
    "GaussianNonlinearBayes": "genus.models.nonlinear.multinomial",
    "CosineNeighborsClassifier": "genus.models.cosine_neighbors",
    "HierarchicalMixture": "genus.models.hierarchical.models",
    "HierarchicalShrinkage": "genus.models.hierarchical.models",
    "InformationGain": "genus.text.selection",
    "KernelDensityClassifier": "genus.models.document_mixture.models",
    "LabelPool": "genus.pipeline.label_pool",
    "LabelPowerset": "genus.multilabel.powerset",
    "LabelTree": "genus.tree.label_tree",
    "LikelihoodRatioMultilabel": "genus.multilabel.likelihood_ratio",
    "MissingEncoder": "genus.vectors.adapters",
    "MultinomialNB": "genus.models.naive_bayes",
    "NearestNeighborsClassifier": "genus.models.document_mixture.models",
    "NonlinearBayes": "genus.models.nonlinear.multinomial",
    "RelevanceFilter": "genus.models.relevance.filter",
    "RelevanceTopicModel": "genus.models.relevance.model",
    "Pool": "genus.pipeline.pool",
    "RefinedNB": "genus.models.refined.model",
    "PLSAClassifier": "genus.models.plsa",
    "TermWeighting": "genus.text.weighting",
    "TextClassifier": "genus.classifier.text_classifier",
    "TiedDocumentMixture": "genus.models.document_mixture.models",
    "VectorReader": "genus.pipeline.vector_reader",
    "Vectorizer": "genus.text.vectorizer",
    "WordVectors": "genus.vectors.table",
}
# Parts of a TextClassifier: in model files, but not in `from genus import ...`.
STORED_ONLY = {"LabelPool", "MissingEncoder", "Pool", "VectorReader"}

# Parameters that old model files store and that have another name now, or none: those are skipped.
_SPELLING = {"unlabelled": "unlabeled", "unlabelled_weight": "unlabeled_weight"}
RETIRED_PARAMETERS: dict[str, dict[str, str | None]] = {
    "GaussianNonlinearBayes": {**_SPELLING},
    "NonlinearBayes": {**_SPELLING},
    "TiedDocumentMixture": {"tolerance": None},
}

MODELS = {
    "nb": "MultinomialNB",
    "tdm": "TiedDocumentMixture",
    "kdc": "KernelDensityClassifier",
    "knn": "NearestNeighborsClassifier",
    "dmnb": "DiscriminativeNB",
    "nlhb": "NonlinearBayes",
    "rtm": "RelevanceTopicModel",
    "hs": "HierarchicalShrinkage",
    "hm": "HierarchicalMixture",
    "refined": "RefinedNB",
    "plsa": "PLSAClassifier",
    "gaussian": "DenseGaussian",
}


def load_class(name: str) -> Any:
    return getattr(import_module(CLASSES[name]), name)


def make_model(name: str) -> Any:
    """A model with its default settings, by its short name."""
    if name not in MODELS:
        raise ValueError(f"model must be one of {', '.join(map(repr, MODELS))} or an estimator, got {name!r}.")
    return load_class(MODELS[name])()
