"""What every model of the registry must do, each by what it can; and a new model, to see that it gets all of it."""

import ast
import importlib
import inspect
import json
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.naive_bayes import BernoulliNB as SklearnBernoulliNB
from sklearn.utils.estimator_checks import parametrize_with_checks

import genus
import genus.models
from genus import TextClassifier, _registry
from genus.base.arrays import n_threads
from genus.base.estimator import GenerativeClassifier
from genus.base.posterior import PosteriorClassifier
from genus.base.rows import add_duplicates
from genus.base.score_table import ScoreTable, top_words
from genus.base.statistics import ONE
from genus.base.validation import check_positive

pytestmark = pytest.mark.kernel


class BernoulliNB(GenerativeClassifier[ScoreTable]):
    """Naive Bayes for words that are there or not.

        log p(c, d) = log p(c) + sum over words w in d of log p(w | c) + sum over the others of log(1 - p(w | c))
        p(w | c)    = (n_wc + alpha) / (n_c + 2 alpha)

    with n_wc of the n_c documents of class c holding word w.
    """

    def __init__(self, alpha=1.0, *, fit_prior=True, class_prior=None, n_jobs=None):
        self.alpha = alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.n_jobs = n_jobs

    def _check_parameters(self):
        check_positive("alpha", self.alpha)
        super()._check_parameters()

    def _read(self, rows):
        rows = add_duplicates(rows)
        return rows._replace(data=(rows.data > 0).astype(np.float64))

    def _make_parameters(self, counts):
        n_c, n_wc = counts.weights / ONE, counts.counts / ONE
        log_prior, unseen = self._log_prior(counts.weights), np.log(self.alpha / (n_c + self.alpha))
        log_odds = np.log((n_wc + self.alpha) / (n_c[counts.classes] - n_wc + self.alpha))
        bias = self._scale(log_prior) + self._log_absent()
        return ScoreTable(counts.indptr, counts.classes, log_odds - unseen[counts.classes], bias, log_prior, unseen)

    def _log_absent(self):
        """log p(no word | c): what documents begin with, before the log odds of their words."""
        counts = self._accumulator.checked()
        n_c, n_wc = counts.weights / ONE, counts.counts / ONE
        of_cells = np.log((n_c[counts.classes] - n_wc + self.alpha) / (n_c[counts.classes] + self.alpha))
        of_words = counts.n_words * np.log((n_c + self.alpha) / (n_c + 2 * self.alpha))
        return of_words + np.bincount(counts.classes, of_cells, counts.n_classes)

    def _scores_without(self, batch, own, bias):
        counts, rows, weights = self._accumulator.checked(), batch.rows, batch.weights / ONE
        n_wc, n_c = counts.dense()[own] / ONE, counts.weights[own] / ONE - weights
        here = sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=n_wc.shape).toarray()
        n_wc -= here * weights[:, np.newaxis]
        if (n_wc < 0).any():
            raise ValueError("X, y and sample_weight must be documents that were learned.")
        p = (n_wc + self.alpha) / (n_c + 2 * self.alpha)[:, np.newaxis]
        without = np.where(here > 0, np.log(p), np.log1p(-p)).sum(axis=1)
        return self._parameters.scores(rows, n_threads(self.n_jobs), bias + self._log_absent()), without

    def _row_evidence(self, row, classes):
        words = super()._row_evidence(row, classes)[1]
        return self._scale(self._parameters.log_prior)[np.asarray(classes)], words

    def _row_terms(self, row, classes):
        return {"words that are absent": self._log_absent()[np.asarray(classes)]}

    def _top_words(self, c, n):
        counts = self._accumulator.checked()
        n_c, total = counts.weights[c] / ONE, counts.weights.sum() / ONE
        words, inside, rest = counts.words_against_rest(c)
        p, q = (inside + self.alpha) / (n_c + 2 * self.alpha), (rest + self.alpha) / (total - n_c + 2 * self.alpha)
        return top_words(words, p * np.log(p / q), n)


# ------------------------------------------------------------------ the registry

QUICK = {"random_state": 0, "n_sweeps": 6}
PUBLIC = _registry.CLASSES.keys() - _registry.STORED_ONLY
CLASSES = {name: _registry.load_class(name) for name in _registry.CLASSES} | {"BernoulliNB": BernoulliNB}
BASES = GenerativeClassifier, PosteriorClassifier
MODELS = sorted(name for name, cls in CLASSES.items() if issubclass(cls, BASES))
OF_TEXTS = [name for name in MODELS if name != "GaussianNonlinearBayes"]  # the others take counts of words


def make(name):
    model = CLASSES[name]()
    return model.set_params(**{key: value for key, value in QUICK.items() if key in model.get_params()})


