"""Every estimator keeps scikit-learn's contract, without exception."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from genus.document_mixture import KernelDensityClassifier, NearestNeighborsClassifier, TiedDocumentMixture
from genus.naive_bayes import MultinomialNB

pytestmark = pytest.mark.kernel

ESTIMATORS = [
    MultinomialNB(),
    MultinomialNB(background_smoothing=0.1, document_weights="equal"),
    TiedDocumentMixture(),
    TiedDocumentMixture(tolerance=1e-3),
    KernelDensityClassifier(),
    NearestNeighborsClassifier(),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
