"""Draw docs/demo.svg, the picture in the README: what `genus demo` shows."""

import io
import re
from pathlib import Path

from rich.console import Console

from genus.demo import Demo

if __name__ == "__main__":
    console = Console(record=True, width=80, file=io.StringIO(), force_terminal=True)
    console.print(Demo.run())
    # Without the web fonts that rich names: the picture is to need nothing from outside.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", console.export_svg(title="genus demo"), flags=re.DOTALL)
    (Path(__file__).parents[1] / "docs/demo.svg").write_text(svg.replace("Fira Code, monospace", "monospace"))
