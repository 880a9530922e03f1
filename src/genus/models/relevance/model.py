"""The relevance-based topic model: which words of a training document are about its class.

Every token of a document d with label t comes from one of three topics: the background b that all documents share,
the class t, or a topic t_o(d) of the document's own. Gibbs sampling decides which, token by token: in each sweep a
token of word w is given topic j with probability

    p(z = j) ~ theta_dj * phi_jw                                                          (Fig. 3, 2.1.1)
    theta_dj = (n_dj + alpha) / (n_d + 3 alpha)                                           (2.2.1)
    phi_jw   = (m_jw + beta) / (m_j + W beta)                                             (2.3.1)

where n_dj tokens of d, and m_jw tokens of word w, had topic j in the sweep before. The tokens of the class alone make
the class's distribution, from its W* most frequent words V*_t:

    p(w | t) = (m*_tw + lambda) / (m*_t + (W* + 1) lambda),     m*_tw = 0 for w not in V*_t

V. Ha-Thuc and P. Srinivasan, A Robust Learning Approach for Text Classification (2008); alpha, beta are its α', β'.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from genus import _core
from genus.base.arrays import Float64, Int32, Int64, Seed, State, n_threads
from genus.base.estimator import GenerativeClassifier
from genus.base.label_sets import has_label_sets, label_pairs
from genus.base.labels import Labels, encode_labels
from genus.base.progress import sweep_progress
from genus.base.protocol import Targets
from genus.base.rows import MatrixLike, SparseRows, check_columns, without_zeros
from genus.base.score_table import ScoreTable, top_words
from genus.base.statistics import ONE, Accumulator, ClassCounts
from genus.base.validation import check_choice, check_labels, check_positive, check_steps, refuse_missing
from genus.models.relevance.sampler import (
    BACKGROUND,
    CLASS,
    OWN,
    Chains,
    LabelledRows,
    class_counts,
    most_frequent,
    split_r_hat,
    used_columns,
)

_REPEATS = 25  # of the expectations that mark documents
_COLLAPSED = 0.01  # a class with a smaller share of its documents' tokens: a warning
_CONVERGED = 1.1  # the usual bound of R-hat


class Marks(NamedTuple):
    """For every word of every document the probabilities of the three topics: they sum to one.

    Sparse arrays of shape (n_documents, n_words), stored where the documents' own entries are.
    """

    relevant: sparse.csr_array
    background: sparse.csr_array
    own: sparse.csr_array


class RelevanceTopicModel(GenerativeClassifier[ScoreTable]):
    """Learns each class from those parts of its documents that are about it, and shows them.

    What it is for: a short and clean list of words for each class, robustness where few words are kept or the
    documents hold much that is not about their class, and `mark`, which separates the tokens of a document. As a
    classifier with all words, plain naive Bayes is as good or better.

    Sweeps are in ``cpp/topics/gibbs.cpp``, marks in ``cpp/topics/marking.cpp``.

    Parameters
    ----------
    alpha : float, default=50.0
        α', added to a document's number of tokens in each topic. Positive; larger ones keep the three topics in
        balance, small ones let one of them take whole documents.
    beta : float, default=0.1
        β', added to a topic's number of tokens of each word. Positive.
    n_sweeps : int, default=25
        How often all tokens are drawn.
    n_chains : int, default=2
        Independent samplers, whose counts are averaged.
    burn_in : int, default=None
        Sweeps that are not counted; half of them by default.
    thinning : int, default=1
        After the burn-in, every so many sweeps are counted, the last among them.
    n_features : int, default=None
        W*, the words kept for each class, the most frequent first; all by default.
    smoothing : {"proportional", "printed"}, default="proportional"
        What λ is. The paper's ("printed") is one number for all classes, so that a word which is not among a class's
        features costs a small class less than a large one; "proportional" is relative to the mean count m*_t / W* of
        the class's features.
    smoothing_weight : float, default=0.1
        λ if "printed", its multiple of m*_t / W* if "proportional". Positive.
    fit_prior : bool, default=False
        Learn p(t) from the number of documents; otherwise all classes are equally probable beforehand, as in the
        paper.
    random_state : int, RandomState or None, default=None
        Seed of the draws. Equal seeds give equal models, for any ``n_jobs``.
    verbose : bool, default=False
        Show each sweep, and the shares of tokens by topic, on standard error.
    n_jobs : int, default=None
        Threads; None and -1 use every core.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    n_features_in_ : int
        The number of columns.
    n_words_ : int
        W, the number of words that occur: columns that no document uses, as in hashed counts, do not matter.
    topic_count_ : array of shape (n_classes, n_features)
        m*_tw, averaged over chains and sweeps. Dense, made anew each time it is asked for.
    background_count_ : array of shape (n_features,)
        m*_bw.
    feature_log_prob_ : array of shape (n_classes, n_features)
        log p(w | t). Dense, made anew each time it is asked for.
    shares_ : array of shape (n_chains, n_sweeps, n_classes, 3)
        The shares of each class's tokens in background, class and own topics, sweep by sweep.
    r_hat_ : array of shape (n_classes,)
        Split R-hat of the classes' own share after the burn-in: near 1 where chains agree; NaN for fewer than 4
        sweeps.
    converged_ : bool
        Whether all of ``r_hat_`` are at most 1.1.

    Notes
    -----
    ========================  ==========================================  ==============================
    symbol                    here                                        shape
    ========================  ==========================================  ==============================
    tokens                    ``X``                                       (n_documents, n_features)
    m*_tw, m*_bw              ``topic_count_``, ``background_count_``     (n_classes, n_features), (W,)
    φ*_tw                     ``exp(feature_log_prob_)``                  (n_classes, n_features)
    p(z = j)                  ``mark``                                    3 x (n_documents, n_features)
    ========================  ==========================================  ==============================

    A value x that is not whole stands for ceil(x) tokens of the weight x/ceil(x). Documents with several labels are
    learned once with each of them (section 2.1); y is then a list of sets, or an indicator matrix. A class whose
    documents are empty is uniform over words. Draws cannot be added up or taken back: there is no ``partial_fit``,
    ``unlearn`` or ``sample_weight``.

    Examples
    --------
    >>> from genus import RelevanceTopicModel, Vectorizer
    >>> texts = ["goal match goal the weather", "match goal the cat", "bank stock bank the dog", "stock bank the sea"]
    >>> vectorizer = Vectorizer()
    >>> clf = RelevanceTopicModel(alpha=1.0, random_state=0)
    >>> clf = clf.fit(vectorizer.fit_transform(texts), ["sport", "sport", "money", "money"])
    >>> clf.predict(vectorizer.transform(["the bank of the stock"]))
    array(['money'], dtype='<U5')
    """

    _learns_more = False
    _counting_params = ("alpha", "beta", "n_sweeps", "n_chains", "burn_in", "thinning", "random_state")

    def __init__(
        self,
        alpha: float = 50.0,
        beta: float = 0.1,
        *,
        n_sweeps: int = 25,
        n_chains: int = 2,
        burn_in: int | None = None,
        thinning: int = 1,
        n_features: int | None = None,
        smoothing: str = "proportional",
        smoothing_weight: float = 0.1,
        fit_prior: bool = False,
        random_state: Seed = None,
        verbose: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.n_sweeps = n_sweeps
        self.n_chains = n_chains
        self.burn_in = burn_in
        self.thinning = thinning
        self.n_features = n_features
        self.smoothing = smoothing
        self.smoothing_weight = smoothing_weight
        self.fit_prior = fit_prior
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        for name in ("alpha", "beta", "smoothing_weight"):
            check_positive(name, getattr(self, name))
        for name in ("n_sweeps", "n_chains", "thinning"):
            check_steps(name, getattr(self, name), 1)
        if self.n_features is not None:
            check_steps("n_features", self.n_features, 1)
        if self.burn_in is not None:
            check_steps("burn_in", self.burn_in, 0)
            if self.burn_in >= self.n_sweeps:
                raise ValueError(f"burn_in must be below n_sweeps ({self.n_sweeps}), got {self.burn_in}.")
        check_choice("smoothing", self.smoothing, ("proportional", "printed"))
        super()._check_parameters()

    # Learning

    def fit(self, X: MatrixLike, y: Targets) -> Self:  # type: ignore[override]  # without sample_weight
        """Sample the topics of all tokens, forgetting what was learned before.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_words)
            Word counts, or other weights that are not negative.
        y : array of shape (n_documents,), list of sets, or indicator matrix of shape (n_documents, n_labels)
            One label for each document, or several.

        Returns
        -------
        self
        """
        if has_label_sets(y):
            X = validate_data(self, X, accept_sparse="csr")
        else:
            refuse_missing(y)
            X, y = validate_data(self, X, y, accept_sparse="csr")
        return self._fit_rows(self._training_rows(X), y)

    def _fit_rows(self, rows: SparseRows, y: Targets, sample_weight: ArrayLike | None = None) -> Self:
        if sample_weight is not None:
            raise ValueError("RelevanceTopicModel draws whole tokens and takes no sample_weight.")
        self._check_parameters()
        if has_label_sets(y):
            labels, documents, codes = label_pairs(y, rows.n_rows)
        else:
            labels, codes = encode_labels(_check_one_label_each(y, rows.n_rows))
            documents = np.arange(rows.n_rows)
        check_columns(rows)
        rows, columns = used_columns(without_zeros(rows), documents)
        counts, background, shares = self._sample(
            LabelledRows.from_rows(rows, documents, codes, len(labels)), len(columns)
        )
        self._set_statistics(Accumulator(class_counts(counts, labels, codes, columns, rows.n_columns)))
        self.background_count_ = np.zeros(rows.n_columns)
        self.background_count_[columns] = background
        self.shares_, self.n_words_ = shares, len(columns)
        self._parameters  # noqa: B018 (as in every model: errors are raised when fitting)
        self._warn_of_collapse()
        return self

    def _sample(self, documents: LabelledRows, n_words: int) -> tuple[sparse.csr_array, Float64, Float64]:
        """Sweep: m_tw by class and m_bw, averaged after the burn-in, and all sweeps' shares."""
        chains = Chains(
            documents,
            n_words,
            alpha=float(self.alpha),
            beta=float(self.beta),
            n_chains=int(self.n_chains),
            seed=int(check_random_state(self.random_state).randint(2**31)),
            n_threads=n_threads(self.n_jobs),
        )
        counted = set(range(self.n_sweeps - 1, self._n_burnt - 1, -self.thinning))
        topics, background = np.zeros(chains.topics.shape[1]), np.zeros(n_words)
        shares = np.zeros((chains.n_chains, self.n_sweeps, documents.n_classes, 3))
        with sweep_progress(self.n_sweeps, shown=bool(self.verbose)) as tell:
            for sweep in range(self.n_sweeps):
                chains.sweep()  # Fig. 3: 2.1.1, 2.2.1 and 2.3.1 for every token
                shares[:, sweep] = chains.shares()
                tell(chains.mixtures.sum(axis=(0, 1)))
                for chain in range(chains.n_chains) if sweep in counted else ():
                    topics += chains.topics[chain]
                    background += chains.background[chain]
        words, n = chains.words, len(counted) * chains.n_chains
        del chains  # most of the memory
        cells = np.floor(topics / n + 0.5).astype(np.int64), words.words, words.starts
        by_class = sparse.csr_array(cells, shape=(documents.n_classes, n_words))
        return by_class, background / n / ONE, shares

    @property
    def _n_burnt(self) -> int:
        return self.n_sweeps // 2 if self.burn_in is None else int(self.burn_in)

    def _warn_of_collapse(self) -> None:
        shares = self.shares_[:, self._n_burnt :].mean(axis=(0, 1))
        collapsed = (shares[:, CLASS] < _COLLAPSED) & (shares.sum(axis=1) > 0)
        if collapsed.any():
            names = ", ".join(map(repr, self.classes_[collapsed].tolist()[:3]))
            more = f" and {int(collapsed.sum()) - 3} more" if collapsed.sum() > 3 else ""
            warnings.warn(
                f"The class topic of {names}{more} has collapsed: under {_COLLAPSED:.0%} of its documents' tokens are "
                "left in it. Use a larger alpha, which keeps topics in balance.",
                ConvergenceWarning,
                stacklevel=4,
            )

    # Counts to scores

    def _make_parameters(self, counts: ClassCounts) -> ScoreTable:
        kept = counts if self.n_features is None else most_frequent(counts, int(self.n_features))
        totals, threads = kept.totals, n_threads(self.n_jobs)
        some = totals > 0
        n_kept = np.bincount(kept.classes, minlength=kept.n_classes)  # W*
        mean = totals / np.maximum(n_kept, 1)
        added = self.smoothing_weight * (mean if self.smoothing == "proportional" else np.ones_like(mean))
        # p(w | t), of the words of V*_t and, as `absent`, of the others.
        ratio = np.divide(1, added, out=np.zeros_like(totals), where=some)
        absent = np.divide(
            added, totals + (n_kept + 1) * added, out=np.full_like(totals, 1 / self.n_words_), where=some
        )
        log_prior = self._log_prior(counts.weights)
        table = _core.build_table(kept.indptr, kept.classes, kept.counts, ratio, threads)
        return ScoreTable(*table, log_prior, log_prior, np.log(absent))

    # Marking

    def mark(self, X: MatrixLike, y: ArrayLike) -> Marks:
        """Which tokens of documents are about their class, which are background, which the document's own.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_words)
            Word counts: of training documents, or of new ones.
        y : array of shape (n_documents,)
            Their labels.

        Returns
        -------
        Marks
            ``relevant``, ``background`` and ``own``: the probabilities of each word's tokens.
        """
        rows = self._check_rows(X)
        shares = self._mark_rows(rows, self._codes_of(y, rows.n_rows))
        shape = (rows.n_rows, rows.n_columns)
        made = {j: sparse.csr_array((shares[:, j].copy(), rows.indices, rows.indptr), shape=shape) for j in range(3)}
        return Marks(made[CLASS], made[BACKGROUND], made[OWN])

    def relevance(self, X: MatrixLike, y: ArrayLike) -> Float64:
        """The share of each document's tokens that is about its class: (n_documents,), 0 for empty ones.

        A training document with hardly any is likely to have a wrong label.
        """
        rows = self._check_rows(X)
        tokens = self._token_shares(rows, self._codes_of(y, rows.n_rows))
        known = tokens.sum(axis=1)
        return np.asarray(tokens[:, CLASS] / np.where(known > 0, known, 1))

    def _token_shares(self, rows: SparseRows, codes: Int32) -> Float64:
        """How many known tokens of each document are of background, class and own topic: (n_documents, 3)."""
        weighted = self._mark_rows(rows, codes) * rows.data[:, np.newaxis]
        document = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
        return np.stack([np.bincount(document, part, minlength=rows.n_rows) for part in weighted.T], axis=1)

    def _mark_rows(self, rows: SparseRows, codes: Int32) -> Float64:
        """Probabilities of background, class and own topic for each entry: (n_entries, 3)."""
        counts = self._accumulator.checked(n_threads(self.n_jobs))
        shares: Float64 = _core.mark(
            counts.indptr, counts.classes, counts.counts, counts.totals, self.background_count_,
            float(self.alpha), float(self.beta), self.n_words_, rows.indptr, rows.indices, rows.data, codes,
            _REPEATS, n_threads(self.n_jobs),
        )  # fmt: skip
        return shares

    def _codes_of(self, y: ArrayLike, n: int) -> Int32:
        given = _check_one_label_each(y, n)
        labels, codes = encode_labels(given) if n else (self.classes_[:0], np.zeros(0, dtype=np.int32))
        unknown = labels[~np.isin(labels, self.classes_)]
        if len(unknown):
            raise ValueError(f"y must hold learned classes; {unknown.tolist()[0]!r} was never learned.")
        return np.searchsorted(self.classes_, labels).astype(np.int32)[codes]

    # Looking inside

    @property
    def topic_count_(self) -> Float64:
        return self._accumulator.checked(n_threads(self.n_jobs)).dense() / ONE

    @property
    def class_log_prior_(self) -> Float64:
        return self._parameters.log_prior

    @property
    def feature_log_prob_(self) -> Float64:
        table = self._parameters
        words = np.repeat(np.arange(len(table.indptr) - 1), np.diff(table.indptr))
        log_prob = np.repeat(table.log_uniform[:, np.newaxis], len(table.indptr) - 1, axis=1)
        log_prob[table.classes, words] += table.values
        return log_prob

    @property
    def r_hat_(self) -> Float64:
        check_is_fitted(self)
        return split_r_hat(self.shares_[:, self._n_burnt :, :, CLASS])

    @property
    def converged_(self) -> bool:
        return bool((self.r_hat_ <= _CONVERGED).all())

    def _top_words(self, c: int, n: int) -> tuple[Int64, Float64]:
        """The words that separate the class from the background: phi_t * log(phi_t / phi_b), largest first."""
        counts = self._accumulator.checked(n_threads(self.n_jobs))
        words, inside = counts.words_of(c)
        added = self.beta * self.n_words_
        topic = (inside + self.beta) / (counts.totals[c] + added)
        background = (self.background_count_[words] + self.beta) / (self.background_count_.sum() + added)
        return top_words(words, topic * np.log(topic / background), n)

    # Keeping

    def _get_state(self) -> dict[str, object]:
        own = {"background": self.background_count_, "shares": self.shares_, "n_words": self.n_words_}
        return super()._get_state() | own

    def _set_state(self, state: State) -> None:
        super()._set_state(state)
        background: Any = state.get("background")
        shares: Any = state.get("shares")
        for name, array, shape in (
            ("background", background, (self.n_features_in_,)),
            ("shares", shares, (*np.shape(shares)[:2], len(self.classes_), 3)),
        ):
            if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.shape != shape:
                raise ValueError(f"{name} must be an array of float64 of shape {shape}.")
        n_words = state.get("n_words")
        if not isinstance(n_words, int) or not 0 < n_words <= self.n_features_in_:
            raise ValueError("n_words must be a number of columns.")
        self.background_count_, self.shares_, self.n_words_ = background, shares, n_words


def _check_one_label_each(y: Targets, n: int) -> Labels:
    labels = check_labels(y)
    if len(labels) != n:
        raise ValueError(f"y must have one label for each document ({n}), got {len(labels)}.")
    return labels


__all__ = ["Marks", "RelevanceTopicModel"]
