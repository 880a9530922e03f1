"""Text to counts the slow and obvious way: the oracle for what scikit-learn's CountVectorizer does not have."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN")


def unspaced(c: str) -> bool:
    name = unicodedata.name(c, "")
    return unicodedata.category(c)[0] in "LM" and name.startswith(UNSPACED) and "RADICAL" not in name


def words(text: str, *, split_unspaced: bool = False) -> list[str]:
    """Lower-case words of two letters or more; with split_unspaced also bigrams of Han, kana, Thai..."""
    text = text.lower()
    if not split_unspaced:
        return re.findall(r"\b\w\w+\b", text)
    found, run, kind = [], "", ""
    for c in [*text, " "]:
        new = "unspaced" if unspaced(c) else "word" if re.match(r"\w", c) else ""
        if new != kind:
            if kind == "word" and len(run) >= 2:
                found.append(run)
            elif kind == "unspaced":
                found += [run[i : i + 2] for i in range(max(1, len(run) - 1))]
            run, kind = "", new
        run += c if new else ""
    return found


def counts(texts: list[str], **options: bool) -> list[Counter[str]]:
    return [Counter(words(text, **options)) for text in texts]


def edged_n_grams(text: str, low: int, high: int) -> Counter[str]:
    """The n-grams of the words between "(start)" and "(end)", which are none by themselves."""
    found = words(text)
    marked = ["(start)", *found, "(end)"] if found else []
    places = [marked[i : i + n] for n in range(low, high + 1) for i in range(len(marked) - n + 1)]
    return Counter(" ".join(place) for place in places if place not in (["(start)"], ["(end)"]))
