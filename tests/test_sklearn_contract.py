"""Every estimator keeps scikit-learn's contract."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from genus.models.cosine_neighbors import CosineNeighborsClassifier
from genus.models.discriminative.model import DiscriminativeNB
from genus.models.document_mixture.models import (
    KernelDensityClassifier,
    NearestNeighborsClassifier,
    TiedDocumentMixture,
)
from genus.models.hierarchical.models import HierarchicalMixture, HierarchicalShrinkage
from genus.models.naive_bayes import MultinomialNB
from genus.models.nonlinear.multinomial import GaussianNonlinearBayes, NonlinearBayes
from genus.models.plsa import PLSAClassifier
from genus.models.refined.model import RefinedNB
from genus.models.relevance.filter import RelevanceFilter
from genus.models.relevance.model import RelevanceTopicModel
from genus.search.random_search import GaussianRandomSearchCV, Log
from genus.text.selection import InformationGain
from genus.text.weighting import TermWeighting

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
    KernelDensityClassifier(),
    NearestNeighborsClassifier(),
    DiscriminativeNB(),
    DiscriminativeNB(2, binary=False, average=True),
    DiscriminativeNB(variant="paper", decay=100.0),
    NonlinearBayes(random_state=0),
    NonlinearBayes(1, em="hard", posterior="product-of-sums", random_state=0),
    GaussianNonlinearBayes(random_state=0),
    RelevanceTopicModel(n_sweeps=6),
    RelevanceFilter(RelevanceTopicModel(n_sweeps=6)),
    InformationGain(),
    HierarchicalShrinkage(),
    PLSAClassifier(),
    CosineNeighborsClassifier(3),
    HierarchicalMixture("learn", weights="per-class", document_weights="length"),
    RefinedNB(focus=1.0, tolerance=1e-12),
    RefinedNB(tolerance=1e-12),  # documents twice are documents of weight 2 as far as it is solved exactly
]


def expected_failures(estimator):
    """One promise that learning online cannot give, as scikit-learn's own SGDClassifier cannot."""
    if not isinstance(estimator, DiscriminativeNB):
        return {}
    reason = "a document that comes again is predicted better: its loss is less than twice the first"
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
