"""`./lab build`: the virtual Nucleo, and firmware."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cli import known, progress


def run(allocator: str) -> Iterator[Path]:
    """Builds the virtual Nucleo and the firmware of the allocators, all where none is named; yields
    each file once it is there. Raises TailscopeError.
    """
    with progress.shown() as tell:
        known.check(allocators_=known.words(allocator) if allocator else ())
        from firmware.build import image as firmware
        from firmware.build import outside
        from simulator import build as simulator

        tell("the virtual Nucleo")
        yield simulator.build()
        names = outside.admit(outside.words(allocator)) if allocator else firmware.allocators()
        counted = progress.Counted(tell, len(names))
        for name in names:
            counted(f"firmware with {name}")
            yield firmware.build(name).elf
