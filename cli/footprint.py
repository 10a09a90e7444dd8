"""`./lab footprint`: what allocators take of flash and RAM."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from cli import known, options, progress


def run(allocator: str, knob: Sequence[str], *, as_json: bool) -> str:
    """The table of the allocators, of all that have the knobs where none is named. Raises
    TailscopeError.
    """
    found = []
    with progress.shown() as tell:
        knobs = options.parse(knob=knob).knobs
        known.check(allocators_=known.words(allocator) if allocator else (), knobs_=knobs)
        from firmware.build import footprint, outside

        names = outside.admit(outside.words(allocator)) if allocator else footprint.with_knobs(knobs)
        counted = progress.Counted(tell, len(names))
        for name in names:
            counted(f"building firmware with {name}")
            found.append(footprint.measure(name, knobs))
    return json.dumps([asdict(row) for row in found], indent=2) if as_json else footprint.as_table(found)
