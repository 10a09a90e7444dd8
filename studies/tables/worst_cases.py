"""The worst critical sections of the TLSFs side by side.

All have the same compiler options (`-O2`), facade, region, scenarios and timing. There are no
interrupts, so every cycle is the allocator's own.
"""

from __future__ import annotations

from dataclasses import replace

from scenarios import catalogue
from scenarios.stimulus import Stimulus
from studies.tables.critical_sections import measure, worst

OURS = ("tlsf_compact", "tlsf")
OTHERS = ("tlsf_crate", "tlsf_conte", "rlsf")
ALLOCATORS = (*OURS, *OTHERS)
HEADINGS = ("allocator", "allocate, ART on", "free, ART on", "allocate, ART off", "free, ART off")
SCENARIOS = ("mem_frag", "mem_stress")
KINDS = ("A", "F")
_QUIET = Stimulus("none", 0, 0)


def worst_cycles(allocator: str, art: bool) -> tuple[int, int]:
    """The most cycles of an allocation's and of a free's critical section, over both scenarios."""
    images = [replace(catalogue.load(name), stimulus=_QUIET).compile().image for name in SCENARIOS]
    sections = [section for image in images for section in measure(allocator, image, art)]
    allocation, free = (worst(sections, kind).cycles for kind in KINDS)
    return allocation, free


def row(allocator: str) -> tuple[object, ...]:
    """The figures of one allocator, in the order of HEADINGS."""
    return (allocator, *worst_cycles(allocator, art=True), *worst_cycles(allocator, art=False))
