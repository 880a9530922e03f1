"""Classes as mixtures of word distributions, in one or more repetitions: scores, evidence, and words.

Components are nodes x repetitions: component ``h * K + k`` is node h in repetition k, the nodes of class c being
``node_starts[c]`` to ``node_starts[c + 1]``. The first repetition is the best; people are shown its nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import logsumexp, softmax

from genus import _core
from genus.base.arrays import Float64, Int32, Int64
from genus.base.rows import SparseRows, slice_rows
from genus.base.score_table import ScoreTable, top_words

_BLOCK = 1 << 20  # component scores held at once: 8 MB


@dataclass(frozen=True)
class NodeTable:
    """log P(w | h) as a score table over components.

    Its ``bias`` is log P(h | c) of components, its ``log_prior`` is log P(c) of classes x repetitions.
    """

    scores: ScoreTable
    node_starts: Int64

    @property
    def n_classes(self) -> int:
        return len(self.node_starts) - 1

    @property
    def n_repetitions(self) -> int:
        return len(self.scores.log_prior) // self.n_classes

    @property
    def n_words(self) -> int:
        return len(self.scores.indptr) - 1

    @property
    def log_node_prior(self) -> Float64:
        """log P(h | c) of components."""
        return self.scores.bias

    @property
    def log_prior(self) -> Float64:
        """log P(c), classes x repetitions."""
        return self.scores.log_prior.reshape(self.n_classes, -1)

    def components(self, c: int) -> slice:
        """The components of a class."""
        return slice(int(self.node_starts[c]) * self.n_repetitions, int(self.node_starts[c + 1]) * self.n_repetitions)

    # Scores

    def component_scores(self, rows: SparseRows, n_threads: int) -> Float64:
        """log P(h, d | c), documents x components."""
        return self.scores.scores(rows, n_threads)

    def joint_log_likelihood(self, rows: SparseRows, prior_scale: float, n_threads: int) -> Float64:
        """log P(c, d): the posterior is the mean of the repetitions' posteriors, eq. 34."""
        out = np.empty((rows.n_rows, self.n_classes))
        prior = scaled(self.log_prior, prior_scale)
        size = max(1, _BLOCK // len(self.scores.bias))
        for begin in range(0, rows.n_rows, size):
            part = self.component_scores(slice_rows(rows, begin, begin + size), n_threads)  # the products of eq. 34
            _core.average_posteriors(part, self.node_starts, prior, out[begin : begin + size], n_threads)
        return out

    @cached_property
    def product_of_sums(self) -> NodeTable:
        """One node for each class, with P(w | c) = sum over h of P(h | c) P(w | h): eq. 11, for eq. 15."""
        table, n = self.scores, self.n_repetitions
        sizes = np.diff(self.node_starts)
        into = (np.repeat(np.arange(self.n_classes), sizes * n) * n) + np.arange(len(table.bias)) % n
        mixed = np.exp(table.bias + table.log_uniform)
        log_uniform = np.log(np.bincount(into, mixed))
        n_columns = len(log_uniform)
        table.check()
        keys = self._words * n_columns + into[table.classes]
        cells, inverse = np.unique(keys, return_inverse=True)
        p = np.bincount(inverse, np.exp((table.bias + table.log_uniform)[table.classes] + table.values))  # eq. 11
        columns = (cells % n_columns).astype(np.int32)
        indptr = np.searchsorted(cells, np.arange(self.n_words + 1) * n_columns)
        values = np.log(p) - log_uniform[columns]
        # eq. 15: with one node for each class, the product over words is of these sums.
        scores = ScoreTable(indptr, columns, values, np.zeros(n_columns), table.log_prior, log_uniform)
        return NodeTable(scores, np.arange(self.n_classes + 1))

    # Evidence

    def evidence(self, row: SparseRows, classes: Sequence[int], prior_scale: float) -> tuple[Float64, Float64, Float64]:
        """What the prior (k,), each of a document's words (n, k) and the choice of nodes (k,) say for some classes.

        The mean posterior is a sum over components, P(c | d) = sum of t_hk, t_hk = P(c) P(h | c) P(d | h) / (K P_k(d)).
        With the shares q = t / sum of t, its logarithm is the mean over q of each word's log P(w | h), plus log P(c),
        plus what is left: how far the document singles out some of the class's nodes.
        """
        prior = scaled(self.log_prior, prior_scale)
        log_t = self._log_terms(self.component_scores(row, 1)[0], prior)
        found = [self._class_evidence(row, c, log_t, prior[c]) for c in classes]
        log_priors, words, left = (np.array(parts) for parts in zip(*found, strict=True))
        return log_priors, words.T, left

    def _class_evidence(self, row: SparseRows, c: int, log_t: Float64, prior: Float64) -> tuple[float, Float64, float]:
        inside = self.components(c)
        log_posterior = float(logsumexp(log_t[inside]))
        if np.isneginf(log_posterior):  # a class without weight
            return -np.inf, np.zeros(len(row.indices)), 0.0
        share = softmax(log_t[inside])
        words = row.data * (self._log_words(row, inside) @ share)
        log_prior = float(share @ np.tile(prior, len(share) // self.n_repetitions))
        return log_prior, words, log_posterior - log_prior - float(words.sum())

    def _log_terms(self, scores: Float64, prior: Float64) -> Float64:
        """log t_hk of all components, from log P(h, d | c)."""
        n, sizes = self.n_repetitions, np.diff(self.node_starts)
        joint = scores.reshape(-1, n) + np.repeat(prior, sizes, axis=0)
        log_t: Float64 = joint - logsumexp(joint, axis=0) - np.log(n)
        return log_t.ravel()

    def _log_words(self, row: SparseRows, inside: slice) -> Float64:
        """log P(w | h) of a document's words x some components; 0 for words that were not trained."""
        ids = np.arange(inside.start, inside.stop)
        log_p = np.zeros((len(row.indices), len(ids)))
        for i, w in enumerate(row.indices.tolist()):
            if 0 <= w < self.n_words:
                log_p[i] = self.scores.evidence(w, ids)
        return log_p

    def node_shares(self, row: SparseRows, c: int) -> Float64:
        """P(h | c, d) of a document, for the nodes of a class in the best repetition."""
        scores = self.component_scores(row, 1)[0].reshape(-1, self.n_repetitions)
        return np.asarray(softmax(scores[self.node_starts[c] : self.node_starts[c + 1], 0]))

    # Words

    @cached_property
    def _words(self) -> Int64:
        """The word of each cell."""
        return np.repeat(np.arange(self.n_words), np.diff(self.scores.indptr))

    def word_probabilities(self, h: int) -> Float64:
        """P(w | h) of all words, in the best repetition."""
        table, component = self.scores, h * self.n_repetitions
        log_p = np.full(self.n_words, table.log_uniform[component])
        cells = np.flatnonzero(table.classes == component)
        log_p[self._words[cells]] += table.values[cells]
        return np.asarray(np.exp(log_p))

    def mixed_words(self, nodes: Sequence[int]) -> Float64:
        """The words of some nodes together, each with its P(h | c)."""
        weights = np.exp(self.scores.bias[np.asarray(nodes) * self.n_repetitions])
        mixed = sum(
            (w * self.word_probabilities(h) for h, w in zip(nodes, weights, strict=True)), np.zeros(self.n_words)
        )
        return np.asarray(mixed / max(weights.sum(), np.finfo(float).tiny))

    @cached_property
    def all_words(self) -> Float64:
        """P(w), over all classes, in the best repetition."""
        table, n = self.scores, self.n_repetitions
        prior = np.repeat(np.exp(self.log_prior[:, 0]), np.diff(self.node_starts))
        weights = np.zeros(len(table.bias))
        weights[::n] = prior * np.exp(table.bias[::n])
        uniform = np.exp(table.log_uniform)
        above = weights[table.classes] * uniform[table.classes] * np.expm1(table.values)
        return np.asarray(np.bincount(self._words, above, self.n_words) + weights @ uniform)

    def class_words(self, c: int, n: int) -> tuple[Int64, Float64]:
        """The words that separate a class best from all others."""
        own = self.mixed_words(range(int(self.node_starts[c]), int(self.node_starts[c + 1])))
        prior = float(np.exp(self.log_prior[c, 0]))
        rest = (self.all_words - prior * own) / max(1 - prior, np.finfo(float).eps)
        return telling_words(own, rest, n)

    def node_words(self, h: int, n: int) -> tuple[Int64, Float64]:
        """The words that separate a node best from the others of its class; a single node, from other classes."""
        c = int(np.searchsorted(self.node_starts, h, side="right")) - 1
        others = [i for i in range(int(self.node_starts[c]), int(self.node_starts[c + 1])) if i != h]
        if not others:
            return self.class_words(c, n)
        return telling_words(self.word_probabilities(h), self.mixed_words(others), n)


def scaled(log_prior: Float64, prior_scale: float) -> Float64:
    return prior_scale * log_prior if prior_scale > 0 else np.zeros_like(log_prior)


def telling_words(p: Float64, q: Float64, n: int) -> tuple[Int64, Float64]:
    """The words with the largest p * log(p / q): their parts in the divergence of p from q."""
    with np.errstate(divide="ignore"):
        weights = p * (np.log(p) - np.log(np.maximum(q, np.finfo(float).tiny)))
    return top_words(np.arange(len(weights)), weights, n, positive=True)


def node_table(
    indptr: Int64,
    components: Int32,
    counts: Float64,
    node_starts: Int64,
    node_weights: Float64,
    *,
    alpha: float,
    proportional: bool,
    by_words: bool,
) -> NodeTable:
    """The M-step's parameters from expected counts: eq. 27 or shares of documents, and eq. 28 smoothed.

    ``node_weights`` are sums of documents' shares, nodes x repetitions.
    """
    n_words, n = max(len(indptr) - 1, 1), node_weights.shape[1]
    class_of = np.repeat(np.arange(len(node_starts) - 1), np.diff(node_starts))
    totals = np.bincount(components, counts, node_weights.size).astype(np.float64).reshape(-1, n)
    class_totals = np.add.reduceat(totals, node_starts[:-1], axis=0)
    class_weights = np.add.reduceat(node_weights, node_starts[:-1], axis=0)
    added = np.full(totals.shape, alpha)
    if proportional:
        share = np.divide(totals, class_totals[class_of], out=np.ones_like(totals), where=totals > 0)
        added *= share
    log_uniform = np.log(added) - np.log(totals + added * n_words)  # eq. 28, of a word that the node has not seen
    values = np.log1p(counts / added.ravel()[components])  # eq. 28, of others, beyond that
    in_words = by_words & (class_totals > 0)[class_of]
    parts = np.where(in_words, totals, node_weights)  # eq. 27, in words or in documents
    whole = np.where(in_words, class_totals[class_of], class_weights[class_of])
    even = 1 / np.diff(node_starts)[class_of][:, np.newaxis]
    with np.errstate(divide="ignore"):  # a node that no document belongs to, a class without weight
        bias = np.log(np.where(whole > 0, parts / np.where(whole > 0, whole, 1), even))
        log_prior = np.log(class_weights / class_weights.sum(axis=0))
    scores = ScoreTable(indptr, components, values, bias.ravel(), log_prior.ravel(), log_uniform.ravel())
    return NodeTable(scores, node_starts)
