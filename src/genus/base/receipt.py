"""What was learned, in short: how many documents, and a sum of hashes that says which.

    receipt = sum over documents of hash(content, label, weight)   modulo 2**64

The content is the text, where texts were learned, and the row of counts otherwise. A sum does not depend on the order
of documents or on their partition, and unlearning subtracts. But a sum cannot tell whether a document is among those
that were learned: for that, the hashes themselves are kept, 8 bytes a document.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from genus import _core
from genus.base.arrays import Float64, Int32, Int64, State, UInt64, mix64
from genus.base.labels import Labels, encode_labels
from genus.base.rows import SparseRows, add_duplicates
from genus.base.statistics import fixed_weights


def row_contents(rows: SparseRows, n_threads: int) -> UInt64:
    """A number for each row, by its words and their values."""
    rows = add_duplicates(rows)
    return np.asarray(_core.document_keys(rows.indptr, rows.indices, rows.data, n_threads))


class NeverLearnedError(ValueError):
    """A document was never learned with this label and weight."""

    def __init__(self, number: int) -> None:
        super().__init__(f"document {number} was never learned with this label and weight.")
        self.number = number


@dataclass(frozen=True, eq=False)
class Receipt:
    """How many documents were learned, the sum of their hashes, and the hashes unless memory has to stay bounded.

    Two receipts are equal where number and sum are.

    Attributes
    ----------
    n_documents : int
    total : int
        The sum, from 0 to 2**64 - 1.
    parts : tuple of uint64 arrays, or None
        The hashes, as documents came. Adding a part costs little: parts of similar length are joined.
    """

    n_documents: int
    total: int
    parts: tuple[UInt64, ...] | None

    @classmethod
    def of(cls, contents: UInt64, labels: Labels, codes: Int32, weights: Int64) -> Receipt:
        """The receipt of documents of classes ``labels[codes]``, with their weights in fixed point."""
        hashes = _core.receipt_hashes(contents, _label_hashes(labels), codes, weights)
        return cls(len(hashes), int(hashes.sum(dtype=np.uint64)), (hashes,))

    @classmethod
    def of_texts(cls, texts: object, y: Labels, weights: Float64 | None, n_threads: int) -> Receipt:
        """The receipt of texts of these labels and weights, by default 1.

        Examples
        --------
        >>> both = Receipt.of_texts(["a goal", "a bank"], np.array(["sport", "money"]), None, 1)
        >>> one = Receipt.of_texts(["a bank"], np.array(["money"]), None, 1)
        >>> (one.n_documents, str(one)), both.without(one) == Receipt.of_texts(["a goal"], np.array(["sport"]), None, 1)
        ((1, 'f02118a209732e08'), True)
        """
        contents = np.asarray(_core.text_keys(texts, n_threads))
        return cls.of(contents, *encode_labels(y), fixed_weights(weights, len(contents)))

    def plus(self, other: Receipt) -> Receipt:
        """The receipt of both sets of documents."""
        parts = None if self.parts is None or other.parts is None else _joined([*self.parts, *other.parts])
        return Receipt(self.n_documents + other.n_documents, (self.total + other.total) % 2**64, parts)

    def without(self, other: Receipt) -> Receipt:
        """The receipt as if the documents of ``other`` had never come.

        Raises NeverLearnedError where one never did, as far as that is known: without hashes it is not.
        """
        if self.parts is None or other.parts is None:
            return Receipt(self.n_documents - other.n_documents, (self.total - other.total) % 2**64, None)
        return self.without_numbers(self.locate(other))

    def without_numbers(self, numbers: Int64) -> Receipt:
        """The receipt without the documents of these numbers, as they came."""
        known = _one(self.parts or ())
        gone = int(known[numbers].sum(dtype=np.uint64))
        return Receipt(self.n_documents - len(numbers), (self.total - gone) % 2**64, (np.delete(known, numbers),))

    def locate(self, other: Receipt) -> Int64:
        """The number of each document of ``other``; of equal ones, of the latest first."""
        known, gone = _one(self.parts or ()), _one(other.parts or ())
        by_hash, wanted = np.argsort(known, kind="stable"), np.argsort(gone, kind="stable")
        ordered, asked = known[by_hash], gone[wanted]
        at = np.searchsorted(ordered, asked, side="right") - 1 - _repeats(asked)
        missing = at < 0
        missing[~missing] = ordered[at[~missing]] != asked[~missing]
        if missing.any():
            raise NeverLearnedError(int(wanted[missing].min()))
        numbers = np.empty(len(gone), dtype=np.int64)
        numbers[wanted] = by_hash[at]
        return numbers

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Receipt) and (self.n_documents, self.total) == (other.n_documents, other.total)

    def __hash__(self) -> int:
        return hash((self.n_documents, self.total))

    def __str__(self) -> str:
        return f"{self.total:016x}"

    def to_state(self, *, numbered: bool = False) -> dict[str, object]:
        """The receipt, as a model file keeps it: with hashes in order, or as documents came if these are numbered."""
        state: dict[str, object] = {"receipt_documents": self.n_documents, "receipt_sum": str(self)}
        if self.parts is None:
            return state
        hashes = _one(self.parts)
        return state | {"receipt_hashes": hashes if numbered else np.sort(hashes)}

    @classmethod
    def from_state(cls, state: State) -> Receipt | None:
        """What `to_state` gave, checked; None in files of the first releases."""
        if "receipt_sum" not in state:
            return None
        n, total, hashes = state["receipt_documents"], state["receipt_sum"], state.get("receipt_hashes")
        if type(n) is not int or n < 0 or not isinstance(total, str) or len(total) != 16:
            raise ValueError("the receipt must have a number of documents and a sum of 16 hexadecimal digits.")
        if hashes is None:
            return cls(n, int(total, 16), None)
        if not isinstance(hashes, np.ndarray) or hashes.dtype != np.uint64 or hashes.shape != (n,):
            raise ValueError(f"the receipt must have {n} hashes of 64 bits, one for each document.")
        return cls(n, int(total, 16), (hashes,))


def _label_hashes(labels: Labels) -> UInt64:
    if labels.dtype.kind in "US":
        texts = [x if isinstance(x, str) else x.decode("latin-1") for x in labels.tolist()]
        return np.asarray(_core.text_keys(texts, 1))
    return mix64(labels.astype(np.int64).view(np.uint64))  # whole, and equal to True, 1 and 1.0 alike


def _one(parts: tuple[UInt64, ...]) -> UInt64:
    return parts[0] if len(parts) == 1 else np.concatenate((np.empty(0, np.uint64), *parts))


def _joined(parts: list[UInt64]) -> tuple[UInt64, ...]:
    """Few parts, each at least twice as long as the next: an entry is copied as often as the logarithm of their sum."""
    joined: list[UInt64] = []
    for part in parts:
        joined.append(part)
        while len(joined) > 1 and len(joined[-2]) < 2 * len(joined[-1]):
            last = joined.pop()
            joined[-1] = np.concatenate((joined[-1], last))
    return tuple(joined)


def _repeats(ordered: NDArray[np.uint64]) -> NDArray[np.int64]:
    """How often each of some sorted numbers has come before."""
    return np.arange(len(ordered)) - np.searchsorted(ordered, ordered, side="left")
