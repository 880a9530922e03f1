"""The numbers of automatic selection and of pools that were tuned on data, in one place.

Decision record 0008 says on which data, by which measure and with what effect; `benchmarks/tuning.py` measures the
effect of each again. They are in the lowest layer, since several layers use them. Parameters of models are not here:
users set those.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Handicaps:
    """The expected gap in accuracy between a candidate and the best one, before anything is measured."""

    naive_bayes: float = 0.04
    refined: float = 0.0
    refined_pairs: float = 0.015
    refined_soft_idf: float = 0.015
    refined_presence: float = 0.02
    refined_characters: float = 0.005
    refined_pairs_presence: float = 0.02
    tree: float = 0.02
    tied_documents: float = 0.04
    vectors: float = 0.0
    descriptions: float = 0.01  # of a model of vectors, where descriptions of classes classify no better than chance


@dataclass(frozen=True)
class SelfTraining:
    """Ways to learn from unlabeled texts: the weight of such a text, rounds, and the handicap of doing so."""

    light: tuple[float, int, float] = (0.1, 1, 0.0)  # the safe default
    heavy: tuple[float, int, float] = (0.3, 1, 0.005)
    none: tuple[float, int, float] = (0.0, 0, 0.02)


@dataclass(frozen=True)
class Tuning:
    """The settings of automatic selection and of pools."""

    # How a measured value is shrunk towards the expected one
    handicaps: Handicaps = Handicaps()
    self_training: SelfTraining = SelfTraining()
    handicap_documents: int = 300  # documents whose evidence weighs as much as the handicap
    rank_penalty: float = 0.001  # the expected loss of a setting against the one listed before it
    diversity_bonus: float = 0.005  # the expected gain of a pool from each further feature set
    log_loss_weight: float = 0.05  # what a nat of log loss counts beside accuracy, which jumps between documents

    # Vectors, and descriptions of classes
    description_gain: float = 0.1  # by how much descriptions that classify all texts are thought to improve a model
    description_weights: tuple[float, ...] = (1.0, 3.0)  # of one, in labeled documents
    vector_share: float = 0.65  # of models of vectors in a pool, where few labeled texts tell
    described_labels: int = 50  # labeled texts per class up to which descriptions are tried: with more they say little
    lone_description_weight: float = 3.0  # of one, where some classes have no labeled text
    description_log_scale: float = -4.0  # of the temperature, where no labeled text tells it
    name_neighbors: int = 10  # words of the table that join the name of a class
    least_coverage: float = 0.7  # of the words of texts that the table that ships knows: else it is left out
    coverage_texts: int = 1000  # enough to see that

    # How much is tried
    n_folds: int = 5
    most_members: int = 4  # of a pool
    most_documents: int = 30_000  # scored while choosing; more are sampled
    most_table_cells: int = 40_000_000  # scores held for one setting
    most_scores: int = 20_000_000  # documents times classes, where every class learns from all documents
    most_label_cells: int = 4_000_000  # documents times labels that are scored at once

    # How long things take, to stay inside a time budget
    seconds_per_class_entry: float = 4e-8  # of a setting, where every class learns from all documents
    entries_per_document: int = 10  # as long as it takes to look at a document
    label_fit_share: float = 0.5  # of the time of scoring, to learn from all documents in the end

    # How texts are counted
    many_texts: int = 1000  # from this number on, features that occur in a single text are dropped,
    texts_per_class: int = 4  # where classes have so many
    short_text: int = 250  # characters: for such texts, word edges and n-grams across words are useful
    most_characters: int = 20_000_000  # in all texts: beyond, their n-grams would take gigabytes
    sampled_texts: int = 100  # to see whether texts are written from counts,
    least_repeats: int = 20  # words repeated within one of them,
    repeats_in_place: float = 0.9  # and the share of these that directly follow themselves

    # Temperatures and weights of a pool
    caution: float = 2.0  # nats that a parameter must save, in all documents together, to move by one
    temperature_documents: int = 5000  # enough to fit a few numbers
    temperature_range: tuple[float, float] = (-12.0, 12.0)  # of log scale and length power
    weight_range: tuple[float, float] = (0.0, 10.0)  # of a member

    # Rejection: the powers of margin, certainty and share of known words in a text's familiarity
    familiarity_powers: tuple[float, float, float] = (1.0, 1.0, 0.5)

    # The nearest training texts as evidence for labels
    n_neighbors: int = 40  # texts that vote
    neighbor_sharpness: float = 8.0  # of the votes: exp(sharpness * cosine)
    neighbor_floor: float = 1e-3  # added to both shares in a log ratio, so that a label without a vote stays possible

    # Sets of labels
    label_costs: tuple[float, ...] = (0.1, 0.4, 1.5)  # of a margin's errors against its size
    label_tolerance: float = 0.05  # of a margin, where the solver stops
    least_word: float = 0.005  # what a word must add to a margin to be kept: there are words times labels of them
    stack_ridge: tuple[float, float, float] = (1e-3, 1.0, 1.0)  # of 1, t and t^2 in a source's weight
    label_ridge: float = 1.0  # of each label's own offset


TUNED = Tuning()
