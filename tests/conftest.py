"""What the tests share."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # read when scipy is first imported; scikit-learn's checks want it

from genus.datasets import Dataset, data_folders, find_dataset, load_dataset
from genus.errors import DataError

signal.signal(signal.SIGINT, signal.default_int_handler)  # children inherit a Ctrl-C that the caller's shell ignores

# No deadlines: on a busy machine any example may be slow. Where CI is set, the examples are the same in every run.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not data_folders():
        for item in items:
            if item.get_closest_marker("data"):
                item.add_marker(pytest.mark.skip(reason="no data folder: set GENUS_DATA"))


@pytest.fixture
def load(request: pytest.FixtureRequest) -> Callable[..., Dataset]:
    """Loads a real data set, for tests marked `data`; skips the test where the data folder has no such set."""
    assert request.node.get_closest_marker("data"), "a test that loads real data is marked data"

    def load_or_skip(name: str, *args: Any) -> Dataset:
        try:
            find_dataset(name)
        except DataError as error:
            pytest.skip(str(error))
        return load_dataset(name, *args)

    return load_or_skip
