"""What allocators cost: bytes of flash and RAM, worst critical sections wherever the code lies in
the flash, and those of the TLSFs side by side.

There are no interrupts, so every cycle is the allocator's own. The TLSFs have the same compiler
options (`-O2`), facade, region, scenarios and timing.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from base.run_folder.quantities import DWT_CYCLES
from capture import placements
from capture.acquisition.source import RunRequest
from firmware.build import catalogue, footprint
from firmware.build import image as firmware
from scenarios import catalogue as scenarios
from studies import sections

FOOTPRINT = (
    *("allocator", "flash", "static RAM", "of the region, once", "beside a live block"),
    "smallest block",
)
SCENARIO = "mem_frag"
PLACEMENTS = 16
_ONCE = ("as linked", "least", "greatest", "spread in %")
PLACED = ("allocator", *_ONCE, *(f"ART off: {name}" for name in _ONCE))
OURS = ("tlsf_compact", "tlsf")
OTHERS = ("tlsf_crate", "tlsf_conte", "rlsf")
TLSF = ("allocator", "allocate, ART on", "free, ART on", "allocate, ART off", "free, ART off")


def footprints() -> Iterator[tuple[object, ...]]:
    """A row of FOOTPRINT for each allocator. What is compiled from a user's own checkout depends on
    its version, and is left out. Raises TailscopeError.
    """
    rows = catalogue.allocators()
    names = (name for name in firmware.allocators() if rows[name].checkout is None)
    return (footprint.of_image(firmware.build(name)) for name in names)


def placeable() -> Iterator[str]:
    """Those that can run the scenario, which frees."""
    rows = catalogue.allocators()
    return (name for name in firmware.allocators() if "frees" in rows[name].promises)


def placed(allocator: str) -> tuple[object, ...]:
    """A row of PLACED: the most cycles of an allocation's critical section, as linked, and over the
    placements. Raises TailscopeError.
    """
    plan = scenarios.load(SCENARIO, stimulus="none").compile()
    cells: list[object] = [allocator]
    for art in (True, False):
        measured = placements.measure(RunRequest(plan, firmware.build(allocator, art=art)), PLACEMENTS)
        linked, over = measured.measured[0].greatest[DWT_CYCLES.key], measured.headlines[DWT_CYCLES.key]
        cells += [f"{cycles:.0f}" for cycles in (linked, over.least, over.greatest)]
        cells += [f"{over.spread_percent or 0:.1f}"]
    return tuple(cells)


def worst_cycles(allocator: str, art: bool) -> tuple[int, int]:
    """The most cycles of an allocation's, refused ones too, and of a free's critical section, over
    two scenarios.
    """
    built = firmware.build(allocator, art=art)
    images = [scenarios.load(name, stimulus="none").compile().image for name in ("mem_frag", "mem_stress")]
    measured = pl.concat(sections.measure(built, image) for image in images)
    allocation, free = (
        int(measured.filter(pl.col("kind").is_in(list(kinds)))["critical_cycles"].to_numpy().max())
        for kinds in ("AO", "F")
    )
    return allocation, free


def tlsf(allocator: str) -> tuple[object, ...]:
    """A row of TLSF."""
    return (allocator, *worst_cycles(allocator, art=True), *worst_cycles(allocator, art=False))
