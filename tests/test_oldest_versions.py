"""`make test-oldest` tests the oldest versions that pyproject.toml allows, and no newer ones."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PYPROJECT["project"]["optional-dependencies"]


def pins() -> dict[str, Version]:
    lines = (ROOT / "constraints-oldest.txt").read_text(encoding="utf-8").splitlines()
    found = [re.fullmatch(r"([\w.-]+)==([\w.]+)", line) for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(pin[1]): Version(pin[2]) for pin in found if pin}


def bounds(requirements: list[str]) -> dict[str, Version]:
    read = [Requirement(text) for text in requirements]
    return {canonicalize_name(r.name): Version(s.version) for r in read for s in r.specifier if s.operator == ">="}


@pytest.mark.parametrize(
    "requirements",
    [
        pytest.param(PYPROJECT["project"]["dependencies"], id="dependencies"),
        pytest.param(EXTRAS["frames"], id="frames"),
        pytest.param(PYPROJECT["build-system"]["requires"], id="build"),
    ],
)
def test_every_lower_bound_of_users_is_tested(requirements: list[str]) -> None:
    assert len(bounds(requirements)) == len(requirements)
    assert bounds(requirements).keys() <= pins().keys()


def test_what_is_tested_is_the_lower_bound() -> None:
    """The first release of that series, or a later one where the first has no wheel."""
    declared = (
        PYPROJECT["project"]["dependencies"] + EXTRAS["dev"] + EXTRAS["frames"] + PYPROJECT["build-system"]["requires"]
    )
    tested = pins()
    for name, bound in bounds(declared).items():
        if name in tested:
            assert tested[name].release[: len(bound.release)] == bound.release, name
