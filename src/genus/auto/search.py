"""The search itself: candidates are tried in turn, compared, and pooled."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace

import numpy as np

from genus._registry import make_model
from genus.auto.candidates import FOUND_LABELS, VECTORS, Candidate
from genus.auto.cross_validation import CrossValidation, Settings
from genus.auto.descriptions import Descriptions, FixedDocuments
from genus.auto.features import Features, features_of
from genus.auto.leaderboard import Leaderboard, leaderboard_row
from genus.auto.request import ClassTree
from genus.auto.self_training import Learner
from genus.base.arrays import Float64, Int32
from genus.base.labels import Labels
from genus.base.protocol import Model, Params, Scores
from genus.base.rows import take_rows
from genus.base.tuning import TUNED
from genus.calibration import Temperature, margin, pool_weights
from genus.pipeline.rejection import Rejection
from genus.pipeline.vector_reader import Reader
from genus.text.weighting import TermWeighting


@dataclass(frozen=True, eq=False)
class CandidateTrial:
    """A setting of a candidate, and how it did on documents left out."""

    candidate: Candidate
    setting: Params
    scores: Scores
    temperature: Temperature
    handicap: float  # the expected gap to the best
    value: float  # shrunk towards what was expected
    accuracy: float
    macro_f1: float
    log_loss: float
    seconds: float

    def row(self, weight: float) -> dict[str, object]:
        """What the leaderboard says of it."""
        measures = {"accuracy": self.accuracy, "macro_f1": self.macro_f1, "log_loss": self.log_loss}
        described = self.candidate.description_weight
        setting = self.setting | ({"description_weight": described} if described else {})
        return leaderboard_row(self.candidate.name, setting, measures, self.seconds, weight)


@dataclass(frozen=True)
class Member:
    """A trial that was chosen, with its weight in the pool."""

    trial: CandidateTrial
    temperature: Temperature
    weight: float


@dataclass
class Search:
    """One search: its documents, its rules, and what was found."""

    texts: list[str]  # the labeled ones before the others
    validation: CrossValidation
    candidates: Sequence[Candidate]
    feature_sets: dict[str, Reader]
    deadline: float
    progress: Callable[[str, float], None]
    tree: ClassTree | None = None
    descriptions: Descriptions | None = None
    trials: list[CandidateTrial] = field(default_factory=list)
    cut_short: bool = False
    _features: dict[str, Features] = field(default_factory=dict)
    _rates: dict[str, float] = field(default_factory=dict)  # seconds for each setting and unit of work, by model

    def run(self) -> None:
        """Probe every candidate, then look closer at the best two. Ctrl-C ends it with what was found."""
        try:
            probed = [c for c in self.candidates if self._try(c, self._probes(c))]
            probed.sort(key=lambda c: -self.best_of(c).value)
            for candidate in probed[:2]:
                tried = [t.setting for t in self.trials if t.candidate is candidate]
                untried = [s for s in self._promising(candidate) if s not in tried]
                self._try(candidate, untried[: candidate.n_more])
        except KeyboardInterrupt:
            if not self.trials:
                raise
            self.cut_short = True

    def _probes(self, candidate: Candidate) -> list[Params]:
        """What to try of a candidate at once: all of its settings, or those next to the most promising one."""
        settings = self._promising(candidate)
        if candidate.n_probes < len(settings) and candidate.model == "refined":
            settings = candidate.along_path(settings)
        return settings[: candidate.n_probes]

    def _promising(self, candidate: Candidate) -> list[Params]:
        """The candidate's settings: first those that do best where the same model was tried on other rows."""
        values: dict[str, list[float]] = {}
        for trial in self.trials:
            if trial.candidate.model == candidate.model:
                values.setdefault(str(trial.setting), []).append(trial.value)
        return sorted(candidate.settings, key=lambda s: -float(np.mean(values.get(str(s), [-np.inf]))))

    def best_of(self, candidate: Candidate) -> CandidateTrial:
        return max((t for t in self.trials if t.candidate is candidate), key=lambda t: t.value)

    def features(self, feature_set: str) -> Features:
        if feature_set not in self._features:
            self._features[feature_set] = features_of(self.feature_sets[feature_set], self.texts)
        return self._features[feature_set]

    def _can_read(self, feature_set: str) -> bool:
        """Whether the feature set is there. One of which no feature is left is given up, where others have some."""
        if feature_set in self.feature_sets:
            try:
                self.features(feature_set)
            except ValueError:
                if not self._features:
                    raise
                del self.feature_sets[feature_set]
        return feature_set in self.feature_sets

    def _try(self, candidate: Candidate, settings: Settings) -> bool:
        """Judge these settings, or as many of them as there is time for."""
        if not settings or not self._can_read(candidate.feature_set):
            return False
        tried = False
        while settings and (n := self._affordable(candidate, len(settings))):
            self._validate(candidate, settings[:n])
            settings, tried = settings[n:], True
        return tried

    def _validate(self, candidate: Candidate, settings: Settings) -> None:
        begin = time.monotonic()
        features = self.features(candidate.feature_set)
        _, rows, new_rows = features.weighted(candidate.weighting)
        model = self._new_model(candidate, coded=True).set_params(n_jobs=1)
        found = self.validation.out_of_fold_scores(model, settings, rows, new_rows, self.fixed(candidate))
        seconds = (time.monotonic() - begin) / len(settings)
        self._rates[candidate.model] = seconds / self._work(candidate)
        for setting, scores in zip(settings, found, strict=True):
            self.trials.append(self._trial(candidate, setting, scores, seconds))
        self.progress(candidate.name, max(t.accuracy for t in self.trials))

    def description_lift(self, codes: Int32) -> float | None:
        """How well descriptions alone classify the labeled documents; None without descriptions."""
        if self.descriptions is None or len(codes) > TUNED.described_labels * self.validation.n_classes:
            return None
        vectors = self.features(VECTORS).counts.data.reshape(len(self.texts), -1).astype(np.float32, copy=False)
        return self.descriptions.lift(vectors[: len(codes)], codes)

    def fixed(self, candidate: Candidate) -> FixedDocuments | None:
        """The descriptions of classes that a candidate learns from beside the documents."""
        if not candidate.description_weight or self.descriptions is None:
            return None
        return self.descriptions.documents(candidate.description_weight)

    def described_by(self, members: Sequence[Member], classes: Labels) -> Params:
        """What a pool must know of descriptions that its members learn from."""
        weight = max(member.trial.candidate.description_weight for member in members)
        if not weight or self.descriptions is None:
            return {}
        known = self.descriptions.known.tolist()
        texts = {classes[c].item(): self.descriptions.texts[c] for c in known}
        return {"descriptions": texts, "description_weight": weight}

    def _affordable(self, candidate: Candidate, n: int) -> int:
        """How many of n settings to try next: one, where they may take long and nothing is known of the model yet."""
        if not self.trials:
            return n
        known = candidate.model in self._rates
        guess = TUNED.seconds_per_class_entry if candidate.every_class_learns_all else max(self._rates.values())
        each = self._rates.get(candidate.model, guess) * self._work(candidate)
        last_fit = each if candidate.every_class_learns_all else 0.0  # of what is chosen, on all documents
        left = self.deadline - time.monotonic() - last_fit
        if each * n > left:
            self.cut_short = True
            n = int(max(left, 0) / each)
        return min(n, 1) if not known and each * n > left / 4 else n

    def _work(self, candidate: Candidate) -> float:
        """What the time of one setting grows with: entries and documents, for each class where it learns from all."""
        n_entries = len(self.features(candidate.feature_set).counts.data) + TUNED.entries_per_document * len(self.texts)
        return float(n_entries * (self.validation.n_classes if candidate.every_class_learns_all else 1))

    def _trial(self, candidate: Candidate, setting: Params, scores: Scores, seconds: float) -> CandidateTrial:
        lengths = self.features(candidate.feature_set).lengths[self.validation.chosen]
        temperature = Temperature.fit(scores, self.validation.codes, lengths)
        verdict = self.validation.measure(temperature.scaled(scores, lengths))
        short = candidate.handicap + TUNED.rank_penalty * candidate.settings.index(setting)
        value = self.validation.shrunk(verdict.value, short)
        return CandidateTrial(candidate, setting, scores, temperature, short, *verdict._replace(value=value), seconds)

    # What was chosen

    def members(self) -> list[Member]:
        """The best trial and, one by one, those that help most beside it; weights are learned on their scores."""
        rising = sorted(self.trials, key=lambda t: t.value)
        best = sorted({t.candidate.kind: t for t in rising}.values(), key=lambda t: -t.value)
        scores = {id(t): self._calibrated(t) for t in best}
        chosen, weights, value = [best[0]], np.ones(1), best[0].value
        while len(chosen) < TUNED.most_members:
            pools = [self._pooled([*chosen, t], scores) for t in best if t not in chosen]
            helps = [pool for pool in pools if pool[0] > value]
            if not helps:
                break
            value, weights, chosen = max(helps, key=lambda pool: pool[0])
        return [Member(t, t.temperature, float(w)) for t, w in zip(chosen, weights, strict=True)]

    def _pooled(
        self, trials: list[CandidateTrial], scores: dict[int, Scores]
    ) -> tuple[float, Float64, list[CandidateTrial]]:
        """The shrunk value of a pool of these, and their weights in it."""
        parts = [scores[id(t)] for t in trials]
        weights = pool_weights(parts, self.validation.codes, _first_weights([t.candidate for t in trials]))
        if weights.min() == 0:
            return -np.inf, weights, trials  # one of them is not needed
        measured = self.validation.measure(np.add.reduce([w * s for w, s in zip(weights, parts, strict=True)])).value
        handicap = trials[0].handicap - TUNED.diversity_bonus * (len({t.candidate.feature_set for t in trials}) - 1)
        return self.validation.shrunk(measured, handicap), weights, trials

    def _calibrated(self, trial: CandidateTrial) -> Scores:
        lengths = self.features(trial.candidate.feature_set).lengths[self.validation.chosen]
        return trial.temperature.scaled(trial.scores, lengths)

    def place_of(self, member: Member) -> int:
        """Where a member stands in a pool: first those that count words, then those of characters, then of vectors."""
        reader = self.feature_sets[member.trial.candidate.feature_set]
        return {"word": 0, "vectors": 2}.get(str(reader.analyzer), 1)

    def retried(self, member: Member, scores: Scores, how: str, seconds: float) -> Member:
        """The member with other scores of documents left out."""
        trial = member.trial
        found = self._trial(trial.candidate, trial.setting, scores, seconds)
        named = replace(trial.candidate, name=f"{trial.candidate.name}: {how}")
        return Member(replace(found, candidate=named), found.temperature, member.weight)

    def reweighted(self, members: Sequence[Member]) -> list[Member]:
        """The same members with weights that fit their scores."""
        start = _first_weights([m.trial.candidate for m in members])
        weights = pool_weights([self._calibrated(m.trial) for m in members], self.validation.codes, start)
        return [replace(m, weight=float(w)) for m, w in zip(members, weights, strict=True)]

    def pool_value(self, members: Sequence[Member], handicap: float) -> float:
        """The shrunk value of a pool; its members go to the leaderboard."""
        self.trials += [m.trial for m in members]
        pooled = np.add.reduce([m.weight * self._calibrated(m.trial) for m in members])
        return self.validation.shrunk(self.validation.measure(pooled).value, handicap)

    def pool_temperature(self, members: Sequence[Member]) -> Temperature:
        """The temperature of pooled scores by how far the best class leads: sums of margins grow too fast with it."""
        pooled = np.add.reduce([m.weight * self._calibrated(m.trial) for m in members])
        return Temperature.fit(pooled, self.validation.codes, margin(pooled))

    def rejection(self, members: Sequence[Member], pool_temperature: Temperature) -> Rejection:
        """What is usual among documents left out."""
        pooled = np.add.reduce([m.weight * self._calibrated(m.trial) for m in members])
        pooled = pool_temperature.scaled(pooled, margin(pooled))
        return Rejection.fit(
            pooled, self.features(members[0].trial.candidate.feature_set).shares[self.validation.chosen]
        )

    def parts(self, member: Member) -> tuple[Reader, TermWeighting | None]:
        """How the member reads texts: by the vectorizer that it shares with others, and a weighting of its own."""
        features = self.features(member.trial.candidate.feature_set)
        return features.vectorizer, deepcopy(features.weighted(member.trial.candidate.weighting)[0])

    def model(self, member: Member, n_jobs: int | None, *, coded: bool = False) -> Model:
        """The member's model, not yet fitted."""
        model = self._new_model(member.trial.candidate, coded=coded)
        return model.set_params(**member.trial.setting, n_jobs=n_jobs)

    def _new_model(self, candidate: Candidate, *, coded: bool) -> Model:
        """A model of the classes, or of their numbers."""
        model: Model = make_model(candidate.model)
        if self.tree is None or not candidate.uses_tree:
            return model
        return model.set_params(tree=self.tree.coded if coded else self.tree.named if self.tree.given else None)

    def fitted(self, member: Member, labels: Labels, weights: Float64, classes: Labels, n_jobs: int | None) -> Model:
        """The member's model, learned from all labeled documents."""
        candidate = member.trial.candidate
        rows = self.features(candidate.feature_set).weighted(candidate.weighting)[1]
        given, fixed = (take_rows(rows, np.arange(len(labels))), labels, weights), self.fixed(candidate)
        return self.model(member, n_jobs)._fit_rows(*(given if fixed is None else fixed.beside(*given, classes)))

    def learner(self, member: Member, *, as_new: bool, n_jobs: int | None, coded: bool) -> Learner:
        """The member as it learns from texts without labels; its documents to learn from, or as if they were new."""
        candidate = member.trial.candidate
        features = self.features(candidate.feature_set)
        _, learned, new = features.weighted(candidate.weighting)
        rows = new if as_new else learned
        model = self.model(member, n_jobs, coded=coded).set_params(**FOUND_LABELS.get(candidate.model, {}))
        return Learner(model, rows, features.lengths, member.temperature, member.weight, self.fixed(candidate))

    def leaderboard(self, members: Sequence[Member]) -> Leaderboard:
        """What was tried, the best first."""
        weights = {id(m.trial): m.weight for m in members}
        return [t.row(weights.get(id(t), 0.0)) for t in sorted(self.trials, key=lambda t: -t.value)]


def _first_weights(candidates: Sequence[Candidate]) -> Float64:
    """Weights that add up to one, equal for models of vectors and for the others, which share it as is usual."""
    vectors = np.array([c.reads_vectors for c in candidates])
    if vectors.all() or not vectors.any():
        return np.full(len(candidates), 1 / len(candidates))
    share = TUNED.vector_share
    return np.asarray(np.where(vectors, share / vectors.sum(), (1 - share) / (~vectors).sum()))
