"""Compile the native kernels with Clang for other machines: does the code depend on one compiler?

Every kernel is compiled for Linux on x86-64 and arm64, macOS on arm64, Windows on x86-64 and, without threads,
WebAssembly, warnings being errors; nothing is linked or run. The compiler comes with `ziglang`. For x86-64 the vector
code is compiled as it will be used, and its assembly is read: each level must use its own registers, and not define a
function that the linker could take for another level's.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
TARGETS = ("x86_64-linux-gnu", "aarch64-linux-gnu", "aarch64-macos", "x86_64-windows-gnu", "wasm32-wasi")
FLAGS = (
    "-std=c++20", "-ffp-contract=off", "-Icpp",
    "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-psabi", "-Wno-unused-command-line-argument",
)  # fmt: skip
WASM_FLAGS = ("-DGENUS_SERIAL", "-fwasm-exceptions", "-mexception-handling", "-msimd128")
LEVELS = {"Baseline": (), "V3": ("-march=x86_64_v3",), "V4": ("-march=x86_64_v4",)}  # as Zig spells them
REGISTERS = {"Baseline": "xmm", "V3": "ymm", "V4": "[yz]mm"}


class Compilation(NamedTuple):
    source: Path
    target: str
    level: str | None  # for x86-64, with optimisation; otherwise only whether it compiles


def compilations() -> Iterator[Compilation]:
    sources = sorted(path.relative_to(ROOT) for path in (ROOT / "cpp").rglob("*.cpp") if path.parent.name != "bindings")
    for source in sources:
        for target in TARGETS:
            yield Compilation(source, target, None)
        if source.name.endswith(".simd.cpp"):
            for level in LEVELS:
                yield Compilation(source, TARGETS[0], level)


def problems(compilation: Compilation, folder: Path) -> str:
    """What is wrong with it, or nothing."""
    source, target, level = compilation
    out = folder / f"{abs(hash(compilation))}.s"
    tag = f"-DGENUS_SIMD_LEVEL={level or 'Baseline'}"
    how = ("-O0", "-c") if level is None else ("-O2", "-S", *LEVELS[level])
    if target.startswith("wasm32"):
        how += WASM_FLAGS
    command = [sys.executable, "-m", "ziglang", "c++", "-target", target, *FLAGS, f"-I{folder}", tag, *how]
    done = subprocess.run([*command, str(source), "-o", str(out)], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        return done.stderr.strip()
    if level is None:
        return ""
    assembly = out.read_text(encoding="latin-1")
    found = [f"defines {name}, which other levels may define too" for name in re.findall(r"\.weak\t(\S+)", assembly)]
    if not re.search(rf"%({REGISTERS[level]})", assembly):
        found.append("uses no vector registers of its level")
    return "\n".join(found)


def main() -> None:
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(os.cpu_count()) as workers:
        folder = Path(name)
        tables = folder / "unicode_tables.inc"
        subprocess.run([sys.executable, ROOT / "tools/unicode_tables.py", tables], check=True)
        wanted = list(compilations())
        failed = 0
        for compilation, problem in zip(wanted, workers.map(lambda c: problems(c, folder), wanted), strict=True):
            if problem:
                failed += 1
                print(f"{compilation.source} for {compilation.target} {compilation.level or ''}:\n{problem}\n")
    print(f"{len(wanted)} compilations for {', '.join(TARGETS)}: {failed or 'none'} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
