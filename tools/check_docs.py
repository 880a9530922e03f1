"""Run what the documentation shows, and compare: `>>>` examples and `$ ` commands in README.md and docs/.

A fenced block marked `console` holds commands and what they print. Blocks of one file run in order, in a folder of
their own. `...` stands for anything, as in doctest. Blocks marked otherwise (`sh`) are not run.
With --write, what commands print now is put into the files, times and sizes replaced by `...`.
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
BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
# A command goes on over lines that end in a backslash, and to the END of a here-document.
COMMAND = re.compile(r"^\$ (.*<<END\n(?:.*\n)*?END\n|(?:.*\\\n)*.*\n)((?:(?!\$ ).*\n)*)", re.MULTILINE)


def run(command: str, folder: str) -> str:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "80", "NO_COLOR": "1"}
    done = subprocess.run(
        command, shell=True, cwd=folder, env=environment, text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return re.sub(r"[ \t]+$", "", done.stdout, flags=re.MULTILINE)


def check_commands(path: Path, folder: str) -> int:
    failures = 0
    for block in BLOCK.findall(path.read_text()):
        for command, expected in COMMAND.findall(block):
            got = run(command, folder)
            if not doctest.OutputChecker().check_output(expected, got, FLAGS):
                failures += 1
                print(f"{path.relative_to(ROOT)}: $ {command}--- expected\n{expected}--- got\n{got}")
    return failures


def write_commands(path: Path, folder: str) -> None:
    def again(match: re.Match[str]) -> str:
        output = re.sub(r"\b\d+\.\d+ (s|KB)\b", r"... \1", run(match[1], folder))
        blank = "\n" if match[2].endswith("\n\n") and not output.endswith("\n\n") else ""
        return f"$ {match[1]}{output}{blank}"

    path.write_text(BLOCK.sub(lambda block: COMMAND.sub(again, block[0]), path.read_text()))


def main() -> None:
    failures = 0
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        with tempfile.TemporaryDirectory() as folder:
            if "--write" in sys.argv:
                write_commands(path, folder)
                continue
            failures += check_commands(path, folder)
            os.chdir(folder)  # examples may write files
            failures += doctest.testfile(str(path), module_relative=False, optionflags=FLAGS).failed
            os.chdir(ROOT)
    if failures:
        sys.exit(f"{failures} examples in the documentation do not give what they show")


if __name__ == "__main__":
    main()
