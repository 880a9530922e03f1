"""The benchmarks' own machinery, on texts made here."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

sys.path.insert(0, str(Path(__file__).parents[1]))  # the benchmarks are run from the checkout, never installed

from benchmarks import (
    choosing,
    counting,
    end_to_end,
    gibbs,
    latency,
    measure,
    memory,
    model_file,
    models,
    online,
    repeated_em,
    trees,
    vectors,
)
from benchmarks.bench import Bench
from benchmarks.corpora import Corpus, Part
from benchmarks.measure import Entry, Spread
from benchmarks.report import Table, Target, environment, print_environment, print_summary, write_json

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="cores and peaks are told by Linux")


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setattr(measure, "SHORT", 0.0)
    words = ["Öl ist teuer", "the match was lost", "shares fell again", "a late goal, a win"]
    texts = [f"{words[i % 4]} {i % 7} times" for i in range(60)]
    part = Part(texts, [("sport", "money")[i % 2] for i in range(60)])
    return Bench(repeat=2, quick=True, given={"synthetic": Corpus("synthetic", part, part.shuffled())})


def test_contestants_take_turns_on_their_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "SHORT", 0.0)
    before, turns = os.sched_getaffinity(0), []

    def note(name: str) -> Entry:
        return Entry(lambda: turns.append((name, len(os.sched_getaffinity(0)))) or name)

    result = measure.race({"a": note("a"), "b": note("b")}, rounds=3)
    assert turns == [("a", 1), ("b", 1)] * 3
    assert result.results == {"a": "a", "b": "b"}
    assert os.sched_getaffinity(0) == before


def test_ratios_are_paired_by_round() -> None:
    spread = Spread.of_ratios([10.0, 40.0, 6.0], [1.0, 2.0, 1.0])
    assert spread == (10.0, 6.0, 20.0)
    assert str(spread) == "10.0× (6.00–20.0)"


def test_missed_targets_are_told() -> None:
    table = Table("section", "Title", ("data", "task"))
    table.add(("set", "fit"), {}, 5.0, Target(3))
    table.add(("set", "predict"), {}, 0.5, Target(2))
    table.add(("set", "open"), {}, 120.0, Target(100, " ms", below=True))
    assert [record["met"] for record in table.records] == [True, False, False]
    console = Console(record=True, width=100, file=open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    table.print(console)
    print_summary(console, [table])
    console.file.close()
    shown = console.export_text()
    assert "✓ ≥ 3×" in shown
    assert "1 of 3 targets reached" in shown
    assert "section: set, open: 120 ms, wanted 100 ms" in shown


@pytest.mark.slow
@pytest.mark.parametrize(
    "section",
    [counting, vectors, models, gibbs, latency, memory, repeated_em, trees],
    ids=lambda module: module.__name__,
)
def test_section_runs_and_finds_equal_results(section, bench: Bench, tmp_path: Path) -> None:
    table = section.run(bench)
    assert table.rows
    assert all(len(row) == len(table.columns) + 1 for row in table.rows)
    assert all(record.get("equal", True) for record in table.records)
    write_json(tmp_path / "results" / "bench.json", environment(), [table])
    assert json.loads((tmp_path / "results" / "bench.json").read_text("utf-8"))["sections"][table.name]["records"]


def test_systems_without_an_environment_are_named_with_the_reason(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(end_to_end, "peer_environment", lambda _: "no network")
    table = end_to_end.run(bench)
    assert "no network" in table.note
    assert [record.get("error") for record in table.records] == [None, None, "no network", "no network"]
    ours, peer = (record["rounds"][0]["accuracy"] for record in table.records[:2])
    assert ours == peer


@pytest.mark.slow
def test_learning_online_is_measured_without_its_peers_too(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(online, "peer_environment", lambda _: "no network")
    table = online.run(bench)
    assert "no network" in table.note
    assert {record["task"] for record in table.records} >= {"texts, one pass", "counts, by MultinomialNB", "one by one"}
    assert table.records[0]["accuracy"] > 0.9


def test_peers_get_one_line_for_each_text(tmp_path: Path) -> None:
    file = tmp_path / "train"
    end_to_end.write_input(file, Part(["One\ntwo: |three", "Ärger"], ["x", "y"]), {"x": 1, "y": 2}, "{} | ")
    assert file.read_text("utf-8") == "1 | one two three\n2 | ärger\n"


def test_synthetic_model_has_the_wanted_size_and_answers(tmp_path: Path) -> None:
    model = model_file.synthetic_model(5)
    model.save(tmp_path / "model.genus")
    assert 4e6 < (tmp_path / "model.genus").stat().st_size < 7e6
    assert model.predict(["word1 word2"]).shape == (1,)


def test_absent_sets_are_skipped_and_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GENUS_DATA", str(tmp_path))
    bench = Bench()
    assert list(bench.corpora()) == []
    assert "imdb" in bench.absent


def test_environment_names_versions(capsys: pytest.CaptureFixture[str]) -> None:
    print_environment(Console(width=200), environment())
    assert "scikit-learn" in capsys.readouterr().out


def test_test_parts_have_their_share_of_every_class() -> None:
    from genus.experiments.papers.peers import _drawn

    labels = np.repeat(["a", "b", "c"], [100, 31, 7])
    train, test = _drawn(labels, seed=3)
    assert sorted([*train, *test]) == list(range(len(labels)))
    shares = {c: int(np.sum(labels[test] == c)) for c in "abc"}
    assert all(abs(shares[c] - 0.3 * np.sum(labels == c)) < 1.01 for c in "abc")
    assert np.array_equal(_drawn(labels, seed=3)[1], test)
    assert not np.array_equal(_drawn(labels, seed=4)[1], test)


def test_choosing_and_answering_are_timed_beside_a_grid_search(bench: Bench) -> None:
    table = choosing.run(bench)
    assert [record["task"] for record in table.records] == ["choose", "answer"]
    assert all(set(record["seconds"]) == {"LinearSVC", "genus"} for record in table.records)
    assert table.records[1]["right"] == {"LinearSVC": 1.0, "genus": 1.0}


def test_accuracy_is_measured_beside_tuned_peers(capsys: pytest.CaptureFixture[str]) -> None:
    from benchmarks import accuracy

    from helpers.tickets import tickets

    texts, labels = tickets(60)
    test_texts, test_labels = tickets(30, seed=1)
    task = accuracy.Task("tickets", texts, np.array(labels), test_texts, np.array(test_labels))
    drawn = accuracy.few(task, 5, seed=0, n_unlabeled=20)
    assert len(drawn.texts) == 15
    assert len(drawn.unlabeled) == 20
    assert not set(drawn.unlabeled) & set(drawn.texts)
    results, names = {}, ["genus", "ComplementNB", "NBSVM"]
    for given in (task, drawn):
        cells = {
            name: accuracy.measure(given, accuracy.CONTESTANTS[name]) for name in ("genus", "ComplementNB", "NBSVM")
        }
        assert all(cell["accuracy"] > 0.6 for cell in cells.values())
        assert 0 <= cells["genus"]["calibration_error"] <= 1
        results[given.name] = cells
    results["tickets, 5 each, unlabelled, draw 1"] = results[drawn.name]
    accuracy.tables(results, names, Console(width=160))
    shown = capsys.readouterr().out
    assert "mean rank" in shown
    assert "of 2" in shown  # draws of one task are one row


def test_sets_of_labels_are_measured_on_all_labels_and_all_over_a_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmarks import label_sets

    from helpers.tickets import tagged

    folder = tmp_path / "topics"
    folder.mkdir()
    for part, seed in (("train", 0), ("test", 1)):
        texts, labels = tagged(120, seed)
        rows = [
            {"text": text, "labels": sorted(own), "label": min(own, default="none"), "date": i}
            for i, (text, own) in enumerate(zip(texts, labels, strict=True))
        ]
        (folder / f"{part}.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")
    monkeypatch.setenv("GENUS_DATA", str(tmp_path))
    monkeypatch.setattr(label_sets, "MOST", 60)
    task = label_sets.load_task("topics")
    texts, labels = tagged(120, 0)
    assert (task.texts[0], task.texts[-1], len(task.texts)) == (texts[0], texts[-1], 60)
    assert task.labels[-1] == labels[-1]
    assert max(map(len, task.labels)) > 1
    facts = {name: label_sets.measure(task, name) for name in ("genus", "LinearSVC")}
    assert all(facts[name][measured] > 0.6 for name in facts for measured in ("P@1", "miF1", "exF1"))
