"""Mutated tables, lines and trees of classes, and every way to read them."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import tempfile
from functools import cache
from pathlib import Path

import click

from genus.cli._auto_options import read_tree
from genus.errors import DataError
from genus.io.tables import check_table, iter_table, read_table

CSV = b'label,text,id\nspam,"win, cash",1\nham,"see ""you"" at noon",2\nham,caf\xc3\xa9,3\n'
JSONL = (
    b'{"text": "win cash", "label": "spam", "id": 1}\n{"text": "see you", "label": ["ham", "fun"]}\n{"text": null}\n'
)
FASTTEXT = b"__label__spam win cash\n__label__ham __label__fun see you\n\n__label__ham\n"
TREE = json.dumps({"a": "root", "b": "root", "c": "a", "root": None}).encode()
NESTED = json.dumps({"root": {"a": {"c": {}}, "b": {}}}).encode()
TOKENS = [
    b'"', b'""', b",", b"\t", b"\n", b"\r", b"\r\n", b"\0", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xff\xfe",
    b"\x00\x00\xfe\xff", b"{", b"[", b"}", b"]", b"null", b"NaN", b"-1e999", b"1" * 5000, b"__label__", b"\\ud800",
    b"[" * 3000, b'{"a":' * 3000, b"x" * 200_000, b"\n" * 5000, b"{}", b"true", b'"root"', b":", b"\xe2\x80\xa8",
]  # fmt: skip


@cache
def bases() -> dict[str, bytes]:
    """A file of each kind, by the end of its name."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    parquet = io.BytesIO()
    pq.write_table(pa.table({"text": ["win cash", "see you", None], "label": ["spam", "ham", "ham"]}), parquet)
    return {
        ".csv": CSV,
        ".tsv": CSV.replace(b",", b"\t"),
        ".jsonl": JSONL,
        ".ft": FASTTEXT,
        ".txt": b"win cash\nsee you\n",
        ".csv.gz": gzip.compress(CSV, mtime=0),
        ".jsonl.bz2": bz2.compress(JSONL),
        ".ft.xz": lzma.compress(FASTTEXT),
        ".parquet": parquet.getvalue(),
        ".tree": TREE,
        ".nested.tree": NESTED,
    }


def mutated(suffix: str, random: random.Random) -> bytes:
    data = bytearray(bases()[suffix])
    plain = not suffix.endswith((".gz", ".bz2", ".xz", ".parquet"))
    for _ in range(random.choice([1, 1, 2, 3, 8])):
        where = random.randrange(len(data) + 1)
        match random.randrange(6 if plain else 3):
            case 0:
                data[where : where + 1] = bytes([random.randrange(256)])
            case 1:
                del data[where : where + random.choice([1, 1, 3, 20, 1000])]
            case 2:
                if where < len(data):
                    data[where] ^= 1 << random.randrange(8)
            case 3 | 4:
                data[where:where] = random.choice(TOKENS)
            case 5:
                data[where:where] = data[: random.randrange(len(data) + 1)]
    return bytes(data)


def exercise(content: bytes, suffix: str) -> None:
    """Read a file in every way. Raises what the library raises."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"data{suffix}"
        path.write_bytes(content)
        if suffix.endswith(".tree"):
            tree = read_tree(str(path))
            assert tree is not None
            tree.to_dict()
            return
        trouble: list[Exception] = []
        for options in (
            {},
            {"need_labels": False},
            {"skip_missing": True},
            {"need_labels": False, "encoding": "utf-16"},
            {"label_separator": ";", "encoding": "latin-1", "skip_missing": True},
        ):
            try:
                read_table(path, **options)
                list(iter_table(path, chunk_size=2, **options))
            except Exception as error:
                trouble.append(error)
        try:
            check_table(path)
        except Exception as error:
            trouble.append(error)
        if trouble:
            raise ExceptionGroup("read", trouble)


REFUSALS = (DataError, click.BadParameter)
