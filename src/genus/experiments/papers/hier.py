"""Tables 3 and 4, figures 1 and 2 of the hierarchical mixture, measured again; and further collections.

K. Toutanova, F. Chen, K. Popat and T. Hofmann, Text Classification in a Hierarchical Mixture Model for Small Training
Sets (CIKM 2001). Accuracy on 15 newsgroups with 7 to 667 documents per class, and eight measures on Reuters-21578 with
90 categories. Figure 1 draws table 3; figure 2 is the macro-averaged F1 of categories by their number of documents.

Nothing is tuned on test documents: naive Bayes' smoothing is tuned by leave-one-out, the mixture's setting for Reuters
on a fifth of the training documents, thresholds and probabilities by cross-validation. With the true and false
positives TP and FP and the false negatives FN of a label,

    F1 = 2 TP / (2 TP + FP + FN),

averaged over labels (macro), or from sums over all labels (micro).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.svm import LinearSVC

from genus.base.arrays import Float64, Int64
from genus.base.labels import Labels
from genus.base.protocol import Samples, Targets
from genus.datasets import Dataset, count_matrix, load_dataset
from genus.experiments.harness.settings import Classifier, Trials
from genus.experiments.harness.table import Experiment, Measured, Row, System
from genus.experiments.pages.findings import HIERARCHY
from genus.experiments.papers.hier_figures import FIGURE_2, SIZES, TABLE_3, newsgroups_name, plots, reuters_name
from genus.models.cosine_neighbors import CosineNeighborsClassifier
from genus.models.hierarchical.models import HierarchicalMixture, HierarchicalShrinkage
from genus.models.naive_bayes import MultinomialNB
from genus.models.plsa import PLSAClassifier
from genus.multilabel.likelihood_ratio import LikelihoodRatioMultilabel
from genus.multilabel.metrics import set_scores
from genus.text.vectorizer import Vectorizer
from genus.text.weighting import TermWeighting
from genus.tree.label_tree import LabelTree


@dataclass(frozen=True)
class Settings:
    """How often to measure."""

    seed: int = 0
    splits: int = 10
    test_documents: int = 4000  # at most so many are asked of each split


QUICK = Settings(splits=3, test_documents=2000)

# Table 1
NEWSGROUPS = {
    "COMPUTERS": [
        "comp.graphics", "comp.os.ms-windows.misc", "comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware",
        "comp.windows.x",
    ],
    "MOTORS": ["rec.autos", "rec.motorcycles"],
    "POLITICS": ["talk.politics.guns", "talk.politics.mideast", "talk.politics.misc"],
    "RELIGION": ["alt.atheism", "soc.religion.christian", "talk.religion.misc"],
    "SPORTS": ["rec.sport.baseball", "rec.sport.hockey"],
}  # fmt: skip

MEASURES = ("miP", "miR", "miF1", "maP", "maR", "maF1", "acc")
TABLE_4 = {
    "HM": (87.2, 77.1, 81.8, 81.5, 40.8, 45.9, 99.53),
    "SVM": (88.1, 86.8, 87.5, 83.7, 52.4, 55.4, 99.66),
    "kNN": (79.0, 81.3, 80.2, 75.9, 50.3, 49.1, 99.38),
    "HS": (84.9, 78.0, 81.3, 76.5, 39.2, 43.2, 99.50),
    "NB": (82.5, 71.3, 76.5, 76.3, 28.3, 33.7, 99.40),
}


# One label per document


@dataclass(frozen=True)
class Splits:
    """Repeated random splits: some documents of each class to train on, the others to test with.

    ``pool`` are the rows to draw from; ``test`` those to ask, all that were not drawn if None.
    """

    X: Samples
    y: Targets
    tree: LabelTree
    per_class: int
    pool: Int64
    test: Int64 | None = None

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        train, test = self.split(0, Settings())
        return self.X.shape[1], len(np.unique(self.y[train])), len(train), len(test)

    def split(self, number: int, settings: Settings) -> tuple[Int64, Int64]:
        rng = np.random.default_rng([settings.seed, number])
        order = rng.permutation(self.pool)
        labels = self.y[order]
        train = np.concatenate([order[labels == c][: self.per_class] for c in np.unique(labels)])
        test = np.setdiff1d(self.pool, train) if self.test is None else self.test
        return train, np.sort(rng.permutation(test)[: settings.test_documents])

    def measure(self, name: str, settings: Settings) -> Measured:
        """The mean accuracy over the splits."""
        trials = Trials()
        for number in range(settings.splits):
            train, test = self.split(number, settings)
            X, y = self.X[train], self.y[train]
            model = tuned_naive_bayes(X, y) if name == "NB" else single_label(name, self.tree)
            trials.add(model, X, y, self.X[test], self.y[test])
        return trials.measured()


def single_label(name: str, tree: LabelTree) -> Classifier:
    """A system of table 3, or an additional one."""
    log_rows = TermWeighting.named("log_l2")
    systems: dict[str, Callable[[], Classifier]] = {
        "PLSA": PLSAClassifier,
        "HS": lambda: HierarchicalShrinkage(tree),
        "kNN": CosineNeighborsClassifier,
        "HM": lambda: HierarchicalMixture(tree),
        "HM by length": lambda: HierarchicalMixture(tree, document_weights="length"),
        "HM log": lambda: make_pipeline(log_rows, HierarchicalMixture(tree, document_weights="length")),
        "HM log root": lambda: make_pipeline(
            log_rows, HierarchicalMixture(tree, shrink_to="root", document_weights="length")
        ),
        "HM flat": lambda: HierarchicalMixture("flat"),
        "HM learned": lambda: HierarchicalMixture("learn"),
    }
    return systems[name]()


def tuned_naive_bayes(X: Samples, y: Targets) -> MultinomialNB:
    """Lidstone's constant by leave-one-out accuracy on training documents; the smallest of equal ones."""
    model = MultinomialNB().fit(X, y)

    def accuracy(alpha: float) -> float:
        log_proba = model.set_params(alpha=alpha).leave_one_out_log_proba(X, y)
        return float(np.mean(model.classes_[log_proba.argmax(axis=1)] == y))

    return MultinomialNB(max((0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0), key=accuracy))


