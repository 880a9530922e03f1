"""Table 2 and figure 3 of the tied document mixture, measured again.

A. Puurula and S.-H. Myaeng, Integrated Instance- and Class-based Generative Modeling for Text Classification
(ADCS 2013). Eight systems on those of the 14 data sets that are available, and on spam and multi-label sets that the
paper does not use. Sets of labels L_d are compared with predicted sets A_d by

    micro-F = 2 * sum over documents d of |L_d and A_d| / (sum of |L_d| + sum of |A_d|),

which is the accuracy with one label per document.

The paper's parameters were found by 40 x 20 points of a Gaussian random search on held-out training documents. Here the
search is shorter, and generative models are scored by exact leave-one-out over training documents: they are fitted
once, and only the smoothing changes from point to point.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from joblib import parallel_config
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import ComplementNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from genus.base.arrays import Int64
from genus.base.protocol import Samples
from genus.datasets import Dataset, count_matrix, load_dataset
from genus.experiments.harness.settings import Classifier, Trials
from genus.experiments.harness.table import Experiment, Measured, Row, System
from genus.experiments.pages.findings import TDM
from genus.models.document_mixture.models import (
    KernelDensityClassifier,
    NearestNeighborsClassifier,
    TiedDocumentMixture,
)
from genus.models.naive_bayes import MultinomialNB
from genus.multilabel.powerset import LabelPowerset
from genus.search.random_search import GaussianRandomSearchCV
from genus.search.space import Integer, Linear, Log, Logit, Scale, Share
from genus.text.vectorizer import Vectorizer
from genus.text.weighting import TermWeighting

LabelSet = frozenset[str]
Generative = MultinomialNB | TiedDocumentMixture | NearestNeighborsClassifier | KernelDensityClassifier


@dataclass(frozen=True)
class Settings:
    """The length of the search, and its documents."""

    seed: int = 0
    iterations: int = 12  # of the generative models' search
    points: int = 12
    documents: int = 2000  # at most so many training documents are left out in turn
    postings: int = 1_000_000_000  # and so many of a set's (word, document) pairs are touched for a point
    c_iterations: int = 3  # of the linear models' search, for C alone
    c_points: int = 3


QUICK = Settings(iterations=3, points=6, documents=500, c_iterations=2, c_points=2)
QUICK_ROWS = ("SMS Spam", "R8", "WebKb", "Medical", "Enron")


# Problems


@dataclass(frozen=True)
class Problem:
    """Counts and label sets. ``run`` above 1: so many rows in a row may be about one thing, and are held out
    together."""

    X_train: Samples
    X_test: Samples
    train: Sequence[LabelSet]
    test: Sequence[LabelSet]
    multilabel: bool
    run: int = 1

    @cached_property
    def label_sets(self) -> list[LabelSet]:
        return sorted(set(self.train), key=sorted)

    @cached_property
    def codes(self) -> Int64:
        """The number of each training document's label set."""
        number = {labels: code for code, labels in enumerate(self.label_sets)}
        return np.array([number[labels] for labels in self.train], dtype=np.int64)

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """N, L, and the documents to train on and to test with."""
        return self.X_train.shape[1], len(self.label_sets), self.X_train.shape[0], self.X_test.shape[0]

    def micro_f(self, truth: Int64, answers: Int64) -> float:
        sets = self.label_sets
        return micro_f([sets[code] for code in truth.tolist()], [sets[code] for code in answers.tolist()])

    def test_score(self, estimator: Classifier) -> Trials:
        """Of the estimator, fitted to all training documents, on the test documents."""
        trials = Trials()
        if self.multilabel:
            sets = [set(labels) for labels in self.train]
            found = trials.answers(LabelPowerset(estimator), self.X_train, sets, self.X_test)
            answers = [frozenset(labels) for labels in found]
        else:
            codes = trials.answers(clone(estimator), self.X_train, self.codes, self.X_test)
            answers = [self.label_sets[code] for code in codes.tolist()]
        trials.scores.append(micro_f(self.test, answers))
        return trials


def micro_f(truth: Sequence[LabelSet], answers: Sequence[LabelSet]) -> float:
    """F1 of the summed true positives, false positives and false negatives: the accuracy, with one label each.

    >>> micro_f([frozenset("ab"), frozenset("c")], [frozenset("a"), frozenset("d")])
    0.4
    """
    right = sum(len(a & b) for a, b in zip(truth, answers, strict=True))
    total = sum(map(len, truth)) + sum(map(len, answers))
    return 2 * right / total if total else 1.0


