"""Detects the text and label columns of a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

TEXT_NAMES = (
    "text", "content", "body", "message", "document", "doc", "review", "sentence", "abstract", "description",
    "comment", "tweet", "question", "title", "subject", "sms",
)  # fmt: skip
LABEL_NAMES = ("label", "labels", "class", "category", "target", "y", "topic", "tag", "sentiment")


class Columns(NamedTuple):
    """The columns chosen, as keys of a record: names, or positions."""

    text: Any
    label: Any
    id: Any


def usual_name(usual: Sequence[str], names: Sequence[str], taken: str | None) -> str | None:
    by_lower = {name.strip().lower(): name for name in reversed(names) if name != taken}
    return next((by_lower[name] for name in usual if name in by_lower), None)


def listed(names: Sequence[str]) -> str:
    shown = ", ".join(name[:40] for name in names[:20]) + (", ..." if len(names) > 20 else "")
    return f"its columns are {shown}"


def separator(line: str) -> str:
    """A comma, unless the first line has none and has another usual separator."""
    return "," if "," in line else next((sep for sep in "\t;|" if sep in line), ",")


def is_title(first: Sequence[str], sample: Sequence[Sequence[str]], i: int) -> bool:
    """Whether a cell of the first row is a column's usual name, and not a label: "y" may stand for yes."""
    name = first[i].strip().lower()
    if name in TEXT_NAMES:
        return True
    return name in LABEL_NAMES and not any(fields[i] == first[i] for fields in sample if len(fields) > i)


def looks_like_header(first: Sequence[str], sample: Sequence[Sequence[str]], columns: Columns) -> bool:
    """Conservative: usual names; or a single word over longer texts, and a label that does not occur again."""
    if any(position is not None and is_title(first, sample, position) for position in columns):
        return True
    if columns.label is None or not sample:
        return False
    title, label = first[columns.text].strip(), first[columns.label]
    whole = [fields for fields in sample if len(fields) == len(first)]
    length = sum(len(fields[columns.text]) for fields in whole) / max(len(whole), 1)
    again = any(fields[columns.label] == label for fields in whole)
    return bool(re.fullmatch(r"[^\W\d]\w*", title)) and length > 3 * len(title) and not again
