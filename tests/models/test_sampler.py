"""The sampler of the relevance-based topic model: against its slow version, and against exact enumeration."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats

from genus.base.rows import to_rows
from genus.models.relevance.sampler import Chains, LabelledRows, split_r_hat
from reference import relevance as reference

pytestmark = pytest.mark.kernel

ONE = 2.0**36
values = st.one_of(st.just(0.0), st.integers(0, 4).map(float), st.just(16.0), st.floats(2**-10, 9, width=32))


@st.composite
def collections(draw):
    n, n_words = draw(st.integers(1, 7)), draw(st.integers(1, 6))
    X = np.array(draw(st.lists(st.lists(values, min_size=n_words, max_size=n_words), min_size=n, max_size=n)))
    y = np.unique(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)), return_inverse=True)[1]
    if not X.any():
        X[0, 0] = 1
    return X, y.astype(np.int32)


def corpus(n, n_words, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n, dtype=np.int32) % n_classes
    X = rng.poisson(rng.gamma(0.3, 1.5, (n_classes, n_words))[y])
    X[0, :3] = 17, 200, 40_000
    return X.astype(float), y


def run(X, y, n_sweeps, *, alpha=0.5, beta=0.1, n_chains=1, seed=7, n_threads=1):
    rows = to_rows(sparse.csr_array(X))
    documents = LabelledRows.from_rows(rows, np.arange(rows.n_rows), y, int(y.max()) + 1)
    chains = Chains(
        documents, rows.n_columns, alpha=alpha, beta=beta, n_chains=n_chains, seed=seed, n_threads=n_threads
    )
    for _ in range(n_sweeps):
        chains.sweep()
    return chains


def dense_topics(chains, chain):
    words = chains.words
    topics = np.zeros((len(words.starts) - 1, chains.n_words))
    for c in range(len(topics)):
        of_class = slice(words.starts[c], words.starts[c + 1])
        topics[c, words.words[of_class]] = chains.topics[chain, of_class] / ONE
    return topics


def assert_same_draws(chains, chain, expected):
    background, topics, tokens, n = expected
    np.testing.assert_allclose(chains.background[chain] / ONE, background, atol=1e-8)
    np.testing.assert_allclose(dense_topics(chains, chain), topics, atol=1e-8)
    np.testing.assert_allclose(chains.mixtures[chain], n[chains.documents.order], rtol=1e-12)
    assert chains.own[chain].sum() == tokens[:, :, reference.OWN].sum()


# Against the slow version


@given(collections(), st.integers(1, 4), st.integers(0, 2**31), st.sampled_from([0.005, 0.5, 50.0]))
@settings(deadline=None, max_examples=150)
def test_draws_are_those_of_the_slow_version(collection, n_sweeps, seed, alpha):
    X, y = collection
    chains = run(X, y, n_sweeps, alpha=alpha, n_chains=2, seed=seed)
    for chain in range(2):
        expected = reference.sample(X, y, alpha=alpha, beta=0.1, n_sweeps=n_sweeps, seed=seed, n_chains=2, chain=chain)
        assert_same_draws(chains, chain, expected)


@pytest.mark.parametrize("seed", range(5))
def test_large_counts_are_split_as_in_the_slow_version(seed):
    X, y = corpus(8, 12, 3, seed)
    chains = run(X, y, 3, seed=seed)
    assert_same_draws(chains, 0, reference.sample(X, y, alpha=0.5, beta=0.1, n_sweeps=3, seed=seed))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_draws_do_not_depend_on_threads_or_types(dtype):
    # One class is large enough to be cut into chunks.
    X, _ = corpus(1500, 120, 3)
    y = (np.arange(1500) % 10 == 0).astype(np.int32)
    one = run(X, y, 3, n_chains=2)
    for n_threads in (2, 7):
        many = run(X.astype(dtype), y, 3, n_chains=2, n_threads=n_threads)
        for name in ("own", "mixtures", "topics", "background"):
            np.testing.assert_array_equal(getattr(one, name), getattr(many, name), err_msg=name)


def test_every_token_has_one_topic():
    X, y = corpus(40, 30, 4)
    chains = run(X, y, 2)
    np.testing.assert_array_equal(chains.mixtures[0].sum(axis=1), X[chains.documents.order].sum(axis=1))
    own = np.add.reduceat(chains.own[0], chains.documents.entry_starts[:-1])
    np.testing.assert_array_equal(own, chains.mixtures[0, :, reference.OWN])
    by_topic = chains.mixtures[0].sum(axis=0)
    assert chains.background.sum() / ONE == by_topic[reference.BACKGROUND]
    assert chains.topics.sum() / ONE == by_topic[reference.CLASS]
    np.testing.assert_allclose(chains.shares().sum(axis=2), 1)


def test_weights_that_vanish_in_fixed_point_are_drawn_all_the_same():
    chains = run(np.array([[1e-30, 1e-20], [1e-30, 1.0]]), np.array([0, 1], dtype=np.int32), 3, n_chains=50)
    np.testing.assert_allclose(chains.mixtures.sum(axis=2), [[1e-20, 1.0]] * 50)
    alone = run(np.array([[1e-30]]), np.array([0], dtype=np.int32), 3, n_chains=300)
    assert (alone.mixtures.astype(bool).sum(axis=0) > 20).all()  # each topic has its chance


# Against exact distributions. Seeds are fixed; with others, one of these would fail in a thousand.

FALSE_ALARM = 1e-3


def p_value(observed, expected):
    """Of a chi-square test, cells with few expected counts put together."""
    order = np.argsort(expected)
    observed, expected = observed[order], expected[order]
    few = max(int(np.searchsorted(np.cumsum(expected), 5.0)), int((expected < 5).sum()))
    observed = np.append(observed[:few].sum(), observed[few:])
    expected = np.append(expected[:few].sum(), expected[few:])
    if expected[0] == 0:
        assert observed[0] == 0
        observed, expected = observed[1:], expected[1:]
    return stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue


class Enumeration:
    """All states of a corpus of four tokens, and the probabilities of going from one to another."""

    X = np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    y = np.array([0, 1], dtype=np.int32)
    cells = ((0, 0), (0, 1), (1, 1))

    def __init__(self, alpha, beta):
        self.alpha, self.beta = alpha, beta
        splits = [
            [(b, t, n - b - t) for b in range(n + 1) for t in range(n + 1 - b)]
            for n in (int(self.X[cell]) for cell in self.cells)
        ]
        self.states = list(itertools.product(*splits))
        self.number = {state: i for i, state in enumerate(self.states)}

    def after(self, n_sweeps):
        frequency, topics, own = reference.initial(self.X, self.y, 2)
        p = self.next_states(np.full((2, 3), 1 / 3), frequency, topics, own)
        step = np.array([self.next_states(*self.parameters(state)) for state in self.states])
        return p @ np.linalg.matrix_power(step, n_sweeps - 1)

    def parameters(self, state):
        m = np.zeros((2, 3, 3))  # document, word, topic
        for cell, split in zip(self.cells, state, strict=True):
            m[cell] = split
        n = m.sum(axis=1)
        background, own = m[:, :, 0].sum(axis=0), m[:, :, 2]
        phi = [(k + self.beta) / (k + self.beta).sum(axis=-1, keepdims=True) for k in (background, m[:, :, 1], own)]
        return (n + self.alpha) / (n + self.alpha).sum(axis=1, keepdims=True), *phi

    def next_states(self, theta, background, topics, own):
        chances = []
        for d, w in self.cells:
            p = theta[d] * [background[w], topics[self.y[d], w], own[d, w]]
            chances.append(p / p.sum())
        return np.array(
            [
                math.prod(stats.multinomial.pmf(split, sum(split), p) for split, p in zip(state, chances, strict=True))
                for state in self.states
            ]
        )

    def observed(self, n_chains, n_sweeps):
        """How many of independent chains are in each state."""
        chains = run(self.X, self.y, n_sweeps, alpha=self.alpha, beta=self.beta, n_chains=n_chains)
        counts = np.zeros(len(self.states))
        own, topics = chains.own, (chains.topics / ONE).astype(int)  # a class's word is one cell here
        for r in range(n_chains):
            state = tuple(
                (int(self.X[cell]) - topics[r, k] - own[r, k], topics[r, k], own[r, k])
                for k, cell in enumerate(self.cells)
            )
            counts[self.number[state]] += 1
        return counts


@pytest.mark.parametrize("n_sweeps", [1, 2, 5])
@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0.1), (2.0, 0.5)])
def test_states_have_the_exact_distribution(n_sweeps, alpha, beta):
    exact = Enumeration(alpha, beta)
    observed = exact.observed(20_000, n_sweeps)
    expected = exact.after(n_sweeps)
    assert expected.sum() == pytest.approx(1)
    assert p_value(observed, 20_000 * expected) > FALSE_ALARM


def test_the_distribution_settles_where_enumeration_says():
    exact = Enumeration(2.0, 0.5)
    settled = exact.after(200)
    np.testing.assert_allclose(exact.after(400), settled, atol=1e-9)
    assert p_value(exact.observed(20_000, 60), 20_000 * settled) > FALSE_ALARM


def test_the_test_of_the_distribution_can_fail():
    observed = Enumeration(0.5, 0.1).observed(20_000, 5)
    assert p_value(observed, 20_000 * Enumeration(0.6, 0.1).after(5)) < 1e-6


@pytest.mark.parametrize("n", [17, 60, 1000, 10_000_000])
@pytest.mark.parametrize("other", [1.0, 40.0])
def test_large_cells_are_multinomial(n, other):
    X, y = np.array([[n, 3.0, 1.0], [other, n, 2.0]]), np.array([0, 1], dtype=np.int32)
    frequency, topics, own = reference.initial(X, y, 2)
    p = np.array([frequency[0], topics[0, 0], own[0, 0]])
    chains = run(X, y, 1, n_chains=20_000)
    to_own, to_topic = chains.own[:, 0], np.round(chains.topics[:, 0] / ONE)
    for k, share in ((to_own, p[2] / p.sum()), (to_topic, p[1] / p.sum()), (n - to_own - to_topic, p[0] / p.sum())):
        edges = np.unique(stats.binom.ppf(np.linspace(0, 1, 40)[1:-1], n, share))
        expected = np.diff(np.concatenate(([0.0], stats.binom.cdf(edges, n, share), [1.0])))
        observed = np.bincount(np.searchsorted(edges, k), minlength=len(expected))
        assert p_value(observed, 20_000 * expected) > FALSE_ALARM


# What may go wrong


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0, 2.0**31])
def test_values_that_are_no_counts_are_refused(bad):
    with pytest.raises(ValueError, match=r"finite and not negative|below 2\*\*31"):
        run(np.array([[1.0, bad]]), np.array([0], dtype=np.int32), 1)


def test_arrays_that_do_not_belong_together_are_refused():
    chains = run(*corpus(6, 5, 2), 1)
    chains._topics = chains._topics[:-1]
    with pytest.raises(ValueError, match="do not belong together"):
        chains.sweep()


def test_r_hat_tells_chains_that_disagree():
    rng = np.random.default_rng(0)
    agree = rng.normal(size=(2, 400, 3))
    np.testing.assert_allclose(split_r_hat(agree), 1, atol=0.02)
    assert (split_r_hat(agree + np.array([0, 5])[:, np.newaxis, np.newaxis]) > 2).all()
    assert np.isnan(split_r_hat(agree[:, :3])).all()
    np.testing.assert_array_equal(split_r_hat(np.zeros((2, 8, 3))), 1)
