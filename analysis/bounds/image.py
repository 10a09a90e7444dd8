"""The bounds of a built image: one for the critical section of each of the heap's functions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import capstone

from analysis.bounds.facts import Loops
from analysis.bounds.section import Sections
from analysis.errors import ExplainError, NoBoundError
from analysis.explain.program import Program
from base.files.remembered import remembered
from base.run_folder.manifest import SectionBound
from base.run_folder.records import Boot
from firmware.build.image import FirmwareImage

FACADES = {
    "allocate": "heap_allocate",
    "allocate_aligned": "heap_allocate_aligned",
    "free": "heap_free",
}

_KEPT = 256
"""Images whose bounds a process remembers."""

_SCHEDULER = (
    "Interrupts are served inside a section that only suspends the scheduler: it has no bound of its own."
)


def bounds_of_run(image: FirmwareImage, _boot: Boot) -> dict[str, SectionBound]:
    """The bounds of an image. What the firmware says of itself may be
    damaged and is not looked at.
    """
    return bounds_of_image(image)


def bounds_of_image(image: FirmwareImage) -> dict[str, SectionBound]:
    """The bounds of a built image, by function. They are computed once."""
    built = image.configuration
    return dict(
        _of_digest(image.sha256, image.elf, image.allocator, built.locking, tuple(built.knobs.items()))
    )


@lru_cache(maxsize=_KEPT)
def _of_digest(
    sha256: str, elf: Path, allocator: str, locking: str, knobs: tuple[tuple[str, int], ...]
) -> dict[str, SectionBound]:
    """The bounds of the ELF file with that digest: they follow from it alone, and take a while."""
    of = (sha256, allocator, locking, repr(knobs), capstone.__version__)

    def computed() -> dict[str, Any]:
        found = bounds_of(elf, allocator, locking, dict(knobs))
        return {name: bound.model_dump() for name, bound in found.items()}

    found = remembered("bounds", [word.encode() for word in of], _code(), computed)
    return {name: SectionBound(**bound) for name, bound in found.items()}


def _code() -> list[Path]:
    """The files that decide a bound."""
    here = Path(__file__).parent
    return [*(path for path in here.iterdir() if path.is_file()), here.parent / "explain" / "program.py"]


def bounds_of(elf: Path, allocator: str, locking: str, knobs: Mapping[str, int]) -> dict[str, SectionBound]:
    """The bound of each of FACADES. Where there is none it says why; nothing is raised."""
    if locking == "scheduler":
        return {name: _none(_SCHEDULER) for name in FACADES}
    return code_bounds(elf, allocator, knobs)


def code_bounds(
    elf: Path, allocator: str, knobs: Mapping[str, int], live_blocks: int | None = None
) -> dict[str, SectionBound]:
    """The same of the section's own code: interrupts that a lock lets in do not count.

    With `live_blocks` no more blocks are ever live.
    """
    try:
        program = Program(elf)
    except ExplainError as error:
        return {name: _none(str(error)) for name in FACADES}
    region_bytes = program.data_size("heap_region")
    return {
        name: _bound(program, facade, Loops(allocator, region_bytes, knobs, live_blocks=live_blocks))
        for name, facade in FACADES.items()
    }


def _bound(program: Program, facade: str, loops: Loops) -> SectionBound:
    try:
        found = Sections(program, loops.passes, loops.untaken(facade)).bound(facade)
    except NoBoundError as error:
        return _none(str(error))
    return SectionBound(
        instructions=found.instructions,
        cycles=found.cycles,
        region_decided=loops.region_decided,
        why_not=None,
    )


def _none(why_not: str) -> SectionBound:
    return SectionBound(instructions=None, cycles=None, region_decided=False, why_not=why_not)
