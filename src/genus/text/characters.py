"""What the interpreter knows about characters, as tables for the native tokenizer.

genus is compiled with the tables of several Unicode versions (``cpp/text/unicode/``), and uses those of the interpreter
that imports it. If that has another version, `teach` makes the tables from the interpreter itself, once per process, in
0.6 s. The build makes the compiled tables with the same functions. Only the standard library is needed.
"""

from __future__ import annotations

import unicodedata
from array import array
from collections.abc import Callable, Mapping
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

N_CHARACTERS = 0x110000
PAGE = 128  # characters per page of the two-stage table

# As in cpp/text/unicode.h.
WORD, SPACE, CASED, CASE_IGNORABLE = 1, 2, 4, 8  # CASED: and not case-ignorable
UNSPACED, COMBINING, DECOMPOSES, LOWER_EXPANDS = 16, 32, 64, 128

# Scripts written without spaces between words, by the names of their characters: the standard library knows no script
# property.
UNSPACED_NAMES = (
    "CJK UNIFIED IDEOGRAPH", "CJK COMPATIBILITY IDEOGRAPH", "IDEOGRAPHIC ITERATION", "HIRAGANA ", "KATAKANA",
    "HALFWIDTH KATAKANA", "THAI CHARACTER", "LAO ", "KHMER ", "MYANMAR ", "TIBETAN ", "TAI LE ",
    "NEW TAI LUE ",
)  # fmt: skip


class Character(NamedTuple):
    flags: int
    lower_delta: int  # from the code point to that of the lower case, if that is one character


class Characters(NamedTuple):
    """Everything that is not the default: no flags, and its own lower case."""

    known: dict[int, Character]
    lower: dict[int, str]  # the lower case of characters that have LOWER_EXPANDS
    nfkd: dict[int, str]  # without combining marks, of characters that have DECOMPOSES; Hangul follows a formula


def of_this_interpreter() -> Characters:
    every = [c for c in map(chr, range(N_CHARACTERS)) if unicodedata.category(c) not in ("Cn", "Co", "Cs")]
    lower = _of_each(str.lower, every)
    nfkd = _of_each(partial(unicodedata.normalize, "NFKD"), every)
    # Python does not show whether a character is cased or case-ignorable; how it lowers a sigma after one, or after a
    # letter and one, gives it away.
    sigma = _of_each(str.lower, [c + "Σ" for c in every])
    letter_sigma = _of_each(str.lower, [f"A{c}Σ" for c in every])

    found = Characters({}, {}, {})
    for c, low, parts, after, after_letter in zip(every, lower, nfkd, sigma, letter_sigma, strict=True):
        flags = _flags(c) | LOWER_EXPANDS * (len(low) > 1) | DECOMPOSES * (parts != c)
        if after.endswith("ς"):
            flags |= CASED
        elif after_letter.endswith("ς"):
            flags |= CASE_IGNORABLE
        code = ord(c)
        if flags or low != c:
            found.known[code] = Character(flags, ord(low) - code if len(low) == 1 else 0)
        if flags & LOWER_EXPANDS:
            found.lower[code] = low
        if flags & DECOMPOSES and not 0xAC00 <= code <= 0xD7A3:
            found.nfkd[code] = "".join(part for part in parts if not unicodedata.combining(part))
    return found


def _of_each(function: Callable[[str], str], texts: list[str]) -> list[str]:
    """The function of each text, by one call: what stands between them is neither cased, ignorable nor combining."""
    between = "\ue000"
    return function(between.join(texts)).split(between)


def _flags(c: str) -> int:
    result = 0
    if c.isalnum() or c == "_":  # the definition of \w in Python's re
        result |= WORD
    if c.isspace():  # likewise of \s
        result |= SPACE
    if unicodedata.category(c)[0] in "LM" and unicodedata.name(c, "").startswith(UNSPACED_NAMES):
        result |= UNSPACED
    if unicodedata.combining(c):
        result |= COMBINING
    return result


class TwoStageTable:
    """Pages of `PAGE` characters, of which equal ones are stored once, also for several Unicode versions."""

    def __init__(self) -> None:
        self.records: dict[Character, int] = {Character(0, 0): 0}
        self.pages: dict[bytes, int] = {}

    def add(self, known: Mapping[int, Character]) -> array[int]:
        """The page of each `PAGE` code points."""
        rows = array("H", bytes(2 * N_CHARACTERS))
        for code, character in known.items():
            rows[code] = self.records.setdefault(character, len(self.records))
        return array(
            "H",
            (
                self.pages.setdefault(rows[first : first + PAGE].tobytes(), len(self.pages))
                for first in range(0, N_CHARACTERS, PAGE)
            ),
        )

    def page_contents(self) -> array[int]:
        return array("H", b"".join(self.pages))


class Expansions(NamedTuple):
    """A sorted list of code points, each with a range of replacement code points."""

    keys: array[int]
    offsets: array[int]
    targets: array[int]


def expansions(table: Mapping[int, str]) -> Expansions:
    found = Expansions(array("I", sorted(table)), array("I", [0]), array("I"))
    for code in found.keys:
        found.targets.extend(map(ord, table[code]))
        found.offsets.append(len(found.targets))
    return found


_taught: list[Any] = []  # the compiled module reads it where it lies


def teach(core: Any) -> None:
    """Give the compiled module the tables of this interpreter."""
    characters, table = of_this_interpreter(), TwoStageTable()
    page_of = table.add(characters.known)
    records = array("i", chain.from_iterable(table.records))
    _taught[:] = records, page_of, table.page_contents(), expansions(characters.lower), expansions(characters.nfkd)
    core.use_characters(*_taught)
