"""What the place of the code in the flash does to each allocator's worst critical section.

`python -m studies.tables.placements` prints the table of docs/reference/placements.md. There are no
interrupts, so every cycle is the allocator's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from base.run_folder.placements import Range
from base.run_folder.quantities import DWT_CYCLES
from capture import placements
from capture.acquisition.source import RunRequest
from firmware.build import catalogue
from firmware.build import image as firmware
from scenarios import catalogue as scenarios
from scenarios.stimulus import Stimulus

SCENARIO = "mem_frag"
COUNT = 16
_QUIET = Stimulus("none", 0, 0)


def allocators() -> Iterator[str]:
    """Those that can run the scenario, which frees."""
    rows = catalogue.allocators()
    return (name for name in firmware.allocators() if "frees" in rows[name].promises)


def worst(allocator: str, art: bool, count: int = COUNT) -> tuple[float, Range]:
    """The most cycles of an allocation's critical section, as linked, and over `count` placements.

    Raises TailscopeError.
    """
    plan = replace(scenarios.load(SCENARIO), stimulus=_QUIET).compile()
    measured = placements.measure(RunRequest(plan=plan, image=firmware.build(allocator, art=art)), count)
    return measured.measured[0].greatest[DWT_CYCLES.key], measured.headlines[DWT_CYCLES.key]


def row(allocator: str) -> str:
    """One line of the table."""
    return f"| {allocator} | {_cells(*worst(allocator, True))} | {_cells(*worst(allocator, False))} |"


def _cells(linked: float, over: Range) -> str:
    spread = over.spread_percent or 0.0
    return f"{linked:,.0f} | {over.least:,.0f} to {over.greatest:,.0f} | {spread:.1f} %"


def main() -> None:
    """Prints the table as Markdown."""
    once = "as linked | placements | spread"
    print(f"| worst allocation, cycles | {once} | ART off: {once} |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for allocator in allocators():
        print(row(allocator), flush=True)


if __name__ == "__main__":
    main()
