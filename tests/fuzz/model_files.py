"""Mutated model files, and everything that can be asked of what is in them."""

from __future__ import annotations

import contextlib
import io
import json
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from genus import LabelTree, TextClassifier
from genus.cli import main
from genus.io.safetensors import DTYPES

GOLDEN = Path(__file__).parents[1] / "golden"
FILES = sorted(GOLDEN.rglob("*.genus"))
TEXTS = ["toner printer paper", "card payment", "", "zzz unknown the", "the password is slow slow"]
Tree = dict[str, Any]

VALUES: list[Any] = [
    None, True, False, -1, 0, 1, 2, 7, 2**31, -(2**31), 2**63, 2**200, 0.5, -0.5, 1e308, 1e-320, "", "x", "auto", "nan",
    "/", "\ud800", [], {}, [[]], [1, 2], [0.5, 0.5], ["a", "b"], {"a": "b"}, {"$": "float", "value": "nan"},
    {"$": "float", "value": "inf"}, {"$": "tuple", "items": [1, 2]}, {"$": "tuple", "items": [0, -1]},
    {"$": "set", "items": ["a"]}, {"$": "dtype", "name": "float32"}, {"$": "type", "name": "float64"},
    {"$": "scalar", "dtype": "int8", "value": -1}, {"class": "MultinomialNB", "params": {}},
    {"$": "object", "class": "LabelTree", "params": {}, "state": {}},
]  # fmt: skip


class ModelFile:
    """A model file taken apart: its tree of objects, and its arrays."""

    def __init__(self, content: bytes) -> None:
        length = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + length])
        self.metadata = header.pop("__metadata__")
        self.tree: Tree = json.loads(self.metadata["genus"])
        body = content[8 + length :]
        self.arrays: dict[str, tuple[str, list[int], bytearray]] = {}
        for name, entry in header.items():
            begin, end = entry["data_offsets"]
            self.arrays[name] = entry["dtype"], entry["shape"], bytearray(body[begin:end])

    def content(self) -> bytes:
        """The file again, without checksums: it is the checks behind these that are tried."""
        metadata = {"genus_format": self.metadata["genus_format"], "genus": json.dumps(self.tree)}
        header: Tree = {"__metadata__": metadata}
        end = 0
        for name, (dtype, shape, data) in self.arrays.items():
            begin, end = end, end + len(data)
            header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}
        text = json.dumps(header).encode()
        text += b" " * (-(8 + len(text)) % 64)
        return b"".join([len(text).to_bytes(8, "little"), text, *(data for _, _, data in self.arrays.values())])


def mutated(base: Path, random: random.Random) -> bytes:
    content = base.read_bytes()
    if random.random() < 0.05:
        return _broken(content, random)
    file = ModelFile(content)
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        kind = random.random()
        if kind < 0.45:
            _change_values(file, random)
        elif kind < 0.6:
            _change_shape(file, random)
        else:
            _change_tree(file, random)
    return file.content()


def _broken(content: bytes, random: random.Random) -> bytes:
    """The bytes of the file changed anywhere, or cut."""
    data = bytearray(content)
    if random.random() < 0.3:
        return bytes(data[: random.randrange(len(data))])
    for _ in range(random.choice([1, 2, 10])):
        where = random.randrange(min(len(data), random.choice([8, 200, 10**9])))
        data[where] = random.choice([data[where] ^ (1 << random.randrange(8)), 0, 255, random.randrange(256)])
    return bytes(data)


def _change_values(file: ModelFile, random: random.Random) -> None:
    """Flip a bit of an array, or put a number there that it should not hold."""
    dtype, _, data = file.arrays[random.choice(list(file.arrays))]
    if not data:
        return
    if random.random() < 0.3:
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        return
    values: Any = np.frombuffer(data, DTYPES[dtype])
    i = random.choice([0, len(values) - 1, random.randrange(len(values))])
    if random.random() < 0.15:  # all of them
        i = slice(None) if random.random() < 0.5 else slice(0, None, 2)
    if values.dtype.kind == "f":
        large = float(np.finfo(values.dtype).max) / 2
        values[i] = random.choice([0.0, -1.0, large, -large, np.nan, np.inf, -np.inf, 1e-310, 0.5])
    elif values.dtype.kind == "b":
        values[i] = random.random() < 0.5
    else:
        limits = np.iinfo(values.dtype)
        near = [int(values.min()), int(values.max()), int(values.max()) + 1, len(values), int(values[-1]) + 1, 0, 1, -1]
        value = random.choice([*near, limits.min, limits.max, random.randrange(1 << 20), 2**31, -(2**40)])
        values[i] = min(max(value, limits.min), limits.max)


