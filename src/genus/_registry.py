"""The public classes of genus by name: for lazy imports, for model files, and for short model names."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# A model file names classes; only these are ever built from one.
CLASSES = {
    "DiscriminativeNB": "genus.discriminative",
    "GaussianNonlinearBayes": "genus.nonlinear",
    "CosineNeighborsClassifier": "genus.cosine_neighbors",
    "HierarchicalMixture": "genus.hierarchical",
    "HierarchicalShrinkage": "genus.hierarchical",
    "InformationGain": "genus.selection",
    "KernelDensityClassifier": "genus.document_mixture",
    "LabelPool": "genus._label_pool",
    "LabelPowerset": "genus.multilabel",
    "LabelTree": "genus.hierarchy",
    "LikelihoodRatioMultilabel": "genus.likelihood_ratio",
    "MultinomialNB": "genus.naive_bayes",
    "NearestNeighborsClassifier": "genus.document_mixture",
    "NonlinearBayes": "genus.nonlinear",
    "RelevanceFilter": "genus.relevance_filter",
    "RelevanceTopicModel": "genus.relevance",
    "Pool": "genus._pool",
    "RefinedNB": "genus.refined",
    "PLSAClassifier": "genus.aspect",
    "TermWeighting": "genus.weighting",
    "TextClassifier": "genus.classifier",
    "TiedDocumentMixture": "genus.document_mixture",
    "Vectorizer": "genus.text",
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
}


def load_class(name: str) -> Any:
    return getattr(import_module(CLASSES[name]), name)


def make_model(name: str) -> Any:
    """A model with its default settings, by its short name."""
    if name not in MODELS:
        raise ValueError(f"model must be one of {', '.join(map(repr, MODELS))} or an estimator, got {name!r}.")
    return load_class(MODELS[name])()
