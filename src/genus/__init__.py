"""genus: generative text classification.

>>> from genus import TextClassifier
>>> clf = TextClassifier().fit(["good fun", "dull and bad", "fun"], ["+", "-", "+"])
>>> clf.predict(["what fun"]).tolist()
['+']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from genus._lazy import lazy_names
from genus._registry import CLASSES

__version__ = "0.1.0"

if TYPE_CHECKING:
    from genus.classifier.text_classifier import TextClassifier
    from genus.errors import DataError, GenusError, ModelFileError
    from genus.explain import Explanation
    from genus.io.model_file import load, save
    from genus.models.cosine_neighbors import CosineNeighborsClassifier
    from genus.models.dense_gaussian import DenseGaussian
    from genus.models.discriminative.model import DiscriminativeNB
    from genus.models.document_mixture.models import (
        KernelDensityClassifier,
        NearestNeighborsClassifier,
        TiedDocumentMixture,
    )
    from genus.models.hierarchical.models import HierarchicalMixture, HierarchicalShrinkage
    from genus.models.naive_bayes import MultinomialNB
    from genus.models.nonlinear.multinomial import GaussianNonlinearBayes, NonlinearBayes
    from genus.models.plsa import PLSAClassifier
    from genus.models.refined.model import RefinedNB
    from genus.models.relevance.filter import RelevanceFilter
    from genus.models.relevance.marking import MarkedText, Review
    from genus.models.relevance.model import RelevanceTopicModel
    from genus.multilabel.decoding import LabelDecoder
    from genus.multilabel.likelihood_ratio import LikelihoodRatioMultilabel
    from genus.multilabel.powerset import LabelPowerset
    from genus.search.random_search import GaussianRandomSearchCV
    from genus.text.selection import InformationGain
    from genus.text.vectorizer import Vectorizer
    from genus.text.weighting import TermWeighting
    from genus.tree.label_tree import LabelTree, learn_tree

# Imported when first used, so that `import genus` and `genus --help` stay quick.
_HOME = {
    **CLASSES,
    "DataError": "genus.errors",
    "Explanation": "genus.explain",
    "GaussianRandomSearchCV": "genus.search.random_search",
    "GenusError": "genus.errors",
    "MarkedText": "genus.models.relevance.marking",
    "LabelDecoder": "genus.multilabel.decoding",
    "ModelFileError": "genus.errors",
    "Review": "genus.models.relevance.marking",
    "learn_tree": "genus.tree.label_tree",
    "load": "genus.io.model_file",
    "save": "genus.io.model_file",
}

__all__ = [
    "CosineNeighborsClassifier",
    "DataError",
    "DenseGaussian",
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

__getattr__, __dir__ = lazy_names(__name__, _HOME)
