"""How texts are cut into features: what runs natively, what has to run in Python, and what counts as texts."""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genus import _core
from genus.base.arrays import AnyFloat, Int32, Int64, Strings
from genus.text.inputs import Texts
from genus.text.time_limit import limited

Tokens = Callable[[str], Sequence[str]]
Lookup = tuple[NDArray[np.uint8], Int64, NDArray[np.uint64]]  # words and the table that finds them
Sequences = tuple[Int64, Int32, NDArray[np.uint8], Int64]  # documents as numbers of words, and the words
CountedRows = tuple[Int64, Int32, AnyFloat, Int32]

# Patterns that the native tokenizer knows, as (analyzer, least number of characters).
_NATIVE_PATTERNS = {
    r"\b\w\w+\b": ("word", 2),
    r"\b\w+\b": ("word", 1),
    r"\w\w+": ("word", 2),
    r"\w+": ("word", 1),
    r"\S+": ("nonspace", 1),
}


@dataclass
class Plan:
    """A Vectorizer's options made ready."""

    options: _core.TextOptions
    stop_words: Lookup
    stemmer: Any
    python_features: Tokens | None  # the slow path: text to features, in Python
    n_grams: bool  # features are words joined by spaces, and hashed as such
    word_range: tuple[int, int]
    edges: bool

    @classmethod
    def from_options(
        cls,
        *,
        analyzer: str | Tokens,
        tokenizer: Tokens | None,
        token_pattern: str,
        lowercase: bool,
        strip_accents: str | None,
        split_unspaced: bool,
        stop_words: str | Iterable[str] | None,
        stemmer: str | None,
        ngram_range: tuple[int, int],
        edges: bool,
    ) -> Plan:
        in_words = analyzer == "word"
        low, high = (int(n) for n in ngram_range)
        stop = _stop_words(stop_words) if in_words else frozenset[str]()
        snowball = None if stemmer is None else _snowball(stemmer)
        native = ("word" if callable(analyzer) else analyzer, 1)
        features: Tokens | None = None
        if callable(analyzer):
            features = analyzer
        elif in_words and tokenizer is None and token_pattern.removeprefix("(?u)") in _NATIVE_PATTERNS:
            native = _NATIVE_PATTERNS[token_pattern.removeprefix("(?u)")]
        elif in_words:
            cut = tokenizer if tokenizer is not None else _pattern_tokenizer(token_pattern)
            features = _word_features(preprocessor(lowercase, strip_accents), cut, stop, snowball, low, high, edges)
        packed = Strings.pack(sorted(stop))
        return cls(
            options=_core.TextOptions(
                native[0], strip_accents or "", lowercase, split_unspaced, native[1], low, high, edges
            ),
            stop_words=(*packed, _core.make_table(*packed, False)),
            stemmer=snowball,
            python_features=features,
            n_grams=in_words and features is None,
            word_range=(low, high) if features is None else (1, 1),
            edges=edges and features is None,
        )

    def corpus(self, texts: Texts, threads: int) -> _core.CountedCorpus:
        sequences = self._sequences(texts, threads)
        if sequences is None:
            return _core.count_corpus(texts, self.options, *self.stop_words, threads)
        return _core.count_corpus_sequences(*sequences, *self.word_range, self.edges, threads)

    def known(self, texts: Texts, words: Lookup, n_hash: int, binary: bool, single: bool, threads: int) -> CountedRows:
        sequences = self._sequences(texts, threads)
        if sequences is None:
            return _core.count_known(texts, self.options, *self.stop_words, *words, n_hash, binary, single, threads)
        how = (*self.word_range, self.edges)
        return _core.count_known_sequences(*sequences, *how, *words, n_hash, binary, single, threads)

    @property
    def words_alone(self) -> bool:
        """Whether features are single words, cut natively."""
        return self.n_grams and self.stemmer is None and self.word_range == (1, 1)

    def unknown(self, texts: Texts, words: Lookup) -> Strings:
        """The distinct words of a few texts that are not among these, sorted; for `words_alone`."""
        return Strings(*_core.unknown_words(texts, self.options, *self.stop_words, *words))

    def _sequences(self, texts: Any, threads: int) -> Sequences | None:
        """Texts as numbered words, where Python has a part in making them."""
        if self.python_features is not None:
            return _number_features(map(self.python_features, texts))
        if self.stemmer is None:
            return None
        indptr, numbers, blob, offsets = _core.number_tokens(texts, self.options, *self.stop_words, threads)
        stems = self.stemmer.stemWords(Strings(blob, offsets).unpack())
        return (indptr, numbers, *Strings.pack(stems))