def load_problem(
    name: str, *, stem: bool = False, test_per_class: int | None = None, run: int = 1, seed: int = 0
) -> Problem:
    """A data set by its own split, or with a number of test documents drawn per class."""
    if test_per_class is None:
        train, test = load_dataset(name, "train"), load_dataset(name, "test")
    else:
        train, test = _draw(load_dataset(name), test_per_class, seed)
    train = _take(train, [i for i, document in enumerate(_documents(train)) if document])  # the paper's sizes
    X_train, X_test = _matrices(train, test, stem)
    return Problem(X_train, X_test, _label_sets(train), _label_sets(test), train.multilabel, run)


def _draw(data: Dataset, per_class: int, seed: int) -> tuple[Dataset, Dataset]:
    """Balanced test documents, as the paper's binary sets have them."""
    labels = np.array(data.labels)
    order = np.random.default_rng(seed).permutation(len(labels))
    test = np.concatenate([order[labels[order] == label][:per_class] for label in np.unique(labels)])
    return _take(data, np.setdiff1d(order, test).tolist()), _take(data, np.sort(test).tolist())


def _take(data: Dataset, rows: Sequence[int]) -> Dataset:
    def some(values: Any) -> Any:
        return None if values is None else [values[i] for i in rows]

    return replace(data, labels=some(data.labels), texts=some(data.texts), counts=some(data.counts), extra={})


def _documents(data: Dataset) -> Sequence[str] | Sequence[dict[str, int]]:
    return data.texts if data.texts is not None else data.counts or []


def _label_sets(data: Dataset) -> list[LabelSet]:
    return [frozenset(map(str, labels)) if data.multilabel else frozenset([str(labels)]) for labels in data.labels]


def _matrices(train: Dataset, test: Dataset, stem: bool) -> tuple[Samples, Samples]:
    if train.counts is not None and test.counts is not None:
        X, words = count_matrix(train.counts)
        return X, count_matrix(test.counts, words)[0]
    # Texts not yet stemmed: as the paper has it, "stemming and short-word removal".
    vectorizer = Vectorizer(stemmer="porter", token_pattern=r"(?u)\b\w\w\w+\b") if stem else Vectorizer()
    return vectorizer.fit_transform(train.texts), vectorizer.transform(test.texts)


# Systems


def measure_generative(
    estimator: Generative, space: Mapping[str, Scale], problem: Problem, settings: Settings
) -> Measured:
    """Tuned by leave-one-out; by holding out runs of rows if neighboring rows are about one thing."""
    sample = development_sample(problem.X_train, settings, problem.run)
    everything = np.arange(problem.X_train.shape[0])
    rest = everything if problem.run == 1 else np.setdiff1d(everything, sample)

    def score(model: Generative, X: Samples, y: Int64) -> float:
        if problem.run > 1:
            return problem.micro_f(y, model.predict(X))
        return problem.micro_f(y, model.classes_[model.leave_one_out_log_proba(X, y).argmax(axis=1)])

    search = GaussianRandomSearchCV(
        estimator, space, n_iterations=settings.iterations, n_points=settings.points,
        scoring=score, cv=[(rest, sample)], refit=False, random_state=settings.seed,
    )  # fmt: skip
    return _measured(search, estimator, problem)


