"""Metrics agree with scikit-learn's, come out the same in chunks, and the page is safe to open."""

from __future__ import annotations

import math
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    confusion_matrix,
    f1_score,
    log_loss,
    precision_recall_fscore_support,
)

from genus import TextClassifier
from genus.report import Evaluation, evaluate, explanation_page, make_page

LABELS = ["blue", "green", "red", "white"]
EVIL = "<script>alert('x')</script>\"'&\x00\x1b[31m"


@pytest.fixture
def answers():
    """Random probabilities, and truths that agree with them more often than not."""
    random = np.random.default_rng(7)
    proba = random.dirichlet([0.5] * len(LABELS), size=500)
    truth = [LABELS[random.choice(len(LABELS), p=p)] for p in proba]
    texts = [f"text {i}" for i in range(len(truth))]
    return texts, truth, np.log(proba)


def evaluation(texts, truth, log_proba, size: int | None = None) -> Evaluation:
    result = Evaluation(LABELS)
    step = size or len(texts)
    for i in range(0, len(texts), step):
        result.add(texts[i : i + step], truth[i : i + step], log_proba[i : i + step])
    return result


def test_metrics_agree_with_scikit_learn(answers):
    _, truth, log_proba = answers
    result = evaluation(*answers)
    predicted = [LABELS[c] for c in log_proba.argmax(axis=1)]
    assert result.accuracy == pytest.approx(accuracy_score(truth, predicted))
    assert result.micro_f1 == pytest.approx(f1_score(truth, predicted, average="micro"))
    assert result.macro_f1 == pytest.approx(f1_score(truth, predicted, average="macro"))
    assert result.log_loss == pytest.approx(log_loss(truth, np.exp(log_proba), labels=LABELS))
    scores = {score.label: score for score in result.per_class()}
    expected = zip(*precision_recall_fscore_support(truth, predicted, labels=LABELS), strict=True)
    for label, (precision, recall, f1, support) in zip(LABELS, expected, strict=True):
        score = scores[label]
        assert (score.precision, score.recall, score.f1) == pytest.approx((precision, recall, f1))
        assert score.support == support
    matrix = confusion_matrix(truth, predicted, labels=LABELS)
    assert [[result.count(t, p) for p in LABELS] for t in LABELS] == matrix.tolist()


def test_chunks_add_up_to_the_whole(answers):
    whole, parts = evaluation(*answers).to_dict(), evaluation(*answers, size=7).to_dict()
    assert parts.pop("log_loss") == pytest.approx(whole.pop("log_loss"))
    assert parts.pop("calibration_error") == pytest.approx(whole.pop("calibration_error"))
    for left, right in zip(parts.pop("reliability"), whole.pop("reliability"), strict=True):
        assert left == pytest.approx(right)
    assert parts == whole


def test_calibration_error_is_the_mean_gap_of_the_bins():
    # Two answers 0.9 sure, one of them right; two 0.6 sure, both right: (2 * 0.4 + 2 * 0.4) / 4.
    proba = np.array([[0.9, 0.1], [0.9, 0.1], [0.6, 0.4], [0.6, 0.4]])
    result = Evaluation(["a", "b"])
    result.add(["w"] * 4, ["a", "b", "a", "a"], np.log(proba))
    assert result.calibration_error == pytest.approx(0.4)
    assert [(b.n, round(b.confidence, 2), b.accuracy) for b in result.bins()] == [
        (2, 0.6, 1.0),
        (2, 0.9, 0.5),
    ]


def test_the_worst_mistakes_are_the_most_confident():
    proba = np.array([[0.6, 0.4], [0.9, 0.1], [0.7, 0.3], [0.8, 0.2]])
    result = Evaluation(["a", "b"], n_mistakes=2)
    for i in range(4):
        result.add([f"text {i}"], ["b"], np.log(proba[i : i + 1]), [i + 10])
    assert [(m.row, m.text) for m in result.mistakes] == [(11, "text 1"), (13, "text 3")]


def test_equal_mistakes_keep_the_order_of_the_rows():
    result = Evaluation(["a", "b"], n_mistakes=2)
    result.add(["x", "y", "z"], ["b"] * 3, np.log([[0.9, 0.1]] * 3))
    assert [m.row for m in result.mistakes] == [1, 2]


