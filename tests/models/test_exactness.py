"""What additive models promise: any order, any partition, learned and unlearned, gives the same bits."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from genus import _registry
from genus.base.estimator import GenerativeClassifier
from helpers.corpora import collections

pytestmark = pytest.mark.kernel

CLASSES = {name: _registry.load_class(name) for name in sorted(_registry.CLASSES)}
ADDITIVE = [name for name, cls in CLASSES.items() if issubclass(cls, GenerativeClassifier) and hasattr(cls(), "merge")]
SETTINGS = [(name, {}) for name in ADDITIVE] + [
    ("NearestNeighborsClassifier", {"n_neighbors": 2}),  # few enough to be cut off between equally near documents
    ("HierarchicalMixture", {"n_iterations": "auto"}),
    ("HierarchicalMixture", {"tree": "learn"}),
    ("RefinedNB", {"focus": 1.0}),
    ("RefinedNB", {"base_weight": 0.0, "tolerance": 0.5}),
    ("MultinomialNB", {"document_weights": "equal"}),
]


def test_every_family_is_tried():
    assert {"MultinomialNB", "TiedDocumentMixture", "RefinedNB", "PLSAClassifier", "DenseGaussian"} <= set(ADDITIVE)


@st.composite
def histories(draw):
    """Documents; a partition of them, with more that are unlearned again; and the order in which parts are merged."""
    X, y, weights = draw(collections(min_documents=4))
    weights = np.ones(len(y)) if weights is None else np.array(weights)
    n = len(y)
    extra = np.array(draw(st.lists(st.integers(0, n - 1), max_size=4)), dtype=np.int64)  # often duplicates
    mixed = draw(st.permutations(range(n + len(extra))))
    owner = np.array(draw(st.lists(st.integers(0, 2), min_size=len(mixed), max_size=len(mixed))))
    return X, np.array(y), weights, extra, np.array(mixed), owner, draw(st.permutations(range(3)))


def learned_in_parts(make, history):
    X, y, weights, extra, mixed, owner, merged = history
    X_all, y_all, w_all = (np.concatenate([part, part[extra]]) for part in (X, y, weights))
    y_all[len(y) :] = np.roll(y_all[len(y) :], 1)  # also documents that are equal but for the class
    models = []
    for part in merged:
        mine = mixed[owner == part]
        if len(mine):
            model = make()
            for rows in np.array_split(mine, 2):
                if len(rows):
                    model.partial_fit(X_all[rows], y_all[rows], sample_weight=w_all[rows])
            models.append(model)
    model = models[0]
    for other in models[1:]:
        model.merge(other)
    if len(extra):
        gone = np.arange(len(y), len(y_all))
        model.unlearn(X_all[gone], y_all[gone], sample_weight=w_all[gone])
    return model


@pytest.mark.parametrize(("name", "params"), SETTINGS)
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(history=histories())
def test_any_order_and_any_partition_give_the_same_bits(name, params, history):
    X, y, weights = history[:3]
    whole = CLASSES[name](**params).partial_fit(X, y, sample_weight=weights)
    parts = learned_in_parts(lambda: CLASSES[name](**params), history)
    np.testing.assert_array_equal(parts.classes_, whole.classes_)
    np.testing.assert_array_equal(parts.class_count_, whole.class_count_)
    np.testing.assert_array_equal(parts.predict_log_proba(X), whole.predict_log_proba(X))


@pytest.mark.parametrize(("name", "params"), SETTINGS)
@pytest.mark.slow
def test_order_and_partition_do_not_matter_for_many_documents(name, params):
    random = np.random.RandomState(3)
    y = np.array(["ham", "eggs", "spam", "tea"])[random.randint(4, size=240)]
    X = random.poisson(0.1 + random.gamma(0.3, size=(4, 60))[np.unique(y, return_inverse=True)[1]]).astype(float)
    X[200:] = X[160:200]  # the same words under other labels
    weights = random.choice([1.0, 1.0, 0.5, 2.0], size=240)
    order = random.permutation(240)
    whole = CLASSES[name](**params).fit(X, y, weights)
    first, second = order[:90], order[90:]
    parts = CLASSES[name](**params).fit(X[first], y[first], weights[first])
    parts.merge(CLASSES[name](**params).fit(X[second], y[second], weights[second]))
    np.testing.assert_array_equal(parts.predict_log_proba(X), whole.predict_log_proba(X))
