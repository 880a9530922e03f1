"""Worker processes, each with its share of the cores. None outlives the run, however it ends."""

from __future__ import annotations

import multiprocessing as mp
import os
import signal
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection, wait

from genus.experiments.harness.run import Absent, Bench, Task
from genus.experiments.harness.table import Cell

_PATIENCE = 5.0  # seconds for a worker to end when it is told to


def in_workers(tasks: Sequence[Task], jobs: int) -> Iterator[tuple[int, Cell | Absent]]:
    """The workers' results, as they arrive.

    Of a worker that is killed, the cell at hand fails, and a new worker goes on with those after it.
    """
    waiting = deque(tasks)
    busy: dict[Connection, _Worker] = {}

    def start(cores: set[int]) -> None:
        if waiting:
            worker = _Worker(cores)
            busy[worker.connection] = worker
            worker.give(waiting.popleft())

    try:
        for cores in _shares(jobs):
            start(cores)
        while busy:
            for worker in [busy[ready] for ready in wait(list(busy))]:  # type: ignore[index]
                try:
                    said = worker.connection.recv()
                except (EOFError, OSError):
                    worker.end()
                    del busy[worker.connection]
                    said, rest = worker.lost()
                    waiting.extendleft(rest)
                    start(worker.cores)
                    yield said
                    continue
                if said is not None:
                    yield worker.task.experiment, said
                    worker.task = replace(worker.task, cells=worker.task.cells[1:])
                elif waiting:
                    worker.give(waiting.popleft())
                else:
                    worker.end()
                    del busy[worker.connection]
    finally:
        for worker in busy.values():
            worker.end()


def _shares(jobs: int) -> list[set[int]]:
    """The cores that this process may use, divided among the workers."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))
    return [set(cores[i::jobs]) or {cores[i % len(cores)]} for i in range(jobs)]


class _Worker:
    """A process, the cores it may use, and what is left of the task it was given."""

    task: Task

    def __init__(self, cores: set[int]) -> None:
        self.cores = cores
        context = mp.get_context("spawn")
        self.connection, other = context.Pipe()
        self._process = context.Process(target=_work, args=(other, cores), daemon=True)
        self._process.start()
        other.close()  # so that what it says ends with the process

    def give(self, task: Task) -> None:
        self.task = task
        with suppress(OSError):  # it has ended: to be heard from the connection
            self.connection.send(task)

    def lost(self) -> tuple[tuple[int, Cell], list[Task]]:
        """The cell that was measured when the process ended, as failed; and the task of those after it."""
        (row, system), *rest = self.task.cells
        cell = Cell(row.name, system.name, error=f"its process ended with {self._process.exitcode}")
        return (self.task.experiment, cell), [replace(self.task, cells=tuple(rest))] if rest else []

    def end(self) -> None:
        self._process.terminate()
        self._process.join(_PATIENCE)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self.connection.close()


def _work(connection: Connection, cores: set[int]) -> None:
    """Measure tasks as they come, until the run ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run itself is stopped, and ends its workers
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)
    bench = Bench()
    while True:
        task: Task = connection.recv()
        for said in bench.measure(task):
            connection.send(said)
        connection.send(None)


def _end_with_parent() -> None:
    parent = mp.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
