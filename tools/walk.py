"""Which files of genus run while texts go from a CSV file to an explained answer.

    python tools/walk.py [MODEL]

Trains (by default with automatic selection), predicts and explains in this process, and prints every file of the
package, apart from ``__init__.py``, in which a function was called after it was imported. The environment decides which
genus that is, so that an older version can be counted in the same way.
"""

import contextlib
import io
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import genus
from genus.cli import main as genus_command

PACKAGE = Path(genus.__file__).parent
FUNCTION = 1  # CO_OPTIMIZED: the body of a function, not of a module or class
LONGEST = 450  # lines of a file that is still read with ease


def files_of(work: Callable[[], object]) -> set[str]:
    """The files whose functions ``work`` calls, threads included, but for calls that an import makes."""
    found = set()

    def see(frame: FrameType, event: str, _: object) -> None:
        path = frame.f_code.co_filename
        if event != "call" or not frame.f_code.co_flags & FUNCTION or not path.startswith(f"{PACKAGE}/"):
            return
        if not path.endswith("__init__.py") and not is_importing(frame):
            found.add(path[len(str(PACKAGE)) + 1 :])

    sys.setprofile(see)
    threading.setprofile(see)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found


def is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        above = frame.f_back
        if frame.f_code.co_name == "<module>" and above and "importlib" in above.f_code.co_filename:
            return True
        frame = above
    return False


def run(*arguments: str) -> None:
    sys.argv = ["genus", *arguments]
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            genus_command()
    except SystemExit as error:
        if error.code:
            raise RuntimeError(printed.getvalue()) from error


def main() -> None:
    model = ["--model", sys.argv[1]] if len(sys.argv) > 1 else []
    every = set()
    with tempfile.TemporaryDirectory() as folder:
        table, file = f"{folder}/t.csv", f"{folder}/t.genus"
        words = ["red", "green", "blue", "white", "black", "grey", "pink", "brown"]
        rows = "".join(f"goal match {word},sport\nbank stock {word},money\n" for word in words)
        Path(table).write_text(f"text,label\n{rows}", encoding="utf-8")
        for command in (["train", table, *model, "--out", file], ["predict", file, table], ["explain", file, "goal"]):
            found = files_of(lambda command=command: run(*command))
            print(f"{len(found):4} {command[0]}")
            every |= found
    lines = sum(len((PACKAGE / name).read_text("utf-8").splitlines()) for name in every)
    print(f"{len(every):4} files in all, {lines:,} lines: with {LONGEST} lines each, {-(-lines // LONGEST)} files")
    print("\n".join(sorted(every)))


if __name__ == "__main__":
    main()