def having(method, names=tuple(MODELS)):
    return pytest.mark.parametrize("name", [name for name in names if hasattr(make(name), method)])


def documents(n=60, n_words=25):
    random = np.random.RandomState(5)
    y = np.array(["ham", "eggs", "spam"])[np.arange(n) % 3]
    rates = 0.1 + random.gamma(0.3, size=(3, n_words))[np.arange(n) % 3]
    return sparse.csr_array(random.poisson(rates).astype(np.float64)), y


def assert_same_state(a, b):
    one, other = a._get_state(), b._get_state()
    assert one.keys() == other.keys()
    for key, value in one.items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, other[key], err_msg=key)


def test_public_names_are_those_of_the_registry():
    assert {name for name in genus.__all__ if hasattr(getattr(genus, name), "_get_state")} == PUBLIC
    assert set(_registry.MODELS.values()) <= set(_registry.CLASSES)
    assert dir(genus) == sorted(genus.__all__)


def imported_for_type_checkers(module):
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    return {name.asname: node.module for node in imports for name in node.names if name.asname}


def test_type_checkers_see_every_public_name():
    of_registry = imported_for_type_checkers(_registry)
    assert of_registry == {name: _registry.CLASSES[name] for name in PUBLIC}
    assert of_registry.keys() | imported_for_type_checkers(genus).keys() == set(genus.__all__)


def test_no_model_is_missing_in_the_registry():
    found = set()
    for module in pkgutil.walk_packages(genus.models.__path__, "genus.models."):
        for name, cls in vars(importlib.import_module(module.name)).items():
            if inspect.isclass(cls) and issubclass(cls, BASES) and "__init__" in vars(cls):
                found.add(name)
    assert found == set(MODELS) - {"BernoulliNB"}


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_at_most_two_classes_of_ours_stand_between_a_class_and_scikit_learn(name):
    between = [cls for cls in CLASSES[name].__mro__[1:] if cls.__module__.partition(".")[0] == "genus"]
    assert len(between) <= 2, between


OF_NATIVE_CODE = [name for name in MODELS if name not in ("BernoulliNB", "DenseGaussian")]  # that is matrix products


@pytest.mark.parametrize("name", [*OF_NATIVE_CODE, "CosineNeighborsClassifier"])
def test_a_model_names_the_native_code_that_computes_it(name):
    root = Path(__file__).parents[2]
    named = re.findall(r"``(cpp/[^`]*)``", CLASSES[name].__doc__)
    assert named
    assert [path for path in named if not (root / path).is_file()] == []


@pytest.mark.parametrize("name", MODELS)
def test_a_method_that_cannot_work_is_not_there(name):
    online, sampled = {"DiscriminativeNB"}, {"RelevanceTopicModel", "NonlinearBayes", "GaussianNonlinearBayes"}
    left_out = {
        "DenseGaussian", "MultinomialNB", "TiedDocumentMixture", "KernelDensityClassifier",
        "NearestNeighborsClassifier",
    }  # fmt: skip
    model = make(name)
    for method in ("partial_fit", "_partial_fit_rows"):
        assert hasattr(model, method) == (name not in sampled)
    for method in ("unlearn", "merge", "_unlearn_rows", "_has_counts", "_keep_columns"):
        assert hasattr(model, method) == (name not in sampled | online)
    for method in ("leave_one_out_log_proba", "_leave_one_out"):
        assert hasattr(model, method) == (name in left_out | {"BernoulliNB"})


# ------------------------------------------------------------------ learning


@having("merge")
def test_merged_halves_are_the_whole(name):
    X, y = documents()
    halves = make(name).fit(X[:25], y[:25]).merge(make(name).fit(X[25:], y[25:]))
    assert_same_state(halves, make(name).fit(X, y))


@having("unlearn")
def test_unlearned_documents_leave_no_trace(name):
    X, y = documents()
    assert_same_state(make(name).fit(X, y).unlearn(X[40:], y[40:]), make(name).fit(X[:40], y[:40]))


@having("unlearn")
def test_unlearning_what_was_never_learned_is_refused(name):
    X, y = documents()
    X = X.toarray()
    X[:, 3] = 0
    model, unknown = make(name).fit(X, y), X[:1].copy()
    unknown[0, 3] = 1
    with pytest.raises(ValueError, match="never learned"):
        model.unlearn(unknown, y[:1])
    assert_same_state(model, make(name).fit(X, y))


@having("leave_one_out_log_proba")
def test_leaving_out_equals_unlearning(name):
    X, y = documents()
    left_out = make(name).fit(X, y).leave_one_out_log_proba(X, y)
    for d in (0, 7, 40):
        without = make(name).fit(X, y).unlearn(X[[d]], y[[d]])
        np.testing.assert_allclose(left_out[d], without.predict_log_proba(X[[d]])[0], rtol=1e-9, atol=1e-9)


