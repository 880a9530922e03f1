"""Models in files: one safetensors file holds a tree of genus objects, their parameters and arrays.

The header's metadata carry ``genus_format`` (the version of what follows), ``genus_version`` (who wrote it)
and ``genus``, a JSON text with one node per object::

    {"class": "MultinomialNB", "params": {"alpha": 0.5}, "state": {"feature_count_": {"$": "array", ...}}}

JSON has fewer types than constructor parameters, so that whatever is not JSON is an object with the key
``$`` naming its kind. A file names classes, never code: only those in `_registry.CLASSES` are ever built, and
nothing in a file is imported, unpickled or evaluated.

An object persists if it has scikit-learn's ``get_params``, and ``_get_state`` and ``_set_state``, which give
and take a dict of arrays, `Strings`, JSON values and other such objects. Arrays come back as read-only views
of the mapped file: a model that changes its arrays in place copies them first.

The metadata also carry a checksum of each array (``genus_checksums``) and of that JSON text
(``genus_checksum``). Files without them open as before; earlier versions ignore them.
"""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from genus._registry import CLASSES, RETIRED_PARAMETERS, load_class
from genus.base.arrays import Strings
from genus.errors import ModelFileError
from genus.io import safetensors as _safetensors
from genus.io.model_header import FORMAT, model_tree, reason_of
from genus.io.safetensors import DTYPES, Array
from genus.io.safetensors_header import FormatError, JsonObject, read_header

if TYPE_CHECKING:
    from genus.base.protocol import KeepsState

_DTYPES = {dtype.name: dtype for dtype in DTYPES.values()}
_TYPES: dict[str, type] = {name: dtype.type for name, dtype in _DTYPES.items()}
_TYPES |= {"python bool": bool, "python int": int, "python float": float}
_TYPE_NAMES = {kind: name for name, kind in _TYPES.items()}
_MAX_DEPTH = 50
_CHECKSUM = "genus_checksum"
# What opening a file checks of its arrays, so that it takes milliseconds whatever the size: about a millisecond's work.
_CHECKED_BYTES = 2**23

Path = str | os.PathLike[str]


def save(model: object, path: Path) -> None:
    """Save a fitted model in one file.

    The file is written whole or not at all: a full disk or Ctrl-C leaves an older file as it was.
    """
    try:
        arrays: dict[str, Array] = {}
        tree = _Encoder(arrays).node(model, "", fitted=True)
        import genus

        text = json.dumps(tree, separators=(",", ":"))
        metadata = {
            "genus_format": str(FORMAT),
            "genus_version": genus.__version__,
            "genus": text,
            _CHECKSUM: _checksum_of(text),
        }
        _safetensors.write(path, metadata, arrays)
    except (OSError, FormatError) as error:
        raise ModelFileError(f"{os.fspath(path)}: not saved: {reason_of(error)}") from error


def load(path: Path, *, mmap: bool = True, verify: bool = False) -> Any:
    """Open a model saved by `save`.

    A file that is damaged, cut short, hostile or not a model raises `ModelFileError`.

    Parameters
    ----------
    path : path of a model file
    mmap : bool, default=True
        Map the arrays, so that a model of any size opens at once and processes share its memory. The file must then
        stay as it is while the model is used: replacing it, as `save` does, is safe, but a program that cuts it
        short in place ends this process (SIGBUS). With False the file is read into memory first.
    verify : bool, default=False
        Compare every array with its checksum, which reads the whole file. Otherwise this is done for the first
        8 MB: arrays of indices first, then the smallest.

    Returns
    -------
    The model.
    """
    try:
        metadata, arrays = _safetensors.map_arrays(path, mapped=mmap)
        tree = model_tree(metadata)
        if metadata.get(_CHECKSUM, expected := _checksum_of(metadata["genus"])) != expected:
            raise FormatError(f"is damaged: the description of its model does not have the checksum {expected}")
        _safetensors.check_arrays(metadata, arrays, None if verify else _CHECKED_BYTES)
        return _Decoder(arrays).node(tree, fitted=True)
    except (OSError, ValueError, MemoryError, RecursionError) as error:
        raise ModelFileError(f"{os.fspath(path)}: {reason_of(error)}") from error


def has_checksums(path: Path) -> bool:
    """Whether a model file has checksums: files of earlier versions have none."""
    return _safetensors.CHECKSUMS in read_header(path).metadata


