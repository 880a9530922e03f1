"""Write src/genus/_core.pyi from the compiled module, or with --check tell whether it is up to date."""

import subprocess
import sys
import tempfile
from pathlib import Path

STUB = Path(__file__).parents[1] / "src/genus/_core.pyi"


def generate() -> str:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "_core.pyi"
        subprocess.run(
            [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "genus._core", "-o", str(out)], check=True
        )
        ruff = Path(sys.executable).parent / "ruff"
        subprocess.run([ruff, "format", "--quiet", "--line-length", "120", str(out)], check=True)
        # nanobind leaves arrays of either precision without a type argument.
        return (
            out.read_text()
            .replace("[NDArray, ", "[NDArray[Any], ")
            .replace("import Annotated", "import Annotated, Any")
        )


if __name__ == "__main__":
    stub = generate()
    if "--check" not in sys.argv:
        STUB.write_text(stub)
    elif STUB.read_text() != stub:
        sys.exit("src/genus/_core.pyi is out of date: run `make stubs`")
