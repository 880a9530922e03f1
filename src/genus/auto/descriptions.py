"""What classes are called, or how a user describes them: one text for each class, learned beside the labeled ones.

A description counts as a few labeled texts, in models of word vectors only: a name is hardly ever written in the texts
of its class, but words near it in meaning are. Names that say nothing ("C01") do not help; how well descriptions alone
classify the labeled texts tells.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from genus.base.arrays import Float32, Float64, Int32, Int64, unit_vectors
from genus.base.labels import Labels
from genus.base.protocol import Label
from genus.base.rows import SparseRows, full_rows, stack_rows
from genus.base.tuning import TUNED
from genus.pipeline.vector_reader import VectorReader

_PIECES = re.compile(r"[^\W\d_]+")
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


class FixedDocuments(NamedTuple):
    """Documents that are learned from whatever is left out, by class number."""

    rows: SparseRows
    codes: Int32
    weights: Float64

    def beside(
        self, rows: SparseRows, labels: Labels, weights: Float64, classes: Labels | None = None
    ) -> tuple[SparseRows, Labels, Float64]:
        """These documents after others, which are labeled with class numbers or with names from ``classes``."""
        own = self.codes if classes is None else classes[self.codes]
        return (
            stack_rows([rows, self.rows], rows.n_columns),
            np.concatenate([labels, own]),
            np.concatenate([weights, self.weights]),
        )


def words_of_name(label: Label) -> str:
    """The name of a class as a text.

    Examples
    --------
    >>> words_of_name("rec.sport.baseball"), words_of_name("EducationalInstitution"), words_of_name("C01")
    ('rec sport baseball', 'Educational Institution', 'C')
    """
    return " ".join(_PIECES.findall(_CAPITAL.sub(" ", label))) if isinstance(label, str) else ""


def descriptions_of(classes: Labels, given: Mapping[Any, str] | None) -> list[str]:
    """A text for each class: what was given, or the words of its name.

    Raises ValueError for descriptions of other labels, and for descriptions that are no text.
    """
    labels = classes.tolist()
    known = set(labels)
    for label, text in (given or {}).items():
        if label not in known:
            raise ValueError(f"descriptions has a text for {label!r}, which is not one of the {len(labels)} classes.")
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"the description of {label!r} must be a text that is not empty, got {text!r}.")
    return [(given or {}).get(label) or words_of_name(label) for label in labels]


@dataclass(frozen=True, eq=False)
class Descriptions:
    """One text for each class, and its vector."""

    texts: Sequence[str]
    vectors: Float32  # (n_classes, n_dimensions), of length one; zero where no word is known
    given: bool  # by the user

    @classmethod
    def from_request(
        cls, given: Mapping[Any, str] | bool | None, classes: Labels, encoder: VectorReader
    ) -> Descriptions | None:
        """Those that a user gave, or the classes' names; None where they are not wanted, or their words not known."""
        stated = given if isinstance(given, Mapping) else None
        texts = descriptions_of(classes, stated)
        if given is False:
            return None
        vectors = encoder.encode(texts).vectors if stated is not None else name_vectors(texts, encoder)
        if stated is None and not vectors.any(axis=1).all():
            return None
        return cls(texts, vectors, stated is not None)

    @property
    def known(self) -> Int64:
        """The numbers of the classes whose descriptions have a vector."""
        return np.flatnonzero(self.vectors.any(axis=1))

    def lift(self, vectors: Float32, codes: Int32) -> float:
        """How well the descriptions alone classify labeled texts: 0 no better than chance, 1 all of them."""
        centred = self.vectors - self.vectors[self.known].mean(axis=0)
        centred /= np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-12)
        scores = (vectors - vectors.mean(axis=0)) @ centred.T
        chance = 1 / len(self.texts)
        return max((float(np.mean(scores.argmax(axis=1) == codes)) - chance) / (1 - chance), 0.0)

    def documents(self, weight: float) -> FixedDocuments:
        """The descriptions as documents that count so much."""
        known = self.known
        return FixedDocuments(full_rows(self.vectors[known]), known.astype(np.int32), np.full(len(known), weight))


def name_vectors(names: Sequence[str], reader: VectorReader) -> Float32:
    """Vectors of names of classes, of length one.

    A word that several names have says less of each ("rec" in "rec sport hockey"), so it counts by one over their
    number; and the words of the table that are nearest to a name join in, since a name has few words of its own.
    """
    parts = [reader.parts(name) for name in names]
    if not reader.tells_words:
        return reader.encode(names).vectors
    n_names = Counter(word for own in parts for word, *_ in own)
    vectors = np.zeros((len(names), reader.n_columns_))
    for vector, own in zip(vectors, parts, strict=True):
        for word, _, part in own:
            vector += part / n_names[word]
    vectors = unit_vectors(vectors)
    near = [reader.top_vectors(vector, TUNED.name_neighbors) for vector in vectors]
    return unit_vectors(vectors + np.array(near)).astype(np.float32)
