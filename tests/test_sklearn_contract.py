"""Every estimator keeps scikit-learn's contract."""

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

from genus._registry import CLASSES, STORED_ONLY, load_class
from genus.models.discriminative.model import DiscriminativeNB
from genus.models.hierarchical.models import HierarchicalMixture
from genus.models.naive_bayes import MultinomialNB
from genus.models.nonlinear.multinomial import NonlinearBayes
from genus.models.refined.model import RefinedNB
from genus.models.relevance.model import RelevanceTopicModel
from genus.search.random_search import GaussianRandomSearchCV, Log
from genus.text.weighting import TermWeighting

pytestmark = pytest.mark.kernel

# What scikit-learn's checks cannot be given: they know neither texts nor several labels.
OF_TEXTS = {"TextClassifier", "Vectorizer"}
OF_LABEL_SETS = {"LabelPowerset", "LikelihoodRatioMultilabel"}

# Settings under which the checks are quick, and results are exact enough to be compared.
SETTINGS = {
    "CosineNeighborsClassifier": {"n_neighbors": 3},
    "GaussianNonlinearBayes": {"random_state": 0},
    "NonlinearBayes": {"random_state": 0},
    "RelevanceFilter": {"model": RelevanceTopicModel(n_sweeps=6)},
    "RelevanceTopicModel": {"n_sweeps": 6},
    "RefinedNB": {"tolerance": 1e-12},  # documents twice are documents of weight 2 as far as it is solved exactly
}


def registered():
    for name in CLASSES.keys() - OF_TEXTS - OF_LABEL_SETS - STORED_ONLY:
        if issubclass(cls := load_class(name), BaseEstimator):
            yield cls(**SETTINGS.get(name, {}))


SPACE = {"alpha": Log(1e-3, 10)}
VARIANTS = [
    MultinomialNB(background_smoothing=0.1, document_weights="equal"),
    TermWeighting("bm25", idf="smooth", norm="l2"),
    GaussianRandomSearchCV(MultinomialNB(), SPACE, n_iterations=2, n_points=2, error_score="raise", cv=2),
    GaussianRandomSearchCV(MultinomialNB(), SPACE, n_iterations=2, n_points=2, error_score="raise", cv="loo"),
    DiscriminativeNB(2, binary=False, average=True),
    DiscriminativeNB(variant="paper", decay=100.0),
    NonlinearBayes(1, em="hard", posterior="product-of-sums", random_state=0),
    HierarchicalMixture("learn", weights="per-class", document_weights="length"),
    RefinedNB(focus=1.0, tolerance=1e-12),
]


def expected_failures(estimator):
    """One promise that learning online cannot give, as scikit-learn's own SGDClassifier cannot."""
    if not isinstance(estimator, DiscriminativeNB):
        return {}
    reason = "a document that comes again is predicted better: its loss is less than twice the first"
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}


@parametrize_with_checks([*sorted(registered(), key=repr), *VARIANTS], expected_failed_checks=expected_failures)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
