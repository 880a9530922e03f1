"""Texts with their words marked, in Python, in a terminal, on a page and from the shell."""

import io
import json

import numpy as np
import pytest
from rich.console import Console
from scipy import sparse
from sklearn.pipeline import make_pipeline

import genus
from genus import MultinomialNB, RelevanceFilter, RelevanceTopicModel, Review, TextClassifier, Vectorizer
from genus.cli import main
from genus.models.relevance.marking import MarkedText, Span
from genus.report import marks_page

SPORT = ["goal match striker", "match goal referee", "striker goal match", "referee match goal", "goal striker referee"]
MONEY = ["bank stock profit", "stock bank shares", "profit stock bank", "shares bank stock", "bank profit shares"]
N = 40  # texts of each class


def documents():
    """Texts of three words of their class, three that all share, and one of the text's own, thrice."""
    texts, labels = [], []
    for label, phrases in (("sport", SPORT), ("money", MONEY)):
        for i in range(N):
            phrase, own = phrases[i % len(phrases)], f"{label}{i}"
            texts.append(f"{phrase}, {phrase} on the whole; {own} {own} {own}")
            labels.append(label)
    return texts, labels


@pytest.fixture(scope="module")
def clf():
    model = RelevanceTopicModel(alpha=0.5, n_sweeps=60, random_state=0)
    return TextClassifier(model).fit(*documents())


def kinds(marked):
    return {marked.text[span.begin : span.end]: span.kind for span in marked.spans}


# In Python


def test_words_are_told_apart(clf):
    texts, labels = documents()
    marked = clf.mark(texts[0], labels[0])
    assert kinds(marked) == {
        "goal": "class", "match": "class", "striker": "class",
        "on": "background", "the": "background", "whole": "background", "sport0": "own",
    }  # fmt: skip
    assert marked.relevant + marked.background + marked.own == pytest.approx(1)
    assert marked.relevant == pytest.approx(6 / 12, abs=0.1)
    for span in marked.spans:
        assert span.relevant + span.background + span.own == pytest.approx(1)


def test_the_label_is_the_predicted_one_by_default(clf):
    assert clf.mark("the bank").label == "money"
    assert clf.mark("the bank", "sport").label == "sport"
    assert kinds(clf.mark("the bank", "sport"))["bank"] != "class"


def test_words_never_seen_are_unknown_and_stop_words_are_not_marked():
    texts, labels = documents()
    model = RelevanceTopicModel(alpha=0.5, random_state=0)
    clf = TextClassifier(model, vectorizer=Vectorizer(stop_words=["the"])).fit(texts, labels)
    marked = clf.mark("The GOAL, a zebra!", "sport")
    assert kinds(marked) == {"GOAL": "class", "zebra": "unknown"}
    assert marked.spans[1] == Span(12, 17, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    "options",
    [
        {"stemmer": "english"},
        {"n_hash": 512},
        {"ngram_range": (1, 2)},
        {"analyzer": "char_wb", "ngram_range": (3, 3)},
        {"token_pattern": r"\S+"},
        {"analyzer": str.split},
    ],
)
def test_words_are_found_however_they_were_counted(options):
    texts, labels = documents()
    model = RelevanceTopicModel(alpha=0.5, random_state=0)
    clf = TextClassifier(model, vectorizer=Vectorizer(**options)).fit(texts, labels)
    marked = clf.mark("goal on the goal whole", "sport")
    assert kinds(marked)["goal"] == "class"
    assert len(marked.spans) == 5


def test_runs_without_spaces_are_marked_whole():
    texts = ["守门员进球", "进球比赛", "银行股票", "股票银行利润"]
    clf = TextClassifier(RelevanceTopicModel(alpha=0.5, random_state=0)).fit(texts, ["运动", "运动", "钱", "钱"])
    assert [clf.mark("银行股票").text[s.begin : s.end] for s in clf.mark("银行股票").spans] == ["银行股票"]


def test_texts_without_words_can_be_marked(clf):
    for text in ("", "!?", "zebra"):
        marked = clf.mark(text, "sport")
        assert (marked.relevant, marked.background, marked.own) == (0, 0, 0)
        assert str(marked).endswith(text)


def test_other_models_and_labels_are_refused(clf):
    texts, labels = documents()
    bayes = TextClassifier("nb").fit(texts, labels)
    with pytest.raises(ValueError, match="MultinomialNB does not tell words apart; use model='rtm'"):
        bayes.mark("goal", "sport")
    with pytest.raises(ValueError, match="does not tell words apart"):
        bayes.review(texts, labels)
    with pytest.raises(ValueError, match="'weather' is not one of the 2 classes"):
        clf.mark("goal", "weather")
    with pytest.raises(ValueError, match="takes one text"):
        clf.mark(texts, labels)
    with pytest.raises(ValueError, match="RelevanceTopicModel cannot learn more"):
        clf.partial_fit(texts, labels)
    with pytest.raises(ValueError, match="RelevanceTopicModel cannot leave texts out"):
        clf.leave_one_out_log_proba(texts, labels)
    with pytest.raises(ValueError, match="RelevanceTopicModel cannot unlearn"):
        clf.unlearn(texts[:1], labels[:1])


