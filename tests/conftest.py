"""What the tests share."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # read when scipy is first imported; scikit-learn's checks want it

from genus.datasets import Dataset, data_folders, load_dataset

signal.signal(signal.SIGINT, signal.default_int_handler)  # children inherit a Ctrl-C that the caller's shell ignores


@pytest.fixture
def load() -> Callable[..., Dataset]:
    """Loads a real data set; skips the test where the data folder is absent."""
    if not data_folders():
        pytest.skip("no data folder: set GENUS_DATA")
    return load_dataset