def _checksum_of(text: str) -> str:
    return _safetensors.checksum(np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8))


def describe_file(path: Path) -> JsonObject:
    """What a model file holds, as JSON values, without building the model."""
    try:
        header = read_header(path)
        tree = model_tree(header.metadata)
        outline = _outline(tree)
    except (OSError, ValueError, MemoryError, RecursionError) as error:
        raise ModelFileError(f"{os.fspath(path)}: {reason_of(error)}") from error
    return {
        "path": os.fspath(path),
        "format": int(header.metadata["genus_format"]),
        "genus_version": header.metadata.get("genus_version"),
        **outline,
        "arrays": {
            name: {"dtype": DTYPES[entry.dtype].name, "shape": list(entry.shape), "bytes": entry.end - entry.begin}
            for name, entry in header.entries.items()
        },
        "bytes": header.size + sum(entry.end - entry.begin for entry in header.entries.values()),
    }


# ---------------------------------------------------------------- objects to JSON


class _Encoder:
    """Turns objects into JSON nodes and puts their arrays aside.

    An object that another one learned is saved with its state, one that was a parameter without.
    """

    def __init__(self, arrays: dict[str, Array]) -> None:
        self.arrays = arrays
        self.depth = 0

    def node(self, model: object, prefix: str, *, fitted: bool) -> JsonObject:
        name = type(model).__name__
        if not _is_ours(model):
            raise FormatError(f"{_kind(model)} cannot be saved, only {', '.join(sorted(CLASSES))}")
        node: JsonObject = {"class": name, "params": {}}
        for key, value in model.get_params(deep=False).items():
            where = f"{name}'s parameter {key}"
            node["params"][key] = self.value(value, f"{prefix}params/{key}", where, fitted=False)
        if fitted:
            node["state"] = {
                key: self.value(value, f"{prefix}{key}", f"{name}'s state {key}", fitted=True)
                for key, value in model._get_state().items()
            }
        return node

    def value(self, value: object, name: str, where: str, *, fitted: bool) -> Any:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise FormatError(f"{where} is nested over {_MAX_DEPTH} levels deep, or holds itself")
        encoded = self._value(value, name, where, fitted)
        self.depth -= 1
        return encoded

    def _value(self, value: object, name: str, where: str, fitted: bool) -> Any:
        def inner(item: object, key: object) -> Any:
            return self.value(item, f"{name}/{key}", where, fitted=fitted)

        if value is None or isinstance(value, (bool, str)):
            return str(value) if isinstance(value, str) else value
        if isinstance(value, np.generic) and value.dtype.name in _DTYPES:
            return {"$": "scalar", "dtype": value.dtype.name, "value": inner(value.item(), "value")}
        if type(value) is int or (type(value) is float and math.isfinite(value)):
            return value
        if type(value) is float:
            return {"$": "float", "value": str(value)}
        if isinstance(value, Strings):
            return self.strings(value, name, where, "Strings", [len(value)])
        if isinstance(value, np.ndarray):
            return self.array(value, name, where)
        if isinstance(value, np.dtype) and value.name in _DTYPES:
            return {"$": "dtype", "name": value.name}
        if isinstance(value, type) and value in _TYPE_NAMES:
            return {"$": "type", "name": _TYPE_NAMES[value]}
        if _is_ours(value):
            return {"$": "object", **self.node(value, f"{name}/", fitted=fitted)}
        if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
            items = [inner(item, i) for i, item in enumerate(value)]
            return items if type(value) is list else {"$": "tuple", "items": items}
        if isinstance(value, (set, frozenset)) and all(isinstance(item, str) for item in value):
            return {"$": "set" if isinstance(value, set) else "frozenset", "items": sorted(value)}
        if type(value) is dict:
            if all(isinstance(key, str) for key in value) and "$" not in value:
                return {key: inner(item, key) for key, item in value.items()}
            items = [inner(list(pair), i) for i, pair in enumerate(value.items())]
            return {"$": "dict", "items": items}
        raise FormatError(f"{where} is {_kind(value)} and cannot be saved: a model file holds only data")

    def array(self, value: Array, name: str, where: str) -> JsonObject:
        if value.dtype.kind in "UTO":
            items = value.ravel().tolist()
            if not all(isinstance(item, str) for item in items):
                raise FormatError(f"{where} holds objects other than strings and cannot be saved")
            return self.strings(Strings.pack(items), name, where, value.dtype.kind, list(value.shape))
        if not _safetensors.supports(value.dtype):
            raise FormatError(f"{where} is an array of {value.dtype}, which a model file cannot hold")
        return {"$": "array", "name": self.put(value, name)}

    def strings(self, value: Strings, name: str, where: str, kind: str, shape: list[int]) -> JsonObject:
        if not _are_strings(value):
            raise FormatError(f"{where} has wrong string offsets and cannot be saved")
        blob, offsets = self.put(value.blob, f"{name}.utf8"), self.put(value.offsets, f"{name}.offsets")
        return {"$": "strings", "utf8": blob, "offsets": offsets, "kind": kind, "shape": shape}

    def put(self, array: Array, name: str) -> str:
        name = name.encode("ascii", "backslashreplace").decode()  # a dict's keys may be any text
        while name in self.arrays or name == "__metadata__":
            name += "'"
        self.arrays[name] = array
        return name


