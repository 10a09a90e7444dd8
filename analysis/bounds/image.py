"""The bounds of a built image: of the critical sections of its allocations and frees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from analysis.bounds.errors import NoBoundError
from analysis.bounds.facts import Loops
from analysis.bounds.section import Sections
from analysis.explain.errors import ExplainError
from analysis.explain.program import Program

FACADES = {
    "allocate": "heap_allocate",
    "allocate_aligned": "heap_allocate_aligned",
    "free": "heap_free",
}

_SCHEDULER = (
    "Interrupts are served inside a section that only suspends the scheduler: it has no bound of its own."
)


@dataclass(frozen=True)
class SectionBound:
    """At the most so much, interrupts apart; null and `why_not` where that cannot be shown.

    `region_decided` where it grows with the region's size, because a loop walks its free blocks.
    """

    instructions: int | None
    cycles: int | None
    region_decided: bool = False
    why_not: str | None = None


def bounds_of(elf: Path, allocator: str, locking: str, knobs: Mapping[str, int]) -> dict[str, SectionBound]:
    """The bound of each of FACADES. What cannot be bounded says why; nothing is raised."""
    if locking == "scheduler":
        return {name: SectionBound(None, None, why_not=_SCHEDULER) for name in FACADES}
    try:
        program = Program(elf)
    except ExplainError as error:
        return {name: SectionBound(None, None, why_not=str(error)) for name in FACADES}
    return {name: _bound(program, facade, allocator, knobs) for name, facade in FACADES.items()}


def _bound(program: Program, facade: str, allocator: str, knobs: Mapping[str, int]) -> SectionBound:
    loops = Loops(allocator, program.data_size("heap_region"), knobs)
    try:
        found = Sections(program, loops.passes).bound(facade)
    except NoBoundError as error:
        return SectionBound(None, None, why_not=str(error))
    return SectionBound(found.instructions, found.cycles, loops.region_decided)
