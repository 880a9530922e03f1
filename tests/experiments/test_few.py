"""genus reproduce few: balanced draws, encodings that are kept, means over the same sets."""

from __future__ import annotations

import json
import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genus.cli import main
from genus.errors import DataError
from genus.experiments import experiment
from genus.experiments.harness.table import Cell, Results
from genus.experiments.papers.few.contestants import EncodedLR
from genus.experiments.papers.few.encodings import Encodings, encodings
from genus.experiments.papers.few.measures import CALIBRATION
from genus.experiments.papers.few.plan import EIGHT, UNLABELED, row_name, rows
from genus.experiments.papers.few.summary import means
from genus.experiments.papers.few.texts import draw, first_of_each, frequent, make_pool, without_headers


def part(sizes: dict[str, int], prefix: str = "") -> tuple[list[str], np.ndarray]:
    """So many texts of each class; no text is there twice."""
    labels = [c for c, n in sizes.items() for _ in range(n)]
    return [f"{prefix}text {i} of {c}" for i, c in enumerate(labels)], np.array(labels)


# ------------------------------------------------------------------ draws


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 40), min_size=2), st.integers(1, 12), st.integers(0, 9)
)
def test_a_draw_has_as_many_texts_of_each_class_as_asked_for(sizes, n, seed):
    pool = make_pool([part(sizes), part({"a": 3}, "test ")], each=20)
    given = draw(pool, n, seed)
    assert Counter(given.labels) == {c: min(n, own, 20) for c, own in sizes.items()}
    assert len(set(given.texts)) == len(given.texts)
    assert all(text.endswith(f"of {label}") for text, label in zip(given.texts, given.labels, strict=True))


def test_a_draw_is_the_same_whenever_it_is_made_and_another_with_another_seed():
    made = [draw(make_pool([part({"a": 50, "b": 50})]), 5, seed).texts for seed in (0, 0, 1)]
    assert made[0] == made[1]
    assert set(made[0]) != set(made[2])


def test_texts_to_test_with_are_neither_drawn_nor_unlabeled():
    pool = make_pool([part({"a": 50, "b": 50})], each=30, n_test=20)
    assert len(pool.test_texts) == 20
    drawn = draw(pool, 30, 0, n_unlabeled=1_000)
    everything = [*drawn.texts, *drawn.unlabeled, *pool.test_texts]
    assert len(everything) == len(set(everything)) == 100


def test_of_a_published_split_texts_are_tested_from_its_test_part():
    pool = make_pool([part({"a": 9, "b": 9}), part({"a": 50, "b": 2}, "test ")], n_test=20)
    assert len(pool.test_texts) == 20
    assert all(text.startswith("test ") for text in pool.test_texts)
    assert len(pool.texts) == 18


def test_the_first_of_each_class_keep_their_order():
    labels = np.array(["b", "a", "b", "b", "a", "a"])
    assert first_of_each(labels, 2).tolist() == [0, 1, 2, 4]


def test_of_equally_frequent_classes_the_first_by_name_is_kept():
    labels = np.array(["c", "b", "a", "c"])
    assert frequent(labels, 2).tolist() == ["a", "c"]
    assert frequent(labels, None).tolist() == ["a", "b", "c"]


def test_headers_end_at_the_first_empty_line():
    assert without_headers("From: a\nSubject: b\n\nfirst\n\nsecond\n") == "first\n\nsecond"


# ------------------------------------------------------------------ encodings


