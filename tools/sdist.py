"""Build dist/genus-VERSION.tar.gz, install it into a clean environment from its own requirements, and try it."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pip = [sys.executable, "-m", "pip", "--python", folder / "env/bin/python"]
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
        subprocess.run([*pip, "install", "--quiet", "build"], check=True)
        subprocess.run([folder / "env/bin/python", "-m", "build", "--sdist", "--outdir", folder, ROOT], check=True)
        (archive,) = folder.glob("*.tar.gz")
        subprocess.run([*pip, "install", "--quiet", archive], cwd=folder, check=True)
        subprocess.run([folder / "env/bin/python", "-I", ROOT / "tools/smoke.py"], cwd=folder, check=True)
        (ROOT / "dist").mkdir(exist_ok=True)
        print(shutil.copy(archive, ROOT / "dist"))


if __name__ == "__main__":
    main()
