"""Word vectors the slow and obvious way: texts to tokens to entries to the unit vector of their sum."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Table = Mapping[str, NDArray[np.float64]]


def tokens(text: str, lowercase: bool = True) -> list[str]:
    return re.findall(r"\w+", text.lower() if lowercase else text)


def pieces(word: str, table: Table) -> list[str]:
    """The longest entries that a word is made of, or nothing."""
    found: list[str] = []
    begin = 0
    while begin < len(word):
        mark = "##" if begin else ""
        ends = [end for end in range(len(word), begin, -1) if mark + word[begin:end] in table]
        if len(word) > 100 or not ends:
            return []
        found.append(mark + word[begin : ends[0]])
        begin = ends[0]
    return found


def entries(word: str, table: Table) -> list[str]:
    """The entries that a word adds."""
    if word in table:
        return [word]
    return pieces(word, table) if any(name.startswith("##") for name in table) else []


def parts(text: str, table: Table, n_dimensions: int, lowercase: bool = True) -> dict[str, tuple[int, NDArray]]:
    """Each word and pair of a text with its count and all that it adds, before scaling."""
    words = tokens(text, lowercase)
    added = [(word, entries(word, table)) for word in words]
    added += [(pair, [pair]) for pair in map(" ".join, pairwise(words)) if pair in table]
    result: dict[str, tuple[int, NDArray]] = {}
    for name, own in added:
        if own:
            count, total = result.get(name, (0, np.zeros(n_dimensions)))
            result[name] = (count + 1, total + sum(table[entry] for entry in own))
    return result


def encode(text: str, table: Table, n_dimensions: int, lowercase: bool = True) -> tuple[NDArray, int, int, int]:
    """The unit vector of a text, its words, those with an entry, and those that add nothing."""
    words = tokens(text, lowercase)
    total = sum((vector for _, vector in parts(text, table, n_dimensions, lowercase).values()), np.zeros(n_dimensions))
    length = np.linalg.norm(total)
    n_whole = sum(word in table for word in words)
    n_unknown = sum(not entries(word, table) for word in words)
    return total / length if length > 0 else total, len(words), n_whole, n_unknown
