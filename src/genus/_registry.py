"""The public classes of genus by name: for lazy imports, for model files, and for short model names."""

from __future__ import annotations

from importlib import import_module
from typing import Any

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
    "Vectorizer": "genus.text.vectorizer",
}

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
