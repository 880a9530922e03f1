"""Plain arrays that travel between the parts of genus without validation or copying."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]
Float64 = NDArray[np.float64]
Float32 = NDArray[np.float32]
Seed = int | np.random.RandomState | None
State = Mapping[str, Any]  # what was learned, as a model file gives it: of any type until it is checked
AnyFloat = NDArray[np.float64] | NDArray[np.float32]


class Strings(NamedTuple):
    """Many strings as UTF-8 bytes and ``n + 1`` offsets into them: they map from a file without parsing."""

    blob: NDArray[np.uint8]
    offsets: Int64

    @classmethod
    def pack(cls, strings: Iterable[str]) -> Strings:
        encoded = [s.encode("utf-8", "surrogatepass") for s in strings]
        offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(s) for s in encoded], out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def unpack(self) -> list[str]:
        raw = self.blob.tobytes()
        return [raw[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(self.offsets.tolist())]

    def at(self, i: int) -> str:
        return self.blob[self.offsets[i] : self.offsets[i + 1]].tobytes().decode("utf-8", "surrogatepass")

    def take(self, numbers: Int64) -> Strings:
        """Some of the strings."""
        starts = self.offsets[numbers]
        lengths = self.offsets[numbers + 1] - starts
        offsets = np.zeros(len(numbers) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        return Strings(self.blob[np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])], offsets)


class GrowingStrings:
    """Strings that are added to often: an addition costs as much as what is added, not as all there are."""

    def __init__(self, strings: Strings) -> None:
        self.strings = strings
        self._rooms: list[NDArray[Any]] = [*strings]  # arrays that begin with what the strings hold

    def add(self, added: Strings) -> Strings:
        """All strings, as views of arrays that have room for more."""
        self._append(0, self.strings.blob, added.blob)
        self._append(1, self.strings.offsets, added.offsets[1:] + self.strings.offsets[-1])
        blob, offsets = self._rooms
        n_strings = len(self.strings) + len(added)
        self.strings = Strings(blob[: offsets[n_strings]], offsets[: n_strings + 1])
        return self.strings

    def _append(self, i: int, values: NDArray[np.integer], more: NDArray[np.integer]) -> None:
        n, end = len(values), len(values) + len(more)
        if end > len(self._rooms[i]):
            self._rooms[i] = np.empty(end + end // 2, dtype=values.dtype)
            self._rooms[i][:n] = values
        self._rooms[i][n:end] = more


def n_threads(n_jobs: int | None) -> int:
    """The number of threads that ``n_jobs`` asks for: None and -1 mean every core this process may use."""
    if n_jobs is None:
        return available_cores()
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0:
        raise ValueError(f"n_jobs must be None or a non-zero integer, got {n_jobs!r}.")
    return int(n_jobs) if n_jobs > 0 else max(1, available_cores() + 1 + int(n_jobs))


def available_cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every platform
        return os.cpu_count() or 1


def describe(value: object) -> str:
    """A short name of what came, for error messages."""
    return type(value).__name__
