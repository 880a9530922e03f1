"""Every estimator keeps scikit-learn's contract, without exception."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from genus.document_mixture import KernelDensityClassifier, NearestNeighborsClassifier, TiedDocumentMixture
from genus.naive_bayes import MultinomialNB
from genus.search import GaussianRandomSearchCV, Log
from genus.weighting import TermWeighting

pytestmark = pytest.mark.kernel

SPACE = {"alpha": Log(1e-3, 10)}
ESTIMATORS = [
    MultinomialNB(),
    MultinomialNB(background_smoothing=0.1, document_weights="equal"),
    TermWeighting(),
    TermWeighting("bm25", idf="smooth", norm="l2"),
    GaussianRandomSearchCV(MultinomialNB(), SPACE, n_iterations=2, n_points=2, error_score="raise", cv=2),
    GaussianRandomSearchCV(MultinomialNB(), SPACE, n_iterations=2, n_points=2, error_score="raise", cv="loo"),
    TiedDocumentMixture(),
    TiedDocumentMixture(tolerance=1e-3),
    KernelDensityClassifier(),
    NearestNeighborsClassifier(),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
