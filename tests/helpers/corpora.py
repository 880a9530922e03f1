"""Small collections of documents, and whether two models are the same."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

values = st.one_of(st.just(0.0), st.integers(0, 4).map(float), st.floats(0, 100, width=32), st.just(1e5))


def corpus(n=60, n_words=25, n_classes=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.poisson(rng.random((n_classes, n_words))[y] * 2)
    X[::13] = 0  # empty documents
    return sparse.csr_array(X), np.array([f"class {c}" for c in y])


@st.composite
def collections(draw, min_documents=1):
    n, n_words = draw(st.integers(min_documents, 9)), draw(st.integers(1, 6))
    X = np.array(draw(st.lists(st.lists(values, min_size=n_words, max_size=n_words), min_size=n, max_size=n)))
    y = draw(st.lists(st.sampled_from(["a", "bb", "ccc", "d", "e"]), min_size=n, max_size=n))
    weights = draw(st.none() | st.lists(st.sampled_from([0.0, 1.0, 0.1, 2.5]), min_size=n, max_size=n).filter(any))
    return X, y, weights


def assert_same_model(a, b):
    x, y = a._get_state(), b._get_state()
    if ("receipt_sum" in x) != ("receipt_sum" in y):  # only public methods keep a receipt
        x, y = ({key: value for key, value in part.items() if not key.startswith("receipt_")} for part in (x, y))
    assert x.keys() == y.keys()
    for name, value in x.items():
        if isinstance(value, np.ndarray):
            assert value.dtype == y[name].dtype, name
        np.testing.assert_array_equal(value, y[name], err_msg=name)
