"""Put what is needed into .venv, and do nothing where it is there already: setup.py GOAL ...

run: what genus needs to be built and to run; dev: what tests and lint need besides; bench: the peers of the benchmarks;
portable: a compiler for other machines; wheels: that, and what checks wheels; build: genus itself, compiled again where
its C++ code has changed.

What was done last is known by hashes of what it was made from, in .venv/stamps: an edit of pyproject.toml that changes
no requirement installs nothing. What the machine lacks is said in one line. The output of pip and of the compiler is in
.venv/setup.log.
"""

# An older Python is told so before anything that it lacks is imported or defined:
# ruff: noqa: E402, UP036

import os
import shutil
import subprocess
import sys

MAKE = f"make {os.environ.get('GENUS_GOALS') or 'demo'}"

if sys.version_info < (3, 11):
    names = ("python3.14", "python3.13", "python3.12", "python3.11")
    found = [
        name
        for name in names
        if shutil.which(name) and not subprocess.call([name, "-c", ""], stderr=subprocess.DEVNULL)
    ]
    install = "" if found else "install it (sudo apt-get install python3.12-venv python3.12-dev), then "
    sys.exit(
        f"genus: needs Python 3.11 or newer, and this is {sys.version_info[0]}.{sys.version_info[1]}: "
        f"{install}run {MAKE} PYTHON={(found or ['python3.12'])[0]}"
    )

import hashlib
import json
import re
import shlex
import sysconfig
import tomllib
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin/python"
LOG = VENV / "setup.log"
NOW = f"python{sys.version_info.major}.{sys.version_info.minor}"  # also the beginning of Debian's package names
OFFLINE = re.compile(
    r"connection broken by|new connection|max retries exceeded|timed out|name resolution|proxyerror", re.IGNORECASE
)
NO_VENV = f"needs Python's venv module with pip: sudo apt-get install {NOW}-venv"
ELSEWHERE = "copy genus to a folder that you can write to"
WHAT = {
    "run": "what genus needs to run", "dev": "what tests and lint need", "bench": "the peers of the benchmarks",
    "portable": "a compiler for other machines", "wheels": "a compiler for other machines and what checks wheels",
}  # fmt: skip


def main(goals: list[str]) -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    constraints = (ROOT / "constraints.txt").read_text("utf-8")
    needed = {goal: requirements(settings, goal) for goal in goals if goal != "build"}
    prints = {goal: fingerprint(names, constraints) for goal, names in needed.items()}
    if "build" in goals:
        prints["build"] = fingerprint(build_inputs(settings, constraints))
    stale = [goal for goal in goals if stamp(goal) != prints[goal]]
    if not stale:
        return
    if "build" in stale:
        check_compiler()
    if not has_pip():
        create_environment()
    LOG.write_text("")
    missing = [goal for goal in stale if goal != "build"]
    if missing:
        print(f"installing {' and '.join(WHAT[goal] for goal in missing)}", flush=True)
        install(sorted({name for goal in missing for name in needed[goal]}))
        set_stamps(missing, prints)
    if "build" in stale:
        print("building genus", flush=True)
        build()
        set_stamps(["build"], prints)


def requirements(settings: dict[str, Any], goal: str) -> list[str]:
    project = settings["project"]
    if goal == "run":
        return [
            *project["dependencies"],
            *settings["build-system"]["requires"],
            *settings["dependency-groups"]["build"],
        ]
    groups = settings["dependency-groups"] | project["optional-dependencies"]
    return list(groups[goal])


def build_inputs(settings: dict[str, Any], constraints: str) -> list[Any]:
    """All that the compiled module and the installed metadata depend on."""
    project = {key: value for key, value in settings["project"].items() if key != "optional-dependencies"}
    tools = requirements(settings, "run")[len(project["dependencies"]) :]
    names = {_name(tool) for tool in tools}
    pins = [line for line in constraints.splitlines() if _name(line) in names]
    sources = ("CMakeLists.txt", "tools/unicode_tables.py", "src/genus/text/characters.py", "src/genus/__init__.py")
    files = [*(ROOT / name for name in sources), *sorted((ROOT / "cpp").rglob("*"))]
    contents = {
        file.relative_to(ROOT).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
        if file.is_file()
    }
    # An editable install knows modules by name: it is made again when one comes, goes or moves.
    modules = sorted(file.relative_to(ROOT).as_posix() for file in (ROOT / "src").rglob("*.py"))
    return [project, settings["build-system"], settings["tool"]["scikit-build"], tools, pins, contents, modules]


