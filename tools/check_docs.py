"""Run what the documentation shows, and compare: `>>>` examples and `$ ` commands in README.md and docs/.

A fenced block marked `console` holds commands and what they print. Blocks of one file run in order, in a folder of
their own. `...` stands for anything, as in doctest. Blocks marked otherwise (`sh`) are not run.
"""

import doctest
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands(block: str) -> list[tuple[str, str]]:
    """Each command with the output that follows it. A line that ends in a backslash goes on."""
    found: list[tuple[str, str]] = []
    for line in block.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append((line[2:], ""))
        elif found and found[-1][0].endswith("\\\n"):
            found[-1] = (found[-1][0] + line, "")
        elif found:
            found[-1] = (found[-1][0], found[-1][1] + line)
    return found


def check_commands(path: Path, folder: str) -> int:
    bin_folder = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}", "COLUMNS": "80", "NO_COLOR": "1"}
    failures = 0
    for match in BLOCK.finditer(path.read_text()):
        if match[1] != "console":
            continue
        for command, expected in commands(match[2]):
            done = subprocess.run(
                command, shell=True, cwd=folder, env=environment, text=True, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
            if not doctest.OutputChecker().check_output(expected, done.stdout, FLAGS):
                failures += 1
                print(f"{path.relative_to(ROOT)}: $ {command}--- expected\n{expected}--- got\n{done.stdout}")
    return failures


def main() -> None:
    failures = 0
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        with tempfile.TemporaryDirectory() as folder:
            here = Path.cwd()
            failures += check_commands(path, folder)
            os.chdir(folder)  # examples may write files
            failures += doctest.testfile(str(path), module_relative=False, optionflags=FLAGS).failed
            os.chdir(here)
    if failures:
        sys.exit(f"{failures} examples in the documentation do not give what they show")


if __name__ == "__main__":
    main()
