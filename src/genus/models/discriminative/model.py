"""Discriminative multinomial naive Bayes: word counts that grow by the model's own mistakes, from a stream.

Every class c is one model of two sides, the class (+) and the rest (-); two classes share one. Before a document d
is learned, it is predicted:

    log odds_c(d) = ln(C+ / C-) + sum over words w of x_dw * (ln(W+_w / W-_w) - ln(T+ / T-))
    p_c(d)        = odds_c / (1 + odds_c)

and its prediction loss L = 1 - p(true side), times its weight, is added to the counts of its true side:

    W_w += L * x_dw      T += L * sum over words of x_dw      C += L

W begins at ln A, T at A ln A and C at 1, with A = N + 1 for N words. A document that is predicted well adds nothing.
Probabilities of more than two classes are the odds, divided by their sum.

Discriminative Multinominal Naive Bayes for Text Classification, after the discriminative frequency estimate of Su,
Zhang, Ling and Matwin (ICML 2008). The paper leaves the smoothing and several classes open; the above is how its
authors' own code in WEKA (DMNBtext) has it, which is what reproduces the paper's tables. The paper's text to the
letter is ``variant="paper"``: one joint model with

    p(c | d) proportional to C_c * prod over words of ((1 + f_wc) / (N + f_c))^x_dw                 (eq. 1, smoothed)
    L(d)     = 1 - p(c | d)                                                                         (eq. 4)
    f_wc    += L(d) for each word of d, where c is its class                                        (Algorithm 1)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from genus import _core
from genus.base.arrays import Float64, Int64, Seed, State, n_threads
from genus.base.estimator import GenerativeClassifier
from genus.base.protocol import Samples
from genus.base.rows import MatrixLike, SparseRows, add_duplicates
from genus.base.score_table import top_words
from genus.base.statistics import Accumulator, Batch, ClassCounts
from genus.base.validation import check_choice, check_count, check_number
from genus.models.discriminative.accumulator import OnlineAccumulator


class DiscriminativeNB(GenerativeClassifier[_core.OnlineLearner]):
    """Naive Bayes that counts by its own mistakes: as fast as naive Bayes, near a linear SVM, and online.

    `fit` learns documents in random order, `partial_fit` in the order in which they come; new classes and new words
    may come at any time.

    Algorithm 1 is in ``cpp/online/learner.cpp``.

    Parameters
    ----------
    n_passes : int, default=1
        How often `fit` goes over the documents. Five are often a little better than one.
    binary : bool, default=True
        Words are present or absent, whatever their count. Otherwise x_dw is the count, or any weight.
    shuffle : bool, default=True
        Whether `fit` learns in random order, another for each pass. Documents sorted by class, taken in that order,
        teach it next to nothing.
    random_state : int, RandomState or None, default=None
        Makes the order of `fit`.
    average : bool, default=False
        Predict by the average of the counts after each document, rather than by the last ones.
    decay : float, default=None
        The half-life of what was learned, in documents: after so many more, a document's part in all counts is
        half of what it was. None keeps everything.
    min_loss : float, default=0.0
        A class does not learn from a document whose loss for it is not above this. Something like 0.001 saves time
        and memory where there are many classes: a class then has counts only of words that it was asked about.
    variant : {"code", "paper"}, default="code"
        As the authors carried it out, or as their paper has it: one joint model of all classes.
    n_jobs : int, default=None
        Threads, which share out the classes; None and -1 use every core. Results do not depend on it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    n_features_in_ : int
        The number of words N: of all columns so far, of those that hashing fills, or of the vocabulary as it grows.
    class_count_ : array of shape (n_classes,)
        The documents' summed weights.
    class_loss_ : array of shape (n_classes,)
        What the documents of each class have taught: their summed losses.
    class_log_odds_ : array of shape (n_classes,)
        ln(C+ / C-).
    feature_log_odds_ : array of shape (n_classes, n_features)
        ln(W+ / W-) - ln(T+ / T-). Dense, made anew each time it is asked for.

    See Also
    --------
    MultinomialNB : every document counts alike, in any order.

    Notes
    -----
    ===============  =======================================  =========================
    symbol           here                                     shape
    ===============  =======================================  =========================
    x_dw             ``X``, or 1 where ``X`` is above 0       (n_documents, n_features)
    ln(C+ / C-)      ``class_log_odds_``                      (n_classes,)
    ln(W+ / W-) ...  ``feature_log_odds_``                    (n_classes, n_features)
    log odds         ``predict_joint_log_proba``              (n_documents, n_classes)
    ===============  =======================================  =========================

    Of two classes, the log odds of the second are 0. A class that comes late (in `partial_fit`, not announced by
    ``classes``) begins where every class begins, at even odds.

    What is learned depends on the order of documents: models cannot be merged, and documents cannot be unlearned.
    ``sample_weight`` multiplies the loss; a document of weight 2 is not the same as one that comes twice. One of
    weight 0 is passed over.

    Examples
    --------
    >>> import numpy as np
    >>> from genus import DiscriminativeNB
    >>> X = np.array([[2, 1, 0], [1, 0, 0], [0, 1, 3]])
    >>> clf = DiscriminativeNB(random_state=0).fit(X, ["ham", "ham", "spam"])
    >>> clf.predict([[0, 0, 2]])
    array(['spam'], dtype='<U4')
    >>> clf.partial_fit(X[1:2], ["eggs"]).classes_.tolist()
    ['eggs', 'ham', 'spam']
    """

    _remembers = OnlineAccumulator
    _accumulator: OnlineAccumulator
    _counting_params = ("binary", "average", "decay", "min_loss", "variant")

    def __init__(
        self,
        n_passes: int = 1,
        *,
        binary: bool = True,
        shuffle: bool = True,
        random_state: Seed = None,
        average: bool = False,
        decay: float | None = None,
        min_loss: float = 0.0,
        variant: str = "code",
        n_jobs: int | None = None,
    ) -> None:
        self.n_passes = n_passes
        self.binary = binary
        self.shuffle = shuffle
        self.random_state = random_state
        self.average = average
        self.decay = decay
        self.min_loss = min_loss
        self.variant = variant
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        check_count("n_passes", self.n_passes)
        if self.decay is not None:
            check_number("decay", self.decay, 1e-3, math.inf, "None or a positive number of documents")
        if self.decay is not None and self.average:
            raise ValueError("average and decay exclude one another: an average keeps what decay forgets.")
        check_number("min_loss", self.min_loss, 0, np.nextafter(1, 0), "a number from 0 to below 1")
        check_choice("variant", self.variant, ("code", "paper"))
        super()._check_parameters()

    def _prediction_parameters(self) -> set[str]:
        return {"n_jobs"}

    # Learning

    @property
    def _options(self) -> _core.OnlineOptions:
        return _core.OnlineOptions(
            bool(self.binary), self.variant == "paper", bool(self.average), float(self.decay or 0), float(self.min_loss)
        )

    @property
    def _learned(self) -> _core.OnlineOptions:
        """How the documents were learned, whatever the parameters are now."""
        return self._accumulator.options

    def _new_accumulator(self) -> Accumulator:
        return OnlineAccumulator(self._options)

    def _accumulate(self, accumulator: Accumulator, batch: Batch) -> None:
        assert isinstance(accumulator, OnlineAccumulator)
        accumulator.learn(batch, self._orders(batch.rows.n_rows), n_threads(self.n_jobs))

    def _orders(self, n: int) -> Iterator[Int64]:
        random = check_random_state(self.random_state)
        for _ in range(self.n_passes):  # Algorithm 1, line by line in the learner
            yield random.permutation(n).astype(np.int64) if self.shuffle else np.arange(n)

    def _learn_one(self, rows: SparseRows, label: object, weight: float = 1.0) -> None:
        """Learn a single document, without any check."""
        if not self._is_fitted():
            self._partial_fit_rows(rows, np.array([label]), np.array([weight]))
            return
        self._accumulator.learn_one(rows, label, weight)
        self.n_features_in_ = rows.n_columns
        if self._learned.average:
            self._parameters_cache = None

    def _training_rows(self, X: Samples) -> SparseRows:
        rows = super()._training_rows(X)
        return rows if X.dtype.kind == "f" else add_duplicates(rows)  # the others have none

    def _check_rows(self, X: MatrixLike) -> SparseRows:
        return add_duplicates(super()._check_rows(X))

    # Scores

    def _make_parameters(self, counts: ClassCounts) -> _core.OnlineLearner:
        accumulator = self._accumulator
        return accumulator.learner.averaged() if accumulator.options.average else accumulator.learner

    def _scores(self, rows: SparseRows) -> Float64:
        return self._score(rows, n_threads(self.n_jobs))

    def _score(self, rows: SparseRows, threads: int) -> Float64:
        place = self._accumulator.place
        out = np.empty((rows.n_rows, len(place)))
        self._parameters.score(rows.indptr, rows.indices, rows.data, place, out, threads)
        return out

    def _predict_one(self, rows: SparseRows) -> Any:
        """The label of a single document."""
        return self._accumulator.labels[self._score(rows, 1)[0].argmax()].item()

    # Looking inside

    @property
    def class_loss_(self) -> Float64:
        learner = self._parameters
        return np.array([learner.totals(number)[0][1] for number in self._accumulator.numbers.tolist()])

    @property
    def class_log_odds_(self) -> Float64:
        return self._log_odds(np.empty(0, dtype=np.int64), range(len(self.classes_)))[0]

    @property
    def feature_log_odds_(self) -> Float64:
        return self._log_odds(np.arange(self.n_features_in_), range(len(self.classes_)))[1].T

    def _log_odds(self, words: Int64, classes: Sequence[int]) -> tuple[Float64, Float64]:
        """What the prior (k,) and some words (n, k) add to some classes' log odds."""
        learner, numbers = self._parameters, self._accumulator.numbers
        word_prior, total_prior = self._smoothing
        prior, odds = np.zeros(len(classes)), np.zeros((len(words), len(classes)))
        for i, c in enumerate(classes):
            number = int(numbers[c])
            if number == 1 and len(numbers) == 2 and not self._learned.joint:
                continue  # the second of two has the log odds of the first against it
            of_words = _ratio(learner.evidence(number, words), word_prior)  # eq. 6, in logarithms
            of_all, of_documents = _ratio(learner.totals(number), np.array([total_prior, 1.0]))
            prior[i], odds[:, i] = of_documents, of_words - of_all
        return prior, odds

    @property
    def _smoothing(self) -> tuple[float, float]:
        """Where W and T begin."""
        n = max(self._accumulator.n_columns, 1)
        return (1.0, float(n)) if self._learned.joint else (math.log(n + 1), (n + 1) * math.log(n + 1))

    def _row_evidence(self, row: SparseRows, classes: Sequence[int]) -> tuple[Float64, Float64]:
        """What the prior (k,) and each of one document's words (n_entries, k) add to some classes' scores."""
        prior, odds = self._log_odds(row.indices.astype(np.int64), classes)
        counted = (row.indices < self._accumulator.n_columns) & (row.data > 0)
        values = np.where(counted, 1.0 if self._learned.binary else row.data, 0.0)
        return prior, odds * values[:, np.newaxis]

    def _top_words(self, c: int, n: int) -> tuple[Int64, Float64]:
        """The words that mistakes taught a class: what they added, times the log odds that came of it."""
        learner, numbers = self._parameters, self._accumulator.numbers
        words = np.arange(self._accumulator.n_columns)
        inside, outside = learner.evidence(int(numbers[c]), words)
        all_in, all_out = (side[0] for side in learner.totals(int(numbers[c])))
        if self._learned.joint:  # whose classes have no rest of their own
            for other in np.delete(numbers, c).tolist():
                outside = outside + learner.evidence(other, words)[0]
                all_out += learner.totals(other)[0][0]
        word_prior, total_prior = self._smoothing
        odds = _ratio((inside, outside), word_prior) - _ratio((all_in, all_out), total_prior)
        return top_words(words, inside * odds, n, positive=True)

    # Keeping

    def __getstate__(self) -> dict[str, object]:
        state: dict[str, object] = super().__getstate__()
        return state | {"_parameters_cache": None}  # the accumulator's own learner, or made from it

    def _table_state(self) -> dict[str, object]:
        return {}

    def _table_from_state(self, state: State) -> None:
        """The accumulator's own learner scores, or one made from it."""


def _ratio(sides: tuple[Float64, Float64], prior: Float64 | float) -> Float64:
    """ln((prior + in) / (prior + out))."""
    inside, outside = sides
    return np.log1p(inside / prior) - np.log1p(outside / prior)
