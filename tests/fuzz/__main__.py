"""Try mutated files for a while: `make fuzz`, or `python -m fuzz --seconds 60 --first 0 --base dmnb.genus`.

Cases run in a worker process, so that a crash is a finding like any other, and so is one that does not end. Each
finding is printed once, and its file kept: put it into tests/fuzz/findings, where the tests try it from then on.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections import Counter
from pathlib import Path

from fuzz.cases import Case, all_bases
from fuzz.worker import Worker


def main() -> int:
    parser = argparse.ArgumentParser(prog="make fuzz")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--base", action="append", help="only this base; may be repeated")
    parser.add_argument("--out", type=Path, default=Path("build/fuzz"))
    args = parser.parse_args()
    bases = [base for base in all_bases() if not args.base or any(name in base for name in args.base)]
    worker, n_files, seen = Worker(), Counter[str](), Counter[str]()
    end = time.monotonic() + args.seconds
    for seed in itertools.count(args.first):
        for base in bases:
            if time.monotonic() > end:
                print(f"{n_files.total():,} mutated files (seeds {args.first} to {seed}), {len(seen)} findings")
                print(", ".join(f"{base} {n:,}" for base, n in n_files.items()))
                return 1 if seen else 0
            n_files[base] += 1
            for finding in worker.run(Case(base, seed)):
                seen[finding] += 1
                if seen[finding] == 1:
                    print(f"{base} {seed}: {finding}", flush=True)
                    _keep(args.out, Case(base, seed))
    raise AssertionError("seeds never end")


def _keep(folder: Path, case: Case) -> None:
    """A file is named for its base, which says how to read it."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{case.seed}-{case.base.replace('/', '-')}" if not case.base.startswith(".") else f"{case.seed}{case.base}"
    (folder / name).write_bytes(case.content())


if __name__ == "__main__":
    sys.exit(main())
