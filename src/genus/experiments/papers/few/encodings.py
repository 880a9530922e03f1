"""Texts as an encoder's vectors, kept on disk: an encoder takes seconds for a hundred texts.

``GENUS_ENCODER`` names the folder of a sentence-transformers model. Its vectors of a set's texts are kept in the
subfolder ``encodings``, in two files: ``SET-KIND.npy`` has a row of float16 for each text, of unit length, and
``SET-KIND.keys.npy`` the first 16 bytes of each text's SHA-256. Where all texts are there, the model's library is not
needed.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genus.errors import DataError
from genus.io.atomic import written_whole

_BATCH = 64

Float32 = NDArray[np.float32]
Encode = Callable[[Sequence[str]], Float32]


def encoder_folder() -> Path | None:
    """The folder that ``GENUS_ENCODER`` names, if there is one."""
    given = os.environ.get("GENUS_ENCODER")
    return Path(given) if given and Path(given).is_dir() else None


def encoder_checksum() -> str:
    """Of the encoder's files but its encodings; empty without an encoder."""
    folder = encoder_folder()
    if folder is None:
        return ""
    found = hashlib.sha256()
    for file in sorted(folder.glob("*.safetensors")) + sorted(folder.glob("tokenizer.json")):
        with open(file, "rb") as opened:
            found.update(hashlib.file_digest(opened, "sha256").digest())
    return found.hexdigest()[:16]


class Encodings:
    """The vectors of a set's texts, from disk; of texts that are not there yet, from the encoder."""

    def __init__(self, folder: Path, encode: Encode, name: str) -> None:
        self._encode = encode
        self._files = folder / f"{name}.npy", folder / f"{name}.keys.npy"
        self._rows: dict[bytes, int] = {}
        self._vectors: NDArray[np.float16] = np.empty((0, 0), dtype=np.float16)
        if all(file.is_file() for file in self._files):
            self._vectors, keys = (np.load(file, allow_pickle=False) for file in self._files)
            if len(keys) != len(self._vectors):
                raise DataError(f"{self._files[0]} has {len(self._vectors)} rows, its keys {len(keys)}: delete both")
            self._rows = {key.tobytes(): row for row, key in enumerate(keys)}

    def __call__(self, texts: Sequence[str]) -> Float32:
        """The unit vectors of these texts, one row each."""
        keys = [key_of(text) for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._rows}
        if new:
            self._add(list(new), self._encode(list(new.values())))
        return self._vectors[[self._rows[key] for key in keys]].astype(np.float32)

    def _add(self, keys: Iterable[bytes], vectors: Float32) -> None:
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float16)
        self._vectors = np.concatenate([self._vectors, unit]) if self._rows else unit
        self._rows |= {key: row for row, key in enumerate(keys, len(self._rows))}
        self._files[0].parent.mkdir(parents=True, exist_ok=True)
        kept = np.frombuffer(b"".join(self._rows), dtype=np.uint8).reshape(-1, 16)
        arrays: tuple[NDArray[Any], ...] = self._vectors, kept
        for file, array in zip(self._files, arrays, strict=True):
            with written_whole(file) as opened:
                np.save(opened, array)


def key_of(text: str) -> bytes:
    """What a text's vector is found by."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]


def of_texts(folder: Path) -> Encode:
    """The encoder itself."""

    def encode(texts: Sequence[str]) -> Float32:
        return np.asarray(_model(folder).encode(list(texts), batch_size=_BATCH, show_progress_bar=False))

    return encode


def of_tokens(folder: Path) -> Encode:
    """The mean of the vectors of a text's tokens, each encoded alone: a static table, as model2vec makes it.

        E[w] = (encoder([CLS] w [SEP]) - mean) * log(2 + w) / log V

    where tokens w are numbered by their frequency, the most frequent first.
    """

    def encode(texts: Sequence[str]) -> Float32:
        table, tokenizer = _token_table(folder), _model(folder).tokenizer
        read = tokenizer(list(texts), add_special_tokens=False, truncation=False, verbose=False)["input_ids"]
        return np.stack([table[own].mean(axis=0) if own else np.zeros(table.shape[1], np.float32) for own in read])

    return encode


KINDS: dict[str, Callable[[Path], Encode]] = {"encoder": of_texts, "tokens": of_tokens}


def encodings(kind: str, name: str) -> Encodings:
    """Those of a set, by the encoder ("encoder") or by its tokens alone ("tokens")."""
    folder = encoder_folder()
    if folder is None:
        raise DataError("GENUS_ENCODER must be the folder of a sentence-transformers model")
    return Encodings(folder / "encodings", KINDS[kind](folder), f"{name}-{kind}")


@lru_cache(maxsize=1)
def _model(folder: Path) -> Any:
    try:
        library = import_module("sentence_transformers")
    except ImportError as error:
        raise DataError(
            f"{folder / 'encodings'} lacks some texts: install sentence-transformers to encode them"
        ) from error
    return library.SentenceTransformer(str(folder), device="cpu")


@lru_cache(maxsize=1)
def _token_table(folder: Path) -> Float32:
    model, torch = _model(folder), import_module("torch")
    start, end = model.tokenizer.cls_token_id, model.tokenizer.sep_token_id
    size = len(model.tokenizer)
    rows = []
    with torch.inference_mode():
        for first in range(0, size, 512):
            ids = torch.arange(first, min(first + 512, size))
            framed = torch.stack([torch.full_like(ids, start), ids, torch.full_like(ids, end)], dim=1)
            said = model({"input_ids": framed, "attention_mask": torch.ones_like(framed)})
            rows.append(said["sentence_embedding"].numpy())
    table = np.concatenate(rows).astype(np.float32)
    rank = np.log(2 + np.arange(size, dtype=np.float32)) / np.log(size)
    weighted: Float32 = (table - table.mean(axis=0)) * rank[:, np.newaxis]
    return weighted