@having("leave_one_out_log_proba")
@pytest.mark.parametrize("params", [{}, {"fit_prior": False}, {"prior_scale": 0.5}, {"class_prior": [0.2, 0.3, 0.5]}])
@pytest.mark.parametrize("heavy", [1, 5])  # where one document has all the weight, priors are equal without it
def test_leaving_out_by_weights_and_priors_equals_unlearning(name, params, heavy):
    params = {key: value for key, value in params.items() if key in make(name).get_params()}
    X, y = documents(12)
    weights = np.array([1.5, 2.0, 0.5, 1.0, 3.0] + [0.0] * 7)
    weights[heavy:] = 0
    model = make(name).set_params(**params).fit(X, y, weights)
    left_out = model.leave_one_out_log_proba(X, y, weights)
    for d in range(12):
        without = make(name).set_params(**params).fit(X, y, weights).unlearn(X[[d]], y[[d]], weights[[d]])
        np.testing.assert_allclose(left_out[d], without.predict_log_proba(X[[d]])[0], rtol=1e-9, atol=1e-9)


@pytest.fixture
def registered(monkeypatch):
    """Model files and `TextClassifier(model="bernoulli")` know of the new model as of every other."""
    monkeypatch.setitem(_registry.CLASSES, "BernoulliNB", BernoulliNB.__module__)
    monkeypatch.setitem(_registry.MODELS, "bernoulli", "BernoulliNB")
    monkeypatch.setattr(
        _registry,
        "import_module",
        lambda path: _Here if path == BernoulliNB.__module__ else importlib.import_module(path),
    )


class _Here:
    """This module, which has no name to import it by."""

    BernoulliNB = BernoulliNB


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_answers_alike(name, tmp_path):
    X, y = documents()
    X = X.toarray() if name == "GaussianNonlinearBayes" else X
    model = make(name).fit(X, y)
    genus.save(model, tmp_path / "m.genus")
    loaded = genus.load(tmp_path / "m.genus")
    assert_same_state(loaded, model)
    np.testing.assert_array_equal(loaded.predict_log_proba(X), model.predict_log_proba(X))


@pytest.mark.usefixtures("registered")
@having("partial_fit")
def test_a_loaded_model_learns_on(name, tmp_path):
    X, y = documents()
    model = make(name).fit(X[:40], y[:40])
    genus.save(model, tmp_path / "m.genus")
    loaded = genus.load(tmp_path / "m.genus").partial_fit(X[40:], y[40:])
    assert_same_state(loaded, model.partial_fit(X[40:], y[40:]))


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("MultinomialNB", {"document_weights": "equal"}),
        ("HierarchicalMixture", {"document_weights": "length"}),
        ("DiscriminativeNB", {"variant": "paper"}),
    ],
)
def test_a_loaded_model_knows_how_it_counted(name, changed, tmp_path):
    X, y = documents()
    genus.save(make(name).fit(X, y), tmp_path / "m.genus")
    loaded = genus.load(tmp_path / "m.genus").set_params(**changed)
    with pytest.raises(ValueError, match="when the documents were learned; fit again to change it"):
        loaded.partial_fit(X[:1], y[:1])


# ------------------------------------------------------------------ answering


@pytest.mark.parametrize("name", MODELS)
def test_pooled_scores_are_the_scores(name):
    """Times a factor, up to what the classes of a document have alike, and as exact as the model says."""
    X, y = documents()
    model = make(name).fit(X.toarray() if name == "GaussianNonlinearBayes" else X, y)
    asked = X[:20].toarray() if name == "GaussianNonlinearBayes" else X[:20]
    factors, total, distances = np.linspace(0.5, 2, 20), np.zeros((20, 3)), np.zeros(20)
    for _ in range(2):
        model._add_scores(model._check_rows(asked), factors, total, distances)
    expected = 2 * factors[:, np.newaxis] * model.predict_joint_log_proba(asked)
    impossible = np.isneginf(expected)  # a class without a neighbor
    np.testing.assert_array_equal(np.isneginf(total), impossible)
    expected, total = (np.ma.masked_array(scores, impossible) for scores in (expected, total))
    assert (np.ma.ptp(total - expected, axis=1) <= distances + 1e-9 * np.abs(expected).max(axis=1)).all()
    assert np.ma.ptp(total, axis=1).min() > 1e-3


