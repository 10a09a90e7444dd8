"""What the place of the code in the flash does to each allocator's worst critical section.

There are no interrupts, so every cycle is the allocator's own.
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
_ONCE = ("as linked", "least", "greatest", "spread in %")
HEADINGS = ("allocator", *_ONCE, *(f"ART off: {name}" for name in _ONCE))


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


def row(allocator: str) -> tuple[object, ...]:
    """The figures of one allocator, in the order of HEADINGS. Raises TailscopeError."""
    cells: list[object] = [allocator]
    for art in (True, False):
        linked, over = worst(allocator, art)
        figures = (f"{cycles:.0f}" for cycles in (linked, over.least, over.greatest))
        cells += [*figures, f"{over.spread_percent or 0:.1f}"]
    return tuple(cells)