@lru_cache(maxsize=1)
def _newsgroups() -> tuple[Samples, Labels]:
    """Subject and body of the 15 groups; words that occur three times at least, without stop words."""
    data = load_dataset("20news-bydate-raw")
    groups = {group for members in NEWSGROUPS.values() for group in members}
    texts = [(_subject_and_body(text), label) for text, label in zip(data.texts or [], data.labels, strict=True)]
    chosen = [(text, label) for text, label in texts if label in groups]
    X = Vectorizer(stop_words="english", dtype=np.float64).fit_transform([text for text, _ in chosen])
    often = np.asarray(X.sum(axis=0)).ravel() >= 3
    return sparse.csr_array(X)[:, often], np.array([label for _, label in chosen])


def _subject_and_body(text: str) -> str:
    head, _, body = text.partition("\n\n")
    subject = " ".join(line[8:] for line in head.splitlines() if line.lower().startswith("subject:"))
    return f"{subject}\n{body}"


def newsgroups(per_class: int) -> Splits:
    X, y = _newsgroups()
    return Splits(X, y, LabelTree.from_any(NEWSGROUPS), per_class, np.arange(len(y)))


@lru_cache(maxsize=1)
def _arxiv() -> tuple[Samples, Labels, LabelTree, int]:
    train, test = load_dataset("arxiv_abstracts", "train"), load_dataset("arxiv_abstracts", "test")
    vectorizer = Vectorizer(stop_words="english", min_df=2, dtype=np.float64)
    X = sparse.vstack([vectorizer.fit_transform(train.texts), vectorizer.transform(test.texts)], format="csr")
    y = np.array([str(label) for part in (train, test) for label in part.labels])
    return sparse.csr_array(X), y, LabelTree.from_any(train.hierarchy), len(train)


def arxiv(per_class: int) -> Splits:
    """Abstracts by their first category; test documents are later ones, of categories that were there before."""
    X, y, tree, n_train = _arxiv()
    later = np.arange(n_train, len(y))
    known = np.isin(y[later], y[:n_train])
    return Splits(X, y, tree, per_class, np.arange(n_train), later[known])


# Several labels per document


