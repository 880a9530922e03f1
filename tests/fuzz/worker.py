"""Cases run in a process of their own."""

from __future__ import annotations

import multiprocessing
import resource
from multiprocessing.connection import Connection

from fuzz.cases import Case, run

LIMIT = 30.0  # seconds for one case
MEMORY = 8 * 2**30


def work(pipe: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    while True:
        case = pipe.recv()
        pipe.send(run(case.base, case.content()))


class Worker:
    """A process that runs cases, and is begun anew after a crash."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._pipe, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.get_context("spawn").Process(target=work, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def run(self, case: Case) -> list[str]:
        self._pipe.send(case)
        try:
            if self._pipe.poll(LIMIT):
                found: list[str] = self._pipe.recv()
                return found
            what = f"no answer in {LIMIT:.0f} s"
            self._process.kill()
        except (EOFError, ConnectionError):
            what = ""
        self._process.join()
        what = what or f"crash: exit code {self._process.exitcode}"
        self._begin()
        return [f"{what} ({case.base})"]
