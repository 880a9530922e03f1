"""What the pages of a report have in common."""

from __future__ import annotations

import os
import platform
import shlex
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from genus.experiments.harness.store import code_checksum
from genus.experiments.harness.table import versions
from genus.report.page import _e

STYLE = """<style>
main { max-width: 1080px; }
svg { max-width: none; }
.cells { width: 100%; }
.cells, .plain { font-size: 14px; }
.cells th, .cells td, .plain th, .plain td { padding: 3px 8px; text-align: right; white-space: nowrap; }
.cells th:first-child, .plain th:first-child, .cells .who { text-align: left; }
.cells th, .plain th { font-weight: normal; }
.cells thead th, .plain thead th { color: var(--soft); border-bottom: 1px solid var(--line); }
.cells tbody th { vertical-align: top; white-space: normal; min-width: 110px; max-width: 190px; }
@media (max-width: 600px) { .settings { grid-template-columns: 1fr; } .settings dd { margin-bottom: 8px; } }
.cells tbody, .plain tbody { border-bottom: 1px solid var(--line); }
.cells .paper, .cells .who, .who { color: var(--soft); }
.cells .best { font-weight: 600; }
.cells .up { color: rgb(var(--blue)); } .cells .down { color: rgb(var(--red)); }
.cells .error { color: rgb(var(--red)); white-space: normal; text-align: left; }
.plain.wrap :is(th, td):last-child { width: 100%; white-space: normal; text-align: left; }
.settings { margin: 0; display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; font-size: 14px; }
.settings dt { color: var(--soft); } .settings dd { margin: 0; overflow-wrap: anywhere; }
.findings { margin: 0; padding-left: 20px; max-width: 78ch; } .findings li { margin-bottom: 6px; }
small { display: block; line-height: 1.3; }
.p { fill: none; stroke: var(--soft); stroke-width: 1.5; } .g { fill: rgb(var(--blue)); stroke: var(--card); }
.fit { fill: none; stroke-width: 1.5; } .fit.paper { stroke: var(--soft); stroke-dasharray: 5 4; }
.fit.genus { stroke: rgb(var(--blue)); } svg .own { fill: var(--ink); } svg text.name { font-size: 11px; }
</style>
"""


def table(kind: str, head: Sequence[str], body: str, frame: str = "scroll") -> str:
    columns = "".join(f'<th scope="col">{_e(name)}</th>' for name in head)
    return f'<div class="{frame}"><table class="{kind}"><thead><tr>{columns}</tr></thead>{body}</table></div>'


def settings(pairs: dict[str, str]) -> str:
    lines = "".join(f"<dt>{_e(name)}</dt><dd>{_e(value)}</dd>" for name, value in pairs.items())
    return f'<dl class="settings">{lines}</dl>'


def surroundings(arguments: Sequence[str], jobs: int) -> dict[str, str]:
    """The command, the machine and the software of a run."""
    used = ", ".join(f"{name} {number}" for name, number in versions().items())
    timed = "timed one run at a time" if jobs == 1 else f"timed with {jobs} runs in parallel, which share the cores"
    return {
        "command": shlex.join(["genus", "reproduce", *arguments]),
        "machine": f"{processor()}, {os.cpu_count()} cores, {platform.system()}; {timed}",
        "software": f"{used}; sources {code_checksum()}",
    }


@cache
def processor() -> str:
    information = Path("/proc/cpuinfo")
    lines = information.read_text("utf-8").splitlines() if information.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