@dataclass(frozen=True)
class LabelSets:
    """Training and test documents with several labels; what a system scored, by measure."""

    X: Samples
    Y: Targets
    X_test: Samples
    Y_test: Targets
    found: dict[str, tuple[dict[str, float], dict[str, float], Trials]] = field(default_factory=dict)

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        return self.X.shape[1], self.Y.shape[1], self.X.shape[0], self.X_test.shape[0]

    def scores(self, name: str, settings: Settings) -> tuple[dict[str, float], dict[str, float], Trials]:
        """All measures, the setting, and the times; a system is measured once."""
        if name not in self.found:
            model, params = several_labels(name, self.X, self.Y, settings)
            trials = Trials()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                answers = np.asarray(trials.answers(model, self.X, self.Y, self.X_test))
            scores = set_scores(self.Y_test, answers)
            f1 = set_scores_by_label(self.Y_test, answers)
            n = self.Y.sum(axis=0)
            for low, high in FIGURE_2:
                chosen = (n >= low) & (n <= high)
                scores[f"{low}-{high}"] = float(f1[chosen].mean()) if chosen.any() else float("nan")
            self.found[name] = scores, params, trials
        return self.found[name]


def set_scores_by_label(Y: Targets, answers: Targets) -> Float64:
    """Each label's F1."""
    right, either = (Y * answers).sum(axis=0), Y.sum(axis=0) + answers.sum(axis=0)
    return np.where(either > 0, 2 * right / np.maximum(either, 1), 0.0)


def several_labels(name: str, X: Samples, Y: Targets, settings: Settings) -> tuple[Classifier, dict[str, float]]:
    """A system of table 4 and its setting, chosen on training documents where there is a choice."""
    if name == "SVM":
        svm = LinearSVC(tol=0.01, class_weight={0: 1, 1: 10})  # the paper: false negatives cost ten times as much
        return make_pipeline(TermWeighting("log", idf="plain", norm="l2"), OneVsRestClassifier(svm)), {}
    if name == "kNN":
        return CosineNeighborsClassifier(), {}
    if name == "NB":
        models: list[MultinomialNB | HierarchicalMixture | HierarchicalShrinkage] = [
            MultinomialNB(alpha) for alpha in (0.003, 0.01, 0.1)
        ]
    else:
        kind = HierarchicalMixture if name == "HM" else HierarchicalShrinkage
        models = [kind("learn", document_weights=weights) for weights in ("equal", "length")]
    choices = [LikelihoodRatioMultilabel(m, decide=d) for m in models for d in ("macro_f1", "example_f1")]
    held_out = np.random.default_rng(settings.seed).permutation(X.shape[0]) % 5 == 0

    def development(choice: LikelihoodRatioMultilabel) -> float:
        scores = set_scores(Y[held_out], clone(choice).fit(X[~held_out], Y[~held_out]).predict(X[held_out]))
        return scores["miF1"] + scores["maF1"]

    chosen = max(choices, key=development)
    found = chosen.estimator
    params: dict[str, float] = (
        {"alpha": found.alpha} if name == "NB" else {"by length": int(found.document_weights == "length")}
    )
    return chosen, params | {"for example-F1": int(chosen.decide == "example_f1")}


@dataclass(frozen=True)
class OneMeasure:
    """A row of table 4: one of the measures."""

    problem: LabelSets
    name: str

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        return self.problem.sizes

    def measure(self, name: str, settings: Settings) -> Measured:
        scores, params, trials = self.problem.scores(name, settings)
        return replace(trials, scores=[scores[self.name]]).measured(None, params)


def one_measure(name: str, measure: str) -> OneMeasure:
    return OneMeasure(label_sets(name), measure)


