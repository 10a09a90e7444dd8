"""`./lab dev package`: what others install."""

from __future__ import annotations

from pathlib import Path

from base.paths import ROOT
from cli.shell.declare import declare, option
from cli.shell.values import ALLOCATORS, OUTPUT_FOLDER


@declare(section="Build", of_checkout=True)
@option(
    "--allocator",
    type=ALLOCATORS,
    help="the allocators whose images go along; all that their licences allow when none is given",
)
@option(
    "--output",
    type=OUTPUT_FOLDER,
    default=ROOT / "dist",
    show_default="dist",
    help="the folder to write to",
)
def command(allocator: list[str] | None, output: Path) -> None:
    """Make a wheel for machines as this one, and a source archive."""
    from cli.dev import _package as package
    from cli.shell import under_way
    from firmware.build import catalogue

    names = list(catalogue.allocators()) if allocator in (None, ["all"]) else allocator or ()
    with under_way.shown() as tell:
        made = package.make(output, names, tell)
    for name, why in made.without.items():
        print(f"{name} has no image in the wheel: {why}.")
    print(*made.files, sep="\n")
