"""Experiments in worker processes: the same results, whatever fails, is killed or stopped; and no process is left."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from genus.experiments.harness.settings import Trials
from genus.experiments.harness.table import Experiment, Measured, Row, System


@pytest.fixture
def no_workers():
    """Whether all processes that a test started have ended; other tests may have left some of their own."""
    before = set(multiprocessing.active_children())
    return lambda: not set(multiprocessing.active_children()) - before


@dataclass(frozen=True)
class Settings:
    splits: int = 3


@dataclass(frozen=True)
class Counts:
    X: np.ndarray
    y: np.ndarray
    sizes: tuple[int, ...] = (6, 2, 40, 20)


def counts(seed: int) -> Counts:
    rng = np.random.default_rng(seed)
    y = np.arange(60) % 2
    return Counts(rng.poisson(np.where(y[:, None] == np.arange(6) % 2, 0.7, 0.4)), y)


class PlainNB:
    """Naive Bayes in NumPy alone: every process imports this module, and genus's own brings scikit-learn in."""

    def __init__(self, alpha: float) -> None:
        self.alpha = alpha

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        sums = np.array([X[y == c].sum(axis=0) for c in range(2)]) + self.alpha
        self.log_p = np.log(sums / sums.sum(axis=1, keepdims=True))

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.argmax(X @ self.log_p.T, axis=1)


def naive(alpha: float, problem: Counts, settings: Settings) -> Measured:
    trials = Trials()
    for split in range(settings.splits):
        order = np.random.default_rng(split).permutation(60)
        train, test = order[:40], order[40:]
        trials.add(PlainNB(alpha), problem.X[train], problem.y[train], problem.X[test], problem.y[test])
    return trials.measured()


def failing(problem: Counts, settings: Settings) -> Measured:
    raise ValueError("no luck")


def killed(problem: Counts, settings: Settings) -> Measured:
    """As the operating system does it when memory runs out."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def slow(problem: Counts, settings: Settings) -> Measured:
    time.sleep(60)
    raise AssertionError


def planned(*others: System) -> Experiment:
    systems = [System("one", partial(naive, 1.0)), *others, System("tenth", partial(naive, 0.1))]
    rows = [Row(f"seed {seed}", "made up", partial(counts, seed)) for seed in range(3)]
    return Experiment("small", "Small", "nobody", "accuracy", "once.", rows, systems, Settings(), "one", "tenth")


def scores(results) -> dict:
    return {key: (cell.score, cell.folds) for key, cell in results.cells.items()}


@pytest.mark.parametrize("jobs", [2, 3])
def test_any_number_of_jobs_gives_the_same(jobs, tmp_path, no_workers):
    told = []
    alone, together = planned().run(), planned().run(tmp_path, told.append, jobs)
    assert scores(together) == scores(alone)
    assert list(together.cells) == list(alone.cells)
    assert len(told) == 6
    assert len(list((tmp_path / "cells").iterdir())) == 6
    assert no_workers()


def test_cells_with_work_in_common_are_measured_in_one_process():
    shared = replace(planned(), shared=lambda row, system: row.name)
    assert scores(shared.run(jobs=2)) == scores(planned().run())


def test_a_cell_that_fails_or_is_killed_leaves_the_others(no_workers):
    for broken, said in ((failing, "ValueError: no luck"), (killed, "its process ended with -9")):
        together = replace(planned(System("broken", broken)), shared=lambda row, system: row.name)
        found = together.run(jobs=2)
        assert {cell.error for (_, system), cell in found.cells.items() if system == "broken"} == {said}
        assert {key: value for key, value in scores(found).items() if key[1] != "broken"} == scores(planned().run())
    assert no_workers()


def test_a_stopped_run_ends_its_workers_and_keeps_what_is_done(tmp_path, no_workers):
    def stop(cell):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        planned(System("slow", slow)).run(tmp_path, stop, jobs=2)
    assert no_workers()
    assert len(list((tmp_path / "cells").iterdir())) == 1
    told = []
    planned().run(tmp_path, told.append, jobs=2)
    assert len(told) == 6


SCRIPT = """
import sys
sys.path.insert(0, {folder!r})
from pathlib import Path
from test_workers import System, planned, slow
if __name__ == "__main__":
    planned(System("slow", slow)).run(Path({out!r}), lambda cell: print(cell.row, flush=True), jobs=2)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_workers_do_not_outlive_a_killed_run(how, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(folder=str(Path(__file__).parent), out=str(tmp_path / "out")))
    running = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert running.stdout is not None
    assert running.stdout.readline()  # the first cell is there, both workers are at work
    workers = children(running.pid)
    running.send_signal(how)
    running.wait(10)
    running.stdout.close()
    deadline = time.monotonic() + 10
    while any(map(alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(workers) >= 2
    assert not any(map(alive, workers))
    cells = [json.loads(file.read_text()) for file in (tmp_path / "out" / "cells").glob("*.json")]
    assert cells
    assert all(stored["cell"]["score"] for stored in cells)


def children(pid: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(stat.parent.name))
        except OSError:  # gone meanwhile
            continue
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
