"""Copy the files that git knows, or would add, to a new folder, with an environment that runs them without a build."""

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from shutil import copy2, copytree

HERE = Path(__file__).parents[1]


def copy_files(target: Path) -> None:
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=HERE, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if (HERE / name).is_file():  # not one that was deleted
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            copy2(HERE / name, target / name)


def make_environment(target: Path) -> None:
    """A `.venv` whose genus is the copied source, with the compiled module and the other packages of this one."""
    packages = Path(sysconfig.get_path("purelib"))
    for compiled in (packages / "genus").glob("_core.*"):
        copy2(compiled, target / "src" / "genus")
    venv.create(target / ".venv", symlinks=True)
    copytree(HERE / ".venv" / "stamps", target / ".venv" / "stamps")  # so that nothing is set up again
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    # Of these paths, the .pth files are not read: they would bring in the genus that is installed here.
    paths = target / ".venv" / "lib" / version / "site-packages" / "copy.pth"
    paths.write_text(f"{target / 'src'}\n{packages}\n")
    program = target / ".venv" / "bin" / "genus"
    rest = (Path(sys.executable).parent / "genus").read_text().split("\n", 1)[1]
    program.write_text(f"#!{target / '.venv' / 'bin' / 'python'}\n{rest}")
    program.chmod(0o755)


if __name__ == "__main__":
    folder = Path(sys.argv[1]).resolve()
    copy_files(folder)
    make_environment(folder)
