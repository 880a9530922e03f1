"""genus: generative text classification.

>>> from genus import TextClassifier
>>> clf = TextClassifier().fit(["good fun", "dull and bad", "fun"], ["+", "-", "+"])
>>> clf.predict(["what fun"]).tolist()
['+']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from genus._lazy import lazy_names
from genus._registry import CLASSES, STORED_ONLY

__version__ = "0.1.0"

if TYPE_CHECKING:
    from genus._registry import *  # noqa: F403
    from genus.errors import DataError as DataError
    from genus.errors import GenusError as GenusError
    from genus.errors import ModelFileError as ModelFileError
    from genus.explain import Explanation as Explanation
    from genus.io.model_file import load as load
    from genus.io.model_file import save as save
    from genus.models.relevance.marking import MarkedText as MarkedText
    from genus.models.relevance.marking import Review as Review
    from genus.multilabel.decoding import LabelDecoder as LabelDecoder
    from genus.search.random_search import GaussianRandomSearchCV as GaussianRandomSearchCV
    from genus.tree.label_tree import learn_tree as learn_tree

# Imported when first used, so that `import genus` and `genus --help` stay quick. Classes are listed in the registry.
_HOMES = {
    **{name: module for name, module in CLASSES.items() if name not in STORED_ONLY},
    "DataError": "genus.errors",
    "Explanation": "genus.explain",
    "GaussianRandomSearchCV": "genus.search.random_search",
    "GenusError": "genus.errors",
    "LabelDecoder": "genus.multilabel.decoding",
    "MarkedText": "genus.models.relevance.marking",
    "ModelFileError": "genus.errors",
    "Review": "genus.models.relevance.marking",
    "learn_tree": "genus.tree.label_tree",
    "load": "genus.io.model_file",
    "save": "genus.io.model_file",
}

__all__ = sorted(_HOMES)

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
