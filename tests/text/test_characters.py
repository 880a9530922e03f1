"""The tokenizer's characters: those of the interpreter that runs, whatever Python genus was compiled with."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest

from genus import Vectorizer, _core
from genus.text import characters
from reference import characters as reference

pytestmark = pytest.mark.kernel

# What reference/characters.py printed in CPython 3.11.3, 3.12.7, 3.13.2, 3.14.2 and 3.15.0rc1.
DIGESTS = {
    "14.0.0": ["f15ceb2ad2297ab7", "2466d4696a14b831", "9e9f87b30cd5907f", "61e5be521a62dce6"],
    "15.0.0": ["ebfeca4bdd6d2143", "61b8cd546b9c53dd", "dfbe4fedc8b9e91b", "0770ab92621542d1"],
    "15.1.0": ["4e29286211a3af16", "c3c9f8fa65a33a21", "dfbe4fedc8b9e91b", "e6bf703014411472"],
    "16.0.0": ["a4e8771e2d72c4ed", "9633e616bba6a687", "21240ee8e1eb8985", "e22e3d5b98b948f6"],
    "17.0.0": ["cd50c01ab4b542b6", "e644232a63a06554", "bad719b2d34fb488", "698f26a440a461c2"],
}  # fmt: skip


@pytest.fixture
def _own_tables_afterwards() -> Iterator[None]:
    yield
    assert _core.use_unicode(unicodedata.unidata_version)


def found_words(way: str) -> Iterable[str]:
    options: dict[str, Any] = reference.WAYS[way]
    return Vectorizer(dtype=np.float32, **options).fit(reference.TEXTS).get_feature_names_out().tolist()


@pytest.mark.parametrize("way", reference.WAYS)
def test_every_character_is_treated_as_by_this_interpreter(way: str) -> None:
    assert set(found_words(way)) == reference.words(way)


@pytest.mark.usefixtures("_own_tables_afterwards")
@pytest.mark.parametrize("way", reference.WAYS)
@pytest.mark.parametrize("version", DIGESTS)
def test_every_character_is_treated_as_by_other_interpreters(version: str, way: str) -> None:
    assert _core.use_unicode(version)
    assert reference.digest(found_words(way)) == DIGESTS[version][list(reference.WAYS).index(way)]


@pytest.mark.usefixtures("_own_tables_afterwards")
def test_tables_of_an_unknown_version_are_made_from_the_interpreter() -> None:
    assert not _core.use_unicode("99.0.0")
    assert _core.use_unicode(min(DIGESTS.keys() - {unicodedata.unidata_version}))  # another one than ours
    characters.teach(_core)
    for way in reference.WAYS:
        assert set(found_words(way)) == reference.words(way)
