"""Run every check, then name those that failed and what mends each.

The checks that read only the sources come first; the last two need the compiled module, which is built before them.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
CPP = sorted(str(file) for file in (ROOT / "cpp").rglob("*") if file.suffix in (".h", ".cpp"))


class Check(NamedTuple):
    name: str
    command: list[str]
    mend: str


SOURCES = [
    Check("ruff check", ["ruff", "check", "."], "make format mends some; the rest by hand"),
    Check("ruff format", ["ruff", "format", "--check", "."], "make format"),
    Check("clang-format", ["clang-format", "--dry-run", "--Werror", *CPP], "make format"),
    Check("mypy", ["mypy"], "by hand, then .venv/bin/mypy"),
    Check("imports", ["lint-imports", "--no-cache"], "by hand, or the contract in pyproject.toml"),
]
BUILD = Check("build", ["python", "tools/setup.py", "run", "build"], "what is said above, then make setup")
COMPILED = [
    Check("stubs", ["python", "tools/stubs.py", "--check"], "make stubs"),
    Check("documentation", ["python", "tools/check_docs.py"], "make docs (commands), by hand (>>> examples)"),
]


def passes(check: Check) -> bool:
    print(f"--- {check.name}", flush=True)
    program, *arguments = check.command
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")} if check in SOURCES else None
    return subprocess.run([BIN / program, *arguments], cwd=ROOT, env=environment).returncode == 0


def main() -> None:
    failed = [check for check in SOURCES if not passes(check)]
    if passes(BUILD):
        failed += [check for check in COMPILED if not passes(check)]
    else:
        failed.append(BUILD)
    if failed:
        width = max(len(check.name) for check in failed)
        print("\nfailed:", *(f"  {check.name:<{width}}  {check.mend}" for check in failed), sep="\n", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
