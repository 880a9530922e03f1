"""Models on their own: threads that ask while others learn."""

import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest

from genus import _registry
from genus.base.estimator import GenerativeClassifier

CLASSES = {name: _registry.load_class(name) for name in sorted(_registry.CLASSES)}
ADDITIVE = [name for name, cls in CLASSES.items() if issubclass(cls, GenerativeClassifier) and hasattr(cls(), "merge")]


@pytest.fixture(autouse=True)
def threads_that_change_often():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.parametrize("name", ADDITIVE)
@pytest.mark.slow
def test_readers_and_writers_at_once_end_where_learning_at_once_ends(name):
    random = np.random.RandomState(0)
    X = random.poisson(0.8, size=(90, 12)).astype(float)
    y = np.array(["ham", "eggs", "spam"])[random.randint(3, size=90)]
    tea = np.array(["tea"] * 4)
    first, parts = slice(0, 10), (range(10, 50, 4), range(50, 90, 4))
    model, done = CLASSES[name]().fit(X[first], y[first]), Event()

    def learn(part):
        for i in part:
            model.partial_fit(X[i : i + 4], y[i : i + 4])
            model.partial_fit(X[i : i + 4], tea)
            model.unlearn(X[i : i + 4], tea)

    def ask():
        n = 0
        while not done.is_set() or n == 0:
            np.testing.assert_allclose(model.predict_proba(X[:5]).sum(axis=1), 1)
            assert set(model.predict(X[:5]).tolist()) <= {"ham", "eggs", "spam", "tea"}
            assert model.predict_top(X[:5], 2)[0].shape == (5, 2)
            n += 1
        return n

    with ThreadPoolExecutor(10) as threads:
        asking = [threads.submit(ask) for _ in range(8)]
        try:
            for learning in [threads.submit(learn, part) for part in parts]:
                learning.result()
        finally:
            done.set()
        assert sum(reader.result() for reader in asking) >= 8
    whole = CLASSES[name]().fit(X, y)
    assert model.receipt_ == whole.receipt_
    np.testing.assert_array_equal(model.class_count_, whole.class_count_)
    np.testing.assert_array_equal(model.predict_log_proba(X), whole.predict_log_proba(X))
