"""Tables of texts in, model files out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genus._lazy import lazy_names

if TYPE_CHECKING:
    from genus.io.model_file import describe_file, load, save
    from genus.io.tables import Row, Table, check_table, iter_table, read_objects, read_table

__all__ = [
    "Row",
    "Table",
    "check_table",
    "describe_file",
    "iter_table",
    "load",
    "read_objects",
    "read_table",
    "save",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "describe_file": "genus.io.model_file",
        "load": "genus.io.model_file",
        "save": "genus.io.model_file",
        "Row": "genus.io.tables",
        "Table": "genus.io.tables",
        "check_table": "genus.io.tables",
        "iter_table": "genus.io.tables",
        "read_objects": "genus.io.tables",
        "read_table": "genus.io.tables",
    },
)