def ordered_vocabulary(vocabulary: Any) -> list[str]:
    """The words of a given vocabulary by column: a mapping to columns, or an iterable in their order."""
    if isinstance(vocabulary, str):
        raise ValueError("vocabulary must be a mapping or an iterable of words, got a single str.")
    if isinstance(vocabulary, Mapping):
        if sorted(vocabulary.values()) != list(range(len(vocabulary))):
            raise ValueError(f"vocabulary must map its {len(vocabulary)} words to 0 ... n - 1, each once.")
        words = sorted(vocabulary, key=vocabulary.__getitem__)
    else:
        words = sorted(vocabulary) if isinstance(vocabulary, (set, frozenset)) else list(vocabulary)
    if len(set(words)) < len(words):
        raise ValueError("vocabulary has a word twice.")
    if not words:
        raise ValueError("vocabulary is empty.")
    return words


def _stop_words(given: str | Iterable[str] | None) -> frozenset[str]:
    if given is None:
        return frozenset()
    if given == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    if isinstance(given, str):
        raise ValueError(f"stop_words must be 'english', a collection of words or None, got {given!r}.")
    return frozenset(given)


def _snowball(language: str) -> Any:
    import Stemmer

    if language not in Stemmer.algorithms():
        raise ValueError(f"stemmer must be one of {', '.join(Stemmer.algorithms())}; got {language!r}.")
    return Stemmer.Stemmer(language)


def _pattern_tokenizer(pattern: str) -> Tokens:
    try:
        compiled = re.compile(pattern)
    except (re.error, TypeError, OverflowError, RecursionError) as error:
        raise ValueError(f"token_pattern must be a regular expression, got {pattern!r}: {error}.") from None
    if compiled.groups > 1:
        raise ValueError("token_pattern may have one capturing group at most.")
    return limited(compiled.findall, pattern)


def preprocessor(lowercase: bool, strip_accents: str | None) -> Callable[[str], str]:
    """What is done to a text before it is cut, in Python."""

    def preprocess(text: str) -> str:
        if lowercase:
            text = text.lower()
        if strip_accents is None or text.isascii():
            return text
        text = unicodedata.normalize("NFKD", text)
        if strip_accents == "ascii":
            return text.encode("ascii", "ignore").decode()
        return "".join(c for c in text if not unicodedata.combining(c))

    return preprocess


def _word_features(
    preprocess: Callable[[str], str], cut: Tokens, stop: frozenset[str], stemmer: Any, low: int, high: int, edges: bool
) -> Tokens:
    def features(text: str) -> list[str]:
        words = [word for word in cut(preprocess(text)) if word not in stop]
        if stemmer is not None:
            words = stemmer.stemWords(words)
        alone = words if low == 1 else []
        if edges and words:
            words = ["(start)", *words, "(end)"]
        sizes = range(max(low, 2), min(high, len(words)) + 1)
        return [*alone, *(" ".join(words[i : i + n]) for n in sizes for i in range(len(words) - n + 1))]

    return features


def _number_features(documents: Iterable[Sequence[str]]) -> Sequences:
    numbers: dict[str, int] = {}
    flat, ends = array("i"), array("q", [0])
    for features in documents:
        flat.extend(numbers.setdefault(f, len(numbers)) for f in features)
        ends.append(len(flat))
    return (np.frombuffer(ends, np.int64), np.frombuffer(flat, np.int32), *Strings.pack(numbers))
