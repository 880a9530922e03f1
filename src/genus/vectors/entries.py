"""The entries of a table of word vectors, checked: their names, their vectors, and what finds them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genus import _core
from genus.base.arrays import Strings
from genus.text.encoder import Float32

LARGEST = 1e20  # numbers beyond this could overflow when the vectors of a long text are added
_ROWS = 1 << 14  # checked at a time

Vectors = NDArray[np.int8] | Float32


@dataclass(frozen=True, eq=False)
class Entries:
    """Words, pairs of words and pieces of words with a vector each."""

    words: Strings
    vectors: Vectors  # (n, d); bytes are multiplied by the scale of their row
    scales: Float32 | None
    lowercase: bool  # texts are lower-cased before their words are looked up
    pieces: bool  # entries "##..." continue words that have no entry
    about: Mapping[str, str]  # licence and such
    table: NDArray[np.uint64]
    marks: NDArray[np.uint8]

    @classmethod
    def checked(
        cls,
        words: Strings,
        vectors: NDArray[Any],
        scales: NDArray[Any] | None = None,
        *,
        lowercase: bool | None = None,
        pieces: bool | None = None,
        about: Mapping[str, str] | None = None,
    ) -> Entries:
        """Whatever does not fit together is a ValueError.

        By default texts are lower-cased if no entry has an upper-case letter, and words are split if some entry
        begins with "##".
        """
        words = _contiguous(words)
        _check_names(words)
        checked = _checked_vectors(vectors, words)
        factors = _checked_scales(scales, checked, words)
        table, marks, duplicate = _core.make_word_lookup(*words)
        if duplicate >= 0:
            raise ValueError(f"the word {words.at(duplicate)!r} occurs twice, the second time as entry {duplicate:,}")
        return cls(
            words,
            checked,
            factors,
            _is_lowercase(words) if lowercase is None else lowercase,
            _has_pieces(words) if pieces is None else pieces,
            dict(about or {}),
            table,
            marks,
        )

    def __len__(self) -> int:
        return len(self.words)

    def rows(self, numbers: Any) -> Float32:
        """The vectors of some entries."""
        taken: Float32 = self.vectors[numbers].astype(np.float32)
        if self.scales is not None:
            taken *= self.scales[numbers, np.newaxis]
        return taken

    def checksum(self) -> str:
        """SHA-256 of everything that vectors of texts depend on."""
        kind = f"{self.vectors.dtype.name} {self.vectors.shape} lowercase={self.lowercase} pieces={self.pieces}\n"
        digest = hashlib.sha256(kind.encode())
        for array in (self.vectors, self.scales, *self.words):
            if array is not None:
                digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()


def _contiguous(words: Strings) -> Strings:
    blob, offsets = np.ascontiguousarray(words.blob), np.ascontiguousarray(words.offsets)
    if blob.dtype != np.uint8 or offsets.dtype != np.int64 or blob.ndim != 1 or offsets.ndim != 1:
        raise ValueError(
            "the words must be UTF-8 bytes (uint8) and offsets (int64), "
            f"got {blob.dtype} of shape {blob.shape} and {offsets.dtype} of shape {offsets.shape}"
        )
    return Strings(blob, offsets)


def _check_names(words: Strings) -> None:
    blob, offsets = words
    if len(offsets) < 2:
        raise ValueError("the table is empty: it needs at least one word")
    lengths = np.diff(offsets)
    if (offsets[0], offsets[-1]) != (0, len(blob)) or (lengths < 0).any():
        raise ValueError(f"the offsets of the words must rise from 0 to {len(blob):,}, the number of their bytes")
    if not lengths.all():
        raise ValueError(f"entry {int(np.argmin(lengths)):,} has an empty name")
    try:
        blob.tobytes().decode("utf-8")
        split = np.flatnonzero((blob[offsets[:-1]] & 0xC0) == 0x80)
    except UnicodeDecodeError as error:
        split = np.array([np.searchsorted(offsets, error.start, side="right") - 1])
    if len(split):
        raise ValueError(f"the name of entry {int(split[0]):,} is not UTF-8")


def _checked_vectors(vectors: NDArray[Any], words: Strings) -> Vectors:
    if vectors.ndim != 2 or len(vectors) != len(words) or vectors.shape[1] == 0:
        raise ValueError(
            f"the vectors must be a matrix with one row for each of the {len(words):,} words, got shape {vectors.shape}"
        )
    if vectors.dtype == np.int8:
        return np.ascontiguousarray(vectors)
    if vectors.dtype not in (np.float16, np.float32, np.float64):
        raise ValueError(f"the vectors must be int8, float16, float32 or float64, got {vectors.dtype}")
    with np.errstate(over="ignore"):  # told below
        single = np.ascontiguousarray(vectors, dtype=np.float32)
    for first in range(0, len(single), _ROWS):
        _check_size(single[first : first + _ROWS], words, first, "vector")
    return single


def _checked_scales(scales: NDArray[Any] | None, vectors: Vectors, words: Strings) -> Float32 | None:
    if (scales is None) == (vectors.dtype == np.int8):
        raise ValueError(f"vectors of int8 need one scale for each row and others none, got {vectors.dtype}")
    if scales is None:
        return None
    if scales.dtype != np.float32 or scales.shape != (len(words),):
        raise ValueError(
            f"the scales must be float32, one for each of the {len(words):,} words, "
            f"got {scales.dtype} of shape {scales.shape}"
        )
    _check_size(scales[:, np.newaxis], words, 0, "scale")
    return np.ascontiguousarray(scales)


def _check_size(numbers: NDArray[Any], words: Strings, first: int, what: str) -> None:
    good = np.abs(numbers) < LARGEST  # false for NaN
    if not good.all():
        row = first + int(np.argmin(good.all(axis=1)))
        name = f"{words.at(row)!r} (entry {row:,})"
        raise ValueError(f"the {what} of {name} holds NaN, infinity or a number over {LARGEST:g}")


def _is_lowercase(words: Strings) -> bool:
    text = words.blob.tobytes().decode("utf-8")
    return text == text.lower()


def _has_pieces(words: Strings) -> bool:
    blob, offsets = words
    long = offsets[:-1][np.diff(offsets) > 2]
    return bool(((blob[long] == ord("#")) & (blob[long + 1] == ord("#"))).any())