@lru_cache(maxsize=1)
def label_sets(name: str) -> LabelSets:
    """A collection by its own split; without one, every third document is a test document."""
    if name == "eurlex_mini":
        data = load_dataset(name)
        rows = np.arange(len(data))
        parts = [[(_content(data)[i], data.labels[i]) for i in rows[(rows % 3 == 0) == test]] for test in (False, True)]
    else:
        loaded = [load_dataset(name, part) for part in ("train", "test")]
        parts = [list(zip(_content(part), part.labels, strict=True)) for part in loaded]
    (train, labels), (test, test_labels) = (tuple(zip(*part, strict=True)) for part in parts)
    if isinstance(train[0], str):
        vectorizer = Vectorizer(dtype=np.float64)
        X, X_test = vectorizer.fit_transform(train), vectorizer.transform(test)
    else:
        X, words = count_matrix(train)
        X_test = count_matrix(test, words)[0]
    binarizer = MultiLabelBinarizer().fit(labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # labels of test documents that no training document has
        Y, Y_test = binarizer.transform(labels), binarizer.transform(test_labels)
    return LabelSets(sparse.csr_matrix(X), Y, sparse.csr_matrix(X_test), Y_test)


def _content(data: Dataset) -> Sequence[str] | Sequence[dict[str, int]]:
    return data.texts if data.texts is not None else data.counts or []


# The tables


def rows(quick: bool = False) -> list[Row]:
    sizes = (7, 20, 67) if quick else SIZES
    news, abstracts = ("20news-bydate-raw",), ("arxiv_abstracts",)
    made = [
        Row(newsgroups_name(n), "newsgroups", partial(newsgroups, n), _column(TABLE_3, SIZES.index(n)), data=news)
        for n in sizes
    ]
    reuters = "reuters21578-modapte90"
    for place, measure in enumerate(MEASURES):
        if not quick or measure in ("miF1", "maF1"):
            made.append(_measured_by(measure, reuters, f"Reuters-90 {measure}", paper=_column(TABLE_4, place)))
    if quick:
        return made
    for low, high in FIGURE_2:
        row = _measured_by(f"{low}-{high}", reuters, reuters_name(low, high))
        made.append(replace(row, task="few documents"))
    for data, title, note in (
        ("ohsumed23", "OHSUMED-23", ""),
        ("mulan_bibtex", "Bibtex", "words present or absent, not counted"),
        ("eurlex_mini", "EUR-Lex mini", "every third document is a test document"),
    ):
        made += [_measured_by(measure, data, f"{title} {measure}", note=note) for measure in ("miF1", "maF1")]
    return made + [
        Row(f"arXiv abstracts, {n} per class", "abstracts", partial(arxiv, n), data=abstracts) for n in (5, 20, 100)
    ]


def _measured_by(measure: str, data: str, name: str, **more: Any) -> Row:
    return Row(name, "several labels", partial(one_measure, data, measure), data=(data,), **more)


def _column(table: Mapping[str, Sequence[float]], place: int) -> dict[str, float]:
    return {name: values[place] for name, values in table.items()}


_ONE, _SEVERAL = frozenset({"newsgroups", "abstracts"}), frozenset({"several labels", "few documents"})


def systems() -> list[System]:
    """The paper's systems; ours too where a document has one label."""
    tasks = {"NB": None, "PLSA": frozenset({"newsgroups"}), "HS": None, "kNN": None, "HM": None}
    tasks |= dict.fromkeys(("HM by length", "HM log", "HM log root", "HM flat", "HM learned"), _ONE) | {"SVM": _SEVERAL}
    return [System(name, partial(_measure, name), found) for name, found in tasks.items()]


def _measure(name: str, problem: Splits | OneMeasure, settings: Settings) -> Measured:
    return problem.measure(name, settings)


def _shared(row: Row, system: System) -> tuple[Hashable, str]:
    """All measures of a collection with several labels are computed together."""
    return row.data if row.task in _SEVERAL else row.name, system.name


def experiment(quick: bool = False) -> Experiment:
    settings = QUICK if quick else Settings()
    return Experiment(
        name="hier",
        title="Hierarchical mixture: tables 3 and 4" + (", quick: some of their rows" if quick else ""),
        source="Toutanova, Chen, Popat and Hofmann, Text Classification in a Hierarchical Mixture Model for Small "
        "Training Sets, CIKM 2001",
        metric="Accuracy in percent (newsgroups, abstracts: the mean over splits), or the measure named",
        protocol=f"{settings.splits} random splits, up to {settings.test_documents:,} test documents each. "
        "HM: documents count equally; by length: as the paper has it; "
        "log: log(1+tf), rows of norm 10; log root: without the nodes between root and class; "
        "flat and learned: other trees. Several labels: equal fractions, "
        f"probabilities by cross-validation, sets for the F1 of labels or of documents. Seed {settings.seed}.",
        rows=rows(quick),
        systems=systems(),
        settings=settings,
        baseline="NB",
        improved="HM",
        plots=plots,
        shared=_shared,
        findings=HIERARCHY,
    )
