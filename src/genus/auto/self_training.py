"""Learning from texts without labels: they are given the labels that a first model finds, and count a little.

    1. models of the labeled documents, pooled, give every unlabeled one its most probable class;
    2. the models are learned anew from all documents, in which an unlabeled one counts ``weight`` of a labeled;
    3. and again, with the labels that these give, if there is more than one round.

The vocabulary and idf are also learned from the unlabeled texts. Whether to do this at all, and with which weight, is
chosen by cross-validation on labeled documents (`genus.auto`). Soft counts by expectation maximisation gain more on
some collections and ruin others, and are not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from genus.auto.descriptions import FixedDocuments
from genus.base.arrays import Float64, Int64
from genus.base.labels import Labels
from genus.base.protocol import LearnsMore, Model, offers
from genus.base.rows import SparseRows, take_rows
from genus.base.tuning import TUNED
from genus.calibration import Temperature


@dataclass(frozen=True)
class SelfTrainingSchedule:
    """How much an unlabeled document counts, and how often labels are found anew.

    ``handicap`` is the schedule's expected gap in accuracy to the best one, before it is tried.
    """

    weight: float
    rounds: int
    handicap: float

    @property
    def name(self) -> str:
        return f"unlabeled texts, weight {self.weight:g}" if self.rounds else "labeled texts only"


SELF_TRAINING_SCHEDULES = (
    SelfTrainingSchedule(*TUNED.self_training.light),
    SelfTrainingSchedule(*TUNED.self_training.heavy),
    SelfTrainingSchedule(*TUNED.self_training.none),
)  # the safe default first


@dataclass(frozen=True)
class Learner:
    """One member of a pool: its model, not yet fitted, and all documents, the labeled before the unlabeled."""

    model: Model
    rows: SparseRows
    lengths: Float64
    temperature: Temperature
    weight: float
    fixed: FixedDocuments | None = None

    def scores(self, fitted: Model, numbers: Int64) -> Float64:
        """The member's part in the pool's scores of these documents."""
        scores = fitted._joint_log_likelihood(take_rows(self.rows, numbers))
        return self.weight * self.temperature.scaled(scores, self.lengths[numbers])

    def fitted(self, numbers: Int64, labels: Labels, weights: Float64, classes: Labels) -> Model:
        """A model of these documents that knows all classes."""
        model: Model = clone(self.model)
        given = take_rows(self.rows, numbers), labels, weights
        if self.fixed is not None:
            given = self.fixed.beside(*given, classes)
        if len(np.unique(labels)) == len(classes) or not offers(model, LearnsMore):
            return model._fit_rows(*given)
        model._partial_fit_rows(*given, classes)
        return model


def self_train(
    learners: Sequence[Learner],
    train: Int64,
    labels: Labels,
    weights: Float64,
    unlabeled: Int64,
    classes: Labels,
    schedule: SelfTrainingSchedule,
) -> list[Model]:
    """A model for each learner, of the labeled documents ``train`` and of the ``unlabeled`` ones.

    Examples
    --------
    >>> from genus import MultinomialNB
    >>> from genus.base.rows import to_rows
    >>> rows = to_rows(np.array([[2, 0, 0, 0], [0, 2, 0, 0], [1, 0, 1, 0], [0, 0, 2, 0], [0, 1, 0, 1]]))
    >>> learner = Learner(MultinomialNB(), rows, np.full(5, 2.0), Temperature(), 1.0)
    >>> labels = np.array(["a", "b"])
    >>> arguments = [learner], np.array([0, 1]), labels, np.ones(2), np.array([2, 3, 4]), labels
    >>> [model] = self_train(*arguments, SelfTrainingSchedule(0.5, 2, 0.0))
    >>> model.predict(np.array([[0, 0, 1, 0], [0, 0, 0, 1]])).tolist()  # words that no labeled document has
    ['a', 'b']
    """
    models = [s.fitted(train, labels, weights, classes) for s in learners]
    numbers = np.concatenate([train, unlabeled])
    counted = np.concatenate([weights, np.full(len(unlabeled), schedule.weight)])
    for _ in range(schedule.rounds):
        pooled = np.add.reduce([s.scores(m, unlabeled) for s, m in zip(learners, models, strict=True)])
        found = np.concatenate([labels, classes[pooled.argmax(axis=1)]])
        models = [s.fitted(numbers, found, counted, classes) for s in learners]
    return models