# To look at


def test_it_can_be_read_without_colours(clf):
    marked = clf.mark("goal on sport0", "sport")
    assert "[goal] on {sport0}" in str(marked)
    plain = io.StringIO()
    Console(file=plain, no_color=True, width=200).print(marked)
    assert "[goal] on {sport0}" in plain.getvalue()
    coloured = io.StringIO()
    Console(file=coloured, force_terminal=True, color_system="standard", width=200, _environ={}).print(marked)
    assert "\x1b[1;32mgoal" in coloured.getvalue()
    assert "[goal]" not in coloured.getvalue()


def test_html_is_escaped_and_shaded(clf):
    shown = clf.mark("goal <script>alert(1)</script>\x1b on", "sport")._repr_html_()
    assert "<script>" not in shown
    assert "\x1b" not in shown
    assert "background:#2a9d5c" in shown
    assert "not seen in training" in shown


def test_plain_values_are_ready_for_json(clf):
    value = json.loads(json.dumps(clf.mark("goal on", "sport").to_dict()))
    assert [span["text"] for span in value["spans"]] == ["goal", "on"]
    assert value["spans"][0]["kind"] == "class"
    assert sorted(value) == ["background", "label", "own", "relevant", "spans"]


def test_a_long_text_is_cut_between_words():
    spans = (Span(0, 3, 1.0, 0.0, 0.0), Span(4, 9, 1.0, 0.0, 0.0))
    short = MarkedText("one three", "x", spans, 1.0, 0.0, 0.0).shortened(6)
    assert (short.text, short.spans) == ("one th…", spans[:1])


# Reviews


def review_with_a_wrong_label():
    texts, labels = documents()
    labels[0] = "money"
    clf = TextClassifier(RelevanceTopicModel(alpha=0.5, n_sweeps=60, random_state=0)).fit(texts, labels)
    return clf, texts, labels, clf.review(texts, labels)


def test_a_wrong_label_is_suspected():
    _, _, labels, review = review_with_a_wrong_label()
    assert review.suspects().tolist() == [0]
    assert review.predicted[0] == "sport"
    assert review.of("money").tolist()[-1] == 0
    assert set(review.of("sport").tolist()) == set(range(1, N))
    assert review.medians().keys() == set(labels)


def test_a_text_without_known_words_is_not_suspected():
    tokens = np.array([[1.0, 3.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 0.0], [4.0, 0.0, 0.0]])
    labels, predicted = np.array(["a"] * 4), np.array(["a", "a", "b", "b"])
    review = Review.of_tokens(labels, predicted, tokens)
    assert review.relevance.tolist() == [0.75, 0.75, 0.0, 0.0]
    assert review.suspects().tolist() == [3]


def test_the_page_shows_suspects_and_each_class():
    clf, texts, _, review = review_with_a_wrong_label()
    page = marks_page(clf, texts, review, range(1, 2 * N + 1), model="<m>", data="d")
    assert "&lt;m&gt;" in page
    assert "<script" not in page
    assert page.index("Suspect labels") < page.index("Most relevant") < page.index("Least relevant")
    assert "predicted as <b>sport</b>" in page


