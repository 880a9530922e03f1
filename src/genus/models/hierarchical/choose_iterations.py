"""How often to move words between the nodes of a tree, chosen on the training documents.

Subtracting a document from the sums does not suffice: words were moved with the document included. So this is
cross-validation. The measure is the log probability of the labels at the model's best temperature: accuracy is too
coarse for a hundred documents, and untempered probabilities mostly reflect how long documents are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.special import log_softmax
from sklearn.base import clone

from genus.base.arrays import Float64, Int64
from genus.base.documents import Documents, equal_documents
from genus.base.folds import stratified_folds
from genus.base.labels import Labels
from genus.base.protocol import Samples
from genus.base.statistics import ONE

if TYPE_CHECKING:
    from genus.models.hierarchical.models import HierarchicalMixture

CANDIDATES = (0, 1, 2)
PAPERS = 2  # if no document can be held out
_FOLDS = 5
_ENOUGH = 5000  # documents to ask: of a large collection fewer folds are held out
_TEMPERATURES = (0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3, 0.5, 1.0)


def choose_iterations(model: HierarchicalMixture, documents: Documents) -> int:
    """The ``n_iterations`` that scores best on held-out documents, the first of equal ones."""
    folds, y = folds_of(documents), documents.labels[documents.codes]
    if not any(len(_to_ask(folds, y, fold)) for fold in range(_FOLDS)):
        return PAPERS
    rows = documents.rows
    X = sparse.csr_array((documents.values, rows.indices, rows.indptr), shape=(rows.n_rows, rows.n_columns))
    weights = documents.weights / ONE

    def log_proba(n_iterations: int) -> float:
        return held_out_log_proba(clone(model).set_params(n_iterations=n_iterations), X, y, weights, folds)

    return max(CANDIDATES, key=log_proba)


def folds_of(documents: Documents) -> Int64:
    """The fold of each document. Folds are stratified by class, and equal documents are in one fold.

    They do not depend on the order in which documents were learned.
    """
    group, size = equal_documents(documents)
    classes = np.full(len(size), len(documents.labels))
    np.minimum.at(classes, group, documents.codes)
    return stratified_folds(classes, _FOLDS)[group]


def held_out_log_proba(model: HierarchicalMixture, X: Samples, y: Labels, weights: Float64, folds: Int64) -> float:
    """The sum of log P(c | d) over documents of folds that the model has not seen, at the best temperature."""
    sums = np.zeros(len(_TEMPERATURES))
    for fold in range(min(_FOLDS, -(-_FOLDS * _ENOUGH // len(y)))):
        inside, asked = folds != fold, _to_ask(folds, y, fold)
        if not len(asked) or not weights[inside].any():
            continue
        fitted = model.fit(X[inside], y[inside], weights[inside])
        own, begin = np.searchsorted(fitted.classes_, y[asked]), 0
        for scores in fitted._score_blocks(fitted._check_rows(X[asked])):
            block = slice(begin, begin := begin + len(scores))
            for i, temperature in enumerate(_TEMPERATURES):
                log_proba = log_softmax(temperature * scores, axis=1)
                sums[i] += weights[asked][block] @ log_proba[np.arange(len(scores)), own[block]]
    return float(sums.max())


def _to_ask(folds: Int64, y: Labels, fold: int) -> Int64:
    """Documents of a fold whose class has others outside it."""
    held_out = folds == fold
    return np.flatnonzero(held_out & np.isin(y, y[~held_out]))
