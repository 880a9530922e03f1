"""What `model="auto"` tries: a table of models, the rows they see, and their settings.

A model is added by a line: a name for the leaderboard, the model's short name, a feature set, a weighting
and the settings to try, the most promising first. How it is evaluated follows from what it can do (see
`genus.auto`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from genus.base.protocol import Params
from genus.base.tuning import TUNED
from genus.text.vectorizer import Vectorizer, default_vectorizer
from genus.text.weighting import TermWeighting

# Where labels are found and not given: a base that counts all documents alike would hold on to wrong ones.
FOUND_LABELS = {"refined": {"base_weight": 0.0}}

VECTORS = "vectors"  # the feature set of dense models


@dataclass(frozen=True)
class Candidate:
    """A model on a feature set. ``n_probes`` settings are tried at once, ``n_more`` others if it does well.

    Which ones follows from how they did where the model was tried before; settings stand here in the order in which
    they are expected to do well.

    ``handicap`` is the model's expected gap in accuracy to the best one, before anything is tried:
    with few documents, what is measured says little more.
    """

    name: str
    model: str
    feature_set: str
    weighting: Params | None
    settings: tuple[Params, ...]
    n_probes: int = 1
    handicap: float = 0.0
    n_more: int = 5
    description_weight: float = 0.0  # what the description of a class counts, in labeled documents

    @property
    def reads_vectors(self) -> bool:
        return self.feature_set == VECTORS

    @property
    def kind(self) -> str:
        """Of candidates of one kind, a pool has the best only."""
        return VECTORS if self.reads_vectors else self.name

    @property
    def every_class_learns_all(self) -> bool:
        """Whether each class is learned from all documents, which takes too long for thousands of classes."""
        return self.model == "refined"

    def along_path(self, settings: Sequence[Params]) -> list[Params]:
        """Of settings, those that cost little once the first is tried: all but its cost stays as it is."""
        return [s for s in settings if s | {"cost": 0} == settings[0] | {"cost": 0}]

    @property
    def uses_tree(self) -> bool:
        """Whether the model is for classes in a tree."""
        return self.model in ("hs", "hm")


def _refined() -> tuple[Params, ...]:
    best = [(1.0, 0.25, 1.0), (0.3, 0.25, 1.0), (1.0, 0.25, 0.0), (1.0, 0.0, 0.0), (0.3, 0.0, 1.0)]
    others = [(3.0, 0.25, 1.0), (0.3, 0.25, 0.0), (1.0, 0.0, 1.0), (0.1, 0.25, 0.0), (0.1, 0.25, 1.0)]
    return tuple({"cost": c, "base_weight": b, "focus": f} for c, b, f in best + others)


def _tied() -> tuple[Params, ...]:
    pairs = [(0.3, 0.3), (0.3, 0.05), (0.6, 0.1), (0.1, 0.8), (0.6, 0.01), (0.1, 0.01)]
    return tuple({"class_smoothing": a, "background_smoothing": b} for a, b in pairs)


def _tfidf(power: float) -> Params:
    return {"tf": "log", "idf": "smooth", "idf_power": power, "norm": "l2"}


_H = TUNED.handicaps

# Cheap ones first: what comes late is left out where time is short.
CANDIDATES = (
    Candidate(
        "naive Bayes", "nb", "words", None, tuple({"alpha": a} for a in (0.3, 0.1, 1.0, 0.03)), 4, _H.naive_bayes
    ),
    Candidate("refined", "refined", "words", _tfidf(1.0), _refined(), 10, _H.refined),
    Candidate("refined, pairs", "refined", "pairs", _tfidf(1.0), _refined(), 2, _H.refined_pairs, 2),
    Candidate("refined, soft idf", "refined", "words", _tfidf(0.5), _refined(), 2, _H.refined_soft_idf, 2),
    Candidate(
        "refined, presence", "refined", "words", _tfidf(0.5) | {"tf": "binary"}, _refined(), 2, _H.refined_presence, 2
    ),
    Candidate("refined, characters", "refined", "characters", _tfidf(1.0), _refined(), 2, _H.refined_characters, 1),
    Candidate(
        "refined, pairs, presence",
        "refined",
        "pairs",
        _tfidf(0.5) | {"tf": "binary"},
        _refined(),
        2,
        _H.refined_pairs_presence,
        2,
    ),
    Candidate("tree", "hm", "words", {"tf": "log1p", "norm": "l2", "scale": 10.0}, ({},), 1, _H.tree),
    Candidate(
        "tied documents",
        "tdm",
        "words",
        {"tf": "sqrt", "idf": "smooth", "idf_power": 0.5},
        _tied(),
        1,
        _H.tied_documents,
        2,
    ),
)


def vector_candidates(lift: float | None) -> tuple[Candidate, ...]:
    """Models of vectors; also with the descriptions of classes, which classify ``lift`` of the texts beyond chance."""
    plain = Candidate("vectors", "gaussian", VECTORS, None, ({},), 1, _H.vectors)
    if lift is None:
        return (plain,)
    handicap = _H.descriptions - TUNED.description_gain * lift
    described = [
        replace(plain, name="vectors, descriptions", description_weight=w, handicap=handicap)
        for w in TUNED.description_weights
    ]
    return (plain, *described)


def default_feature_sets(texts: Sequence[str], n_classes: int = 1) -> dict[str, Vectorizer]:
    """The vectorizers by the names that candidates use, chosen by the number, length and kind of the texts."""
    many = len(texts) >= max(TUNED.many_texts, TUNED.texts_per_class * n_classes)
    if written_from_counts(texts):
        return {"words": default_vectorizer()}
    n_characters = sum(map(len, texts))
    short = many and n_characters <= TUNED.short_text * len(texts)
    pairs = default_vectorizer(ngram_range=(1, 2), edges=short, min_df=1 + many)
    feature_sets = {"words": default_vectorizer(), "pairs": pairs}
    if n_characters <= TUNED.most_characters:
        within, across = ("char_wb", (3, 5)), ("char", (4, 5))  # words: of short texts, both have as many n-grams
        analyzer, lengths = across if short else within
        feature_sets["characters"] = default_vectorizer(analyzer=analyzer, ngram_range=lengths, min_df=2 + many)
    return feature_sets


def written_from_counts(texts: Sequence[str]) -> bool:
    """Whether texts were generated from counts, each word repeated as often as it was counted: order has no meaning.

    A repeated word hardly ever follows itself directly in a sentence; in such texts it always does.
    """
    step = max(len(texts) // TUNED.sampled_texts, 1)
    again = following = 0
    for text in texts[::step]:
        words = text[:2000].split()
        again += len(words) - len(set(words))
        following += sum(word == after for word, after in pairwise(words))
    return again >= TUNED.least_repeats and following > TUNED.repeats_in_place * again


def with_given_weighting(weighting: TermWeighting) -> tuple[Candidate, ...]:
    """The candidates if the user gave a weighting: one candidate for each model and feature set."""
    params = weighting.get_params()
    found = {(c.model, c.feature_set): replace(c, weighting=params) for c in reversed(CANDIDATES)}
    return tuple(reversed(found.values()))


def with_given_vectorizer(weighting: TermWeighting | None) -> tuple[Candidate, ...]:
    """The candidates if the user gave a vectorizer: one candidate for each model and weighting."""
    candidates = CANDIDATES if weighting is None else with_given_weighting(weighting)
    found = {(c.model, str(c.weighting)): replace(c, feature_set="given") for c in reversed(candidates)}
    return tuple(reversed(found.values()))