def _is_ours(value: object) -> TypeGuard[KeepsState]:
    name = type(value).__name__
    if name not in CLASSES:
        return False
    from genus.base.protocol import KeepsState, offers  # with scikit-learn: whoever has such an object has loaded it

    return offers(value, KeepsState) and _resolve(name) is type(value)


def _kind(value: object) -> str:
    if callable(value) and hasattr(value, "__code__"):
        return "a function"
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def _resolve(name: str) -> type:
    try:
        found: type = load_class(name)
    except (ImportError, AttributeError) as error:
        raise FormatError(f"holds a {name}, which this genus does not have") from error
    return found


# ---------------------------------------------------------------- JSON to objects


class _Decoder:
    """Builds objects from JSON nodes. Whatever does not fit is a `FormatError`."""

    def __init__(self, arrays: dict[str, Array]) -> None:
        self.arrays = arrays

    def node(self, node: object, *, fitted: bool) -> Any:
        name, params, state = _parts(node)
        if name not in CLASSES:
            raise FormatError(f"holds a {name[:60]!r}, which is no class of this genus")
        cls = _resolve(name)
        retired = RETIRED_PARAMETERS.get(name, {})
        named = [(retired.get(key, key), value) for key, value in params.items()]
        arguments = {
            key: self.value(value, f"{name}'s {key[:60]}", fitted=False) for key, value in named if key is not None
        }
        try:
            model = cls(**arguments)
        except Exception as error:  # a hostile file may provoke anything
            raise FormatError(f"holds a {name} with wrong parameters: {reason_of(error)}") from error
        if fitted != (state is not None):
            raise FormatError(f"is damaged: a {name} in it is {'not fitted' if fitted else 'fitted'}")
        if state is not None:
            values = {key: self.value(value, f"{name}'s {key[:60]}", fitted=True) for key, value in state.items()}
            try:
                model._set_state(values)
                if hasattr(model, "_check_parameters"):
                    model._check_parameters()
            except Exception as error:
                reason = f"no {error}" if isinstance(error, KeyError) else reason_of(error)
                raise FormatError(f"holds a {name} that cannot be restored: {reason}") from error
        return model

    def value(self, value: Any, where: str, *, fitted: bool) -> Any:
        if isinstance(value, list):
            return [self.value(item, where, fitted=fitted) for item in value]
        if not isinstance(value, dict):
            return value
        if "$" not in value:
            return {key: self.value(item, where, fitted=fitted) for key, item in value.items()}
        try:
            return self.tagged(value, where, fitted)
        except (KeyError, TypeError, AttributeError, OverflowError) as error:
            raise FormatError(f"is damaged: {where} is not as genus writes it") from error

    def tagged(self, value: JsonObject, where: str, fitted: bool) -> Any:
        def inner(item: object) -> Any:
            return self.value(item, where, fitted=fitted)

        match value["$"]:
            case "array":
                return self.arrays[value["name"]]
            case "strings":
                return self.strings(value, where)
            case "object":
                return self.node({key: item for key, item in value.items() if key != "$"}, fitted=fitted)
            case "tuple":
                return tuple(map(inner, value["items"]))
            case "set":
                return set(_strings(value["items"]))
            case "frozenset":
                return frozenset(_strings(value["items"]))
            case "dict":
                return {inner(key): inner(item) for key, item in value["items"]}
            case "scalar":
                return _scalar(_DTYPES[value["dtype"]], inner(value["value"]))
            case "float":
                return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[value["value"]]
            case "dtype":
                return _DTYPES[value["name"]]
            case "type":
                return _TYPES[value["name"]]
        raise KeyError(value["$"])

    def strings(self, value: JsonObject, where: str) -> Strings | Array:
        strings = Strings(self.arrays[value["utf8"]], self.arrays[value["offsets"]])
        if not _are_strings(strings):
            raise FormatError(f"is damaged: {where} has wrong string offsets")
        if value["kind"] == "Strings":
            return strings
        if math.prod(value["shape"]) != len(strings):
            raise FormatError(f"is damaged: {where} does not have as many strings as its shape says")
        return _string_array(strings, value["kind"]).reshape(value["shape"])


