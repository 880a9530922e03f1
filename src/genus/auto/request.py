"""What a user asks of automatic selection: time, objective, classes, prior and tree."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from genus.base.arrays import Float64, Int32
from genus.base.labels import Labels
from genus.base.protocol import Label
from genus.base.validation import check_number
from genus.pipeline.vector_reader import VectorReader
from genus.text.vectorizer import Vectorizer
from genus.text.weighting import TermWeighting
from genus.tree.label_tree import LabelTree, tree_of

ClassPrior: TypeAlias = str | Mapping[Label, float]  # "learned", "uniform", or the probability of each label


@dataclass(frozen=True)
class Request:
    """What the user asked for."""

    objective: str
    time_budget: float
    vectorizer: Vectorizer | None
    weighting: TermWeighting | None
    random_state: int
    n_jobs: int | None
    tree: Any = None
    class_prior: ClassPrior = "learned"
    encoder: VectorReader | None = None
    descriptions: Mapping[Any, str] | bool | None = None  # None: the names of the classes, if they help

    def check_budget(self) -> None:
        check_number("time_budget", self.time_budget, 1e-3, 1e9, "a positive number of seconds")


@dataclass(frozen=True)
class ClassTree:
    """A tree whose leaves are classes.

    Examples
    --------
    >>> import numpy as np
    >>> tree = ClassTree.from_labels({"cat": "pets", "dog": "pets", "fish": "pets"}, np.array(["cat", "dog"]))
    >>> sorted(tree.coded.to_dict().items())
    [(-1, None), (0, -1), (1, -1)]
    """

    named: LabelTree
    coded: LabelTree  # classes by their numbers, the nodes above them by -1, -2, ...
    given: bool  # by the user, rather than read from the labels

    @classmethod
    def from_labels(cls, tree: Any, classes: Labels) -> ClassTree | None:
        """Of a tree, or of anything that makes one; of None where labels such as "pets/cat" are paths."""
        labels = classes.tolist()
        whole = tree_of(tree, labels)
        if whole is None:
            return None
        for label in labels:
            if label not in whole:
                raise ValueError(f"labels hold {label!r}, which is not in the tree.")
        parents = {node: whole.parent(node) for label in labels for node in whole.path(label)}
        above = [node for node in parents if node not in set(labels)]
        number: dict[Label | None, Label | None] = {node: -1 - i for i, node in enumerate(above)}
        number |= {label: c for c, label in enumerate(labels)} | {None: None}
        coded = {number[node]: number[parent] for node, parent in parents.items()}
        return cls(LabelTree(parents), LabelTree(coded), tree is not None)


def log_prior_correction(stated: ClassPrior, classes: Labels, codes: Int32, weights: Float64 | None) -> Float64:
    """log P'(c) - log P(c) of each class.

    Examples
    --------
    >>> classes, codes = np.array(["ham", "spam"]), np.array([0, 0, 0, 1])
    >>> np.exp(log_prior_correction("uniform", classes, codes, None)).round(3)
    array([0.667, 2.   ])
    >>> np.exp(log_prior_correction({"ham": 0.9, "spam": 0.1}, classes, codes, None)).round(3)
    array([1.2, 0.4])
    """
    if isinstance(stated, str) and stated == "learned":
        return np.zeros(len(classes))
    learned = np.bincount(codes, weights=weights, minlength=len(classes))
    prior = _stated(stated, classes)
    with np.errstate(divide="ignore"):
        correction = np.log(prior) - np.log(learned / learned.sum())
    return np.where(learned > 0, correction, 0.0)


def _stated(stated: ClassPrior, classes: Labels) -> Float64:
    labels = classes.tolist()
    if isinstance(stated, str) and stated == "uniform":
        return np.full(len(labels), 1 / len(labels))
    if not isinstance(stated, Mapping):
        raise ValueError(f"class_prior must be 'learned', 'uniform' or a dict of labels, got {stated!r}.")
    for label in labels:
        if label not in stated:
            raise ValueError(f"class_prior must have every label, got none for {label!r}.")
    known = set(labels)
    for label, p in stated.items():
        if label not in known:
            raise ValueError(f"class_prior must have labels of texts only, got {label!r}.")
        if isinstance(p, bool) or not isinstance(p, (int, float, np.number)) or not 0 < p <= 1:
            raise ValueError(f"class_prior must have probabilities above 0, got {p!r} for {label!r}.")
    prior = np.array([float(stated[label]) for label in labels])
    if not math.isclose(prior.sum(), 1.0, abs_tol=1e-6):
        raise ValueError(f"class_prior must add up to 1, got {prior.sum():g}.")
    return prior