# From the shell


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts, labels = documents()
    labels[0] = "money"
    with open("docs.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"text": t, "label": y}) + "\n" for t, y in zip(texts, labels, strict=True))
    options = ["--set", "alpha=0.5", "--set", "n_sweeps=60", "--set", "random_state=0"]
    assert main(["train", "docs.jsonl", "--model", "rtm", "-o", "m.genus", *options]) == 0
    return "m.genus"


def test_mark_shows_classes_and_suspects(model, capsys, tmp_path):
    assert main(["mark", model, "docs.jsonl", "--show", "1", "--report", "marks.html"]) == 0
    out = capsys.readouterr().out
    assert "1 suspect label" in out
    assert "money, least relevant: row 1\n" in out
    assert out.count("relevant: row") == 4
    assert "[goal]" in out
    assert "wrote marks.html" in out
    assert "Suspect labels" in (tmp_path / "marks.html").read_text("utf-8")


def test_mark_gives_json_lines(model, capsys):
    capsys.readouterr()
    assert main(["mark", model, "docs.jsonl", "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["suspect"] for line in lines] == [True] + [False] * (2 * N - 1)
    assert lines[0]["row"] == 1
    assert lines[0]["predicted"] == "sport"
    assert lines[1]["spans"][0]["kind"] == "class"


def test_mark_takes_messages(model, capsys):
    capsys.readouterr()
    assert main(["mark", model, "-m", "a goal\x1b on the whole", "--class", "sport"]) == 0
    out = capsys.readouterr().out
    assert "[goal]" in out
    assert "\x1b[" not in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["m.genus"], "Give either DATA"),
        (["m.genus", "docs.jsonl", "-m", "x"], "Give either DATA"),
        (["m.genus", "docs.jsonl", "--class", "sport"], "--class applies to --message only"),
        (["m.genus", "-m", "x", "--report", "a.html"], "--report needs DATA"),
        (["m.genus", "-m", "x", "--class", "spor"], "did you mean sport"),
        (["m.genus", "docs.jsonl", "--report", "no/a.html"], "folder no does not exist"),
        (["nb.genus", "docs.jsonl"], "MultinomialNB does not tell words apart"),
        (["m.genus", "other.jsonl"], "'weather' was never learned"),
    ],
)
def test_mark_refuses_in_one_line(model, capsys, arguments, message):
    with open("other.jsonl", "w", encoding="utf-8") as file:
        file.write('{"text": "goal", "label": "weather"}\n')
    assert main(["train", "docs.jsonl", "-o", "nb.genus", "--model", "nb"]) == 0
    capsys.readouterr()
    assert main(["mark", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert message in error


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("n_sweeps=0", "n_sweeps must be a whole number of at least 1, got 0"),
        ("alpha=0", "alpha must be a positive number, got 0"),
        ("beta=-1", "beta must be a positive number, got -1"),
        ("sweeps=3", "model rtm has no parameter 'sweeps'"),
    ],
)
def test_wrong_settings_are_refused_in_one_line(model, capsys, setting, message):
    capsys.readouterr()
    assert main(["train", "docs.jsonl", "--model", "rtm", "-o", "x.genus", "--set", setting]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert message in error


@pytest.mark.parametrize("command", ["learn", "forget"])
def test_a_sampled_model_cannot_be_changed_from_the_shell(model, capsys, command):
    capsys.readouterr()
    assert main([command, model, "docs.jsonl"]) == 2
    assert "RelevanceTopicModel cannot" in capsys.readouterr().err


def test_inspect_lists_clean_words(model, capsys):
    capsys.readouterr()
    assert main(["inspect", model, "--json", "--words", "3"]) == 0
    classes = {c["label"]: [w["word"] for w in c["words"]] for c in json.loads(capsys.readouterr().out)["classes"]}
    assert set(classes["sport"]) <= {"goal", "match", "striker", "referee"}


# The filter


def filtered(floor=0.2):
    texts, labels = documents()
    vectorizer = Vectorizer()
    X = vectorizer.fit_transform(texts)
    model = RelevanceTopicModel(alpha=0.5, n_sweeps=60, random_state=0)
    return X, RelevanceFilter(model, floor=floor), labels, vectorizer.vocabulary_


def test_the_filter_weighs_words_by_their_relevance():
    X, relevance_filter, labels, words = filtered()
    weighted = relevance_filter.fit_transform(X, labels)
    expected = X.multiply(0.2 * (X > 0) + 0.8 * relevance_filter.model_.mark(X, labels).relevant)
    np.testing.assert_allclose(weighted.toarray(), expected.toarray())
    ratio = weighted.sum(axis=0).A1 / X.sum(axis=0).A1
    assert ratio[words["goal"]] > 0.6
    assert ratio[words["the"]] < 0.4
    assert ratio[words["sport0"]] < 0.4


def test_new_documents_pass_the_filter():
    X, relevance_filter, labels, _ = filtered()
    relevance_filter.fit(X, labels)
    np.testing.assert_array_equal(relevance_filter.transform(X).toarray(), X.toarray())
    np.testing.assert_array_equal(relevance_filter.transform(X.toarray()), X.toarray())


def test_dense_and_sparse_documents_are_filtered_alike():
    X, relevance_filter, labels, _ = filtered()
    np.testing.assert_allclose(
        relevance_filter.fit_transform(X.toarray(), labels),
        relevance_filter.fit_transform(sparse.csr_array(X), labels).toarray(),
    )


def test_a_classifier_is_trained_on_what_is_relevant():
    texts, labels = documents()
    pipeline = make_pipeline(Vectorizer(), RelevanceFilter(RelevanceTopicModel(random_state=0)), MultinomialNB())
    assert pipeline.fit(texts, labels).predict(["goal", "bank"]).tolist() == ["sport", "money"]


def test_a_filter_is_saved_with_its_model(tmp_path):
    X, relevance_filter, labels, _ = filtered()
    relevance_filter.fit(X, labels)
    genus.save(relevance_filter, tmp_path / "f.genus")
    loaded = genus.load(tmp_path / "f.genus")
    np.testing.assert_array_equal(loaded.model_.topic_count_, relevance_filter.model_.topic_count_)
    np.testing.assert_array_equal(loaded.transform(X).toarray(), X.toarray())


@pytest.mark.parametrize(
    ("params", "message"), [({"floor": -0.1}, "floor must be"), ({"model": "rtm"}, "model must be")]
)
def test_wrong_filters_are_refused(params, message):
    X, _, labels, _ = filtered()
    with pytest.raises(ValueError, match=message):
        RelevanceFilter(**params).fit(X, labels)