def _name(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement)[0].replace("_", "-").lower()


def fingerprint(*inputs: Any) -> str:
    return hashlib.sha256(json.dumps([NOW, inputs]).encode()).hexdigest()


def stamp(goal: str) -> str:
    file = VENV / "stamps" / goal
    return file.read_text() if file.is_file() else ""


def set_stamps(goals: list[str], prints: dict[str, str]) -> None:
    (VENV / "stamps").mkdir(exist_ok=True)
    for goal in goals:
        (VENV / "stamps" / goal).write_text(prints[goal])


# ---------------------------------------------------------------- the steps


def check_compiler() -> None:
    """CMake looks for a compiler in the same places."""
    chosen = shlex.split(os.environ.get("CXX", ""))
    if chosen and not shutil.which(chosen[0]):
        fail(f"CXX names the compiler {chosen[0]}, which is not there: install it, or unset CXX")
    if not chosen and not any(map(shutil.which, ("c++", "g++", "clang++"))):
        fail("needs a C++ compiler: sudo apt-get install g++ (macOS: xcode-select --install)")
    if not (Path(sysconfig.get_path("include")) / "Python.h").is_file():
        fail(f"needs the C headers of Python: sudo apt-get install {NOW}-dev")


def has_pip() -> bool:
    """False also where an upgrade of Python has left an environment behind that is of no use."""
    if not os.access(PYTHON, os.X_OK):
        return False
    return subprocess.run([PYTHON, "-c", "import pip"], capture_output=True).returncode == 0


def create_environment() -> None:
    try:
        import ensurepip  # noqa: F401
    except ImportError:
        fail(NO_VENV)
    print("setting up .venv, once: a few minutes, most of them for compiling", flush=True)
    base = getattr(sys, "_base_executable", sys.executable)
    done = subprocess.run([base, "-m", "venv", "--clear", VENV], text=True, capture_output=True)
    if done.returncode:
        shutil.rmtree(VENV, ignore_errors=True)
        said = (done.stderr + done.stdout).strip().splitlines() or ["no reason given"]
        if "ensurepip" in " ".join(said):
            fail(NO_VENV)
        fail(f"cannot set up .venv ({said[-1].removeprefix('Error: ')}): {ELSEWHERE}")


def install(names: list[str]) -> None:
    done = pip("--constraint", "constraints.txt", *(name.replace(" ", "") for name in names))
    if done:
        return
    said = LOG.read_text("utf-8", "replace")
    if OFFLINE.search(said):
        fail(
            "cannot reach the package index: connect to the network, or set PIP_INDEX_URL (a mirror) or PIP_FIND_LINKS "
            f"(a folder of wheels), then run {MAKE} again; .venv/setup.log has the details"
        )
    fail(f"pip could not install what is needed ({first_error(said)}); .venv/setup.log has the details")


def build() -> None:
    if pip("--verbose", "--no-build-isolation", "--no-deps", "--editable", "."):
        return
    said = LOG.read_text("utf-8", "replace")
    wrong = [line.strip() for line in said.splitlines() if re.search(r"\b(fatal )?error\b:|CMake Error", line)]
    print(*wrong[:20], sep="\n", file=sys.stderr)
    fail("the C++ code could not be built; .venv/setup.log has all that was said")


def pip(*arguments: str) -> bool:
    """Whether pip could install this; what it says goes to the log."""
    patience = {"PIP_RETRIES": "2", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_PROGRESS_BAR": "off"}
    command = [PYTHON, "-m", "pip", "install", *arguments]
    with LOG.open("a") as log:
        done = subprocess.run(command, cwd=ROOT, env=patience | os.environ, stdout=log, stderr=subprocess.STDOUT)
    return done.returncode == 0


def first_error(said: str) -> str:
    errors = [line.removeprefix("ERROR:").strip() for line in said.splitlines() if line.startswith("ERROR:")]
    return errors[0].rstrip(".") if errors else "no reason given"


def fail(message: str) -> NoReturn:
    sys.exit(f"genus: {message}")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        fail(f"cannot write to {error.filename or VENV} ({reason}): {ELSEWHERE}")
    except KeyboardInterrupt:
        fail(f"stopped; run {MAKE} to go on")