def test_unknown_labels_are_mistakes_outside_the_log_loss():
    result = Evaluation(["a", "b"])
    result.add(["x", "y"], ["a", "c"], np.log([[0.5, 0.5], [0.9, 0.1]]))
    assert (result.n_unknown, result.accuracy) == (1, 0.5)
    assert result.log_loss == pytest.approx(math.log(2))
    assert {score.label for score in result.per_class()} == {"a", "c"}


def test_nothing_known_is_no_number():
    result = Evaluation(["a", "b"])
    result.add(["x"], ["c"], np.log([[0.5, 0.5]]))
    assert result.to_dict()["log_loss"] is None


def test_impossible_truths_are_infinitely_surprising():
    result = Evaluation(["a", "b"])
    result.add(["x"], ["b"], np.array([[0.0, -np.inf]]))
    assert result.log_loss == math.inf
    assert result.mistakes[0].confidence == 1


# ---------------------------------------------------------------- the page


class Reader(HTMLParser):
    """Collects elements and checks that they are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in ("meta", "path", "circle", "rect"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag in ("path", "circle", "rect") and (not self.open or self.open[-1] != tag):
            return
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def read_page(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def hostile_page() -> str:
    texts = [f"alpha {EVIL} beta", "alpha gamma", "delta delta", "delta gamma"]
    clf = TextClassifier("nb").fit(texts, [EVIL, EVIL, "good", "good"])
    result = evaluate(clf, [f"alpha {EVIL}", "delta"], ["good", EVIL])
    return make_page(result, clf, model=EVIL, data=EVIL)


def test_hostile_labels_and_texts_are_only_shown():
    page = hostile_page()
    reader = read_page(page)
    tags = {tag for tag, _ in reader.seen}
    assert "script" not in tags
    assert EVIL[:27] in reader.text
    assert not {"\x00", "\x1b"} & set(page)
    assert not any(name.startswith("on") for _, attributes in reader.seen for name in attributes)


def test_the_page_fetches_nothing():
    reader = read_page(hostile_page())
    assert not {"link", "img", "iframe", "object", "base"} & {tag for tag, _ in reader.seen}
    assert not any({"src", "href"} & set(attributes) for _, attributes in reader.seen)
    assert "url(" not in hostile_page()


def test_the_page_shows_scores_confusions_and_reasons():
    texts = ["claim cash now", "free cash", "see you soon", "lunch soon"]
    clf = TextClassifier("nb").fit(texts, ["spam", "spam", "ham", "ham"])
    result = evaluate(clf, [*texts, "free lunch cash"], ["spam", "spam", "ham", "ham", "ham"])
    text = read_page(make_page(result, clf, model="mail.genus", data="test.csv")).text
    assert "80.0%" in text
    assert "ham predicted as spam" in text
    assert "free lunch cash" in text
    assert "cash +" in text


def test_of_many_classes_the_most_confused_are_shown():
    texts = [f"word{i} common" for i in range(60)]
    labels = [f"class {i:02}" for i in range(60)]
    clf = TextClassifier("nb").fit(texts, labels)
    result = evaluate(clf, [*texts, "word7 common"], [*labels, "class 09"])
    reader = read_page(make_page(result, clf, model="m", data="d"))
    assert "The 20 of 60 classes with the most mistakes" in reader.text
    assert sum(attributes.get("class") == "right" for _, attributes in reader.seen) == 20


def test_a_faultless_evaluation_has_a_page():
    clf = TextClassifier("nb").fit(["a word", "another one"], ["x", "y"])
    result = evaluate(clf, ["word", "one"], ["x", "y"])
    assert "There are none." in read_page(make_page(result, clf, model="m", data="d")).text


def test_an_explanation_has_a_page():
    clf = TextClassifier("nb").fit([f"alpha {EVIL}", "beta"], [EVIL, "good"])
    page = explanation_page(clf.explain(f"alpha {EVIL}"))
    assert "script" not in {tag for tag, _ in read_page(page).seen}
