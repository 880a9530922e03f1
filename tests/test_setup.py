"""What `make` sets up, when, and the one line that it says where a machine lacks something.

Nothing is built or downloaded: the programs that `make` calls are stand-ins in a folder of their own.
"""

from __future__ import annotations

import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
if not (ROOT / "Makefile").is_file():
    pytest.skip("genus is tested without its source tree", allow_module_level=True)
if shutil.which("make") is None:
    pytest.skip("there is no make here", allow_module_level=True)


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


class Machine:
    """A copy of the project's set-up, and the only programs that it finds."""

    def __init__(self, folder: Path) -> None:
        self.bin, self.root = folder / "bin", folder / "genus"
        for name in ("Makefile", "pyproject.toml", "constraints.txt", "CMakeLists.txt", "tools/setup.py"):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)
        for name in ("tools/unicode_tables.py", "src/genus/text/characters.py", "src/genus/__init__.py"):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)
        (self.root / "cpp").mkdir()
        (self.root / "cpp/kernel.cpp").write_text("// a kernel")
        (folder / "include").mkdir()
        (folder / "include/Python.h").touch()
        self.headers = f"sysconfig.get_path = lambda name: {str(folder / 'include')!r}"
        self.bin.mkdir()
        for name in ("sh", "make", "find"):
            (self.bin / name).symlink_to(shutil.which(name) or "")
        program(self.bin / "c++", "exit 0")
        self.python()
        program(self.bin / "genus", "exit 0")

    def python(self, change: str = "") -> None:
        """A python3 that differs from this one by a statement."""
        program(self.bin / "python3", self._running(change))

    def _running(self, change: str) -> str:
        code = f"import runpy, sys, sysconfig; {self.headers}; {change or 'pass'}; sys.argv = sys.argv[1:]; "
        code += "runpy.run_path(sys.argv[0], run_name='__main__')"
        return f'exec {shlex.quote(sys.executable)} -c {shlex.quote(code)} "$@"'

    def environment(self, pip: str = "exit 0") -> None:
        """An environment whose pip writes down what it is asked for, and then does this."""
        program(
            self.root / ".venv/bin/python",
            f'if [ "$1" = -c ]; then exit 0; fi\n'
            f'if [ "$1" = -m ]; then echo "$@" >> {self.root}/calls; {pip}; fi\n' + self._running(""),
        )

    def make(self, goal: str, **variables: str) -> subprocess.CompletedProcess[str]:
        (self.root / "calls").write_text("")
        surroundings = {"PATH": str(self.bin), "HOME": "/nowhere", **variables}
        return subprocess.run(
            ["make", goal], cwd=self.root, env=surroundings, capture_output=True, text=True, check=False
        )

    def refusal(self, goal: str = "run", **variables: str) -> str:
        """The one line that is said, apart from make's own."""
        done = self.make(goal, **variables)
        assert done.returncode != 0
        (line,) = [line for line in done.stderr.splitlines() if not line.startswith("make: ***")]
        assert line.startswith("genus: ")
        return line

    def installs(self, goal: str = "run") -> list[str]:
        """What pip is asked to install for a goal."""
        done = self.make(goal)
        assert done.returncode == 0, done.stderr
        return (self.root / "calls").read_text().splitlines()


@pytest.fixture
def machine(tmp_path) -> Machine:
    return Machine(tmp_path)


# ---------------------------------------------------------------- what a machine may lack


def test_no_python(machine):
    (machine.bin / "python3").unlink()
    assert "there is no python3: sudo apt-get install python3-venv" in machine.refusal()


def test_an_old_python(machine):
    machine.python('sys.version_info = (3, 10, 12, "final", 0)')
    said = machine.refusal("demo")
    assert "needs Python 3.11 or newer, and this is 3.10: install it" in said
    assert said.endswith("run make demo PYTHON=python3.12")


def test_an_old_python_beside_a_newer_one(machine):
    machine.python('sys.version_info = (3, 10, 12, "final", 0)')
    program(machine.bin / "python3.14", "exit 127")  # a shim of a version that is not installed
    program(machine.bin / "python3.13", "exit 0")
    assert machine.refusal("demo").endswith("this is 3.10: run make demo PYTHON=python3.13")


def test_setup_can_be_read_by_any_python_3():
    """The line for an older Python is said only if that Python can parse the whole file."""
    source = (ROOT / "tools/setup.py").read_text()
    compile(source, "setup.py", "exec", dont_inherit=True)
    newer = re.findall(r":=|^\s*match |except\*|from __future__", source, re.MULTILINE)
    assert newer == []


def test_no_compiler(machine):
    (machine.bin / "c++").unlink()
    assert "needs a C++ compiler: sudo apt-get install g++" in machine.refusal()
    assert not (machine.root / ".venv").exists()  # said before anything is downloaded


def test_the_compiler_that_cxx_names_is_honoured(machine):
    assert "CXX names the compiler clang++-99, which is not there" in machine.refusal(CXX="clang++-99 -v")
    (machine.bin / "c++").rename(machine.bin / "clang++-99")
    machine.environment()
    assert machine.make("run", CXX="clang++-99 -v").returncode == 0


