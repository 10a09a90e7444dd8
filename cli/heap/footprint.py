"""`./lab heap footprint`: what allocators take of flash and RAM."""

from __future__ import annotations

from dataclasses import asdict

from cli.shell import shared, under_way
from cli.shell.declare import answer, declare, json_option, option
from cli.shell.values import ALLOCATORS


@declare("What there is")
@option(
    "--allocator",
    ALLOCATORS,
    "one or more, separated by commas; all, or all that have the knobs, when none is given",
)
@shared.knob
@json_option
def command(allocator: list[str] | None, knobs: dict[str, int], as_json: bool) -> None:
    """Show what each allocator takes of flash and RAM, and of its region beside its blocks."""
    from firmware.build import footprint, image, outside

    footprints = []
    with under_way.shown() as tell:
        names = outside.admit(allocator) if allocator else footprint.with_knobs(knobs.keys())
        counted = under_way.Counted(tell, len(names))
        for name in names:
            counted(f"firmware with {name}")
            footprints.append(footprint.of_image(image.build(name, knobs=knobs)))
    answer(as_json, lambda: [asdict(row) for row in footprints], lambda: footprint.as_table(footprints))
