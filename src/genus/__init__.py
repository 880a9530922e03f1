"""genus: generative text classification.

>>> from genus import TextClassifier
>>> clf = TextClassifier().fit(["good fun", "dull and bad", "fun"], ["+", "-", "+"])
>>> clf.predict(["what fun"]).tolist()
['+']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from genus._registry import CLASSES

__version__ = "0.1.0"

if TYPE_CHECKING:
    from genus.aspect import PLSAClassifier
    from genus.classifier import TextClassifier
    from genus.cosine_neighbors import CosineNeighborsClassifier
    from genus.decoding import LabelDecoder
    from genus.discriminative import DiscriminativeNB
    from genus.document_mixture import KernelDensityClassifier, NearestNeighborsClassifier, TiedDocumentMixture
    from genus.errors import DataError, GenusError, ModelFileError
    from genus.explain import Explanation
    from genus.hierarchical import HierarchicalMixture, HierarchicalShrinkage
    from genus.hierarchy import LabelTree, learn_tree
    from genus.likelihood_ratio import LikelihoodRatioMultilabel
    from genus.marking import MarkedText, Review
    from genus.multilabel import LabelPowerset
    from genus.naive_bayes import MultinomialNB
    from genus.nonlinear import GaussianNonlinearBayes, NonlinearBayes
    from genus.persistence import load, save
    from genus.refined import RefinedNB
    from genus.relevance import RelevanceTopicModel
    from genus.relevance_filter import RelevanceFilter
    from genus.search import GaussianRandomSearchCV
    from genus.selection import InformationGain
    from genus.text import Vectorizer
    from genus.weighting import TermWeighting

# Imported when first used, so that `import genus` and `genus --help` stay quick.
_HOME = {
    **CLASSES,
    "DataError": "genus.errors",
    "Explanation": "genus.explain",
    "GaussianRandomSearchCV": "genus.search",
    "GenusError": "genus.errors",
    "MarkedText": "genus.marking",
    "LabelDecoder": "genus.decoding",
    "ModelFileError": "genus.errors",
    "Review": "genus.marking",
    "learn_tree": "genus.hierarchy",
    "load": "genus.persistence",
    "save": "genus.persistence",
}

__all__ = [
    "CosineNeighborsClassifier",
    "DataError",
    "DiscriminativeNB",
    "Explanation",
    "GaussianNonlinearBayes",
    "GaussianRandomSearchCV",
    "GenusError",
    "HierarchicalMixture",
    "HierarchicalShrinkage",
    "InformationGain",
    "KernelDensityClassifier",
    "LabelDecoder",
    "LabelPowerset",
    "LabelTree",
    "LikelihoodRatioMultilabel",
    "MarkedText",
    "ModelFileError",
    "MultinomialNB",
    "NearestNeighborsClassifier",
    "NonlinearBayes",
    "PLSAClassifier",
    "RefinedNB",
    "RelevanceFilter",
    "RelevanceTopicModel",
    "Review",
    "TermWeighting",
    "TextClassifier",
    "TiedDocumentMixture",
    "Vectorizer",
    "learn_tree",
    "load",
    "save",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'genus' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