class Lengths:
    """Encodes a text as its length; remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts):
        self.asked += texts
        return np.array([[len(text), 2.0] for text in texts], dtype=np.float32)


def test_a_text_is_encoded_once_and_kept(tmp_path):
    encoder = Lengths()
    first = Encodings(tmp_path / "encodings", encoder, "news")
    first(["one", "three", "one"])
    vectors = first(["three", "seven", "one"])
    assert encoder.asked == ["one", "three", "seven"]
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)
    np.testing.assert_allclose(vectors[:, 0] / vectors[:, 1], [2.5, 2.5, 1.5], rtol=1e-2)
    later = Encodings(tmp_path / "encodings", Lengths(), "news")
    assert (later(["three", "seven", "one"]) == vectors).all()
    assert np.load(tmp_path / "encodings" / "news.npy").dtype == np.float16


def test_an_empty_vector_stays_empty(tmp_path):
    vectors = Encodings(tmp_path, lambda texts: np.zeros((len(texts), 3), np.float32), "news")(["a"])
    assert vectors.tolist() == [[0, 0, 0]]


def test_vectors_and_keys_that_do_not_belong_together_are_refused(tmp_path):
    Encodings(tmp_path, Lengths(), "news")(["one", "two"])
    np.save(tmp_path / "news.npy", np.zeros((1, 2), np.float16))
    with pytest.raises(DataError, match="has 1 rows, its keys 2"):
        Encodings(tmp_path, Lengths(), "news")


def test_without_an_encoder_there_are_no_encodings(monkeypatch):
    monkeypatch.delenv("GENUS_ENCODER", raising=False)
    with pytest.raises(DataError, match="GENUS_ENCODER"):
        encodings("encoder", "news")


PLACES = {"goal": [1, 0], "match": [0.9, 0.1], "bank": [0, 1], "money": [0.1, 0.9], "x": [0.6, 0.4]}


def encode(texts):
    return np.array([PLACES[text] for text in texts], dtype=np.float32)


def test_without_labels_the_nearest_name_is_the_answer():
    model = EncodedLR(encode, {"finance": "bank", "sport": "goal"}).fit([], np.array([]))
    assert model.predict(["match", "money"]).tolist() == ["sport", "finance"]
    np.testing.assert_allclose(model.predict_proba(["match"]).sum(axis=1), 1)


def test_names_are_examples_beside_the_others():
    plain = EncodedLR(encode).fit(["match", "x"], np.array(["sport", "finance"]))
    named = EncodedLR(encode, {"finance": "bank", "sport": "goal"}).fit(["match", "x"], np.array(["sport", "finance"]))
    sure = [model.predict_proba(["goal"])[0, 1] for model in (plain, named)]
    assert sure[1] > sure[0]


# ------------------------------------------------------------------ means


def cells(scores: dict[tuple[str, str, int, str], float], error: float | None = None) -> Results:
    params = {} if error is None else {CALIBRATION: error}
    return Results(
        {
            (row_name(task, name, n), system): Cell(row_name(task, name, n), system, score, params=params)
            for (task, name, n, system), score in scores.items()
        }
    )


def lines(results: Results) -> dict[str, dict[str, tuple]]:
    return {plot.title: dict(plot.lines) for plot in means(results)}


def test_means_are_of_systems_that_have_every_set():
    found = lines(
        cells(
            {
                (EIGHT, "trec", 5, "genus"): 0.5,
                (EIGHT, "imdb", 5, "genus"): 0.7,
                (EIGHT, "trec", 5, "LR"): 0.9,
                (EIGHT, "trec", 10, "genus"): 0.8,
            },
            error=0.05,
        )
    )
    assert found["Mean accuracy"]["genus"] == ((5, pytest.approx(60)),)
    assert "LR" not in found["Mean accuracy"]
    assert found["Mean accuracy"]["target, eight sets"][0] == (5, 60)
    assert found["Expected calibration error"]["genus"] == ((5, pytest.approx(5)),)


def test_what_unlabeled_texts_add_is_in_points():
    found = lines(cells({(EIGHT, "trec", 5, "genus"): 0.5, (UNLABELED, "trec", 5, "genus"): 0.53}))
    assert found["Points that unlabeled texts add"]["genus"] == ((5, pytest.approx(3)),)


def test_nothing_measured_has_no_means():
    assert means(Results()) == []


# ------------------------------------------------------------------ the experiment


@pytest.mark.parametrize("quick", [False, True])
def test_rows_have_names_of_their_own_and_cells_can_be_sent_to_workers(quick):
    names = [row.name for row in rows(quick)]
    assert len(set(names)) == len(names)
    planned = experiment("few", quick=quick)
    measured = {row.task for row, _ in planned.cells}
    assert measured == {row.task for row in planned.rows}
    for row, system in planned.cells:
        pickle.dumps((row, system))


@pytest.fixture
def messages(tmp_path, monkeypatch):
    """A small sms_spam: what each class says is plain, most of the time."""
    rng = np.random.default_rng(0)
    own = {"ham": ["home", "dinner", "tomorrow", "love", "sleep"], "spam": ["win", "prize", "claim", "free", "cash"]}
    shared = ["now", "you", "call", "text", "the", "to", "a", "me"]
    folder = tmp_path / "data" / "sms_spam"
    folder.mkdir(parents=True)
    with open(folder / "all.jsonl", "w") as file:
        for i in range(80):
            label = ("ham", "spam")[i % 2]
            words = [*rng.choice(own[label], 2), *rng.choice(shared, 5)]
            file.write(json.dumps({"text": " ".join(words) + f" {i}", "label": label}) + "\n")
    monkeypatch.setenv("GENUS_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("GENUS_ENCODER", raising=False)
    return tmp_path


def test_the_command_measures_what_is_there(messages):
    out = messages / "out"
    assert main(["reproduce", "few", "--quick", "--out", str(out), "--jobs", "1"]) == 0
    found = json.loads((out / "results.json").read_text())
    rows = {row["name"]: row for row in found["rows"] if not row["absent"]}
    assert "sms_spam, 5 of each class" in rows
    scored = rows["sms_spam, 10 of each class"]["cells"]
    assert {"genus", "LinearSVC", "LR"} <= scored.keys()
    assert all(cell["score"] > 0.6 for cell in scored.values())
    assert 0 <= scored["genus"]["params"][CALIBRATION] <= 1
    assert any(row["absent"] and row["name"].startswith("trec") for row in found["rows"])
    page = (out / "index.html").read_text()
    assert "Mean accuracy" in page
    assert "target, eight sets" in page