def _change_shape(file: ModelFile, random: random.Random) -> None:
    """Shorten or lengthen an array, or give it another type or number of dimensions."""
    name = random.choice(list(file.arrays))
    dtype, shape, data = file.arrays[name]
    size = DTYPES[dtype].itemsize
    match random.randrange(5):
        case 0:
            data = data[: -size * random.choice([1, 1, 2, max(len(data) // size, 1)])]
            shape = [len(data) // size]
        case 1:
            data = data + data[: size * random.choice([1, 1, 5])]
            shape = [len(data) // size]
        case 2:
            dtype = random.choice([code for code, kind in DTYPES.items() if kind.itemsize == size])
        case 3:
            shape = random.choice([[*shape, 1], [1, *shape], [0, *shape], []])
            data = data[: size * int(np.prod(shape))]
            shape = shape if len(data) == size * int(np.prod(shape)) else [len(data) // size]
        case 4:
            dtype = random.choice(list(DTYPES))
            size = DTYPES[dtype].itemsize
            data = data[: len(data) // size * size]
            shape = [len(data) // size]
    file.arrays[name] = dtype, shape, data


def _change_tree(file: ModelFile, random: random.Random) -> None:
    """Change a parameter or another value, take one away, or put one in another's place."""
    places = list(_places(file.tree))
    parent, key = random.choice(places)
    match random.randrange(6):
        case 0 | 1:
            parent[key] = random.choice(VALUES)
        case 2:
            other, name = random.choice(places)
            parent[key] = json.loads(json.dumps(other[name]))
        case 3:
            del parent[key]
        case 4:  # one array for another
            arrays = [parent for parent, key in places if key == "name" and parent.get("$") == "array"]
            if arrays:
                random.choice(arrays)["name"] = random.choice(list(file.arrays))
        case 5:
            if isinstance(parent[key], (int, float)) and not isinstance(parent[key], bool):
                parent[key] = random.choice([-parent[key], parent[key] + 1, parent[key] * 1000, str(parent[key])])
            else:
                parent[key] = random.choice(VALUES)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Everything in a tree, as what holds it and under which key."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


def exercise(content: bytes) -> None:
    """Ask everything of a model that the file may hold. Raises what the library raises."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.genus"
        path.write_bytes(content)
        clf = TextClassifier.load(path)
        trouble: list[Exception] = []
        for ask in QUESTIONS:
            try:
                ask(clf)
            except Exception as error:
                trouble.append(error)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
            code = main(["inspect", str(path), "--json"])
        if code == 1 and "unexpected" in said.getvalue():
            raise AssertionError(said.getvalue())
        if trouble:
            raise ExceptionGroup("asked", trouble)


def _learn(clf: TextClassifier) -> None:
    clf.partial_fit(["some new text", "another one"], [clf.classes_.tolist()[0]] * 2)
    clf.predict_proba(TEXTS)


def _unlearn(clf: TextClassifier) -> None:
    expected = json.loads((GOLDEN / "format-2" / "expected.json").read_text(encoding="utf-8"))
    clf.unlearn(expected["texts"][:2], expected["labels"][:2])
    clf.predict(TEXTS)


def _save(clf: TextClassifier) -> None:
    with tempfile.TemporaryDirectory() as folder:
        clf.save(Path(folder) / "again.genus")


def _one_label(clf: TextClassifier) -> Any:
    return clf.classes_.tolist()[-1]


QUESTIONS: list[Callable[[TextClassifier], object]] = [
    lambda clf: clf.predict(TEXTS),
    lambda clf: clf.predict_one(TEXTS[0]),
    lambda clf: clf.predict_proba(TEXTS),
    lambda clf: clf.predict_top(TEXTS, 2),
    lambda clf: clf.predict(TEXTS * 30),  # many: by the quantized table
    lambda clf: clf.typicality(TEXTS),
    lambda clf: clf.explain(TEXTS[0]).to_dict(),
    lambda clf: clf.explain(TEXTS[1], label=_one_label(clf)).to_dict(),
    lambda clf: [clf.top_words(label, 5) for label in clf.classes_.tolist()],
    lambda clf: getattr(clf.model_, "coef_", None),
    lambda clf: clf.neighbors(TEXTS, 2),
    lambda clf: clf.predict_nodes(TEXTS, level=1),
    lambda clf: clf.word_levels("printer", None),
    lambda clf: [clf.node_words(node, 3) for node in getattr(clf.model_, "tree_", LabelTree({"a": None})).nodes],
    lambda clf: clf.hidden_nodes(_one_label(clf)),
    lambda clf: clf.mark(TEXTS[0], None),
    lambda clf: clf.review(TEXTS[:2], [_one_label(clf)] * 2),
    lambda clf: clf.leave_one_out_log_proba(TEXTS[:2], [_one_label(clf)] * 2),
    _save,
    _learn,
    _unlearn,
    lambda clf: clf.learn_one("printer", _one_label(clf)),
    lambda clf: clf.unlearn_documents([0]),
]
