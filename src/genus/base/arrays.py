"""Plain arrays that travel between the parts of genus without validation or copying."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]
Float64 = NDArray[np.float64]
UInt64 = NDArray[np.uint64]
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
        with _named_damage():
            return [raw[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(self.offsets.tolist())]

    def at(self, i: int) -> str:
        with _named_damage():
            return self.blob[self.offsets[i] : self.offsets[i + 1]].tobytes().decode("utf-8", "surrogatepass")

    def take(self, numbers: Int64) -> Strings:
        """Some of the strings."""
        starts = self.offsets[numbers]
        lengths = self.offsets[numbers + 1] - starts
        offsets = np.zeros(len(numbers) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        return Strings(self.blob[np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])], offsets)


@contextmanager
def _named_damage() -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as error:
        raise ValueError(f"a word must be UTF-8, got {error.object[:40]!r}: the model file is damaged.") from None


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


# What opening a file checks in full: arrays of so many items cost about a millisecond. Larger ones are checked before
# they are first used by code that does not look at its indices itself.
CHECKED_AT_ONCE = 1 << 18


def check_bounds(name: str, bounds: Int64, end: int) -> None:
    """Raise ValueError unless these are bounds of parts that lie one after the other, from 0 to the end."""
    # Compared, not subtracted: differences of wild numbers wrap around.
    if not len(bounds) or bounds[0] != 0 or bounds[-1] != end or not (bounds[1:] >= bounds[:-1]).all():
        raise ValueError(f"{name} must rise from 0 to {end:,}: the file is damaged.")


def check_within(name: str, numbers: NDArray[np.integer], n: int) -> None:
    """Raise ValueError unless all numbers are positions in n things."""
    if len(numbers) and not (numbers.min() >= 0 and numbers.max() < n):
        wrong = numbers.min() if numbers.min() < 0 else numbers.max()
        raise ValueError(f"{name} must hold numbers from 0 to {n - 1:,}, got {wrong:,}: the file is damaged.")


_MOST_THREADS = 256


def unit_vectors(vectors: NDArray[Any]) -> NDArray[Any]:
    """Rows of length one; rows of zeros stay so."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0))


def n_threads(n_jobs: int | None) -> int:
    """The number of threads that ``n_jobs`` asks for: None and -1 mean every core this process may use.

    At most 256, or the number of cores: more only cost memory.
    """
    if n_jobs is None:
        return available_cores()
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0:
        raise ValueError(f"n_jobs must be None or a non-zero integer, got {n_jobs!r}.")
    cores = available_cores()
    return min(int(n_jobs), max(_MOST_THREADS, cores)) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def available_cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every platform
        return os.cpu_count() or 1


def describe(value: object) -> str:
    """A short name of what came, for error messages."""
    return type(value).__name__


def mix64(x: UInt64) -> UInt64:
    """SplitMix64's finaliser: 64 bits of which each depends on all of the input."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
