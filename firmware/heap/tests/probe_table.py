"""The table of probes in heap/README.md, from `replay` of each allocator that counts its own.

To print it: python -m firmware.heap.tests.probe_table
"""

from __future__ import annotations

import sys
from pathlib import Path

from base.paths import ROOT
from firmware.build import catalogue
from firmware.heap.tests.check_replay import (
    DEPTHS,
    TRIALS,
    frag_probes,
    mem_frag,
    mem_stress,
    replay,
    stress_figures,
)

_HEAD = """\
| allocator | mem_stress: served | median | p99 | worst | mem_frag: depth 1 | depth 64 | depth 256 |
|---|---|---|---|---|---|---|---|"""


def _row(allocator: str, program: Path) -> str:
    stress = replay(str(program), list(mem_stress()), "mem_stress")
    frag = frag_probes(replay(str(program), list(mem_frag()), "mem_frag"))
    served = sum(row.kind == "A" for row in stress)
    by_depth = [max(frag[(depth - 1) * TRIALS : depth * TRIALS]) for depth in (1, 64, DEPTHS)]
    cells = [f"{allocator}", f"{served}", *map(str, stress_figures(stress)), *map(str, by_depth)]
    return f"| {' | '.join(cells)} |"


def table(programs: dict[str, Path]) -> str:
    """One row for each index, in the order given; `programs` are the built `replay` by index."""
    return "\n".join([_HEAD, *(_row(name, program) for name, program in programs.items())])


if __name__ == "__main__":
    builds = ROOT / "build" / "heap-tests"
    rows = catalogue.allocators()
    indexes = sorted(name for name in rows if "counts_probes" in rows[name].promises)
    missing = [name for name in indexes if not (builds / name / "replay").is_file()]
    if missing:
        sys.exit(f"There is no replay of {', '.join(missing)}: run the host tests of the heap first.")
    print(table({name: builds / name / "replay" for name in indexes}))
