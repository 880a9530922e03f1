"""Checks of what users give: which parameter or row, what was expected, what came."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeGuard

import numpy as np
from sklearn.utils.validation import (
    assert_all_finite,
    column_or_1d,
)

from genus.base.arrays import Float64
from genus.base.labels import Labels

if TYPE_CHECKING:
    from genus.base.protocol import Targets

SMALLEST = 1e-100  # smoothing below this would leave the range of 64-bit numbers somewhere on the way


def check_labels(y: Targets) -> Labels:
    refuse_missing(y)
    labels = column_or_1d(y, warn=True)
    assert_all_finite(labels, input_name="y")
    checked: Labels = labels
    return checked


def all_text(labels: Sequence[object]) -> bool:
    return all(isinstance(label, (str, bytes)) for label in labels)


def refuse_missing(y: object) -> None:
    """Refuse NaN and None in a list of texts, which NumPy would take for the texts "nan" and "None"."""
    if isinstance(y, (list, tuple)) and any(isinstance(label, str) for label in y) and not all_text(y):
        for row, label in enumerate(y):
            if label is None or label != label:
                raise ValueError(f"y must have a label for each document, got {label} in row {row}.")


def check_weights(sample_weight: object, n: int) -> Float64 | None:
    if sample_weight is None:
        return None
    weights = np.array(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n, weights)
    if weights.shape != (n,):
        raise ValueError(f"sample_weight must have shape ({n},), one weight for each document, got {weights.shape}.")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError("sample_weight must be finite and not negative.")
    return weights


def check_number(name: str, value: object, low: float, high: float, expected: str) -> None:
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    number = float(value) if is_number else math.nan  # type: ignore[arg-type]  # mypy does not follow the flag
    if not low <= number <= high or math.isinf(number):
        raise ValueError(f"{name} must be {expected}, got {value!r}.")


def check_positive(name: str, value: object) -> None:
    check_number(name, value, SMALLEST, math.inf, "a positive number")


def check_not_negative(name: str, value: object) -> None:
    check_number(name, value, 0, math.inf, "a number that is not negative")


def check_count(name: str, value: object) -> int:
    if not is_whole(value, 1):
        raise ValueError(f"{name} must be a positive integer, got {value!r}.")
    return int(value)


def is_whole(value: object, least: int) -> TypeGuard[int]:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and bool(value >= least)


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be {' or '.join(map(repr, choices))}, got {value!r}.")


def check_steps(name: str, value: object, least: int, otherwise: str = "") -> None:
    if not is_whole(value, least):
        raise ValueError(f"{name} must be {otherwise}a whole number of at least {least}, got {value!r}.")