def _parts(node: object) -> tuple[str, JsonObject, JsonObject | None]:
    if isinstance(node, dict) and {"class", "params"} <= set(node) <= {"class", "params", "state"}:
        name, params, state = node["class"], node["params"], node.get("state")
        if isinstance(name, str) and isinstance(params, dict) and (state is None or isinstance(state, dict)):
            return name, params, state
    raise FormatError("is damaged: an object in it is not described by class, params and state")


def _scalar(dtype: np.dtype[Any], value: Any) -> Any:
    if dtype.kind in "iu" and not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
        raise OverflowError(value)  # NumPy 1 would wrap around
    return dtype.type(value)


def _strings(items: object) -> list[str]:
    if not (isinstance(items, list) and all(isinstance(item, str) for item in items)):
        raise TypeError("not strings")
    return items


def _are_strings(strings: Strings) -> bool:
    """Checked in full, since native code walks the offsets without looking; each costs a nanosecond."""
    blob, offsets = strings
    return (
        (blob.dtype == np.uint8 and blob.ndim == 1)
        and (offsets.dtype == np.int64 and offsets.ndim == 1 and len(offsets) > 0)
        and (offsets[0], offsets[-1]) == (0, len(blob))
        and bool(np.all(offsets[:-1] <= offsets[1:]))
    )


def _string_array(strings: Strings, kind: str) -> Array:
    """The strings as a numpy array of kind ``U`` (fixed width), ``T`` (variable width) or ``O`` (objects)."""
    if kind == "U":
        return _fixed_width(strings)
    if kind == "T" and hasattr(np.dtypes, "StringDType"):
        return np.array(strings.unpack(), dtype=np.dtypes.StringDType())
    if kind in "TO":
        array: Array = np.empty(len(strings), dtype=object)
        array[:] = strings.unpack()
        return array
    raise KeyError(kind)


def _fixed_width(strings: Strings) -> Array:
    """A ``U`` array made without a Python string per item."""
    blob, offsets = np.asarray(strings.blob), np.asarray(strings.offsets)
    text = blob.tobytes().decode("utf-8", "surrogatepass")
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    if len(points) < len(blob):
        # Offsets in bytes become offsets in characters: one begins at each byte that continues none.
        begun = np.zeros(len(blob) + 1, dtype=np.int64)
        np.cumsum((blob & 0xC0) != 0x80, out=begun[1:])
        offsets = begun[offsets]
    lengths = np.diff(offsets)
    width = max(int(lengths.max(initial=0)), 1)
    if len(lengths) * width > 64 * (len(blob) + len(lengths)) + 2**20:
        return _string_array(strings, "O")  # one long string among many: a few bytes would swell to gigabytes
    table = np.zeros((len(lengths), width), dtype=np.uint32)
    table[np.arange(width) < lengths[:, np.newaxis]] = points
    return table.reshape(-1).view(f"<U{width}")


# ---------------------------------------------------------------- JSON for people


def _outline(node: object) -> JsonObject:
    name, params, state = _parts(node)
    children = {
        key: _outline({part: item for part, item in value.items() if part != "$"})
        for key, value in (state or {}).items()
        if isinstance(value, dict) and value.get("$") == "object"
    }
    plain = {key: _plain(value) for key, value in params.items()}
    return {"class": name, "params": plain, "children": children}


def _plain(value: Any) -> Any:
    """A parameter without the marks that JSON needs: tuples and sets as lists, types by name."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    match value.get("$"):
        case None:
            return {key: _plain(item) for key, item in value.items()}
        case "object":
            return _outline({part: item for part, item in value.items() if part != "$"})
        case "array" | "strings":
            return "array"
        case _:
            return _plain(next((value[key] for key in ("items", "value", "name") if key in value), None))