def measure_peer(estimator: Classifier, name: str, problem: Problem, settings: Settings) -> Measured:
    """Its one parameter tuned on a held-out fifth of the training documents."""
    n = problem.X_train.shape[0]
    held_out = rows_in_runs(n, n // 5, problem.run, settings.seed)

    def score(model: Classifier, X: Samples, y: Int64) -> float:
        return problem.micro_f(y, model.predict(X))

    search = GaussianRandomSearchCV(
        estimator, {name: Log(0.01, 10)}, n_iterations=settings.c_iterations, n_points=settings.c_points,
        scoring=score, cv=[(np.setdiff1d(np.arange(n), held_out), held_out)], refit=False,
        random_state=settings.seed, n_jobs=-1,
    )  # fmt: skip
    # liblinear runs without the GIL; with C at the upper end it may stop at its limit of iterations, as it is known to.
    with parallel_config(backend="threading"), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return _measured(search, estimator, problem)


def _measured(search: GaussianRandomSearchCV, estimator: Classifier, problem: Problem) -> Measured:
    with warnings.catch_warnings():
        # A search that is interrupted answers with the best so far: good for a person, wrong for a table.
        warnings.filterwarnings("error", "interrupted after", UserWarning)
        try:
            search.fit(problem.X_train, problem.codes)
        except UserWarning as warning:
            raise KeyboardInterrupt from warning
    params = {name.split("__")[-1]: value for name, value in search.best_params_.items()}
    trials = problem.test_score(clone(estimator).set_params(**search.best_params_))
    return trials.measured(search.best_score_, params, len(search.cv_results_["params"]))


def rows_in_runs(n: int, size: int, run: int, seed: int) -> Int64:
    """About ``size`` of n rows, drawn in runs.

    >>> rows_in_runs(9, 6, 3, seed=0).tolist()
    [0, 1, 2, 6, 7, 8]
    """
    runs = np.random.default_rng(seed).permutation(-(-n // run))[: max(1, size // run)]
    return np.flatnonzero(np.isin(np.arange(n) // run, runs))


def development_sample(X: Samples, settings: Settings, run: int) -> Int64:
    """Training documents to score points on, limited by the number of postings they touch."""
    frequency = np.bincount(X.indices, minlength=X.shape[1])
    per_document = frequency[X.indices].sum() / max(X.shape[0], 1)
    most = X.shape[0] if run == 1 else X.shape[0] // 5  # held-out documents leave the rest to learn from
    size = int(min(settings.documents, most, max(settings.postings / max(per_document, 1), 200)))
    return rows_in_runs(X.shape[0], size, run, settings.seed)


_A2, _A3 = Logit(1e-4, 0.9999), Linear(0, 1)
_ONE_LABEL = frozenset({"spam", "sentiment", "multi-class"})
# liblinear's own tolerance for its dual solvers, where scikit-learn asks for more: many classes of raw counts take a
# twentieth of the primal solvers' time or less. Scores are near theirs but not the same, and lower for an SVM on WebKb
# with C of 1 and more.
_DUAL = {"dual": True, "tol": 0.1, "random_state": 0}


def _generative(name: str, estimator: Generative, **space: Scale) -> System:
    return System(name, partial(measure_generative, estimator, space))


def _linear(name: str, model: Classifier, prefix: str, weighted: bool) -> System:
    step = f"{type(model).__name__.lower()}__" if weighted else ""
    estimator = make_pipeline(TermWeighting.named("log_share"), model) if weighted else model
    return _peer(name, estimator, f"{step}{prefix}C")


def _peer(name: str, estimator: Classifier, parameter: str) -> System:
    return System(name, partial(measure_peer, estimator, parameter), _ONE_LABEL)


def systems() -> list[System]:
    logistic = OneVsRestClassifier(LogisticRegression(solver="liblinear", **_DUAL))
    svm = LinearSVC(**_DUAL)
    share = Share("background_smoothing")
    return [
        _generative("MNB", MultinomialNB(background_smoothing=0.5), background_smoothing=_A2, prior_scale=_A3),
        _generative(
            "TDM", TiedDocumentMixture(), class_smoothing=share, background_smoothing=_A2, prior_scale=_A3
        ),
        _generative("KNN", NearestNeighborsClassifier(), n_neighbors=Integer(1, 50), background_smoothing=_A2),
        _generative("KDC", KernelDensityClassifier(), background_smoothing=_A2, prior_scale=_A3),
        _peer("CNB", ComplementNB(), "alpha"),
        _linear("LR", logistic, "estimator__", False),
        _linear("LR+", logistic, "estimator__", True),
        _linear("SVM", svm, "", False),
        _linear("SVM+", svm, "", True),
    ]  # fmt: skip


# The paper


_SYSTEMS = ("MNB", "TDM", "KNN", "KDC", "LR", "LR+", "SVM", "SVM+")

# Table 2, in its order.
TABLE_2 = {
    "TREC06": (99.21, 99.71, 99.39, 99.39, 99.35, 99.57, 99.50, 99.68),
    "ECUE1": (92.70, 97.50, 95.70, 94.80, 95.20, 93.50, 95.40, 97.00),
    "ECUE2": (96.00, 98.70, 96.80, 96.70, 98.30, 96.40, 97.60, 98.60),
    "ACL-IMDB": (82.53, 88.23, 71.60, 71.60, 90.30, 90.27, 89.93, 90.53),
    "TripAdvisor12": (86.76, 88.44, 77.90, 77.73, 91.89, 91.98, 91.87, 92.10),
    "Amazon12": (80.33, 86.81, 79.75, 80.13, 84.34, 84.36, 84.06, 84.29),
    "R8": (96.62, 97.26, 94.43, 94.24, 97.03, 97.03, 97.12, 97.58),
    "R52": (91.90, 91.24, 90.77, 90.50, 92.99, 92.48, 93.15, 95.17),
    "WebKb": (83.95, 85.82, 76.65, 76.29, 91.62, 90.26, 91.26, 91.12),
    "20Ng": (82.09, 83.98, 73.29, 73.31, 80.15, 84.14, 80.74, 85.22),
    "Cade": (59.67, 60.31, 51.21, 51.84, 58.11, 60.02, 57.72, 60.39),
    "RCV1-v2": (64.98, 73.24, 69.89, 70.53),
    "EUR-Lex": (48.11, 48.72, 48.29, 48.33),
    "OHSU-TREC": (40.23, 40.23, 40.23, 40.23),
}

# Table 1: words, classes, documents to train on and to test with. The paper prints the last two of R8, R52 and WebKb
# in each other's rows; here they stand where they belong, as the collections themselves show.
TABLE_1 = {
    "TREC06": (797772, 2, 35039, 2783),
    "ECUE1": (100000, 2, 9978, 1000),
    "ECUE2": (161155, 2, 10865, 1000),
    "ACL-IMDB": (89527, 2, 47000, 3000),
    "TripAdvisor12": (76364, 2, 60298, 10077),
    "Amazon12": (86914, 2, 267875, 100556),
    "R8": (14575, 8, 5485, 2189),
    "R52": (16145, 52, 6532, 2568),
    "WebKb": (7287, 4, 2785, 1396),
    "20Ng": (54580, 20, 11293, 7528),
    "Cade": (157483, 12, 27322, 13661),
    "RCV1-v2": (160281, 19587, 343117, 8644),
    "EUR-Lex": (172928, 14240, 17381, 1933),
    "OHSU-TREC": (290117, 196415, 197555, 35890),
}


def rows() -> list[Row]:
    """The paper's data sets in its order, each task followed by ours."""
    binary = "words present or absent, not counted"
    return [
        _paper("TREC06", "spam", note="the TREC 2006 public spam corpus, from the University of Waterloo"),
        _paper("ECUE1", "spam", note="spam by S. J. Delany, Dublin Institute of Technology"),
        _paper("ECUE2", "spam", note="as ECUE1"),
        _ours("SpamAssassin", "spam", "spamassassin", "500 of each class drawn", test_per_class=500),
        _ours("SMS Spam", "spam", "sms_spam", "250 of each class drawn", test_per_class=250),
        _paper("ACL-IMDB", "sentiment", "imdb", "official split; the paper's is its own", run=50),
        _paper("TripAdvisor12", "sentiment", note="prepared by the authors, with their toolkit SGMWeka"),
        _paper("Amazon12", "sentiment", note="prepared by the authors, with their toolkit SGMWeka"),
        _paper("R8", "multi-class", "r8-stemmed"),
        _paper("R52", "multi-class", "r52-stemmed"),
        _paper("WebKb", "multi-class", "webkb-stemmed"),
        _paper("20Ng", "multi-class", "20ng-stemmed", "stemming reconstructed"),
        _paper("Cade", "multi-class", note="from A. Cardoso-Cachopo's page, beside R8 and WebKb"),
        _paper("RCV1-v2", "multi-label", note="from NIST, under an agreement"),
        _paper("EUR-Lex", "multi-label", note="from the Knowledge Engineering Group, TU Darmstadt"),
        _paper("OHSU-TREC", "multi-label", note="of the TREC-9 filtering track, from NIST"),
        _ours("OHSUMED-23", "multi-label", "ohsumed23", stem=True),
        _ours("Bibtex", "multi-label", "mulan_bibtex", binary),
        _ours("Medical", "multi-label", "mulan_medical", binary),
        _ours("Enron", "multi-label", "mulan_enron", binary),
    ]


def _ours(name: str, task: str, data: str, note: str = "", **how: Any) -> Row:
    return Row(name, task, partial(load_problem, data, **how), note=note, data=(data,))


def _paper(name: str, task: str, data: str | None = None, note: str = "", **how: Any) -> Row:
    """A data set of the paper; without data, the note says where to get it."""
    row = Row(name, task, None, note=note) if data is None else _ours(name, task, data, note, **how)
    return replace(row, paper=dict(zip(_SYSTEMS, TABLE_2[name], strict=False)), sizes=TABLE_1[name])


def experiment(quick: bool = False) -> Experiment:
    settings = QUICK if quick else Settings()
    chosen = [row for row in rows() if not quick or row.name in QUICK_ROWS]
    s = settings
    return Experiment(
        name="tdm",
        title="Tied document mixture: table 2" + (", quick: some of its data sets" if quick else ""),
        source="Puurula and Myaeng, Integrated Instance- and Class-based Generative Modeling for Text Classification, "
        "ADCS 2013",
        metric="Micro-averaged F1 in percent (the accuracy, where a document has one label)",
        protocol=f"MNB, TDM, KNN, KDC: {s.iterations} x {s.points} points of a Gaussian random search by exact "
        f"leave-one-out over up to {s.documents:,} training documents (ACL-IMDB: runs of reviews held out); CNB "
        f"(not in the paper's table), LR, SVM: {s.c_iterations} x {s.c_points} values on a held-out fifth, the "
        "latter by liblinear's dual solvers with its own tolerance of 0.1 (at most 100 iterations of LR, 1,000 of "
        f"SVM). The paper: 40 x 20 points. Seed {s.seed}.",
        rows=chosen,
        systems=systems(),
        settings=settings,
        baseline="MNB",
        improved="TDM",
        findings=TDM,
    )
