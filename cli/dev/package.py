"""`./lab dev package`: what others install."""

from __future__ import annotations

import platform
from pathlib import Path

from base.paths import ROOT
from cli.shell.declare import declare, option
from cli.shell.values import ALLOCATORS, OUTPUT_FOLDER, choice


@declare("Build", of_checkout=True)
@option(
    "--allocator",
    ALLOCATORS,
    "the allocators whose images go along; all that their licences allow when none is given",
)
@option(
    "--architecture",
    choice("x86_64", "aarch64"),
    "the machines that the wheel is for",
    default=platform.machine(),
    show_default="this machine's",
)
@option("--output", OUTPUT_FOLDER, "the folder to write to", default=ROOT / "dist", show_default="dist")
def command(allocator: list[str] | None, architecture: str, output: Path) -> None:
    """Make the wheel, a source archive, their digests and an SBOM."""
    from cli.dev import _package as package
    from cli.shell import under_way
    from firmware.build import catalogue

    names = list(catalogue.allocators()) if allocator in (None, ["all"]) else allocator or ()
    with under_way.shown() as tell:
        files, without = package.make(output, architecture, names, tell)
    for name, why in without.items():
        print(f"{name} has no image in the wheel: {why}.")
    print(*files, sep="\n")