@pytest.mark.parametrize("name", MODELS)
def test_every_way_to_ask_gives_one_answer(name):
    X, y = documents()
    X = X.toarray() if name == "GaussianNonlinearBayes" else X
    model = make(name).fit(X, y)
    log_proba, (top, proba) = model.predict_log_proba(X), model.predict_top(X, 3)
    np.testing.assert_allclose(np.exp(log_proba).sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(X), model.classes_[log_proba.argmax(axis=1)])
    np.testing.assert_array_equal(top[:, 0], model.predict(X))
    np.testing.assert_allclose(proba, np.sort(np.exp(log_proba), axis=1)[:, ::-1], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", OF_TEXTS)
def test_top_words_begin_with_the_best(name):
    X, y = documents()
    model = make(name).fit(X, y)
    for c in range(3):
        words, weights = model._top_words(c, 4)
        assert 0 < len(words) <= 4
        assert (np.diff(weights) <= 0).all()
        assert len(set(words.tolist())) == len(words)
        assert (words < 25).all()
        np.testing.assert_array_equal(model._top_words(c, 2)[0], words[:2])


TEXTS = ["goal match goal", "match goal the cat", "bank stock bank", "stock the bank", "sea wind wave", "the wave sea"]
LABELS = ["sport", "sport", "money", "money", "weather", "weather"]


@pytest.mark.parametrize("name", OF_TEXTS)
def test_shown_parts_add_up_to_the_log_odds(name):
    clf = TextClassifier(model=make(name)).fit(TEXTS * 3, LABELS * 3)
    why = clf.explain("the goal of a bank wave wave", label="money", against="weather")
    log_proba = dict(
        zip(clf.classes_.tolist(), clf.predict_log_proba(["the goal of a bank wave wave"])[0], strict=True)
    )
    assert why.log_odds == pytest.approx(log_proba["money"] - log_proba["weather"], rel=1e-6)

    found = json.loads(json.dumps(why.to_dict()))
    words = sum(word["contribution"] for word in found["words"])
    assert found["prior"] + words + sum(found.get("terms", {}).values()) == pytest.approx(found["log_odds"])

    shown = dict(
        line.strip().rsplit("  ", 1)
        for line in (line.split("  x")[0] for line in str(why).splitlines()[1:])
        if _is_sum(line)
    )
    values = {name.strip(): float(value) for name, value in shown.items()}
    total = values.pop("= log odds")
    assert sum(values.values()) == pytest.approx(total, abs=0.0005 * (len(values) + 1))


def _is_sum(line):
    """Whether a line shows a part, or the total: a name and a number of three digits behind the point."""
    return line.strip().rpartition("  ")[2].strip()[:1] in ("+", "-")


# ------------------------------------------------------------------ a new model


@parametrize_with_checks([BernoulliNB(), BernoulliNB(0.1, fit_prior=False)])
def test_a_new_model_keeps_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("params", [{}, {"alpha": 0.1, "fit_prior": False}, {"class_prior": [0.2, 0.3, 0.5]}])
def test_a_new_model_equals_scikit_learns(params):
    X, y = documents()
    weights = np.arange(60) % 3 + 1.0
    ours, theirs = (cls(**params).fit(X, y, weights) for cls in (BernoulliNB, SklearnBernoulliNB))
    np.testing.assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-12)


@pytest.mark.usefixtures("registered")
def test_a_new_model_takes_texts(tmp_path):
    """Which are counted: that it reads presence holds for learning, unlearning, leaving out and every answer."""
    clf = TextClassifier(model="bernoulli").fit(TEXTS, LABELS)
    X = clf.vectorizer_.transform(TEXTS)
    theirs = SklearnBernoulliNB().fit(X, LABELS)
    np.testing.assert_allclose(clf.predict_log_proba(TEXTS), theirs.predict_log_proba(X), rtol=1e-12)
    assert clf.predict(TEXTS).tolist() == theirs.predict(X).tolist() == LABELS
    assert clf.predict_top(["goal goal goal match"], 1)[0].tolist() == [["sport"]]

    clf.save(tmp_path / "m.genus")
    loaded = genus.load(tmp_path / "m.genus")
    left_out = loaded.leave_one_out_log_proba(TEXTS, LABELS)[1]
    loaded.unlearn(TEXTS[1:2], LABELS[1:2]).partial_fit(TEXTS[1:2], LABELS[1:2])
    again = loaded.vectorizer_.transform(TEXTS)
    np.testing.assert_allclose(loaded.predict_log_proba(TEXTS), theirs.predict_log_proba(X), rtol=1e-12)
    rest = SklearnBernoulliNB().fit(np.delete(again.toarray(), 1, axis=0), LABELS[:1] + LABELS[2:])
    np.testing.assert_allclose(left_out, rest.predict_log_proba(again[[1]])[0], rtol=1e-12)
    assert "words that are absent" in str(loaded.explain("goal goal"))


def test_a_new_model_is_small():
    source = inspect.getsource(BernoulliNB)
    assert len(source.splitlines()) <= 110
    contributing = Path(__file__).parents[2] / "docs" / "contributing.md"
    assert source in contributing.read_text(encoding="utf-8")
