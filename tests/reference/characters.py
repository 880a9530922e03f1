"""What Python makes of every code point: its lower case, whether it is part of a word, and its accents.

Run by itself, it prints digests of that: python tests/reference/characters.py
"""

from __future__ import annotations

import hashlib
import re
import sys
import unicodedata
from collections.abc import Iterable
from typing import Any

# Each code point inside a word, before a final sigma, and twice as a word of its own.
TEXTS = [f"A{chr(c)}Σ {chr(c)}{chr(c)}" for c in range(1, sys.maxunicode + 1)]

WAYS: dict[str, dict[str, Any]] = {
    "words": {},
    "case kept": {"lowercase": False},
    "words between spaces": {"token_pattern": r"\S+"},
    "no accents": {"strip_accents": "unicode"},
}


def words(way: str) -> set[str]:
    """All words of `TEXTS`, as scikit-learn's CountVectorizer defines them."""
    options = WAYS[way]
    pattern = re.compile(options.get("token_pattern", r"\b\w\w+\b"))
    found: set[str] = set()
    for text in TEXTS:
        if options.get("lowercase", True):
            text = text.lower()
        if "strip_accents" in options:
            text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
        found.update(pattern.findall(text))
    return found


def digest(found: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(found)).encode("utf-8", "surrogatepass")).hexdigest()[:16]


if __name__ == "__main__":
    print(f"    # CPython {sys.version.split()[0]}")
    print(f'    "{unicodedata.unidata_version}": {[digest(words(way)) for way in WAYS]},'.replace("'", '"'))
