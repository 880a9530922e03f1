"""Tables 2, 4 and 5 and figures 5 and 6 of the relevance-based topic model, measured again.

V. Ha-Thuc and P. Srinivasan, A Robust Learning Approach for Text Classification (2008). Naive Bayes and the model with
25 to 800 words of each class, 3-fold, on training documents that hold r documents of a non-relevant set besides their
own. Beside the paper: all words, and other classifiers with and without `RelevanceFilter`.

The paper's newsgroups are here; of its Cora, the abstracts of about half of the papers, with arXiv abstracts of other
fields as the non-relevant set, and the titles of other papers, with Cora's own non-relevant set.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from genus.base.arrays import Float64, Int64
from genus.base.labels import Labels
from genus.base.protocol import Samples
from genus.datasets import load_dataset
from genus.experiments.harness.curves import Curve, curves
from genus.experiments.harness.settings import Classifier, Trials
from genus.experiments.harness.table import Experiment, Measured, Results, Row, System
from genus.experiments.pages.findings import RTM
from genus.experiments.pages.frame import table
from genus.experiments.papers.rtm_illustration import OVERLAP, TOPICS, Topic, measure_overlap
from genus.models.discriminative.model import DiscriminativeNB
from genus.models.document_mixture.models import TiedDocumentMixture
from genus.models.naive_bayes import MultinomialNB
from genus.models.relevance.filter import RelevanceFilter
from genus.models.relevance.model import RelevanceTopicModel
from genus.text.vectorizer import Vectorizer
from genus.text.weighting import TermWeighting


@dataclass(frozen=True)
class Settings:
    seed: int = 0
    folds: int = 3  # measured, of 3
    alpha: float = 50.0
    beta: float = 0.1
    sweeps: int = 25
    chains: int = 8  # whose shares differ (R-hat above 2): the mean of two is still a matter of luck
    weight: float = 0.1  # of the smoothing
    floor: float = 0.2  # of the filter


QUICK = Settings(folds=1)

# Collections


@dataclass(frozen=True)
class Collection:
    """Counts of labeled documents, and of documents that are about none of the classes."""

    X: Samples
    y: Labels
    others: Samples


def _count(texts: Sequence[str]) -> Samples:
    return Vectorizer(stop_words="english", stemmer="porter", min_df=2).fit_transform(texts)


def _collection(X: Samples, y: Labels, about: NDArray[np.bool_], shortest: int) -> Collection:
    """The documents with enough words, those about a class separate from the others."""
    long = np.asarray(X.sum(axis=1)).ravel() >= shortest
    return Collection(X[about & long], y[about & long], X[~about & long])


@lru_cache(1)
def news5() -> Collection:
    data = load_dataset("20news-bydate-raw")
    assert data.texts is not None
    bodies = [text.partition("\n\n")[2] for text in data.texts]
    y = np.array(data.labels)
    return _collection(_count(bodies), y, np.char.startswith(y, "comp."), 20)


@lru_cache(1)
def cora_abstracts() -> Collection:
    papers, arxiv = load_dataset("cora-abstracts"), load_dataset("arxiv_abstracts", "train")
    assert papers.texts is not None
    assert arxiv.texts is not None
    fields = arxiv.extra["labels"]
    foreign = [text for text, of in zip(arxiv.texts, fields, strict=True) if not _is_near(of)][:6000]
    y = np.array([*map(str, papers.labels), *[""] * len(foreign)])
    return _collection(_count([*papers.texts, *foreign]), y, y != "", 20)


def _is_near(fields: Sequence[str]) -> bool:
    return any(field.startswith(("cs.", "stat.")) for field in fields)


@lru_cache(1)
def cora_titles() -> Collection:
    papers, others = load_dataset("cora-titles", "ml"), load_dataset("cora-titles", "other")
    assert papers.counts is not None
    assert others.counts is not None
    titles = [
        " ".join(word for word, n in counts.items() for _ in range(n)) for counts in papers.counts + others.counts
    ]
    y = np.array([*map(str, papers.labels), *[""] * len(others)])
    return _collection(_count(titles), y, y != "", 1)


# Problems


@dataclass(frozen=True)
class Fold:
    """Training documents with noise, and test documents without."""

    X: Samples
    y: Labels
    X_test: Samples
    y_test: Labels
    settings: Settings

    def accuracy(self, predicted: Labels) -> float:
        return float((predicted == self.y_test).mean())

    @cached_property
    def fitted(self) -> tuple[RelevanceTopicModel, float]:
        """The relevance-based topic model, and its fitting time in seconds.

        Its number of features and smoothing change without fitting again.
        """
        s = self.settings
        model = RelevanceTopicModel(s.alpha, s.beta, n_sweeps=s.sweeps, n_chains=s.chains, random_state=s.seed)
        begin = time.perf_counter()
        return model.fit(self.X, self.y), time.perf_counter() - begin

    @property
    def model(self) -> RelevanceTopicModel:
        return self.fitted[0]

    @cached_property
    def filtered(self) -> Samples:
        return RelevanceFilter(clone(self.model), floor=self.settings.floor).fit_transform(self.X, self.y)


@dataclass(frozen=True)
class Problem:
    """A collection's folds, and how many words of each class are kept."""

    folds: Sequence[Fold]
    n_features: int | None

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        first = self.folds[0]
        return first.X.shape[1], len(np.unique(first.y)), first.X.shape[0], first.X_test.shape[0]


