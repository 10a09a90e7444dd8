"""`./lab heap footprint`: what allocators take of flash and RAM."""

from __future__ import annotations

from cli.shell import shared, under_way
from cli.shell.declare import answer, declare, json_option, option
from cli.shell.values import ALLOCATORS, OptionError

_HEAD = (
    "| allocator | flash | static RAM | of the region, once | beside a live block | smallest block |",
    "|---|---:|---:|---:|---:|---:|",
)
"""Of a table in Markdown."""


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
    from firmware.build import catalogue, footprint, image, outside

    footprints = []
    with under_way.shown() as tell:
        if allocator in (None, ["all"]):
            rows = catalogue.allocators()
            names = [name for name in image.allocators() if knobs.keys() <= rows[name].knobs.keys()]
        else:
            names = outside.admit(allocator or ())
        if not names:
            raise OptionError(
                f"No allocator has {' and '.join(sorted(knobs))}: `./lab list --json` shows them."
            )
        counted = under_way.Counted(tell, len(names))
        for name in names:
            counted(f"firmware with {name}")
            footprints.append(footprint.of_image(image.build(name, knobs=knobs)))
    figures = (
        f"| {row.allocator} | {row.flash:,} | {row.static_ram:,} | {row.heap_overhead:,} "
        f"| {row.block_overhead} | {row.smallest_block} |"
        for row in footprints
    )
    answer(as_json, lambda: [row._asdict() for row in footprints], lambda: "\n".join([*_HEAD, *figures]))
