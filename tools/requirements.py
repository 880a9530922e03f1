"""Print the project's dependencies and those of the extras named, for pip."""

import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
needed = list(project["dependencies"])
for extra in sys.argv[1:]:
    needed += project["optional-dependencies"][extra]
print(*(requirement.replace(" ", "") for requirement in needed))