def load_problem(make: Callable[[], Collection], noise: int, n_features: int | None, settings: Settings) -> Problem:
    return Problem(noisy_folds(make, noise, settings), n_features)


@lru_cache(1)
def noisy_folds(make: Callable[[], Collection], noise: int, settings: Settings) -> Sequence[Fold]:
    """Three folds, the training documents joined with `noise` others each; words of 5 training documents are kept."""
    collection = make()
    rng = np.random.default_rng([settings.seed, noise])
    splits = StratifiedKFold(3, shuffle=True, random_state=settings.seed).split(collection.X, collection.y)
    folds = []
    for train, test in list(splits)[: settings.folds]:
        X = with_noise(collection.X[train], collection.others, noise, rng)
        keep = np.asarray((X > 0).sum(axis=0)).ravel() >= 5
        folds.append(Fold(X[:, keep], collection.y[train], collection.X[test][:, keep], collection.y[test], settings))
    return folds


def with_noise(X: Samples, others: Samples, noise: int, rng: np.random.Generator) -> Samples:
    """Each document joined with `noise` random non-relevant ones."""
    for _ in range(noise):
        X = X + others[rng.integers(0, others.shape[0], X.shape[0])]
    return sparse.csr_matrix(X)


# Systems


def naive_bayes_features(fold: Fold, n_features: int, smoothing: str, weight: float) -> Float64:
    """log p(w | t) of section 3.2 from all tokens of a class, not only those about it: (n_classes, n_words).

    p(w | t) = (m_tw + lambda) / (m_t + (W* + 1) * lambda)    for the W* most frequent words of the class
    """
    labels = np.unique(fold.y)
    counts = np.stack([np.asarray(fold.X[fold.y == label].sum(axis=0)).ravel() for label in labels])
    best: Int64 = np.argsort(-counts, axis=1, kind="stable")[:, n_features:]
    np.put_along_axis(counts, best, 0, axis=1)
    totals, n_kept = counts.sum(axis=1, keepdims=True), (counts > 0).sum(axis=1, keepdims=True)
    added = weight * (totals / n_kept if smoothing == "proportional" else 1.0)
    return np.asarray(np.log((counts + added) / (totals + (n_kept + 1) * added)))


def measure_naive_bayes(smoothing: str, problem: Problem, settings: Settings) -> Measured:
    if problem.n_features is None:
        return measure_classifier(MultinomialNB(0.1, fit_prior=False), False, problem, settings)
    trials = Trials()
    for fold in problem.folds:
        scores = naive_bayes_features(fold, problem.n_features, smoothing, settings.weight)
        trials.scores.append(fold.accuracy(np.unique(fold.y)[(fold.X_test @ scores.T).argmax(axis=1)]))
    return trials.measured()


def measure_relevance(smoothing: str, problem: Problem, settings: Settings) -> Measured:
    trials = Trials()
    for fold in problem.folds:
        fold.model.set_params(n_features=problem.n_features, smoothing=smoothing, smoothing_weight=settings.weight)
        begin = time.perf_counter()
        trials.scores.append(fold.accuracy(fold.model.predict(fold.X_test)))
        trials.fit_seconds.append(fold.fitted[1])
        trials.predict_seconds.append((time.perf_counter() - begin) / fold.X_test.shape[0])
    shares = np.mean([fold.model.shares_[:, -1].mean(axis=(0, 1)) for fold in problem.folds], axis=0).round(2)
    return trials.measured(None, dict(zip(("background", "class", "own"), shares.tolist(), strict=True)))