def test_no_headers_of_python(machine, tmp_path):
    (tmp_path / "include/Python.h").unlink()
    assert re.search(r"needs the C headers of Python: sudo apt-get install python3\.\d+-dev", machine.refusal())


def test_no_venv_package(machine):
    machine.python('sys.modules["ensurepip"] = None')  # as Debian has it
    assert re.search(r"sudo apt-get install python3\.\d+-venv", machine.refusal())
    assert not (machine.root / ".venv").exists()


def test_an_environment_that_cannot_be_written(machine):
    (machine.root / ".venv").write_text("in the way")
    said = machine.refusal()
    assert "cannot set up .venv" in said
    assert "copy genus to a folder that you can write to" in said


def test_no_network(machine):
    machine.environment(
        """echo "WARNING: Retrying after connection broken by 'NewConnectionError(...)'"
        echo "ERROR: Could not find a version that satisfies the requirement click>=8.1"; exit 1"""
    )
    said = machine.refusal("test")
    assert "cannot reach the package index: connect to the network" in said
    assert "then run make test again" in said
    assert not (machine.root / ".venv/stamps").exists()


def test_what_pip_cannot_install(machine):
    machine.environment('echo "ERROR: No matching distribution found for numpy>=99."; exit 1')
    assert "(No matching distribution found for numpy>=99); .venv/setup.log" in machine.refusal()


def test_a_compiler_error_is_shown(machine):
    machine.environment(
        'case "$*" in *editable*) echo "noise"; echo "kernel.cpp:1:2: error: expected ;"; exit 1;; esac; exit 0'
    )
    done = machine.make("run")
    assert done.stderr.splitlines()[:2] == [
        "kernel.cpp:1:2: error: expected ;",
        "genus: the C++ code could not be built; .venv/setup.log has all that was said",
    ]


# ---------------------------------------------------------------- what is done, and when


@pytest.fixture
def ready(machine) -> Machine:
    machine.environment()
    machine.installs()
    return machine


def test_running_needs_no_development_tools(machine):
    machine.environment()
    needed, built = machine.installs("run")
    assert {"numpy>=1.26", "cmake>=3.20", "ninja>=1.11"} <= set(needed.split())
    assert "nanobind>=" in needed
    assert not re.search(r"pytest|mypy|ruff|pandas|clang-format", needed)
    assert "--editable ." in built


def test_what_is_there_is_not_done_again(ready):
    assert ready.installs() == []


def test_development_tools_come_on_top(ready):
    (added,) = ready.installs("dev")
    assert "pytest>=" in added
    assert "numpy>=1.26" not in added
    assert ready.installs("dev") == ready.installs("run") == []


def test_a_change_of_the_import_contract_or_of_documentation_does_nothing(ready):
    project = ready.root / "pyproject.toml"
    project.write_text(project.read_text().replace("Imports point down only", "Imports point down"))
    (ready.root / "README.md").write_text("New.")
    assert ready.installs() == []


def test_a_new_requirement_is_installed(ready):
    project = ready.root / "pyproject.toml"
    project.write_text(project.read_text().replace('"numpy>=1.26"', '"numpy>=1.27"'))
    assert "numpy>=1.27" in ready.installs()[0].split()


def test_a_new_module_is_made_known_and_an_edited_one_is_known(ready):
    module = ready.root / "src/genus/new.py"
    module.parent.mkdir(parents=True, exist_ok=True)
    module.write_text("x = 1")
    (built,) = ready.installs()
    assert "--editable ." in built
    module.write_text("x = 2")
    assert ready.installs() == []


def test_a_changed_kernel_is_built_and_nothing_is_installed(ready):
    (ready.root / "cpp/kernel.cpp").write_text("// a better kernel")
    (built,) = ready.installs()
    assert "--editable ." in built


# ---------------------------------------------------------------- lint


def test_lint_runs_every_tool_and_names_what_mends_those_that_failed(tmp_path, monkeypatch, capfd):
    spec = importlib.util.spec_from_file_location("genus_lint", ROOT / "tools/lint.py")
    lint = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lint)
    monkeypatch.setattr(lint, "BIN", tmp_path)
    for name, code in {"ruff": 1, "clang-format": 0, "mypy": 1, "lint-imports": 0, "python": 0}.items():
        program(tmp_path / name, f"exit {code}")
    program(tmp_path / "python", 'case "$*" in *stubs*) exit 1;; esac')
    with pytest.raises(SystemExit) as stopped:
        lint.main()
    assert stopped.value.code == 1
    out, err = capfd.readouterr()
    checks = [*lint.SOURCES, lint.BUILD, *lint.COMPILED]
    assert [line for line in out.splitlines() if line] == [f"--- {check.name}" for check in checks]
    failed = dict(re.findall(r"^  (\S.*?)  +(.*)$", err, re.MULTILINE))
    assert failed.keys() == {"ruff check", "ruff format", "mypy", "stubs"}
    assert failed["ruff format"] == "make format"
    assert failed["stubs"] == "make stubs"
