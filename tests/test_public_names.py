"""genus uses what NumPy, SciPy and scikit-learn promise to keep, for their versions are not bounded from above."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import genus

PACKAGES = {"numpy", "scipy", "sklearn"}
UNDOCUMENTED = {"sklearn.externals", "sklearn.utils.fixes"}  # without an underscore, but not in the reference
FOLDER = Path(genus.__file__).parent


def private_names(source: str) -> list[str]:
    """Names in these packages that are imported, or reached as attributes of an imported module, and are private."""
    tree = ast.parse(source)
    imported = list(_imported(tree))
    modules, names = dict(imported), [name for _, name in imported]
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and (path := _path(node)):
            first, *rest = path
            if first in modules:
                names.append(".".join([modules[first], *rest]))
    return sorted({name for name in names if _is_private(name)})


def _imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """The local and the full name of everything imported from these packages."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found = [(a.asname or "", a.name) for a in node.names]
            found += [(package, package) for a in node.names if (package := a.name.partition(".")[0]) and not a.asname]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found = [(a.asname or a.name, f"{node.module}.{a.name}") for a in node.names]
        else:
            continue
        for local, name in found:
            if name.partition(".")[0] in PACKAGES:
                yield local, name


def _path(node: ast.expr) -> list[str]:
    """``["np", "linalg", "norm"]`` for ``np.linalg.norm``; empty for anything but names."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Attribute) and (rest := _path(node.value)):
        return [*rest, node.attr]
    return []


def _is_private(name: str) -> bool:
    parts = name.split(".")
    hidden = any(part.startswith("_") and not part.endswith("__") for part in parts)
    return hidden or any(name == module or name.startswith(f"{module}.") for module in UNDOCUMENTED)


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.py")), ids=lambda path: str(path.relative_to(FOLDER)))
def test_no_module_uses_a_private_name_of_its_dependencies(path: Path) -> None:
    assert private_names(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from sklearn.utils import _safe_indexing", ["sklearn.utils._safe_indexing"]),
        ("from sklearn.model_selection._search import BaseSearchCV", ["sklearn.model_selection._search.BaseSearchCV"]),
        ("import numpy as np\nnp.core._exceptions.X", ["numpy.core._exceptions", "numpy.core._exceptions.X"]),
        ("def f():\n    from sklearn.utils.fixes import parse_version", ["sklearn.utils.fixes.parse_version"]),
        ("from scipy import sparse as sp\nsp._csr", ["scipy.sparse._csr"]),
        ("import scipy.sparse\nscipy.sparse._csr", ["scipy.sparse._csr"]),
        ("import scipy._lib", ["scipy._lib"]),
        ("import scipy.sparse\nscipy.sparse.csr_array, scipy.__version__", []),
        ("from genus._arrays import Float64\nimport numpy as np\nnp.linalg.norm", []),
    ],
)
def test_private_names_are_found(source: str, found: list[str]) -> None:
    assert private_names(source) == found