def measure_classifier(estimator: Classifier, filtered: bool, problem: Problem, settings: Settings) -> Measured:
    trials = Trials()
    for fold in problem.folds:
        trials.add(clone(estimator), fold.filtered if filtered else fold.X, fold.y, fold.X_test, fold.y_test)
    return trials.measured(None, {"floor": settings.floor} if filtered else {})


_FEW, _ALL = "few words", "all words"


def systems() -> list[System]:
    few, every, both = frozenset({_FEW}), frozenset({_ALL}), frozenset({_FEW, _ALL})
    classifiers = {
        "NB": MultinomialNB(0.1, fit_prior=False),
        "TDM": TiedDocumentMixture(),
        "SVM": make_pipeline(TermWeighting.named("log_tfidf"), LinearSVC(dual=False, tol=0.01)),
        "DMNB": DiscriminativeNB(random_state=0),
    }
    found = [
        System("NB", partial(measure_naive_bayes, "proportional"), both),
        System("RTM", partial(measure_relevance, "proportional"), both),
        System("NB λ", partial(measure_naive_bayes, "printed"), few),
        System("RTM λ", partial(measure_relevance, "printed"), few),
    ]
    for name, estimator in classifiers.items():
        if name != "NB":
            found.append(System(name, partial(measure_classifier, estimator, False), every))
        found.append(System(f"{name}+F", partial(measure_classifier, estimator, True), every))
    overlap = frozenset({OVERLAP})
    found.append(System("printed", partial(measure_overlap, 0.005, 0.1), overlap))
    found.append(System("fitted", partial(measure_overlap, 0.5, 0.005), overlap))
    return found


# The paper

# Tables 4 and 5: accuracies of naive Bayes and the model with so many words, by r. Figure 5's text has 800 words.
TABLES: dict[str, dict[int, dict[int, tuple[float, float]]]] = {
    "News5": {
        0: {25: (48, 59.5), 100: (61, 72), 500: (66, 76)},
        1: {25: (38.4, 53.6), 100: (50, 63.4), 500: (58, 65.4)},
        2: {25: (36, 51.2), 100: (45.7, 61.2), 500: (55.4, 63.8)},
        4: {25: (30.7, 43.4), 100: (43.9, 50.4), 500: (52, 58.5)},
    },
    "Cora": {
        0: {25: (40.7, 48.9), 100: (56, 64.9), 500: (71.7, 74.5), 800: (74.16, 77.6)},
        1: {25: (30.5, 48.4), 100: (47, 61.7), 500: (64.53, 71.5)},
        2: {25: (22.38, 42.54), 100: (36.96, 58.4), 500: (57.36, 68.5)},
        4: {25: (19, 37.14), 100: (29.1, 50.6), 500: (53.1, 67)},
    },
}
_CLEAN: tuple[int | None, ...] = (25, 50, 100, 200, 500, 800, None)  # figures 5 and 6
_NOISY: tuple[int | None, ...] = (25, 100, 500, None)
COLLECTIONS = {"News5": news5, "Cora": cora_abstracts, "Cora titles": cora_titles}
_DATA: dict[str, tuple[str, ...]] = {
    "News5": ("20news-bydate-raw",),
    "Cora": ("cora-abstracts", "arxiv_abstracts"),
    "Cora titles": ("cora-titles",),
}
_NOTES = {
    "News5": "headers left out",
    "Cora": "2,211 abstracts of about 4,000 papers; noise: arXiv abstracts outside cs and stat",
    "Cora titles": "titles of 1,810 papers, not in the paper; noise: titles of Cora's other papers",
}


def rows(settings: Settings, quick: bool = False) -> list[Row]:
    found = [Row(f"table 2, {topic}", OVERLAP, partial(_topic, topic)) for topic in TOPICS]
    for name, make in COLLECTIONS.items():
        if quick and name != "News5":
            continue
        for noise in (0, 4) if quick else (0, 1, 2, 4):
            for n in _NOISY if quick or noise else _CLEAN:
                load = partial(load_problem, make, noise, n, settings)
                paper = TABLES.get(name, {}).get(noise, {}).get(n or 0, ())
                figures = dict(zip(("NB", "RTM"), paper, strict=False))
                title = f"{name} r={noise}, {n or 'all'}"
                note = _NOTES[name] if noise == 0 and n == 25 else ""
                found.append(Row(title, _ALL if n is None else _FEW, load, figures, note=note, data=_DATA[name]))
    return found


