"""A table of word vectors: texts to unit vectors, natively.

The vector of a text is the sum of the vectors of its words, scaled to length one::

    x = sum over tokens t of E[t] + sum over adjacent tokens s, t of E["s t"],    u = x / |x|

Tokens are the runs of ``\\w`` in the text, in lower case if the table is. A token without an entry is split greedily
into the longest entries that it is made of, as WordPiece does: one that begins the word, then entries "##..." that go
on with it; where a piece is missing, the token adds nothing. A pair counts where the table has an entry for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from genus import _core
from genus.base.arrays import Strings, describe, n_threads
from genus.errors import DataError
from genus.text.encoder import Encoded, Float32
from genus.text.inputs import Texts, as_texts
from genus.vectors.entries import Entries, Vectors
from genus.vectors.files import read_entries, write_entries

SHIPPED = "english.safetensors"


class WordVectors:
    """A table of word vectors. It never changes.

    Made by `load`, `shipped` or `from_words`; one made by its constructor is empty, for model files to fill.

    Parameters
    ----------
    name : str, default=""
        How the table is called in messages.

    Examples
    --------
    >>> from genus import WordVectors
    >>> table = WordVectors.from_words(["goal", "match", "##es", "new york"], [[1, 0], [0, 1], [0, 1], [3, 4]])
    >>> table.encode(["A goal!", "matches in New York", "nothing known"]).vectors.astype(float).round(2).tolist()
    [[1.0, 0.0], [0.45, 0.89], [0.0, 0.0]]
    >>> [(word, count) for word, count, _ in table.parts("matches in New York")]
    [('matches', 1), ('new york', 1)]
    """

    def __init__(self, name: str = "") -> None:
        self.name = name
        self._entries: Entries | None = None
        self._is_shipped = False
        self._checksum: str | None = None

    @classmethod
    def from_words(
        cls,
        words: Iterable[str],
        vectors: ArrayLike,
        scales: ArrayLike | None = None,
        *,
        lowercase: bool | None = None,
        pieces: bool | None = None,
        name: str = "words",
        about: Mapping[str, str] | None = None,
    ) -> Self:
        """A table of given words, pairs ("new york") and continuations ("##ing") with a vector each.

        Parameters
        ----------
        words : iterable of str
            The entries.
        vectors : array of shape (n_words, n_dimensions)
            int8 with `scales`, or numbers that become float32.
        scales : array of shape (n_words,), default=None
            What each row of int8 is multiplied by.
        lowercase : bool, default=None
            Whether texts are lower-cased; by default if no entry has an upper-case letter.
        pieces : bool, default=None
            Whether words without an entry are split; by default if some entry begins with "##".
        name : str, default="words"
            How the table is called in messages.
        about : mapping of str to str, default=None
            What a table file shall say of itself: licence, who made it, and the like.
        """
        array = np.asarray(vectors)
        if array.dtype != np.int8:
            if array.dtype.kind not in "fiu":
                raise DataError(f"{name}: the vectors must be numbers, got {array.dtype}.")
            array = array if array.dtype == np.float32 else array.astype(np.float64)
        factors = None if scales is None else np.asarray(scales, dtype=np.float32)
        packed = _packed(words, name)
        return cls._checked(name, packed, array, factors, lowercase=lowercase, pieces=pieces, about=about)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Open a table: safetensors as `save` writes it, or the text formats of GloVe, word2vec and fastText.

        Text files may be compressed (gzip, xz). A safetensors table is mapped, not read.
        """
        name, entries = read_entries(path)
        return cls._of(entries, name)

    @classmethod
    def shipped(cls) -> WordVectors:
        """The table of English words that ships with genus."""
        return _shipped()

    @classmethod
    def _checked(cls, name: str, *arrays: Any, **options: Any) -> Self:
        try:
            return cls._of(Entries.checked(*arrays, **options), name)
        except ValueError as error:
            raise DataError(f"{name}: {error}.") from error

    @classmethod
    def _of(cls, entries: Entries, name: str) -> Self:
        table = cls(name)
        table._entries = entries
        return table

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table as a safetensors file, which opens in milliseconds."""
        write_entries(path, self.name, self._table)

    # What it holds

    @property
    def _table(self) -> Entries:
        if self._entries is None:
            raise DataError(
                f"the table of word vectors {self.name!r} is empty: make it with WordVectors.load(path), .shipped() or "
                ".from_words(words, vectors)."
            )
        return self._entries

    @property
    def n_dimensions(self) -> int:
        return int(self._table.vectors.shape[1])

    @property
    def words(self) -> list[str]:
        """The entries, in the order of the table."""
        return self._table.words.unpack()

    @property
    def lowercase(self) -> bool:
        return self._table.lowercase

    @property
    def about(self) -> dict[str, str]:
        """What the table's file says of itself: licence, who made it, and the like."""
        return dict(self._table.about)

    @property
    def checksum(self) -> str:
        """SHA-256 of words, vectors and scales."""
        if self._checksum is None:
            self._checksum = self._table.checksum()
        return self._checksum

    def __len__(self) -> int:
        return len(self._table)

    def __contains__(self, word: object) -> bool:
        """Whether a word, a pair or a piece has an entry of its own."""
        return isinstance(word, str) and self._number(word) >= 0

    def __repr__(self) -> str:
        if self._entries is None:
            return f"WordVectors({self.name!r})"
        return f"<WordVectors {self.name!r}: {len(self):,} x {self.n_dimensions} {self._entries.vectors.dtype}>"

    def __sklearn_clone__(self) -> Self:
        return self

    def vector(self, word: str) -> Float32:
        """The vector of an entry, or the sum of the pieces of a word; KeyError if there is none."""
        number = self._number(word)
        if number >= 0:
            entries = [number]
        else:
            _, ends, entries, _ = self._tokens(word)
            if len(ends) != 2 or not entries:
                raise KeyError(f"{word!r} has no vector in {self.name}")
        total: Float32 = self._table.rows(entries).sum(axis=0)
        return total

    def _number(self, word: str) -> int:
        table = self._table
        packed = Strings.pack([word.lower() if table.lowercase else word])
        return int(_core.find_words(*packed, True, *table.words, table.table, 0)[0])

    # What it does with texts

    def encode(self, texts: Texts, n_jobs: int | None = None) -> Encoded:
        """Texts to unit vectors, and how many of their words are known.

        Parameters
        ----------
        texts : iterable of str, or an Arrow column
            The texts.
        n_jobs : int, default=None
            Threads; None and -1 mean all cores. Results do not depend on it.
        """
        return self._encode(texts, self._table.vectors, n_jobs)

    def _encode(self, texts: Texts, vectors: Vectors, n_jobs: int | None) -> Encoded:
        table = self._table
        rows = (vectors,) if table.scales is None else (vectors, table.scales)
        arguments: list[Any] = [as_texts(texts), *self._lookup, *rows, n_threads(n_jobs)]
        return Encoded(*_core.encode_words(*arguments))

    @property
    def _lookup(self) -> tuple[Any, ...]:
        """How texts are cut into words, and what finds those, as native code takes it."""
        table = self._table
        return (table.lowercase, *table.words, table.table, table.marks, table.pieces)

    def coverage(self, texts: Texts, n_jobs: int | None = None) -> float:
        """The share of the words of texts that have an entry of their own; 0.0 where there are no words."""
        counts = self._encode(texts, self._table.vectors[:, :0], n_jobs)
        n_words = int(counts.n_words.sum(dtype=np.int64))
        return int(counts.n_whole.sum(dtype=np.int64)) / n_words if n_words else 0.0

    def parts(self, text: str) -> list[tuple[str, int, Float32]]:
        """What each distinct word and pair of a text adds to its unit vector: name, count and vector.

        The vectors sum to the text's unit vector. Words that add nothing are left out.
        """
        words, ends, entries, pairs = self._tokens(text)
        added: dict[str, tuple[int, list[int]]] = {}
        for word, (begin, end), pair in zip(words, pairwise(ends), pairs, strict=True):
            if end > begin:
                added[word] = (added.get(word, (0, []))[0] + 1, entries[begin:end])
            if pair >= 0:
                name = self._table.words.at(pair)
                added[name] = (added.get(name, (0, []))[0] + 1, [pair])
        sums = [count * self._table.rows(own).sum(axis=0, dtype=np.float64) for count, own in added.values()]
        length = float(np.linalg.norm(sum(sums))) if sums else 0.0
        shares = [(vector / length if length > 0 else 0 * vector).astype(np.float32) for vector in sums]
        return [(name, count, share) for (name, (count, _)), share in zip(added.items(), shares, strict=True)]

    def _tokens(self, text: str) -> tuple[list[str], list[int], list[int], list[int]]:
        """The tokens of a text, where the entries of each end, the entries, and those of pairs."""
        if not isinstance(text, str):
            raise ValueError(f"Expected a text (str), got {describe(text)}.")
        blob, offsets, ends, entries, pairs = _core.token_entries([text], *self._lookup)
        return Strings(blob, offsets).unpack(), ends.tolist(), entries.tolist(), pairs.tolist()

    def nearest(self, word: str, among: Iterable[str], k: int = 10) -> list[tuple[str, float]]:
        """The words of `among` nearest to a word, with their cosines, the nearest first.

        Words without a vector, and the word itself, are left out.
        """
        candidates = [other for other in dict.fromkeys(among) if other != word]
        vectors = self.encode([word, *candidates]).vectors
        known = np.flatnonzero(vectors[1:].any(axis=1))
        if not vectors[0].any() or not len(known):
            return []
        cosines = vectors[1:][known] @ vectors[0]
        best = np.argsort(-cosines, kind="stable")[:k]
        return [(candidates[known[i]], float(cosines[i])) for i in best]

    # Model files

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"name": self.name}

    def _get_state(self) -> dict[str, Any]:
        """The arrays; of the table that ships, its checksum alone."""
        if self._is_shipped:
            return {"shipped": SHIPPED, "checksum": self.checksum}
        table = self._table
        return {
            "words": table.words,
            "vectors": table.vectors,
            "scales": table.scales,
            "lowercase": table.lowercase,
            "pieces": table.pieces,
            "about": dict(table.about),
        }

    def _set_state(self, state: Mapping[str, Any]) -> None:
        if "shipped" in state:
            return self._set_shipped(state["checksum"])
        words, vectors, scales = state["words"], state["vectors"], state["scales"]
        options = {key: state[key] for key in ("lowercase", "pieces")}
        if not (isinstance(words, Strings) and isinstance(vectors, np.ndarray) and isinstance(scales, _ARRAY_OR_NONE)):
            raise ValueError("words, vectors and scales must be strings and arrays")
        if not all(isinstance(value, bool) for value in options.values()) or not _is_about(state["about"]):
            raise ValueError("lowercase and pieces must be true or false, and about a map of strings")
        self._entries = Entries.checked(words, vectors, scales, about=state["about"], **options)
        return None

    def _set_shipped(self, checksum: object) -> None:
        table = WordVectors.shipped()
        if table.checksum != checksum:
            raise ValueError(
                "it was made with another version of the word vectors that ship with genus "
                f"(checksum {str(checksum)[:12]}, here {table.checksum[:12]}): open it with the version of genus that "
                "made it, or train it again"
            )
        self._entries, self._checksum, self._is_shipped = table._table, table.checksum, True


_ARRAY_OR_NONE = (np.ndarray, type(None))


def _is_about(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for pair in value.items() for item in pair)


def _packed(words: Iterable[str], name: str) -> Strings:
    listed = [words] if isinstance(words, str) else list(words)
    for i, word in enumerate(listed):
        if not isinstance(word, str):
            raise DataError(f"{name}: expected words (str), got {describe(word)} as entry {i:,}.")
    return Strings.pack(listed)


@cache
def _shipped() -> WordVectors:
    file = resources.files("genus.vectors").joinpath(SHIPPED)
    if not file.is_file():
        raise DataError(
            f"the word vectors that ship with genus ({SHIPPED}) are missing: install genus again, or give a table of "
            "your own: WordVectors.load(path)."
        )
    with resources.as_file(file) as path:
        table = WordVectors.load(path)
    table._is_shipped = True
    return table


if TYPE_CHECKING:
    from genus.text.encoder import Encoder, TellsParts

    def _offers(table: WordVectors) -> tuple[Encoder, TellsParts]:
        return table, table
