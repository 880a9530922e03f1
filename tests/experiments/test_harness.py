"""Experiments: cells measured, kept, resumed and reported; the paper's own statements about its table."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from genus.cli import main
from genus.errors import DataError
from genus.experiments import PAPERS, experiment
from genus.experiments.harness.store import code_checksum, data_checksum
from genus.experiments.harness.table import Experiment, Measured, Results, Row, System
from genus.experiments.pages import statements as statements
from genus.experiments.pages.page import make_page
from genus.experiments.pages.summary import to_dict
from genus.experiments.papers.tdm import (
    QUICK,
    TABLE_1,
    TABLE_2,
    Problem,
    development_sample,
    load_problem,
    micro_f,
    rows_in_runs,
    systems,
)
from genus.models.document_mixture.models import TiedDocumentMixture


@dataclass(frozen=True)
class Budget:
    points: int = 1


@dataclass(frozen=True)
class Sized:
    sizes: tuple[int, ...] = (10, 2, 20, 5)


class Counted:
    """A system that counts how often it is measured."""

    def __init__(self, score: float, error: type[BaseException] | None = None) -> None:
        self.score, self.error, self.calls = score, error, 0

    def __call__(self, problem, settings) -> Measured:
        self.calls += 1
        if self.error:
            raise self.error("no luck\nat all")
        return Measured(self.score, 0.5, {"a": np.float64(0.25)}, settings.points)


def missing() -> None:
    raise DataError("no such data set")


def small(*counted: Counted) -> Experiment:
    names, spam = ["MNB", "TDM", "SVM"], frozenset({"spam"})
    return Experiment(
        name="small", title="A <small> table", source="nobody", metric="accuracy", protocol="once",
        rows=[
            Row("one", "spam", Sized, {"MNB": 90.0, "TDM": 95.0}, (10, 2, 200, 5)),
            Row("two", "multi-label", Sized),
            Row("gone", "spam", None, {"MNB": 80.0, "TDM": 81.0}, (10, 2, 2000, 5), "ask for it"),
            Row("lost", "spam", missing),
        ],
        systems=[System(n, c, spam if n == "SVM" else None) for n, c in zip(names, counted, strict=True)],
        settings=Budget(), baseline="MNB", improved="TDM",
    )  # fmt: skip


def test_cells_are_measured_where_there_is_data():
    counted = Counted(0.9), Counted(0.94), Counted(0.8)
    results = small(*counted).run()
    assert results.scores("one") == pytest.approx({"MNB": 90, "TDM": 94, "SVM": 80})
    assert results.scores("two").keys() == {"MNB", "TDM"}
    assert results.absent == {"gone": "ask for it", "lost": "no such data set"}


def test_a_failing_cell_is_reported_and_the_rest_goes_on():
    planned = small(Counted(0.9), Counted(0, ValueError), Counted(0.8))
    results = planned.run()
    assert results.cells["one", "TDM"].error == "ValueError: no luck"
    assert results.scores("one").keys() == {"MNB", "SVM"}
    assert "ValueError: no luck" in make_page(planned, results)


def test_a_stopped_run_goes_on_where_it_was(tmp_path):
    counted = Counted(0.9), Counted(0, KeyboardInterrupt), Counted(0.8)
    with pytest.raises(KeyboardInterrupt):
        small(*counted).run(tmp_path)
    counted[1].error = None
    results = small(*counted).run(tmp_path)
    assert [c.calls for c in counted] == [2, 3, 1]  # two rows, one row without SVM; the stopped cell twice
    small(*counted).run(tmp_path)
    assert [c.calls for c in counted] == [2, 3, 1]
    assert results.cells["one", "MNB"].params == {"a": 0.25}


def test_failed_damaged_and_differently_measured_cells_are_measured_again(tmp_path):
    counted = Counted(0.9), Counted(0.9, ValueError), Counted(0.8)
    planned = small(*counted)
    planned.run(tmp_path)
    next((tmp_path / "cells").glob("one-MNB*")).write_text('{"how": ')
    planned.run(tmp_path)
    assert [c.calls for c in counted] == [3, 4, 1]
    replace(planned, settings=Budget(points=2)).run(tmp_path)
    assert counted[2].calls == 2


def write_data(folder, text: str) -> None:
    (folder / "tiny").mkdir(parents=True, exist_ok=True)
    (folder / "tiny" / "all.jsonl").write_text(json.dumps({"text": text, "label": "a"}) + "\n")


def test_cells_of_changed_data_are_measured_again_and_others_are_not(tmp_path, monkeypatch):
    monkeypatch.setenv("GENUS_DATA", str(tmp_path / "data"))
    write_data(tmp_path / "data", "one text")
    counted = Counted(0.9), Counted(0.94), Counted(0.8)
    planned = small(*counted)
    planned = replace(planned, rows=[replace(planned.rows[0], data=("tiny",)), planned.rows[1]])
    planned.run(tmp_path / "out")
    planned.run(tmp_path / "out")
    assert [c.calls for c in counted] == [2, 2, 1]
    write_data(tmp_path / "data", "another text")
    planned.run(tmp_path / "out")
    assert [c.calls for c in counted] == [3, 3, 2]  # the first row alone
    (tmp_path / "data" / "tiny" / "all.jsonl").unlink()
    absent = planned.run(tmp_path / "out").absent
    assert "no data set 'tiny'" in absent["one"]


def test_cells_of_other_code_are_measured_again(tmp_path, monkeypatch):
    counted = Counted(0.9), Counted(0.94), Counted(0.8)
    small(*counted).run(tmp_path)
    monkeypatch.setattr("genus.experiments.harness.store.code_checksum", lambda: "other")
    small(*counted).run(tmp_path)
    assert [c.calls for c in counted] == [4, 4, 2]


def test_checksums_are_of_contents(tmp_path, monkeypatch):
    assert code_checksum() == code_checksum()
    monkeypatch.setenv("GENUS_DATA", str(tmp_path))
    write_data(tmp_path, "one text")
    before = data_checksum(["tiny"])
    write_data(tmp_path, "one test")
    assert data_checksum(["tiny"]) != before
    assert data_checksum([]) != before


@pytest.mark.parametrize("paper", PAPERS)
def test_every_row_that_reads_data_names_them(paper):
    made_here = {"table 2", "shapes", "exclusive or"}
    for row in experiment(paper).rows:
        assert bool(row.data) == (row.load is not None and row.task not in made_here), row.name
        assert row.load is not None or row.note, row.name  # how to get it


def test_results_say_everything_and_the_page_is_well_formed():
    planned = small(Counted(0.9), Counted(0.95), Counted(0.8))
    results = planned.run()
    found = json.loads(json.dumps(to_dict(planned, results)))
    assert found["settings"] == {"points": 1}
    assert found["rows"][0]["cells"]["TDM"]["paper"] == 95
    assert found["rows"][2]["absent"]
    assert not found["rows"][2]["cells"]
    page = make_page(planned, results)
    assert "A &lt;small&gt; table" in page
    assert "http" not in page.replace("http-equiv", "")
    assert_well_formed(page)
    assert_well_formed(make_page(planned, Results()))


def assert_well_formed(page: str) -> None:
    class Checker(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.open: list[str] = []

        def handle_starttag(self, tag, attrs):
            if tag != "meta":
                self.open.append(tag)

        def handle_startendtag(self, tag, attrs):
            pass

        def handle_endtag(self, tag):
            assert self.open.pop() == tag

    checker = Checker()
    checker.feed(page)
    assert not checker.open


def test_error_reduction_of_a_perfect_baseline_is_not_a_number():
    assert np.isnan(statements.error_reduction(100.0, 99.0))


# What the paper says about its own table: a check of every figure copied from it


@pytest.fixture(scope="module")
def paper() -> tuple[Experiment, Results]:
    return experiment("tdm"), Results()


def test_the_papers_mean_error_reductions(paper):
    reductions = {r.task: r.paper for r in statements.error_reductions(*paper)}
    printed = {"spam": 65.6, "sentiment": 26.1, "multi-class": 6.9, "multi-label": 8.3}
    assert reductions == pytest.approx(printed, abs=0.1)  # of scores that were not yet rounded


def test_the_papers_mean_differences(paper):
    found = {t.second: t for t in statements.paired_tests(paper[0], statements.both(*paper)["paper"])}
    assert found["MNB"].difference > 2.5
    assert found["MNB"].mark == "‡"
    assert found["KNN"].difference > 5.3
    assert found["KNN"].mark == "‡"
    assert round(found["LR+"].difference - found["SVM+"].difference, 2) == 1.06  # to the next best
    assert found["SVM+"].mark == ""


def test_the_papers_figure_3_was_drawn_from_the_sizes_as_printed(paper):
    printed = {"R8": (14575, 8, 2785, 1396), "R52": (16145, 52, 5485, 2189), "WebKb": (7287, 4, 6532, 2568)}
    rows = [replace(row, sizes=printed.get(row.name, row.sizes)) for row in paper[0].rows]
    fit = statements.logarithmic_fit(statements.figure(replace(paper[0], rows=rows), Results())["paper"])
    assert fit is not None
    assert fit[2] == pytest.approx(0.2999, abs=0.0005)


def test_the_papers_table_is_complete():
    assert len(TABLE_2) == len(TABLE_1) == 14
    assert [len(scores) for scores in TABLE_2.values()] == [8] * 11 + [4] * 3
    assert "tdm" in PAPERS


# The tied document mixture's systems, on data made up


def made_up(n: int, seed: int = 0, multilabel: bool = False) -> Problem:
    """Each label has words of its own among many common ones."""
    rng = np.random.default_rng(seed)
    kinds = ["a", "b", "ab"] if multilabel else ["a", "b"]
    sets = [frozenset(kinds[i]) for i in rng.integers(len(kinds), size=n)]
    means = np.array([[1.0] * 8 + [0.8 * ("a" in s)] * 4 + [0.8 * ("b" in s)] * 4 for s in sets])
    X = sparse.csr_matrix(rng.poisson(means).astype(np.float64))
    half = n // 2
    return Problem(X[:half], X[half:], sets[:half], sets[half:], multilabel)


@pytest.mark.parametrize("system", systems(), ids=lambda system: system.name)
def test_every_system_learns(system):
    done = system.measure(made_up(200), QUICK)
    assert done.score > 0.8
    assert done.development > 0.8
    again = system.measure(made_up(200), QUICK)
    assert (done.score, done.params) == (again.score, again.params)
    assert done.fit_seconds > 0


@pytest.mark.parametrize("system", [s for s in systems() if s.tasks is None], ids=lambda system: system.name)
def test_label_sets_are_learned(system):
    assert system.measure(made_up(300, multilabel=True), QUICK).score > 0.7


def test_runs_are_held_out_whole():
    problem = replace(made_up(200), run=10)
    done = systems()[1].measure(problem, QUICK)
    assert done.score > 0.8
    sample = development_sample(problem.X_train, QUICK, 10)
    assert all((sample // 10 == run).sum() == 10 for run in set(sample // 10))
    assert len(rows_in_runs(1000, 100, 1, 0)) == 100


def test_an_interrupted_search_stops_the_run(monkeypatch):
    calls = []

    def stop(self, X, y, sample_weight=None):
        calls.append(X)
        if len(calls) > 3:
            raise KeyboardInterrupt
        return original(self, X, y, sample_weight)

    original = TiedDocumentMixture.leave_one_out_log_proba
    monkeypatch.setattr(TiedDocumentMixture, "leave_one_out_log_proba", stop)
    with pytest.raises(KeyboardInterrupt):
        systems()[1].measure(made_up(60), QUICK)


def test_micro_f_is_the_accuracy_for_one_label_each():
    truth = [frozenset(x) for x in "aabc"]
    assert micro_f(truth, [frozenset(x) for x in "abbc"]) == 0.75
    assert micro_f([frozenset()], [frozenset()]) == 1.0


# The command


@pytest.fixture
def data(tmp_path, monkeypatch) -> str:
    """Two of the quick run's data sets, tiny."""
    folder = tmp_path / "data"
    rng = np.random.default_rng(0)

    def write(name: str, part: str, rows: list[dict]) -> None:
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / f"{part}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    words = {"earn": "profit net share dividend", "crude": "oil barrel opec crude"}
    for part, n in (("train", 30), ("test", 12)):
        labels = [sorted(words)[i % 2] for i in range(n)]
        texts = [" ".join(rng.choice([*words[label].split(), "the", "reuter"], 6)) for label in labels]
        rows = [{"text": t, "label": label} for t, label in zip(texts, labels, strict=True)]
        write("r8-stemmed", part, [*rows, {"text": "", "label": "earn"}])
        write(
            "mulan_medical",
            part,
            [
                {"counts": dict.fromkeys(t.split(), 1), "labels": [label]}
                for t, label in zip(texts, labels, strict=True)
            ],
        )
    monkeypatch.delenv("GENUS_DEBUG", raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    return str(folder)


def test_empty_training_documents_are_left_out(data, monkeypatch):
    monkeypatch.setenv("GENUS_DATA", data)
    problem = load_problem("r8-stemmed")
    assert problem.sizes[2:] == (30, 13)


def test_balanced_test_documents_are_drawn(data, monkeypatch):
    monkeypatch.setenv("GENUS_DATA", data)
    problem = load_problem("r8-stemmed", test_per_class=5)
    assert sorted(map(min, problem.test)) == ["crude"] * 5 + ["earn"] * 5
    assert problem.X_test.shape[0] == 10


def test_reproduce_prints_the_table_and_goes_on(data, tmp_path, capsys):
    out = tmp_path / "out"
    command = ["reproduce", "tdm", "--quick", "--data", data, "--out", str(out)]
    assert main([*command, "--jobs", "2"]) == 0
    said = capsys.readouterr()
    assert "R8 TDM: " in said.err
    assert "absent" in said.out
    assert max(map(len, said.out.splitlines())) <= 80
    found = json.loads((out / "results.json").read_text())
    assert {row["name"] for row in found["rows"] if row["cells"]} == {"R8", "Medical"}
    assert (out / "index.html").read_text().startswith("<!doctype html>")

    times = {file: file.stat().st_mtime_ns for file in (out / "cells").iterdir()}
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == found["rows"]
    assert times == {file: file.stat().st_mtime_ns for file in (out / "cells").iterdir()}


def test_all_papers_make_one_report_that_goes_on(tmp_path, capsys, monkeypatch):
    measured = []

    def planned(paper, *, quick):
        def score(problem, settings):
            measured.append(paper)
            if paper == "rtm":
                raise ValueError("too hot")
            return Measured(0.9, None, {}, 1)

        rows = [Row("news", "topic", lambda: SimpleNamespace(sizes=(9, 2, 5, 3)), {"NB": 89.5}), Row("lost", "topic")]
        return Experiment(
            paper,
            f"the {paper} table",
            "a paper",
            "accuracy",
            "one split.",
            rows,
            [System("NB", score)],
            Nothing(),
            "NB",
            "NB",
        )

    monkeypatch.setattr("genus.cli.reproduce.experiment", planned)
    out = tmp_path / "report"
    assert main(["reproduce", "all", "--quick", "--jobs", "1", "--out", str(out)]) == 0
    assert measured == list(PAPERS)
    front = (out / "index.html").read_text()
    assert all(f'href="{paper}/index.html"' in front and (out / paper / "index.html").is_file() for paper in PAPERS)
    assert "A quick run" in front
    assert "too hot" in (out / "rtm" / "index.html").read_text()
    found = json.loads((out / "results.json").read_text())
    assert found["tdm"]["rows"][0]["cells"]["NB"]["score"] == 0.9
    assert "same" in (out / "tdm" / "index.html").read_text()
    capsys.readouterr()

    assert main(["reproduce", "--quick", "--jobs", "1", "--out", str(out)]) == 0  # only what failed is measured again
    assert measured == [*PAPERS, "rtm"]


@dataclass(frozen=True)
class Nothing:
    """Settings of an experiment that has none."""


def test_reproduce_stopped_says_so_in_one_line(data, tmp_path, capsys, monkeypatch):
    def stop(planned, tell, jobs):
        raise KeyboardInterrupt

    monkeypatch.setattr("genus.experiments.harness.run.run", stop)
    assert main(["reproduce", "tdm", "--data", data, "--out", str(tmp_path / "out")]) == 130
    assert capsys.readouterr().err == "genus: stopped; run the same command to continue\n"


def test_reproduce_without_data_says_what_to_do(tmp_path, capsys):
    before = os.environ.get("GENUS_DATA")
    assert main(["reproduce", "tdm", "--quick", "--data", str(tmp_path)]) == 1
    assert os.environ.get("GENUS_DATA") == before
    assert "GENUS_DATA" in capsys.readouterr().err
    assert main(["reproduce", "tdm", "--data", str(tmp_path / "nowhere")]) == 2
    assert main(["reproduce", "nothing"]) == 2