def _topic(topic: str) -> Topic:
    return TOPICS[topic]


def _shared(row: Row, system: System) -> str:
    """Rows of one collection and noise level share their fitted models."""
    return row.name.partition(",")[0]


def figures(results: Results) -> str:
    """Figures 5 and 6, and the losses by noise."""

    def panel(name: str, points: dict[float, tuple[int, int]]) -> list[Curve]:
        """The points of one panel, by noise and words per class."""
        made = []
        for i, system in enumerate(("NB", "RTM")):
            ours, paper = [], []
            for x, (noise, n) in points.items():
                score = results.scores(f"{name} r={noise}, {n}").get(system)
                printed = TABLES.get(name, {}).get(noise, {}).get(n)
                ours += [] if score is None else [(x, score)]
                paper += [] if printed is None else [(x, printed[i])]
            made.append(Curve(system, ours, paper))
        return made

    by_words: dict[float, tuple[int, int]] = {n: (0, n) for n in _CLEAN if n is not None}
    by_noise: dict[float, tuple[int, int]] = {noise + 1: (noise, 100) for noise in (0, 1, 2, 4)}
    note = "Filled: genus; hollow: the paper."
    words = curves(
        "Figures 5 and 6: accuracy over words of each class", note, "words",
        {name: panel(name, by_words) for name in COLLECTIONS},
    )  # fmt: skip
    noise = curves(
        "Tables 4 and 5: accuracy with 100 words over noise", note, "documents in each training document, 1 + r",
        {name: panel(name, by_noise) for name in COLLECTIONS},
    )  # fmt: skip
    return words + noise + _losses(results)


def _losses(results: Results) -> str:
    """Tables 4 and 5 as relative changes in accuracy, 100 * (accuracy_r / accuracy_0 - 1) percent."""

    def loss(of: Callable[[int], float | None], noise: int) -> str:
        clean, noisy = of(0), of(noise)
        return "" if clean is None or noisy is None else f"{100 * (noisy / clean - 1):+.1f} %"

    lines = []
    for name, words in ((name, n) for name in TABLES for n in (25, 100, 500)):
        for i, system in enumerate(("NB", "RTM")):
            printed = {noise: by_words[words][i] for noise, by_words in TABLES[name].items()}
            ours = {noise: results.scores(f"{name} r={noise}, {words}").get(system) for noise in printed}
            found = [f"<td>{loss(of.get, noise)}</td>" for noise in (1, 2, 4) for of in (printed, ours)]
            if any(score is not None for score in ours.values()):
                lines.append(f"<tr><th scope='row'>{name}, {words} words, {system}</th>{''.join(found)}</tr>")
    head = ["", *(f"r = {noise}, {who}" for noise in (1, 2, 4) for who in ("paper", "genus"))]
    shown = table("plain", head, f"<tbody>{''.join(lines)}</tbody>")
    note = "Change of the accuracy with r documents of noise, relative to none."
    return f"<section><h2>Tables 4 and 5: what noise costs</h2><p class='note'>{note}</p>{shown}</section>"


def experiment(quick: bool = False) -> Experiment:
    s = replace(QUICK) if quick else Settings()
    return Experiment(
        name="rtm",
        title="Relevance-based topic model: tables 2, 4, 5, figures 5, 6" + (", quick: one fold" if quick else ""),
        source="Ha-Thuc and Srinivasan, A Robust Learning Approach for Text Classification, 2008",
        metric="Accuracy in percent; of table 2, the probability on which a topic and the printed one agree "
        "(1 - total variation)",
        protocol=f"3 folds ({s.folds} measured), each training document joined with r of a non-relevant set; words of "
        f"5 training documents, English stop words out, Porter stems; alpha' {s.alpha:g}, beta' {s.beta:g}, "
        f"{s.sweeps} sweeps, {s.chains} chains. NB, RTM: lambda = {s.weight:g} of a feature's mean count; with λ: "
        f"{s.weight:g} for all classes, as printed. +F: after RelevanceFilter, floor {s.floor:g}. All words: NB alpha "
        f"0.1, TDM and SVM (log tf-idf) as they come. Table 2: alpha', beta' as printed (0.005, 0.1) and as they fit "
        f"(0.5, 0.005). Seed {s.seed}.",
        rows=rows(s, quick),
        systems=systems(),
        settings=s,
        baseline="NB",
        improved="RTM",
        draw=figures,
        shared=_shared,
        findings=RTM,
    )
