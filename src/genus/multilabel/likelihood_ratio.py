"""Several labels per document, by one generative model of all labels and the likelihood ratio of each.

    s_l(d) = (log P(d|l) - log P(d)) / |d|^a,     P(d) = product over words of P(w), the words of all documents pooled

A document with k labels is learned as one k-th of a document of each. The score says how much likelier the document is
under label l than under no label at all (Toutanova and others, CIKM 2001, section 2.2, with a = 0); divided by the
root of the length |d| it compares documents of different length. From scores to sets: thresholds label by label on
held-out documents, or probabilities and the sets that can expect the best F1 (`genus.multilabel.decoding`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import KFold
from sklearn.utils import Tags, check_consistent_length
from sklearn.utils.validation import check_is_fitted, validate_data

from genus.base.arrays import Float64, Int32
from genus.base.label_sets import KINDS, SetRows, Target, as_given, read_target
from genus.base.labels import Labels
from genus.base.protocol import Label, Samples, State, Targets
from genus.base.validation import check_number
from genus.multilabel.calibration import Calibration, Candidates
from genus.multilabel.decoding import OBJECTIVES, LabelDecoder, scut_thresholds

_BLOCK = 1 << 21  # scores held at once: 16 MB


class LikelihoodRatioMultilabel(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Several labels per document, by likelihood ratios of one generative model.

    Parameters
    ----------
    estimator : classifier of word counts
        A generative model with ``predict_joint_log_proba`` and ``sample_weight``: `HierarchicalMixture` (with a tree
        of the labels, or without), `MultinomialNB` of genus or scikit-learn. Its classes are the labels, numbered
        where they come as an indicator.
    decide : {"macro_f1", "micro_f1", "example_f1", "thresholds"}, default="macro_f1"
        How scores become sets: the sets that can expect the best F1 (of labels, pairs or documents) by probabilities,
        or the labels' thresholds of best F1, as in the paper.
    length_power : float, default=0.5
        a in the equation above: 0 for the paper's score.
    contrast : bool, default=False
        With "thresholds": cut the difference to the best other label's score, not the score itself.
    cv : int or splitter, default=5
        Folds on whose held-out documents probabilities and thresholds are fitted.
    guard : float, default=0.1
        With "thresholds": a label whose best F1 is below this is given only from its highest held-out score on.
    n_candidates : int, default=50
        How many of a document's best labels are candidates. Memory grows with it.

    Attributes
    ----------
    classes_ : array of shape (n_labels,)
        The labels, sorted; column numbers for an indicator.
    estimator_ : classifier
        The model, fitted to all documents.
    thresholds_ : array of shape (n_labels,)
        With "thresholds": from which score on a label is given. +inf where no held-out document has the label.

    Notes
    -----
    Labels come as in `LabelPowerset`: an indicator, dense or sparse, or a list of sets; answers come likewise.
    Documents without any label are not learned, but count among the held-out ones. Where every training document has
    a label, so has every answer, except with "thresholds".
    A label that a fold leaves without documents is out of the question for that fold's held-out ones.

    Examples
    --------
    >>> from genus import LikelihoodRatioMultilabel, MultinomialNB
    >>> X = np.array([[3, 0, 1], [2, 0, 0], [0, 3, 1], [0, 2, 0], [2, 2, 1], [3, 2, 0]])
    >>> y = [{"sport"}, {"sport"}, {"money"}, {"money"}, {"money", "sport"}, {"money", "sport"}]
    >>> clf = LikelihoodRatioMultilabel(MultinomialNB(), cv=3).fit(X, y)
    >>> [sorted(labels) for labels in clf.predict([[4, 0, 1], [0, 4, 1]])]
    [['sport'], ['money']]
    """

    estimator_: Any
    classes_: Labels
    thresholds_: Float64

    def __init__(
        self,
        estimator: Any,
        *,
        decide: str = "macro_f1",
        length_power: float = 0.5,
        contrast: bool = False,
        cv: object = 5,
        guard: float = 0.1,
        n_candidates: int = 50,
    ) -> None:
        self.estimator = estimator
        self.decide = decide
        self.length_power = length_power
        self.contrast = contrast
        self.cv = cv
        self.guard = guard
        self.n_candidates = n_candidates

    def fit(self, X: Samples, y: Targets) -> Self:
        """Learn from documents and their sets of labels.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_words)
            Word counts, or other weights that are not negative.
        y : array or sparse matrix of shape (n_documents, n_labels), or list of sets of labels
        """
        self._check_parameters()
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        target = read_target(y)
        check_consistent_length(X, target.rows)
        if not len(target.rows.members):
            raise ValueError("y must hold at least one label, but every document's set is empty.")
        self.classes_, self._kind = target.labels, target.kind
        X = sparse.csr_array(X)
        Y = _indicator(target)
        held_out = self._held_out(X, Y)
        self.estimator_, self._log_pooled = self._learn(X, Y)
        if self.decide == "thresholds":
            scores = held_out.contrast() if self.contrast else held_out.scores
            self.thresholds_ = scut_of(held_out.matrix(scores, Y.shape[1]), Y, self.guard)
            return self
        self._calibration = Calibration.fit(held_out, Y)
        self._decoder = LabelDecoder(self.decide, at_least_one=bool((np.diff(Y.indptr) > 0).all()))
        self._decoder.fit(held_out.matrix(self._calibration.proba(held_out), Y.shape[1]))
        return self

    def _check_parameters(self) -> None:
        if self.decide not in (*OBJECTIVES, "thresholds"):
            names = ", ".join(map(repr, (*OBJECTIVES, "thresholds")))
            raise ValueError(f"decide must be one of {names}, got {self.decide!r}.")
        check_number("length_power", self.length_power, 0, 1, "a number from 0 to 1")
        check_number("guard", self.guard, 0, 1, "a number from 0 to 1")
        k = self.n_candidates
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
            raise ValueError(f"n_candidates must be a positive integer, got {k!r}.")

    def _held_out(self, X: Samples, Y: Targets) -> Candidates:
        """The best labels of every document, by models that did not learn it."""
        held_out = Candidates.none(X.shape[0], min(self.n_candidates, Y.shape[1]))
        for train, test in self._folds(X.shape[0]):
            if not Y[train].nnz:
                continue
            estimator, log_pooled = self._learn(X[train], Y[train])
            held_out.put(test, self._candidates(estimator, log_pooled, X[test]))
        return held_out

    def _folds(self, n: int) -> Iterator[tuple[object, object]]:
        if hasattr(self.cv, "split"):
            return iter(self.cv.split(np.zeros(n)))
        if isinstance(self.cv, bool) or not isinstance(self.cv, (int, np.integer)) or not self.cv >= 2:
            raise ValueError(f"cv must be a number of folds, 2 or more, or a splitter, got {self.cv!r}.")
        if n < 2:
            raise ValueError(f"X must have two documents at least, to hold one out, got {n}.")
        return iter(KFold(min(int(self.cv), n), shuffle=True, random_state=0).split(np.zeros(n)))

    def _learn(self, X: Samples, Y: Targets) -> tuple[Any, Float64]:
        """The estimator fitted to equal fractions of every document, and the pooled log P(w)."""
        lengths = np.diff(Y.indptr)
        rows = np.repeat(np.arange(len(lengths)), lengths)
        estimator = clone(self.estimator)
        estimator.fit(X[rows], self.classes_[Y.indices], sample_weight=1 / lengths[rows])
        counts = np.asarray(X.sum(axis=0)).ravel()
        with np.errstate(divide="ignore"):  # -inf for words never seen
            return estimator, np.log(counts / max(counts.sum(), 1e-300))

    # Answering

    def predict(self, X: Samples) -> Targets:
        """The labels of each document: an indicator or a list of sets, as y was in `fit`."""
        candidates = self._best(X)
        if self.decide == "thresholds":
            scores = candidates.contrast() if self.contrast else candidates.scores
            there = candidates.labels >= 0
            chosen = there & (scores >= np.where(there, self.thresholds_[candidates.labels], np.inf))
            given = candidates.matrix(chosen.astype(float), len(self.classes_))
        else:
            proba = self._calibration.proba(candidates)
            given = self._decoder.predict(candidates.matrix(proba, len(self.classes_))).astype(float)
        given.eliminate_zeros()
        given.sort_indices()
        rows = SetRows(given.indptr.astype(np.int64), given.indices.astype(np.int32))
        return as_given(self._kind, rows, self.classes_)

    def predict_proba(self, X: Samples) -> Float64:
        """The probability of each label: an array of shape (n_documents, n_labels), in the order of ``classes_``.

        Labels are not exclusive: rows need not sum to one. 0 for labels that are not among a document's best.
        """
        check_is_fitted(self)
        if self.decide == "thresholds":
            raise AttributeError("decide='thresholds' has scores, not probabilities: see decision_function.")
        candidates = self._best(X)
        proba: Float64 = candidates.matrix(self._calibration.proba(candidates), len(self.classes_)).toarray()
        return proba

    def decision_function(self, X: Samples) -> Float64:
        """s_l(d): an array of shape (n_documents, n_labels)."""
        check_is_fitted(self)
        X = sparse.csr_array(validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64))
        out = np.full((X.shape[0], len(self.classes_)), -np.inf)
        for rows, columns, scores in self._score_blocks(self.estimator_, self._log_pooled, X):
            out[rows, columns] = scores
        return out

    def score(self, X: Samples, y: Targets, sample_weight: Any = None) -> float:
        """The share of documents whose set of labels is exactly right."""
        check_is_fitted(self)
        wanted, given = (_sets(read_target(labels)) for labels in (y, self.predict(X)))
        right = [a == b for a, b in zip(wanted, given, strict=True)]
        return float(np.average(right, weights=sample_weight))

    def _best(self, X: Samples) -> Candidates:
        check_is_fitted(self)
        X = sparse.csr_array(validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64))
        return self._candidates(self.estimator_, self._log_pooled, X)

    def _candidates(self, estimator: Any, log_pooled: Float64, X: Samples) -> Candidates:
        found = Candidates.none(X.shape[0], min(self.n_candidates, len(self.classes_)))
        for rows, columns, scores in self._score_blocks(estimator, log_pooled, X):
            found.put(rows, Candidates.from_scores(scores, columns, found.labels.shape[1]))
        return found

    def _score_blocks(self, estimator: Any, log_pooled: Float64, X: Samples) -> Iterator[tuple[slice, Int32, Float64]]:
        """s_l(d) for some documents at a time, and the labels that the columns stand for."""
        columns = np.searchsorted(self.classes_, estimator.classes_).astype(np.int32)
        # An empty document has no words, and so gets the prior.
        prior = estimator.predict_joint_log_proba(sparse.csr_array((1, X.shape[1])))
        size = max(1, _BLOCK // len(columns))
        for begin in range(0, X.shape[0], size):
            block = _seen(X[begin : begin + size], log_pooled)
            lengths = np.maximum(np.asarray(block.sum(axis=1)).ravel(), 1.0)
            likelihood = estimator.predict_joint_log_proba(block) - np.where(np.isfinite(prior), prior, 0.0)
            ratio = (
                likelihood - (block @ np.where(np.isfinite(log_pooled), log_pooled, 0.0))[:, np.newaxis]
            ) / lengths[:, np.newaxis] ** self.length_power
            yield slice(begin, begin + size), columns, ratio

    # Keeping

    def _get_state(self) -> State:
        check_is_fitted(self)
        state = {"estimator": self.estimator_, "labels": self.classes_, "kind": self._kind, "pooled": self._log_pooled}
        if self.decide == "thresholds":
            return state | {"thresholds": self.thresholds_}
        calibration, decoder = self._calibration, self._decoder
        state |= {"weights": calibration.weights, "own": calibration.own, "log_odds": calibration.log_odds}
        return state | {
            "at_least_one": decoder.at_least_one,
            "thresholds": getattr(decoder, "thresholds_", np.zeros(decoder.n_labels_)),
        }

    def _set_state(self, state: State) -> None:
        estimator, labels, kind, thresholds = (state[name] for name in ("estimator", "labels", "kind", "thresholds"))
        if kind not in KINDS or not hasattr(estimator, "predict_joint_log_proba"):
            raise ValueError("a generative estimator and a kind of labels were expected")
        if not isinstance(labels, np.ndarray) or labels.ndim != 1 or not (labels[1:] > labels[:-1]).all():
            raise ValueError("labels must be a sorted one-dimensional array")
        if not np.isin(estimator.classes_, labels).all():
            raise ValueError("the estimator's classes are not among the labels")
        _check_floats("pooled", state["pooled"], estimator.n_features_in_)
        _check_floats("thresholds", thresholds, len(labels))
        self.estimator_, self.classes_, self._kind = estimator, labels, kind
        self._log_pooled, self.n_features_in_ = state["pooled"], estimator.n_features_in_
        self.decide = self.decide.replace("-", "_")  # "macro-f1" in files of the first releases
        if self.decide == "thresholds":
            self.thresholds_ = thresholds
            return
        self._calibration = Calibration(state["weights"], state["own"], state["log_odds"])
        _check_floats("weights", self._calibration.weights, 5)
        for name in ("own", "log_odds"):
            _check_floats(name, state[name], len(labels))
        self._decoder = LabelDecoder(self.decide, at_least_one=bool(state["at_least_one"]))
        self._decoder.n_labels_, self._decoder.thresholds_ = len(labels), thresholds

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.target_tags.single_output = False
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.poor_score = True
        return tags


def _sets(target: Target) -> list[set[Label]]:
    sets: list[set[Label]] = as_given("sets", target.rows, target.labels)
    return sets


def _seen(X: Samples, log_pooled: Float64) -> sparse.csr_array:
    """Documents without the words that were not seen in training."""
    known = sparse.csr_array(X)
    known.data = np.where(np.isfinite(log_pooled[known.indices]), known.data, 0.0)
    known.eliminate_zeros()
    return known


def _indicator(target: Target) -> sparse.csr_array:
    rows = target.rows
    ones = np.ones(len(rows.members))
    return sparse.csr_array((ones, rows.members, rows.indptr), shape=(len(rows), len(target.labels)))


def scut_of(scores: sparse.csr_array, Y: Targets, guard: float) -> Float64:
    """`scut_thresholds` of scores that are only known for the best labels of documents, label by label."""
    columns, truth = scores.tocsc(), Y.tocsc()
    thresholds = np.full(Y.shape[1], np.inf)
    for c in range(Y.shape[1]):
        known = slice(columns.indptr[c], columns.indptr[c + 1])
        members = truth.indices[truth.indptr[c] : truth.indptr[c + 1]]
        missed = len(members) - int(np.isin(members, columns.indices[known]).sum())
        found = np.isin(columns.indices[known], members)
        # Documents that have the label without its coming into question count as not to be found.
        table = np.concatenate((columns.data[known], np.full(missed, -np.inf)))[:, np.newaxis]
        hits = np.concatenate((found, np.ones(missed, dtype=bool)))[:, np.newaxis]
        if len(table):
            thresholds[c] = scut_thresholds(table, hits, guard)[0]
    return thresholds


def _check_floats(name: str, array: object, n: int) -> None:
    if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.shape != (n,):
        raise ValueError(f"{name} must be an array of {n} float64 numbers")
