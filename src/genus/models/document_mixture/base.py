"""What models share that are mixtures of their documents: see `genus.models.document_mixture` for the equations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from genus import _core
from genus.base.arrays import Float64, Int32, Int64, State, n_threads
from genus.base.documents import DocumentAccumulator
from genus.base.estimator import GenerativeClassifier, learning
from genus.base.inverted_index import InvertedIndex
from genus.base.receipt import Receipt, row_contents
from genus.base.rows import MatrixLike, SparseRows, row_sums, take_rows
from genus.base.score_table import ScoreTable, top_words
from genus.base.smoothing import TiedPath, log_uniform
from genus.base.statistics import ONE, Accumulator, Batch, ClassCounts, per_length
from genus.base.validation import SMALLEST, check_count, check_number


@dataclass(frozen=True)
class _Values:
    """What depends on the smoothing: the scores of words in classes and in documents."""

    table: ScoreTable
    values: Float64
    largest: Float64
    n_threads: int

    @cached_property
    def factors(self) -> Float64:
        factors: Float64 = _core.exponentials(self.values, self.n_threads)
        return factors


class DocumentMixture(GenerativeClassifier[_Values]):
    """The base of the three classifiers."""

    background_smoothing: float
    prior_scale: float
    _remembers = DocumentAccumulator
    _accumulator: DocumentAccumulator
    _index_cache: InvertedIndex | None

    @property
    def _path(self) -> TiedPath:
        return TiedPath(0.0, float(self.background_smoothing))

    def _check_parameters(self) -> None:
        check_number(
            "background_smoothing", self.background_smoothing, SMALLEST, 1,
            "above 0 and at most 1 (without background smoothing a word that a class has not seen would exclude it)",
        )  # fmt: skip
        super()._check_parameters()

    # Counts and parameters

    def _set_statistics(self, accumulator: Accumulator) -> None:
        super()._set_statistics(accumulator)
        self._index_cache = None

    def _scales(self, rows: SparseRows, weights: Float64 | None) -> Float64:
        return per_length(super()._scales(rows, weights), rows, n_threads(self.n_jobs))

    @learning
    def unlearn_documents(self, numbers: ArrayLike) -> Self:
        """Take training documents back by their numbers: the model is as if it had never seen them.

        The numbers are those of ``neighbors``. Later documents move up. Nothing changes where a number is wrong.

        Parameters
        ----------
        numbers : array-like of int

        Returns
        -------
        self
        """
        check_is_fitted(self)
        receipt, known, gone = self._receipt, self._documents, self._check_numbers(numbers)
        rows = self._unlearn_numbers(gone)
        if receipt is not None:
            contents = row_contents(rows, n_threads(self.n_jobs))
            self._receipt = receipt.without(Receipt.of(contents, known.labels, known.codes[gone], known.weights[gone]))
        return self

    def _check_numbers(self, numbers: ArrayLike) -> Int64:
        wanted = np.atleast_1d(np.asarray(numbers))
        n = len(self._documents.codes)
        if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
            raise ValueError("numbers must be a list of whole numbers.")
        wrong = wanted[(wanted < 0) | (wanted >= n)]
        if wrong.size:
            raise ValueError(f"There is no document {wrong[0]}: the model has {n}, counted from 0.")
        if len(np.unique(wanted)) < len(wanted):
            raise ValueError("A document is named twice.")
        return wanted.astype(np.int64)

    def _unlearn_numbers(self, numbers: Int64) -> SparseRows:
        """Remove the documents of these numbers; return their rows."""
        known = self._documents
        rows = take_rows(known.rows, numbers)
        batch = self._batch(rows, known.labels[known.codes[numbers]], known.weights[numbers] / ONE)
        self._set_statistics(self._accumulator.without_numbers(numbers, batch, n_threads(self.n_jobs)))
        return rows

    @property
    def _index(self) -> InvertedIndex:
        if self._index_cache is None:
            self._index_cache = InvertedIndex.from_documents(self._documents, n_threads(self.n_jobs))
        return self._index_cache

    def _make_parameters(self, counts: ClassCounts) -> _Values:
        index, path, threads = self._index, self._path, n_threads(self.n_jobs)
        n_words = max(counts.n_words, 1)
        # eq. 3: the sums of the documents' shares by class are ps_l; eq. 2: smoothed along a path.
        ratio = path.ratio(counts.totals, n_words)
        indptr, classes, cells = _core.build_table(counts.indptr, counts.classes, counts.counts, ratio, threads)
        log_prior = self._log_prior(counts.weights)
        # The mixture's weights c_lm are divided by their sum here, once for all documents.
        bias = self._scale(log_prior) - log_weights(index.class_weights)
        table = ScoreTable(indptr, classes, cells, bias, log_prior, log_uniform(path, counts.totals, n_words))
        # eq. 2, what a document adds to its class: log1p((1 - a1 - a2) * pu_m(n) / (a1 * ps_l(n) + a2 / N)).
        values, largest = _core.index_values(
            index, index.frequencies, indptr, classes, cells, path.leaf_gain(n_words), threads
        )
        return _Values(table, values, largest, threads)

    # Scores

    def _scores(self, rows: SparseRows) -> Float64:
        return self._mixture_scores(rows, self._parameters.table.bias)

    def _mixture_scores(self, rows: SparseRows, bias: Float64) -> Float64:
        parameters = self._parameters
        out = self._class_scores(rows, bias)
        _core.add_mixtures(  # eq. 1, by Algorithm 1
            self._index, parameters.values, parameters.factors, parameters.largest,
            rows.indptr, rows.indices, rows.data, out, n_threads(self.n_jobs),
        )  # fmt: skip
        return out

    def _class_scores(self, rows: SparseRows, bias: Float64) -> Float64:
        """The score without the sum over documents."""
        return self._parameters.table.scores(rows, n_threads(self.n_jobs), bias)

    def neighbors(self, X: MatrixLike, k: int = 10) -> tuple[Int64, Float64]:
        """The training documents that carry the posterior.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_words)
            Word counts.
        k : int, default=10
            How many; all, where fewer were learned.

        Returns
        -------
        documents : int64 array of shape (n_documents, k)
            Numbers of training documents, in the order in which they were learned, from 0.
        shares : array of shape (n_documents, k)
            p(m, l | d) for document m of class l, largest first. The shares of all documents of a class add
            up to the class's probability.
        """
        now = self._now()
        return now._neighbors_rows(now._check_rows(X), k)

    def _neighbors_rows(self, rows: SparseRows, k: int) -> tuple[Int64, Float64]:
        bias = self._class_scores(rows, self._parameters.table.bias)
        index = self._index
        slots, scores = self._top_slots(rows, check_count("k", k), bias, np.log(index.weights), index.order)
        total = np.logaddexp.reduce(self._scores(rows), axis=1, keepdims=True)
        return self._index.order[slots], np.exp(scores - total)

    def _top_slots(
        self, rows: SparseRows, k: int, bias: Float64, offsets: Float64, ranks: Int64
    ) -> tuple[Int64, Float64]:
        """The k best slots of each row; of equally good ones, those of lowest rank."""
        index = self._index
        top: tuple[Int64, Float64] = _core.top_slots(
            index, self._parameters.values, rows.indptr, rows.indices, rows.data,
            bias, offsets, ranks, min(k, index.n_slots), n_threads(self.n_jobs),
        )  # fmt: skip
        return top

    # Leaving out

    def _scores_without(self, batch: Batch, own: Int32, bias: Float64) -> tuple[Float64, Float64]:
        documents = self._documents
        numbers = self._accumulator.numbers_of(batch, n_threads(self.n_jobs))
        rows = take_rows(documents.rows, numbers)  # the same words in order, without zeros
        scores = self._likelihood_without(rows, own, self._index.slot_of_documents(numbers))
        return scores + bias, scores[np.arange(len(own)), own]

    def _likelihood_without(self, rows: SparseRows, own: Int32, slots: Int64) -> Float64:
        """log p(d | l) of training documents by models without them."""
        index, path, counts = self._index, self._path, self._documents.counts
        n_words = max(counts.n_words, 1)
        weights = np.append(index.weights, 0.0)[slots]
        entries = np.repeat(np.arange(len(own)), np.diff(rows.indptr))
        # What a document has added to its class are integers: they can be taken out exactly.
        added = np.floor(rows.data * self._scales(rows, weights)[entries] + 0.5).astype(np.int64)
        left = (_cells(counts, rows.indices, own[entries]) - added) / ONE
        rest = index.class_weights[own] - weights
        totals = np.where(rest > 0, counts.totals_without(own, rows.indptr, added), 0.0)
        above = 1 + path.ratio(totals, n_words)[entries] * left  # eq. 3 and 2, without the document
        mixture = _core.mixture_without_self(  # eq. 1, without the document
            index, index.frequencies, rows.indptr, rows.indices, rows.data,
            path.leaf_gain(n_words) / above, own, slots, n_threads(self.n_jobs),
        )  # fmt: skip
        words = row_sums(rows.indptr, rows.data * np.log(above))
        words += row_sums(rows.indptr, rows.data) * log_uniform(path, totals, n_words)
        scores = self._mixture_scores(rows, -log_weights(index.class_weights))
        scores[np.arange(len(own)), own] = words + np.where(rest > 0, mixture - log_weights(rest), 0.0)
        return scores

    # Looking inside

    @property
    def class_log_prior_(self) -> Float64:
        """log p(l)."""
        return self._parameters.table.log_prior

    def _row_evidence(self, row: SparseRows, classes: Sequence[int]) -> tuple[Float64, Float64]:
        """What the prior (k,) and each of one document's words (n_entries, k) add to some classes' scores.

        A word's evidence is its log probability averaged over the class's documents, each with its share r_m
        of the class's posterior. Since log sum c_m p_m(d) = sum r_m log p_m(d) - sum r_m log(r_m / c_m), what is
        left is how far the document singles out some of the class's documents: `_row_terms`.
        """
        evidence = [self._word_evidence(row, c) for c in classes]
        prior = self._scale(self._parameters.table.log_prior)[np.asarray(classes)]
        return prior, np.stack([words for words, _, _ in evidence], axis=1)

    def _row_terms(self, row: SparseRows, classes: Sequence[int]) -> dict[str, Float64]:
        """score - prior - sum of words' evidence, for some classes: minus the divergence of r_m from c_m."""
        return {"choice of documents": np.array([self._word_evidence(row, c)[1] for c in classes])}

    def _sources(self, row: SparseRows, c: int) -> Float64:
        """Which shares of each word's probability the document, the class and the background gave: (n, 3)."""
        return self._word_evidence(row, c)[2]

    def _word_evidence(self, row: SparseRows, c: int) -> tuple[Float64, float, Float64]:
        table, index, path = self._parameters.table, self._index, self._path
        n_words = max(len(table.indptr) - 1, 1)
        words, counts = row.indices.tolist(), row.data.tolist()
        begin, end = int(index.class_starts[c]), int(index.class_starts[c + 1])
        log_above = np.zeros(len(words))
        for i, w in enumerate(words):
            if 0 <= w < len(table.indptr) - 1:
                log_above[i] = table.evidence(w, np.array([c]))[0]
        gain = path.leaf_gain(n_words) * np.exp(table.log_uniform[c] - log_above)
        own = [index.postings(w, c) for w in words]
        inst = np.zeros(end - begin)
        for (slots, frequencies), g, x in zip(own, gain, counts, strict=True):
            inst[slots] += x * np.log1p(g * frequencies)
        share = self._component_shares(row, c, inst)
        evidence, sources = np.zeros(len(words)), np.zeros((len(words), 3))
        for i, ((slots, frequencies), g, x) in enumerate(zip(own, gain, counts, strict=True)):
            if not 0 <= words[i] < len(table.indptr) - 1:
                continue
            evidence[i] = x * (log_above[i] + share[slots] @ np.log1p(g * frequencies))
            document = share[slots] @ (g * frequencies / (1 + g * frequencies))
            background = np.exp(table.log_uniform[c] - log_above[i])
            sources[i] = document, (1 - document) * (1 - background), (1 - document) * background
        used = share > 0
        if end > begin and not used.any():
            return evidence, -math.inf, sources  # a class without a neighbor
        spread = index.weights[begin:end][used] / max(index.class_weights[c], SMALLEST)
        remainder = -float(share[used] @ (np.log(share[used]) - np.log(spread)))
        return evidence, remainder, sources

    def _document_evidence(self, row: SparseRows, k: int) -> list[tuple[int, int, float]]:
        """The documents that carry one query's posterior: their numbers, classes and shares."""
        numbers, shares = self._neighbors_rows(row, k)
        slots = self._index.slot_of_documents(numbers[0])
        classes = self._index.class_of_slots(slots)
        return list(zip(numbers[0].tolist(), classes.tolist(), shares[0].tolist(), strict=True))

    def _component_shares(self, row: SparseRows, c: int, inst: Float64) -> Float64:
        """r_m: how much of class c's likelihood each of its documents carries."""
        if not len(inst):
            return inst
        index = self._index
        shares = np.exp(inst - inst.max()) * index.weights[index.class_starts[c] : index.class_starts[c + 1]]
        return np.asarray(shares / shares.sum())

    def _top_words(self, c: int, n: int) -> tuple[Int64, Float64]:
        """The strongest words for class c: those with the largest ps_c(n) * log(ps_c(n) / ps_rest(n))."""
        counts = self._documents.counts
        words, inside, rest = counts.words_against_rest(c)
        background = self.background_smoothing / max(counts.n_words, 1)
        total, others = counts.totals[c], counts.totals.sum() - counts.totals[c]
        p = (1 - self.background_smoothing) * inside / max(total, SMALLEST) + background
        q = (1 - self.background_smoothing) * rest / max(others, SMALLEST) + background
        return top_words(words, p * np.log(p / q), n)

    # Keeping

    def _table_state(self) -> dict[str, object]:
        parameters = self._parameters
        values = {"values": parameters.values, "largest": parameters.largest}
        return values | self._index.to_state() | parameters.table.to_state()

    def _table_from_state(self, state: State) -> _Values:
        counts = self._accumulator.flush()
        table, index = ScoreTable.from_state(state), InvertedIndex.from_state(state, len(state["document_codes"]))
        values, largest = state["values"], state["largest"]
        table.check_against(counts)
        if len(index.class_weights) != counts.n_classes or len(index.words) != len(counts.indptr):
            raise ValueError("the index and the counts know different numbers of classes or words.")
        for name, array, n in (("values", values, len(index.slots)), ("largest", largest, len(index.run_blocks))):
            if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.shape != (n,):
                raise ValueError(f"{name} must be an array of {n} float64 numbers.")
        self._index_cache = index
        return _Values(table, values, largest, n_threads(self.n_jobs))


def log_weights(weights: Float64) -> Float64:
    """log of the sums of mixture weights; 0 where there is no mixture."""
    return np.log(np.where(weights > 0, weights, 1.0))


def _cells(counts: ClassCounts, words: Int32, classes: Int32) -> Int64:
    """count_wl for pairs of words and classes, in fixed point."""
    keys = np.repeat(np.arange(counts.n_words), np.diff(counts.indptr)) * counts.n_classes + counts.classes
    wanted = words.astype(np.int64) * counts.n_classes + classes
    at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    if not len(keys):
        return np.zeros(len(wanted), dtype=np.int64)
    return np.where(keys[at] == wanted, counts.counts[at], 0)
